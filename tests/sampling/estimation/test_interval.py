"""The interval, against its formula source by source, and at the ends where other rules are known."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import chi2, t

from sampling.errors import AnalysisError, OptionError
from sampling.estimation.interval import (
    Estimate,
    Interval,
    Moments,
    Sample,
    estimate,
    estimate_groups,
    interval,
    moments,
    residuals,
)
from sampling.estimation.ratio import Ratio, ratio_of_totals
from sampling.estimation.sizes import next_sizes

Make = Callable[..., Sample]
Stratum = tuple[int, int, list[tuple[int, int]]]

TIME = "gpu__time_duration.sum"
OWN, POOLED = Fraction(1, 400), Fraction(1, 400) + Fraction(9, 100)

stratum = st.tuples(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 90)), min_size=1, max_size=4),
    st.integers(0, 20),
    st.integers(1, 60),
).map(lambda parts: (len(parts[0]) + parts[1], parts[2], parts[0]))


def moments_of(sample: Sample) -> Moments:
    return moments(sample, sample.values("cycles"))


def found_of(sample: Sample) -> Interval:
    return interval(moments_of(sample))


def by_sources(
    strata: Sequence[Stratum], group: Sequence[int], of: int | None = None, centre: float = 1.0
) -> tuple[float, float, float]:
    """Return variance, nu and factor: source by source: a stratum, or a group's single ones."""
    ratio = [Fraction(sum(y for _, y in rows), sum(x for x, _ in rows)) for _, _, rows in strata]
    kappa2 = [POOLED if each == 0 else OWN for each in group]
    # Before a group is picked out: those with less than a hundredth of their group's largest tell nothing.
    whole = [
        (ratio[i] * n * mean) ** 2 * (Fraction(1, len(rows)) - Fraction(1, n))
        for i, (n, mean, rows) in enumerate(strata)
    ]
    unit = [v * (of in (None, of_group)) for v, of_group in zip(whole, group, strict=True)]
    largest = [max(v for v, of_other in zip(whole, group, strict=True) if of_other == each) for each in group]
    assume(all(v == 0 or 100 * v != most for v, most in zip(whole, largest, strict=True)))
    singles = defaultdict(list)
    sources: list[tuple[list[int], int, Fraction]] = []
    for i, (n, _, rows) in enumerate(strata):
        if whole[i] < largest[i] / 100:
            continue
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
    moments_ = moments_of(of)
    found = interval(moments_)
    variance, nu, factor = by_sources(made, group)
    assert found.stratum_var.sum() == pytest.approx(variance)
    if variance:
        assert found.effective_df == pytest.approx(nu)
        assert found.half_width(0.9) == pytest.approx(t.ppf(0.95, nu) * np.sqrt(variance))
        assert found.factor == pytest.approx(factor)
    for number in sorted(set(group)):
        alone = interval(moments_, prior_factor=found.factor, rows=moments_.group == number)
        variance, nu, _ = by_sources(made, group, number, float(found.factor))
        assert alone.stratum_var.sum() == pytest.approx(variance)
        assert variance == 0 or alone.effective_df == pytest.approx(nu)


def test_nothing_seen_is_what_was_declared(sample: Make) -> None:
    found = found_of(sample((100, 10, [(10, 50)]), (1, 30, [(30, 70)])))
    assert found.half_width(0.95) == pytest.approx(t.ppf(0.975, 2) * 0.05 * 5000 * np.sqrt(1 - 1 / 100))
    assert (found.observed_share, found.observed_df, found.factor, found.exceeds) == (0, 0, 1, False)


def test_a_census_is_exact_and_a_total_of_0_has_no_interval(sample: Make) -> None:
    census = found_of(sample((2, 10, [(9, 90), (11, 120)])))
    assert (census.half_width(0.95), census.effective_df) == (0, np.inf)
    assert np.isnan(found_of(sample((9, 10, [(9, 0), (11, 0)]))).half_width(0.95))
    # A stratum that lasts no time on the GPU and some in the simulator counts by its mean.
    assert found_of(sample((9, 0, [(0, 3)]))).half_width(0.95) > 0


@given(seed=st.integers(0, 50))
def test_many_draws_at_once_are_those_one_by_one(seed: int, sample: Make) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 5)
    draws = [
        moments_of(
            sample(
                *(
                    (30, 10.0, [(x, 3 * x * rng.lognormal(0, 0.1)) for x in rng.uniform(9, 11, m)])
                    for m in sizes
                ),
                group=[0, 0, 1, 1, 2],
            )
        )
        for _ in range(3)
    ]
    columns = ("samples", "x", "y", "xx", "xy", "yy")
    together = replace(
        draws[0], **{name: np.stack([getattr(each, name) for each in draws]) for name in columns}
    )
    found = interval(together)
    each = [interval(one) for one in draws]
    assert found.half_width(0.95) == pytest.approx([float(one.half_width(0.95)) for one in each])


