"""1-D 2-means and k-means, held against every partition, exact fractions and against k-means programs."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.splitting.two_means import best_partitions, best_splits

Pairs = list[tuple[int, int]]


def prefix_sums(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return launches and time before each pair."""
    durations, count = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return np.concatenate([[0], np.cumsum(count)]), np.concatenate([[0], np.cumsum(count * durations)])


def split(pairs: Pairs, start: int = 0, stop: int | None = None) -> int:
    """Return the first pair of the right half, for (duration, count) pairs in ascending order."""
    place = np.array([start]), np.array([len(pairs) if stop is None else stop])
    return int(best_splits(*prefix_sums(pairs), *place)[0])


def within(pairs: Pairs) -> Fraction:
    """Return the sum of squares about the mean, exactly."""
    launches = sum(count for _, count in pairs)
    mean = Fraction(sum(duration * count for duration, count in pairs), launches)
    return sum((count * (duration - mean) ** 2 for duration, count in pairs), Fraction(0))


def cost(pairs: Pairs, bounds: tuple[int, ...]) -> Fraction:
    """Return the sum of squares within the runs of a partition."""
    return sum(
        (within(pairs[low:high]) for low, high in itertools.pairwise((0, *bounds, len(pairs)))), Fraction(0)
    )


def exact_split(pairs: Pairs) -> int:
    """Return the lowest threshold of least cost, by trying all."""
    return min(range(1, len(pairs)), key=lambda at: (within(pairs[:at]) + within(pairs[at:]), at))


def pairs_from(durations: st.SearchStrategy[int], most: int = 12) -> st.SearchStrategy[Pairs]:
    """Draw two to ``most`` distinct durations with their counts."""
    return st.dictionaries(durations, st.integers(1, 9), min_size=2, max_size=most).map(
        lambda counts: sorted(counts.items())
    )


@given(pairs=pairs_from(st.integers(0, 30)))
def test_no_threshold_is_better_and_of_equals_the_lowest_wins(pairs: Pairs) -> None:
    assert split(pairs) == exact_split(pairs)


HALVES = st.dictionaries(st.integers(0, 20), st.integers(1, 9), min_size=1, max_size=5).map(
    lambda counts: sorted(counts.items())
)


def mirrored(half: Pairs, middle: int) -> Pairs:
    """Return the pairs with their mirror images: every threshold has a twin of equal cost."""
    counts = {middle - distance: count for distance, count in half}
    return sorted((counts | {middle + distance: count for distance, count in half}).items())


@pytest.mark.parametrize("shortest_ns", [10**6, 10**8, 10**15])
@given(half=HALVES.filter(lambda half: half[-1][0] > 0))
@example(half=[(0, 7), (4, 4), (16, 5)])
@example(half=[(0, 5), (5, 3), (7, 7)])
def test_ties_between_long_launches_are_ties(shortest_ns: int, half: Pairs) -> None:
    pairs = mirrored(half, 20)
    # After another range, whose launches do not count in this one.
    around = [(1, 3), *((shortest_ns + duration, count) for duration, count in pairs)]
    assert split(around, start=1) == exact_split(pairs) + 1


@pytest.mark.parametrize("seed", range(3))
def test_k_means_programs_never_find_a_lower_cost(seed: int) -> None:
    import kmeans1d

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from sklearn.cluster import KMeans
    rng = np.random.default_rng(seed)
    modes = rng.lognormal(8, 1, size=3)
    durations = np.rint(modes[rng.integers(0, 3, 300)] * rng.lognormal(0, 0.2, 300)).astype(np.int64)
    values, count = np.unique(durations, return_counts=True)
    at = split(list(zip(values.tolist(), count.tolist(), strict=True)))
    left, right = durations[durations < values[at]], durations[durations >= values[at]]
    cost = len(left) * left.var() + len(right) * right.var()
    fitted = KMeans(n_clusters=2, n_init=10, random_state=seed).fit(durations.reshape(-1, 1).astype(float))
    assert cost <= fitted.inertia_ * (1 + 1e-12)
    labels = np.array(kmeans1d.cluster(durations.tolist(), 2).clusters)
    assert (labels == (durations >= values[at])).all()


@given(
    counts=st.dictionaries(st.integers(0, 40), st.integers(1, 9), min_size=1, max_size=8),
    base=st.sampled_from([0, 10**6, 10**9]),
    most=st.integers(2, 8),
)
def test_no_partition_into_as_many_runs_is_better(counts: dict[int, int], base: int, most: int) -> None:
    pairs = sorted(counts.items())
    shifted = [(base + duration, count) for duration, count in pairs]
    found = best_partitions(*prefix_sums(shifted), 0, len(pairs), most)
    assert [len(bounds) + 1 for bounds in found] == list(range(2, min(most, len(pairs)) + 1))
    for bounds in found:
        assert list(bounds) == sorted(set(bounds))
        all_bounds = itertools.combinations(range(1, len(pairs)), len(bounds))
        assert cost(pairs, bounds) == min(cost(pairs, others) for others in all_bounds)
    if found:
        assert found[0] == (split(shifted),)
