"""What binds: on workloads where one option is what makes the plan dear, and against planning each anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from sampling.plan.binding import Relaxation, what_binds
from sampling.plan.study import MethodChoice, Study, study
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.splitting.tree import Verdict
from sampling.strata.target import Target
from tests.targets import LIKE_ROOT

Groups = dict[str, list[int]]
TableOf = Callable[..., Profile]
Mixture = Callable[..., Groups]

NAME = GroupBy.NAME
LOOSEST = replace(LIKE_ROOT, group_epsilon=None)


@pytest.fixture
def studied(launch_table: TableOf) -> Callable[..., Study]:
    """Study kernel groups given as name -> durations."""

    def build(
        groups: Groups, target: Target, method: str = "joint", by: GroupBy = NAME, **choice: object
    ) -> Study:
        names = [name for name, durations in groups.items() for _ in durations]
        durations = [duration for group in groups.values() for duration in group]
        table = launch_table(names, durations)
        given = MethodChoice(method, **choice)  # type: ignore[arg-type]
        return study(table, Grouping(by), Region(), target, given)

    return build


def scattered(launches: int, mean_ns: float, spread: float, seed: int = 0) -> list[int]:
    drawn = np.random.default_rng(seed).lognormal(0, spread, launches)
    return [int(duration) for duration in np.rint(mean_ns * drawn)]


def by_option(found: tuple[Relaxation, ...]) -> dict[str, Relaxation]:
    return {each.option: each for each in found}


def test_the_grouping_binds(launch_table: TableOf) -> None:
    """Forty grids of one kernel that takes 1 us each: forty launches, or one."""
    grids = [1 + launch % 40 for launch in range(400)]
    table = launch_table(["a"] * 400, [1000] * 400, grid_x=grids)
    one = study(table, Grouping(GroupBy.LAUNCH), Region(), LOOSEST)
    found = what_binds(one, LOOSEST, GroupBy.LAUNCH)
    assert found == (Relaxation("group_by", "launch", "name", 10.0, 400.0),)
    published = what_binds(one, LOOSEST, GroupBy.PUBLISHED)
    # Of `published` groups ROOT's are by name, so that the method alone gives the same.
    assert [(each.option, each.speedup) for each in published] == [("group_by", 400.0), ("method", 400.0)]


def test_the_bound_of_the_groups_binds(studied: Callable[..., Study]) -> None:
    """One group has nearly all of the time and no spread; the others' own bounds are what is sampled for."""
    target = replace(LOOSEST, group_epsilon=0.1)
    groups = {"a": [100_000] * 2000}
    groups |= {f"b{index}": scattered(500, 2000, 1.0, index) for index in range(20)}
    found = by_option(what_binds(studied(groups, target), target, NAME))
    # Groups that are pooled have no bound of their own either.
    assert set(found) == {"group_epsilon", "no_pool"}
    assert (found["group_epsilon"].before, found["group_epsilon"].after) == (0.1, "none")


def test_the_noise_floor_binds(studied: Callable[..., Study]) -> None:
    """Equal durations with noise kappa: t sqrt(1/m - 1/N) kappa <= epsilon; half kappa, twice epsilon."""
    target = replace(LOOSEST, noise_floor=0.3)

    def least(spread: float, epsilon: float) -> int:
        """The interval that m launches give: nu is half of m - 1, and of 4 that were declared."""
        m = np.arange(2, 2000)
        reach = np.maximum(t.ppf(0.975, (3 + m) / 2), t.ppf(0.975, 1e9)) * spread * np.sqrt(1 / m - 1 / 2000)
        return int(m[reach <= epsilon][0])

    found = by_option(what_binds(studied({"a": [1000] * 2000}, target), target, NAME))
    assert set(found) == {"noise_floor", "epsilon", "method"}
    half = found["noise_floor"]
    assert (half.before, half.after) == (0.3, 0.15)
    # A few more where 4,000 draws of the plan ask for them, or a step of epsilon goes a little too far.
    assert half.speedup_before == pytest.approx(2000 / least(0.3, 0.05), rel=0.08)
    assert half.speedup == pytest.approx(2000 / least(0.15, 0.05), rel=0.08)
    assert half.speedup == pytest.approx(found["epsilon"].speedup, rel=0.08)
    assert found["method"].speedup == 2000


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", ["joint", "root", "random"])
def test_each_is_the_plan_made_anew(
    studied: Callable[..., Study], mixture: Mixture, seed: int, method: str
) -> None:
    """Nothing is left out: every option is planned here, also where the floor says that it cannot help."""
    groups, target = mixture(seed), Target(epsilon=0.03)
    before = studied(groups, target, method)
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
    anew = {option: studied(groups, *given).speedup or 0.0 for option, given in looser.items()}
    assert before.speedup is not None
    wanted = {option: speedup for option, speedup in anew.items() if speedup > 1.05 * before.speedup}
    found = what_binds(before, target, NAME)
    assert {each.option: each.speedup for each in found} == wanted
    assert [each.speedup for each in found] == sorted(wanted.values(), reverse=True)
    assert {each.speedup_before for each in found} <= {before.speedup}


def test_a_decision_that_fits_no_relaxed_tree_is_no_way(studied: Callable[..., Study]) -> None:
    """Groups are kept whole by their key: where it has another key, the plan cannot be made so."""
    groups, target = {"a": scattered(300, 1e4, 1.0), "b": [10] * 9}, replace(LOOSEST, min_samples=3)
    of_launches = studied(groups, target, by=GroupBy.LAUNCH)
    key = of_launches.counts.groups[0].key
    whole = studied(groups, target, by=GroupBy.LAUNCH, overrides={key: {"": Verdict.KEEP}})
    found = by_option(what_binds(whole, target, GroupBy.LAUNCH))
    assert "group_by" not in found
    assert "epsilon" in found
