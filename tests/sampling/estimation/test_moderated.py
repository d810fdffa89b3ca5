"""The moderated interval, against its formulas in exact fractions, stratum by stratum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sampling.estimation.moderated import moderated, spreads_of_totals
from sampling.estimation.moments import moments
from sampling.estimation.sample import Sample

Make = Callable[..., Sample]
Stratum = tuple[int, int, list[tuple[int, int]]]

stratum = st.tuples(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 90)), min_size=1, max_size=4),
    st.integers(1, 20),
    st.integers(1, 60),
).map(lambda parts: (len(parts[0]) + parts[1], parts[2], parts[0]))


Source = tuple[list[int], int, Fraction]


def sources_of(strata: Sequence[Stratum], group: Sequence[int]) -> list[Source]:
    """Return what tells of spread: the strata that use it, d and q."""
    ratio = [Fraction(sum(y for _, y in rows), sum(x for x, _ in rows)) for _, _, rows in strata]
    members = defaultdict(list)
    sources: list[Source] = []
    for index, (_, _, rows) in enumerate(strata):
        if len(rows) == 1:
            members[group[index]].append(index)
            continue
        mean = Fraction(sum(y for _, y in rows), len(rows))
        squares = sum((y - ratio[index] * x) ** 2 for x, y in rows)
        sources.append(([index], len(rows) - 1, squares / ((len(rows) - 1) * mean**2)))
    for singles in members.values():
        mean = sum(ratio[index] for index in singles) / len(singles)
        d = len(singles) - 1
        sources.append((singles, d, sum((ratio[index] / mean - 1) ** 2 for index in singles) / max(d, 1)))
    return sources


def of_class(strata: Sequence[Stratum], sources: Sequence[Source]) -> tuple[Fraction, Fraction]:
    """Return v of the strata of one class, and its part of what v^2 is divided by."""
    d_sum = sum(d for _, d, _ in sources)
    q_0 = sum(d * q for _, d, q in sources) / Fraction(d_sum)
    d_0 = min(4, d_sum)
    second = sum((q * q * Fraction(d * d, d + 2) for _, d, q in sources), Fraction(0))
    common = min(Fraction(d_sum), (d_sum * q_0) ** 2 / second) if second else Fraction(d_sum)
    total, below, borrowed = Fraction(0), Fraction(0), Fraction(0)
    for users, d, q in sources:
        p = (d * q + d_0 * q_0) / (d + d_0)
        used = q if q > 2 * p else p
        v = Fraction(0)
        for index in users:
            size, mean_x, rows = strata[index]
            y = size * mean_x * Fraction(sum(y for _, y in rows), sum(x for x, _ in rows))
            v += y**2 * (Fraction(1, len(rows)) - Fraction(1, size)) * used
        total += v
        below += v * v / (d + d_0)
        if used == p and p:
            borrowed += v * d_0 * q_0 / ((d + d_0) * p)
    return total, below + 2 * borrowed**2 / common


def by_the_formula(
    strata: Sequence[Stratum], group: Sequence[int], pooled: Sequence[bool]
) -> tuple[float, float]:
    """Return v and nu as the page of methods has them; every stratum has launches left out."""
    sources = sources_of(strata, group)
    classes = [[each for each in sources if pooled[each[0][0]] == kind] for kind in (False, True)]
    v, below = (
        sum(parts) for parts in zip(*(of_class(strata, each) for each in classes if each), strict=True)
    )
    return float(v), float(v**2 / below) if below else np.inf


@given(strata=st.lists(stratum, min_size=1, max_size=6), data=st.data())
def test_variance_and_degrees_of_freedom_are_the_formulas(
    strata: list[Stratum], data: st.DataObject, sample: Make
) -> None:
    group = [data.draw(st.integers(0, 2)) for _ in strata]
    pooled = [number == 2 for number in group]
    kinds = [
        sum(len(rows) - 1 for (_, _, rows), of in zip(strata, pooled, strict=True) if of == kind)
        for kind in (False, True)
    ]
    assume(all(d > 0 or kind not in pooled for kind, d in zip((False, True), kinds, strict=True)))
    v, nu = by_the_formula(strata, group, pooled)
    totals, uncertainty = moderated(moments(sample(*strata, group=group, pooled=pooled), "cycles"))
    expected = [
        size * mean * sum(y for _, y in rows) / sum(x for x, _ in rows) for size, mean, rows in strata
    ]
    assert totals == pytest.approx(expected)
    assume(v > 1e-9 * sum(expected) ** 2)
    assert uncertainty.known
    assert uncertainty.variance == pytest.approx(v)
    assert uncertainty.degrees_of_freedom == pytest.approx(nu)


def test_one_launch_a_stratum_borrows_the_spread_of_the_others(sample: Make) -> None:
    """Section 9's rule needs ten degrees of freedom for that; here two do, at a low nu."""
    made = moments(sample((50, 10, [(9, 90), (10, 110), (11, 106)]), (40, 7, [(7, 50)])), "cycles")
    _, uncertainty = moderated(made)
    spreads = spreads_of_totals(made)
    assert uncertainty.known
    assert spreads.moderated[1] == pytest.approx(spreads.own[0])
    assert uncertainty.of_stratum[1] == pytest.approx((40 * 50) ** 2 * (1 - 1 / 40) * spreads.own[0])
    assert uncertainty.degrees_of_freedom < 2


