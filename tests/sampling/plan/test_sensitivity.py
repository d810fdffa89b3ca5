"""How a plan depends on its options: each is the plan made anew; budgets by hand, against all epsilons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy.stats import t

from sampling.errors import BudgetError, OptionError
from sampling.methods.registry import method_names
from sampling.methods.root import RootRule
from sampling.plan.design import make_design
from sampling.plan.draft import Draft, draft_plan, redraft
from sampling.plan.plan import drawn_plan
from sampling.plan.sensitivity import (
    Budget,
    NoPoint,
    Relaxation,
    TradeOffPoint,
    default_epsilons,
    draft_within,
    find_limit,
    machine_hours,
    measure_sensitivity,
    nth_epsilon,
    parse_budget,
    simulation_hours,
    trade_off,
)
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import Grouping
from sampling.splitting.tree import TreeGrower, Verdict
from sampling.strata.target import LEAST_EPSILON, Target
from tests.sampling.conftest import profile_of_groups
from tests.small_plans import LIKE_ROOT, UNPOOLED, request_of

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]
EPSILONS = (0.05, 0.01, 0.2)


@pytest.fixture
def counts(counts_of: CountsOf, mixture: Mixture) -> DurationCounts:
    """Six kernel groups of several modes."""
    return counts_of(mixture(3))


def points_of(counts: DurationCounts, method: str = "joint", **options: object) -> list[TradeOffPoint]:
    return list(trade_off(counts, method, Target(), 0, EPSILONS, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", method_names(random=True))
def test_a_point_is_the_design_at_its_epsilon(counts: DurationCounts, method: str) -> None:
    points = points_of(counts, method)
    assert [point.epsilon for point in points] == list(EPSILONS), "in the order asked"
    for point in points:
        # On a reduction of its own: what other points have split must not show.
        design = make_design(replace(counts), method, Target(epsilon=point.epsilon), 0)
        assert design.promise is not None
        assert point == TradeOffPoint(
            point.epsilon,
            design.samples,
            design.strata_count,
            design.sampled_duration_ns,
            design.speedup,
            design.promise.error,
            design.promise.bound,
            design.promise.group_bound,
        )


@given(st.floats(LEAST_EPSILON, 0.999999))
def test_default_epsilons_grow_from_the_chosen_one(chosen: float) -> None:
    epsilons = default_epsilons(chosen)
    assert epsilons[0] == chosen
    assert len(set(epsilons)) == len(epsilons) <= 14
    assert len(epsilons) >= 6
    distances = [abs(math.log(epsilon / chosen)) for epsilon in epsilons]
    assert distances == sorted(distances)
    assert distances[-1] <= math.log(10) * (1 + 1e-6)
    for epsilon in epsilons:
        Target(epsilon=epsilon)
    assert all(above / below > 1.09 for below, above in pairwise(sorted(epsilons)))


def test_where_a_decision_fits_no_node_there_is_no_point(counts: DurationCounts) -> None:
    """A node of the tree at a tight epsilon that the tree at a loose one does not have."""
    rules = [RootRule(Target(epsilon)) for epsilon in (0.001, 0.9)]
    tight, loose = ({node.path for node in TreeGrower(counts, 0, rule).run().nodes} for rule in rules)
    decided = {counts.groups[0].key: {max(tight - loose): Verdict.KEEP}}
    first, second = trade_off(counts, "root", Target(), 0, (0.001, 0.9), overrides=decided)
    assert isinstance(first, TradeOffPoint)
    assert isinstance(second, NoPoint)
    assert "no node" in str(second.problem)


NAME = GroupBy.NAME
LOOSEST = replace(LIKE_ROOT, group_epsilon=None)


def draft(table: Profile, target: Target | None = None, method: str = "joint") -> Draft:
    return draft_plan(table, request_of(method, Grouping(NAME), target=target))


@pytest.fixture
def table(mixture: Mixture) -> Profile:
    """Six kernel groups of several modes."""
    return profile_of_groups(mixture(3))


@pytest.fixture
def two_kernels() -> Profile:
    """Two kernels of fifty launches, of 3 and of 6 ms."""
    return profile_of_groups({"a": [3_000_000] * 50, "b": [6_000_000] * 50})


def by_option(relaxations: tuple[Relaxation, ...]) -> dict[str, Relaxation]:
    return {relaxation.option: relaxation for relaxation in relaxations}


def test_the_noise_floor_binds() -> None:
    """Equal durations with noise kappa: t sqrt(1/m - 1/N) kappa <= epsilon; half kappa, twice epsilon."""
    target = replace(LOOSEST, noise_floor=0.3)

    def least(spread: float, epsilon: float) -> int:
        """The interval that m launches give: nu is half of m - 1, and of 4 that were declared."""
        m = np.arange(2, 2000)
        reach = np.maximum(t.ppf(0.975, (3 + m) / 2), t.ppf(0.975, 1e9)) * spread * np.sqrt(1 / m - 1 / 2000)
        return int(m[reach <= epsilon][0])

    equal = profile_of_groups({"a": [1000] * 2000})
    relaxations = by_option(measure_sensitivity(draft(equal, target)))
    assert set(relaxations) == {"noise_floor", "epsilon", "method"}
    half = relaxations["noise_floor"]
    assert (half.before, half.after) == (0.3, 0.15)
    # A few more where 4,000 draws of the plan ask for them, or a step of epsilon goes a little too far.
    assert half.speedup_before == pytest.approx(2000 / least(0.3, 0.05), rel=0.08)
    assert half.speedup == pytest.approx(2000 / least(0.15, 0.05), rel=0.08)
    assert half.speedup == pytest.approx(relaxations["epsilon"].speedup, rel=0.08)
    assert relaxations["method"].speedup == 2000


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", ["joint", "root", "random"])
def test_each_is_the_plan_made_anew(mixture: Mixture, seed: int, method: str) -> None:
    """Nothing is left out: every option is planned here, also where the floor says that it cannot help."""
    table, target = profile_of_groups(mixture(seed)), Target(epsilon=0.03)
    before = draft(table, target, method)
    looser: dict[str, tuple[Target, str]] = {
        "epsilon": (replace(target, epsilon=0.06), method),
        "min_samples": (replace(target, min_samples=1), method),
        "group_epsilon": (replace(target, group_epsilon=None), method),
        "noise_floor": (replace(target, noise_floor=0.025), method),
        "method": (target, "root"),
    }
    if method == "random":
        # It splits nothing: ROOT's is another kind of plan, no looser one.
        del looser["method"]
    speedups = {option: draft(table, *options).speedup or 0.0 for option, options in looser.items()}
    assert before.speedup is not None
    expected = {option: speedup for option, speedup in speedups.items() if speedup > 1.05 * before.speedup}
    relaxations = measure_sensitivity(before)
    assert {step.option: step.speedup for step in relaxations} == expected
    assert [step.speedup for step in relaxations] == sorted(expected.values(), reverse=True)
    assert {step.speedup_before for step in relaxations} <= {before.speedup}
    promises = {option: draft(table, *looser[option]).design.promise for option in expected}
    assert {step.option: step.bound for step in relaxations} == {
        option: promise and promise.error for option, promise in promises.items()
    }


def test_launches_that_stand_only_for_themselves_limit_every_plan() -> None:
    """Ten long launches of ten kernels hold 48 % of the time, beside many short ones of another."""
    long = {f"long{place}": [4_800_000 + place] for place in range(10)}
    table = profile_of_groups(long | {"short": [52_000] * 1000})
    target = Target(epsilon=0.002, noise_floor=0.0, kernel_spread=0.0)
    planned = draft(table, target)
    limit = find_limit(planned.design)
    assert limit is not None
    assert (limit.launches, limit.simulated) == (10, 10)
    assert limit.share == pytest.approx(0.48, abs=0.001)
    assert limit.speedup == pytest.approx(1 / 0.48, abs=0.01)
    assert planned.speedup is not None
    assert planned.speedup <= limit.speedup
    assert measure_sensitivity(planned) == ()


def test_a_plan_of_many_strata_is_limited_by_no_few_launches() -> None:
    planned = draft(profile_of_groups({name: [1000] * 100 for name in "abcdef"}), Target())
    assert find_limit(planned.design) is None


@pytest.mark.parametrize(
    ("text", "of_hours"),
    [("90m", 1.5), ("24h", 24), ("3d", 72), ("3600s", 1), ("1.5h", 1.5), (" .5d ", 12), ("2.h", 2)],
)
def test_a_budget_is_a_number_and_a_unit(text: str, of_hours: float) -> None:
    budget = parse_budget(text, 1e6)
    assert budget == Budget(text.strip(), of_hours, 1e6)


@pytest.mark.parametrize(
    "text", ["", "24", "h", "-3h", "0h", "0.0d", "1e3s", "2 h", "3w", "nanh", "infh", "1h30m"]
)
def test_a_wrong_budget(text: str) -> None:
    with pytest.raises(OptionError, match="is a duration above 0") as caught:
        parse_budget(text, 1e6)
    assert caught.value.remedy == "give a number and s, m, h or d, such as 24h"


def test_hours_by_hand(two_kernels: Profile) -> None:
    """Two launches of 3 ms and two of 6 ms, a million times slower: 18,000 s are 5 hours."""
    planned = draft(two_kernels, replace(UNPOOLED, noise_floor=0))
    plan = drawn_plan(planned.counts, planned.design, 0)
    hours = simulation_hours(plan, 1e6)
    assert (hours.drawn, hours.expected) == (5.0, 5.0)
    assert hours.longest_launch == pytest.approx(6_000 / 3600)
    assert machine_hours(3.6e12, 1) == 1


@pytest.mark.parametrize(("method", "every"), [("joint", 450), ("root", 60), ("random", 60)])
@pytest.mark.parametrize("times", [1.0001, 2.0])
def test_it_is_the_smallest_of_all_that_fit(table: Profile, method: str, every: int, times: float) -> None:
    """Against the plans at epsilons all over the range, with budgets a little over the least to much more."""
    planned = draft(table, method=method)

    def sampled_ns(epsilon: float) -> float:
        return redraft(planned, structs.replace(planned.request, epsilon=epsilon)).design.sampled_duration_ns

    budget = Budget("x", machine_hours(times * sampled_ns(0.999), 1e5), 1e5)
    fitting = draft_within(planned, budget)
    epsilon = fitting.design.target.epsilon
    assert machine_hours(fitting.design.sampled_duration_ns, 1e5) <= budget.hours
    assert fitting.design.sampled_duration_ns == sampled_ns(epsilon)
    tried = [nth_epsilon(index) for index in range(0, 3600, every)]
    for other_epsilon in tried:
        fits = machine_hours(sampled_ns(other_epsilon), 1e5) <= budget.hours
        assert fits == (other_epsilon >= epsilon), other_epsilon
    (below,) = np.flatnonzero([nth_epsilon(index) == epsilon for index in range(3600)]) - 1
    assert below < 0 or machine_hours(sampled_ns(nth_epsilon(int(below))), 1e5) > budget.hours


def test_where_not_even_the_loosest_fits_it_is_said_what_would(two_kernels: Profile) -> None:
    """Equal durations, two launches each: 9 ms x 2 are 5 h."""
    read = draft(two_kernels, UNPOOLED)
    with pytest.raises(BudgetError) as caught:
        draft_within(read, Budget("2.5h", 2.5, 1e6))
    assert caught.value.message == (
        "even at epsilon 0.999 a plan takes 5h of simulation, more than `budget=2.5h` at a slowdown of 1e+06"
    )
    assert caught.value.remedy == "give `budget=5h`"
    assert draft_within(read, Budget("5h", 5, 1e6)).design.samples == 4
