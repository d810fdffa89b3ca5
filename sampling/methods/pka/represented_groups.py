"""Groups of launches of which one stands for all, and how well the chosen ones project the total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.features.metric_names import CYCLES
from sampling.methods.picks import Picks
from sampling.methods.pka.distinct_rows import DistinctRows
from sampling.reduction.launch_list import LaunchList

_MOST_CYCLES = 2.0**63


@dataclass(frozen=True, slots=True)
class MeasuredCost:
    """The cost of each launch as measured: what a choice of launches is compared with.

    Attributes
    ----------
    name : the metric, or "duration_ns".
    values : (n,) cycles or nanoseconds.
    """

    name: str
    values: FloatArray


def measured_cost(launches: LaunchList, first: int | None = None) -> MeasuredCost:
    """Return elapsed cycles if each of the first launches has them, else durations; of all if None.

    Cycles that are all zero were not counted, and those beyond 64 bits are no count.
    """
    metrics = {} if launches.features is None else launches.features.metrics
    for name in CYCLES:
        if name not in metrics:
            continue
        cycles = metrics[name][:first]
        if cycles.any() and (np.abs(cycles) < _MOST_CYCLES).all():
            return MeasuredCost(name, cycles)
    return MeasuredCost("duration_ns", launches.duration_ns[:first].astype(np.float64))


@dataclass(frozen=True, slots=True)
class RepresentedGroups:
    """A partition of the distinct rows of launches into k groups, numbered by their first launch.

    Attributes
    ----------
    group_of_row : (d,) the group of each distinct row.
    representative : (k,) the launch that stands for the group.
    size : (k,) launches of the group.
    """

    group_of_row: IntArray
    representative: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.size)

    def projected_error(self, cost: FloatArray) -> float:
        """Return |sum of size * cost of the representative - total| / total; (n,) cost of each launch."""
        total = float(cost.sum())
        projected = float(np.dot(self.size, cost[self.representative]))
        # Where the total is 0 every launch costs 0, and the projection is 0 too.
        return abs(projected - total) / total if total else 0.0


def number_by_first(labels: AnyIntArray) -> IntArray:
    """Return the labels replaced by 0, 1, ... in the order in which they first occur."""
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[code]


def represented_by_first(rows: DistinctRows, labels: AnyIntArray) -> RepresentedGroups:
    """Return the groups that labels (d,) of the rows make, each with its first launch."""
    group = number_by_first(labels)
    _, first = np.unique(group, return_index=True)
    return RepresentedGroups(group, rows.first[first], _sizes(rows, group))


def represented_by_central(rows: DistinctRows, labels: AnyIntArray) -> RepresentedGroups:
    """Return the groups that labels (d,) of the rows make, each with the launch nearest to its mean.

    Of launches equally near, but for rounding, it is the first.
    """
    group = number_by_first(labels)
    size = _sizes(rows, group)
    distance = np.sqrt(((rows.values - group_means(rows, group)[group]) ** 2).sum(axis=1))
    least = np.full(len(size), np.inf)
    np.minimum.at(least, group, distance)
    nearest = np.flatnonzero(distance <= least[group] + 1e-9)
    _, first = np.unique(group[nearest], return_index=True)
    return RepresentedGroups(group, rows.first[nearest[first]], size)


def group_means(rows: DistinctRows, group: IntArray) -> FloatArray:
    """Return (k, columns) the mean of all launches of each group; ``group`` (d,) is that of each row."""
    size = _sizes(rows, group)
    means = np.empty((len(size), rows.values.shape[1]))
    for index, column in enumerate(rows.values.T):
        means[:, index] = np.bincount(group, weights=rows.count * column) / size
    return means


def _sizes(rows: DistinctRows, group: IntArray) -> IntArray:
    return np.bincount(group, weights=rows.count).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Choice:
    """The groups chosen of several candidates.

    Attributes
    ----------
    groups : the chosen ones.
    index : which candidate they are.
    errors : the projected error of every candidate looked at.
    """

    groups: RepresentedGroups
    index: int
    errors: tuple[float, ...]

    @property
    def error(self) -> float:
        """The projected error of the chosen groups."""
        return self.errors[self.index]


def choose(candidates: Iterable[RepresentedGroups], cost: FloatArray, threshold: float) -> Choice:
    """Return the first candidate that projects the total with an error below the threshold.

    If none does, it is the one of least error, the first of equals. Candidates after it are not made.

    Parameters
    ----------
    cost : (n,) the measured cost of each launch, as `measured_cost` has it.
    """
    best: RepresentedGroups | None = None
    index = 0
    errors: list[float] = []
    for groups in candidates:
        errors.append(groups.projected_error(cost))
        if best is None or errors[-1] < errors[index]:
            best, index = groups, len(errors) - 1
        if errors[-1] < threshold:
            break
    assert best is not None
    return Choice(best, index, tuple(errors))


def unmet_note(choice: Choice, threshold: float, tried: str) -> tuple[str, ...]:
    """Return a note where no candidate met the threshold; ``tried`` names them, in the plural."""
    if choice.error < threshold:
        return ()
    taken = f"the {len(choice.groups)} groups taken miss it by {100 * choice.error:.1f} %"
    return (f"none of the {tried} tried projects the total within {100 * threshold:g} %: {taken}",)


def as_picks(
    launches: LaunchList,
    stratum: IntArray,
    representative: IntArray,
    notes: tuple[str, ...],
    details: Mapping[str, Any],
) -> Picks:
    """Return picks in which each representative stands for all launches of its stratum.

    Parameters
    ----------
    stratum : (n,) the stratum of every launch.
    representative : (k,) the launch that stands for stratum 0, 1, ...
    details : the method's own; the ids of the representatives are added.
    """
    row = np.sort(representative)
    size = np.bincount(stratum, minlength=len(row))
    ids = launches.id[representative].tolist()
    return Picks(
        stratum,
        tuple(_label(launches, index, int(one)) for index, one in enumerate(representative)),
        row,
        size[stratum[row]].astype(np.float64),
        notes,
        {**details, "representatives": ids},
    )


def _label(launches: LaunchList, index: int, representative: int) -> str:
    kernels = launches.kernels
    name = kernels.signature(int(launches.signature[representative])).name
    return f"group {index}: launch {launches.id[representative]} ({kernels.names.short(name)}) and its like"
