"""What `nsys stats` of three versions printed for others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.sampling.readers.plain_nsys_csv import (
    execution_trace_by_the_csv_module,
    execution_trace_told,
    gpu_trace_by_the_csv_module,
    gpu_trace_told,
    read,
    shapes_by_plain_sql,
    shapes_told,
)


@pytest.mark.parametrize(
    ("file", "count"),
    [
        ("p2000-sort-gputrace-nsys2020.4.csv", 1700),
        ("rtx3090-gaussian-gputrace-nsys2022.4.csv", 8190),
        ("derived-h100-cuda_gpu_trace-greenctx.csv", 3442),
    ],
)
def test_gpu_traces(shared_data: Path, file: str, count: int) -> None:
    path = shared_data / "nsys-csv" / file
    profile = read(path)
    expected = gpu_trace_by_the_csv_module(path)
    assert gpu_trace_told(profile) == expected
    assert profile.launches == len(expected) == count


def test_kernel_execution_trace(shared_data: Path) -> None:
    path = shared_data / "nsys-csv" / "a100-nerf-cuda_kern_exec_trace-nsys2023.4.csv"
    profile = read(path)
    expected = execution_trace_by_the_csv_module(path)
    assert execution_trace_told(profile) == expected
    assert profile.launches == len(expected) == 1106
    assert {(sequence.process, sequence.device) for sequence in profile.sequences} == {(6014, 0)}


def test_the_csv_holds_what_the_database_holds(shared_data: Path) -> None:
    stored = shapes_by_plain_sql(shared_data / "nsys-sqlite" / "rtx3090-gaussian-nsys2022.4.sqlite")
    profile = read(shared_data / "nsys-csv" / "rtx3090-gaussian-gputrace-nsys2022.4.csv")
    assert shapes_told(profile) == stored


def test_durations_are_whole_numbers(shared_data: Path) -> None:
    profile = read(shared_data / "nsys-csv" / "rtx3090-gaussian-gputrace-nsys2022.4.csv")
    launches = profile.load(["duration_ns", "start_ns"])
    assert launches["duration_ns"].dtype == launches["start_ns"].dtype == np.int64
