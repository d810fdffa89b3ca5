"""Speedups of two configurations on the same launches: by hand, by brute force, and what must hold of any."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sampling.estimation.interval import Sample
from sampling.estimation.speedup import (
    Speedup,
    Verdict,
    adjust_together,
    largest_t_quantile,
    next_sizes,
    speedup,
)

Launch = tuple[float, float, float]


def _sample(
    launches: list[int],
    drawn: list[list[Launch]],
    *,
    declared: float = 0.05,
    mean_x: list[float] | None = None,
    group: list[int] | None = None,
) -> Sample:
    """Strata of so many launches, and of each the drawn ones: duration, cycles of base and of the other."""
    columns = np.array([row for rows in drawn for row in rows], dtype=np.float64)
    means = [float(np.mean([row[0] for row in rows])) for rows in drawn]
    return Sample(
        launches=np.array(launches),
        mean_x=np.array(means if mean_x is None else mean_x, dtype=np.float64),
        group=np.array(range(len(drawn)) if group is None else group),
        declared=np.full(len(drawn), declared**2),
        stratum=np.repeat(np.arange(len(drawn)), [len(rows) for rows in drawn]),
        x=columns[:, 0],
        y=columns[:, 1:],
        metrics=("base", "other"),
        planned=np.array([len(rows) for rows in drawn]),
    )


def _exchanged(sample: Sample) -> Sample:
    return replace(sample, y=sample.y[:, ::-1])


def _by_loops(sample: Sample, confidence: float) -> tuple[float, float]:
    """R and h with a loop for every sum of the module's formulas; each stratum is a group of its own."""
    strata = range(len(sample.launches))
    rows = [[j for j in range(len(sample.x)) if sample.stratum[j] == i] for i in strata]
    size = [int(n) for n in sample.launches]
    growth = [float(sample.mean_x[i]) / (sum(sample.x[j] for j in rows[i]) / len(rows[i])) for i in strata]
    mean = [[sum(sample.y[j, k] for j in rows[i]) / len(rows[i]) for i in strata] for k in (0, 1)]
    parts = [[size[i] * mean[k][i] * growth[i] for i in strata] for k in (0, 1)]
    total = [sum(part) for part in parts]
    ratio = total[0] / total[1]
    share, log_ratio = {}, {}
    for i in strata:
        for j in rows[i]:
            weight = size[i] / len(rows[i]) * growth[i]
            share[j] = weight * (sample.y[j, 0] / total[0] + sample.y[j, 1] / total[1]) / 2
            log_ratio[j] = math.log(sample.y[j, 0] / sample.y[j, 1]) - math.log(ratio)
    number = 1 / sum(w * w for w in share.values())
    varies = number / max(number - 1, 1) * sum(share[j] * log_ratio[j] ** 2 for j in share)
    kappa = min(float(sample.declared[0]), (4 * 0.02**2 + number * varies) / (4 + number))
    variance, observed, doubt, squares = 0.0, 0.0, 0.0, 0.0
    for i in strata:
        m, stratum_share = len(rows[i]), (parts[0][i] / total[0] + parts[1][i] / total[1]) / 2
        part = stratum_share**2 * (1 / m - 1 / size[i]) * kappa
        variance += part
        if m > 1 and part > 0:
            r = [growth[i] * (sample.y[j, 0] / total[0] - sample.y[j, 1] / total[1]) for j in rows[i]]
            spread = sum((one - sum(r) / m) ** 2 for one in r) / (m - 1) / (stratum_share / size[i]) ** 2
            observed += part
            doubt += part**2 / (m - 1)
            squares += part * spread / kappa
    if variance == 0:
        return ratio, 0.0
    df = observed**2 / doubt if doubt else 0.0
    p = observed / variance
    seen = squares / observed if observed else 1.0
    factor = (4 + p * df * seen) / (4 + p * df)
    if df and seen * df > stats.chi2.ppf(0.99, df):
        factor = max(factor, p * seen + (1 - p) * factor)
    t = stats.t.ppf(0.5 + confidence / 2, (4 + p * df) / 2)
    return ratio, float(t * math.sqrt(factor * variance))


