"""What a plan file says of its own design, and its launches looked up in a profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sampling.plan.other_recording.plan_check import (
    drawn_durations_ns,
    estimate_ns,
    is_random,
    made_from,
    plan_error,
    planned_design,
    recorded_design,
    refuse_other_order,
)
from sampling.plan.written_plan import plan_document, planned_launches

from sampling.errors import AnalysisError, PlanFileError
from sampling.plan.design import make_design
from sampling.plan.plan import drawn_plan, locate
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.profile.launch_table import LaunchTable
from sampling.profile.profile import Profile, ProfileFile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.strata import Strata
from sampling.strata.target import Target
from tests.targets import UNPOOLED

Build = Callable[..., LaunchTable]
Mixture = Callable[..., dict[str, list[int]]]
DECLARED = ("noise_floor", "kernel_spread")
OF_JOINT = (*DECLARED, "group_epsilon", "min_samples", "pool")


def shuffled(groups: dict[str, list[int]]) -> tuple[list[str], list[int]]:
    """Return the launches of kernel groups in an order that mixes them."""
    rows = [(name, duration) for name, durations in groups.items() for duration in durations]
    order = np.random.default_rng(1).permutation(len(rows))
    names, durations = zip(*(rows[place] for place in order), strict=True)
    return list(names), list(durations)


def planned(
    profile: Profile,
    counts: DurationCounts,
    folder: Path,
    method: str = "root",
    *,
    target: Target | None = None,
) -> PlanFile:
    """Make a plan with seed 2, write it and read it back."""
    asked = target or Target()
    plan = drawn_plan(counts, make_design(counts, method, asked, 2), 2)
    launches = planned_launches(profile, plan, locate(profile, counts, plan))
    options = {"epsilon": 0.05, "confidence": 0.95, "method": method}
    recorded = plan.design.target
    options |= {name: getattr(recorded, name) for name in (OF_JOINT if method == "joint" else DECLARED)}
    document = plan_document(profile, counts, plan, launches, options=options)
    path = folder / "plan.json"
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")
    return read_plan(str(path))


@pytest.fixture(scope="module")
def profile(launch_table: Build, mixture: Mixture) -> LaunchTable:
    names, durations = shuffled(mixture(3))
    return launch_table(names, durations, location=Path(__file__))


@pytest.mark.parametrize("method", ["root", "stem", "allegro", "random"])
def test_a_plan_file_is_enough_for_its_bounds(method: str, profile: LaunchTable, tmp_path: Path) -> None:
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = planned(profile, counts, tmp_path, method)
    recorded, found = recorded_design(plan), planned_design(counts, plan)
    assert recorded is not None
    unjudged = replace(found, groups=None)
    assert recorded.bound == pytest.approx(unjudged.bound, rel=1e-12)
    assert recorded.bound_with_noise is not None
    assert unjudged.bound_with_noise is not None
    if method == "random":
        # The file does not tell which kernels its only stratum holds: as much as if there was one.
        shares = counts.group_duration_ns / counts.total_duration_ns
        most, known = (1 + 3 * 0.3**2 * squares for squares in (1.0, float(np.dot(shares, shares))))
        expected = unjudged.bound_with_noise * np.sqrt(most / known)
        assert recorded.bound_with_noise == pytest.approx(expected, rel=1e-9)
    else:
        assert recorded.bound_with_noise == pytest.approx(unjudged.bound_with_noise, rel=1e-12)
    assert recorded.speedup == pytest.approx(found.speedup, rel=1e-12)
    assert recorded.samples == found.samples
    if method == "random":
        assert recorded.group_bound is found.group_bound is None
    else:
        assert recorded.group_bound == pytest.approx(unjudged.group_bound, rel=1e-12)


def test_launches_that_were_picked_have_no_bound(profile: LaunchTable, tmp_path: Path) -> None:
    plan = planned(profile, count_durations(profile, Grouping()), tmp_path)
    assert is_random(plan)
    plan = replace(plan, options={**plan.options, "method": "sieve"})
    assert not is_random(plan)
    assert recorded_design(plan) is None


@pytest.mark.parametrize(
    "target",
    [
        UNPOOLED,
        replace(UNPOOLED, group_epsilon=None, min_samples=3, noise_floor=0.2),
        replace(UNPOOLED, noise_floor=0.0),
    ],
)
def test_a_plan_of_joint_is_read_back_as_it_was_made(
    target: Target, profile: LaunchTable, tmp_path: Path
) -> None:
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = planned(profile, counts, tmp_path, "joint", target=target)
    made = make_design(counts, "joint", target, 2)
    found, recorded = planned_design(counts, plan), recorded_design(plan)
    assert found.target == made.target
    for field in fields(Strata):
        assert np.array_equal(getattr(found.strata, field.name), getattr(made.strata, field.name)), field.name
    assert (found.cycles.within, found.strata.least_samples) == (target.noise_floor, target.min_samples)
    assert recorded is not None
    for name in ("bound", "group_bound", "bound_with_noise", "group_bound_with_noise"):
        assert getattr(found, name) == getattr(made, name), name
        unjudged = getattr(replace(made, groups=None), name)
        assert getattr(recorded, name) == pytest.approx(unjudged, rel=1e-12), name
    if target.noise_floor:
        assert found.bound_with_noise > found.bound


def test_a_plan_with_pools_is_read_back_as_it_was_made(
    launch_table: Build, mixture: Mixture, tmp_path: Path
) -> None:
    """Of a file the shares of kernels in a pool are not known: taken as nothing, they are next to it."""
    names, durations = shuffled(
        mixture(3, groups=6) | {f"small{each}": [200 + each] * 9 for each in range(8)}
    )
    profile = launch_table(names, durations, location=Path(__file__))
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = planned(profile, counts, tmp_path, "joint", target=Target())
    made = make_design(counts, "joint", Target(), 2)
    found, recorded = planned_design(counts, plan), recorded_design(plan)
    assert recorded is not None
    assert made.groups is not None
    assert made.groups.is_pool.any()
    assert found.target == made.target
    for field in fields(Strata):
        assert np.array_equal(getattr(found.strata, field.name), getattr(made.strata, field.name)), field.name
    for name in ("bound", "group_bound", "bound_with_noise", "group_bound_with_noise"):
        assert getattr(found, name) == getattr(made, name), name
        unjudged = getattr(replace(made, groups=None), name)
        assert getattr(recorded, name) == pytest.approx(unjudged, rel=1e-3), name


def test_a_plan_that_does_not_record_what_is_declared_promises_no_simulated_total(
    profile: LaunchTable, tmp_path: Path
) -> None:
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = planned(profile, counts, tmp_path, "root")
    found = planned_design(counts, plan)
    assert found.bound is not None
    assert found.bound_with_noise is not None
    assert found.bound_with_noise > found.bound
    assert found.strata.least_samples == 1
    earlier = {name: value for name, value in plan.options.items() if name not in DECLARED}
    before = recorded_design(replace(plan, options=earlier))
    assert before is not None
    assert before.bound_with_noise is None
    assert before.group_bound_with_noise is None


@pytest.mark.parametrize(
    "damage",
    [
        {"noise_floor": "0.05"},
        {"noise_floor": 1.5},
        {"min_samples": 2.5},
        {"min_samples": True},
        {"min_samples": 0},
        {"group_epsilon": [0.25]},
        {"group_epsilon": 5.0},
        {"pool": "yes"},
        {"kernel_spread": -0.1},
    ],
    ids=repr,
)
def test_options_of_joint_that_cannot_be_are_refused(
    damage: dict[str, Any], profile: LaunchTable, tmp_path: Path
) -> None:
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = planned(profile, counts, tmp_path, "joint", target=Target())
    document = json.loads(Path(plan.path).read_text())
    document["options"] |= damage
    Path(plan.path).write_text(json.dumps(document))
    with pytest.raises(
        PlanFileError, match=f"a plan with bad options|options.{next(iter(damage))}: expected"
    ):
        recorded_design(read_plan(plan.path))


@pytest.mark.parametrize(
    "damage",
    [{"method": "nope"}, {"epsilon": 7.0}, {"confidence": 1.5}],
    ids=lambda damage: next(iter(damage)),
)
def test_options_that_cannot_be_are_refused(
    damage: dict[str, Any], profile: LaunchTable, tmp_path: Path
) -> None:
    plan = planned(profile, count_durations(profile, Grouping()), tmp_path)
    with pytest.raises(PlanFileError, match="a plan with bad options"):
        recorded_design(replace(plan, options={**plan.options, **damage}))


def test_more_draws_than_launches_are_refused(profile: LaunchTable, tmp_path: Path) -> None:
    plan = planned(profile, count_durations(profile, Grouping()), tmp_path)
    strata = (replace(plan.strata[0], samples=plan.strata[0].size + 1), *plan.strata[1:])
    with pytest.raises(PlanFileError, match="draws more launches than a stratum has"):
        recorded_design(replace(plan, strata=strata))


def test_a_plan_is_of_the_bytes_it_was_made_from(
    profile: LaunchTable, launch_table: Build, tmp_path: Path
) -> None:
    plan = planned(profile, count_durations(profile, Grouping()), tmp_path)
    other = tmp_path / "other"
    other.write_bytes(Path(__file__).read_bytes())
    assert made_from(launch_table(["a"], [1], location=other), plan)
    other.write_bytes(b"changed")
    assert not made_from(launch_table(["a"], [1], location=other), plan)


def test_drawn_launches_are_found_by_their_ids(
    profile: LaunchTable, launch_table: Build, mixture: Mixture, tmp_path: Path
) -> None:
    counts = count_durations(profile, Grouping())
    plan = planned(profile, counts, tmp_path)
    names, durations = shuffled(mixture(3))
    ids = [launch.id for launch in plan.drawn]
    assert drawn_durations_ns(profile, plan).tolist() == [durations[launch_id] for launch_id in ids]
    renamed = launch_table([f"ampere_{name}" for name in names], durations)
    with pytest.raises(AnalysisError, match=rf"launch {ids[0]} is 'ampere_"):
        drawn_durations_ns(renamed, plan)
    found = drawn_durations_ns(renamed, plan, names_may_differ=True)
    assert found.tolist() == [durations[launch_id] for launch_id in ids]
    expected = sum(launch.weight * durations[launch.id] for launch in plan.drawn)
    assert estimate_ns(plan, found) == pytest.approx(expected)
    of_renamed = count_durations(renamed, Grouping())
    assert plan_error(renamed, of_renamed, plan, names_may_differ=True).error == pytest.approx(
        plan_error(profile, counts, plan).error
    )
    with pytest.raises(AnalysisError, match=rf"launch {ids[-1]} of the plan is not in this profile"):
        drawn_durations_ns(launch_table(names[:9], durations[:9]), plan, names_may_differ=True)


def test_a_plan_file_lists_the_sequences_of_the_whole_profile(launch_table: Build, tmp_path: Path) -> None:
    """Of both devices, though the plan is of one; a file without the list still reads."""
    profile = launch_table(["a"] * 10, range(1, 11), device=[0] * 4 + [1] * 6, location=Path(__file__))
    plan = planned(profile, count_durations(profile, Grouping(), Region(devices=(1,))), tmp_path)
    assert [(sequence.device, sequence.launches) for sequence in plan.sequences] == [(0, 4), (1, 6)]
    path = tmp_path / "plan.json"
    document = json.loads(path.read_text())
    for damage in ({"digest": "00"}, {"digest": 17 * "0"}, {"digest": 5}, {"launches": 0}):
        changed = json.loads(path.read_text())
        changed["profile"]["sequences"][0] |= damage
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        with pytest.raises(PlanFileError, match="sequences"):
            read_plan(str(tmp_path / "changed.json"))
    del document["profile"]["sequences"][0]["digest"]
    path.write_text(json.dumps(document))
    with pytest.raises(PlanFileError, match="sequences: 'block_launches'"):
        read_plan(str(path))
    del document["profile"]["sequences"]
    path.write_text(json.dumps(document))
    assert read_plan(str(path)).sequences == ()


@dataclass(frozen=True)
class OfFiles:
    """A profile as far as its files go."""

    files: tuple[ProfileFile, ...]


def of_files(**sha256: str) -> Any:
    return OfFiles(tuple(ProfileFile(path, Path(path), 1, digest) for path, digest in sha256.items()))


def test_the_files_of_a_plan_in_another_order_are_refused(profile: LaunchTable, tmp_path: Path) -> None:
    plan = planned(profile, count_durations(profile, Grouping()), tmp_path)
    plan = replace(plan, files=tuple({"path": f"old{digest}", "sha256": digest} for digest in "xyzy"))
    refused = {
        "a": of_files(a="y", b="x", c="z", d="y"),
        "b": of_files(b="y", d="y", a="z", c="x"),
    }
    for given, order in zip(refused.values(), ("b a c d", "c b a d"), strict=True):
        assert not made_from(given, plan)
        with pytest.raises(AnalysisError, match="in another order") as caught:
            refuse_other_order(given, plan)
        assert caught.value.remedy == f"give them as {order}"
    same = of_files(a="x", b="y", c="z", d="y")
    assert made_from(same, plan)
    for other in (same, of_files(a="x", b="y", c="z", d="z"), of_files(a="y", b="x")):
        refuse_other_order(other, plan)


def test_long_names_are_shortened_in_what_is_said(
    profile: LaunchTable, launch_table: Build, mixture: Mixture, tmp_path: Path
) -> None:
    names, durations = shuffled(mixture(3))
    long = [f"void {name}<{300 * 'x'}1{300 * 'y'}>" for name in names]
    made = launch_table(long, durations, location=Path(__file__))
    plan = planned(made, count_durations(made, Grouping()), tmp_path)
    others = {
        "start": launch_table([f"int {name}" for name in long], durations),
        "middle": launch_table([name.replace("1y", "2y") for name in long], durations),
    }
    for where, other in others.items():
        with pytest.raises(AnalysisError, match=rf"launch {plan.drawn[0].id} is ") as caught:
            drawn_durations_ns(other, plan)
        said = str(caught.value)
        assert len(said) < 450
        assert ("x1y" in said and "x2y" in said) == (where == "middle")
        counts = count_durations(other, Grouping())
        with pytest.raises(AnalysisError, match="has no kernel group 'void") as caught:
            planned_design(counts, plan)
        assert len(str(caught.value)) < 250
