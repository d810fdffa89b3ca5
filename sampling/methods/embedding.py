"""Clusters of any vectors that launches have, each represented by the launch nearest to its centre.

The vectors come from elsewhere, for example from a network that learned which launches are alike.
(docs/methods.md, 8 Sieve, Photon, embedding, random)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import NotApplicableError
from sampling.features.metric_names import COSTS, is_cost
from sampling.features.tables import VECTOR_PREFIX
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.pka.characteristics import TENSOR_PREFIX, standardise
from sampling.methods.pka.distinct_rows import DistinctRows, distinct_rows
from sampling.methods.pka.launch_clusters import k_means_grouping, k_means_groupings
from sampling.methods.pka.represented_groups import (
    RepresentedGroups,
    as_picks,
    choose,
    group_means,
    measured_cost,
    represented_by_central,
    unmet_note,
)
from sampling.methods.settings import FRACTION, MethodOptions, Span, setting
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_features import Features
from sampling.reduction.launch_list import LaunchList
from sampling.text import Wording, counted, listed

# Fixed, so that the plan's seed does not move the clusters.
_SEED = 0
# Up to this mean silhouette there is "no substantial structure". [Kaufman and Rousseeuw 1990, Table 4]
_NO_STRUCTURE = 0.25


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """Which numbers are the vectors, and how many clusters they make."""

    k: int | None = setting(None, "so many clusters; none: as embedding.choose says", span=Span(least=1))
    choose: Literal["silhouette", "error"] = setting(
        "silhouette",
        "silhouette: as many clusters as stand apart best, by the vectors alone; error: the fewest whose "
        "representatives project the measured total, which is then no prediction",
    )
    error: float = setting(0.05, "the error of the total that embedding.choose=error asks for", span=FRACTION)
    k_max: int = setting(20, "the most clusters that are tried", span=Span(least=1))
    draw: Literal["nearest", "random"] = setting(
        "nearest",
        "nearest: the launch nearest to each centre, without an interval; random: launches drawn at random "
        "from each cluster, as many as keep epsilon, with a bound and an interval",
    )
    samples: int = setting(
        2, "the fewest launches drawn of a cluster by embedding.draw=random", span=Span(least=1)
    )
    scale: Scale = setting(
        "plain",
        "plain: vectors as they are; standard: every column to mean 0 and standard deviation 1, for numbers "
        "in different units; unit: every vector to length 1, so that directions are compared",
    )
    columns: str | None = setting(
        None,
        "the columns that are the vector; none: those of an npy file, else all metrics but times",
        values="how their names begin",
    )
    restarts: int = setting(
        5, "how often k-means starts anew, from a fixed seed, for each number of clusters", span=Span(least=1)
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Clusters, how their number came about, and what is to be said of it."""

    groups: RepresentedGroups
    details: dict[str, Any]
    notes: tuple[str, ...] = ()


def pick(request: PickRequest[Options]) -> Picks:
    """Return the clusters, and the launch nearest to the centre of each, for all launches of the cluster.

    Raises
    ------
    NotApplicableError : a launch lacks its vector.
    """
    launches, options = request.launches, request.options
    vectors = launch_vectors(launches, options.columns, options.scale)
    rows = vectors.rows
    found = _clusters(launches, rows, options, request.progress)
    notes = (*vectors.notes, *found.notes)
    if len(rows) > LEARNED_FROM:
        notes = (*notes, f"centres are learned from {LEARNED_FROM:,} launches drawn at random")
    picks = as_picks(
        launches,
        found.groups.group_of_row[rows.row_of],
        found.groups.representative,
        notes,
        {
            "k": len(found.groups),
            **found.details,
            "columns": list(vectors.columns),
            "distinct_vectors": len(rows),
        },
    )
    if options.draw == "nearest":
        return picks
    return replace(picks, details={**picks.details, "representatives": None})


