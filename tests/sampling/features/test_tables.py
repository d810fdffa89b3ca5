"""CSV, Parquet and npy files of features, and pages of Nsight Compute: what is read, what is refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ncu_file import as_ncu_spells

from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, read_features
from sampling.readers import NumberLocale
from tests import small_recordings

NAN = float("nan")


def read(folder: Path, content: str | bytes | dict[str, Any], locale: NumberLocale = "C") -> FeatureRows:
    """Read a text, bytes, or the columns of a Parquet file as features."""
    path = folder / "features"
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_features(str(path), locale=locale)


def listed(array: Any) -> Any:
    """Return an array as lists."""
    assert array is not None
    return np.asarray(array).tolist()


def has_metrics(rows: FeatureRows, **metrics: list[float]) -> None:
    """Assert that the metrics are these, in this order, NaN included."""
    assert list(rows.features.metrics) == list(metrics)
    for name, values in metrics.items():
        np.testing.assert_array_equal(rows.features.metrics[name], values)


def test_ids_and_metrics(tmp_path: Path) -> None:
    rows = read(tmp_path, "id,instructions,cycles,comment\n4,10,1.5,x\n2,n/a,,y\n")
    assert rows.format == "csv"
    assert (listed(rows.id), listed(rows.line)) == ([4, 2], [2, 3])
    has_metrics(rows, instructions=[10, NAN], cycles=[1.5, NAN])


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ("grid,block", '"(16, 2, 1)",8x4x1'),
        ("grid_x,grid_y,grid_z,block_x,block_y,block_z", "16,2,1,8,4,1"),
        ("Grid,BLOCK", '"16,2","8, 4, 1"'),
        ("grid,block", "[16;2;1],8*4"),
    ],
)
def test_names_and_shapes_in_all_their_spellings(tmp_path: Path, columns: str, cells: str) -> None:
    rows = read(tmp_path, f'Name,{columns},occurrence,m\n"f(int, int)",{cells},3,1\n')
    assert rows.names == ("f(int, int)",)
    assert (listed(rows.grid), listed(rows.block)) == ([[16, 2, 1]], [[8, 4, 1]])
    assert listed(rows.occurrence) == [3]
    has_metrics(rows, m=[1])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_semicolons_and_tabs_separate_as_commas_do(tmp_path: Path, separator: str) -> None:
    lines = ["Name|grid|m|k", '"f<a, b; c>(x\ty)"|"(2, 1, 1)"|1.5|7', "g|3|2|8", "", "h|4||9", ""]
    rows = read(tmp_path, "\ufeff" + "\n".join(lines).replace("|", separator))
    assert rows.names == ("f<a, b; c>(x\ty)", "g", "h")
    assert listed(rows.grid) == [[2, 1, 1], [3, 1, 1], [4, 1, 1]]
    assert listed(rows.line) == [2, 3, 5]
    has_metrics(rows, m=[1.5, 2, NAN], k=[7, 8, 9])


def test_a_spreadsheet_of_de_de(tmp_path: Path) -> None:
    text = "id;m;k\n0;31,87;1.048.576\n1.106;1.234,5;7\n"
    rows = read(tmp_path, text, "de_DE")
    assert listed(rows.id) == [0, 1106]
    has_metrics(rows, m=[31.87, 1234.5], k=[1_048_576, 7])
    with pytest.raises(ProfileError, match=r"row 2, column m: '31,87' .*`number_locale=de_DE`"):
        read(tmp_path, text)


def test_read(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        {
            "name": pa.array(["f", "g"]).dictionary_encode(),
            "grid": ["(4, 1, 1)", "2x2x2"],
            "process": pa.array([7, 7], pa.int16()),
            "m": pa.array([1.5, None]),
            "count": pa.array([3, 2**40], pa.uint64()),
            "flag": [True, False],
            "bad": [float("inf"), 1.0],
            "note": ["x", "y"],
            "duration_ns": [1, 2],
        },
    )
    assert rows.format == "parquet"
    assert (rows.names, listed(rows.name), listed(rows.process)) == (("f", "g"), [0, 1], [7, 7])
    assert listed(rows.grid) == [[4, 1, 1], [2, 2, 2]]
    has_metrics(rows, m=[1.5, NAN], count=[3, 2**40], flag=[1, 0], bad=[float("inf"), 1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("instructions\n5\n7\n", "no features"),
        ("kernel;m\nf;1\ng;2,5\n", "no column id or name"),
        ("kernel,m\nf,1\n", "no column id or name: rows are never joined by position"),
        ("id,m,id\n1,2,3\n", "several columns id"),
        ("id,m\n1,2\n2,3\n1,4\n", "row 4: this launch's id stands in row 2 already"),
        ("id,m\n1,2\n,3\n", "row 3, column id"),
        ("id,m\n1,2\n1.5,3\n", "row 3, column id"),
        ("id,m\n-1,2\n", "row 2, column id"),
        ("name,m\nf,2\n,3\n", "row 3, column name"),
        ("id,m\n1,2\n2,x\n", "row 3, column m: not a number"),
        ("id,m\n1,2\n2,3,4\n", "row 3"),
        ("id,m\n", "without a single launch"),
        ("id,comment\n1,x\n", "without a column of numbers"),
        ("name,grid,m\nf,many,2\n", "row 2, column grid: 'many'"),
        ("name,grid_x,m\nf,4,2\n", "grid_x, grid_y, grid_z"),
        ({"kernel": ["f"], "m": [1]}, "no column id or name"),
        ({"id": ["a"], "m": [1]}, "row 1, column id"),
        ({"id": [1, None], "m": [1, 2]}, "row 2, column id"),
        ({"id": [1, 1], "m": [1, 2]}, "row 2: this launch's id stands in row 1 already"),
        ({"name": ["f"], "grid": ["?"], "m": [1]}, "row 1, column grid"),
        ({"id": [1]}, "without a column of numbers"),
    ],
)
def test_a_wrong_table_is_refused_with_its_row(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        read(tmp_path, content)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n \n",
        b"NVR\0" + bytes(100),
        b"==PROF== Connected\n==PROF== Profiling\n",
        b"hello\nworld\n",
        b"PK\x03\x04" + bytes(100),
        b"Start (ns),End (ns),Duration (ns),Name,RangeId\n1,2,1,x,3\n",
        b"Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n1,2,3,1,1,1,1,1,1,f\n",
        b"PAR1" + bytes(20) + b"PAR1",
    ],
)
def test_what_has_no_features_is_refused_with_what_has(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ProfileError) as caught:
        read(tmp_path, content)
    assert str(tmp_path / "features") in caught.value.message
    assert caught.value.remedy


def test_a_trace_is_no_file_of_features(tmp_path: Path) -> None:
    for path in (
        small_recordings.kineto(tmp_path, "today", small_recordings.batches()),
        small_recordings.nsys_sqlite(tmp_path, "2023.4"),
        tmp_path,
    ):
        with pytest.raises(ProfileError, match="no features of launches; give a CSV of Nsight Compute"):
            read_features(str(path))


@pytest.mark.parametrize("kind", ["<f4", ">f8", "<i2", "|u1", "|b1", "<f2", ">i8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_an_array_are_launches_in_id_order_whatever_the_kind_of_number(
    tmp_path: Path, kind: str, order: Any
) -> None:
    array = np.array([[1, 0, 1], [0, 0, 1]]).astype(kind, order=order)
    np.save(tmp_path / "v.npy", array)
    rows = read_features(str(tmp_path / "v.npy"))
    assert (rows.format, listed(rows.id), rows.whole_profile) == ("npy", [0, 1], True)
    has_metrics(rows, vector_0=[1, 0], vector_1=[0, 0], vector_2=[1, 1])


def array_file(header: str) -> bytes:
    """A file with this header, version 1, and 16 bytes of numbers."""
    body = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body + bytes(16)


@pytest.mark.parametrize(
    "content",
    [
        np.array([["a", "b"]]),
        np.array([[1j]]),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.zeros((2, 3, 4)),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.array(5.0),
        np.array([[None]]),
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00" + bytes(20),
        array_file("{'descr': '<f8', 'fortran_order': False}"),
        array_file("no header"),
        array_file("{'descr': 'quatsch', 'fortran_order': False, 'shape': (2,)}"),
        array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}"),
        array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (9**99, 2)}"),
        array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2)}"),
        array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}"),
    ],
)
def test_what_is_damaged_or_no_rows_of_numbers_is_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "v.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    with pytest.raises(ProfileError, match="damaged or is no rows of numbers") as caught:
        read_features(str(path))
    assert "numpy.save" in str(caught.value.remedy)


# --- nsight Compute's CSV: both pages, their units, the lines around them, and the launches' id ----------


IDENTITY = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name"]
METRIC = ["Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type"]
SHAPE = ["Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
SPEEDUP = ["Rule Description", "Estimated Speedup Type", "Estimated Speedup"]
CHATTER = (
    b'==PROF== Connected to process 7 (/bin/app)\nresult, 1, 2\n==PROF== Profiling "f": 0%....100% - 9\n'
)


def quoted(*rows: Sequence[object]) -> bytes:
    """Return rows as Nsight Compute writes them: every cell in quotes."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def cells(
    launch: int, kernel: str = "f", *, process: int = 7, grid: str = "(64, 3, 1)", device: object = 0
) -> list[object]:
    """Return the cells that identify a launch."""
    return [launch, process, "app", "host", kernel, 1, 7, "(16, 2, 1)", grid, device, "8.0"]