cycles = st.floats(100.0, 1000.0)
factors = st.floats(0.8, 1.25)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    strata = draw(st.integers(1, 5))
    sizes = [draw(st.integers(1, 4)) for _ in range(strata)]
    launches = [size + draw(st.integers(0, 20)) for size in sizes]
    drawn = [
        [(x, x * draw(factors), x * draw(factors)) for x in [draw(cycles) for _ in range(size)]]
        for size in sizes
    ]
    means = [float(np.mean([row[0] for row in rows])) * draw(factors) for rows in drawn]
    return _sample(launches, drawn, mean_x=means)


def test_ratio_is_that_of_the_totals() -> None:
    sample = _sample([10, 4], [[(100, 50, 40), (100, 70, 60)], [(200, 90, 100)]], mean_x=[110, 200])
    above = Fraction(10) * 60 * Fraction(110, 100) + 4 * 90
    below = Fraction(10) * 50 * Fraction(110, 100) + 4 * 100
    assert speedup(sample, "base", "other").ratio == pytest.approx(float(above / below), rel=1e-12)


@given(samples(), st.sampled_from([0.9, 0.95, 0.99]))
def test_interval_is_that_of_the_formulas_summed_one_by_one(sample: Sample, confidence: float) -> None:
    ratio, half_width = _by_loops(sample, confidence)
    one = speedup(sample, "base", "other", confidence)
    assert one.ratio == pytest.approx(ratio, rel=1e-9)
    assert one.half_width == pytest.approx(half_width, rel=1e-6, abs=1e-12)


@given(samples())
def test_exchanging_the_two_gives_the_inverse(sample: Sample) -> None:
    one, other = speedup(sample, "base", "other"), speedup(_exchanged(sample), "base", "other")
    assert (one.ratio * other.ratio, one.low * other.high) == pytest.approx((1, 1), rel=1e-9)
    assert one.half_width == pytest.approx(other.half_width, rel=1e-9, abs=1e-12)


@given(samples(), st.floats(0.01, 100.0))
def test_a_faster_clock_moves_the_ratio_alone(sample: Sample, factor: float) -> None:
    scaled = speedup(replace(sample, y=sample.y * [1.0, factor]), "base", "other")
    one = speedup(sample, "base", "other")
    assert scaled.ratio * factor == pytest.approx(one.ratio, rel=1e-9)
    assert scaled.half_width == pytest.approx(one.half_width, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("each", "width"), [(1, 0.0255), (2, 0.0034)])
def test_equal_results_are_one_within_little(each: int, width: float) -> None:
    """Twenty launches, two of a stratum, know it within 0.3 %; five single ones within 2.5 %."""
    strata = 5 * each
    drawn = [[(100 + i, 50 + i, 50 + i) for i in range(each)] for _ in range(strata)]
    one = speedup(_sample([40] * strata, drawn), "base", "other")
    assert (one.ratio, one.differing) == (1.0, 0)
    assert 0 < one.half_width < width
    assert one.verdict(0.03) is Verdict.SAME


def test_a_census_is_exact() -> None:
    sample = _sample([2, 1], [[(100, 50, 40), (100, 70, 60)], [(200, 90, 100)]])
    one = speedup(sample, "base", "other")
    assert (one.low, one.high) == (one.ratio, one.ratio)
    assert one.ratio == pytest.approx(210 / 200)


def test_launches_without_a_result_are_left_out_of_both() -> None:
    sample = _sample([10, 4], [[(100, 50, 40), (100, 70, math.nan)], [(200, 90, 100)]])
    one = speedup(sample, "base", "other")
    assert one.ratio == pytest.approx((10 * 50 + 4 * 90) / (10 * 40 + 4 * 100))
    assert (one.launches, one.missing) == (2, 1)
    gone = speedup(replace(sample, y=np.where(sample.x[:, None] == 200, np.nan, sample.y)), "base", "other")
    assert math.isnan(gone.ratio)
    assert gone.reason == "no ratio yet: 1 stratum has no launch with both results"


