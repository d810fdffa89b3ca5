"""The interval, against its formula source by source, and at the ends where other rules are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, t

from sampling.estimation.interval import Interval, Sample, interval, moments, spreads_of_totals

Make = Callable[..., Sample]
Stratum = tuple[int, int, list[tuple[int, int]]]

OWN, POOLED = Fraction(1, 400), Fraction(1, 400) + Fraction(9, 100)

stratum = st.tuples(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 90)), min_size=1, max_size=4),
    st.integers(0, 20),
    st.integers(1, 60),
).map(lambda parts: (len(parts[0]) + parts[1], parts[2], parts[0]))


def found_of(sample: Sample) -> Interval:
    return interval(spreads_of_totals(moments(sample, "cycles")))


def by_sources(
    strata: Sequence[Stratum], group: Sequence[int], of: int | None = None, centre: float = 1.0
) -> tuple[float, float, float]:
    """Return variance, nu and factor: source by source: a stratum, or a group's single ones."""
    ratio = [Fraction(sum(y for _, y in rows), sum(x for x, _ in rows)) for _, _, rows in strata]
    kappa2 = [POOLED if each == 0 else OWN for each in group]
    unit = [
        (ratio[i] * n * mean) ** 2 * (Fraction(1, len(rows)) - Fraction(1, n)) * (of in (None, group[i]))
        for i, (n, mean, rows) in enumerate(strata)
    ]
    singles = defaultdict(list)
    sources: list[tuple[list[int], int, Fraction]] = []
    for i, (n, _, rows) in enumerate(strata):
        if len(rows) == 1 < n:
            singles[group[i]].append(i)
        elif len(rows) > 1:
            mean = Fraction(sum(y for _, y in rows), len(rows))
            d = len(rows) - 1
            sources.append(([i], d, sum((y - ratio[i] * x) ** 2 for x, y in rows) / (d * mean**2)))
    for members in singles.values():
        if (d := len(members) - 1) > 0:
            mean = sum(ratio[i] for i in members) / len(members)
            sources.append((members, d, sum((ratio[i] / mean - 1) ** 2 for i in members) / d))
    declared = sum(u * k for u, k in zip(unit, kappa2, strict=True))
    known = [sum(unit[i] * kappa2[i] for i in users) for users, _, _ in sources]
    doubt = sum(v**2 / d for v, (_, d, _) in zip(known, sources, strict=True))
    if not declared:
        return 0.0, np.inf, 1.0
    d = float(sum(known) ** 2 / doubt) if doubt else 0.0
    seen = sum(unit[i] * q for users, _, q in sources for i in users)
    r = float(seen / sum(known)) if doubt else 1.0
    p = float(sum(known) / declared)
    factor = (4 * centre + p * d * r) / (4 + p * d)
    if d and r * d > chi2.ppf(0.99, d):
        factor = max(factor, p * r + (1 - p) * factor)
    return factor * float(declared), (4 + p * d) / 2, factor


@given(strata=st.lists(st.tuples(stratum, st.integers(0, 3)), min_size=1, max_size=8))
def test_it_is_what_its_sources_make_it(strata: list[tuple[Stratum, int]], sample: Make) -> None:
    made, group = [each for each, _ in strata], [number for _, number in strata]
    of = sample(*made, group=group, declared=[float(POOLED if each == 0 else OWN) for each in group])
    spread = spreads_of_totals(moments(of, "cycles"))
    found = interval(spread)
    variance, nu, factor = by_sources(made, group)
    assert found.of_stratum.sum() == pytest.approx(variance)
    if variance:
        assert found.degrees_of_freedom == pytest.approx(nu)
        assert found.half_width(0.9) == pytest.approx(t.ppf(0.95, nu) * np.sqrt(variance))
        assert found.factor == pytest.approx(factor)
    for code, number in enumerate(sorted(set(group))):
        alone = interval(spread.of_group(code), found.factor)
        variance, nu, _ = by_sources(made, group, number, float(found.factor))
        assert alone.of_stratum.sum() == pytest.approx(variance)
        assert variance == 0 or alone.degrees_of_freedom == pytest.approx(nu)


def test_nothing_seen_is_what_was_declared(sample: Make) -> None:
    found = found_of(sample((100, 10, [(10, 50)]), (1, 30, [(30, 70)])))
    assert found.half_width(0.95) == pytest.approx(t.ppf(0.975, 2) * 0.05 * 5000 * np.sqrt(1 - 1 / 100))
    assert (found.share_seen, found.seen_freedom, found.factor, found.exceeds) == (0, 0, 1, False)


def test_all_seen_often_is_the_variance_of_the_strata(sample: Make) -> None:
    rng = np.random.default_rng(4)
    strata = [(10**6, 1.0, [(1.0, y) for y in rng.lognormal(0, 0.05, 4000)]) for _ in range(3)]
    found = found_of(sample(*strata))
    plain = sum(np.var([y for _, y in rows], ddof=1) * n**2 * (1 / 4000 - 1 / n) for n, _, rows in strata)
    assert found.of_stratum.sum() == pytest.approx(plain, rel=0.003)
    assert found.seen_freedom == pytest.approx(3 * 3999, rel=0.001)
    assert found.share_seen == 1


def test_many_cheap_strata_do_not_vouch_for_a_dear_one(sample: Make) -> None:
    """What is seen of a thousandth of the variance hardly moves what is declared of the rest."""
    calm = [(1000, 1.0, [(1.0, 1.0)] * 9)] * 40
    found = found_of(sample((1000, 1000.0, [(1000.0, 1000.0)]), *calm))
    assert found.factor > 0.99
    assert found.degrees_of_freedom < 2.1


def test_more_than_was_declared_is_taken_as_seen(sample: Make) -> None:
    rows = [(1.0, 1 + 0.5 * sign) for sign in (-1, 1)] * 10
    found = found_of(sample((1000, 1.0, rows)))
    assert found.exceeds
    assert found.factor == pytest.approx(found.variance_ratio)
    assert found.variance_ratio == pytest.approx(0.25 * 20 / 19 / 0.05**2)


def test_a_census_is_exact_and_a_total_of_0_has_no_interval(sample: Make) -> None:
    census = found_of(sample((2, 10, [(9, 90), (11, 120)])))
    assert (census.half_width(0.95), census.degrees_of_freedom) == (0, np.inf)
    assert np.isnan(found_of(sample((9, 10, [(9, 0), (11, 0)]))).half_width(0.95))
    # A stratum that lasts no time on the GPU and some in the simulator counts by its mean.
    assert found_of(sample((9, 0, [(0, 3)]))).half_width(0.95) > 0


@given(seed=st.integers(0, 50))
def test_many_draws_at_once_are_those_one_by_one(seed: int, sample: Make) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 5)
    draws = [
        moments(
            sample(
                *(
                    (30, 10.0, [(x, 3 * x * rng.lognormal(0, 0.1)) for x in rng.uniform(9, 11, m)])
                    for m in sizes
                ),
                group=[0, 0, 1, 1, 2],
            ),
            "cycles",
        )
        for _ in range(3)
    ]
    columns = ("samples", "x", "y", "xx", "xy", "yy")
    together = replace(
        draws[0], **{name: np.stack([getattr(each, name) for each in draws]) for name in columns}
    )
    found = interval(spreads_of_totals(together))
    each = [interval(spreads_of_totals(one)) for one in draws]
    assert found.half_width(0.95) == pytest.approx([float(one.half_width(0.95)) for one in each])