def details(*rows: Sequence[object]) -> bytes:
    """Return a details page: metric rows have 15 cells and an empty one, as printed."""
    body = b"".join(quoted(row).replace(b"\n", b",\n") if len(row) == 15 else quoted(row) for row in rows)
    return quoted([*IDENTITY, *SHAPE, *METRIC, *SPEEDUP]) + body


def raw(metrics: Sequence[str], units: Sequence[str], *rows: Sequence[object]) -> bytes:
    """Return a raw page."""
    return quoted([*IDENTITY, *SHAPE, *metrics], [*[""] * 11, *units], *rows)


def values(rows: FeatureRows, name: str) -> list[float]:
    """Return the values of a metric."""
    return np.asarray(rows.features.metrics[name]).tolist()


def test_rules_chatter_and_program_output_are_no_rows(tmp_path: Path) -> None:
    rule = [*cells(0), "SpeedOfLight", "", "", "", "SOL", "OPT", 'Low, "very" low, 31,87 of it', "", ""]
    body = details([*cells(0), "A", "x", "usecond", "2"], rule, [*cells(1), "A", "x", "ms", "3"])
    first, second, rest = body.split(b"\n", 2)
    chatter = b"==WARNING== slow\nstep 3, loss 31,87\n1,2,3"
    rows = read(tmp_path, CHATTER + b"\n".join([first, second, chatter, rest]))
    assert values(rows, "x") == [2_000, 3_000_000]
    assert rows.line.tolist() == [5, 10]


