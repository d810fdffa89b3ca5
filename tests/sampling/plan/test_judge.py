"""Judging and comparing: errors stay within what the bound promises; a plan knows its own profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from sampling.methods.registry import method_names
from sampling.plan.comparison import MethodComparison, mean_figures
from sampling.plan.design import make_design, method_design
from sampling.plan.judge import judge_plan, planned_design
from sampling.plan.plan import drawn_plan
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.draw import errors_of_draws
from sampling.strata.strata import Strata
from sampling.strata.target import Target
from tests.sampling.conftest import profile_of_groups
from tests.small_plans import UNPOOLED, plan_of_profile, request_of

Build = Callable[..., Profile]
Mixture = Callable[..., dict[str, list[int]]]

REPEATS = 1000


def check_coverage(counts: DurationCounts, method: str) -> None:
    """At 95 % confidence, at least 93 % of the draws stay within the bound, and they are right on average."""
    design = make_design(counts, method, Target(), 0)
    assert design.promise is not None
    bound = design.promise.bound
    sizes = np.tile(design.strata.samples, (REPEATS, 1))
    errors = (
        errors_of_draws(counts, design.strata, sizes, np.random.default_rng(1)) / counts.total_duration_ns
    )
    # Rounding alone keeps the estimate of a census from being exact.
    assert (np.abs(errors) <= bound + 1e-12).mean() >= 0.93
    # The standard deviation of the mean is that of one draw, bound / z, over the root of their number.
    assert abs(errors.mean()) <= 4 * bound / 1.96 / np.sqrt(REPEATS) + 1e-12


@pytest.mark.parametrize("method", ["root", "allegro"])
@pytest.mark.parametrize("file", ["resnet50-like.sqlite", "gpt2-like.json.gz"])
def test_the_bound_covers_the_sample_data(file: str, method: str, sample_data: Path) -> None:
    check_coverage(count_durations(read_profile([str(sample_data / file)]), Grouping()), method)


@pytest.mark.parametrize("method", ["root", "allegro", "random"])
def test_a_plan_finds_its_own_profile(method: str, mixture: Mixture, tmp_path: Path) -> None:
    profile = profile_of_groups(mixture(3), location=Path(__file__))
    region = Region(launches=(10, 600), exclude=("kernel1",))
    counts = count_durations(profile, Grouping(GroupBy.NAME), region)
    plan = plan_of_profile(profile, tmp_path / "plan.json", method, Grouping(GroupBy.NAME), region)
    expected = drawn_plan(counts, make_design(counts, method, Target(), 2), 2)
    judgement = judge_plan(plan, profile, repeats=5)
    assert (judgement.alignment, judgement.why_not_redrawn) == (None, None)
    assert judgement.error == pytest.approx(expected.error)
    assert judgement.total_ns == counts.total_duration_ns
    assert judgement.sampled_duration_ns == expected.sampled_duration_ns
    promise = expected.design.promise
    assert promise is not None
    assert (judgement.bound, judgement.group_bound) == (promise.bound, promise.group_bound)


def named_apart(groups: dict[str, list[int]]) -> tuple[list[str], list[int]]:
    """Return the launches of kernel groups in an order that mixes them."""
    rows = [(name, duration) for name, durations in groups.items() for duration in durations]
    order = np.random.default_rng(1).permutation(len(rows))
    names, durations = zip(*(rows[place] for place in order), strict=True)
    return list(names), list(durations)


SMALL = {f"small{number}": [200 + number] * 9 for number in range(8)}


@pytest.mark.parametrize(
    ("method", "target", "is_pooled"),
    [
        ("root", Target(), False),
        ("stem", Target(), False),
        ("joint", UNPOOLED, False),
        ("joint", replace(UNPOOLED, group_epsilon=None, min_samples=3, noise_floor=0.2), False),
        ("joint", replace(UNPOOLED, noise_floor=0.0), False),
        ("joint", Target(), True),
    ],
)
def test_a_plan_file_is_enough_for_its_design_and_its_bounds(
    method: str, target: Target, is_pooled: bool, launch_table: Build, mixture: Mixture, tmp_path: Path
) -> None:
    names, durations = named_apart(mixture(3, groups=6) | (SMALL if is_pooled else {}))
    profile = launch_table(names, durations, location=Path(__file__))
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = plan_of_profile(profile, tmp_path / "p.json", method, Grouping(GroupBy.NAME), target=target)
    expected = make_design(counts, method, target, 2)
    design = planned_design(counts, plan)
    assert design.groups.is_pool.any() == is_pooled
    assert (design.target, design.samples) == (expected.target, expected.samples)
    for field in fields(Strata):
        if field.name not in {"notes", "groups"}:
            assert np.array_equal(getattr(design.strata, field.name), getattr(expected.strata, field.name))
    if expected.strata.groups is not None and design.strata.groups is not None:
        assert np.array_equal(design.strata.groups.group_of, expected.strata.groups.group_of)
        assert design.strata.groups.counts.groups == expected.strata.groups.counts.groups
    for name in ("bound", "group_bound", "bound_with_noise", "group_bound_with_noise"):
        assert getattr(design.promise, name) == getattr(expected.promise, name), name


BY_NAME = Grouping(GroupBy.NAME)


@pytest.fixture
def profile(mixture: Mixture) -> Profile:
    """A profile of a few kernels, without metrics."""
    return profile_of_groups(mixture(1))


def comparison_of(profile: Profile, *features: Path, grouping: Grouping = BY_NAME) -> MethodComparison:
    asked = request_of(grouping=grouping, features=tuple(map(str, features)))
    return MethodComparison(profile, asked, repeats=20)


def instruction_counts(profile: Profile, folder: Path) -> Path:
    """Write an instruction count for every launch: a hundred times its duration."""
    duration_ns = profile.load(["duration_ns"])["duration_ns"]
    path = folder / "counts.csv"
    rows = [f"{index},{100 * duration}" for index, duration in enumerate(duration_ns.tolist())]
    path.write_text("id,instructions\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("method", method_names(random=True))
def test_it_judges_the_design_that_would_be_planned(method: str, profile: Profile) -> None:
    compared = comparison_of(profile)
    comparison = compared.compare(method)
    planned = method_design(make_design(compared.counts(BY_NAME), method, Target(), 0))
    assert comparison.reason is None
    assert comparison.design is not None
    assert comparison.judgement is not None
    assert (comparison.design.samples, comparison.design.speedup) == (planned.samples, planned.speedup)
    assert comparison.design.promise is not None
    assert planned.promise is not None
    assert comparison.design.promise.bound == planned.promise.bound
    assert comparison.design.promise.group_bound == planned.promise.group_bound
    assert comparison.judgement.repeats == 20
    repeated = comparison_of(profile).compare(method)
    assert repeated.judgement is not None
    assert repeated.judgement.errors.tolist() == comparison.judgement.errors.tolist()


def test_means_over_profiles() -> None:
    assert mean_figures([2.0, 6.0], [0.01, 0.04], "arithmetic") == pytest.approx((3.0, 0.025))
    assert mean_figures([2.0, 8.0], [0.01, 0.04], "geometric") == pytest.approx((4.0, 0.02))
    # The geometric mean with an error of 0 is 0 whatever the others are, and so says nothing.
    assert mean_figures([2.0, 8.0], [0.0, 0.5], "geometric") == (pytest.approx(4.0), None)
    # A speedup that is not known on one profile has no mean.
    assert mean_figures([2.0, None], [0.1, 0.5], "arithmetic") == (None, 0.3)
    assert mean_figures([None], [0.1], "geometric")[0] is None


def test_a_comparison_names_the_first_method_of_a_plan(launch_table: Build, tmp_path: Path) -> None:
    """One kernel of a few launches, all of which STEM and Allegro take."""
    profile = launch_table(["a"] * 12, list(range(100, 112)))
    compared = comparison_of(profile, instruction_counts(profile, tmp_path), grouping=Grouping())
    assert compared.compare("stem").same_as is None
    assert compared.compare("allegro").same_as == "stem"
    assert compared.compare("stem").same_as is None, "it is the first itself"
    assert compared.compare("first-instructions").same_as is None
    compared.request = structs.replace(compared.request, group_by=GroupBy.NAME)
    assert compared.compare("allegro").same_as is None, "groups of one grouping are not another's"
