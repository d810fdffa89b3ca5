"""Intervals of ratios: against the formulas, one measurement at a time, and how often they hold."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t

from sampling.arrays import FloatArray
from sampling.difference.intervals import (
    BLOCKS,
    Means,
    Ratios,
    are_dependent,
    by_blocks,
    means_of,
    paired,
    share_of,
    welch,
)

Interval = Callable[[Means, Means, float], Ratios]
Draws = Callable[[np.random.Generator, tuple[int, int]], FloatArray]


def of(*rows: Sequence[float]) -> Means:
    """The means of equally many measurements a row, of one iteration each."""
    return means_of(np.array(rows, dtype=np.float64), np.ones(len(rows[0])))


def ends(found: Ratios) -> tuple[float, float, float]:
    """The first ratio with its ends."""
    return float(found.ratio[0]), float(found.low[0]), float(found.high[0])


def welch_by_hand(
    before: Sequence[float], after: Sequence[float], confidence: float
) -> tuple[float, float, float]:
    """The interval of a ratio of means by Welch's t and the delta method on its logarithm."""
    x, y = statistics.fmean(before), statistics.fmean(after)
    a = statistics.variance(before) / len(before) / x**2
    b = statistics.variance(after) / len(after) / y**2
    freedom = (a + b) ** 2 / (a**2 / (len(before) - 1) + b**2 / (len(after) - 1))
    reach = float(t.ppf(0.5 + confidence / 2, freedom)) * math.sqrt(a + b)
    return y / x, y / x * math.exp(-reach), y / x * math.exp(reach)


def pairs_by_hand(
    before: Sequence[float], after: Sequence[float], confidence: float
) -> tuple[float, float, float]:
    """The interval of a ratio of sums from u = y - R x of pairs."""
    n, ratio = len(before), sum(after) / sum(before)
    apart = [y - ratio * x for x, y in zip(before, after, strict=True)]
    error = math.sqrt(sum(u**2 for u in apart) / (n * (n - 1))) / statistics.fmean(before)
    reach = float(t.ppf(0.5 + confidence / 2, n - 1)) * error
    return ratio, ratio - reach, ratio + reach


TIMES = st.lists(st.floats(1, 1e9), min_size=3, max_size=12)


@given(before=TIMES, after=TIMES, confidence=st.sampled_from([0.5, 0.95, 0.999]))
def test_steps_by_hand(before: list[float], after: list[float], confidence: float) -> None:
    assume(statistics.pstdev(before) > 1e-6 * max(before) or statistics.pstdev(after) > 1e-6 * max(after))
    found = ends(welch(of(before), of(after), confidence))
    try:
        assert found == pytest.approx(welch_by_hand(before, after, confidence), rel=1e-6)
    except OverflowError:
        assert math.isinf(found[2])


@given(st.lists(st.tuples(st.floats(1, 1e9), st.floats(1, 1e9)), min_size=3, max_size=12))
def test_pairs_by_hand(pairs: list[tuple[float, float]]) -> None:
    before, after = ([*side] for side in zip(*pairs, strict=True))
    assume(len({y / x for x, y in pairs}) > 1)
    found, expected = ends(paired(of(before), of(after), 0.95)), pairs_by_hand(before, after, 0.95)
    assert found[0] == pytest.approx(expected[0])
    # The difference of two ends is exact to what the sums are.
    if expected[2] - expected[0] > 1e-9 * expected[0]:
        assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("interval", [welch, by_blocks, paired])
@given(before=TIMES, after=TIMES, scale=st.floats(1e-3, 1e3))
def test_scaling_a_side_scales_the_ratio_and_its_ends(
    interval: Interval, before: list[float], after: list[float], scale: float
) -> None:
    size = min(len(before), len(after))
    before, after = before[:size], after[:size]
    found = ends(interval(of(before), of(after), 0.9))
    scaled = ends(interval(of(before), of([scale * ns for ns in after]), 0.9))
    assume(found[2] - found[0] > 1e-6 * found[0])
    assert scaled == pytest.approx([scale * value for value in found], rel=1e-5)


