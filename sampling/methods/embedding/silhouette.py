"""How well clusters of vectors stand apart: the mean silhouette. [Rousseeuw 1987]"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.methods.embedding.clusterings import some_of
from sampling.methods.pka.distinct_rows import DistinctRows
from sampling.methods.pka.represented_groups import RepresentedGroups

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
