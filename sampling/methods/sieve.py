"""Sieve: strata of equal or similar instruction counts, one launch from each. [Sieve, ISPASS 2023]"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sampling.arrays import FloatArray, IntArray, dense_codes
from sampling.features.metric_names import instruction_counts
from sampling.methods.method import Method, Picks, setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import LaunchList

# Points of the grid the density is looked at on, which reaches 3 bandwidths beyond the values.
_GRID_POINTS = 512
_MARGIN_BANDWIDTHS = 3
# A valley shallower than this, in log density, is the rounding of the sums and not a minimum.
_ROUNDING = 1e-9
# A value whose share of the density is below exp(-40) of the nearest value's is below a double's precision.
_NEGLIGIBLE = 40.0
_VALUES_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Options:
    """Sieve's threshold, and its variants."""

    cov: float = setting(
        0.4,
        "a kernel group, or a part of one, whose instruction counts vary less than this (CoV) stays one "
        "stratum",
        gt=0,
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


def pick(launches: LaunchList, options: Options, _: np.random.Generator, progress: Progress | None) -> Picks:
    """Part every kernel group by instruction count; the first launch of each part represents it.

    Tier 1 is a group of one instruction count, tier 2 one whose CoV is below 0.4, tier 3 the others: these
    are cut where the density of the log counts has its minima. In tier 2 the representative is the first
    launch with the CTA size that most launches of the group have. Launches without any instruction are a
    stratum of their own in tier 3, for their logarithm lies infinitely far from all others.
    """
    counts, groups = instruction_counts(launches, "sieve"), len(launches.groups)
    # The distinct (kernel group, instruction count) pairs, ordered by both; group g has `offsets[g:g + 2]`.
    order = np.lexsort((counts.executed, launches.group))
    group, executed = launches.group[order], counts.executed[order]
    new = np.append(True, (group[1:] != group[:-1]) | (executed[1:] != executed[:-1]))
    pair_of_row = np.empty(len(order), dtype=np.int64)
    pair_of_row[order] = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    group, executed, often = group[first], executed[first], np.diff(np.append(first, len(order)))
    offsets = np.searchsorted(group, np.arange(groups + 1))

    # A group without launches, or without a single instruction, has no CoV and needs none: it is tier 1.
    mean = np.bincount(group, executed * often, groups) / np.maximum(np.bincount(group, often, groups), 1)
    squares = np.bincount(group, (executed - mean[group]) ** 2 * often, groups)
    deviation = np.sqrt(squares / np.maximum(np.bincount(group, often, groups), 1))
    tier = np.where(np.diff(offsets) <= 1, 1, np.where(deviation < options.cov * mean, 2, 3))
    opens = np.append(True, group[1:] != group[:-1])
    cut = np.flatnonzero(tier == 3).tolist() if options.kde == "on" else []
    for finished, index in enumerate(cut):
        start, stop = offsets[index : index + 2].tolist()
        opens[start + _parts(executed[start:stop], often[start:stop], options.cov)] = True
        if progress is not None:
            progress(finished + 1, len(cut), "cutting kernels by instruction count")

    stratum, of_stratum = (np.cumsum(opens) - 1)[pair_of_row], group[opens]
    row = _representatives(launches, stratum, tier[of_stratum])
    weight = np.bincount(stratum).astype(np.float64)
    if options.weights == "instructions":
        # A representative without instructions is weighed by launches.
        total, counts_picked = np.bincount(stratum, counts.executed), counts.executed[row]
        weight = np.divide(total, counts_picked, out=weight, where=counts_picked > 0)
    ends, is_part, labels = np.append(np.flatnonzero(opens), len(opens)), np.bincount(of_stratum) > 1, []
    for index, kernel in enumerate(of_stratum.tolist()):
        values = (float(executed[position]) for position in (ends[index], ends[index + 1] - 1))
        # In the fewest digits that tell a count from every other.
        low, high = (f"{int(number) if number.is_integer() else number:,}" for number in values)
        counted = f", {low if low == high else f'{low} to {high}'} instructions"
        labels.append(launches.groups[kernel].key + (counted if is_part[kernel] else ""))
    of_tier = {"kernel_groups": np.unique(of_stratum), "launches": launches.group, "strata": of_stratum}
    sizes = {name: np.bincount(tier[strata], minlength=4).tolist() for name, strata in of_tier.items()}
    tiers = [{"tier": number, **{name: size[number] for name, size in sizes.items()}} for number in (1, 2, 3)]
    # Rows ascending: the strata are numbered by group and count, their representatives by launch.
    order = np.argsort(row)
    details = {"metric": counts.metric, "counts": counts.unit, "tiers": tiers}
    return Picks(stratum, tuple(labels), row[order], weight[order], details=details)


def _parts(executed: FloatArray, often: IntArray, threshold: float) -> IntArray:
    """Return at which of its distinct counts (k,), ascending, each part of a tier-3 group begins."""
    # The zeros come first, if there are any; the others are cut anew as long as they vary and have a valley.
    positive = int(executed[0] == 0)
    starts, waiting = list(range(positive)), [(positive, len(executed))]
    while waiting:
        start, stop = waiting.pop()
        part, weight = executed[start:stop], often[start:stop]
        edges = np.array([start, stop])
        mean = np.average(part, weights=weight)
        deviation = np.sqrt(np.average((part - mean) ** 2, weights=weight))
        if len(part) > 1 and deviation >= threshold * mean:
            logs = np.log(part)
            inner = start + np.searchsorted(logs, _valleys(logs, weight), side="right")
            edges = np.unique(np.concatenate([edges, inner]))
        if len(edges) == 2:
            starts.append(start)
        else:
            waiting.extend(pairwise(edges.tolist()))
    return np.array(starts)


def _representatives(launches: LaunchList, stratum: IntArray, tier: IntArray) -> IntArray:
    """Return (s,) the row of each stratum's representative; ``tier`` (s,) is each one's."""
    _, row = np.unique(stratum, return_index=True)
    threads = launches.shapes()[:, 4:].prod(axis=1)
    rows = np.flatnonzero((tier[stratum] == 2) & (threads > 0))
    code, first = dense_codes([stratum[rows], threads[rows]])
    first_row, of_stratum = rows[first], stratum[rows[first]]
    # Of a stratum's CTA sizes the one most launches have, of several the one seen first, comes first.
    order = np.lexsort((first_row, -np.bincount(code), of_stratum))
    strata, first_place = np.unique(of_stratum[order], return_index=True)
    row[strata] = first_row[order[first_place]]
    return np.asarray(row)


def _valleys(values: FloatArray, count: IntArray) -> FloatArray:
    """Return the grid points, ascending, at which the density of two values or more has a local minimum.

    The density is of ascending values (k,), each observed so often, with a Gaussian kernel. The bandwidth is
    the normal reference rule, sigma (4 / (3 n))^(1/5) [Silverman 1986, Eq. 3.28], sigma with n - 1 as in
    SciPy's ``gaussian_kde``; scikit-learn's "silverman" leaves sigma out. A minimum that falls between two
    grid points of equal density, as that between two equally frequent values does, counts as one, at the
    lower of the two.

    Written out because scikit-learn's KernelDensity takes 9 s for 200,000 values, and far from all values,
    where the valleys are, the bounds it subtracts from each other leave errors of several per cent. Here each
    term is taken relative to the nearest value's, so nothing underflows however far the values lie apart.
    """
    from scipy.signal import find_peaks

    observations = int(count.sum())
    mean = np.dot(values, count) / observations
    variance = np.dot((values - mean) ** 2, count) / (observations - 1)
    bandwidth = float(np.sqrt(variance) * (4 / (3 * observations)) ** 0.2)
    margin = _MARGIN_BANDWIDTHS * bandwidth
    grid = np.linspace(values[0] - margin, values[-1] + margin, _GRID_POINTS)
    place = np.searchsorted(values, grid)
    below = np.abs(grid - values[np.maximum(place - 1, 0)])
    above = np.abs(grid - values[np.minimum(place, len(values) - 1)])
    nearest = (np.minimum(below, above) / bandwidth) ** 2 / 2
    furthest = nearest + np.log(count.sum()) + _NEGLIGIBLE
    density = np.zeros(len(grid))
    for start in range(0, len(values), _VALUES_AT_ONCE):
        part, weight = (
            column[start : start + _VALUES_AT_ONCE] for column in (values, count.astype(np.float64))
        )
        gap = np.maximum(np.maximum(part[0] - grid, grid - part[-1]), 0)
        rows = np.flatnonzero((gap / bandwidth) ** 2 / 2 <= furthest)
        distance = (grid[rows, None] - part) / bandwidth
        density[rows] += np.exp(nearest[rows, None] - distance**2 / 2) @ weight
    places, _ = find_peaks(nearest - np.log(density), prominence=_ROUNDING)
    return np.asarray(grid[places])


METHOD = Method(
    name="sieve",
    source="Sieve (ISPASS 2023), stratification by instruction count",
    description="Launches of a kernel are put into strata by their instructions; one stands for each "
    "stratum.",
    needs=("the instruction count of every launch",),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
