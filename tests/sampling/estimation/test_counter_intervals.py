"""The interval of a counter: its formula, what does not change it, how often it holds, when there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from sampling.estimation.interval import COSTS, Sample, estimate, estimate_groups, interval, moments
from sampling.estimation.ratio import ratio_of_totals
from sampling.estimation.sizes import next_sizes

Make = Callable[..., Sample]
Stratum = tuple[int, list[int]]

# Launches of one duration, so that it makes no difference whether the counter follows that.
stratum = st.tuples(st.lists(st.integers(0, 60), min_size=1, max_size=4), st.integers(0, 30)).map(
    lambda parts: (len(parts[0]) + parts[1], parts[0])
)


# Strata of one launch of one kernel group, none so small beside another that it tells nothing.
single = st.tuples(st.integers(10, 30), st.integers(20, 60)).map(lambda parts: (parts[0], [parts[1]]))


def counter_of(
    make: Make, strata: Sequence[Stratum], metric: str = "misses", scale: float = 1.0, singles: int = 0
) -> Sample:
    """Each stratum is a kernel group of its own, but the last ``singles``, which are one."""
    group = [min(number, len(strata) - singles) for number in range(len(strata))]
    rows = ((size, 1.0, [(1.0, scale * y) for y in values]) for size, values in strata)
    return replace(make(*rows, group=group), metrics=(metric,))


def total_and_half_width(
    strata: Sequence[Stratum], singles: int, kappa2: float
) -> tuple[float, float | None]:
    """The formula, stratum by stratum, groups as in `counter_of`; None where there is no interval."""
    launches, mean = sum(size for size, _ in strata), [sum(ys) / len(ys) for _, ys in strata]
    totals = [size * y for (size, _), y in zip(strata, mean, strict=True)]
    total, rate = sum(totals), sum(totals) / launches
    d = [len(ys) - 1 for _, ys in strata]
    q = [
        sum((y - m) ** 2 for y in ys) / (n * m**2) if n and m else 0.0
        for (_, ys), n, m in zip(strata, d, mean, strict=True)
    ]
    d_of_spread, q_of_spread = [*d], [*q]
    if singles:
        # What they share counts once.
        of_group = mean[-singles:]
        shared_d, middle = singles - 1, sum(of_group) / singles
        shared_q = sum((y / middle - 1) ** 2 for y in of_group) / shared_d
        d_of_spread.append(shared_d)
        q_of_spread.append(shared_q)
        d[-singles:], q[-singles:] = [shared_d] * singles, [shared_q] * singles
    spread = sum(n * v for n, v in zip(d_of_spread, q_of_spread, strict=True))
    s2 = (4 * 0.3**2 + spread) / (4 + sum(d_of_spread))
    is_open = [size > len(ys) for size, ys in strata]
    if not any(is_open):
        return total, 0.0
    uneven = sum(y for y, v, left in zip(totals, q, is_open, strict=True) if left and v > 1)
    left_out = [(size, y) for y, (size, _), left in zip(totals, strata, is_open, strict=True) if left]
    without = sum(size for size, y in left_out if not y)
    if uneven > 0.1 * total or without > 0.5 * sum(size for size, _ in left_out):
        return total, None
    sizes = [y or size * rate for y, (size, _) in zip(totals, strata, strict=True)]
    scale = [a**2 * (1 / len(ys) - 1 / size) for a, (size, ys) in zip(sizes, strata, strict=True)]
    declared = [a * (kappa2 + s2) for a in scale]
    seen = [i for i in range(len(strata)) if d[i] and mean[i]]
    of_seen, of_singles = sum(declared[i] for i in seen), sum(declared[len(strata) - singles :])
    is_single = [i >= len(strata) - singles for i in range(len(strata))]
    doubt = sum(declared[i] * (of_singles if is_single[i] else declared[i]) / d[i] for i in seen)
    df = of_seen**2 / doubt if doubt else 0.0
    nu = (4 + df * of_seen / sum(declared)) / 2
    posterior = [
        (4 * (kappa2 + s2) + n * v) / (4 + n) if m else kappa2 + s2
        for n, v, m in zip(d, q, mean, strict=True)
    ]
    variance = sum(a * v for a, v in zip(scale, posterior, strict=True))
    return total, float(t.ppf(0.975, nu)) * math.sqrt(variance)


@given(
    strata=st.lists(stratum, min_size=1, max_size=8),
    singles=st.just([]) | st.lists(single, min_size=2, max_size=3),
)
def test_it_is_the_formula(strata: list[Stratum], singles: list[Stratum], sample: Make) -> None:
    rows = [*strata, *singles]
    found = estimate(counter_of(sample, rows, singles=len(singles)), "misses")
    total, half_width = total_and_half_width(rows, len(singles), 0.05**2)
    assert found.total == pytest.approx(total)
    if half_width is None:
        assert (found.low, found.high, found.degrees_of_freedom) == (None, None, None)
        assert found.notes == (f"no interval: {found.refusal}",)
    else:
        assert found.half_width == pytest.approx(half_width)
        assert found.low == pytest.approx(max(0.0, total - half_width))
        assert (found.notes, found.refusal) == ((), None)


@given(strata=st.lists(stratum, min_size=1, max_size=6), scale=st.floats(1e-6, 1e9))
def test_its_unit_makes_no_difference(strata: list[Stratum], scale: float, sample: Make) -> None:
    one, other = (estimate(counter_of(sample, strata, scale=by), "misses") for by in (1.0, scale))
    assert other.total == pytest.approx(scale * one.total)
    assert (other.notes, other.low is None) == (one.notes, one.low is None)
    if one.high is not None:
        assert (other.low, other.high) == pytest.approx((scale * (one.low or 0), scale * one.high))


@pytest.mark.parametrize("metric", COSTS)
def test_cycles_and_time_have_the_interval_that_was_declared(metric: str, sample: Make) -> None:
    """That of `interval` alone, also where one launch of a stratum has all of it."""
    made = counter_of(sample, [(40, [0, 9]), (30, [5, 5]), (20, [7])], metric)
    alone = interval(moments(made, made.y[:, 0]))
    assert estimate(made, metric).half_width == pytest.approx(float(alone.half_width(0.95)), rel=1e-12)
    whole = replace(made, metrics=("misses",))
    assert estimate(whole, "misses").low is None


@pytest.fixture(scope="module")
def population() -> dict[str, list[np.ndarray]]:
    """Ten kernels of 30 launches of one duration, what they count, launch by launch.

    Loads are of two kinds in one kernel. Half of the misses are in four launches of 300.
    """
    rng = np.random.default_rng(3)
    loads = [rng.choice([10.0, 30.0], 30) if kernel < 1 else np.full(30, 20.0) for kernel in range(10)]
    stores = [np.full(30, 4.0 + kernel) for kernel in range(10)]
    misses = [np.where(rng.random(30) < 0.2, 1.0, 0.0) for _ in range(10)]
    for kernel in range(4):
        misses[kernel][kernel] = 15.0
    return {"loads": loads, "stores": stores, "misses": misses}


def shares(values: list[np.ndarray], make: Make, metric: str) -> tuple[float, float]:
    """How many of 300 draws of two launches a kernel have an interval, and how many a wrong one."""
    rng, truth, wide, wrong = np.random.default_rng(5), float(np.sum(values)), 0, 0
    for _ in range(300):
        drawn = [(30, rng.choice(of_kernel, 2, replace=False).tolist()) for of_kernel in values]
        found = estimate(counter_of(make, drawn, metric), metric)
        wide += found.low is not None
        wrong += found.low is not None and not found.low <= truth <= (found.high or 0)
    return wide / 300, wrong / 300


@pytest.mark.parametrize("metric", ["loads", "stores", "misses"])
def test_it_holds_or_there_is_none(
    metric: str, population: dict[str, list[np.ndarray]], sample: Make
) -> None:
    have, wrong = shares(population[metric], sample, metric)
    assert wrong <= 0.05
    # By what is declared of cycles alone many do not hold, so that the draws are a test.
    assert metric == "stores" or shares(population[metric], sample, "cycles")[1] > 0.1
    assert have == 1 if metric != "misses" else have < 0.1


def test_none_is_said_with_how_few_launches_carry_it(sample: Make) -> None:
    found = estimate(counter_of(sample, [(10, [0, 7]), (20, [1, 1]), (3, [1, 1, 1])]), "misses")
    assert found.notes == ("no interval: 1 of 7 drawn launches carries 60 % of it",)
    # What was left out may have some too, where strata of most of the time show none.
    whole = counter_of(sample, [(1, [9]), (2, [3, 3]), (20, [0, 0])])
    assert estimate(whole, "misses").notes == ("no interval: 1 of 5 drawn launches carries 60 % of it",)
    groups = estimate_groups(whole, "misses")
    assert (groups[0].half_width, groups[1].half_width, groups[2].low) == (0, 0, None)
    assert groups[2].notes == ("no interval: a total of 0 says nothing of the launches that were left out",)
    # A tenth that is uneven does no harm.
    assert estimate(counter_of(sample, [(10, [0, 7]), (100, [7, 7])]), "misses").low is not None


def test_a_ratio_of_what_has_no_interval_has_none(sample: Make) -> None:
    rare = counter_of(sample, [(10, [0, 7]), (20, [1, 1])])
    both = replace(rare, y=np.column_stack([rare.y[:, 0], [8, 9, 4, 4]]), metrics=("misses", "accesses"))
    for pair in (("misses", "accesses"), ("accesses", "misses")):
        found = ratio_of_totals(both, "r", *pair, 0.95)
        assert (found.low, found.high) == (None, None)
        assert found.reason == "no interval: 1 of 4 drawn launches carries 64 % of it"
    assert found.ratio == pytest.approx((10 * 8.5 + 20 * 4) / (10 * 3.5 + 20))
    # Of the other stratum alone both are alike, and vary as both strata say.
    other = ratio_of_totals(both, "r", "misses", "accesses", 0.95, np.array([False, True]))
    alone = ratio_of_totals(both.part(np.array([False, True])), "r", "misses", "accesses", 0.95)
    assert other.ratio == alone.ratio == 0.25
    assert other.high is not None
    assert alone.high is not None
    assert other.high > alone.high


counts = st.lists(st.integers(1, 60), min_size=2, max_size=4)
launches = st.lists(st.tuples(st.integers(1, 50), counts), min_size=1, max_size=4)


@given(groups=st.lists(launches, min_size=1, max_size=3), follows=st.tuples(st.booleans(), st.booleans()))
def test_a_ratio_of_a_group_is_the_quotient_of_its_totals(
    groups: list[list[tuple[int, list[int]]]], follows: tuple[bool, bool], sample: Make
) -> None:
    """Whichever follows durations in most of the strata, and so is taken to in all of them."""
    rows = [(group, *of_stratum) for group, strata in enumerate(groups) for of_stratum in strata]
    made = sample(
        *((len(times) + left, 30.0, [(x, 1.0) for x in times]) for _, left, times in rows),
        group=[group for group, *_ in rows],
    )
    alike = np.ones(len(made.x))
    columns = [made.x * 3 if does else 7 * alike for does in follows]
    # The first group may differ from the others.
    columns[0] = np.where(made.group[made.stratum] == 0, made.x * 3, columns[0])
    both = replace(made, y=np.column_stack(columns), metrics=("loads", "stores"))
    loads, stores = (estimate_groups(both, metric) for metric in both.metrics)
    for group in loads:
        found = ratio_of_totals(both, "r", *both.metrics, 0.95, both.group == group)
        assert found.ratio == pytest.approx(loads[group].total / stores[group].total, rel=1e-12)


def test_of_a_total_below_0_no_launch_carries_a_share(sample: Make) -> None:
    """Warnings are errors here."""
    below = estimate(counter_of(sample, [(10, [-3, -4]), (20, [-1, -1])]), "misses")
    assert (below.low, below.high, below.refusal) == (None, None, "a total below 0 has none")
    assert below.notes == ("no interval: a total below 0 has none",)
    census = estimate(counter_of(sample, [(2, [-3, -4])]), "misses")
    assert (census.low, census.total, census.high, census.refusal) == (-7, -7, -7, None)


def test_what_is_incomplete_is_not_refused(sample: Make) -> None:
    rare = counter_of(sample, [(10, [0, 7]), (20, [1, 1]), (30, [1, 1])])
    assert estimate(rare, "misses").refusal == "2 of 6 drawn launches carry 59 % of it"
    lost = estimate(replace(rare, y=np.where(rare.stratum == 2, np.nan, rare.y[:, 0])[:, None]), "misses")
    assert (lost.is_incomplete, lost.low, lost.refusal) == (True, None, None)


def test_more_launches_are_asked_for_by_its_own_spread(sample: Make) -> None:
    strata = [(400, [20] * 20), (300, [15] * 20)]
    sizes = {
        metric: next_sizes(counter_of(sample, strata, metric), metric, 0.005)
        for metric in ("cycles", "loads")
    }
    assert sizes["loads"].sum() > sizes["cycles"].sum()
