"""Tables that no profiler wrote: the columns that the user names, numbers, units and sizes in cells."""

from __future__ import annotations

import csv
import io
import math
import shlex
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.profile.profile import Profile
from sampling.readers import NumberLocale
from sampling.readers.cells import parse_numbers, parse_sizes
from sampling.readers.columns import LAUNCH_COLUMNS, TIMES, ColumnMap, NamedColumn, column_map, columns_remedy
from sampling.readers.input_file import ReadOptions
from sampling.readers.ncu import base_unit
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
    return read_profile([str(path)], options=ReadOptions(None if columns is None else column_map(columns)))


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
        ('k,"1,500",1,1,1', "t", "'1,500' is not a number"),
        ("k,9000000000000000000,1,1,1", "t", "too long a time"),
        ("k,5,1,1,9999999999", "q", "too large"),
        ("k,t,s,g,q", "t", "'t' is not a number"),
    ],
)
def test_a_wrong_cell_is_pointed_at(tmp_path: Path, row: str, column: str | None, message: str) -> None:
    path = written(tmp_path, f"k,t,s,g,q\na,1,1,1,1\n\n{row}\nb,2,2,2,2\n")
    error = refused(path, "name=k,duration_ns=t,start_ns=s,grid=g,stream=q")
    assert (error.row, error.column) == (4, column)
    assert message in error.message
    assert error.remedy == "correct the cell or leave the row out"


@pytest.mark.parametrize(
    ("row", "first"),
    [
        ("k,,1,1,1", "row 4, column t: a launch has no duration"),
        ("k,nan,1,1,1", "row 4, column t: a launch has no duration"),
        ("k,x,1,1,1", "row 4, column t: 'x' is not a number that fits here"),
        ("k,inf,1,1,1", "row 4, column t: 'inf' is not a number that fits here"),
        ("k,1e30,1,1,1", "row 4, column t: '1e30' is not a number that fits here"),
        ("k,5,1,1,a", "row 4, column q: 'a' is not a number that fits here"),
        (
            "k,5,1,8x,1",
            "row 4, column g: '8x' is not one to three whole numbers, such as 8, 8x1 or (8, 1, 1)",
        ),
        ("k,-1,1,1,1", "row 4, column t: a launch lasts -1 ns"),
        ("k,5,1", "row 4, column g: 3 cells where the header names 5"),
        ("k,5,1,1,1,1", "row 4: 6 cells where the header names 5"),
        ('"k,5,1,1,1', "row 4, column k: a quote is not closed"),
    ],
)
def test_a_row_that_is_no_launch_is_left_out(tmp_path: Path, row: str, first: str) -> None:
    path = written(tmp_path, f"k,t,s,g,q\na,1,1,1,1\n\n{row}\nb,2,2,2,2\n")
    profile = read(path, "name=k,duration_ns=t,start_ns=s,grid=g,stream=q")
    assert durations(profile) == [1, 2]
    assert (profile.facts.rows_left_out, profile.facts.first_left_out) == (1, first)


def test_rows_left_out_take_their_metrics_along(tmp_path: Path) -> None:
    profile = read(written(tmp_path, "name,duration_ns,ipc\na,1,10\nb,-2,20\n,3,30\n"))
    assert profile.parts[0].metrics(["ipc"])["ipc"].tolist() == [10, 30]
    assert [launch.name for launch in told(profile)] == ["a", "(no name)"]


@pytest.mark.parametrize("row", ["k,-1", "k,1,1", '"k,1'])
def test_a_file_of_many_rows_that_are_no_launches_is_refused(tmp_path: Path, row: str) -> None:
    error = refused(written(tmp_path, "name,duration_ns\n" + "k,1\n" * 900 + f"{row}\n" * 11 + "k,1\n"))
    assert error.row == 902
    assert "the first of 11 rows that can be no launch" in error.message


def test_a_last_row_that_is_cut_short_refuses_the_file(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "name,duration_ns,x\n" + "k,1,1\n" * 90 + "k,1"))
    assert (error.row, error.message.rpartition(": ")[2]) == (92, "2 cells where the header names 3")


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
        ({"Kernel": [1] * 5}, OF_PARQUET, None, "Kernel", "holds int64, not text"),
        ({"Kernel": [b"a"] * 5}, OF_PARQUET, None, "Kernel", "holds binary, not text"),
        ({"Kernel": [["a"]] * 5}, OF_PARQUET, None, "Kernel", "not text"),
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


@pytest.mark.parametrize("durations_ns", [[1, -2, 3, 4, 5], [1, None, 3, 4, 5], [1, math.nan, 3, 4, 5]])
def test_rows_of_parquet_without_a_duration_are_left_out(tmp_path: Path, durations_ns: list[Any]) -> None:
    profile = read(parquet_of(tmp_path, TABLE | {"Dur": durations_ns}, row_group_size=2), OF_PARQUET)
    assert sorted(durations(profile)) == [1_000, 3_000, 4_000, 5_000]
    assert profile.facts.rows_left_out == 1
    assert (profile.facts.first_left_out or "").startswith("row 2, column Dur: ")


