"""What people look at: a kernel of several GPUs is one group, whose strata are those of the plan's groups."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest

from sampling.plan.draft import Draft, FoldedSurvey, draft_plan
from sampling.plan.request import PlanRequest
from sampling.profile.profile import Device, Profile, RecordingFacts

Build = Callable[..., Profile]
SPREAD = [10_001 + 7 * (37 * step % 100) for step in range(100)]


def drafted(build: Build, facts: RecordingFacts | None = None, **asked: Any) -> Draft:
    """Two GPUs of three kernels; the second GPU runs the first kernel more often, and the third alone."""
    names = ["a"] * 100 + ["b"] * 60 + ["a"] * 150 + ["b"] * 80 + ["c"] * 100
    durations = [SPREAD[place % 100] * (4 if name == "a" else 1) for place, name in enumerate(names)]
    device = [0] * 160 + [1] * 330
    profile = build(names, durations, device=device, facts=facts, grid_x=[1] * len(names))
    return draft_plan(profile, PlanRequest(**asked))


@pytest.mark.parametrize("asked", [{}, {"pool": False}, {"method": "root"}, {"method": "random"}])
def test_a_group_stands_for_those_of_the_plan(launch_table: Build, asked: dict[str, Any]) -> None:
    draft = drafted(launch_table, **asked)
    look = draft.look
    assert isinstance(look, FoldedSurvey)
    assert [group.name for group in look.counts.groups] == ["a", "b", "c"]
    members = [look.members(group) for group in range(3)]
    assert sorted(chain.from_iterable(members)) == list(range(5))
    assert all(look.holder(member) == group for group in range(3) for member in members[group])
    for group, of_plan in enumerate(members):
        assert of_plan == sorted(of_plan), "the largest is the first"
        assert {draft.counts.groups[member].name for member in of_plan} == {look.counts.groups[group].name}
        for column in ("launches", "total_duration_ns", "share"):
            whole = getattr(draft.groups, column)[of_plan].sum()
            assert getattr(look.groups, column)[group] == pytest.approx(whole)
        if draft.groups.samples is None or draft.groups.clusters is None:
            assert look.groups.samples is None
            continue
        own = [member for member in of_plan if not draft.groups.pooled[member]]
        assert look.groups.pooled[group] == (not own)
        assert look.groups.samples is not None
        assert look.groups.clusters is not None
        assert look.groups.samples[group] == draft.groups.samples[own].sum()
        assert look.groups.clusters[group] == draft.groups.clusters[own].sum()
    assert look.look is look
    assert look.groups.running_share[-1] == pytest.approx(1)
    assert np.all(np.diff(look.groups.total_duration_ns) <= 0)


@pytest.mark.parametrize("asked", [{"each_rank": True}, {"pool_devices": True}, {"device": ("1",)}])
def test_the_plan_is_looked_at_as_it_is_where_nothing_is_apart_or_all_is_to_be(
    launch_table: Build, asked: dict[str, Any]
) -> None:
    draft = drafted(launch_table, **asked)
    assert draft.look is draft
    assert draft.members(1) == [draft.holder(1)] == [1]


@pytest.mark.parametrize(("models", "is_one"), [(("A40", "A40"), True), (("A40", "A100"), False)])
def test_kernels_of_different_gpus_stay_apart(
    launch_table: Build, models: tuple[str, str], is_one: bool
) -> None:
    others = (Device(7, "T4"), Device(0, "T4", process=8))
    devices = (*(Device(number, name) for number, name in enumerate(models)), *others)
    draft = drafted(launch_table, RecordingFacts(devices=devices))
    assert (draft.look is not draft) == is_one


def test_findings_have_the_rank_that_people_see(launch_table: Build) -> None:
    draft = drafted(launch_table)
    assert [group.name for group in draft.counts.groups] == ["a", "a", "c", "b", "b"]
    assert [draft.kernel(group) for group in range(5)] == ["#1 a", "#1 a", "#3 c", "#2 b", "#2 b"]
    assert draft.look.kernel(1) == "#2 b"
