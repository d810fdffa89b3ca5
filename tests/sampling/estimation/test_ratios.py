"""Ratios of totals, against their formula and all samples of a small population."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtrit

from sampling.errors import AnalysisError
from sampling.estimation.interval import Sample, calibrated, ratio_of_totals

Make = Callable[..., Sample]


def with_two(base: Sample, other: list[float]) -> Sample:
    """Return a sample with a second metric."""
    return replace(base, y=np.column_stack([base.y, other]), metrics=("cycles", "other"))


def test_most_intervals_over_all_samples_hold_the_ratio(sample: Make) -> None:
    rng = np.random.default_rng(2)
    cycles = rng.uniform(50, 150, 12)
    faster = cycles / 1.5 * rng.lognormal(0, 0.05, 12)
    truth, held, samples = cycles.sum() / faster.sum(), 0, list(itertools.combinations(range(12), 6))
    for rows in samples:
        made = with_two(sample((12, 1, [(1, cycles[row]) for row in rows])), faster[list(rows)].tolist())
        found = ratio_of_totals(made, "cycles", "other", 0.95)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held / len(samples) > 0.93


def test_a_ratio_with_its_variance(sample: Make) -> None:
    """Residuals a - R b about their stratum's mean, relative to R b, move the factor on what is declared."""
    base = sample((1000, 1, [(1, 30), (1, 50), (1, 44)] * 100), (600, 1, [(1, 20), (1, 26)] * 100))
    made = with_two(base, [3, 4, 6] * 100 + [1, 2] * 100)
    a_total, b_total = 1000 * 13 / 3 + 600 * 1.5, 1000 * 124 / 3 + 600 * 23
    found = ratio_of_totals(made, "other", "cycles", 0.95)
    ratio = a_total / b_total
    assert found.ratio == pytest.approx(ratio)
    u = [made.y[rows, 1] - ratio * made.y[rows, 0] for rows in (slice(300), slice(300, None))]
    parts = [1000**2 * 0.7 / 300 * u[0].var(ddof=1), 600**2 * (2 / 3) / 200 * u[1].var(ddof=1)]
    assert found.half_width is not None
    # Seen five hundred times, the spread is the strata's own, and Student's t is normal.
    assert found.half_width == pytest.approx(1.96 * np.sqrt(sum(parts)) / b_total, rel=0.02)


def test_what_two_configurations_share_cancels(sample: Make) -> None:
    """Cycles that vary a hundredfold, and a speedup that hardly does: what is left is what was declared."""
    made = sample((100, 1, [(1, 10), (1, 1000), (1, 300), (1, 90)]))
    two = with_two(made, [5.01, 500, 150, 45])
    found = ratio_of_totals(two, "cycles", "other", 0.95)
    assert found.half_width is not None
    assert found.half_width / found.ratio < 0.06


def test_a_ratio_that_never_varies_rests_on_what_was_declared(sample: Make) -> None:
    two = with_two(sample((100, 1, [(1, 10), (1, 1000)])), [5, 500])
    found = ratio_of_totals(two, "cycles", "other", 0.95)
    # One degree of freedom that saw nothing, beside four of 5 %.
    assert found.ratio == 2
    assert found.degrees_of_freedom == 2.5
    assert found.half_width == pytest.approx(stdtrit(2.5, 0.975) * 2 * np.sqrt(0.8 * 0.05**2 * 0.98 / 2))


def test_a_census_has_an_exact_ratio(sample: Make) -> None:
    two = with_two(sample((2, 1, [(1, 10), (1, 1000)])), [6, 500])
    found = ratio_of_totals(two, "cycles", "other", 0.95)
    assert found.half_width == 0
    assert found.ratio == pytest.approx(1010 / 506)


def test_single_launches_of_a_group_are_compared(sample: Make) -> None:
    base = sample((40, 4, [(4, 80)]), (60, 6, [(6, 90)]), (10, 9, [(9, 100)]), group=[0, 0, 0])
    two = with_two(base, [8, 10, 9])
    found = ratio_of_totals(two, "other", "cycles", 0.95)
    # Two degrees of freedom between three strata, each by its share of the variance.
    assert found.degrees_of_freedom == pytest.approx(3)


def test_nothing_below_a_ratio_is_refused(sample: Make) -> None:
    two = with_two(sample((9, 1, [(1, 10), (1, 12)])), [0, 0])
    with pytest.raises(AnalysisError, match="total is 0"):
        ratio_of_totals(two, "cycles", "other", 0.95)


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
