"""When two methods' plans are the same one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sampling.methods.method import Picks
from sampling.plan.comparison import plan_key
from sampling.plan.design import Design, make_design, picked_design
from sampling.profile.launch_table import LaunchTable
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.target import Target
from tests.sampling.methods.test_single_iteration import launch_list
from tests.sampling.plan.test_comparison import comparison_of, instruction_counts

Build = Callable[..., LaunchTable]


@pytest.fixture
def design(launch_table: Build) -> Design:
    """Two kernels, each its own stratum."""
    table = launch_table(["a"] * 40 + ["b"] * 20, list(range(100, 160)))
    return make_design(count_durations(table, Grouping(), Region()), "stem", Target(), 0)


def changed(design: Design, **columns: object) -> Design:
    return replace(design, strata=replace(design.strata, **columns))


def test_the_same_sizes_of_the_same_strata_are_one_plan_whatever_the_method(design: Design) -> None:
    key = plan_key(design)
    assert plan_key(replace(design, method="allegro")) == key
    strata = design.strata
    turned = {
        name: getattr(strata, name)[::-1]
        for name in ("group", "start", "stop", "launches", "mean_ns", "std_ns", "samples")
    }
    assert plan_key(changed(design, **turned)) == key, "in whatever order"
    others = (
        changed(design, samples=strata.samples + np.array([1, 0])),
        changed(design, start=strata.start + np.array([1, 0])),
        changed(design, group=strata.group[::-1]),
        changed(design, chance=0.5),
    )
    assert len({plan_key(each) for each in others} | {key}) == 5


def test_the_same_launches_with_the_same_weights_are_one_plan() -> None:
    launches = launch_list([6])
    picks = Picks(np.zeros(6, dtype=np.int64), ("a",), np.array([1, 4]), np.array([2.0, 4.0]))

    def key(**changes: object) -> bytes:
        return plan_key(picked_design("pks", Target(), launches, replace(picks, **changes)))

    assert key(labels=("another",), notes=("why",)) == key()
    others = {key(row=np.array([1, 5])), key(weight=np.array([2.0, 4.5])), key(row=np.array([1]))}
    assert key() not in others
    assert len(others) == 3


def test_a_comparison_names_the_first_method_of_a_plan(launch_table: Build, tmp_path: Path) -> None:
    """One kernel of a few launches, all of which STEM and Allegro take."""
    profile = launch_table(["a"] * 12, list(range(100, 112)))
    compared = comparison_of(profile, instruction_counts(profile, tmp_path), settings=("pks.columns=all",))
    by_launch, by_name = Grouping(), Grouping(GroupBy.NAME)
    assert compared.compare("stem", by_launch).same_as is None
    assert compared.compare("allegro", by_launch).same_as == "stem"
    assert compared.compare("stem", by_launch).same_as is None, "it is the first itself"
    assert compared.compare("allegro", by_name).same_as is None, "groups of one grouping are not another's"
    assert compared.compare("first-instructions", by_launch).same_as is None
