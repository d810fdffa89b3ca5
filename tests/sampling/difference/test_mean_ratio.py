"""The ratio of mean durations: its interval by hand, how often it holds, and where there is none."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from sampling.difference.mean_ratio import LEAST_LAUNCHES, Durations, mean_ratios
from sampling.errors import OptionError

Draws = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def durations(kernels: Sequence[Sequence[float]]) -> Durations:
    """The durations of kernels, a list each."""
    totals = [int(sum(kernel)) for kernel in kernels]
    means = [statistics.fmean(kernel) if kernel else 0.0 for kernel in kernels]
    variance = [
        statistics.pvariance(kernel) / mean**2 if mean else 0.0
        for kernel, mean in zip(kernels, means, strict=True)
    ]
    return Durations(np.array([len(kernel) for kernel in kernels]), np.array(totals), np.array(variance))


def test_the_interval_by_hand() -> None:
    """Sample variances, the larger relative one for both, Welch's degrees of freedom, on the log scale."""
    before = [100, 104, 96, 101, 99, 103, 97, 100, 102, 98]
    after = [150, 180, 120, 165, 135, 150, 160, 140, 155, 145, 150, 150]
    spread = statistics.variance(after) / statistics.mean(after) ** 2
    assert spread > statistics.variance(before) / statistics.mean(before) ** 2
    parts = (spread / 10, spread / 12)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 9 + parts[1] ** 2 / 11)
    reach = t.ppf(0.95, freedom) * math.sqrt(sum(parts))
    for sides, ratio in (((before, after), 1.5), ((after, before), 1 / 1.5)):
        found = mean_ratios(durations([sides[0]]), durations([sides[1]]), 0.9)
        assert found.ratio.tolist() == pytest.approx([ratio])
        assert found.low.tolist() == pytest.approx([ratio * math.exp(-reach)])
        assert found.high.tolist() == pytest.approx([ratio * math.exp(reach)])


def test_few_launches_and_no_spread_have_no_interval() -> None:
    many = [10.0, 12.0] * (LEAST_LAUNCHES // 2)
    sides = {
        "enough": (many, many),
        "few before": (many[1:], many),
        "few after": (many, many[1:]),
        "no spread": ([10.0] * 50, [12.0] * 50),
        "one spread is enough": ([10.0] * 50, many),
        "nothing before": ([], many),
        "nothing after": (many, []),
        "no time before": ([0.0] * 20, many),
        "no time after": (many, [0.0] * 20),
    }
    before, after = (durations([pair[side] for pair in sides.values()]) for side in (0, 1))
    found = mean_ratios(before, after, 0.95)
    known = dict(zip(sides, ~np.isnan(found.low), strict=True))
    assert {name for name in sides if known[name]} == {"enough", "one spread is enough"}
    assert (np.isnan(found.low) == np.isnan(found.high)).all()
    ratios = dict(zip(sides, found.ratio.tolist(), strict=True))
    assert ratios["no spread"] == pytest.approx(1.2)
    assert ratios["no time after"] == 0
    assert all(math.isnan(ratios[name]) for name in ("nothing before", "nothing after", "no time before"))


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 95.0, math.nan])
def test_a_confidence_is_a_fraction(confidence: float) -> None:
    with pytest.raises(OptionError, match="`confidence` is a fraction between 0 and 1"):
        mean_ratios(durations([[1.0]]), durations([[1.0]]), confidence)


@given(
    st.lists(st.integers(1, 10**9), min_size=LEAST_LAUNCHES, max_size=40),
    st.lists(st.integers(1, 10**9), min_size=LEAST_LAUNCHES, max_size=40),
    st.integers(1, 1000),
)
def test_sides_may_be_swapped_and_units_changed(one: list[int], other: list[int], unit: int) -> None:
    there, back = (
        mean_ratios(durations([first]), durations([second]), 0.95)
        for first, second in ((one, other), (other, one))
    )
    longer = mean_ratios(durations([one]), durations([[unit * each for each in other]]), 0.95)
    assert back.ratio[0] * there.ratio[0] == pytest.approx(1)
    assert longer.ratio[0] == pytest.approx(unit * there.ratio[0])
    if not math.isnan(there.low[0]):
        assert there.low[0] <= there.ratio[0] <= there.high[0]
        assert back.low[0] * there.high[0] == pytest.approx(1)
        assert longer.high[0] == pytest.approx(unit * there.high[0])


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


@pytest.mark.parametrize("launches", [(10, 10), (10, 300), (300, 10), (20, 500), (30, 30), (100, 400)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_holds_as_often_as_it_says(kind: str, launches: tuple[int, int]) -> None:
    """Of independent launches whose true ratio is known; 4,000 pairs leave 0.34 points of chance."""
    rng, pairs, ratio = np.random.default_rng(5), 4000, 1.3
    before, after = (KINDS[kind](rng, (pairs, count)) * 1e6 for count in launches)
    sides = [
        Durations(
            np.full(pairs, count), drawn.sum(axis=1).astype(np.int64), (drawn.std(1) / drawn.mean(1)) ** 2
        )
        for drawn, count in zip((before, after * ratio), launches, strict=True)
    ]
    found = mean_ratios(sides[0], sides[1], 0.95)
    held = np.mean((found.low <= ratio) & (ratio <= found.high))
    assert held >= 0.93
