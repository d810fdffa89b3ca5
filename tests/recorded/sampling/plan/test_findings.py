"""Findings on the order of recorded runs, of which it is known what they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.plan.draft import draft_plan
from sampling.plan.findings import Finding
from sampling.plan.request import PlanRequest
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.timeline import device_times


def found(path: Path, by: GroupBy = GroupBy.LAUNCH) -> dict[str, Finding]:
    looked = draft_plan(read_profile([str(path)]), PlanRequest(group_by=by, each_rank=True))
    return {finding.code: finding for finding in looked.findings}


@pytest.mark.parametrize(
    "name",
    ["nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite", "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv"],
)
def test_gaussian_elimination_has_ever_less_to_do(name: str, shared_data: Path) -> None:
    """Each launch works on a row less: both kernels fall, Fan2 from 954 us to 632 us at the very ends."""
    drift = found(shared_data / name)["drift"]
    assert drift.message.startswith(
        "#1 Fan2 falls from 905 us to 632 us over the run; with 1 other kernel group"
    )
    assert "100.0 % of the time drifts (rank correlation -1.00" in drift.message


def test_two_gpus_train_one_transformer(shared_data: Path) -> None:
    twins = found(shared_data / "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite")["identical-ranks"]
    assert "2 processes or devices issue the same 1,721 launches in the same order" in twins.message
    assert [change.value for change in twins.changes] == ["0"]


def test_six_steps_of_training(shared_data: Path) -> None:
    """The steps that the profiler marked have 1,467 launches each, the last somewhat more."""
    codes = found(shared_data / "kineto/v100-resnet50-training.json.gz")
    assert "the same 1,467 launches come 6 times" in codes["iterations"].message
    assert not {"drift", "identical-ranks"} & set(codes)


def test_real_recordings_have_no_times_that_cannot_be(shared_data: Path) -> None:
    """Not even nvprof's, whose starts of six digits put launches into others."""
    folders = ("kineto", "nsys-sqlite", "nsys-csv", "rocm", "nvprof", "turn4/files")
    paths = [path for folder in folders for path in sorted((shared_data / folder).iterdir())]
    told = {}
    for path in [*paths, shared_data / "nsys-parquetdir"]:
        facts = read_profile([str(path)]).facts
        told[path.name] = facts.overlong, facts.without_start
    assert len(told) > 30
    assert {name: each for name, each in told.items() if each != (0, 0)} == {}


def test_a_duration_of_seconds_over_29_launches_is_cut(shared_data: Path) -> None:
    path = shared_data / "turn4/cases/impossible-durations.json"
    profile = read_profile([str(path)])
    duration_ns = profile.load(("duration_ns",))["duration_ns"]
    assert (duration_ns[10], duration_ns.sum()) == (100_000, 1_890_000)
    assert (found(path)["overlong"].severity, profile.facts.overlong) == ("error", 1)
    kept = read_profile([str(path)], options=ReadOptions(keep_overlong=True))
    assert kept.load(("duration_ns",))["duration_ns"].max() == 3_400_000_000


def test_two_launches_with_ts_0_have_no_part_in_the_span(shared_data: Path) -> None:
    path = shared_data / "turn4/cases/ts0.json"
    profile = read_profile([str(path)])
    assert (profile.launches, profile.facts.without_start) == (20, 2)
    (time,) = device_times(profile, profile.parts)
    assert (time.span_ns, time.kernel_ns) == (1_950_000, 900_000)
    assert found(path)["no-times"].severity == "warning"
