"""Clusters of launches by any numbers that they have, of which one launch stands for all.

Launches repeat: a million of them may have a few thousand distinct rows. Methods work on these, each with its
count, so that results for equal launches are exactly equal.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, FloatArray, IntArray, dense_codes
from sampling.methods.method import Picks
from sampling.parallel import Progress
from sampling.reduction.launch_list import LaunchList

# Sums of squares, and distances, of standardised values that differ by less are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """The d distinct rows of n launches."""

    #: (d, columns) the rows, in the order of their first launch.
    values: FloatArray
    #: (n,) the row of each launch; (d,) the first launch of each row, ascending, and how many it has.
    row_of: IntArray
    first: IntArray
    count: IntArray

    def __len__(self) -> int:
        return len(self.values)

    def with_values(self, values: FloatArray, decimals: int | None = None) -> DistinctRows:
        """Return the same launches with other values (d, any) for each row; equal ones are merged.

        Rows that agree when rounded to so many decimals are equal; the first one's values stay.
        """
        compared = values if decimals is None else np.round(values, decimals)
        code, first = row_codes(list(compared.T), len(values))
        count = np.bincount(code, self.count, len(first)).astype(np.int64)
        return DistinctRows(values[first], code[self.row_of], self.first[first], count)


def distinct_rows(columns: Sequence[NDArray[np.number]], launches: int) -> DistinctRows:
    """Return the distinct rows of columns (n,) of finite numbers; without columns all launches are equal."""
    code, first = row_codes(columns, launches)
    values = np.empty((len(first), len(columns)))
    for index, column in enumerate(columns):
        values[:, index] = column[first]
    return DistinctRows(values, code, first, np.bincount(code))


def row_codes(columns: Sequence[NDArray[np.number]], launches: int) -> tuple[IntArray, IntArray]:
    """Return (n,) a code for every row, numbered as they first occur, and (d,) the first row of each code."""
    import pandas as pd

    code = np.zeros(launches, dtype=np.int64)
    for column in columns:
        # One column at a time: more than two columns of codes never exist at once.
        code, _ = dense_codes([code, pd.factorize(column)[0]])
    code = np.asarray(pd.factorize(code)[0], dtype=np.int64)
    return code, np.flatnonzero(np.diff(np.maximum.accumulate(code), prepend=-1))


@dataclass(frozen=True, slots=True)
class Groups:
    """A partition of the distinct rows of launches into k groups, numbered by their first launch."""

    #: (d,) the group of each distinct row; (k,) the launch that stands for each group, and its launches.
    of_row: IntArray
    representative: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.size)


def grouped(rows: DistinctRows, labels: AnyIntArray, *, by_centre: bool = False) -> Groups:
    """Return the groups that labels (d,) of the rows make, each with its first launch.

    By centre it is the launch nearest to the mean; of launches equally near, but for rounding, the first.
    """
    group, first = row_codes([labels], len(labels))
    if by_centre:
        distance = np.sqrt(((rows.values - group_means(rows, group)[group]) ** 2).sum(axis=1))
        closest = np.full(len(first), np.inf)
        np.minimum.at(closest, group, distance)
        nearest = np.flatnonzero(distance <= closest[group] + _ROUNDING)
        first = nearest[np.unique(group[nearest], return_index=True)[1]]
    return Groups(group, rows.first[first], np.bincount(group, rows.count).astype(np.int64))


def group_means(rows: DistinctRows, group: IntArray) -> FloatArray:
    """Return (k, columns) the mean of all launches of each group; ``group`` (d,) is that of each row."""
    size = np.bincount(group, rows.count)
    means = np.empty((len(size), rows.values.shape[1]))
    for index, column in enumerate(rows.values.T):
        means[:, index] = np.bincount(group, rows.count * column) / size
    return means


def k_means_groupings(
    rows: DistinctRows, k_max: int, restarts: int, rng: np.random.Generator, progress: Progress | None = None
) -> Iterator[Groups]:
    """Yield the groups of K = 1, 2, ... clusters, each with its first launch; K is at most the rows.

    For each K, k-means starts ``restarts`` times at rows (k-means++), and half as often at the centres of
    K - 1 with a row more (as the global k-means of Likas, Vlassis and Verbeek). Evenly spaced rows need the
    latter: there rounding decides which of two centres takes the row halfway between them, and from rows
    alone some of the best clusters can be out of reach.
    """
    k_limit = min(k_max, len(rows))
    groups = grouped(rows, np.zeros(len(rows), dtype=np.int64))
    yield groups
    for k in range(2, k_limit + 1):
        if progress is not None:
            progress(k - 1, k_limit, "grouping launches")
        # A row more, drawn by its share of the squared distances.
        centres, starts = group_means(rows, groups.of_row), list[FloatArray]()
        squares = rows.count * ((rows.values - centres[groups.of_row]) ** 2).sum(axis=1)
        if total := squares.sum():
            share = squares / total
            number = min(-(-restarts // 2), int(np.count_nonzero(share)))
            sample = rng.choice(len(rows), number, replace=False, p=share)
            starts = [np.vstack([centres, rows.values[row]]) for row in sample.tolist()]
        groups = k_means_grouping(rows, k, restarts, rng, starts)
        yield groups


def k_means_grouping(
    rows: DistinctRows, k: int, restarts: int, rng: np.random.Generator, centres: Sequence[FloatArray] = ()
) -> Groups:
    """Return the groups of K clusters alone, each with its first launch; K is at most the rows.

    Those of least sum of squares are taken of all starts, at rows and at ``centres``; of several that
    are equal but for rounding, those with the earliest representatives.
    """
    from sklearn.cluster import KMeans

    solutions: list[tuple[float, Groups]] = []
    starts: list[Any] = ["k-means++"] * restarts
    with reproducible_learning():
        for start in [*starts, *centres]:
            clusters = min(k, len(rows)) if isinstance(start, str) else len(start)
            fitted = KMeans(clusters, init=start, n_init=1, random_state=int(rng.integers(2**31)))
            labels = fitted.fit(rows.values, sample_weight=rows.count).labels_
            solutions.append((float(fitted.inertia_), grouped(rows, labels)))
    best_inertia = min(inertia for inertia, _ in solutions)
    equals = [
        groups for inertia, groups in solutions if inertia <= best_inertia + _ROUNDING * max(best_inertia, 1)
    ]
    return min(equals, key=lambda groups: tuple(groups.representative.tolist()))


@contextmanager
def reproducible_learning() -> Iterator[None]:
    """Run scikit-learn on one thread and without its warnings on convergence.

    With several threads k-means adds up their parts in the order in which they finish; its rounding, and so
    its result, could differ from run to run.
    """
    # Threads can be limited only in libraries that are loaded already.
    import sklearn.cluster  # noqa: F401
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def as_picks(
    launches: LaunchList,
    stratum: IntArray,
    representative: IntArray,
    notes: Sequence[str],
    details: Mapping[str, Any],
) -> Picks:
    """Return picks in which each representative (k,) stands for all launches of its stratum (n,)."""
    kernels, row = launches.kernels, np.sort(representative)
    signatures = map(kernels.signature, launches.signature[representative].tolist())
    ids = launches.id[representative].tolist()
    labels = tuple(
        f"group {index}: launch {launch} ({kernels.names.short(signature.name)}) and its like"
        for index, (launch, signature) in enumerate(zip(ids, signatures, strict=True))
    )
    weight = np.bincount(stratum, minlength=len(row))[stratum[row]].astype(np.float64)
    return Picks(stratum, labels, row, weight, tuple(notes), {**details, "representatives": ids})
