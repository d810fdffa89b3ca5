"""How many instructions each launch executes, and what else simulating it costs: known of every launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import NotApplicableError
from sampling.features.metric_names import INSTRUCTIONS
from sampling.reduction.duration_counts import LaunchCost
from sampling.reduction.launch_list import LaunchList
from sampling.text import Wording, counted, listed

_REMEDY = Wording(
    "give `features` the output of NVBit's instr_count, the stats.csv of Accel-Sim's tracer, an ncu page "
    "with smsp__inst_executed.sum, or a CSV or Parquet with a column instructions"
)
# Nsight Compute counts an instruction once a warp; a column of another file does not say what it counts.
_WARP_METRICS = frozenset(INSTRUCTIONS) - {"instructions"}


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """The instructions of every launch of a list.

    Attributes
    ----------
    metric : the name they were found under.
    executed : (n,) instructions, >= 0.
    """

    metric: str
    executed: FloatArray

    @property
    def unit(self) -> str:
        """What one of them is, in words."""
        return "warp instructions" if self.metric in _WARP_METRICS else "instructions as the file counts them"


def instruction_counts(launches: LaunchList, method: str) -> InstructionCounts:
    """Return the instruction counts of all launches, from the first metric that has them all.

    Parameters
    ----------
    method : the name of the method that asks, for the message.

    Raises
    ------
    NotApplicableError : no metric has a count for every launch, or one of them is no count.
    """
    metrics: Mapping[str, FloatArray] = {} if launches.features is None else launches.features.metrics
    lacking = {name: int(np.isnan(metrics[name]).sum()) for name in INSTRUCTIONS if name in metrics}
    metric = min(lacking, key=lacking.__getitem__, default=None)
    fewest = len(launches) if metric is None else lacking[metric]
    if metric is None or fewest:
        # Shown because the counts may be there under another name.
        there = f" (there are {listed(list(metrics))})" if metrics and metric is None else ""
        raise NotApplicableError(
            f"{method} needs the instruction count of every launch, "
            f"and {fewest:,} of {len(launches):,} have none{there}",
            remedy=_REMEDY,
        )
    executed = metrics[metric]
    wrong = np.flatnonzero((executed < 0) | np.isinf(executed))
    if len(wrong):
        have = "has" if len(wrong) == 1 else "have"
        of_all = f"{len(wrong):,} of {counted(len(launches), 'launch', 'launches')} {have} such a value"
        raise NotApplicableError(
            f"{method} needs instruction counts, and {metric} of launch {launches.id[wrong[0]]} is "
            f"{executed[wrong[0]]:.12g} ({of_all})",
            remedy="correct the value; if a counter of 32 bits overflows there, count again with one of 64",
        )
    return InstructionCounts(metric, executed)


def launch_cost(launches: LaunchList, metric: str | None) -> LaunchCost | None:
    """Return what simulating each launch costs, by a metric that was asked for; by instructions if none was.

    Parameters
    ----------
    metric : a metric of the features; "instructions" is whichever the files have.

    Returns
    -------
    None where no metric was asked for and the instructions of some launch are not known.

    Raises
    ------
    NotApplicableError : some launch lacks the metric that was asked for, or all have 0 of it.
    """
    metrics: Mapping[str, FloatArray] = {} if launches.features is None else launches.features.metrics
    names = INSTRUCTIONS if metric in {None, "instructions"} else (metric,)
    whole = (name for name in names if name in metrics and _can_be_paid(metrics[name]))
    found = next(whole, None)
    if found is not None:
        return LaunchCost(found, metrics[found], decides=metric is not None)
    if metric is None:
        return None
    unusable = next((name for name in names if name in metrics), None)
    why = (
        f"there {'is' if len(metrics) == 1 else 'are'} {listed(list(metrics))}"
        if metrics
        else "there are none"
    )
    if unusable is not None:
        lacking = int((~(metrics[unusable] >= 0)).sum())
        why = f"{lacking:,} of {len(launches):,} have none" if lacking else "all have 0"
    raise NotApplicableError(
        Wording(f"`cost={metric}` needs that metric of every launch, above 0 in all, and {why}"),
        remedy=_REMEDY if metric == "instructions" else Wording("give `features` a file that has it"),
    )


def _can_be_paid(values: FloatArray) -> bool:
    return bool((values >= 0).all() and 0 < values.sum() < np.inf)
