"""Stack distances against a cache that is simulated line by line; StatStack and SHARDS against the exact."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from scalemodel.errors import OptionError
from scalemodel.miss_rate import (
    COLD,
    MissCounts,
    count_at_least,
    draw_lines,
    exact_misses,
    expected_stack_distances,
    find_reuses,
    larger_before,
    shards_misses,
    stack_distances,
    stat_stack_misses,
)

# Distances of the whole range: few lines used often, many used rarely, and lines far apart in the address
# space, which do not fit one number together with their place.
few_lines = npst.arrays(np.uint64, st.integers(0, 200), elements=st.integers(0, 12))
many_lines = npst.arrays(np.uint64, st.integers(0, 700), elements=st.integers(0, 300))
far_lines = npst.arrays(np.uint64, st.integers(0, 60), elements=st.sampled_from([0, 1, 2**63, 2**64 - 1]))
traces = st.one_of(few_lines, many_lines, far_lines)


def lines(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def distances_by_a_list(trace: np.ndarray) -> list[int]:
    """The definition read aloud: the place in a list whose front is the line used last."""
    stack: list[int] = []
    distances = []
    for line in trace.tolist():
        distances.append(stack.index(line) if line in stack else COLD)
        if line in stack:
            stack.remove(line)
        stack.insert(0, line)
    return distances


def misses_of_a_cache(trace: np.ndarray, capacity: int) -> int:
    """A least-recently-used cache, access by access."""
    cache: OrderedDict[int, None] = OrderedDict()
    misses = 0
    for line in trace.tolist():
        if line in cache:
            cache.move_to_end(line)
            continue
        misses += 1
        cache[line] = None
        if len(cache) > capacity:
            cache.popitem(last=False)
    return misses


def cyclic(working_set: int, rounds: int) -> np.ndarray:
    return np.tile(np.arange(working_set, dtype=np.uint64), rounds)


def skewed(rng: np.random.Generator, accesses: int, distinct: int) -> np.ndarray:
    """Some lines used more often than others, none so often that a sample stands or falls with it."""
    return (distinct * rng.beta(1, 3, accesses)).astype(np.uint64)


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 1000])
def test_larger_before_counts_every_pair(size: int) -> None:
    permutation = np.random.default_rng(size).permutation(size).astype(np.int32)
    expected = np.zeros(size, dtype=np.int64)
    for place, value in enumerate(permutation.tolist()):
        expected[value] = np.count_nonzero(permutation[:place] > value)
    assert larger_before(permutation).tolist() == expected.tolist()


def test_larger_before_of_more_than_one_cached_part() -> None:
    # 2**18 and more values are halved as a whole, then part by part; checked by a sum and by order alone.
    size = (1 << 19) + 777
    descending = np.arange(size - 1, -1, -1, dtype=np.int32)
    assert np.array_equal(larger_before(descending), np.arange(size - 1, -1, -1))
    assert not larger_before(descending[::-1].copy()).any()
    swapped = np.arange(size, dtype=np.int32)
    swapped[[5, size - 3]] = swapped[[size - 3, 5]]
    counts = larger_before(swapped)
    assert counts[5] == size - 3 - 5
    assert counts[6 : size - 3].tolist() == [1] * (size - 9)
    assert counts.sum() == size - 8 + size - 9


def test_the_distance_is_the_number_of_distinct_lines_between() -> None:
    trace = lines(1, 2, 3, 2, 2, 1, 4, 1)
    assert stack_distances(trace).tolist() == [COLD, COLD, COLD, 1, 0, 2, COLD, 1]


@given(traces)
def test_stack_distances_are_those_of_a_list(trace: np.ndarray) -> None:
    assert stack_distances(trace).tolist() == distances_by_a_list(trace)


@given(traces, st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_misses_are_those_of_a_simulated_cache(trace: np.ndarray, capacities: list[int]) -> None:
    counts = exact_misses(trace, np.array(capacities))
    assert counts.misses.tolist() == [misses_of_a_cache(trace, capacity) for capacity in capacities]
    assert counts.cold == len(set(trace.tolist()))


@pytest.mark.parametrize("highest", [2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1])
def test_lines_that_just_fit_one_number_with_their_place_or_do_not(highest: int) -> None:
    assert stack_distances(lines(0, highest, 0)).tolist() == [COLD, COLD, 1]
    assert stack_distances(lines(highest, highest // 2 + 1, highest)).tolist() == [COLD, COLD, 1]


def test_a_long_trace_of_far_lines_is_sorted_either_way() -> None:
    rng = np.random.default_rng(4)
    near = rng.integers(0, 5000, 300_000).astype(np.uint64)
    far = near * np.uint64(2**50 + 3)
    distances = stack_distances(near)
    assert np.array_equal(distances, stack_distances(far))
    sampled = rng.integers(0, near.size, 40)
    for place in sampled.tolist():
        before = np.flatnonzero(near[:place] == near[place])
        expected = np.unique(near[before[-1] + 1 : place]).size if before.size else COLD
        assert distances[place] == expected


def test_reuses_pair_each_access_with_the_next_to_its_line() -> None:
    reuses = find_reuses(lines(7, 8, 7, 7, 8))
    assert reuses.earlier.tolist() == [0, 1, 2]
    assert reuses.later.tolist() == [2, 4, 3]
    assert reuses.distance.tolist() == [1, 2, 0]
    assert reuses.cold == 2


@given(st.lists(st.integers(0, 20), max_size=30), st.integers(0, 30))
def test_count_at_least(distance: list[int], threshold: int) -> None:
    expected = sum(one >= threshold for one in distance)
    assert count_at_least(np.array(distance, dtype=np.int64), np.array([threshold])).tolist() == [expected]


def test_a_cyclic_working_set_misses_all_below_its_size_and_only_cold_from_it_on() -> None:
    trace = cyclic(500, 6)
    for method in (exact_misses, stat_stack_misses):
        counts = method(trace, np.array([1, 100, 499, 500, 501, 10**9]))
        assert counts.misses.tolist() == [3000, 3000, 3000, 500, 500, 500]
        assert counts.cold == 500


@given(traces.filter(lambda trace: trace.size > 0), st.integers(0, 2**32))
def test_shards_at_rate_1_is_exact(trace: np.ndarray, seed: int) -> None:
    capacity = np.array([1, 2, 5, 50, 1000])
    exact = exact_misses(trace, capacity)
    sampled = shards_misses(trace, capacity, 1.0, np.random.default_rng(seed))
    for values in (sampled.misses, sampled.low, sampled.high):
        assert values is not None
        assert values.tolist() == exact.misses.tolist()
    assert sampled.cold == exact.cold == sampled.sampled_lines


def test_the_sample_has_all_accesses_to_its_lines_and_none_else() -> None:
    rng = np.random.default_rng(2)
    trace = rng.integers(0, 20_000, 200_000).astype(np.uint64)
    sample = draw_lines(trace, 0.1, rng)
    chosen = np.unique(sample)
    assert np.array_equal(sample, trace[np.isin(trace, chosen)])
    # 2000 lines expected, with a standard deviation of 42.
    assert abs(chosen.size - 2000) < 5 * 42
    assert draw_lines(trace, 1.0, rng).size == trace.size


def test_consecutive_and_strided_lines_are_chosen_at_the_rate() -> None:
    for stride in (1, 2, 4096, 2**40):
        trace = np.arange(40_000, dtype=np.uint64) * np.uint64(stride)
        sizes = [draw_lines(trace, 0.05, np.random.default_rng(seed)).size for seed in range(20)]
        # The mean of 20 draws of 2000 lines with a standard deviation of 44.
        assert abs(np.mean(sizes) - 2000) < 5 * 44 / np.sqrt(20)
        assert len(set(sizes)) > 1


def test_the_seed_decides_the_sample() -> None:
    trace = np.random.default_rng(3).integers(0, 5000, 20_000).astype(np.uint64)
    one, same, other = (draw_lines(trace, 0.1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one[:100], other[:100])


def over_seeds(trace: np.ndarray, capacity: np.ndarray, rate: float, seeds: int) -> list[MissCounts]:
    return [shards_misses(trace, capacity, rate, np.random.default_rng(seed)) for seed in range(seeds)]


@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_shards_is_unbiased_and_its_bounds_hold(rate: float) -> None:
    trace = skewed(np.random.default_rng(5), 120_000, 12_000)
    capacity = np.array([1000, 3000, 6000, 8000])
    exact = exact_misses(trace, capacity).misses
    drawn = over_seeds(trace, capacity, rate, 60)
    misses = np.array([counts.misses for counts in drawn])
    standard_error = misses.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    assert (np.abs(misses.mean(axis=0) - exact) < 4 * standard_error).all()
    low, high = np.array([counts.low for counts in drawn]), np.array([counts.high for counts in drawn])
    inside = ((low <= exact) & (exact <= high)).mean(axis=0)
    # At least 95 % are promised; 60 draws fall below 87 % once in a hundred times at most.
    assert (inside >= 0.87).all()
    # Bounds of no use would hold as well.
    assert ((high - low).mean(axis=0) < 12 * misses.std(axis=0, ddof=1)).all()


def test_the_bounds_hold_at_a_cliff() -> None:
    trace = cyclic(5000, 8)
    # Just below the cliff, at it, and far from it on both sides.
    capacity = np.array([2500, 4950, 5000, 5050, 9000])
    exact = exact_misses(trace, capacity).misses
    drawn = over_seeds(trace, capacity, 0.05, 60)
    inside = [(counts.low <= exact) & (exact <= counts.high) for counts in drawn]
    assert (np.mean(inside, axis=0) >= 0.87).all()
    # Beside the cliff either side of it is possible; far from it the answer is clear.
    low, high = np.array([counts.low for counts in drawn]), np.array([counts.high for counts in drawn])
    assert np.mean(high[:, 1] - low[:, 1] > 30_000) >= 0.8
    assert (high[:, 4] < 10_000).all()
    assert (low[:, 0] > 25_000).all()


def test_a_cache_too_small_for_the_sample_has_no_upper_bound() -> None:
    trace = skewed(np.random.default_rng(6), 50_000, 20_000)
    counts = shards_misses(trace, np.array([100, 10_000]), 0.01, np.random.default_rng(0))
    assert counts.high is not None
    assert counts.high[0] == trace.size
    assert counts.high[1] < trace.size


def test_more_confidence_widens_the_bounds() -> None:
    trace = skewed(np.random.default_rng(7), 60_000, 8_000)
    capacity = np.array([2000])
    widths = []
    for confidence in (0.5, 0.9, 0.99):
        counts = shards_misses(trace, capacity, 0.05, np.random.default_rng(1), confidence=confidence)
        assert counts.low is not None
        assert counts.high is not None
        widths.append(float(counts.high[0] - counts.low[0]))
    assert widths == sorted(widths)
    assert widths[0] < widths[2]


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1, float("nan")])
def test_a_rate_that_cannot_be_is_refused(rate: float) -> None:
    with pytest.raises(OptionError, match="sampling rate"):
        shards_misses(lines(1, 2), np.array([1]), rate, np.random.default_rng(0))


@pytest.mark.parametrize("confidence", [0.0, 1.0, float("nan")])
def test_a_confidence_that_cannot_be_is_refused(confidence: float) -> None:
    with pytest.raises(OptionError, match="confidence"):
        shards_misses(lines(1, 2), np.array([1]), 0.5, np.random.default_rng(0), confidence=confidence)


def test_the_largest_confidence_below_1_has_bounds() -> None:
    trace = skewed(np.random.default_rng(3), 2000, 500)
    counts = shards_misses(
        trace, np.array([50]), 0.5, np.random.default_rng(0), confidence=float(np.nextafter(1, 0))
    )
    assert counts.low is not None
    assert counts.high is not None
    assert 0 <= counts.low[0] < counts.misses[0] < counts.high[0] <= trace.size


def test_a_sample_without_a_line_is_refused() -> None:
    with pytest.raises(OptionError, match="no line of the trace is chosen") as refused:
        shards_misses(lines(1, 1, 1), np.array([1]), 1e-12, np.random.default_rng(0))
    assert refused.value.remedy is not None


def test_expected_stack_distances_by_hand() -> None:
    # Reuse distances 0, 2, 2 and two accesses that are not used again:
    # P(>= 1) = 4/5, P(>= 2) = 4/5, so 0, 4/5, 8/5 are expected for 0, 1, 2.
    expected = expected_stack_distances(np.array([0, 2, 2]), 5)
    assert expected.tolist() == pytest.approx([0, 0.8, 1.6])


@given(traces.filter(lambda trace: trace.size > 0))
def test_expected_stack_distances_never_exceed_the_reuse_distances(trace: np.ndarray) -> None:
    reuses = find_reuses(trace)
    expected = expected_stack_distances(reuses.distance, reuses.accesses)
    assert (np.diff(expected) >= 0).all()
    assert (expected <= np.arange(expected.size) + 1e-9).all()


def test_stat_stack_is_close_where_accesses_are_random() -> None:
    trace = np.random.default_rng(8).integers(0, 2000, 200_000).astype(np.uint64)
    capacity = np.array([1, 100, 500, 1000, 1500])
    exact, expected = exact_misses(trace, capacity), stat_stack_misses(trace, capacity)
    assert np.abs(expected.misses - exact.misses).max() < 0.01 * trace.size
    assert expected.low is None
    assert expected.high is None
    # Of uniformly random accesses to W lines a share 1 - C / W misses.
    assert exact.misses[2] / trace.size == pytest.approx(0.75 + 2000 / trace.size * 0.25, abs=0.01)


def test_stat_stack_is_wrong_where_reuse_depends_on_the_place() -> None:
    # Two phases, each with a working set of its own: half of all reuse distances are 49, which is no news of
    # the second phase, but makes its lines seem closer than the 799 that lie between two uses of each.
    phases = np.concatenate([cyclic(50, 64), 1000 + cyclic(800, 4)]).astype(np.uint64)
    capacity = np.array([600])
    assert exact_misses(phases, capacity).misses[0] == 50 + 3200
    assert stat_stack_misses(phases, capacity).misses[0] == 50 + 800