@pytest.fixture
def three(sample: Make) -> Sample:
    return sample(
        (100, 10, [(9, 95), (10, 100), (11, 106)]),
        (50, 20, [(20, 230), (21, 220)]),
        (30, 5, [(5, 60), (5, 56)]),
        group=[0, 0, 1],
    )


def test_a_total_and_what_a_lost_launch_leaves(three: Sample, sample: Make) -> None:
    found = estimate(three, "cycles")
    assert found.total == pytest.approx(1000 * 301 / 30 + 1000 * 450 / 41 + 150 * 11.6)
    assert found.stratum_total.sum() == pytest.approx(found.total)
    assert (found.notes, found.is_incomplete) == ((), False)
    assert found.total - found.low == pytest.approx(found.half_width)  # type: ignore[operator]
    lost = replace(three, y=np.where(np.arange(7) == 1, np.nan, three.y[:, 0])[:, np.newaxis])
    others = (50, 20, [(20, 230), (21, 220)]), (30, 5, [(5, 60), (5, 56)])
    kept = sample((100, 10, [(9, 95), (11, 106)]), *others, group=[0, 0, 1])
    found, expected = (estimate(each, "cycles") for each in (lost, kept))
    assert (found.total, found.low, found.high) == (expected.total, expected.low, expected.high)
    assert found.launches_missing == 1
    assert found.notes == ("1 launch of the plan without a result; the others of their strata weigh more",)


def test_an_emptied_stratum_makes_the_total_incomplete(three: Sample) -> None:
    lost = replace(three, y=np.where(three.stratum == 2, np.nan, three.y[:, 0])[:, np.newaxis])
    found = estimate(lost, "cycles")
    assert found.is_incomplete
    assert found.share_missing == pytest.approx(150 / 2150)
    assert np.isnan(found.stratum_total).tolist() == [False, False, True]
    assert found.notes[-1] == "incomplete: 1 stratum without any result, 6.98 % of the profile's time"
    assert np.isnan(found.total)
    assert not found.is_within(0.99)
    assert next_sizes(lost, "cycles", 0.001)[2] == 2
    assert ratio_of_totals(lost, "r", "cycles", "cycles", 0.95).is_incomplete


def test_no_interval_is_said(sample: Make) -> None:
    found = estimate(sample((100, 10, [(9, 0)])), "cycles")
    assert (found.low, found.high, found.half_width, found.degrees_of_freedom) == (None, None, None, None)
    assert found.seen is None
    assert found.notes[0].startswith("no interval")
    assert not found.is_within(0.99)


def test_a_topped_up_interval_is_not_narrower_than_asked_for(three: Sample) -> None:
    found = estimate(three, "cycles", topped_up_to=0.5)
    assert found.half_width == pytest.approx(0.5 * found.total)
    assert found.is_within(0.5)
    census = replace(three, launches=three.samples)
    assert estimate(census, "cycles", topped_up_to=0.5).half_width == 0


def test_groups_add_up_and_lean_on_the_whole(three: Sample, sample: Make) -> None:
    whole, groups = estimate(three, "cycles"), estimate_groups(three, "cycles")
    assert list(groups) == [0, 1]
    assert sum(group.total for group in groups.values()) == pytest.approx(whole.total)
    assert groups[1].degrees_of_freedom == 2.5
    one = sample((100, 10, [(9, 95), (10, 100), (11, 106)]), (30, 5, [(5, 60)]))
    alone = estimate_groups(one, "cycles")[1]
    factor = float(found_of(one).factor)
    deviation = factor**0.5 * 1800 * (1 - 1 / 30) ** 0.5 * 0.05
    assert alone.half_width == pytest.approx(t.ppf(0.975, 2) * deviation)


def test_unknown_metrics_are_refused(three: Sample) -> None:
    with pytest.raises(OptionError, match="no metric 'stalls'; there are cycles"):
        estimate(three, "stalls")
    nothing = replace(three, y=np.full((7, 1), np.nan))
    with pytest.raises(AnalysisError, match="no simulated launch of the plan has the metric cycles"):
        estimate(nothing, "cycles")


def with_two(base: Sample, other: list[float], name: str = "other") -> Sample:
    """Return a sample with a second metric, a counter if the name is not that of a time."""
    return replace(base, y=np.column_stack([base.y, other]), metrics=("cycles", name))


def test_most_intervals_over_all_samples_hold_the_ratio(sample: Make) -> None:
    rng = np.random.default_rng(2)
    cycles = rng.uniform(50, 150, 12)
    faster = cycles / 1.5 * rng.lognormal(0, 0.05, 12)
    truth, held, samples = cycles.sum() / faster.sum(), 0, list(itertools.combinations(range(12), 6))
    for rows in samples:
        made = with_two(sample((12, 1, [(1, cycles[row]) for row in rows])), faster[list(rows)].tolist())
        found = ratio_of_totals(made, "r", "cycles", "other", 0.95)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held / len(samples) > 0.93


