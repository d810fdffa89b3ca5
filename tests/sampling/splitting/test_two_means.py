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


def mirrored(half: Pairs, middle: int) -> Pairs:
    """Return the pairs with their mirror images: every threshold has a twin of equal cost."""
    counts = {middle - distance: count for distance, count in half}
    return sorted((counts | {middle + distance: count for distance, count in half}).items())


HALVES = st.dictionaries(st.integers(0, 20), st.integers(1, 9), min_size=1, max_size=5).map(
    lambda counts: sorted(counts.items())
)


@given(half=HALVES.filter(lambda half: half[-1][0] > 0))
def test_of_tied_thresholds_the_lowest_wins(half: Pairs) -> None:
    pairs = mirrored(half, 20)
    assert split(pairs) == exact_split(pairs)


@pytest.mark.parametrize("shortest_ns", [10**6, 10**8, 10**15])
@given(half=HALVES.filter(lambda half: half[-1][0] > 0))
@example(half=[(0, 7), (4, 4), (16, 5)])
@example(half=[(0, 5), (5, 3), (7, 7)])
def test_ties_between_long_launches_are_ties(shortest_ns: int, half: Pairs) -> None:
    pairs = mirrored(half, 20)
    assert split([(shortest_ns + duration, count) for duration, count in pairs]) == exact_split(pairs)


@given(pairs=pairs_from(st.integers(0, 30)))
def test_durations_of_days_do_not_cancel(pairs: Pairs) -> None:
    assert split([(10**15 + duration, count) for duration, count in pairs]) == exact_split(pairs)


@given(
    pairs=pairs_from(st.integers(0, 1000)),
    factor=st.integers(2, 1000),
)
def test_scaling_durations_or_repeating_launches_leaves_the_split(pairs: Pairs, factor: int) -> None:
    assert split([(duration * factor, count) for duration, count in pairs]) == split(pairs)
    assert split([(duration, count * factor) for duration, count in pairs]) == split(pairs)


@pytest.mark.parametrize("seed", range(6))
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


@given(pairs=pairs_from(st.integers(0, 60), most=30), data=st.data())
def test_many_ranges_at_once_are_split_as_one_by_one(pairs: Pairs, data: st.DataObject) -> None:
    places = st.lists(st.integers(0, len(pairs)), min_size=2, max_size=2, unique=True).map(sorted)
    ranges = data.draw(st.lists(places.filter(lambda place: place[1] - place[0] > 1), min_size=1, max_size=9))
    start, stop = np.array(ranges, dtype=np.int64).T
    alone = [low + split(pairs[low:high]) for low, high in ranges]
    assert best_splits(*prefix_sums(pairs), start, stop).tolist() == alone


def test_ranges_are_split_in_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    durations = np.cumsum(rng.integers(1, 9, 500))
    launches_before, time_before = np.arange(501), np.concatenate([[0], np.cumsum(durations)])
    start = np.arange(0, 480, 7)
    stop = start + rng.integers(2, 20, len(start))
    whole = best_splits(launches_before, time_before, start, stop).tolist()
    monkeypatch.setattr("sampling.splitting.two_means.PAIRS_AT_ONCE", 40)
    assert best_splits(launches_before, time_before, start, stop).tolist() == whole


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


@given(
    counts=st.dictionaries(st.integers(0, 100), st.integers(1, 9), min_size=6, max_size=15), data=st.data()
)
def test_a_part_of_the_pairs_is_parted_as_it_would_be_alone(
    counts: dict[int, int], data: st.DataObject
) -> None:
    pairs = sorted(counts.items())
    start = data.draw(st.integers(0, len(pairs) - 4))
    stop = data.draw(st.integers(start + 4, len(pairs)))
    alone = pairs[start:stop]
    for inside, bounds in zip(
        best_partitions(*prefix_sums(pairs), start, stop, 4),
        best_partitions(*prefix_sums(alone), 0, len(alone), 4),
        strict=True,
    ):
        moved = tuple(bound - start for bound in inside)
        assert cost(alone, moved) == cost(alone, bounds)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clusters", [3, 5, 8])
def test_a_k_means_program_finds_the_same_cost(clusters: int, seed: int) -> None:
    import kmeans1d

    rng = np.random.default_rng(seed)
    modes = rng.lognormal(9, 1.5, size=6)
    durations = np.sort(np.rint(modes[rng.integers(0, 6, 500)] * rng.lognormal(0, 0.2, 500)).astype(np.int64))
    values, count = np.unique(durations, return_counts=True)
    pairs = list(zip(values.tolist(), count.tolist(), strict=True))
    found = best_partitions(*prefix_sums(pairs), 0, len(pairs), clusters)[-1]
    labels = np.array(kmeans1d.cluster(durations.tolist(), clusters).clusters)
    theirs = sum(
        float(((durations[labels == k] - durations[labels == k].mean()) ** 2).sum()) for k in range(clusters)
    )
    assert float(cost(pairs, found)) <= theirs * (1 + 1e-9)