def test_a_launch_of_parquet_without_a_name_is_kept(tmp_path: Path) -> None:
    profile = read(parquet_of(tmp_path, TABLE | {"Kernel": ["a", "b", None, "c", "d"]}), OF_PARQUET)
    assert sorted(launch.name for launch in told(profile)) == ["(no name)", "a", "b", "c", "d"]


# --- the text that says which column holds what: what is written is read again, and what is wro ----------


names = st.text(st.sampled_from("aB :=,\"'µsu.()[]"), max_size=12) | st.text(max_size=8)


def maps() -> st.SearchStrategy[ColumnMap]:
    """Any columns that may be given together."""
    ours = st.lists(st.sampled_from([each for each in LAUNCH_COLUMNS if "_" not in each or each in TIMES]))
    chosen = ours.map(lambda several: list(dict.fromkeys(several))).filter(bool)
    return chosen.flatmap(
        lambda several: st.tuples(
            *(
                st.builds(
                    NamedColumn,
                    st.just(each),
                    names,
                    st.sampled_from(list(UNITS.values())) if each in TIMES else st.just(1),
                )
                for each in several
            )
        ).map(ColumnMap)
    )


@given(maps())
@example(ColumnMap((NamedColumn("name", ":s", 1),)))
def test_what_is_written_is_read_again(columns: ColumnMap) -> None:
    assert column_map(str(columns)) == columns


@pytest.mark.parametrize(
    ("text", "ours", "theirs", "unit_ns"),
    [
        ("name=Kernel Name", "name", "Kernel Name", 1),
        ("duration_ns=Dur_us:us", "duration_ns", "Dur_us", 1_000),
        (" duration_ns = Dur : ms ", "duration_ns", "Dur", 1_000_000),
        ("duration_ns=Dur:µs", "duration_ns", "Dur", 1_000),
        ("duration_ns=a:b=c", "duration_ns", "a:b=c", 1),
        ("duration_ns=gpu:time:s", "duration_ns", "gpu:time", 1_000_000_000),
        ('duration_ns="Dur:us"', "duration_ns", "Dur:us", 1),
        ('duration_ns="Dur:us":us', "duration_ns", "Dur:us", 1_000),
        ('name="say ""a"", b"', "name", 'say "a", b', 1),
        ("name=Kernel:s", "name", "Kernel:s", 1),
        ("grid=Grid Size", "grid", "Grid Size", 1),
        ('stream=""', "stream", "", 1),
    ],
)
def test_what_a_text_means(text: str, ours: str, theirs: str, unit_ns: int) -> None:
    assert column_map(text).columns == (NamedColumn(ours, theirs, unit_ns),)


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("", "does not say which column", "write name=COLUMN"),
        ("name", "'name' does not say", "write name=COLUMN"),
        ("name=a,", "'' does not say", "write name=COLUMN"),
        ("name=a,,duration_ns=b", "',duration_ns=b' does not say", "write name=COLUMN"),
        ("name=", "'name=' does not say", "write name=COLUMN"),
        ('name="a', "'name=\"a' does not say", "double quotes"),
        ('name="a"b', "does not say", "double quotes"),
        ("nam=a", "a launch has no 'nam'", "did you mean 'name'?"),
        ("duration=a", "a launch has no 'duration'", "did you mean 'duration_ns'?"),
        ("name=a,name=b", "name is given twice", "once"),
        ("grid=a,grid_y=b", "grid_y is given twice", "give each once"),
        ("block_x=a,block=b", "block is given twice", "give each once"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str, remedy: str) -> None:
    with pytest.raises(OptionError) as caught:
        column_map(text)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"`columns={text}`: ")
    assert caught.value.remedy is not None
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("present", "guess"),
    [
        (["Op", "Start_us", "Duration_us"], "name=Op,duration_ns=Duration_us:us"),
        (["kernel", "avg_ms", "time_ms"], "name=kernel,duration_ns=time_ms:ms"),
        (["KernelName", "BeginNs", "DurationNs"], "name=KernelName,duration_ns=DurationNs"),
        (["a", "b"], "name=KERNEL,duration_ns=DURATION"),
        (["Demangled, Name", "Elapsed [ns]"], 'name="Demangled, Name",duration_ns=Elapsed [ns]'),
    ],
)
def test_what_is_likely_meant(present: list[str], guess: str) -> None:
    assert columns_remedy(present).endswith(f"`columns={shlex.quote(guess)}`")