def test_one_name_in_two_sections(tmp_path: Path) -> None:
    same = [
        [*cells(0), "A", "same", "", "1"],
        [*cells(0), "B", "same", "", "1"],
        [*cells(1), "B", "same", "", "4"],
    ]
    other = [
        [*cells(0), "A", "other", "", "1"],
        [*cells(0), "B", "other", "", "2"],
        [*cells(1), "A", "other", "", "5"],
    ]
    rows = read(tmp_path, details(*same, *other))
    assert set(rows.features.metrics) == {"same", "other", "B: other"}
    assert (values(rows, "same"), values(rows, "other")) == ([1, 4], [1, 5])
    np.testing.assert_array_equal(values(rows, "B: other"), [2, np.nan])


def test_ids_put_launches_in_order_within_their_process(tmp_path: Path) -> None:
    page = [[*cells(2, process=9), "12"], [*cells(0, process=9), "10"], [*cells(1, process=3), "1"]]
    rows = read(tmp_path, raw(["m"], [""], *page))
    assert values(rows, "m") == [1, 10, 12]
    assert rows.process is not None
    assert (rows.process.tolist(), rows.line.tolist()) == ([3, 9, 9], [5, 4, 3])
    assert rows.id is None


def test_the_raw_page_scales_by_its_second_row(tmp_path: Path) -> None:
    launches = [
        [*cells(0), "31.872000", "n/a", "CachePreferNone", "1"],
        [*cells(1, "g"), "1,031.5", "5", "CachePreferNone", "2"],
    ]
    page = raw(["t", "n", "text", "unknown"], ["usecond", "inst", "", "furlong"], *launches)
    rows = read(tmp_path, CHATTER + page)
    assert values(rows, "t") == pytest.approx([31_872, 1_031_500])
    np.testing.assert_array_equal(values(rows, "n"), [np.nan, 5])
    assert values(rows, "unknown") == [1, 2]
    assert rows.features.units == {"t": "ns", "n": "inst", "unknown": "furlong"}
    assert "text" not in rows.features.metrics
    header, _, first, second = page.splitlines(keepends=True)
    rows = read(tmp_path, header + first + second)
    assert values(rows, "t") == [31.872, 1031.5]
    assert rows.features.units == {}


