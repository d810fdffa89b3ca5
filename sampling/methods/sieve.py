"""Sieve: strata of equal or similar instruction counts, one launch from each. [Sieve, ISPASS 2023]"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.dense_codes import dense_codes
from sampling.features.metric_names import InstructionCounts, instruction_counts
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.settings import MethodOptions, Span, setting
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """Sieve's threshold, and its variants."""

    cov: float = setting(
        0.4,
        "a kernel group, or a part of one, whose instruction counts vary less than this (CoV) stays one "
        "stratum",
        span=Span(above=0),
    )
    weights: Literal["launches", "instructions"] = setting(
        "launches",
        "launches: a representative stands for the launches of its stratum; instructions: for their "
        "instructions, so that the weights need not sum to the number of launches",
    )
    kde: Literal["on", "off"] = setting(
        "on",
        "on: a group that varies more is cut where its counts are rarest; off: it stays one stratum too, as "
        "Sieve was run on CASIO",
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The distinct (kernel group, instruction count) pairs, ordered by both.

    Attributes
    ----------
    offsets : (groups + 1,) group g has the pairs ``offsets[g]:offsets[g + 1]``, none if it has no launch.
    executed : (p,) instructions.
    launches : (p,) how many launches.
    of_row : (n,) the pair of each launch.
    """

    offsets: IntArray
    executed: FloatArray
    launches: IntArray
    of_row: IntArray


def pick(request: PickRequest[Options]) -> Picks:
    """Part every kernel group by instruction count; the first launch of each part represents it.

    Tier 1 is a group of one instruction count, tier 2 one whose CoV is below 0.4, tier 3 the others: these
    are cut where the density of the log counts has its minima. In tier 2 the representative is the first
    launch with the CTA size that most launches of the group have. Launches without any instruction are a
    stratum of their own in tier 3, for their logarithm lies infinitely far from all others.

    Raises
    ------
    NotApplicableError : launches without an instruction count.
    """
    launches, options, progress = request.launches, request.options, request.progress
    counts = instruction_counts(launches, "sieve")
    pairs = _pairs(launches, counts.executed)
    tier = _tiers(pairs, options.cov)
    stratum_of_pair, group = _strata(pairs, tier, options, progress)
    stratum = stratum_of_pair[pairs.of_row]
    row = _representatives(launches, stratum, tier[group])
    weight, notes = _weights(counts, stratum, row, options.weights)
    # Rows ascending: the strata are numbered by group and count, their representatives by launch.
    order = np.argsort(row)
    return Picks(
        stratum=stratum,
        labels=_labels(launches, pairs, stratum_of_pair, group),
        row=row[order],
        weight=weight[order],
        notes=notes,
        details=_details(launches, counts, tier, group),
    )


def _pairs(launches: LaunchList, executed: FloatArray) -> _Pairs:
    order = np.lexsort((executed, launches.group))
    group, count = launches.group[order], executed[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (count[1:] != count[:-1])
    first = np.flatnonzero(new)
    of_row = np.empty(len(order), dtype=np.int64)
    of_row[order] = np.cumsum(new) - 1
    return _Pairs(
        offsets=np.searchsorted(group[first], np.arange(len(launches.groups) + 1)),
        executed=count[first],
        launches=np.diff(np.append(first, len(order))),
        of_row=of_row,
    )


def _tiers(pairs: _Pairs, threshold: float) -> IntArray:
    """Return (groups,) the tier of each kernel group; 1 for one without launches."""
    sizes = np.diff(pairs.offsets)
    group = np.repeat(np.arange(len(sizes)), sizes)
    launches = np.bincount(group, pairs.launches, len(sizes))
    # A group without launches, or without a single instruction, has no CoV and needs none: it is tier 1.
    mean = np.bincount(group, pairs.executed * pairs.launches, len(sizes)) / np.maximum(launches, 1)
    square = np.bincount(group, (pairs.executed - mean[group]) ** 2 * pairs.launches, len(sizes))
    deviation = np.sqrt(square / np.maximum(launches, 1))
    varied = np.where(deviation < threshold * mean, 2, 3)
    return np.where(sizes <= 1, 1, varied)


def _strata(
    pairs: _Pairs, tier: IntArray, options: Options, progress: Progress | None
) -> tuple[IntArray, IntArray]:
    """Return (p,) the stratum of each pair and (s,) the kernel group of each stratum."""
    sizes = np.diff(pairs.offsets)
    opens = np.zeros(len(pairs.executed), dtype=np.bool_)
    opens[pairs.offsets[:-1][sizes > 0]] = True
    cut = np.flatnonzero(tier == 3) if options.kde == "on" else np.zeros(0, dtype=np.int64)
    for done, index in enumerate(cut.tolist()):
        start, stop = pairs.offsets[index : index + 2].tolist()
        opens[start + _parts(pairs.executed[start:stop], pairs.launches[start:stop], options.cov)] = True
        if progress is not None:
            progress(done + 1, len(cut), "cutting kernels by instruction count")
    group_of_pair = np.repeat(np.arange(len(sizes)), sizes)
    return np.cumsum(opens) - 1, group_of_pair[opens]


def _parts(executed: FloatArray, launches: IntArray, threshold: float) -> IntArray:
    """Return at which of its distinct counts (k,), ascending, each part of a tier-3 group begins."""
    starts: list[int] = []
    # The zeros come first, if there are any; the others are cut anew as long as they vary and have a valley.
    positive = int(executed[0] == 0)
    if positive:
        starts.append(0)
    waiting = [(positive, len(executed))]
    while waiting:
        start, stop = waiting.pop()
        part, weight = executed[start:stop], launches[start:stop]
        edges = np.array([start, stop])
        if len(part) > 1 and _varies(part, weight, threshold):
            logs = np.log(part)
            inner = start + np.searchsorted(logs, valleys(logs, weight), side="right")
            edges = np.unique(np.concatenate([edges, inner]))
        if len(edges) == 2:
            starts.append(start)
        else:
            waiting.extend(pairwise(edges.tolist()))
    return np.array(starts)


def _varies(executed: FloatArray, launches: IntArray, threshold: float) -> bool:
    """Return whether the CoV of the counts, of which not all are 0, is the threshold or more."""
    mean = np.average(executed, weights=launches)
    deviation = np.sqrt(np.average((executed - mean) ** 2, weights=launches))
    return bool(deviation >= threshold * mean)


def _representatives(launches: LaunchList, stratum: IntArray, tier: IntArray) -> IntArray:
    """Return (s,) the row of each stratum's representative; ``tier`` (s,) is each one's."""
    _, row = np.unique(stratum, return_index=True)
    threads = launches.shapes()[:, 4:].prod(axis=1)
    rows = np.flatnonzero((tier[stratum] == 2) & (threads > 0))
    if len(rows) == 0:
        return np.asarray(row)
    code, first = dense_codes([stratum[rows], threads[rows]])
    first_row, of_stratum = rows[first], stratum[rows[first]]
    # Of a stratum's CTA sizes the one most launches have, of several the one seen first, comes first.
    order = np.lexsort((first_row, -np.bincount(code), of_stratum))
    found, at = np.unique(of_stratum[order], return_index=True)
    row[found] = first_row[order[at]]
    return np.asarray(row)


def _weights(
    counts: InstructionCounts, stratum: IntArray, row: IntArray, by: str
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return (s,) what each representative stands for, and what is to be said of it."""
    launches = np.bincount(stratum).astype(np.float64)
    if by == "launches":
        return launches, ()
    total, own = np.bincount(stratum, counts.executed), counts.executed[row]
    if not total.any():
        return launches, ("no launch has any instructions, so all strata are weighed by launches",)
    empty = int(((own == 0) & (total > 0)).sum())
    notes = (
        (f"{empty:,} strata have a representative without instructions and are weighed by launches",)
        if empty
        else ()
    )
    return np.divide(total, own, out=launches, where=own > 0), notes


def _labels(
    launches: LaunchList, pairs: _Pairs, stratum_of_pair: IntArray, group: IntArray
) -> tuple[str, ...]:
    """Return (s,) the kernel group of each stratum, and its instruction counts where it is not all of it."""
    first = np.searchsorted(stratum_of_pair, np.arange(len(group)))
    last = np.append(first[1:], len(stratum_of_pair)) - 1
    strata_of_group = np.bincount(group)
    labels = []
    for index, of_group in enumerate(group.tolist()):
        label = launches.groups[of_group].key
        if strata_of_group[of_group] > 1:
            least, most = (_exactly(pairs.executed[end[index]]) for end in (first, last))
            label += f", {least} instructions" if least == most else f", {least} to {most} instructions"
        labels.append(label)
    return tuple(labels)


def _exactly(value: float) -> str:
    """Return a count in the fewest digits that tell it from every other."""
    value = float(value)
    return f"{int(value):,}" if value.is_integer() else f"{value:,}"


def _details(
    launches: LaunchList, counts: InstructionCounts, tier: IntArray, group: IntArray
) -> dict[str, Any]:
    """Return the metric, and of each tier its kernel groups, launches and strata."""
    launches_of = np.bincount(tier[launches.group], minlength=4)
    strata_of = np.bincount(tier[group], minlength=4)
    groups_of = np.bincount(tier[np.unique(group)], minlength=4)
    return {
        "metric": counts.metric,
        "counts": counts.unit,
        "tiers": [
            {
                "tier": each,
                "kernel_groups": int(groups_of[each]),
                "launches": int(launches_of[each]),
                "strata": int(strata_of[each]),
            }
            for each in (1, 2, 3)
        ],
    }


METHOD = Method(
    name="sieve",
    source="Sieve (ISPASS 2023), stratification by instruction count",
    needs=("the instruction count of every launch",),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)


#: Points of the grid the density is looked at on, which reaches 3 bandwidths beyond the values.
GRID_POINTS = 512
_MARGIN_BANDWIDTHS = 3
# A valley shallower than this, in log density, is the rounding of the sums and not a minimum.
_ROUNDING = 1e-9
# A value whose share of the density is below exp(-40) of the nearest value's is below a double's precision.
_NEGLIGIBLE = 40.0
_VALUES_AT_ONCE = 1024


def silverman_bandwidth(values: FloatArray, count: IntArray) -> float:
    """Return sigma (4 / (3 n))^(1/5), the normal reference rule. [Silverman 1986, Eq. 3.28]

    n is the number of observations and sigma their sample standard deviation (n - 1), as in SciPy's
    ``gaussian_kde(bw_method="silverman")``. scikit-learn's "silverman" leaves sigma out.

    Parameters
    ----------
    values, count : (k,) distinct values and how often each was observed; k >= 2.
    """
    observations = int(count.sum())
    mean = np.dot(values, count) / observations
    variance = np.dot((values - mean) ** 2, count) / (observations - 1)
    return float(np.sqrt(variance) * (4 / (3 * observations)) ** 0.2)


def log_density(at: FloatArray, values: FloatArray, count: IntArray, bandwidth: float) -> FloatArray:
    """Return the log of the density at each point, up to a constant.

    Notes
    -----
    Written out because scikit-learn's KernelDensity takes 9 s for 200,000 values, and far from all values,
    where the valleys are, the bounds it subtracts from each other leave errors of several per cent. Here each
    term is taken relative to the nearest value's, so nothing underflows however far the values lie apart.

    Parameters
    ----------
    at : (g,) points, ascending.
    values, count : (k,) distinct values, ascending, and how often each was observed.
    """
    place = np.searchsorted(values, at)
    below = np.abs(at - values[np.maximum(place - 1, 0)])
    above = np.abs(at - values[np.minimum(place, len(values) - 1)])
    nearest = (np.minimum(below, above) / bandwidth) ** 2 / 2
    furthest = nearest + np.log(count.sum()) + _NEGLIGIBLE
    weight = count.astype(np.float64)
    total = np.zeros(len(at))
    for start in range(0, len(values), _VALUES_AT_ONCE):
        part = values[start : start + _VALUES_AT_ONCE]
        gap = np.maximum(np.maximum(part[0] - at, at - part[-1]), 0)
        rows = np.flatnonzero((gap / bandwidth) ** 2 / 2 <= furthest)
        distance = (at[rows, None] - part) / bandwidth
        terms = np.exp(nearest[rows, None] - distance**2 / 2)
        total[rows] += terms @ weight[start : start + _VALUES_AT_ONCE]
    return np.asarray(np.log(total) - nearest)


def valleys(values: FloatArray, count: IntArray) -> FloatArray:
    """Return the grid points at which the density of the values has a strict local minimum, ascending.

    A minimum that falls between two grid points of equal density, as that between two equally frequent
    values does, counts as one, at the lower of the two.

    Parameters
    ----------
    values, count : (k,) distinct values, ascending, and how often each was observed; k >= 2.
    """
    from scipy.signal import find_peaks

    bandwidth = silverman_bandwidth(values, count)
    margin = _MARGIN_BANDWIDTHS * bandwidth
    grid = np.linspace(values[0] - margin, values[-1] + margin, GRID_POINTS)
    places, _ = find_peaks(-log_density(grid, values, count, bandwidth), prominence=_ROUNDING)
    return np.asarray(grid[places])
