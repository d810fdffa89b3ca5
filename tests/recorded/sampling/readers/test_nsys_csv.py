"""What `nsys stats` of three versions printed for others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.sampling.readers.launches_told import by_the_csv_module, read, told


@pytest.mark.parametrize(
    ("file", "count"),
    [
        ("p2000-sort-gputrace-nsys2020.4.csv", 1700),
        ("rtx3090-gaussian-gputrace-nsys2022.4.csv", 8190),
        ("derived-h100-cuda_gpu_trace-greenctx.csv", 3442),
        ("a100-nerf-cuda_kern_exec_trace-nsys2023.4.csv", 1106),
    ],
)
def test_all_of_a_report_is_read(shared_data: Path, file: str, count: int) -> None:
    path = shared_data / "nsys-csv" / file
    launches = told(read(path))
    assert launches == by_the_csv_module(path)
    assert len(launches) == count


def test_the_csv_holds_what_the_database_holds(shared_data: Path) -> None:
    paths = (
        "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv",
        "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
    )
    csv, sqlite = (
        Counter((each[2], each[4], *each[6:]) for each in told(read(shared_data / path))) for path in paths
    )
    assert csv == sqlite
