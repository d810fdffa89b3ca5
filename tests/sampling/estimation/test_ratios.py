"""Ratios of totals, against their formula and all samples of a small population."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sampling.errors import AnalysisError
from sampling.estimation.ratios import calibrated, inverted, ratio_of_totals, speedup_between
from sampling.estimation.sample import Sample

Make = Callable[..., Sample]


def with_two(base: Sample, other: list[float]) -> Sample:
    """Return a sample with a second metric."""
    return replace(base, y=np.column_stack([base.y, other]), metrics=("cycles", "other"))


def test_a_ratio_of_expansions_with_its_variance(sample: Make) -> None:
    base = sample((10, 4, [(3, 30), (5, 50), (4, 44)]), (6, 9, [(9, 20), (8, 26)]))
    made = with_two(base, [3, 4, 6, 1, 2])
    a_total, b_total = 10 * 13 / 3 + 6 * 1.5, 10 * 124 / 3 + 6 * 23
    found = ratio_of_totals(made, "other", "cycles", 0.95, interval="plain")
    ratio = a_total / b_total
    assert found.ratio == pytest.approx(ratio)
    u = [np.array([3, 4, 6]) - ratio * np.array([30, 50, 44]), np.array([1, 2]) - ratio * np.array([20, 26])]
    parts = [10**2 * (1 - 0.3) / 3 * u[0].var(ddof=1), 6**2 * (1 - 2 / 6) / 2 * u[1].var(ddof=1)]
    nu = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1)
    from scipy.stats import t

    assert found.degrees_of_freedom == pytest.approx(nu)
    assert found.half_width == pytest.approx(t.ppf(0.975, nu) * np.sqrt(sum(parts)) / b_total)
    assert found.low == pytest.approx(found.ratio - found.half_width)
    assert found.high == pytest.approx(found.ratio + found.half_width)


@pytest.mark.parametrize("interval", ["plain", "moderated"])
def test_most_intervals_over_all_samples_hold_the_ratio(interval: str, sample: Make) -> None:
    rng = np.random.default_rng(2)
    cycles = rng.uniform(50, 150, 12)
    faster = cycles / 1.5 * rng.lognormal(0, 0.05, 12)
    truth, held, samples = cycles.sum() / faster.sum(), 0, list(itertools.combinations(range(12), 6))
    for rows in samples:
        made = with_two(sample((12, 1, [(1, cycles[row]) for row in rows])), faster[list(rows)].tolist())
        found = speedup_between(made, "cycles", "other", 0.95, interval=interval)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held / len(samples) > 0.9


def test_what_two_configurations_share_cancels(sample: Make) -> None:
    """Cycles that vary a hundredfold, and a speedup that hardly does: its interval is narrow."""
    made = sample((100, 1, [(1, 10), (1, 1000), (1, 300), (1, 90)]))
    two = with_two(made, [5.01, 500, 150, 45])
    found = speedup_between(two, "cycles", "other", 0.95)
    assert found.half_width is not None
    assert found.half_width / found.ratio < 0.001


def test_a_ratio_that_never_varies_has_no_interval(sample: Make) -> None:
    two = with_two(sample((100, 1, [(1, 10), (1, 1000)])), [5, 500])
    found = speedup_between(two, "cycles", "other", 0.95)
    assert (found.ratio, found.low, found.high, found.degrees_of_freedom) == (2, None, None, None)


def test_a_census_has_an_exact_ratio(sample: Make) -> None:
    two = with_two(sample((2, 1, [(1, 10), (1, 1000)])), [6, 500])
    found = ratio_of_totals(two, "cycles", "other", 0.95)
    assert found.half_width == 0
    assert found.ratio == pytest.approx(1010 / 506)


def test_single_launches_of_a_group_are_compared(sample: Make) -> None:
    base = sample((40, 4, [(4, 80)]), (60, 6, [(6, 90)]), (10, 9, [(9, 100)]), group=[0, 0, 0])
    two = with_two(base, [8, 10, 9])
    for interval in ("plain", "moderated"):
        found = ratio_of_totals(two, "other", "cycles", 0.95, interval=interval)
        assert found.degrees_of_freedom is not None
        assert 0 < found.degrees_of_freedom <= 2


def test_nothing_below_a_ratio_is_refused(sample: Make) -> None:
    two = with_two(sample((9, 1, [(1, 10), (1, 12)])), [0, 0])
    with pytest.raises(AnalysisError, match="total is 0"):
        ratio_of_totals(two, "cycles", "other", 0.95)


def test_ipc_of_known_instructions_is_the_interval_inverted() -> None:
    assert inverted(200, 100, 400, 1000) == (5, 2.5, 10)
    assert inverted(200, 0, 400, 1000) == (5, 2.5, None)


def test_a_metric_that_follows_durations_is_put_to_the_mean_duration(sample: Make) -> None:
    made = sample((50, 10, [(8, 81), (9, 89), (12, 121)]), (40, 5, [(4, 60), (6, 92)]))
    put = calibrated(made, made.y[:, 0])
    # Their expansion is the ratio estimate of each stratum.
    assert 50 * put[:3].mean() == pytest.approx(50 * 10 * 291 / 29)
    assert 40 * put[3:].mean() == pytest.approx(40 * 5 * 152 / 10)
    # What is left of the spread is that about the ratio.
    assert put[:3].std() < 1.5
    same = np.array([7.0, 7, 7, 9, 9])
    assert calibrated(made, same).tolist() == same.tolist()


def test_strata_of_one_launch_are_put_to_their_mean_duration_too(sample: Make) -> None:
    made = sample((50, 10, [(8, 80)]), (40, 5, [(4, 60)]), group=[0, 0])
    assert calibrated(made, made.y[:, 0]).tolist() == [100, 75]
