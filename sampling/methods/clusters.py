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
    """The d distinct rows of n launches.

    Attributes
    ----------
    values : (d, columns) the rows, in the order of their first launch.
    row_of : (n,) the row of each launch.
    first : (d,) the first launch of each row, ascending.
    count : (d,) launches of each row, at least 1.
    """

    values: FloatArray
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
        count = np.bincount(code, weights=self.count, minlength=len(first)).astype(np.int64)
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
    code = _numbered_by_first(code)
    return code, np.flatnonzero(np.diff(np.maximum.accumulate(code), prepend=-1))


def _numbered_by_first(labels: AnyIntArray) -> IntArray:
    """Return the labels replaced by 0, 1, ... in the order in which they first occur."""
    import pandas as pd

    return np.asarray(pd.factorize(labels)[0], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Groups:
    """A partition of the distinct rows of launches into k groups, numbered by their first launch.

    Attributes
    ----------
    of_row : (d,) the group of each distinct row.
    representative : (k,) the launch that stands for the group.
    size : (k,) launches of the group.
    """

    of_row: IntArray
    representative: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.size)


def grouped(rows: DistinctRows, labels: AnyIntArray, *, by_centre: bool = False) -> Groups:
    """Return the groups that labels (d,) of the rows make, each with its first launch.

    By centre it is the launch nearest to the mean; of launches equally near, but for rounding, the first.
    """
    group = _numbered_by_first(labels)
    size = np.bincount(group, weights=rows.count).astype(np.int64)
    candidates = np.arange(len(rows))
    if by_centre:
        distance = np.sqrt(((rows.values - group_means(rows, group)[group]) ** 2).sum(axis=1))
        least = np.full(len(size), np.inf)
        np.minimum.at(least, group, distance)
        candidates = np.flatnonzero(distance <= least[group] + _ROUNDING)
    _, first = np.unique(group[candidates], return_index=True)
    return Groups(group, rows.first[candidates[first]], size)


def group_means(rows: DistinctRows, group: IntArray) -> FloatArray:
    """Return (k, columns) the mean of all launches of each group; ``group`` (d,) is that of each row."""
    size = np.bincount(group, weights=rows.count).astype(np.int64)
    means = np.empty((len(size), rows.values.shape[1]))
    for index, column in enumerate(rows.values.T):
        means[:, index] = np.bincount(group, weights=rows.count * column) / size
    return means


def k_means_groupings(
    rows: DistinctRows,
    k_max: int,
    restarts: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Iterator[Groups]:
    """Yield the groups of K = 1, 2, ... clusters, each with its first launch; K is at most the rows.

    For each K, k-means starts ``restarts`` times at rows (k-means++), and half as often at the centres of
    K - 1 with a row more (as the global k-means of Likas, Vlassis and Verbeek). Evenly spaced rows need the
    latter: there rounding decides which of two centres takes the row halfway between them, and from rows
    alone some of the best clusters can be out of reach.
    """
    most = min(k_max, len(rows))
    groups = grouped(rows, np.zeros(len(rows), dtype=np.int64))
    yield groups
    for k in range(2, most + 1):
        if progress is not None:
            progress(k - 1, most, "grouping launches")
        starts: list[Any] = ["k-means++"] * restarts
        # A row more, drawn by its share of the squared distances.
        centres = group_means(rows, groups.of_row)
        squares = rows.count * ((rows.values - centres[groups.of_row]) ** 2).sum(axis=1)
        if total := squares.sum():
            share = squares / total
            more = min(-(-restarts // 2), int(np.count_nonzero(share)))
            drawn = rng.choice(len(rows), more, replace=False, p=share)
            starts += [np.vstack([centres, rows.values[row]]) for row in drawn.tolist()]
        groups = _best_of(rows, k, starts, rng)
        yield groups


def k_means_grouping(rows: DistinctRows, k: int, restarts: int, rng: np.random.Generator) -> Groups:
    """Return the groups of K clusters alone, each with its first launch; K is at most the rows."""
    return _best_of(rows, min(k, len(rows)), ["k-means++"] * restarts, rng)


def _best_of(rows: DistinctRows, k: int, starts: list[Any], rng: np.random.Generator) -> Groups:
    """Return the groups of least sum of squares within them, of all starts.

    Where several are equal but for rounding, it is those with the earliest representatives.
    """
    from sklearn.cluster import KMeans

    found: list[tuple[float, Groups]] = []
    with reproducible_learning():
        for start in starts:
            clusters = k if isinstance(start, str) else len(start)
            seed = int(rng.integers(2**31))
            fitted = KMeans(clusters, init=start, n_init=1, random_state=seed)
            labels = fitted.fit(rows.values, sample_weight=rows.count).labels_
            found.append((float(fitted.inertia_), grouped(rows, labels)))
    least = min(inertia for inertia, _ in found)
    equals = [groups for inertia, groups in found if inertia <= least + _ROUNDING * max(least, 1)]
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
    notes: tuple[str, ...],
    details: Mapping[str, Any],
) -> Picks:
    """Return picks in which each representative (k,) stands for all launches of its stratum (n,).

    Their ids are added to the method's own details.
    """
    kernels, row = launches.kernels, np.sort(representative)
    signatures = map(kernels.signature, launches.signature[representative].tolist())
    names = [kernels.names.short(each.name) for each in signatures]
    ids = launches.id[representative].tolist()
    labels = tuple(
        f"group {index}: launch {launch} ({name}) and its like"
        for index, (launch, name) in enumerate(zip(ids, names, strict=True))
    )
    weight = np.bincount(stratum, minlength=len(row))[stratum[row]].astype(np.float64)
    return Picks(stratum, labels, row, weight, notes, {**details, "representatives": ids})
