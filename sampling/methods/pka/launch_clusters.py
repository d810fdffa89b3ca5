"""K-means of the distinct rows of launches, for K = 1, 2, ...; each row weighs as many launches as it has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sampling.arrays import FloatArray
from sampling.methods.pka.distinct_rows import DistinctRows
from sampling.methods.pka.represented_groups import RepresentedGroups, group_means, represented_by_first
from sampling.progress import Progress

# Sums of squares of standardised values that differ by less are equal.
_ROUNDING = 1e-9


def k_means_groupings(
    rows: DistinctRows,
    k_max: int,
    restarts: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Iterator[RepresentedGroups]:
    """Yield the groups of K = 1, 2, ... clusters, each with its first launch; K is at most the rows.

    For each K, k-means starts ``restarts`` times at rows (k-means++), and half as often at the centres of
    K - 1 with a row more (as the global k-means of Likas, Vlassis and Verbeek). Evenly spaced rows need the
    latter: there rounding decides which of two centres takes the row halfway between them, and from rows
    alone some of the best clusters can be out of reach.
    """
    most = min(k_max, len(rows))
    groups = represented_by_first(rows, np.zeros(len(rows), dtype=np.int64))
    yield groups
    for k in range(2, most + 1):
        if progress is not None:
            progress(k - 1, most, "grouping launches")
        starts: list[Any] = ["k-means++"] * restarts
        starts += _grown_centres(rows, groups, -(-restarts // 2), rng)
        groups = _best_of(rows, k, starts, rng)
        yield groups


def k_means_grouping(
    rows: DistinctRows, k: int, restarts: int, rng: np.random.Generator
) -> RepresentedGroups:
    """Return the groups of K clusters alone, each with its first launch; K is at most the rows."""
    return _best_of(rows, min(k, len(rows)), ["k-means++"] * restarts, rng)


def _grown_centres(
    rows: DistinctRows, groups: RepresentedGroups, most: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Return centres of the groups with one row more, drawn by its share of the squared distances."""
    centres = group_means(rows, groups.group_of_row)
    squares = rows.count * ((rows.values - centres[groups.group_of_row]) ** 2).sum(axis=1)
    total = squares.sum()
    if total == 0:
        return []
    share = squares / total
    drawn = rng.choice(len(rows), min(most, int(np.count_nonzero(share))), replace=False, p=share)
    return [np.vstack([centres, rows.values[row]]) for row in drawn.tolist()]


def _best_of(rows: DistinctRows, k: int, starts: list[Any], rng: np.random.Generator) -> RepresentedGroups:
    """Return the groups of least sum of squares within them, of all starts.

    Where several are equal but for rounding, it is those with the earliest representatives.
    """
    from sklearn.cluster import KMeans

    found: list[tuple[float, RepresentedGroups]] = []
    with reproducible_learning():
        for start in starts:
            clusters = k if isinstance(start, str) else len(start)
            seed = int(rng.integers(2**31))
            fitted = KMeans(clusters, init=start, n_init=1, random_state=seed)
            labels = fitted.fit(rows.values, sample_weight=rows.count).labels_
            found.append((float(fitted.inertia_), represented_by_first(rows, labels)))
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
