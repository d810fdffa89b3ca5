"""Plans and plan files: what always holds, the round trip through JSON, and files that are no plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.errors import PlanFileError
from sampling.methods.registry import method_names
from sampling.plan.design import make_design
from sampling.plan.plan import drawn_plan
from sampling.plan.plan_file import read_overrides, read_plan
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping, is_pool_key
from sampling.splitting.tree import Verdict
from sampling.strata.target import Target
from tests.small_plans import UNPOOLED, plan_of_profile

Build = Callable[..., Profile]
Mixture = Callable[..., dict[str, list[int]]]


@pytest.fixture(scope="module")
def profile(launch_table: Build, mixture: Mixture) -> Profile:
    """Return two processes on two devices, kernels in mixed order with three shapes and an unknown one."""
    rng = np.random.default_rng(8)
    rows = [(name, duration) for name, group in mixture(5).items() for duration in group]
    order = rng.permutation(len(rows))
    names, durations = zip(*(rows[index] for index in order), strict=True)
    return launch_table(
        names,
        durations,
        grid_x=rng.integers(0, 4, len(rows)),
        process=np.sort(rng.integers(0, 2, len(rows))),
        device=rng.integers(0, 2, len(rows)),
        start_ns=np.arange(len(rows)) * 1_000_000,
        stream=rng.integers(0, 3, len(rows)),
        location=Path(__file__),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plans")


def document_of(profile: Profile, folder: Path, *asked: Any) -> dict[str, Any]:
    """Return the plan file of a plan made with seed 3."""
    path = folder / "plan.json"
    plan_of_profile(profile, path, *asked, seed=3)
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def written(document: Any, folder: Path) -> str:
    """Write a document and return its path."""
    path = folder / "plan.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("method", method_names(random=True))
def test_a_plan_stands_for_every_launch(method: str, profile: Profile) -> None:
    counts = count_durations(profile, Grouping(GroupBy.NAME))
    plan = drawn_plan(counts, make_design(counts, method, UNPOOLED, 1), 1)
    strata = plan.design.strata
    assert strata.launches.sum() == counts.launches == profile.launches
    assert plan.weight.sum() == pytest.approx(counts.launches)
    assert plan.draw is not None
    assert len(plan.draw.pair) == strata.samples.sum()
    assert plan.samples == len(set(zip(plan.draw.pair.tolist(), plan.draw.occurrence.tolist(), strict=True)))
    assert plan.sampled_duration_ns == sum(plan.duration_ns)
    assert plan.speedup == pytest.approx(counts.total_duration_ns / plan.sampled_duration_ns)
    assert plan.estimate_ns == pytest.approx(float(plan.weight @ plan.duration_ns))
    assert plan.error == pytest.approx(abs(plan.estimate_ns / counts.total_duration_ns - 1))
    samples = np.minimum(2 if method == "joint" else 1, counts.group_launches)
    floor_ns = float((samples * counts.group_duration_ns / counts.group_launches).sum())
    assert plan.floor_ns == pytest.approx(floor_ns)
    promise = plan.design.promise
    assert promise is not None
    assert promise.bound >= 0
    assert (promise.group_bound is None) == (method == "random")


@pytest.mark.parametrize("method", method_names(random=True))
@pytest.mark.parametrize("by", [GroupBy.LAUNCH, GroupBy.NAME])
def test_a_plan_file_reads_back_as_it_was_written(
    by: GroupBy, method: str, profile: Profile, tmp_path: Path
) -> None:
    counts, path = count_durations(profile, Grouping(by)), tmp_path / "plan.json"
    overrides = {counts.groups[0].key: {"": Verdict.SPLIT}} if method == "root" else None
    plan = plan_of_profile(profile, path, method, Grouping(by), overrides=overrides)
    assert plan.launches == profile.launches
    assert plan.total_duration_ns == counts.total_duration_ns
    assert (plan.options.method, plan.options.group_by, plan.options.target.epsilon) == (method, by, 0.05)
    assert plan.text() == path.read_text()
    assert sum(stratum.size for stratum in plan.strata) == profile.launches
    assert sum(launch.weight for launch in plan.drawn) == pytest.approx(profile.launches)
    assert [launch.id for launch in plan.drawn] == sorted(launch.id for launch in plan.drawn)
    assert read_overrides(str(path)).overrides == (overrides or {})
    for stratum in plan.strata:
        assert len(stratum.launches) == stratum.samples
        assert all(stratum.low_ns <= launch.duration_ns <= stratum.high_ns for launch in stratum.launches)
        if method != "random":
            names = {launch.name for launch in stratum.launches}
            assert stratum.pooled or names == {stratum.key.split(" ")[0]}
            assert stratum.pooled == is_pool_key(stratum.key)


@pytest.mark.parametrize(("method", "settings"), [("joint", ()), ("random", ("random.launches=1000000",))])
@pytest.mark.parametrize("by", [GroupBy.LAUNCH, GroupBy.NAME])
def test_a_stratum_says_how_many_names_grids_and_blocks_it_holds(
    by: GroupBy, method: str, settings: tuple[str, ...], profile: Profile, tmp_path: Path
) -> None:
    """Where all launches are drawn, those that are listed have as many."""
    target = Target(min_samples=10**6)
    plan = plan_of_profile(profile, tmp_path / "plan.json", method, Grouping(by), target=target, set=settings)
    numbers = [stratum.signatures for stratum in plan.strata]
    kernels_of_strata = [
        {(launch.name, launch.grid, launch.block) for launch in stratum.launches} for stratum in plan.strata
    ]
    assert sum(len(stratum.launches) for stratum in plan.strata) == profile.launches
    assert numbers == [len(kernels) for kernels in kernels_of_strata]
    assert max(numbers) > 1


@pytest.fixture(scope="module")
def small_plan(profile: Profile, folder: Path) -> str:
    """Return a plan document, written once for all tests that damage it."""
    return json.dumps(document_of(profile, folder))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda plan: plan.update(kind="summary"), r"garbles a value: .*kind"),
        (lambda plan: plan.update(schema=2), r"garbles a value: .*schema"),
        (lambda plan: plan.pop("strata"), "required field `strata`"),
        (lambda plan: plan.update(strata=[]), "do not hold its .* launches"),
        (
            lambda plan: plan["strata"][0].update(signatures=10**6),
            "signatures: 1000000 is more than its size",
        ),
        (lambda plan: plan["options"].update(epsilon=7.0), "a plan with bad options"),
        (lambda plan: plan["options"].update(launches="5:3"), "a plan with bad options"),
        (lambda plan: plan["strata"][0]["launches"][0].pop("weight"), "lacks or garbles .*weight"),
        (
            lambda plan: plan["profile"].update(launches=float("inf")),
            r"got `float` - at `\$\.profile\.launches",
        ),
        (lambda plan: plan["profile"].update(total_duration_ns=10**30), r"\$\.profile\.total_duration_ns"),
        (lambda plan: plan["strata"][0].update(mean_ns=float("nan")), r"\$\.strata\[0\]\.mean_ns"),
        (
            lambda plan: plan["strata"][0]["launches"][0].update(id=-1),
            r"Expected `int` >= 0 - at .*launches\[0\]\.id",
        ),
        (lambda plan: plan["strata"][0]["launches"][0].update(duration_ns=2**63), "Expected `int` <= "),
        (lambda plan: plan.update(overrides=[{"key": 1}]), "Expected `str`, got `int`"),
        (lambda plan: plan["profile"].update({"half \ud83d": 1}), "with a key that is no text"),
    ],
)
def test_a_damaged_plan_file_is_refused(
    damage: Callable[[dict[str, Any]], object], message: str, small_plan: str, tmp_path: Path
) -> None:
    document = json.loads(small_plan)
    damage(document)
    with pytest.raises(PlanFileError, match=message):
        read_plan(written(document, tmp_path))


@pytest.mark.parametrize("name", ["resnet50-like.sqlite", "gpt2-like.json.gz", "no such file", "."])
def test_what_is_no_plan_is_refused(sample_data: Path, name: str) -> None:
    with pytest.raises(PlanFileError):
        read_plan(str(sample_data / name))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, 'required field `overrides`; write {"overrides": '),
        ({"overrides": {"key": "k"}}, "Expected `array`"),
        ({"overrides": [{"key": "k", "path": "L", "decision": "keep"}, {"key": "k"}]}, r"overrides\[1\]"),
        ({"overrides": [{"key": "k", "path": "L", "decision": "cut"}]}, "Invalid enum value 'cut'"),
        (
            {"overrides": [{"key": key, "path": "L", "decision": "keep"} for key in ("k", "l", "k")]},
            r"overrides\[2\]: node L of 'k' is decided twice; keep one of them: keep or keep",
        ),
    ],
)
def test_wrong_overrides_are_refused_by_number(
    document: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(PlanFileError, match=message):
        read_overrides(written(document, tmp_path))
