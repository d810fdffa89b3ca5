"""K-means of vectors, each cluster with the launch nearest to its centre; learned from some of many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.methods.pka.distinct_rows import DistinctRows
from sampling.methods.pka.launch_clusters import k_means_grouping, k_means_groupings
from sampling.methods.pka.represented_groups import RepresentedGroups, group_means, represented_by_central
from sampling.progress import Progress

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
