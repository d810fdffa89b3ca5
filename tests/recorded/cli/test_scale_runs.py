"""Real runs of four sizes: the larger ones from the two before, launch by launch and by the default rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Kernelpoint

#: Cycles at 32 SMs of runs without a log that can be read: two kernels printed as one, another machine.
TRUTH = {("solver", 32): 117_594, ("trace", 32): 39_591}


def predicted(kernelpoint: Kernelpoint, runs: Path, program: str, sizes: Any, target: int, *more: str) -> Any:
    words = [word for size in sizes for word in ("--run", runs / f"{program}-{size}" / "run.log.gz")]
    run = kernelpoint("scale", "predict", *words, "--target", str(target), *more, "--format", "json")
    assert run.code == 0, run.err
    return run.results


def truth_of(kernelpoint: Kernelpoint, runs: Path, program: str, target: int) -> float:
    if (program, target) in TRUTH:
        return TRUTH[program, target]
    results = predicted(kernelpoint, runs, program, (8, target), 2 * target)
    return float(next(run["cycles"] for run in results["runs"] if run["size"] == target))


@pytest.mark.parametrize(
    ("program", "sizes", "target", "off"),
    [
        ("torch", (4, 8), 16, 0.045),
        ("torch", (4, 8), 32, 0.055),
        ("torch", (8, 16), 32, 0.03),
        ("torch", (8, 16), 64, 0.05),
        ("torch", (16, 32), 64, 0.02),
        ("heat", (8, 16), 32, 0.02),
        ("solver", (8, 16), 32, 0.03),
        ("trace", (8, 16), 32, 0.09),
    ],
)
def test_totals_are_within_the_interval(
    kernelpoint: Kernelpoint, runs: Path, program: str, sizes: tuple[int, int], target: int, off: float
) -> None:
    truth = truth_of(kernelpoint, runs, program, target)
    (row,) = predicted(kernelpoint, runs, program, sizes, target)["predictions"]
    assert abs(row["cycles"] / truth - 1) < off
    assert row["low"] <= truth <= row["high"]


def test_a_table_of_launches_beside_a_log(kernelpoint: Kernelpoint, runs: Path, tmp_path: Path) -> None:
    # The two launches that the run at 8 SMs has; its IPC at 16 SMs was 258.561.
    rows = (runs / "bigtrace-4.launches.csv").read_text().splitlines()[:3]
    table = tmp_path / "4.csv"
    table.write_text("\n".join(rows) + "\n")
    words = (
        "--run",
        f"4={table}",
        "--run",
        runs / "bigtrace-8" / "run.log.gz",
        "--target",
        "16",
        "--kernels",
    )
    results = kernelpoint("scale", "predict", *words, "--format", "json").results
    (row,) = results["predictions"]
    assert row["cycles"] == pytest.approx(13_823_704 / 258.561, rel=0.05)
    assert [each["limit"] for each in results["kernels"]] == ["its waves get fewer", "superlinear"]


@pytest.mark.parametrize("program", ["torch", "heat", "solver", "trace"])
def test_the_default_rule_says_that_it_is_beyond_and_holds_the_truth(
    kernelpoint: Kernelpoint, runs: Path, program: str
) -> None:
    truth = truth_of(kernelpoint, runs, program, 32)
    executed = predicted(kernelpoint, runs, program, (8, 16), 32)["predictions"][0]
    (row,) = predicted(kernelpoint, runs, program, (8, 16), 32, "--rule", "additive")["predictions"]
    ipc = executed["ipc"] * executed["cycles"] / truth
    assert "the benchmarks' by at most 11 %" in row["note"]
    assert row["low"] <= ipc <= row["high"]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("torch-8", "heat-16", "another program"),
        ("solver-8", "solver-32", "launches 59 and 60 are printed as one"),
        ("trace-8-maxcycle", "trace-16", "-gpgpu_max_cycle"),
        ("bigtrace-4", "bigtrace-8", "its launches are not those of the other run"),
    ],
)
def test_wrong_pairs_are_refused_by_name(
    kernelpoint: Kernelpoint, runs: Path, one: str, other: str, said: str
) -> None:
    words = [word for name in (one, other) for word in ("--run", runs / name / "run.log.gz")]
    assert said in kernelpoint("scale", "predict", *words, "--target", "64").failed(3)


def test_validate_takes_the_folders(kernelpoint: Kernelpoint, runs: Path) -> None:
    folders = [runs / f"torch-{size}" for size in (8, 16, 32, 64)]
    results = kernelpoint("scale", "validate", *folders, "--rule", "additive", "--format", "json").results
    assert results["waves"]["32"]["max"] < 0.03
    assert results["waves"]["64"]["max"] < 0.05
    assert results["additive"]["64"]["max"] > 0.15
