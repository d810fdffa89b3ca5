"""Principal Kernel Selection, and TBPoint as its paper compares it. [Principal Kernel Analysis 3.1, 5.1]

Launches are compared by the metrics of the paper's Table 2. Which number of groups, or which threshold of
TBPoint, is taken is decided by the measured total, so the error they report is no prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import NotApplicableError
from sampling.features.metric_names import CHARACTERISTICS, CYCLES
from sampling.methods.clusters import (
    DistinctRows,
    Groups,
    as_picks,
    distinct_rows,
    grouped,
    k_means_groupings,
)
from sampling.methods.method import FRACTION, Method, Picks, setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import Features, LaunchList
from sampling.text import Wording

#: Metrics of this prefix are tensor shapes: light profiling gives them, so they are no characteristics.
TENSOR_PREFIX = "tensor_"
#: What to record for methods that need characteristics, and how to pass it on.
RECORDING = Wording(
    f"record {len(CHARACTERISTICS) + 1} metrics with the ncu command that `kernelpoint methods` prints, "
    "and give the page to `features`"
)
#: Distances between all pairs of so many launches take 1.6 GB, and are held twice.
MOST_LAUNCHES = 20_000
#: Of TBPoint: 0.20, 0.19, ... 0.01, in units of standardised characteristics.
THRESHOLDS = tuple(hundredths / 100 for hundredths in range(20, 0, -1))
# Fixed, so that the plan's seed does not move the groups.
_SEED = 0
# Below this coefficient of variation a column is noise, and standardising would blow the noise up.
_LEAST_COV = 1e-3
# Components are kept until they hold this share of the variance.
_VARIANCE_SHARE = 0.9995
# Scores closer than this are equal but for rounding; a standardised column has the unit 1.
_SCORE_DECIMALS = 9
_MOST_CYCLES = 2.0**63


@dataclass(frozen=True, slots=True)
class Options:
    """How launches are grouped."""

    error: float = setting(
        0.05,
        "the fewest groups are taken that project the total with an error below this fraction",
        **FRACTION,
    )
    k_max: int = setting(20, "the most groups tried", ge=1)
    restarts: int = setting(
        10, "how often k-means starts anew, from a fixed seed, for each number of groups", ge=1
    )


@dataclass(frozen=True, slots=True)
class TBPointOptions:
    """How launches are grouped."""

    error: float = setting(
        0.05,
        "the largest threshold is taken that projects the total with an error below this fraction",
        **FRACTION,
    )


def pick(launches: LaunchList, options: Options, _: np.random.Generator, progress: Progress | None) -> Picks:
    """Return the first launch of each group, for all launches of the group."""
    columns, notes = _required(launches, "pks")
    group, first, more_notes, details = select_kernels(launches, columns, len(launches), options, progress)
    return as_picks(launches, group, first, notes + more_notes, details)


def select_kernels(
    launches: LaunchList, columns: tuple[str, ...], first: int, options: Options, progress: Progress | None
) -> tuple[IntArray, IntArray, list[str], dict[str, Any]]:
    """Return the principal kernels of the first j launches, all of which are complete.

    (j,) the group of each, (k,) the first launch of each group, notes and details.
    """
    rng = np.random.default_rng(_SEED)
    metrics = (launches.features or Features()).metrics
    rows, columns_used, notes = standardise({name: metrics[name][:first] for name in columns})
    components = principal_components(rows)
    groupings = k_means_groupings(components, options.k_max, options.restarts, rng, progress)
    groups, _, sizes, unmet = _choose(groupings, launches, first, options.error, "numbers of groups")
    details = {
        **sizes,
        "components": components.values.shape[1],
        **columns_used,
        "distinct_rows": len(components),
    }
    return groups.of_row[components.row_of], groups.representative, notes + unmet, details


def pick_tbpoint(
    launches: LaunchList, options: TBPointOptions, _: np.random.Generator, progress: Progress | None
) -> Picks:
    """Return the launch nearest to the mean of each group, for all launches of the group.

    In place of TBPoint's threshold, tuned by hand for each program, 20 are tried, and one is chosen by
    Principal Kernel Selection's criterion.
    """
    # First, for whatever metrics are recorded, so many launches stay too many.
    if len(launches) > MOST_LAUNCHES:
        raise NotApplicableError(
            f"tbpoint compares all pairs of launches: {len(launches):,} would need "
            f"{len(launches) ** 2 * 8 / 1e9:,.0f} GB of memory, so it takes at most {MOST_LAUNCHES:,}",
            remedy=Wording("select fewer by `launches=A:B`, or choose pks"),
        )
    columns, notes = _required(launches, "tbpoint")
    metrics, size = (launches.features or Features()).metrics, len(launches)
    rows, columns_used, more_notes = standardise({name: metrics[name] for name in columns})
    if progress is not None:
        progress(0, 0, "comparing all pairs of launches")
    groups, index, picks, unmet = _choose(_linked(rows), launches, size, options.error, "thresholds")
    details = {"threshold": THRESHOLDS[index], **picks, **columns_used, "distinct_rows": len(rows)}
    notes += more_notes + unmet
    return as_picks(launches, groups.of_row[rows.row_of], groups.representative, notes, details)


def _linked(rows: DistinctRows) -> Iterator[Groups]:
    """Yield the groups of each of ``THRESHOLDS``: clusters merge at an average distance below it."""
    if len(rows) == 1:
        yield grouped(rows, np.zeros(1, dtype=np.int64), by_centre=True)
        return
    from scipy.cluster.hierarchy import fcluster, linkage

    # All launches, not the distinct rows: each weighs in the average distances between clusters.
    tree: FloatArray = linkage(rows.values[rows.row_of], method="average", metric="euclidean")
    for threshold in THRESHOLDS:
        # SciPy merges at a distance up to its threshold, scikit-learn and the text below it.
        labels = fcluster(tree, np.nextafter(threshold, 0), criterion="distance")
        yield grouped(rows, labels[rows.first], by_centre=True)


def characteristics(launches: LaunchList) -> tuple[tuple[str, ...], BoolArray, list[str]]:
    """Return the paper's characteristics that any launch has, (n,) which have all these, and notes."""
    features = launches.features or Features()
    characteristics = {names[0]: features.first_present(names) for names in CHARACTERISTICS}
    columns = tuple(name for name in characteristics.values() if name is not None)
    complete = np.full(len(launches), bool(columns))
    for name in columns:
        complete &= np.isfinite(features.metrics[name])
    if lacking := ", ".join(first for first, name in characteristics.items() if name is None):
        used = f"{len(columns)} of the {len(characteristics)} published characteristics are used"
        return columns, complete, [f"{used}; the profile lacks {lacking}"]
    return columns, complete, []


