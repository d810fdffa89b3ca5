"""The plain interval, against its formulas in exact fractions and all samples of small populations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.estimation.interval import student_t
from sampling.estimation.moments import moments
from sampling.estimation.plain import clipped_slope, collapsed, plain
from sampling.estimation.sample import Sample

Make = Callable[..., Sample]
Stratum = tuple[int, int, list[tuple[int, int]]]

strata_of_integers = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(1, 50), st.integers(1, 90)), min_size=2, max_size=5),
        st.integers(1, 20),
        st.integers(1, 60),
    ).map(lambda parts: (len(parts[0]) + parts[1], parts[2], parts[0])),
    min_size=1,
    max_size=4,
)


def by_the_formula(strata: Sequence[Stratum]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return b, Y, v and nu of strata of two launches or more, in fractions, as the methods page has them."""
    zd = zz = Fraction(0)
    prepared = []
    for size, mean, launches in strata:
        m = len(launches)
        x = Fraction(sum(x for x, _ in launches), m)
        y = Fraction(sum(y for _, y in launches), m)
        w = Fraction(size**2, m * (m - 1)) * (1 - Fraction(m, size))
        rows = [(y_j - y, y / x * (x_j - x)) for x_j, y_j in launches]
        zd += w * sum(d * z for d, z in rows)
        zz += w * sum(z * z for _, z in rows)
        prepared.append((size, mean, m, x, y, w, rows))
    b = min(max(zd / zz, Fraction(0)), Fraction(1)) if zz else Fraction(1)
    total = sum((size * y * (1 + b * (mean / x - 1)) for size, mean, _, x, y, _, _ in prepared), Fraction(0))
    parts = [(w * sum((d - b * z) ** 2 for d, z in rows), m - 1) for _, _, m, _, _, w, rows in prepared]
    v = sum((part for part, _ in parts), Fraction(0))
    below = sum((part**2 / freedom for part, freedom in parts), Fraction(0))
    return b, total, v, v * v / below if below else Fraction(0)


@given(strata=strata_of_integers)
def test_total_variance_and_degrees_of_freedom_are_the_formulas(strata: list[Stratum], sample: Make) -> None:
    b, total, v, nu = by_the_formula(strata)
    made = moments(sample(*strata), "cycles")
    totals, uncertainty = plain(made)
    assert clipped_slope(made)[0] == pytest.approx(float(b), abs=1e-9)
    assert totals.sum() == pytest.approx(float(total))
    assert uncertainty.variance == pytest.approx(float(v), abs=1e-9 * float(total) ** 2)
    if v > total**2 * Fraction(1, 10**12):
        assert uncertainty.known
        assert uncertainty.degrees_of_freedom == pytest.approx(float(nu), rel=1e-6)


def test_the_variance_is_unbiased_over_all_samples(sample: Make) -> None:
    """Durations that say nothing: the mean of v over all samples is the variance of the estimates."""
    populations = [[3, 5, 11, 12, 20], [100, 90, 70, 75]]
    estimates, variances = [], []
    for first in itertools.combinations(populations[0], 2):
        for second in itertools.combinations(populations[1], 3):
            made = sample((5, 7, [(7, y) for y in first]), (4, 9, [(9, y) for y in second]))
            totals, uncertainty = plain(moments(made, "cycles"))
            estimates.append(totals.sum())
            variances.append(float(uncertainty.variance))
    assert np.mean(estimates) == pytest.approx(sum(map(sum, populations)))
    assert np.mean(variances) == pytest.approx(np.var(estimates))


def test_with_replacement_nothing_is_taken_off_for_what_was_drawn(sample: Make) -> None:
    population, estimates, variances = [3, 5, 11, 12], [], []
    for pair in itertools.product(population, repeat=2):
        made = sample((4, 7, [(7, y) for y in pair]), replace=True)
        totals, uncertainty = plain(moments(made, "cycles"))
        estimates.append(totals.sum())
        variances.append(float(uncertainty.variance))
    assert np.mean(variances) == pytest.approx(np.var(estimates))


