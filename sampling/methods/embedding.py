"""Clusters of any vectors that launches have, each represented by the launch nearest to its centre.

The vectors come from elsewhere, for example from a network that learned which launches are alike.
(docs/methods.md, 8 Sieve, Photon, embedding, random)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sampling.errors import NotApplicableError
from sampling.features.metric_names import COSTS, is_cost
from sampling.features.reading import VECTOR_PREFIX
from sampling.methods.clusters import (
    DistinctRows,
    Groups,
    as_picks,
    distinct_rows,
    group_means,
    grouped,
    k_means_grouping,
    k_means_groupings,
)
from sampling.methods.method import Method, Picks, setting
from sampling.methods.pks import TENSOR_PREFIX, standardise
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import Features, LaunchList
from sampling.text import Wording, listed

#: From more distinct vectors than this, centres are learned from as many launches drawn at random.
LEARNED_FROM = 20_000
# Of more launches than this, the silhouette is that of as many drawn at random.
_COMPARED = 4_000
# Fixed, so that the plan's seed does not move the clusters.
_SEED = 0
_RESTARTS = 5
# Silhouettes that differ by less are equal.
_ROUNDING = 1e-9
# Up to this mean silhouette there is "no substantial structure". [Kaufman and Rousseeuw 1990, Table 4]
_NO_STRUCTURE = 0.25
_REMEDY = Wording(
    "give a CSV or Parquet file with a column id and a column for each number, or an npy file with a row for "
    "every launch in the order of their ids, to `features`"
)


@dataclass(frozen=True, slots=True)
class Options:
    """Which numbers are the vectors, and how many clusters they make."""

    k: int | None = setting(
        None, "so many clusters; none: as many as stand apart best by their silhouette", ge=1
    )
    k_max: int = setting(20, "the most clusters that are tried", ge=1)
    draw: Literal["nearest", "random"] = setting(
        "nearest",
        "nearest: the launch nearest to each centre, without an interval; random: launches drawn at random "
        "from each cluster, as many as keep epsilon, with a bound and an interval",
    )
    samples: int = setting(2, "the fewest launches drawn of a cluster by embedding.draw=random", ge=1)
    scale: Literal["plain", "standard"] = setting(
        "plain",
        "plain: vectors as they are; standard: every column to mean 0 and standard deviation 1, for numbers "
        "in different units",
    )
    columns: str | None = setting(
        None,
        "the columns that are the vector; none: those of an npy file, else all metrics but times",
        values="how their names begin",
    )


def pick(launches: LaunchList, options: Options, _: np.random.Generator, progress: Progress | None) -> Picks:
    """Return the clusters, and the launch nearest to the centre of each, for all launches of the cluster."""
    rows, columns, notes = _vectors(launches, options)
    rng, learned, limit = np.random.default_rng(_SEED), rows, max(LEARNED_FROM, options.k or 1)
    if len(rows) > limit:
        sample = np.sort(rng.choice(len(rows.row_of), limit, replace=False))
        vectors, row_of, count = np.unique(rows.row_of[sample], return_inverse=True, return_counts=True)
        learned = DistinctRows(rows.values[vectors], row_of, rows.first[vectors], count)
        notes.append(f"centres are learned from {limit:,} launches drawn at random")
    if progress is not None:
        progress(0, 0, "grouping launches")
    details: dict[str, Any] = {"chosen_by": "k"}
    if options.k is not None:
        groups = _assign_all(rows, learned, k_means_grouping(learned, options.k, _RESTARTS, rng))
    else:
        groupings = k_means_groupings(learned, options.k_max, _RESTARTS, rng, progress)
        groups, silhouettes = _best_apart(
            (_assign_all(rows, learned, grouping) for grouping in groupings), rows
        )
        details = {"chosen_by": "silhouette", "silhouettes": silhouettes}
        if (best := max(silhouettes, default=1.0)) <= _NO_STRUCTURE:
            notes.append(f"the vectors hardly form clusters: their best mean silhouette is {best:.2f}")
    details = {"k": len(groups), **details, "columns": list(columns), "distinct_vectors": len(rows)}
    picks = as_picks(launches, groups.of_row[rows.row_of], groups.representative, notes, details)
    return (
        picks if options.draw == "nearest" else replace(picks, details={**details, "representatives": None})
    )


def _vectors(launches: LaunchList, options: Options) -> tuple[DistinctRows, tuple[str, ...], list[str]]:
    """Return the distinct vectors, the metrics that they are made of, and what is to be said of that."""
    features, prefix, notes = launches.features or Features(), options.columns, list[str]()
    columns = tuple(name for name in features.metrics if name.startswith(prefix or VECTOR_PREFIX))
    if not columns and prefix is None:
        candidates = [name for name, values in features.metrics.items() if np.isfinite(values).any()]
        candidates = [name for name in candidates if not name.startswith(TENSOR_PREFIX)]
        costs = [name for name in candidates if is_cost(name, features.units.get(name))]
        columns = tuple(name for name in candidates if name not in costs)
        notes = [f"left out of the vectors: {listed(costs)}; no method goes by {COSTS}"] if costs else []
    if not columns:
        begins = "" if prefix is None else f" whose names begin with {prefix!r}"
        needs = f"a vector of every launch, and the profile has no numbers{begins} to make it of"
        raise NotApplicableError(f"embedding needs {needs}", remedy=_REMEDY)
    values = {name: features.metrics[name] for name in columns}
    lacks = ~np.isfinite(np.stack(list(values.values())))
    if lacks.any():
        first = int(np.argmax(lacks.any(axis=0)))
        column, lacking = columns[int(np.argmax(lacks[:, first]))], int(lacks.any(axis=0).sum())
        needs = f"the whole vector of every launch, and {lacking:,} of {len(launches):,} lack numbers of it"
        place = f"launch {launches.id[first]} {column!r} for one"
        raise NotApplicableError(f"embedding needs {needs}, {place}", remedy=_REMEDY)
    if options.scale == "plain":
        return distinct_rows(list(values.values()), len(launches)), columns, notes
    rows, _, more_notes = standardise(values)
    return rows, columns, more_notes + notes


def _assign_all(rows: DistinctRows, learned: DistinctRows, groups: Groups) -> Groups:
    """Return the clusters of all rows; those that were not learned from go to the nearest centre."""
    from sklearn.metrics import pairwise_distances_argmin

    if learned is rows:
        return grouped(rows, groups.of_row, by_centre=True)
    centres = group_means(learned, groups.of_row)
    # About the middle of the centres the products of large numbers do not hide small distances.
    middle = centres.mean(axis=0)
    nearest = pairwise_distances_argmin(rows.values - middle, centres - middle)
    return grouped(rows, np.asarray(nearest), by_centre=True)


def _best_apart(candidates: Iterator[Groups], rows: DistinctRows) -> tuple[Groups, list[float]]:
    """Return the clusters of greatest mean silhouette, of equals the fewest, and it for K = 2, 3, ...

    [Rousseeuw 1987], of all launches or of some drawn at random. One is taken where none are more.
    """
    from sklearn.metrics import silhouette_score

    row = rows.row_of
    if len(row) > _COMPARED:
        row = row[np.random.default_rng(_SEED).choice(len(row), _COMPARED, replace=False)]
    best, greatest, silhouettes = next(candidates), -1.0 - _ROUNDING, []
    for groups in candidates:
        labels = groups.of_row[row]
        has_silhouette = 1 < len(np.unique(labels)) < len(labels)
        # Where each launch is its own cluster all silhouettes are 0; one cluster stands apart from none.
        score = (
            float(silhouette_score(rows.values[row], labels))
            if has_silhouette
            else float(len(labels) > 1) - 1.0
        )
        silhouettes.append(score)
        if score > greatest + _ROUNDING:
            best, greatest = groups, score
    return best, silhouettes


METHOD = Method(
    name="embedding",
    source="this project: k-means on vectors given for the launches, for example those of GCL-Sampler",
    description="Launches are clustered by vectors that are given for them, and some of each cluster stand "
    "for its others.",
    needs=("a vector of numbers for every launch (CSV, Parquet or npy)",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
    drawn_within=lambda options: options.samples if options.draw == "random" else None,
)
