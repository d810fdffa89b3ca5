"""The first billion instructions, as if all others ran as fast. [Principal Kernel Analysis, baseline]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.features.metric_names import InstructionCounts, instruction_counts
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.settings import MethodOptions, Span, setting
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """How much is simulated."""

    instructions: float = setting(
        1e9, "launches are simulated, in id order, until so many instructions are done", span=Span(above=0)
    )


def pick(request: PickRequest[Options]) -> Picks:
    """Take the launches from the first on until the instructions are done; the last of them is taken whole.

    The total is instructions / IPC of those launches, so each weighs I_total / I_done.

    Raises
    ------
    NotApplicableError : launches without an instruction count.
    """
    launches, options = request.launches, request.options
    counts = instruction_counts(launches, "first-instructions")
    done = np.cumsum(counts.executed)
    taken = min(int(np.searchsorted(done, options.instructions)) + 1, len(launches))
    # Where the rest has no instructions the sums are equal; where nothing has any, all is taken.
    share = done[-1] / done[taken - 1] if done[-1] > 0 else 1.0
    return Picks(
        stratum=np.zeros(len(launches), dtype=np.int64),
        labels=(f"all launches, by the first {options.instructions:,.0f} instructions",),
        row=np.arange(taken),
        weight=np.full(taken, share),
        notes=_notes(launches, counts, options.instructions, taken),
        details={
            "metric": counts.metric,
            "counts": counts.unit,
            "instructions": float(done[-1]),
            "instructions_done": float(done[taken - 1]),
        },
    )


def _notes(launches: LaunchList, counts: InstructionCounts, limit: float, taken: int) -> tuple[str, ...]:
    total, done = counts.executed.sum(), counts.executed[:taken].sum()
    notes = []
    if taken == len(launches):
        notes.append(f"all launches are taken: the workload has {total:,.0f} instructions")
    elif taken == 1 and done > limit:
        notes.append(
            f"the first launch alone has {done:,.0f} instructions, more than {limit:,.0f}; it is taken whole"
        )
    there, reached = (len(np.unique(launches.sequence[:stop])) for stop in (len(launches), taken))
    if reached < there:
        notes.append(f"the launches taken are of {reached} of {there} processes and devices")
    return tuple(notes)


METHOD = Method(
    name="first-instructions",
    source="Principal Kernel Analysis, first 1 B instructions (baseline)",
    needs=("the instruction count of every launch",),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