def test_german_numbers_need_the_option(tmp_path: Path) -> None:
    page = details([*cells(0), "A", "Duration", "us", "31,87"], [*cells(0), "A", "Cycles", "cycle", "30.221"])
    with pytest.raises(ProfileError, match=r"row 2, column Metric Value: '31,87'.*`number_locale=de_DE`"):
        read(tmp_path, page)
    rows = read(tmp_path, page, "de_DE")
    assert values(rows, "Duration")[0] == pytest.approx(31_870)
    assert values(rows, "Cycles") == [30_221]
    wide = raw(["c"], ["cycle"], [*cells(0), "5195632,000000"])
    assert values(read(tmp_path, wide, "de_DE"), "c") == [5_195_632]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (raw(["m"], [""]), "without a single launch"),
        (details(), "without a single launch"),
        (
            raw(["m"], [""], [*cells(4), "1"], [*cells(4), "1"]),
            "row 4: this launch's ID stands in row 3 already",
        ),
        (raw(["m"], [""], [*cells(0), "1"], [*cells(1), "x"]), "row 4, column m: not a number"),
        (raw(["m"], [""], [*cells(0, grid="many"), "1"]), "row 3, column Grid Size: 'many'"),
        (raw(["m"], [""], [*cells(0, device="x"), "1"]), "row 3, column Device"),
        (
            details([*cells(0), "A", "m", "", "1"], [*cells(0, "g"), "A", "m", "", "1"]),
            "row 3, column ID: an ID stands for two kernels",
        ),
        (raw(["m"], [""], [*cells(0), "1"]) * 2, "several Nsight Compute reports"),
        (raw(["m"], [""], [*cells(0), "1"])[:-8] + b"\n", "row 3"),
    ],
)
def test_a_wrong_report_is_refused_with_its_row(tmp_path: Path, page: bytes, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read(tmp_path, page)
    assert message in str(caught.value)
    assert caught.value.remedy


def numbers_printed(path: Path) -> list[str]:
    """Return the values of a details page that are numbers, as its text has them."""
    with path.open(newline="") as stream:
        printed = [cells[14] for cells in csv.reader(stream) if len(cells) == 16]
    return [value for value in printed if value.replace(",", "").replace(".", "").isdigit()]


def test_a_small_details_page_reads_as_its_text_says(tmp_path: Path) -> None:
    path = small_recordings.ncu_details(tmp_path)
    rows, launches = read_features(str(path)), small_recordings.images().launches
    assert (rows.format, len(rows)) == ("ncu-details", len(launches))
    # Durations are printed with two decimals of a microsecond or of a millisecond.
    for found, launch in zip(values(rows, "Duration"), launches, strict=True):
        assert found == pytest.approx(launch.times.duration_ns, rel=0.05, abs=5)
    assert values(rows, "Registers Per Thread") == [launch.kernel.registers for launch in launches]
    assert rows.grid is not None
    assert rows.grid.tolist() == [list(launch.grid) for launch in launches]
    assert rows.name is not None
    assert [rows.names[code] for code in rows.name] == [as_ncu_spells(each.kernel.name) for each in launches]
    # Every metric row of the file is a value of a launch, but for those that are text.
    known = sum(int(np.isfinite(column).sum()) for column in rows.features.metrics.values())
    assert known == len(numbers_printed(path))
