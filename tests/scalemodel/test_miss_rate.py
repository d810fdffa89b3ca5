"""Miss-rate curves: stack distances against a simulated cache, SHARDS within its bounds, StatStack, MPKI."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from scalemodel.accesses import AddressTrace
from scalemodel.measurements import MpkiUnit
from scalemodel.miss_rate import (
    COLD,
    Method,
    MissCounts,
    MissRateCurve,
    miss_rate_curve,
    shards_misses,
    stack_distances,
    stat_stack_misses,
)

# Distances of the whole range: few lines used often, many used rarely, and lines far apart in the address
# space, which do not fit one number together with their place.


LINE = 128
# 100 lines, touched ten times over by 640,000 thread instructions in 20,000 warp instructions.
CYCLIC = AddressTrace(np.tile(np.arange(100, dtype=np.uint64), 10), LINE, 640_000, 20_000)


def curve_of(
    trace: AddressTrace = CYCLIC,
    capacity_bytes: tuple[int, ...] = (LINE, 99 * LINE, 100 * LINE),
    **options: object,
) -> MissRateCurve:
    return miss_rate_curve(
        trace,
        np.array(capacity_bytes, dtype=np.int64),
        np.random.default_rng(0),
        **options,  # type: ignore[arg-type]
    )


def mpki_of(curve: MissRateCurve) -> NDArray[np.float64]:
    """Return the curve's MPKI, which it has."""
    assert curve.mpki is not None
    return curve.mpki


def test_mpki_is_misses_per_thousand_thread_instructions() -> None:
    curve = curve_of()
    assert curve.counts.misses.tolist() == [1000, 1000, 100]
    assert mpki_of(curve).tolist() == pytest.approx([1000 * 1000 / 640_000] * 2 + [1000 * 100 / 640_000])
    assert curve.miss_ratio.tolist() == [1, 1, 0.1]
    assert (curve.accesses, curve.counts.cold, curve.line_bytes) == (1000, 100, LINE)
    assert (curve.unit, curve.method, curve.rate, curve.confidence) == (
        MpkiUnit.THREAD,
        Method.EXACT,
        1,
        None,
    )
    assert curve.capacity_bytes.tolist() == [LINE, 99 * LINE, 100 * LINE]


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


def exact_misses(trace: np.ndarray, capacity: np.ndarray) -> MissCounts:
    return shards_misses(trace, capacity, 1.0, np.random.default_rng(0))


def cyclic(working_set: int, rounds: int) -> np.ndarray:
    return np.tile(np.arange(working_set, dtype=np.uint64), rounds)


def skewed(rng: np.random.Generator, accesses: int, distinct: int) -> np.ndarray:
    """Some lines used more often than others, none so often that a sample stands or falls with it."""
    return (distinct * rng.beta(1, 3, accesses)).astype(np.uint64)


@given(traces)
def test_stack_distances_are_those_of_a_list(trace: np.ndarray) -> None:
    assert stack_distances(trace).tolist() == distances_by_a_list(trace)


@given(traces, st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_misses_are_those_of_a_simulated_cache(trace: np.ndarray, capacities: list[int]) -> None:
    counts = exact_misses(trace, np.array(capacities))
    assert counts.misses.tolist() == [misses_of_a_cache(trace, capacity) for capacity in capacities]
    assert counts.cold == len(set(trace.tolist()))


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


def test_stat_stack_is_close_where_accesses_are_random() -> None:
    trace = np.random.default_rng(8).integers(0, 2000, 200_000).astype(np.uint64)
    capacity = np.array([1, 100, 500, 1000, 1500])
    exact, expected = exact_misses(trace, capacity), stat_stack_misses(trace, capacity)
    assert np.abs(expected.misses - exact.misses).max() < 0.01 * trace.size
    assert expected.low is None
    assert expected.high is None
    # Of uniformly random accesses to W lines a share 1 - C / W misses.
    assert exact.misses[2] / trace.size == pytest.approx(0.75 + 2000 / trace.size * 0.25, abs=0.01)
