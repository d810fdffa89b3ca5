"""A budget: durations as they are written, hours by hand, and the epsilon against all others tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sampling.errors import BudgetError, OptionError
from sampling.plan.budget import (
    Budget,
    check_slowdown,
    hours,
    nth_epsilon,
    simulation_hours,
    study_within,
    written_budget,
)
from sampling.plan.plan import drawn_plan
from sampling.plan.study import MethodChoice, Study, study, study_again
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.splitting.tree import Verdict
from sampling.strata.target import Target
from tests.targets import UNPOOLED

TableOf = Callable[..., Profile]
Mixture = Callable[..., dict[str, list[int]]]
NAME = GroupBy.NAME


def studied(table: Profile, method: str, target: Target | None = None, **choice: object) -> Study:
    given = MethodChoice(method, **choice)  # type: ignore[arg-type]
    return study(table, Grouping(NAME), Region(), target or Target(), given)


@pytest.fixture
def table(launch_table: TableOf, mixture: Mixture) -> Profile:
    """Six kernel groups of several modes."""
    groups = mixture(3)
    names = [name for name, durations in groups.items() for _ in durations]
    return launch_table(names, [duration for group in groups.values() for duration in group])


@pytest.mark.parametrize(
    ("text", "of_hours"),
    [("90m", 1.5), ("24h", 24), ("3d", 72), ("3600s", 1), ("1.5h", 1.5), (" .5d ", 12), ("2.h", 2)],
)
def test_a_budget_is_a_number_and_a_unit(text: str, of_hours: float) -> None:
    budget = written_budget(text, 1e6)
    assert budget == Budget(text.strip(), of_hours, 1e6)


@pytest.mark.parametrize(
    "text", ["", "24", "h", "-3h", "0h", "0.0d", "1e3s", "2 h", "3w", "nanh", "infh", "1h30m"]
)
def test_a_wrong_budget(text: str) -> None:
    with pytest.raises(OptionError, match="is a duration above 0") as caught:
        written_budget(text, 1e6)
    assert caught.value.remedy == "give a number and s, m, h or d, such as 24h"


@pytest.mark.parametrize("slowdown", [0.0, 0.99, -5.0, float("nan"), float("inf")])
def test_a_wrong_slowdown(slowdown: float) -> None:
    with pytest.raises(OptionError, match="at least 1"):
        check_slowdown(slowdown)
    with pytest.raises(OptionError, match="at least 1"):
        written_budget("24h", slowdown)


def test_hours_by_hand(launch_table: TableOf) -> None:
    """Two launches of 3 ms and two of 6 ms, a million times slower: 18,000 s are 5 hours."""
    table = launch_table(["a"] * 50 + ["b"] * 50, [3_000_000] * 50 + [6_000_000] * 50)
    one = studied(table, "joint", replace(UNPOOLED, noise_floor=0))
    plan = drawn_plan(one.counts, one.design, 0)
    taken = simulation_hours(plan, 1e6)
    assert (taken.drawn, taken.expected) == (5.0, 5.0)
    assert taken.longest_launch == pytest.approx(6_000 / 3600)
    assert hours(3.6e12, 1) == 1


def test_epsilons_have_three_digits_and_rise() -> None:
    epsilons = [nth_epsilon(index) for index in range(3600)]
    assert (epsilons[0], epsilons[1], epsilons[899], epsilons[900], epsilons[-1]) == (
        *(0.0001, 0.000101, 0.000999, 0.001, 0.999),
    )
    assert epsilons == sorted(set(epsilons))
    assert all(float(f"{epsilon:.3g}") == epsilon for epsilon in epsilons)


@pytest.mark.parametrize(("method", "every"), [("joint", 450), ("root", 60), ("random", 60)])
@pytest.mark.parametrize("times", [1.0001, 2.0])
def test_it_is_the_smallest_of_all_that_fit(table: Profile, method: str, every: int, times: float) -> None:
    """Against the plans at epsilons all over the range, with budgets a little over the least to much more."""
    read = studied(table, method)

    def sampled_ns(epsilon: float) -> float:
        return study_again(read, Target(epsilon=epsilon), read.choice).design.sampled_duration_ns

    budget = Budget("x", hours(times * sampled_ns(0.999), 1e5), 1e5)
    found = study_within(read, Target(), NAME, budget)
    epsilon = found.design.target.epsilon
    assert hours(found.design.sampled_duration_ns, 1e5) <= budget.hours
    assert found.design.sampled_duration_ns == sampled_ns(epsilon)
    tried = [nth_epsilon(index) for index in range(0, 3600, every)]
    for other in tried:
        fits = hours(sampled_ns(other), 1e5) <= budget.hours
        assert fits == (other >= epsilon), other
    (below,) = np.flatnonzero([nth_epsilon(index) == epsilon for index in range(3600)]) - 1
    assert below < 0 or hours(sampled_ns(nth_epsilon(int(below))), 1e5) > budget.hours


def test_where_not_even_the_loosest_fits_it_is_said_what_would(launch_table: TableOf) -> None:
    """Equal durations, two launches each: 9 ms x 2 are 5 h; one each, by the least samples or ROOT, 2.5 h."""
    target = UNPOOLED
    table = launch_table(["a"] * 50 + ["b"] * 50, [3_000_000] * 50 + [6_000_000] * 50)
    read = studied(table, "joint", target)
    with pytest.raises(BudgetError) as caught:
        study_within(read, target, NAME, Budget("2.5h", 2.5, 1e6))
    assert caught.value.message == (
        "even at epsilon 0.999 a plan takes 5h of simulation, more than `budget=2.5h` at a slowdown of 1e+06"
    )
    assert caught.value.remedy == "give `budget=5h`, or `min_samples=1`, or `method=root`"
    with pytest.raises(BudgetError) as caught:
        study_within(read, target, NAME, Budget("2.4h", 2.4, 1e6))
    assert caught.value.remedy == "give `budget=5h`"
    assert study_within(read, target, NAME, Budget("5h", 5, 1e6)).design.samples == 4


@pytest.mark.parametrize(
    ("slowdown", "said"),
    [(7e5, "3.5h"), (1e5, "30m"), (1e4, "3m"), (1e3, "18s"), (123456, "37.1m"), (1, "0.018s")],
)
def test_what_it_takes_is_a_budget_that_fits(launch_table: TableOf, slowdown: float, said: str) -> None:
    table = launch_table(["a"] * 50 + ["b"] * 50, [3_000_000] * 50 + [6_000_000] * 50)
    read = studied(table, "joint", UNPOOLED)
    with pytest.raises(BudgetError, match=f"takes {said} of simulation"):
        study_within(read, UNPOOLED, NAME, Budget("x", 1e-9, slowdown))
    assert study_within(read, UNPOOLED, NAME, written_budget(said, slowdown)).design.samples == 4


def test_a_method_that_picks_has_none(table: Profile) -> None:
    given = ("single-iteration.first=0", "single-iteration.last=9", "single-iteration.iterations=9")
    read = studied(table, "single-iteration", settings=given)
    with pytest.raises(OptionError, match="looks at no epsilon"):
        study_within(read, UNPOOLED, NAME, Budget("1h", 1, 10))


def test_decisions_of_the_users_do_not_go_with_it(table: Profile) -> None:
    key = studied(table, "root").counts.groups[0].key
    read = studied(table, "root", overrides={key: {"": Verdict.KEEP}})
    with pytest.raises(OptionError, match="your decisions"):
        study_within(read, UNPOOLED, NAME, Budget("1h", 1, 10))
