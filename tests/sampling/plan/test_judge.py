"""Judging: errors stay within what the bound promises; a plan knows its own profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.errors import AnalysisError
from sampling.plan.design import make_design
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.other_recording.plan_check import plan_error, planned_design
from sampling.plan.plan import drawn_plan, locate
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.plan.written_plan import plan_document, planned_launches
from sampling.profile.launch_table import LaunchTable
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.seeds import Stream, generator
from sampling.strata.draw import draw, estimate_total_ns
from sampling.strata.target import Target

Build = Callable[..., LaunchTable]
CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

REPEATS = 1000


def check_coverage(counts: DurationCounts, method: str) -> None:
    """At 95 % confidence, at least 93 % of the draws stay within the bound, and they are right on average."""
    design = make_design(counts, method, Target(), 0)
    bound = design.bound
    assert bound is not None
    rng = np.random.default_rng(1)
    estimates = np.array(
        [estimate_total_ns(counts, design.strata, draw(counts, design.strata, rng)) for _ in range(REPEATS)]
    )
    errors = estimates / counts.total_duration_ns - 1
    # Rounding alone keeps the estimate of a census from being exact.
    assert (np.abs(errors) <= bound + 1e-12).mean() >= 0.93
    # The standard deviation of the mean is that of one draw, bound / z, over the root of their number.
    assert abs(errors.mean()) <= 4 * bound / 1.96 / np.sqrt(REPEATS) + 1e-12


@pytest.mark.parametrize("method", ["root", "allegro"])
@pytest.mark.parametrize("file", ["resnet50-like.sqlite", "gpt2-like.json.gz"])
def test_the_bound_covers_the_sample_data(file: str, method: str, sample_data: Path) -> None:
    check_coverage(count_durations(read_profile([str(sample_data / file)]), Grouping()), method)


@pytest.mark.parametrize("method", ["root", "allegro"])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_covers_random_mixtures(
    seed: int, method: str, counts_of: CountsOf, mixture: Mixture
) -> None:
    check_coverage(counts_of(mixture(seed, groups=8, launches=400)), method)


def test_the_spread_of_the_draws_is_what_the_bound_says(counts_of: CountsOf, mixture: Mixture) -> None:
    counts = counts_of(mixture(2))
    design = make_design(counts, "random", Target(), 0, settings=("random.launches=200",))
    rng = np.random.default_rng(0)
    estimates = [
        estimate_total_ns(counts, design.strata, draw(counts, design.strata, rng)) for _ in range(2000)
    ]
    assert design.bound == pytest.approx(1.96 * np.std(estimates) / counts.total_duration_ns, rel=0.08)


def test_judging_draws_again_and_again_from_one_stream(counts_of: CountsOf, mixture: Mixture) -> None:
    counts = counts_of(mixture(2))
    design = make_design(counts, "root", Target(), 0)
    told: list[tuple[int, int, str]] = []
    judged = judge_design(counts, design, 50, 9, lambda *place: told.append(place))
    rng = generator(9, Stream.JUDGE)
    estimates = [
        estimate_total_ns(counts, design.strata, draw(counts, design.strata, rng)) for _ in range(50)
    ]
    expected = np.abs(np.array(estimates) / counts.total_duration_ns - 1)
    np.testing.assert_allclose(judged.errors, expected, atol=1e-15)
    assert judged.epsilon == 0.05
    assert told[-1] == (50, 50, "judging root")


def test_a_judgement_summarises_its_errors() -> None:
    judgement = Judgement(np.array([0.01, 0.05, 0.06, 0.02]), epsilon=0.05)
    assert judgement.repeats == 4
    assert judgement.error_mean == pytest.approx(0.035)
    assert judgement.error_max == 0.06
    assert judgement.error_p95 == pytest.approx(np.quantile([0.01, 0.05, 0.06, 0.02], 0.95))
    assert judgement.within_epsilon == 0.75


def plan_file(profile: Profile, counts: DurationCounts, folder: Path, method: str = "root") -> PlanFile:
    """Make a plan, write it, and read it back."""
    target = Target()
    plan = drawn_plan(counts, make_design(counts, method, target, 2), 2)
    launches = planned_launches(profile, plan, locate(profile, counts, plan))
    options = {"epsilon": 0.05, "confidence": 0.95, "method": method}
    options |= {"noise_floor": target.noise_floor, "kernel_spread": target.kernel_spread}
    path = folder / "plan.json"
    path.write_text(json.dumps(plan_document(profile, counts, plan, launches, options=options)))
    return read_plan(str(path))


def table_of(launch_table: Build, groups: dict[str, list[int]], **more: Any) -> LaunchTable:
    """Return a profile of these kernel groups, on a file that exists."""
    names = [name for name, durations in groups.items() for _ in durations]
    durations = [duration for group in groups.values() for duration in group]
    return launch_table(names, durations, location=Path(__file__), **more)


@pytest.mark.parametrize("method", ["root", "allegro", "random"])
def test_a_plan_finds_its_own_profile(
    method: str, launch_table: Build, mixture: Mixture, tmp_path: Path
) -> None:
    profile = table_of(launch_table, mixture(3))
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = plan_file(profile, counts, tmp_path, method)
    made = drawn_plan(counts, make_design(counts, method, Target(), 2), 2)
    found = plan_error(profile, counts, plan)
    assert found.error == pytest.approx(made.error)
    assert found.total_ns == counts.total_duration_ns
    design = planned_design(counts, plan)
    assert design.bound == pytest.approx(made.design.bound)
    assert design.group_bound == (
        None if made.design.group_bound is None else pytest.approx(made.design.group_bound)
    )
    assert design.strata.start.tolist() == made.design.strata.start.tolist()
    assert design.strata.samples.tolist() == made.design.strata.samples.tolist()


def test_a_plan_of_a_region_finds_that_region(launch_table: Build, mixture: Mixture, tmp_path: Path) -> None:
    profile = table_of(launch_table, mixture(3))
    region = Region(launches=(100, 600), exclude=("kernel1",))
    counts = count_durations(profile, Grouping(), region)
    plan = plan_file(profile, counts, tmp_path)
    assert plan_error(profile, counts, plan).error <= 0.2
    assert len(planned_design(counts, plan).strata) == len(plan.strata)


def test_a_plan_is_judged_on_another_run_of_its_program(
    launch_table: Build, mixture: Mixture, tmp_path: Path
) -> None:
    groups = mixture(3)
    profile = table_of(launch_table, groups)
    slower = table_of(launch_table, {name: [3 * d for d in group] for name, group in groups.items()})
    plan = plan_file(profile, count_durations(profile, Grouping()), tmp_path)
    own = plan_error(profile, count_durations(profile, Grouping()), plan)
    other = plan_error(slower, count_durations(slower, Grouping()), plan)
    assert other.estimate_ns == pytest.approx(3 * own.estimate_ns)
    assert other.error == pytest.approx(own.error)


def test_a_profile_of_another_length_is_refused(launch_table: Build, tmp_path: Path) -> None:
    profile = table_of(launch_table, {"a": [1] * 1000})
    shorter = table_of(launch_table, {"a": [1] * 999})
    plan = plan_file(profile, count_durations(profile, Grouping()), tmp_path)
    with pytest.raises(AnalysisError, match="stands for 1,000 launches, this profile has 999"):
        plan_error(shorter, count_durations(shorter, Grouping()), plan)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": [1] * 3, "c": [1] * 3}, r"launch \d is 'c' grid .* in this profile, 'b' grid"),
        ({"b": [1] * 3, "a": [1] * 3}, r"launch \d is 'b' grid"),
    ],
)
def test_a_profile_of_other_kernels_is_refused_at_the_launch(
    other: dict[str, list[int]], message: str, launch_table: Build, tmp_path: Path
) -> None:
    profile = table_of(launch_table, {"a": [1] * 3, "b": [1] * 3})
    plan = plan_file(profile, count_durations(profile, Grouping()), tmp_path)
    different = table_of(launch_table, other)
    with pytest.raises(AnalysisError, match=message):
        plan_error(different, count_durations(different, Grouping()), plan)


def test_a_profile_of_other_shapes_is_refused(launch_table: Build, tmp_path: Path) -> None:
    profile = table_of(launch_table, {"a": [1] * 3}, grid_x=[4] * 3)
    other = table_of(launch_table, {"a": [1] * 3}, grid_x=[5] * 3)
    plan = plan_file(profile, count_durations(profile, Grouping()), tmp_path)
    with pytest.raises(AnalysisError, match=r"grid \(5, 1, 1\).* in this profile.*\(4, 1, 1\)"):
        plan_error(other, count_durations(other, Grouping()), plan)


def test_launches_that_the_profile_does_not_have_are_refused(launch_table: Build, tmp_path: Path) -> None:
    """A plan of launches 500 to 600 stands for 100 launches; a profile of 100 has none of them."""
    profile = table_of(launch_table, {"a": list(range(1, 1001))})
    counts = count_durations(profile, Grouping(), Region(launches=(500, 600)))
    plan = plan_file(profile, counts, tmp_path)
    short = table_of(launch_table, {"a": list(range(1, 101))})
    with pytest.raises(AnalysisError, match=r"launch 5\d\d"):
        plan_error(short, count_durations(short, Grouping()), plan)


def test_strata_that_are_not_there_are_refused(launch_table: Build, tmp_path: Path) -> None:
    profile = table_of(launch_table, {"a": [100] * 50 + [900] * 50})
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = plan_file(profile, counts, tmp_path)
    assert len(plan.strata) == 2
    by_launch = count_durations(profile, Grouping())
    with pytest.raises(AnalysisError, match="has no kernel group 'a process 0 device 0'"):
        planned_design(by_launch, plan)
    moved = table_of(launch_table, {"a": [100] * 49 + [900] * 51})
    with pytest.raises(
        AnalysisError, match=r"stratum 100\.\.100 ns of 'a .*' has 49 launches here, 50 in the plan"
    ):
        planned_design(count_durations(moved, Grouping(GroupBy.NAME)), plan)