def test_pooled_strata_lend_nothing_to_a_kernel_groups_own(sample: Make) -> None:
    noisy = (50, 10, [(9, 30), (10, 150), (11, 95)])
    calm = (40, 7, [(7, 50), (8, 57), (7, 51)])
    apart = moments(sample(noisy, calm, pooled=[True, False]), "cycles")
    alone = moments(sample(calm), "cycles")
    assert spreads_of_totals(apart).moderated[1] == pytest.approx(spreads_of_totals(alone).moderated[0])


def test_a_class_with_nothing_to_compare_has_no_interval(sample: Make) -> None:
    strata = (50, 10, [(9, 90), (10, 110)]), (40, 7, [(7, 50)])
    assert not moderated(moments(sample(*strata, pooled=[False, True]), "cycles"))[1].known
    assert moderated(moments(sample(*strata), "cycles"))[1].known
    assert not moderated(moments(sample(strata[1]), "cycles"))[1].known


def test_a_spread_far_above_the_others_counts_alone(sample: Make) -> None:
    calm = [(50, 10, [(10, 100 + step), (10, 100 - step)]) for step in (1, 2, 3, 1)]
    wild = (50, 10, [(10, 40), (10, 160)])
    spreads = spreads_of_totals(moments(sample(*calm, wild), "cycles"))
    assert spreads.is_own.tolist() == [False, False, False, False, True]
    assert spreads.moderated[4] == pytest.approx(2 * 60**2 / 100**2)


@pytest.mark.parametrize("name", ["own", "freedom", "common", "moderated"])
def test_durations_of_zero_are_strata_like_others(name: str, sample: Make) -> None:
    """Where no duration is known a stratum is expanded, and its spread is that of the metric itself."""
    made = moments(sample((20, 0, [(0, 10), (0, 14)]), (20, 5, [(5, 12), (5, 13)])), "cycles")
    totals, uncertainty = moderated(made)
    assert totals.tolist() == [20 * 12, 20 * 12.5]
    assert uncertainty.known
    assert np.isfinite(getattr(spreads_of_totals(made), name)).all()


def test_a_metric_that_is_zero_everywhere_has_no_interval(sample: Make) -> None:
    totals, uncertainty = moderated(moments(sample((20, 5, [(5, 0), (6, 0)])), "cycles"))
    assert totals.sum() == 0
    assert not uncertainty.known
