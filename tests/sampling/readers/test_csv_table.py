"""Tables that no profiler wrote, read by the columns that the user names or by our own names."""

from __future__ import annotations

import csv
import io
import math
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.readers.columns import column_map
from sampling.readers.registry import read_profile
from tests.sampling.readers.launches_told import Told, told

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
THEIRS = (
    "Kernel Name,Dur (us),Start,Grid,Block,Queue,Rank\n"
    '"f<int, 4>(float*)",12.5,3000,"(8, 1, 1)",128,7,1\n'
    "g,0.0004,2000,8x2,32x4x1,,0\n"
    "g,3.2504,1000,,64,9,0\n"
)
COLUMNS = (
    "name=Kernel Name,duration_ns=Dur (us):us,start_ns=Start,grid=Grid,block=Block,stream=Queue,process=Rank"
)


def read(path: Path, columns: str | None = None) -> Profile:
    return read_profile([str(path)], columns=None if columns is None else column_map(columns))


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def refused(path: Path, columns: str | None = None) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        read(path, columns)
    return caught.value


def durations(profile: Profile) -> list[int]:
    return profile.load(["duration_ns"])["duration_ns"].tolist()


class TestColumns:
    def test_those_the_user_names(self, tmp_path: Path) -> None:
        """By process, then in the order of the file, whatever the starts are."""
        profile = read(written(tmp_path, THEIRS), COLUMNS)
        assert profile.format == "csv"
        assert profile.named_columns == COLUMNS
        assert profile.facts.launch_order == "file"
        assert told(profile) == [
            Told(0, 0, "g", 2000, 0, 0, (8, 2, 1), (32, 4, 1)),
            Told(0, 0, "g", 1000, 3250, 9, None, (64, 1, 1)),
            Told(1, 0, "f<int, 4>(float*)", 3000, 12500, 7, (8, 1, 1), (128, 1, 1)),
        ]

    def test_an_unknown_table_is_shown_what_to_type(self, tmp_path: Path) -> None:
        error = refused(written(tmp_path, THEIRS))
        assert "'Kernel Name', 'Dur (us)', 'Start', 'Grid', 'Block', 'Queue', 'Rank'" in error.message
        assert error.remedy is not None
        assert "`columns='name=Kernel Name,duration_ns=Dur (us):us'`" in error.remedy


class TestText:
    @pytest.mark.parametrize("mark", [",", "\t", ";"])
    def test_separators(self, tmp_path: Path, mark: str) -> None:
        text = f'name{mark}duration_ns{mark}note\r\n"a{mark}b"{mark}5{mark}x\r\nc{mark}6{mark}y\r\n'
        profile = read(written(tmp_path, text))
        names = [profile.kernels.names.full(code) for code in range(2)]
        assert (names, durations(profile)) == ([f"a{mark}b", "c"], [5, 6])

    def test_launches_of_a_plan_are_no_profile(self, tmp_path: Path) -> None:
        path = written(tmp_path, "id,name,weight,duration_ns\n1,k,2.0,5\n")
        assert "that a plan draws" in refused(path).message
        assert durations(read(path, "name=name")) == [5]


