"""`run`: its options, what it says as it goes, its answer and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Kernelpoint


@pytest.fixture
def strata(plan_file: Path) -> list[dict[str, Any]]:
    return list(json.loads(plan_file.read_text())["strata"])


def launches_of(strata: list[dict[str, Any]]) -> list[int]:
    return [each["id"] for stratum in strata for each in stratum["launches"]]


def simulator(folder: Path, fails: int | None = None) -> str:
    """The command of a script that takes 1000 cycles and some, and fails for one launch."""
    script = folder / "simulate"
    script.write_text(f'[ "$1" != {fails} ] || exit 5\necho $((1000 + $1 % 7))\n')
    return f"sh {script} {{id}}"


def test_the_answer_is_that_of_estimate_and_progress_is_a_line_a_launch(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, strata: list[dict[str, Any]]
) -> None:
    folder = tmp_path / "run"
    words = ("run", plan_file, "--to", "csv", "--simulator", simulator(tmp_path), "-o", folder)
    run = kernelpoint(*words)
    assert run.code == 0, run.err
    count = len(launches_of(strata))
    lines = run.err.splitlines()
    assert len(lines) == count
    assert lines[-1].startswith("kernelpoint: launch ")
    assert f"{count} of {count} launches; cycles within" in lines[-1]
    results = sorted((folder / "results").iterdir())
    estimate = kernelpoint("estimate", folder, *results).out
    assert run.out.partition("Next: ")[0] == estimate.partition("Next: ")[0]
    assert run.out.endswith(" --target 0.03\n")
    again = kernelpoint(*words, "--quiet", "--format", "json")
    assert again.err == ""
    assert again.results["failed"] == []
    # Its folder is enough to go on.
    assert kernelpoint("run", folder, *words[2:6]).out == run.out


def test_a_stratum_without_a_result_is_incomplete(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    table, plan, alone = tmp_path / "profile.csv", tmp_path / "plan.json", 3
    table.write_text("name,duration_ns\n" + "b,100\n" * 3 + "alone,900\n" + "c,200\n" * 3)
    kernelpoint("sample", table, "-o", plan)
    run = kernelpoint("run", plan, "--to", "csv", "--simulator", simulator(tmp_path, alone))
    assert run.code == 4
    assert f"launch {alone} failed: exit code 5; " in run.err
    assert (tmp_path / "plan.run" / "results" / f"launch-{alone}.failed").exists()
    assert run.err.splitlines()[-1].startswith("kernelpoint: error: incomplete: ")
    assert run.out.startswith("INCOMPLETE: results of ")
    failed = f"launch {alone} failed (exit code 5); no other of its stratum was simulated for it\n"
    assert run.out.endswith(failed)


def test_a_job_array_is_written_and_what_to_type_is_said(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, strata: list[dict[str, Any]]
) -> None:
    folder = tmp_path / "run"
    run = kernelpoint(
        *("run", plan_file, "--to", "csv", "--simulator", simulator(tmp_path), "-o", folder, "--slurm")
    )
    assert run.code == 0, run.err
    count = len(launches_of(strata))
    assert run.out.startswith(f"{count} launches to simulate: sbatch {folder}/slurm.sh\n")
    assert "When the array has ended: kernelpoint " in run.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "how launches are simulated is not said"),
        (("--simulator", "true {list}"), "accel-sim runs --traces, and there are none"),
        (("--simulator", "true {id}", "--to", "csv", "--timeout", "soon"), "--timeout is a duration above 0"),
    ],
)
def test_what_is_missing_is_asked_for(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in kernelpoint("run", plan_file, "-o", tmp_path / "run", *words).failed(2)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "is_said"),
    [
        (("--target", "0.05"), True),
        ((), False),
        (("--target", "0.05", "--accept-cold"), False),
        (("--target", "0.05", "--caches", "after:16"), False),
        (("--target", "0.05", "--cold-check", "6"), False),
    ],
)
def test_that_cold_launches_keep_no_target_is_said_before_anything_runs(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, words: tuple[str, ...], is_said: bool
) -> None:
    (tmp_path / "traces").mkdir()
    asked = ("run", plan_file, "--to", "macsim", "--traces", tmp_path / "traces", "--simulator", "true")
    error = kernelpoint(*asked, "-o", tmp_path / "run", *words).err
    assert "which is not there" in error
    assert error.startswith("kernelpoint: launches start cold here") == is_said