def _clusters(
    launches: LaunchList, rows: DistinctRows, options: Options, progress: Progress | None
) -> _Found:
    rng = np.random.default_rng(_SEED)
    if options.k is not None:
        groups = clustering(rows, options.k, options.restarts, rng, progress)
        made = f"embedding.k={options.k}: {len(rows):,} distinct vectors make {len(groups):,} clusters"
        return _Found(groups, {"chosen_by": "k"}, (made,) if len(groups) < options.k else ())
    candidates = clusterings(rows, options.k_max, options.restarts, rng, progress)
    if options.choose == "error":
        cost = measured_cost(launches)
        choice = choose(candidates, cost.values, options.error)
        details = {
            "chosen_by": "error",
            "truth": cost.name,
            "projected_error": choice.error,
            "projected_errors": list(choice.errors),
        }
        return _Found(choice.groups, details, unmet_note(choice, options.error, "numbers of clusters"))
    best = choose_by_silhouette(candidates, rows, np.random.default_rng(_SEED))
    details = {
        "chosen_by": "silhouette",
        "silhouettes": list(best.silhouettes),
        "silhouettes_of_launches": best.sampled,
    }
    return _Found(best.groups, details, _shape_notes(best.groups, best.silhouettes, rows, options))


def _shape_notes(
    groups: RepresentedGroups, silhouettes: tuple[float, ...], rows: DistinctRows, options: Options
) -> tuple[str, ...]:
    """Return notes on clusters chosen by silhouette that do not stand apart, or may be too few."""
    k = len(groups)
    if k == 1:
        one = "all vectors are equal" if len(rows) == 1 else f"embedding.k_max={options.k_max}"
        return (f"{one}, so all launches are one cluster",)
    notes = []
    if silhouettes[k - 2] <= _NO_STRUCTURE:
        notes.append(
            f"the vectors hardly form clusters: their best mean silhouette is {silhouettes[k - 2]:.2f}, and "
            f"clusters are told from {_NO_STRUCTURE:g} on"
        )
    if k == options.k_max < len(rows):
        notes.append(f"the most clusters tried stand apart best: more than embedding.k_max={k} may do better")
    return tuple(notes)


