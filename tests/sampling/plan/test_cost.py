"""What a simulator pays for in place of time: shares against single launches, and plans made by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.api import read_profile
from sampling.arrays import FloatArray
from sampling.plan.plan import drawn_plan, locate
from sampling.plan.study import MethodChoice, Study, study
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.target import Target

Mixture = Callable[..., dict[str, list[int]]]
WriteRun = Callable[..., Profile]


@pytest.fixture
def run(tmp_path: Path, mixture: Mixture) -> WriteRun:
    """Return a profile of twelve kernel groups of several modes, and what its launches cost."""

    def write(
        cost_of: Callable[[np.ndarray, np.ndarray], FloatArray], column: str = "instructions"
    ) -> Profile:
        groups = mixture(5, groups=12)
        names = [name for name, durations in groups.items() for _ in durations]
        durations = np.array([duration for group in groups.values() for duration in group])
        of_group = np.repeat(np.arange(len(groups)), [len(each) for each in groups.values()])
        cost = cost_of(of_group, durations)
        rows = [f"{each},{ns},{paid:.17g}" for each, ns, paid in zip(names, durations, cost, strict=True)]
        path = tmp_path / "run.csv"
        path.write_text("\n".join([f"name,duration_ns,{column}", *rows]) + "\n")
        return read_profile(str(path))

    return write


def by_kernel(group: np.ndarray, durations: np.ndarray) -> FloatArray:
    """What the same time costs differs by kernel, a thousandfold."""
    rate = np.random.default_rng(1).lognormal(0, 2, group.max() + 1)
    return np.asarray(np.rint(1 + rate[group] * durations))


def studied(profile: Profile, method: str = "joint", epsilon: float = 0.05, cost: str | None = None) -> Study:
    return study(profile, Grouping(GroupBy.NAME), Region(), Target(epsilon), MethodChoice(method, cost=cost))


def costs_of(profile: Profile) -> FloatArray:
    return profile.parts[0].metrics(("instructions",))["instructions"]


@pytest.mark.parametrize("method", ["joint", "root", "random", "sieve"])
def test_the_share_is_what_drawn_launches_cost_on_average(run: WriteRun, method: str) -> None:
    profile = run(by_kernel)
    costs, found = costs_of(profile), studied(profile, method)
    drawn = [
        costs[locate(profile, found.counts, drawn_plan(found.counts, found.design, seed)).id].sum()
        for seed in range(40 if found.design.random else 1)
    ]
    standard_error = np.std(drawn) / np.sqrt(len(drawn)) / costs.sum()
    assert found.design.cost_share == pytest.approx(
        np.mean(drawn) / costs.sum(), abs=4 * standard_error + 1e-9
    )
    # It is told, and nothing is planned by it.
    assert found.design.speedup == pytest.approx(
        found.counts.total_duration_ns / found.design.sampled_duration_ns
    )


def test_a_plan_by_cost_costs_less_and_keeps_the_same_promise(run: WriteRun) -> None:
    profile = run(by_kernel)
    by_time, by_cost = studied(profile, epsilon=0.02), studied(profile, epsilon=0.02, cost="instructions")
    assert by_time.design.cost_share is not None
    assert by_cost.design.cost_share is not None
    assert by_cost.design.cost_share < 0.9 * by_time.design.cost_share
    assert by_cost.design.sampled_duration_ns > by_time.design.sampled_duration_ns
    assert by_cost.design.speedup == pytest.approx(1 / by_cost.design.cost_share)
    for promise in (by_cost.design.bound_with_noise, by_cost.design.expected_half_width):
        assert promise is not None
        assert promise <= 0.02
