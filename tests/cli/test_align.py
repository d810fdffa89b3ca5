"""`align`: what it says of a trace that has a plan's launches, lacks some, or is of another program."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sampling.simulators.alignment import ListedLaunch
from sampling.simulators.measured_run import SeenKernel
from tui.output.writer import Canvas
from tui.text.simulation import alignment_blocks

Kernelpoint = Callable[..., Any]

STEP, LAST = ("void step<(int)4>(float *)", "_Z4stepILi4EEvPf"), ("last(const float *)", "_Z4lastPKf")
PROGRAM = [(STEP, 4), (LAST, 2), (STEP, 4), (STEP, 8), (LAST, 2), (STEP, 4)]
HEADER = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n"


@pytest.fixture
def plan(tmp_path: Path, kernelpoint: Kernelpoint) -> Path:
    """A plan of all launches of a recording of six."""
    profile = tmp_path / "profile.csv"
    rows = "".join(
        f'{1000 * place},{100 + place},{place},{grid},1,1,128,1,1,GPU (0),1,7,"{names[0]}"\n'
        for place, (names, grid) in enumerate(PROGRAM)
    )
    profile.write_text(HEADER + rows)
    path = tmp_path / "plan.json"
    assert kernelpoint("sample", profile, "--epsilon", "0.0001", "-o", path).code == 0
    assert {launch["id"] for each in json.loads(path.read_text())["strata"] for launch in each["launches"]}
    return path


def traced(folder: Path, *numbers: int) -> Path:
    """The tracer's list of some launches, numbered anew."""
    path = folder / "stats.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        sizes = [f"{shape}_dim{axis}" for shape in ("grid", "block") for axis in "XYZ"]
        writer.writerow(
            ["kernel id", " kernel mangled name", *(f" {size}" for size in sizes), " total_insts"]
        )
        for number, place in enumerate(numbers, start=1):
            names, grid = PROGRAM[place]
            writer.writerow([f"kernel-{number}.trace", f" {names[1]}", grid, 1, 1, 128, 1, 1, 99])
    return path


def test_a_trace_of_all_launches(kernelpoint: Kernelpoint, plan: Path, tmp_path: Path) -> None:
    run = kernelpoint("align", plan, traced(tmp_path, *range(6)), "--format", "json")
    results = run.results
    assert (results["matched"], results["matched_by"]) == (6, "number")
    assert results["missing_in_trace"] == results["missing_in_profile"] == results["drawn_missing"] == []
    assert results["first_difference"] is None
    # A folder stands for the list in it.
    assert "6 launches are in both, by the trace's numbers" in kernelpoint("align", plan, tmp_path).out


def test_a_launch_that_is_missing_is_named_on_its_side(
    kernelpoint: Kernelpoint, plan: Path, tmp_path: Path
) -> None:
    results = kernelpoint("align", plan, traced(tmp_path, 0, 1, 2, 4, 5, 5), "--format", "json").results
    assert (results["matched"], results["matched_by"]) == (5, "order")
    assert results["missing_in_trace"] == [
        {"id": 3, "name": STEP[0], "grid": [8, 1, 1], "block": [128, 1, 1]}
    ]
    assert [each["number"] for each in results["missing_in_profile"]] in ([5], [6])
    assert results["first_difference"]["profile"]["id"] == 3
    assert results["first_difference"]["trace"]["number"] == 4
    text = kernelpoint("align", plan, traced(tmp_path, 0, 1, 2, 4, 5)).out
    assert "missing in the trace: 1 launch\n  launch 3 void step<(int)4>(float *) 8x1x1 128x1x1\n" in text
    assert "where they part first:\n  profile: launch 3" in text


def test_rows_are_the_launches_with_both_their_numbers(
    kernelpoint: Kernelpoint, plan: Path, tmp_path: Path
) -> None:
    rows = kernelpoint("align", plan, traced(tmp_path, 0, 1, 2, 4, 5), "--format", "csv").csv
    assert [(row["id"], row["number"]) for row in rows] == [
        *(("0", "1"), ("1", "2"), ("2", "3"), ("3", ""), ("4", "4"), ("5", "5"))
    ]


def test_a_plan_without_its_profile_is_refused(kernelpoint: Kernelpoint, plan: Path, tmp_path: Path) -> None:
    trace = traced(tmp_path, *range(6))
    (tmp_path / "profile.csv").unlink()
    assert "is not there" in kernelpoint("align", plan, trace).failed(3)


def test_another_process_than_the_profile_has_is_a_usage_error(
    kernelpoint: Kernelpoint, plan: Path, tmp_path: Path
) -> None:
    said = kernelpoint("align", plan, traced(tmp_path, 0), "--device", "3").failed(2)
    assert "--process" in said


@pytest.mark.parametrize("text", ["", "hello\n"])
def test_files_that_list_nothing_are_3(
    kernelpoint: Kernelpoint, plan: Path, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "list"
    path.write_text(text)
    kernelpoint("align", plan, path).failed(3)


def test_two_kernels_that_differ_in_their_middle_alone_are_told_apart() -> None:
    name = "void " + "a" * 90 + "<{}>" + "b" * 90
    parting = tuple(ListedLaunch(3, SeenKernel(name.format(each))) for each in ("int", "long"))
    none = np.array([], dtype=np.int64)
    sides = {"missing_in_trace": none, "missing_in_profile": none, "here": id, "there": id}
    found = SimpleNamespace(ids=none, by="number", drawn=0, first_difference=parting, **sides)
    here, there = list(alignment_blocks(found, Canvas(80, color=False)))[-2:]
    assert "<int>" in here
    assert "<long>" in there
