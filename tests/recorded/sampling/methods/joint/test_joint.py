"""Joint on profiles recorded by others: the coverage of its draws, and ROOT as the yardstick."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.strata.target import Target
from tests.sampling.methods.joint.test_joint import (
    costs_no_more_than_root,
    covered,
    sampled_times_as_the_group_bound_loosens,
)

REAL = (
    "kineto/v100-resnet50-training.json.gz",
    "kineto/a100-recommendation-training.json.gz",
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite",
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
    "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
)


@pytest.fixture(scope="module")
def reduced(shared_data: Path) -> Callable[[str, GroupBy], DurationCounts]:
    """Return the reduction of a profile, each read once."""

    @cache
    def profile_of(name: str) -> Profile:
        return read_profile([str(shared_data / name)])

    @cache
    def counts_of(name: str, by: GroupBy) -> DurationCounts:
        return count_durations(profile_of(name), Grouping(by))

    return counts_of


@pytest.mark.parametrize("name", REAL)
def test_coverage_over_a_thousand_draws(name: str, reduced: Callable[[str, GroupBy], DurationCounts]) -> None:
    assert covered(reduced(name, GroupBy.NAME), Target()) >= 0.929


@pytest.mark.parametrize("name", [*REAL, "kineto/v100x2-training-unsorted.json.gz"])
@pytest.mark.parametrize("by", [GroupBy.NAME, GroupBy.LAUNCH])
def test_a_looser_group_bound_costs_no_more(
    name: str, by: GroupBy, reduced: Callable[[str, GroupBy], DurationCounts]
) -> None:
    times = sampled_times_as_the_group_bound_loosens(reduced(name, by))
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("by", [GroupBy.NAME, GroupBy.LAUNCH])
def test_never_more_sampled_time_than_root(
    name: str, by: GroupBy, reduced: Callable[[str, GroupBy], DurationCounts]
) -> None:
    assert costs_no_more_than_root(reduced(name, by))