class TestMetrics:
    TEXT = "name,t,ipc,note,mixed,empty,flag\na,1,0.5,x,1,,true\nb,2,,y,two,,false\n"

    def test_columns_of_numbers_are_metrics(self, tmp_path: Path) -> None:
        profile = read(written(tmp_path, self.TEXT), "duration_ns=t")
        assert profile.metric_names == ("ipc",)
        values = profile.parts[0].metrics(["ipc"])["ipc"]
        assert np.array_equal(values, [0.5, math.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("k,,1,1,1", "t", "no value"),
        ("k,nan,1,1,1", "t", "no value"),
        ("k,-1,1,1,1", "t", "is negative"),
        ("k,-0.6,1,1,1", "t", "is negative"),
        ("k,x,1,1,1", "t", "'x' is not a number"),
        ("k,inf,1,1,1", "t", "'inf' is not a number"),
        ('k,"1,500",1,1,1', "t", "'1,500' is not a number"),
        ("k,1e30,1,1,1", "t", "'1e30' is not a number"),
        ("k,9000000000000000000,1,1,1", "t", "too long a time"),
        ("k,5,,1,1", "s", "no value"),
        ("k,5,1,8x,1", "g", "'8x' is not one to three whole numbers"),
        ("k,5,1,1,9999999999", "q", "too large"),
        ("k,5,1,1,a", "q", "'a' is not a number"),
        (",5,1,1,1", "k", "no kernel name"),
        ("k,5,1", "g", "3 cells where the header names 5"),
        ("k,5,1,1,1,1", None, "6 cells where the header names 5"),
        ('"k,5,1,1,1', "k", "quote"),
    ],
)
def test_a_wrong_cell_is_pointed_at(tmp_path: Path, row: str, column: str | None, message: str) -> None:
    path = written(tmp_path, f"k,t,s,g,q\na,1,1,1,1\n\n{row}\nb,2,2,2,2\n")
    error = refused(path, "name=k,duration_ns=t,start_ns=s,grid=g,stream=q")
    assert (error.row, error.column) == (4, column)
    assert message in error.message
    assert error.remedy == "correct the cell or leave the row out"


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=8),
            st.decimals(0, 10**6, allow_nan=False, allow_infinity=False, places=5),
            st.none() | st.integers(0, 2**31 - 1),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(sorted(UNITS)),
)
@settings(max_examples=40)
def test_as_the_standard_library_reads_it(rows: list[tuple[str, Decimal, int | None]], unit: str) -> None:
    """Against csv.reader and exact decimals: names as they are, times to the nearest nanosecond."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("Kernel", "T", "Q"), *((name, time, queue) for name, time, queue in rows)])
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), text.getvalue())
        profile = read(path, f"name=Kernel,duration_ns=T:{unit},stream=Q")
        with path.open(encoding="utf-8", newline="") as stream:
            oracle = list(csv.DictReader(stream))
    found = [
        (profile.kernels.names.full(int(name)), int(duration), int(stream))
        for name, duration, stream in zip(
            *profile.load(["name", "duration_ns", "stream"]).values(), strict=True
        )
    ]
    assert [name for name, _, _ in found] == [row["Kernel"] for row in oracle]
    assert [stream for _, _, stream in found] == [int(row["Q"] or 0) for row in oracle]
    for (_, duration, _), row in zip(found, oracle, strict=True):
        exact = Decimal(row["T"]) * UNITS[unit]
        assert abs(duration - exact) <= Decimal("0.5") + exact * Decimal("1e-15")


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
OF_PARQUET = (
    "name=Kernel,duration_ns=Dur:us,start_ns=Begin:ms,grid=Grid,block_x=bx,block_y=by,block_z=bz,"
    "stream=Queue,process=Rank"
)


def parquet_of(folder: Path, table: dict[str, Any], **how: Any) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table(table), path, **how)
    return path


def metric(profile: Profile, name: str) -> list[float]:
    return np.concatenate([span.metrics([name])[name] for span in profile.parts]).tolist()


@pytest.mark.parametrize("rank", [[1, 0, 1, 0, 1], [0, 0, 1, 1, 1]], ids=["interleaved", "in order"])
def test_parquet_is_the_same_as_csv(tmp_path: Path, rank: list[int]) -> None:
    table = TABLE | {"Rank": rank}
    parquet = read(parquet_of(tmp_path, table, row_group_size=2), OF_PARQUET)
    text = tmp_path / "table.csv"
    pa.csv.write_csv(pa.table(table), text)
    plain = read(text, OF_PARQUET)
    assert told(parquet) == told(plain)
    assert {launch.duration_ns for launch in told(parquet)} == {1500, 2000, 250, 7000, 3000}
    assert parquet.metric_names == plain.metric_names == ("insts",)
    assert metric(parquet, "insts") == metric(plain, "insts")


@pytest.mark.parametrize(
    ("change", "columns", "row", "column", "message"),
    [
        ({"Dur": [1, -2, 1, 1, 1]}, OF_PARQUET, 2, "Dur", "is negative"),
        ({"Dur": [1, None, 1, 1, 1]}, OF_PARQUET, 2, "Dur", "no value"),
        ({"Dur": [1.0, 1, float("nan"), 1, 1]}, OF_PARQUET, 3, "Dur", "no value"),
        ({"Dur": [1, 1, 1, 2**60, 1]}, OF_PARQUET, 4, "Dur", "too long a time"),
        ({"Dur": ["a"] * 5}, OF_PARQUET, None, "Dur", "holds string, not numbers"),
        (
            {"Dur": np.uint64([1, 2**63, 1, 1, 1])},
            OF_PARQUET,
            2,
            "Dur",
            "9223372036854775808 is not a number",
        ),
        ({"Dur": [1.0, 1, 1, 1e300, 1]}, OF_PARQUET, 4, "Dur", "is not a number"),
        ({"Dur": [True] * 5}, OF_PARQUET, None, "Dur", "holds bool, not numbers"),
        ({"Kernel": ["a", "b", None, "c", "d"]}, OF_PARQUET, 3, "Kernel", "no kernel name"),
        ({"Kernel": [1] * 5}, OF_PARQUET, None, "Kernel", "holds int64, not text"),
        ({"Kernel": [b"a"] * 5}, OF_PARQUET, None, "Kernel", "holds binary, not text"),
        ({"Kernel": [["a"]] * 5}, OF_PARQUET, None, "Kernel", "not text"),
        ({"Grid": ["8", "8", "8", "8", "a"]}, OF_PARQUET, 5, "Grid", "'a' is not one to three whole numbers"),
        ({"Grid": [["8"]] * 5}, OF_PARQUET, None, "Grid", "not text"),
        ({"bx": [1, 1, -1, 1, 1]}, OF_PARQUET, 3, "bx", "-1 is negative"),
        ({}, "name=Kernel,duration_ns=Duration", None, None, "no column 'Duration', which `columns` gives"),
        ({}, "name=Kernel", None, None, "without a column duration_ns"),
    ],
)
def test_what_is_wrong_in_parquet_is_pointed_at(
    tmp_path: Path, change: dict[str, Any], columns: str, row: int | None, column: str | None, message: str
) -> None:
    path = parquet_of(tmp_path, TABLE | change, row_group_size=2)
    with pytest.raises(ProfileError, match=r"table\.parquet") as caught:
        told(read(path, columns))
    assert (caught.value.row, caught.value.column) == (row, column)
    assert message in caught.value.message