def test_no_ratio_of_nothing() -> None:
    one = speedup(_sample([10], [[(100, 0, 0), (100, 0, 0)]]), "base", "other")
    assert one.reason == "a ratio has a total of 0"


def test_a_launch_without_cycles_on_one_side_keeps_what_was_declared() -> None:
    rows: list[Launch] = [(100, 50, 50), (100, 50, 0)]
    one = speedup(_sample([10] * 2, [rows, [(100, 50, 50), (100, 50, 50)]]), "base", "other")
    assert one.ratio == pytest.approx(4 / 3)
    assert one.half_width > 0.5


def test_it_is_no_narrower_than_what_it_was_topped_up_to() -> None:
    sample = _sample([40] * 10, [[(100, 50, 49), (110, 55, 54)]] * 10)
    assert speedup(sample, "base", "other", at_least=0.04).half_width == 0.04
    census = _sample([2], [[(100, 50, 49), (110, 55, 54)]])
    assert speedup(census, "base", "other", at_least=0.04).half_width == 0


@pytest.mark.parametrize(
    ("ratio", "half_width", "verdict"),
    [
        (1.02, 0.01, Verdict.FASTER),
        (0.98, 0.01, Verdict.SLOWER),
        (1.001, 0.003, Verdict.SAME),
        (1.003, 0.002, Verdict.SAME),
        (1.01, 0.02, Verdict.OPEN),
        (1.02, 0.0, Verdict.FASTER),
    ],
)
def test_verdicts(ratio: float, half_width: float, verdict: Verdict) -> None:
    one = Speedup("base", "other", ratio, 0.0, math.inf, 2.0, beside_sampling=half_width)
    assert one.verdict(0.0051) is verdict


@pytest.mark.parametrize(("groups", "df"), [(3, 4), (4, 10), (5, 20)])
def test_quantile_of_all_pairs_is_tukeys(groups: int, df: int) -> None:
    """Differences of all pairs of means have Tukey's studentized range over the root of two."""
    pairs = [(i, j) for i in range(groups) for j in range(i)]
    contrasts = np.array([[(k == i) - (k == j) for k in range(groups)] for i, j in pairs]) / math.sqrt(2)
    quantile = largest_t_quantile(contrasts @ contrasts.T, df, 0.95, np.random.default_rng(0))
    assert quantile == pytest.approx(stats.studentized_range.ppf(0.95, groups, df) / math.sqrt(2), rel=0.02)


def test_quantile_against_a_base_is_dunnetts() -> None:
    """Dunnett's two-sided 5 % for three treatments, ten degrees of freedom: 2.76 (Dunnett 1964, Table 2)."""
    matrix = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    assert largest_t_quantile(matrix, 10, 0.95, np.random.default_rng(1)) == pytest.approx(2.76, rel=0.02)


def test_speedups_adjust_together_are_wider() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(100, 200, 40)
    y = x[:, None] * rng.lognormal(0, 0.03, (40, 3))
    sample = replace(
        _sample([30] * 20, [[(1.0, 1.0, 1.0)] * 2] * 20),
        x=x,
        mean_x=np.full(20, 150.0),
        y=y,
        metrics=("base", "one", "two"),
    )
    alone = [speedup(sample, "base", name) for name in ("one", "two")]
    together = adjust_together(sample, alone, 0.95, np.random.default_rng(3))
    bonferroni = [float(stats.t.ppf(1 - 0.025 / 2, one.degrees_of_freedom)) for one in alone]
    for one, both, most in zip(alone, together, bonferroni, strict=True):
        assert one.quantile < both.quantile < most * 1.02
        assert one.ratio == both.ratio


def test_what_is_simulated_next_brings_it_within_the_target() -> None:
    sample = _sample([400] * 6, [[(100 + i, 50 + i, 49 + 2 * i) for i in range(3)]] * 6)
    one = speedup(sample, "base", "other")
    sizes = next_sizes(sample, "base", "other", one.half_width * 0.8)
    assert (sizes >= sample.planned).all()
    assert 0 < sizes.sum() - sample.planned.sum() <= 0.25 * sample.planned.sum() + 1
