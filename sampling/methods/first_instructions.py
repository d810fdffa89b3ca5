"""The first billion instructions, as if all others ran as fast. [Principal Kernel Analysis, baseline]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.features.metric_names import instruction_counts
from sampling.methods.method import Method, Picks
from sampling.methods.options import setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import LaunchList


@dataclass(frozen=True, slots=True)
class Options:
    """How much is simulated."""

    instructions: float = setting(
        1e9, "launches are simulated, in id order, until so many instructions are done", gt=0
    )


def pick(launches: LaunchList, options: Options, _: np.random.Generator, __: Progress | None) -> Picks:
    """Take the launches from the first on until the instructions are done; the last of them is taken whole.

    The total is instructions / IPC of those launches, so each weighs I_total / I_done.

    Raises
    ------
    NotApplicableError : launches without an instruction count.
    """
    limit, counts = options.instructions, instruction_counts(launches, "first-instructions")
    done = np.cumsum(counts.executed)
    taken = min(int(np.searchsorted(done, limit)) + 1, len(launches))
    total, reached = float(done[-1]), float(done[taken - 1])
    notes = []
    if taken == len(launches):
        notes.append(f"all launches are taken: the workload has {total:,.0f} instructions")
    elif taken == 1 and reached > limit:
        notes.append(
            f"the first launch alone has {reached:,.0f} instructions, more than {limit:,.0f}; it is taken "
            "whole"
        )
    there, of_taken = (len(np.unique(launches.sequence[:stop])) for stop in (len(launches), taken))
    if of_taken < there:
        notes.append(f"the launches taken are of {of_taken} of {there} processes and devices")
    return Picks(
        stratum=np.zeros(len(launches), dtype=np.int64),
        labels=(f"all launches, by the first {limit:,.0f} instructions",),
        row=np.arange(taken),
        # Where the rest has no instructions the sums are equal; where nothing has any, all is taken.
        weight=np.full(taken, total / reached if total > 0 else 1.0),
        notes=tuple(notes),
        details={
            "metric": counts.metric,
            "counts": counts.unit,
            "instructions": total,
            "instructions_done": reached,
        },
    )


METHOD = Method(
    name="first-instructions",
    source="Principal Kernel Analysis, first 1 B instructions (baseline)",
    needs=("the instruction count of every launch",),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
