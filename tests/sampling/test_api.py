"""What the engine offers scripts: the script of the guide, word for word, and what else can be asked."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import sampling
from sampling.profile.profile import Profile

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def gpt2(sample_data: Path) -> Profile:
    return sampling.read_profile(sample_data / "gpt2-like.json.gz")


def test_the_script_of_the_guide_prints_what_stands_below_it(tmp_path: Path) -> None:
    (tmp_path / "sample_data").symlink_to(PROJECT / "sample_data")
    page = (PROJECT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", page, re.DOTALL)
    assert found is not None
    script, printed = found.groups()
    assert len([line for line in script.splitlines() if line]) <= 12
    program = f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout) == ("", printed)
    assert json.loads((tmp_path / "plan.json").read_text())["kind"] == "plan"


def test_every_name_is_there_and_no_other() -> None:
    assert dir(sampling) == sorted(sampling.__all__)
    for name in sampling.__all__:
        assert getattr(sampling, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'make_plans'"):
        sampling.make_plans  # noqa: B018 - to look is to ask


def test_launches_are_a_table_by_id(sample_data: Path) -> None:
    profile = sampling.read_profile(sample_data / "resnet50-like.sqlite")
    table = profile.to_pandas()
    assert list(table.index) == list(range(profile.launches))
    assert list(table.columns) == [
        *("name", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"),
        *("duration_ns", "start_ns", "stream", "process", "device"),
    ]
    with closing(sqlite3.connect(sample_data / "resnet50-like.sqlite")) as file:
        rows = file.execute(
            "SELECT s.value, k.gridX, k.blockX, k.end - k.start, k.start, k.streamId "
            "FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON k.demangledName = s.id "
            "ORDER BY k.correlationId"
        ).fetchall()
    shown = ["name", "grid_x", "block_x", "duration_ns", "start_ns", "stream"]
    assert list(table[shown].itertuples(index=False, name=None)) == rows


def test_a_plan_is_a_table_of_its_launches(gpt2: Profile, tmp_path: Path) -> None:
    sampling.write_plan(sampling.make_plan(gpt2), tmp_path / "plan.json")
    plan = sampling.read_plan(str(tmp_path / "plan.json"))
    drawn = plan.to_pandas()
    assert sorted(drawn.index) == [launch.id for launch in plan.drawn]
    launches = gpt2.to_pandas().loc[drawn.index]
    assert (launches["duration_ns"] == drawn["duration_ns"]).all()
    assert (launches["name"] == drawn["name"]).all()
    assert drawn["weight"].sum() == pytest.approx(gpt2.launches)


def test_a_plan_of_a_region_is_recorded_and_read_back(gpt2: Profile, tmp_path: Path) -> None:
    request = sampling.PlanRequest(
        method="root",
        group_by="short-name",
        launches="100:4000",
        exclude=("communication",),
        seed=4,
    )
    made = sampling.make_plan(gpt2, request)
    sampling.write_plan(made, tmp_path / "plan.json")
    plan = sampling.read_plan(str(tmp_path / "plan.json"))
    assert (plan.grouping, plan.options.region) == (made.draft.counts.grouping, request.region)
    assert plan.options.target == made.plan.design.target
    assert plan.options.launches == "100:4000"
    judged = sampling.judge_plan(plan, gpt2, repeats=3)
    assert judged.error == pytest.approx(made.plan.error)
    assert judged.total_ns == made.draft.counts.total_duration_ns
    assert plan.launches == made.launches


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda _: sampling.PlanRequest(group_by="kernel"), "'kernel' is not a valid GroupBy"),
        (lambda profile: sampling.make_plan(profile, sampling.PlanRequest(method="none")), "none"),
        (lambda _: sampling.PlanRequest(epsilon=5), "epsilon.? is a fraction"),
        (lambda _: sampling.read_profile("none.sqlite"), "none.sqlite"),
    ],
)
def test_what_cannot_be_done_is_one_family_of_errors(
    ask: Callable[[Profile], object], message: str, gpt2: Profile
) -> None:
    with pytest.raises(sampling.SamplingError, match=message):
        ask(gpt2)


def test_sixty_four_ranks_take_hardly_more_launches_than_one(launch_table: Callable[..., Profile]) -> None:
    rng = np.random.default_rng(0)
    names = [f"k{step % 40}" for step in range(400)]
    typical_ns = rng.lognormal(9, 1, 400).round()

    def ranks(number: int) -> Profile:
        slower = rng.uniform(1, 1.03, (number, 1))
        duration_ns = typical_ns * slower * rng.normal(1, 0.02, (number, 400))
        process = np.repeat(np.arange(number), 400).tolist()
        return launch_table(names * number, duration_ns.astype(np.int64).ravel().tolist(), process=process)

    one, many = sampling.make_plan(ranks(1)).samples, sampling.make_plan(ranks(64)).samples
    assert one <= many <= 1.2 * one
