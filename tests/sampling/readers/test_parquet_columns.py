"""Parquet whose columns have other names: what the user names is read as the CSV of the same table is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.readers.columns import column_map
from sampling.readers.registry import read_profile
from tests.sampling.readers.launches_told import told

TABLE: dict[str, Any] = {
    "Kernel": ["f", "g", "g", "f", "g"],
    "Dur": [1.5, 2.0004, 0.25, 7.0, 3.0],
    "Begin": [50, 40, 30, 20, 10],
    "Grid": ["8x1", "(2, 2, 2)", "8x1", None, "7"],
    "bx": [32, 64, 32, 32, 32],
    "by": [1, 1, 1, 2, 1],
    "bz": [1, 1, 1, 1, 1],
    "Queue": [3, None, 4, 5, 6],
    "Rank": [1, 0, 1, 0, 1],
    "grid_x": [9, 9, 9, 9, 9],
    "insts": [10, 20, 30, 40, 50],
}
COLUMNS = (
    "name=Kernel,duration_ns=Dur:us,start_ns=Begin:ms,grid=Grid,block_x=bx,block_y=by,block_z=bz,"
    "stream=Queue,process=Rank"
)


def written(folder: Path, table: dict[str, Any], **how: Any) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table(table), path, **how)
    return path


def read(path: Path, columns: str) -> Profile:
    return read_profile([str(path)], columns=column_map(columns))


def metric(profile: Profile, name: str) -> list[float]:
    return np.concatenate([span.metrics([name])[name] for span in profile.parts]).tolist()


@pytest.mark.parametrize("rank", [[1, 0, 1, 0, 1], [0, 0, 1, 1, 1]], ids=["interleaved", "in order"])
def test_the_same_as_csv(tmp_path: Path, rank: list[int]) -> None:
    table = TABLE | {"Rank": rank}
    parquet = read(written(tmp_path, table, row_group_size=2), COLUMNS)
    text = tmp_path / "table.csv"
    pa.csv.write_csv(pa.table(table), text)
    plain = read(text, COLUMNS)
    assert told(parquet) == told(plain)
    assert {launch.duration_ns for launch in told(parquet)} == {1500, 2000, 250, 7000, 3000}
    assert parquet.metric_names == plain.metric_names == ("insts",)
    assert metric(parquet, "insts") == metric(plain, "insts")


def test_units_of_whole_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, {"k": ["a"], "t": pa.array([3], pa.uint8()), "duration_ns": [5]})
    profile = read(path, "name=k,duration_ns=t:s")
    assert profile.parts[0].load(["duration_ns"])["duration_ns"].tolist() == [3_000_000_000]
    assert profile.metric_names == ()


@pytest.mark.parametrize(
    ("change", "columns", "row", "column", "message"),
    [
        ({"Dur": [1, -2, 1, 1, 1]}, COLUMNS, 2, "Dur", "-2 is negative"),
        ({"Dur": [1, None, 1, 1, 1]}, COLUMNS, 2, "Dur", "no value"),
        ({"Dur": [1.0, 1, float("nan"), 1, 1]}, COLUMNS, 3, "Dur", "not a number that fits"),
        ({"Dur": [1, 1, 1, 2**60, 1]}, COLUMNS, 4, "Dur", "is too large"),
        ({"Dur": ["a"] * 5}, COLUMNS, None, "Dur", "holds string, not whole numbers"),
        ({"Kernel": ["a", "b", None, "c", "d"]}, COLUMNS, 3, "Kernel", "no value"),
        ({"Kernel": [1] * 5}, COLUMNS, None, "Kernel", "holds int64, not text"),
        ({"Kernel": [["a"]] * 5}, COLUMNS, None, "Kernel", "not text"),
        ({"Grid": ["8", "8", "8", "8", "a"]}, COLUMNS, 5, "Grid", "'a' is not one to three whole numbers"),
        ({"Grid": [["8"]] * 5}, COLUMNS, None, "Grid", "not text"),
        ({"bx": [1, 1, -1, 1, 1]}, COLUMNS, 3, "bx", "-1 is negative"),
        ({}, "name=Kernel,duration_ns=Duration", None, None, "no column 'Duration', which `columns` gives"),
        ({}, "name=Kernel", None, None, "without a column duration_ns"),
    ],
)
def test_what_is_wrong_is_pointed_at(
    tmp_path: Path,
    change: dict[str, Any],
    columns: str,
    row: int | None,
    column: str | None,
    message: str,
) -> None:
    path = written(tmp_path, TABLE | change, row_group_size=2)
    with pytest.raises(ProfileError, match=r"table\.parquet") as caught:
        told(read(path, columns))
    assert (caught.value.row, caught.value.column) == (row, column)
    assert message in caught.value.message


def test_an_unknown_table_is_shown_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(ProfileError) as caught:
        read_profile([str(written(tmp_path, TABLE))])
    assert "`columns=name=Kernel,duration_ns=Dur`" in str(caught.value.remedy)
