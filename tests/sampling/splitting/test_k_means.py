"""Exact 1-D k-means, held against every partition and against a k-means program."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.splitting.tree import best_partitions
from sampling.splitting.two_means import best_split

Pairs = list[tuple[int, int]]


def prefix_sums(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return launches and time before each pair."""
    durations, count = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return np.concatenate([[0], np.cumsum(count)]), np.concatenate([[0], np.cumsum(count * durations)])


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
        assert found[0] == (best_split(*prefix_sums(shifted), 0, len(pairs)),)


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