METHOD = Method(
    name="embedding",
    source="this project: k-means on vectors given for the launches, for example those of GCL-Sampler",
    needs=("a vector of numbers for every launch (CSV, Parquet or npy)",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
    drawn_within=lambda options: options.samples if options.draw == "random" else None,
)


Scale = Literal["plain", "standard", "unit"]

# Components of unit vectors that are closer than this are equal but for rounding.
_UNIT_DECIMALS = 12
_REMEDY = Wording(
    "give a CSV or Parquet file with a column id and a column for each number, or an npy file with a row for "
    "every launch in the order of their ids, to `features`"
)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a list's launches.

    Attributes
    ----------
    rows : the distinct vectors, in the scale asked for.
    columns : the metrics behind their components, before the scale left any out.
    notes : what the user should know of what was left out.
    """

    rows: DistinctRows
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def launch_vectors(launches: LaunchList, prefix: str | None, scale: Scale) -> Vectors:
    """Return the vector of every launch.

    Parameters
    ----------
    prefix : how the names of the columns begin; None: those of an npy file, or, where there is none, every
        metric but times and tensor shapes.

    Raises
    ------
    NotApplicableError : there is no such column, or a launch lacks one of its numbers.
    """
    features = launches.features or Features()
    columns, costs = _columns(features, prefix)
    if not columns:
        begins = "" if prefix is None else f" whose names begin with {prefix!r}"
        raise NotApplicableError(
            f"embedding needs a vector of every launch, and the profile has no numbers{begins} to make it of",
            remedy=_REMEDY,
        )
    values = {name: features.metrics[name] for name in columns}
    _require_every_number(launches, values)
    rows, notes = _scaled(values, columns, len(launches), scale)
    if costs:
        notes = (*notes, f"left out of the vectors: {listed(costs)}; no method goes by {COSTS}")
    return Vectors(rows, columns, notes)


def _columns(features: Features, prefix: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of the vector, and those left out as they are what is to be projected."""
    if prefix is not None:
        return tuple(name for name in features.metrics if name.startswith(prefix)), ()
    of_npy = tuple(name for name in features.metrics if name.startswith(VECTOR_PREFIX))
    if of_npy:
        return of_npy, ()
    measured = [
        name
        for name in features.metrics
        if not name.startswith(TENSOR_PREFIX) and np.isfinite(features.metrics[name]).any()
    ]
    costs = tuple(name for name in measured if is_cost(name, features.units.get(name)))
    return tuple(name for name in measured if name not in costs), costs


def _require_every_number(launches: LaunchList, values: dict[str, FloatArray]) -> None:
    """Raise NotApplicableError where some launch lacks a number; says how many, and which first."""
    lacks = np.zeros(len(launches), dtype=np.bool_)
    for column in values.values():
        lacks |= ~np.isfinite(column)
    if not lacks.any():
        return
    first = int(np.argmax(lacks))
    name = next(name for name, column in values.items() if not np.isfinite(column[first]))
    lacking = int(np.count_nonzero(lacks))
    verb = "lacks" if lacking == 1 else "lack"
    raise NotApplicableError(
        f"embedding needs the whole vector of every launch; {lacking:,} of "
        f"{counted(len(launches), 'launch', 'launches')} {verb} numbers of it, launch "
        f"{int(launches.id[first])} '{name}' for one",
        remedy=_REMEDY,
    )


def _scaled(
    values: dict[str, FloatArray], columns: tuple[str, ...], launches: int, scale: Scale
) -> tuple[DistinctRows, tuple[str, ...]]:
    if scale == "standard":
        table = standardise(values, columns)
        return table.rows, table.notes()
    rows = distinct_rows(list(values.values()), launches)
    if scale == "plain":
        return rows, ()
    length = np.linalg.norm(rows.values, axis=1)
    unit = rows.values / np.where(length > 0, length, 1.0)[:, np.newaxis]
    empty = int(rows.count[length == 0].sum())
    notes = (f"{counted(empty, 'vector is', 'vectors are')} 0 and has no direction",) if empty else ()
    return rows.with_values(unit, _UNIT_DECIMALS), notes


#: Of more distinct vectors than this, the silhouette is that of as many launches drawn at random.
COMPARED = 4_000
# Silhouettes that differ by less are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Compared:
    """The vectors that a silhouette is computed of.

    Attributes
    ----------
    row : (c,) rows of the table that they are.
    count : (c,) launches that have them.
    distance : (c, c) between all pairs.
    """

    row: IntArray
    count: IntArray
    distance: FloatArray


@dataclass(frozen=True, slots=True)
class ByShape:
    """The clusters that stand apart best.

    Attributes
    ----------
    groups : them.
    silhouettes : the mean silhouette of K = 2, 3, ...; none where all vectors are equal.
    sampled : of how many launches these are, where that is not of all; else None.
    """

    groups: RepresentedGroups
    silhouettes: tuple[float, ...]
    sampled: int | None


def compared_rows(rows: DistinctRows, rng: np.random.Generator) -> Compared:
    """Return what silhouettes are computed of: all vectors, or those of `COMPARED` launches."""
    from scipy.spatial.distance import cdist

    few = some_of(rows, COMPARED, rng)
    # The first launch of a vector tells which row of the whole table it is.
    return Compared(rows.row_of[few.first], few.count, np.asarray(cdist(few.values, few.values)))


def mean_silhouette(compared: Compared, group: IntArray) -> float:
    """Return the mean over launches of (b - a) / max(a, b), 0 for a launch alone in its cluster.

    a is its mean distance to the other launches of its cluster, b the least mean distance to those of
    another. Equal launches are counted, not listed; the result is that of all launches. -1 where all are of
    one cluster, which none can stand apart from.

    Parameters
    ----------
    group : (rows of the table,) the cluster of each.
    """
    _, own = np.unique(group[compared.row], return_inverse=True)
    size = np.bincount(own, compared.count)
    if len(size) == 1:
        return -1.0
    member = np.zeros((len(own), len(size)))
    everyone = np.arange(len(own))
    member[everyone, own] = compared.count
    summed = compared.distance @ member
    within = summed[everyone, own] / np.maximum(size[own] - 1, 1)
    between = summed / size
    between[everyone, own] = np.inf
    apart = between.min(axis=1)
    largest = np.maximum(within, apart)
    each = np.divide(apart - within, largest, out=np.zeros(len(own)), where=(largest > 0) & (size[own] > 1))
    return float(np.average(each, weights=compared.count))


def choose_by_silhouette(
    candidates: Iterable[RepresentedGroups], rows: DistinctRows, rng: np.random.Generator
) -> ByShape:
    """Return the candidate of greatest mean silhouette, of equals the one of fewest clusters.

    Parameters
    ----------
    candidates : the clusters of K = 1, 2, ...; the first is taken only if it is the only one.
    """
    compared = compared_rows(rows, rng)
    best: RepresentedGroups | None = None
    greatest, silhouettes = -np.inf, []
    for groups in candidates:
        if len(groups) == 1:
            best = groups
            continue
        silhouettes.append(mean_silhouette(compared, groups.group_of_row))
        if silhouettes[-1] > greatest + _ROUNDING:
            best, greatest = groups, silhouettes[-1]
    assert best is not None
    sampled = int(compared.count.sum()) if len(compared.row) < len(rows) else None
    return ByShape(best, tuple(silhouettes), sampled)


#: From more distinct vectors than this, centres are learned from as many launches drawn at random.
LEARNED_FROM = 20_000
_ROWS_AT_ONCE = 8_192


def clusterings(
    rows: DistinctRows, k_max: int, restarts: int, rng: np.random.Generator, progress: Progress | None
) -> Iterator[RepresentedGroups]:
    """Yield the clusters of K = 1, 2, ... up to ``k_max``, at most one a distinct vector."""
    learned = some_of(rows, LEARNED_FROM, rng)
    for groups in k_means_groupings(learned, k_max, restarts, rng, progress):
        yield _of_all(rows, learned, groups)


def clustering(
    rows: DistinctRows, k: int, restarts: int, rng: np.random.Generator, progress: Progress | None
) -> RepresentedGroups:
    """Return K clusters, or one a distinct vector where there are fewer."""
    learned = some_of(rows, max(LEARNED_FROM, k), rng)
    if progress is not None:
        progress(0, 0, "grouping launches")
    return _of_all(rows, learned, k_means_grouping(learned, k, restarts, rng))


def some_of(rows: DistinctRows, most: int, rng: np.random.Generator) -> DistinctRows:
    """Return the vectors of so many launches drawn at random; of all where few vectors are distinct."""
    if len(rows) <= most:
        return rows
    drawn = np.sort(rng.choice(len(rows.row_of), most, replace=False))
    kept, row_of, count = np.unique(rows.row_of[drawn], return_inverse=True, return_counts=True)
    return DistinctRows(rows.values[kept], row_of, rows.first[kept], count)


def _of_all(rows: DistinctRows, learned: DistinctRows, groups: RepresentedGroups) -> RepresentedGroups:
    """Return the clusters of all vectors, each in that of the nearest centre."""
    if learned is rows:
        return represented_by_central(rows, groups.group_of_row)
    centres = group_means(learned, groups.group_of_row)
    return represented_by_central(rows, nearest_centre(rows.values, centres))


def nearest_centre(values: FloatArray, centres: FloatArray) -> IntArray:
    """Return (d,) the centre (k, columns) nearest to each vector (d, columns)."""
    nearest = np.empty(len(values), dtype=np.int64)
    # About the middle of the centres the products of large numbers do not hide small distances.
    middle = centres.mean(axis=0)
    centred = centres - middle
    half_squares = (centred**2).sum(axis=1) / 2
    for start in range(0, len(values), _ROWS_AT_ONCE):
        part = values[start : start + _ROWS_AT_ONCE] - middle
        nearest[start : start + len(part)] = np.argmin(half_squares - part @ centred.T, axis=1)
    return nearest
