"""Values that are rare and legal, or rare and not: a defined answer for each, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Kernelpoint = Callable[..., Any]
PROJECT = Path(__file__).resolve().parents[2]


def profile(folder: Path, names: list[str], durations_ns: list[int]) -> Path:
    """Write a Parquet profile."""
    path = folder / "odd.parquet"
    pq.write_table(pa.table({"name": names, "duration_ns": durations_ns}), path)
    return path


def test_a_name_does_not_steer_the_terminal(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = profile(tmp_path, ["a\x1b[31mred\nx"] * 4, [5, 6, 7, 8])
    for command in ("summary", "groups", "histogram", "tree"):
        run = kernelpoint(command, path, "--color", "never", COLUMNS="200")
        assert run.code == 0
        assert "\x1b" not in run.out
        assert "a\\x1b[31mred\\nx" in run.out or command == "summary"
    assert (
        json.loads(kernelpoint("groups", path, "--format", "json").out)["results"][0]["name"]
        == "a\x1b[31mred\nx"
    )


@pytest.mark.parametrize("form", ["table", "json"])
def test_an_encoding_without_the_letter_is_no_error(tmp_path: Path, form: str) -> None:
    path = profile(tmp_path, ["µ-kernel"] * 4, [5, 6, 7, 8])
    run = subprocess.run(
        [sys.executable, "-m", "tui", "groups", str(path), "--format", form],
        capture_output=True,
        cwd=PROJECT,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert run.returncode == 0
    assert b"-kernel" in run.stdout
    assert run.stdout.isascii()


def test_several_includes_may_have_flags_of_their_own(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = profile(tmp_path, ["SGEMM", "relu", "copy"], [5, 6, 7])
    words = ("groups", path, "--include", "(?i)gemm", "--include", "relu", "--format", "json")
    assert {row["name"] for row in json.loads(kernelpoint(*words).out)["results"]} == {"SGEMM", "relu"}


def test_durations_that_no_recording_lasts(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    run = kernelpoint("info", profile(tmp_path, ["a", "a"], [2**62, 2**62]))
    assert run.code == 3
    assert "check the unit" in run.err


@pytest.mark.parametrize(
    "words",
    [
        ("--kernel", "#³"),
        ("--confidence", "0.9999999999999999"),
        ("--epsilon", "1e-12"),
        ("--noise-floor", "7"),
        ("--min-samples", "-4"),
        ("--group-epsilon", "abc"),
        ("--seed", "-1"),
        ("--launches", "3:1"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    kernelpoint: Kernelpoint, tmp_path: Path, words: tuple[str, str]
) -> None:
    run = kernelpoint("tree", profile(tmp_path, ["a"] * 4, [5, 6, 7, 9]), *words)
    assert run.code == 2
    assert run.err.startswith("kernelpoint: error:")
    assert run.err.count("\n") == 1


def test_judge_says_when_the_files_are_others(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """The same launches in another file: compared, and said."""
    path = profile(tmp_path, ["a"] * 50, list(range(100, 150)))
    plan, other = tmp_path / "plan.json", tmp_path / "other.parquet"
    kernelpoint("sample", path, "-o", plan)
    kernelpoint("convert", path, "-o", other)
    same = kernelpoint("judge", plan, path, "--format", "json")
    assert json.loads(same.out)["results"]["same_files"] is True
    assert json.loads(same.out)["warnings"] == []
    moved = kernelpoint("judge", plan, other, "--format", "json")
    assert moved.code == 0
    assert json.loads(moved.out)["results"]["same_files"] is False
    assert "made from other files" in moved.err


def test_a_plan_of_an_unknown_method_is_refused(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = profile(tmp_path, ["a"] * 50, list(range(100, 150)))
    plan = tmp_path / "plan.json"
    kernelpoint("sample", path, "-o", plan)
    document = json.loads(plan.read_text())
    document["options"]["method"] = "nope"
    plan.write_text(json.dumps(document))
    run = kernelpoint("judge", plan, path)
    assert run.code == 3
    assert "there is no method 'nope'" in run.err


def test_overrides_need_a_method_that_splits(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = profile(tmp_path, ["a"] * 4, [5, 6, 7, 9])
    overrides = tmp_path / "overrides.json"
    key = json.loads(kernelpoint("groups", path, "--format", "json").out)["results"][0]["key"]
    overrides.write_text(json.dumps({"overrides": [{"key": key, "path": "", "decision": "keep"}]}))
    run = kernelpoint("sample", path, "--method", "random", "--overrides", overrides)
    assert run.code == 2
    assert "splits nothing" in run.err


def test_a_plan_that_samples_no_time_has_no_speedup(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = profile(tmp_path, ["k"] * 8, [0, 0, 0, 0, 0, 10, 20, 30])
    words = ("sample", path, "--method", "random", "--set", "random.launches=1", "--quiet")
    seen = set()
    for seed in range(8):
        results = kernelpoint(*words, "--seed", str(seed), "--format", "json").results
        sampled_ns = results["sampled_duration_ns"]
        assert results["speedup"] == (60 / sampled_ns if sampled_ns else None)
        text = kernelpoint(*words, "--seed", str(seed)).out
        assert ("Simulate 1 of 8 launches (0 ns of 60 ns)." in text) == (sampled_ns == 0)
        seen.add(sampled_ns == 0)
    assert seen == {True, False}


def test_where_all_launches_last_0_ns_there_is_no_speedup_and_nothing_to_judge(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path = profile(tmp_path, ["k", "l"] * 4, [0] * 8)
    plan = tmp_path / "plan.json"
    run = kernelpoint("sample", path, "-o", plan, "--format", "json")
    assert run.results["speedup"] is None
    assert "Simulate 2 of 8 launches (0 ns of 0 ns)." in kernelpoint("sample", path).out
    rows = kernelpoint("compare", path, "--repeats", "3", "--format", "json").results
    assert {row["speedup"] for row in rows} == {None}
    assert kernelpoint("compare", path, "--repeats", "3").code == 0
    assert kernelpoint("compare", path, "--repeats", "3", "--scatter").code == 0
    assert kernelpoint("trade-off", path).code == 0
    assert kernelpoint("summary", path).code == 0
    assert "there is nothing to judge" in kernelpoint("judge", plan, path).failed(1)