@pytest.mark.parametrize("nu", [0.7, 1.0, 3.6, 10.0, 1e5])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_quantiles_are_scipys(nu: float, confidence: float) -> None:
    from scipy.stats import t

    expected = t.ppf(0.5 + confidence / 2, nu)
    assert student_t(confidence, np.array(nu)) == pytest.approx(expected)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert student_t(0.95, np.array(np.inf)) == pytest.approx(1.959964, abs=1e-6)


def test_cycles_proportional_to_durations_have_no_interval(sample: Make) -> None:
    """No spread at all was seen: nothing is known of the launches left out, and +- 0 would be a lie."""
    made = moments(sample((9, 5.5, [(1, 3), (7, 21), (9, 27)])), "cycles")
    totals, uncertainty = plain(made)
    assert totals.sum() == pytest.approx(9 * 5.5 * 3)
    assert not uncertainty.known
    assert math.isnan(uncertainty.half_width(0.95))


def test_a_census_is_exact(sample: Make) -> None:
    totals, uncertainty = plain(moments(sample((2, 4, [(3, 10), (5, 31)]), (1, 8, [(8, 2)])), "cycles"))
    assert totals.sum() == pytest.approx(43)
    assert uncertainty.known
    assert uncertainty.half_width(0.95) == 0
    assert uncertainty.degrees_of_freedom == np.inf


def test_singles_of_a_group_are_paired_by_duration(sample: Make) -> None:
    strata = [(9, mean, [(mean, 1)]) for mean in (40, 10, 30, 20, 50)] + [(9, 7, [(7, 1)])]
    made = moments(sample(*strata, group=[0, 0, 0, 0, 0, 1]), "cycles")
    assert [rows.tolist() for rows in collapsed(made, np.arange(6))] == [[1, 3], [2, 0, 4], [5]]


def test_a_pair_of_singles_is_collapsed(sample: Make) -> None:
    made = moments(sample((10, 4, [(4, 8)]), (20, 6, [(6, 9)]), group=[3, 3]), "cycles")
    totals, uncertainty = plain(made)
    x, y = [Fraction(40), Fraction(120)], [Fraction(80), Fraction(180)]
    v = 2 * sum((y_i - x_i / 160 * 260) ** 2 for x_i, y_i in zip(x, y, strict=True))
    assert totals.tolist() == [80, 180]
    assert uncertainty.variance == pytest.approx(float(v))
    assert uncertainty.degrees_of_freedom == pytest.approx(1)
    assert uncertainty.known


@pytest.mark.parametrize(("others", "known"), [(10, False), (11, True)])
def test_a_lone_single_needs_ten_degrees_of_freedom_elsewhere(others: int, known: bool, sample: Make) -> None:
    rng = np.random.default_rng(4)
    launches = [(5, float(y)) for y in rng.integers(50, 90, others)]
    made = moments(sample((100, 5, launches), (30, 8, [(8, 40)]), group=[0, 1]), "cycles")
    _, uncertainty = plain(made)
    assert uncertainty.known == known
    y = np.array([y for _, y in launches])
    relative = y.var(ddof=1) / y.mean() ** 2
    assert uncertainty.of_stratum[1] == pytest.approx(30**2 * (1 - 1 / 30) * 40**2 * relative)


def test_many_draws_at_once_are_each_estimated_as_one(sample: Make) -> None:
    rng = np.random.default_rng(9)
    draws = [
        moments(
            sample(
                *((50, 10, [(x, y) for x, y in rng.uniform(5, 15, (m, 2))]) for m in sizes),
                group=[0, 0, 1, 1],
            ),
            "cycles",
        )
        for sizes in ([3, 2, 1, 1], [2, 5, 4, 1])
    ]
    columns = ("samples", "x", "y", "xx", "xy", "yy")
    together = replace(
        draws[0], **{name: np.stack([getattr(draw, name) for draw in draws]) for name in columns}
    )
    totals, uncertainty = plain(together)
    for index, draw in enumerate(draws):
        alone, of_one = plain(draw)
        assert totals[index] == pytest.approx(alone)
        assert uncertainty.of_stratum[index] == pytest.approx(of_one.of_stratum)
        assert uncertainty.degrees_of_freedom[index] == pytest.approx(of_one.degrees_of_freedom)
        assert uncertainty.known[index] == of_one.known