def _required(launches: LaunchList, method: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the characteristics, which every launch must have, and notes."""
    columns, complete, notes = characteristics(launches)
    if lacking := int(np.count_nonzero(~complete)):
        raise NotApplicableError(
            f"{method} needs metrics of every launch; {lacking:,} of {len(complete):,} launches lack them",
            remedy=Wording("{}, or choose two-level", RECORDING) if complete[0] else RECORDING,
        )
    return columns, notes


def standardise(columns: Mapping[str, FloatArray]) -> tuple[DistinctRows, dict[str, list[str]], list[str]]:
    """Return launches as rows of mean 0 and population standard deviation 1; what hardly varies is dropped.

    A column (n,) is dropped whose population standard deviation / |mean| is below 1e-3; mean 0 with variation
    stays. One that some launch lacks is dropped as well. Where nothing varies, one row of no columns is left.
    Also returned are which columns are kept and left out, as details, and notes.
    """
    launches = len(next(iter(columns.values())))
    complete = {name: values for name, values in columns.items() if np.isfinite(values).all()}
    distinct = distinct_rows(list(complete.values()), launches)
    # Neither the coefficient of variation nor the standardised column depends on the unit, and squares of
    # values up to 1 cannot overflow.
    largest = np.abs(distinct.values).max(axis=0)
    values = distinct.values / np.where(largest > 0, largest, 1.0)
    mean = np.average(values, axis=0, weights=distinct.count)
    centred = values - mean
    std = np.sqrt(np.average(centred**2, axis=0, weights=distinct.count))
    varies = (std > 0) & (std >= _LEAST_COV * np.abs(mean))
    varying = [name for name, does_vary in zip(complete, varies.tolist(), strict=True) if does_vary]
    notes = [] if varying else ["no metric tells the launches apart, so all of them are one group"]
    details = {"columns": varying, "columns_left_out": [name for name in columns if name not in varying]}
    return distinct.with_values(centred[:, varies] / std[varies]), details, notes


def principal_components(rows: DistinctRows) -> DistinctRows:
    """Return the launches on the fewest principal axes that hold 99.95 % of the variance.

    It is scikit-learn's ``PCA(0.9995)`` of all launches, from the distinct rows and their counts alone.
    Scores that differ by rounding only count as equal.
    """
    if rows.values.shape[1] == 0:
        return rows
    covariance = np.atleast_2d(np.cov(rows.values, rowvar=False, fweights=rows.count, bias=True))
    variance, axes = np.linalg.eigh(covariance)
    share = np.cumsum(variance[::-1].clip(0)) / variance.clip(0).sum()
    components = min(int(np.searchsorted(share, _VARIANCE_SHARE)) + 1, len(share))
    return rows.with_values(rows.values @ axes[:, ::-1][:, :components], _SCORE_DECIMALS)


def _choose(
    candidates: Iterable[Groups], launches: LaunchList, first: int, threshold: float, tried: str
) -> tuple[Groups, int, dict[str, Any], list[str]]:
    """Return the first candidate that projects the total with an error below the threshold, or the best.

    The error is |sum of size * cost of the representative - total| / total, of the first launches. Costs are
    elapsed cycles if each of them has these, else durations: cycles that are all zero were not counted, and
    those beyond 64 bits are no count. Also returned are which candidate it is, details, and a note where none
    met the threshold; candidates after the one taken are not made.
    """
    truth, cost = "duration_ns", launches.duration_ns[:first].astype(np.float64)
    metrics = (launches.features or Features()).metrics
    for name in filter(metrics.__contains__, CYCLES):
        cycles = metrics[name][:first]
        if cycles.any() and (np.abs(cycles) < _MOST_CYCLES).all():
            truth, cost = name, cycles
            break
    total, solutions, errors = float(cost.sum()), list[Groups](), list[float]()
    for groups in candidates:
        projected = float(np.dot(groups.size, cost[groups.representative]))
        # Where the total is 0 every launch costs 0, and the projection is 0 too.
        errors.append(abs(projected - total) / total if total else 0.0)
        solutions.append(groups)
        if errors[-1] < threshold:
            break
    index = int(np.argmin(errors))
    best, error, notes = solutions[index], errors[index], list[str]()
    if error >= threshold:
        miss = f"the {len(best)} groups taken miss it by {100 * error:.1f} %"
        notes = [f"none of the {tried} tried projects the total within {100 * threshold:g} %: {miss}"]
    details = {"k": len(best), "truth": truth, "projected_error": error, "projected_errors": errors}
    return best, index, details, notes


METHOD = Method(
    name="pks",
    source="Principal Kernel Analysis, section 3.1",
    description="Launches are clustered by the principal components of their metrics; one stands for each.",
    needs=("metrics of Nsight Compute of every launch",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
)

TBPOINT = Method(
    name="tbpoint",
    source="TBPoint, as Principal Kernel Analysis, section 5.1, compares it",
    description="Launches are clustered by their metrics, from the bottom up; one stands for each cluster.",
    needs=("metrics of Nsight Compute of every launch", "at most 20,000 launches"),
    published_grouping=GroupBy.LAUNCH,
    options_type=TBPointOptions,
    pick=pick_tbpoint,
)
