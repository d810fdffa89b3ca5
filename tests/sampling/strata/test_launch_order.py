"""The order in which a stratum's launches are drawn: nested, uniform, and each stratum's own."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.arrays import IntArray
from sampling.errors import OptionError
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.draw import Draw, draw, draw_nested, first_launches, mixed, stratum_keys
from sampling.strata.strata import Strata, measured_clusters

CountsOf = Callable[..., DurationCounts]

DRAWS = 6000
KEYS = stratum_keys(2026, [np.arange(DRAWS)])


def orders(launches: int, samples: int) -> list[tuple[int, ...]]:
    """Return the first ``samples`` launches of many strata of one size, in the order of drawing."""
    size = np.full(DRAWS, launches)
    _, position, rank = first_launches(KEYS, size, np.full(DRAWS, samples))
    ordered = np.empty((DRAWS, samples), dtype=np.int64)
    ordered[np.repeat(np.arange(DRAWS), samples), rank] = position
    return [tuple(row) for row in ordered.tolist()]


def deviations(observed: Counter[object], kinds: int) -> float:
    """Return chi squared against equal frequencies, in standard deviations of its distribution."""
    expected = DRAWS / kinds
    statistic = sum((count - expected) ** 2 / expected for count in observed.values())
    statistic += (kinds - len(observed)) * expected
    return (statistic - (kinds - 1)) / math.sqrt(2 * (kinds - 1))


def test_the_hash_is_splitmix64() -> None:
    # The published test vector of SplitMix64, seed 1234567.
    states = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert mixed(states).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize(("launches", "samples"), [(4, 1), (4, 2), (6, 3), (5, 4), (7, 2)])
def test_every_set_of_launches_is_equally_likely(launches: int, samples: int) -> None:
    seen = Counter[object](frozenset(order) for order in orders(launches, samples))
    assert abs(deviations(seen, len(list(combinations(range(launches), samples))))) < 4


@pytest.mark.parametrize(("launches", "samples"), [(4, 2), (4, 3), (5, 3)])
def test_every_order_is_equally_likely(launches: int, samples: int) -> None:
    seen = Counter[object](orders(launches, samples))
    assert abs(deviations(seen, len(list(permutations(range(launches), samples))))) < 4


def test_strata_are_drawn_independently() -> None:
    """Of two strata that differ in one number only, every pair of launches is equally likely."""
    sizes, ones = np.full(DRAWS, 4), np.ones(DRAWS, dtype=np.int64)
    group = np.zeros(DRAWS, dtype=np.int64)
    for other in ((group + 1, group), (group, group + 1)):
        pairs = []
        for seed in range(3):
            place = [
                first_launches(stratum_keys(seed, [np.arange(DRAWS), *parts]), sizes, ones)[1].tolist()
                for parts in ((group, group), other)
            ]
            pairs.append(abs(deviations(Counter[object](zip(*place, strict=True)), 16)))
        assert max(pairs) < 4


@given(
    sizes=st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60)), min_size=1),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_smaller_sample_is_the_beginning_of_a_larger(sizes: list[tuple[int, int, int]], seed: int) -> None:
    launches = np.array([size for size, _, _ in sizes])
    small, large = (
        np.minimum(launches, np.array([pick(size) for size in sizes]))
        for pick in (
            lambda size: min(size[1:]),
            lambda size: max(size[1:]),
        )
    )
    key = stratum_keys(seed, [np.arange(len(sizes))])
    first, more = first_launches(key, launches, small), first_launches(key, launches, large)
    assert np.bincount(first[0], minlength=len(sizes)).tolist() == small.tolist()
    assert (first[1] < launches[first[0]]).all()
    assert list(zip(*first[:2], strict=True)) == sorted(set(zip(*first[:2], strict=True)))
    longer = set(zip(*(column.tolist() for column in more), strict=True))
    for stratum, position, rank in zip(*(column.tolist() for column in first), strict=True):
        if large[stratum] < launches[stratum]:
            assert (stratum, position, rank) in longer
        assert rank < small[stratum]


def test_all_but_one_of_many_launches_are_drawn(counts_of: CountsOf) -> None:
    """The last launches take the most numbers: a coupon collector's."""
    launches = np.array([20_000])
    stratum, position, rank = first_launches(stratum_keys(0, [launches]), launches, launches - 1)
    assert len(stratum) == len(np.unique(position)) == 19_999
    assert np.array_equal(np.sort(rank), np.arange(19_999))


def strata_of(counts: DurationCounts, samples: IntArray) -> Strata:
    """Return a stratum for every pair of the reduction."""
    start = np.arange(len(counts.count))
    group = np.searchsorted(counts.offsets, start, side="right") - 1
    return measured_clusters(counts, group, start, start + 1).with_samples(samples)


def rows(drawn: Draw) -> list[tuple[int, int, int]]:
    """Return stratum, pair and occurrence of each launch in the order of drawing."""
    assert drawn.rank is not None
    listed = zip(
        *(column.tolist() for column in (drawn.stratum, drawn.rank, drawn.pair, drawn.occurrence)),
        strict=True,
    )
    return [
        (stratum, pair, occurrence) for stratum, _, pair, occurrence in sorted(listed, key=itemgetter(0, 1))
    ]


def test_a_plan_with_larger_sizes_contains_the_smaller_one(counts_of: CountsOf) -> None:
    counts = counts_of({"a": [5] * 400 + [9] * 3, "b": [7] * 50})
    size = counts.count
    small = draw_nested(counts, strata_of(counts, np.minimum(size, 2)), 3)
    large = draw_nested(counts, strata_of(counts, np.minimum(size, 20)), 3)
    assert set(rows(small)) < set(rows(large))
    by_stratum = [row for row in rows(large) if row[0] == 0]
    assert by_stratum[:2] == [row for row in rows(small) if row[0] == 0]
    assert rows(draw_nested(counts, strata_of(counts, np.minimum(size, 2)), 4)) != rows(small)


def test_a_negative_seed_is_refused(counts_of: CountsOf) -> None:
    counts = counts_of({"a": [5, 5]})
    with pytest.raises(OptionError, match="`seed` is 0 or more"):
        draw_nested(counts, strata_of(counts, np.array([1])), -1)


def test_a_nested_draw_takes_about_as_long_as_a_free_one(counts_of: CountsOf) -> None:
    rng = np.random.default_rng(1)
    durations = {
        f"k{index}": np.repeat(np.arange(1, 11), rng.integers(50, 500, 10)).tolist() for index in range(100)
    }
    counts = counts_of(durations)
    strata = strata_of(counts, np.minimum(counts.count, 5))

    def seconds(work: Callable[[], object]) -> float:
        best = math.inf
        for _ in range(7):
            start = time.perf_counter()
            work()
            best = min(best, time.perf_counter() - start)
        return best

    free = seconds(lambda: draw(counts, strata, np.random.default_rng(0)))
    nested = seconds(lambda: draw_nested(counts, strata, 0))
    assert nested < 5 * free + 2e-3, (nested, free)
