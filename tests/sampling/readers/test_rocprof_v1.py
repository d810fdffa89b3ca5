"""rocprof's database and trace hold the kernel list: read, they are the same launches."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from tests.sampling.readers.launches_told import read, refusal_of, told

TITLES = ("Index", "KernelName", "gpu-id", "queue-id", "pid", "grd", "wgr", "BeginNs", "EndNs", "DurationNs")
ROWS: tuple[tuple[Any, ...], ...] = (
    (0, "add(float*, int) [clone .kd]", 0, 0, 7, 1024, 256, 5_000, 5_900, 900),
    (1, "__mul.kd", 1, 2, 7, 2048, 64, 7_000, 7_250, 250),
    (2, "add(float*, int) [clone .kd]", 0, 0, 7, 512, 256, 9_000, 9_001, 1),
)
NAMES = ({"ph": "M", "name": "process_name", "pid": 6, "sort_index": 0, "args": {"name": "GPU0"}},)
CALL = {"ph": "X", "name": "hsa_dispatch", "pid": "3", "args": {"BeginNs": "1", "EndNs": "1"}}


def database(folder: Path, rows: tuple[tuple[Any, ...], ...] = ROWS) -> Path:
    path = folder / "results.db"
    connection = sqlite3.connect(path)
    kinds = ", ".join(f'"{title}" {"TEXT" if title == "KernelName" else "INTEGER"}' for title in TITLES)
    connection.execute(f"CREATE TABLE A ({kinds})")
    marks = ", ".join("?" * len(TITLES))
    # rocprof copies the cells of its list with their quotes.
    connection.executemany(
        f"INSERT INTO A VALUES ({marks})", [(row[0], f'"{row[1]}"', *row[2:]) for row in rows]
    )
    connection.commit()
    connection.close()
    return path


def trace(folder: Path, rows: tuple[tuple[Any, ...], ...] = ROWS) -> Path:
    path = folder / "results.json"
    arguments = [dict(zip(TITLES, map(str, row), strict=True)) for row in rows]
    kernels = [{"ph": "X", "name": each["KernelName"], "pid": "6", "args": each} for each in arguments]
    path.write_text(json.dumps({"traceEvents": [{}, *NAMES, *kernels, CALL], "otherData": {}}))
    return path


def kernel_list(folder: Path) -> Path:
    path = folder / "results.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([TITLES, *ROWS])
    return path


@pytest.mark.parametrize("write", [database, trace])
def test_the_launches_are_those_of_the_list(tmp_path: Path, write: Any) -> None:
    launches = told(read(kernel_list(tmp_path)))
    assert [launch.duration_ns for launch in launches] == [900, 1, 250]
    profile = read(write(tmp_path))
    assert told(profile) == launches
    assert profile.format == "rocprof-v1"


@pytest.mark.parametrize("write", [database, trace])
def test_a_kernel_that_never_ended_is_left_out(tmp_path: Path, write: Any) -> None:
    rows = (*ROWS[:2], (*ROWS[2][:-2], 0, 0))
    profile = read(write(tmp_path, rows))
    assert [launch.duration_ns for launch in told(profile)] == [900, 250]
    assert profile.facts.first_left_out == "row 3, column EndNs: a launch ends before it starts"


@pytest.mark.parametrize("write", [database, trace])
def test_a_recording_without_a_kernel_is_refused(tmp_path: Path, write: Any) -> None:
    assert "without a kernel dispatch" in str(refusal_of(write(tmp_path, ())))


@pytest.mark.parametrize("write", [database, trace])
def test_a_value_that_is_no_number_is_refused_with_its_column(tmp_path: Path, write: Any) -> None:
    error = refusal_of(write(tmp_path, ((*ROWS[0][:5], "wide", *ROWS[0][6:]),)))
    assert error.column == "grd"


def test_a_fraction_is_not_cut_off(tmp_path: Path) -> None:
    error = refusal_of(database(tmp_path, ((*ROWS[0][:7], 5_000.5, *ROWS[0][8:]),)))
    assert error.column == "BeginNs"


def test_of_a_trace_that_is_cut_short_what_is_whole_is_read(tmp_path: Path) -> None:
    path = trace(tmp_path)
    text = path.read_text()
    path.write_text(text[: text.index('"9001"')])
    error = refusal_of(path)
    assert "cut short" in str(error)
    assert "`partial`" in str(error.remedy)
    profile = read_profile([str(path)], options=ReadOptions(partial=True))
    assert [launch.duration_ns for launch in told(profile)] == [900, 250]
    assert profile.notes == (f"{path}: cut short or damaged, read up to its kernel 2",)