# --- numbers under locales, and Nsight Compute's units ---------------------------------------------------


def number_of(cell: str, locale: NumberLocale = "C") -> float | str:
    """Return the number of a cell, or "text"."""
    values, texts = parse_numbers(pa.array([cell]), locale)
    return "text" if texts[0] else float(values[0])


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("30221", 30221),
        ("5195632.000000", 5195632),
        (" -1.5e-3 ", -0.0015),
        (".5", 0.5),
        ("30,221", 30221),
        ("58,748.42", 58748.42),
        ("1,234,567", 1234567),
        ("30.221", 30.221),
    ],
)
def test_plain_numbers_and_english_thousands_are_read_by_default(cell: str, number: float) -> None:
    assert number_of(cell) == number
    assert number_of(cell, "en_US") == number


@pytest.mark.parametrize(
    ("cell", "number"),
    [("30.221", 30221), ("31,87", 31.87), ("1.234.567,5", 1234567.5), ("12", 12), ("30,221", 30.221)],
)
def test_german_numbers_are_read_where_the_locale_says_so(cell: str, number: float) -> None:
    assert number_of(cell, "de_DE") == number


def test_what_is_no_number_of_the_named_locale_is_text() -> None:
    assert number_of("31.87", "de_DE") == "text"
    assert number_of("30,22") == "text"
    assert number_of("CachePreferNone") == "text"
    assert number_of("1,2345") == "text"


@pytest.mark.parametrize("cell", ["", "  ", "n/a", "nan", "N/A", "(n/a)"])
def test_a_cell_without_a_number_is_nan(cell: str) -> None:
    value = number_of(cell)
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("cell", "value"), [("inf", math.inf), ("-Infinity", -math.inf), ("+INF", math.inf), ("1e999", math.inf)]
)
@pytest.mark.parametrize("locale", ["C", "en_US", "de_DE"])
def test_an_infinite_cell_is_infinite_and_no_text(cell: str, value: float, locale: NumberLocale) -> None:
    assert number_of(cell, locale) == value


@given(st.integers(-(10**12), 10**12))
def test_grouped_and_plain_spellings_are_one_number(number: int) -> None:
    assert number_of(f"{number:,}") == number == number_of(str(number))
    assert number_of(f"{number:,}".replace(",", "."), "de_DE") == number


@pytest.mark.parametrize(
    ("unit", "factor", "base"),
    [
        ("usecond", 1e3, "ns"),
        ("us", 1e3, "ns"),
        ("msecond", 1e6, "ns"),
        ("second", 1e9, "ns"),
        ("Kbyte", 1e3, "byte"),
        ("Gbyte/second", 1e9, "byte/s"),
        ("cycle/nsecond", 1e9, "hertz"),
        ("Ghz", 1e9, "hertz"),
        ("sector/nsecond", 1e9, "sector/s"),
        ("Kinst", 1e3, "inst"),
        ("register/thread", 1, "register/thread"),
        ("%", 1, "%"),
        ("", 1, ""),
        ("Mystery", 1, "Mystery"),
    ],
)
def test_units_of_all_versions_come_down_to_base_units(unit: str, factor: float, base: str) -> None:
    assert base_unit(unit) == (pytest.approx(factor, rel=1e-12), base)


numbers = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=3)
between = st.sampled_from(["x", "X", ",", ", ", " ", " x ", "  ", ";", "*"])
around = st.sampled_from([("", ""), ("(", ")"), ("[", "]"), (" ( ", " ) "), ("{", "}"), (" ", "")])


@given(st.lists(st.tuples(numbers, between, around), max_size=6))
def test_cells(cells: list[tuple[list[int], str, tuple[str, str]]]) -> None:
    texts = [first + mark.join(map(str, values)) + last for values, mark, (first, last) in cells]
    found, bad = parse_sizes(texts)
    assert bad == -1
    assert found.tolist() == [[*values, 1, 1][:3] for values, _, _ in cells]


@pytest.mark.parametrize(
    "cell", ["a", "-8", "8.5", "1x2x3x4", "8x", "x8", "8xx1", "(8", "1e3", "12345678901", "8-1", "\u0663"]
)
def test_what_is_none_is_pointed_at(cell: str) -> None:
    _, bad = parse_sizes(["8x1", cell, "9"])
    assert bad == (1 if cell != "(8" else -1)


def test_a_name_may_have_any_character(tmp_path: Path) -> None:
    profile = read(written(tmp_path, "name,duration_ns\nk\x07\x01,5\nb,6\n"))
    assert [launch.name for launch in told(profile)] == ["k\x07\x01", "b"]


def test_of_a_table_that_is_cut_short_what_is_whole_is_offered(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "name,duration_ns,stream\na,5,7\nb,6"))
    assert "read what is whole of it with `partial`" in str(error.remedy)