def half_width(found: Ratio) -> float:
    assert found.ratio is not None
    assert found.high is not None
    return found.high - found.ratio


def test_a_ratio_with_its_variance(sample: Make) -> None:
    """Residuals a - R b about their stratum's mean, relative to R b, move the factor on what is declared."""
    base = sample((1000, 1, [(1, 30), (1, 50), (1, 44)] * 100), (600, 1, [(1, 20), (1, 26)] * 100))
    made = with_two(base, [3, 4, 6] * 100 + [1, 2] * 100)
    a_total, b_total = 1000 * 13 / 3 + 600 * 1.5, 1000 * 124 / 3 + 600 * 23
    found = ratio_of_totals(made, "r", "other", "cycles", 0.95)
    ratio = a_total / b_total
    assert found.ratio == pytest.approx(ratio)
    u = [made.y[rows, 1] - ratio * made.y[rows, 0] for rows in (slice(300), slice(300, None))]
    parts = [1000**2 * 0.7 / 300 * u[0].var(ddof=1), 600**2 * (2 / 3) / 200 * u[1].var(ddof=1)]
    # Seen five hundred times, the spread is the strata's own, and Student's t is normal.
    assert half_width(found) == pytest.approx(1.96 * np.sqrt(sum(parts)) / b_total, rel=0.02)


def test_what_two_configurations_share_cancels(sample: Make) -> None:
    """Cycles that vary a hundredfold, and a speedup that hardly does: what is left is what was declared."""
    made = sample((100, 1, [(1, 10), (1, 1000), (1, 300), (1, 90)]))
    found = ratio_of_totals(with_two(made, [5.01, 500, 150, 45], TIME), "r", "cycles", TIME, 0.95)
    assert half_width(found) < 0.06 * (found.ratio or 0)
    # One degree of freedom that saw nothing, beside four of 5 %.
    two = with_two(sample((100, 1, [(1, 10), (1, 1000)])), [5, 500], TIME)
    found = ratio_of_totals(two, "r", "cycles", TIME, 0.95)
    assert found.ratio == 2
    h = stdtrit(2.5, 0.975) * np.sqrt(0.8 * 0.05**2 * 0.98 / 2)
    assert half_width(found) == pytest.approx(2 * np.expm1(h))
    inverse = ratio_of_totals(two, "r", TIME, "cycles", 0.95)
    assert (found.low, found.high) == pytest.approx((1 / (inverse.high or 0), 1 / (inverse.low or 0)))


def test_residuals_are_about_the_factor_that_a_stratum_has_or_shares(sample: Make) -> None:
    """Strata of one launch share their kernel group's: 2, 3 and 4 metric a ns have a mean of 3."""
    made = sample((50, 10, [(8, 81), (9, 89), (12, 121)]))
    about_ratio = np.array([81, 89, 121]) - 291 / 29 * np.array([8, 9, 12])
    assert residuals(made) == pytest.approx(about_ratio)
    singles = sample(*((20, x, [(x, factor * x)]) for x, factor in ((10, 2), (20, 3), (30, 4))))
    singles = replace(singles, group=np.zeros(3, dtype=np.int64))
    assert residuals(singles) == pytest.approx([-10, 0, 30])


def test_what_is_the_same_in_every_launch_has_its_total_by_expansion(sample: Make) -> None:
    """Also in its kernel groups; cycles are what durations stand for, however few launches say otherwise."""
    made = sample((50, 10, [(8, 7), (9, 7), (13, 7)]), (40, 5, [(4, 9), (7, 9)]))
    made = replace(made, metrics=("instructions",))
    assert estimate(made, "instructions").total == 50 * 7 + 40 * 9
    groups = estimate_groups(made, "instructions")
    assert [groups[0].total, groups[1].total] == [50 * 7, 40 * 9]
    cycles = estimate(replace(made, metrics=("cycles",)), "cycles").total
    assert cycles == pytest.approx(50 * 10 * 21 / 30 + 40 * 5 * 18 / 11)


