"""Comparing methods: the design that would be planned, its errors, what is not applicable, and means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sampling.methods.registry import method_names
from sampling.plan.comparison import FeatureFiles, MethodComparison, mean_figures
from sampling.plan.design import design_of_method, make_design
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.target import Target

Mixture = Callable[..., dict[str, list[int]]]
Build = Callable[..., Profile]

BY_NAME = Grouping(GroupBy.NAME)


@pytest.fixture
def profile(launch_table: Build, mixture: Mixture) -> Profile:
    """A profile of a few kernels, without metrics."""
    groups = mixture(1)
    names = [name for name, durations in groups.items() for _ in durations]
    return launch_table(names, [duration for group in groups.values() for duration in group])


def comparison_of(profile: Profile, *features: Path, settings: tuple[str, ...] = ()) -> MethodComparison:
    files = FeatureFiles(tuple(str(path) for path in features))
    return MethodComparison(
        profile, Region(), Target(), repeats=20, seed=0, features=files, settings=settings
    )


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
    found = compared.compare(method, BY_NAME)
    planned = design_of_method(make_design(compared.counts(BY_NAME), method, Target(), 0))
    assert found.reason is None
    assert found.design is not None
    assert found.judgement is not None
    assert (found.design.samples, found.design.speedup) == (planned.samples, planned.speedup)
    assert (found.design.bound, found.design.group_bound) == (planned.bound, planned.group_bound)
    assert found.judgement.repeats == 20
    again = comparison_of(profile).compare(method, BY_NAME)
    assert again.judgement is not None
    assert again.judgement.errors.tolist() == found.judgement.errors.tolist()


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
    compared = comparison_of(profile, instruction_counts(profile, tmp_path))
    by_launch, by_name = Grouping(), Grouping(GroupBy.NAME)
    assert compared.compare("stem", by_launch).same_as is None
    assert compared.compare("allegro", by_launch).same_as == "stem"
    assert compared.compare("stem", by_launch).same_as is None, "it is the first itself"
    assert compared.compare("allegro", by_name).same_as is None, "groups of one grouping are not another's"
    assert compared.compare("first-instructions", by_launch).same_as is None