@pytest.mark.parametrize("interval", [welch, by_blocks])
@given(before=TIMES, after=TIMES)
def test_exchanging_the_sides_turns_the_ratio_round(
    interval: Interval, before: list[float], after: list[float]
) -> None:
    ratio, low, high = ends(interval(of(before), of(after), 0.95))
    turned = ends(interval(of(after), of(before), 0.95))
    assume(high - ratio > 1e-6 * ratio and math.isfinite(high))
    assert turned == pytest.approx((1 / ratio, 1 / high, 1 / low), rel=1e-5)


def relative_variance(launches: Sequence[float]) -> float:
    """The relative variance of one launch, by the means of successive blocks."""
    edges = [block * len(launches) // BLOCKS for block in range(BLOCKS + 1)]
    mean = statistics.fmean(launches)
    squares = [
        (stop - start) * (statistics.fmean(launches[start:stop]) - mean) ** 2
        for start, stop in pairwise(edges)
    ]
    return sum(squares) / (BLOCKS - 1) / mean**2


def test_blocks_by_hand() -> None:
    """Means of successive blocks, the larger relative variance for both, t of few degrees of freedom."""
    before = [100, 104, 96, 101, 99, 103, 97, 100, 102, 98]
    after = [150, 180, 120, 165, 135, 150, 160, 140, 155, 145, 150, 150]
    spread = max(map(relative_variance, (before, after)))
    reach = t.ppf(0.95, BLOCKS - 1) * math.sqrt(spread / 10 + spread / 12)
    for sides, ratio in (((before, after), 1.5), ((after, before), 1 / 1.5)):
        expected = (ratio, ratio * math.exp(-reach), ratio * math.exp(reach))
        assert ends(by_blocks(of(sides[0]), of(sides[1]), 0.9)) == pytest.approx(expected)


def test_no_kernel_counts_as_steadier_than_the_one_in_the_middle() -> None:
    calm, middle, wild, still = [10, 10, 10, 11], [10, 12, 10, 12], [5, 15, 5, 15], [10] * 4
    alone = {str(row): ends(by_blocks(of(row), of(row), 0.95)) for row in (calm, middle, wild)}
    found = by_blocks(of(calm, middle, wild, still), of(calm, middle, wild, still), 0.95)
    assert found.high[:3].tolist() == pytest.approx([alone[str(row)][2] for row in (middle, middle, wild)])
    # Without any spread there is no interval, never +- 0.
    assert math.isnan(found.high[3])


def test_too_few_measurements_have_no_interval() -> None:
    for interval in (welch, by_blocks, paired):
        assert math.isnan(ends(interval(of([1.0, 2.0]), of([1.0, 3.0]), 0.95))[1])
        assert not math.isnan(ends(interval(of([1.0, 2.0, 4.0]), of([1.0, 3.0, 2.0]), 0.95))[1])
    nothing = ends(welch(of([0.0] * 4), of([1.0, 2.0, 3.0, 4.0]), 0.95))
    assert all(map(math.isnan, nothing))


def test_measurements_may_be_of_several_iterations() -> None:
    """Sums of 2, 3 and 1 iterations; the variance of one by their weights; blocks keep the mean."""
    sums, sizes = [20.0, 33.0, 13.0], [2.0, 3.0, 1.0]
    found = means_of(np.array([sums]), np.array(sizes))
    assert float(found.mean[0]) == 11
    squares = sum(w * (s / w / 11 - 1) ** 2 for s, w in zip(sums, sizes, strict=True))
    assert float(found.variance[0]) == pytest.approx(squares / 2)
    blocks = found.in_blocks(2)
    assert blocks.weight.tolist() == [[2.0, 4.0]]
    assert blocks.departure[0].tolist() == pytest.approx([20 / 2 / 11 - 1, 46 / 4 / 11 - 1])


def test_a_share_departs_by_what_its_parts_do_not_do_alike() -> None:
    busy, device = of([10.0, 20.0, 30.0]), of([20.0, 40.0, 60.0])
    half = share_of(busy, device)
    assert float(half.mean[0]) == 0.5
    assert half.departure[0].tolist() == pytest.approx([0, 0, 0])


def test_what_drifts_depends_on_what_was_before() -> None:
    rng = np.random.default_rng(3)
    drift = np.arange(40) + rng.normal(0, 1, 40)
    assert are_dependent(of(drift + 100))
    assert not are_dependent(of(drift[:7] + 100)), "too few to tell"
    assert not are_dependent(of([5.0] * 20))
    alarms = [are_dependent(of(rng.normal(100, 1, 20))) for _ in range(2000)]
    assert np.mean(alarms) < 0.025


# --- how often they hold ---


def _lognormal(spread: float) -> Draws:
    return lambda rng, shape: rng.lognormal(0, spread, shape) / math.exp(spread**2 / 2)


def _two_modes(share: float, factor: float) -> Draws:
    """A share of the launches takes so many times as long."""
    mean = (1 + share * (factor - 1)) * math.exp(0.05**2 / 2)
    return lambda rng, shape: (
        np.where(rng.random(shape) < share, factor, 1) * rng.lognormal(0, 0.05, shape) / mean
    )


KINDS = {
    "one calm mode": _lognormal(0.05),
    "skewed": _lognormal(0.6),
    "very skewed": _lognormal(1.0),
    "two modes": _two_modes(0.5, 2),
    "a slow tenth": _two_modes(0.1, 3),
    "a slow twentieth": _two_modes(0.05, 5),
}


def in_blocks(launches: FloatArray) -> Means:
    """The means of (pairs, launches) in blocks of successive ones."""
    first = -(-np.arange(BLOCKS) * launches.shape[1] // BLOCKS)
    sums = np.add.reduceat(launches, first, axis=1)
    return means_of(sums, np.diff(first, append=launches.shape[1]))


@pytest.mark.parametrize("launches", [(10, 10), (10, 300), (300, 10), (20, 500), (30, 30), (100, 400)])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_hold_as_often_as_they_say(kind: str, launches: tuple[int, int]) -> None:
    """Of independent launches whose true ratio is known; 4,000 pairs leave 0.34 points of chance."""
    rng, pairs, ratio = np.random.default_rng(5), 4000, 1.3
    before, after = (KINDS[kind](rng, (pairs, count)) * 1e6 for count in launches)
    found = by_blocks(in_blocks(before), in_blocks(after * ratio), 0.95)
    assert np.mean((found.low <= ratio) & (ratio <= found.high)) >= 0.97


@pytest.mark.parametrize("steps", [(3, 3), (3, 20), (6, 6), (10, 30)])
@pytest.mark.parametrize("spread", [0.01, 0.1])
def test_steps_hold_as_often_as_they_say(steps: tuple[int, int], spread: float) -> None:
    rng, pairs, ratio = np.random.default_rng(7), 4000, 1.027
    before, after = (
        rng.normal(1, spread * scale, (pairs, n)) for n, scale in zip(steps, (1, 3), strict=True)
    )
    found = welch(means_of(before, np.ones(steps[0])), means_of(after * ratio, np.ones(steps[1])), 0.95)
    assert 0.94 <= np.mean((found.low <= ratio) & (ratio <= found.high)) <= 0.985


def test_pairs_hold_where_a_run_drifts() -> None:
    """Blocks of a run that takes less and less time: what both runs do alike does not count."""
    rng, ratio = np.random.default_rng(9), 1.09
    drift = np.linspace(10, 1, 10)
    sides = [drift * rng.normal(1, 0.02, (4000, 10)) for _ in range(2)]
    before, after = (means_of(side, np.ones(10)) for side in (sides[0], ratio * sides[1]))
    found, alone = paired(before, after, 0.95), by_blocks(before, after, 0.95)
    assert 0.93 <= np.mean((found.low <= ratio) & (ratio <= found.high)) <= 0.97
    assert np.median(alone.high - alone.low) > 20 * np.median(found.high - found.low)