@pytest.mark.parametrize("follows", [True, False])
def test_strata_of_one_launch_show_together_whether_a_metric_follows_durations(
    sample: Make, *, follows: bool
) -> None:
    """One launch of each of three strata of four: alike in all draws; intervals hold, also over cycles."""
    rng, means = np.random.default_rng(6), np.array([10.0, 20.0, 40.0])
    x = np.outer(means, [0.98, 0.99, 1.01, 1.02])
    cycles, instructions = 3 * x * rng.lognormal(0, 0.05, x.shape), 500 * rng.lognormal(0, 0.05, x.shape)
    instructions *= x if follows else 1
    held, inside = [], []
    for rows in itertools.product(range(4), repeat=3):
        drawn = np.arange(3), np.array(rows)
        made = sample(*((4, mean, [(one, 0)]) for mean, one in zip(means, x[drawn], strict=True)))
        made = with_two(replace(made, y=cycles[drawn][:, np.newaxis]), instructions[drawn].tolist())
        made = replace(made, group=np.zeros(3, dtype=np.int64))
        found = estimate(made, "other")
        factor = means / x[drawn] if follows else 1.0
        assert found.total == pytest.approx(4 * (instructions[drawn] * factor).sum(), rel=1e-12)
        assert half_width_of(found) < 0.4 * found.total
        (group,) = estimate_groups(made, "other").values()
        assert group.total == found.total
        ipc = ratio_of_totals(made, "ipc", "other", "cycles", 0.95)
        assert ipc.ratio is not None
        assert half_width(ipc) < 0.5 * ipc.ratio
        held.append(abs(found.total - instructions.sum()) <= half_width_of(found))
        inside.append(abs(ipc.ratio - instructions.sum() / cycles.sum()) <= half_width(ipc))
    assert min(np.mean(held), np.mean(inside)) > 0.93


def test_kernels_that_differ_in_a_pool_hide_no_metric_that_is_the_same_in_every_launch(sample: Make) -> None:
    base = sample((50, 10, [(8, 7)]), (40, 30, [(31, 7)]), (30, 1, [(1, 3)]), (30, 2, [(2, 12)]))
    wide = np.where([False, False, True, True], 0.05**2 + 0.3**2, 0.05**2)
    made = replace(base, group=np.array([0, 0, 1, 1]), declared=wide, metrics=("instructions",))
    assert estimate(made, "instructions").total == 50 * 7 + 40 * 7 + 30 * 3 + 30 * 12


@pytest.mark.parametrize("follows", [(True, True), (True, False), (False, True), (False, False)])
def test_a_ratio_is_the_quotient_of_the_totals(sample: Make, follows: tuple[bool, bool]) -> None:
    """Whichever of the two follows durations; and where a launch has only one of them."""
    rng = np.random.default_rng(4)
    strata = [(90, 20.0, [(x, x * rng.uniform(0.99, 1.01)) for x in rng.uniform(5, 50, 6)]) for _ in range(3)]
    base = sample(*strata)
    alike = 30 * rng.uniform(0.99, 1.01, 18)
    y = np.column_stack([base.y[:, 0] if each else alike for each in follows])
    made = replace(base, y=y, metrics=("one", "other"))
    for is_gone in (False, True):
        y[3, 0] = np.nan if is_gone else y[3, 0]
        found = ratio_of_totals(made, "r", "one", "other", 0.95)
        one, other = (estimate(made, metric) for metric in made.metrics)
        assert found.ratio == pytest.approx(one.total / other.total, rel=1e-12)
        assert half_width(found) > 0
    # Without the same launches of both, nothing cancels.
    reach = np.hypot(half_width_of(one) / one.total, half_width_of(other) / other.total)
    assert half_width(found) == pytest.approx(found.ratio * np.expm1(reach))
    assert found.reason == "only 17 launches have both, so its interval is that of two samples"


def half_width_of(found: Estimate) -> float:
    assert found.half_width is not None
    return found.half_width


def test_nothing_below_a_ratio_is_said(sample: Make) -> None:
    two = with_two(sample((9, 1, [(1, 10), (1, 12)])), [0, 0])
    found = ratio_of_totals(two, "r", "cycles", "other", 0.95)
    assert (found.ratio, found.low) == (None, None)
    assert "total is 0" in str(found.reason)


@pytest.mark.parametrize("x", [0, 10])
def test_a_launch_of_next_to_no_time_tells_nothing_of_the_spread(x: int, sample: Make) -> None:
    """Whatever factor its cycles depart by, in an interval and in the others of its group."""
    strata = [(100, 1000, [(1000, 1000)]), (90, 1100, [(1100, 1140)]), (80, 900, [(900, 880)])]
    alone = found_of(sample(*strata, group=[0, 0, 0]))
    beside = found_of(sample(*strata, (3, x, [(x, 70)]), group=[0, 0, 0, 0]))
    assert beside.variance_ratio == pytest.approx(alone.variance_ratio)
    assert beside.half_width(0.95) == pytest.approx(alone.half_width(0.95), rel=0.02)
    twice = found_of(sample(*strata, (30, x, [(x, 7), (x, 70)]), group=[0, 0, 0, 0]))
    assert twice.observed_df == pytest.approx(alone.observed_df, rel=0.02)
    assert not twice.exceeds
