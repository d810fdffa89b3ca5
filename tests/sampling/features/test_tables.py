"""CSV and Parquet files of features: what identifies a row, what is a metric, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies
from workload import Recording

from sampling.errors import ProfileError
from sampling.features.join import with_features
from sampling.features.reading import FeatureRows, read_features
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region
from tests import small_recordings


def csv_rows(folder: Path, text: str) -> FeatureRows:
    """Read a text as a CSV of features."""
    path = folder / "features.txt"
    path.write_text(text)
    return read_features(str(path))


def parquet_rows(folder: Path, columns: dict[str, Any]) -> FeatureRows:
    """Read columns as a Parquet file of features."""
    path = folder / "features"
    pq.write_table(pa.table(columns), path)
    return read_features(str(path))


def listed(array: Any) -> Any:
    """Return an array as lists."""
    assert array is not None
    return np.asarray(array).tolist()


def test_ids_and_metrics(tmp_path: Path) -> None:
    rows = csv_rows(tmp_path, "id,instructions,cycles\n4,10,1.5\n2,n/a,\n")
    assert rows.format == "csv"
    assert listed(rows.id) == [4, 2]
    np.testing.assert_array_equal(rows.features.metrics["instructions"], [10, np.nan])
    np.testing.assert_array_equal(rows.features.metrics["cycles"], [1.5, np.nan])
    assert listed(rows.line) == [2, 3]


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
    rows = csv_rows(tmp_path, f'Name,{columns},occurrence,m\n"f(int, int)",{cells},3,1\n')
    assert rows.names == ("f(int, int)",)
    assert listed(rows.grid) == [[16, 2, 1]]
    assert listed(rows.block) == [[8, 4, 1]]
    assert listed(rows.occurrence) == [3]
    assert list(rows.features.metrics) == ["m"]


def separated(header: str, rows: list[str], separator: str) -> str:
    """Return a table written with commas with another separator in their place."""
    return "".join(f"{line}\n".replace("|", separator) for line in [header, *rows])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_semicolons_and_tabs_separate_as_commas_do(tmp_path: Path, separator: str) -> None:
    text = separated(
        "Name|grid|m|k", ['"f<a, b; c>(x\ty)"|"(2, 1, 1)"|1.5|7', "g|3|2|8", "", "h|4||9"], separator
    )
    rows = csv_rows(tmp_path, "\ufeff" + text)
    assert rows.names == ("f<a, b; c>(x\ty)", "g", "h")
    assert listed(rows.grid) == [[2, 1, 1], [3, 1, 1], [4, 1, 1]]
    np.testing.assert_array_equal(rows.features.metrics["m"], [1.5, 2, np.nan])
    assert listed(rows.features.metrics["k"]) == [7, 8, 9]
    assert listed(rows.line) == [2, 3, 5]
    bare = csv_rows(tmp_path, separated("id|m", ["4|1", "2|3"], separator))
    assert (listed(bare.id), listed(bare.features.metrics["m"])) == ([4, 2], [1, 3])


def test_a_spreadsheet_of_de_de(tmp_path: Path) -> None:
    text = "id;m;k\n0;31,87;1.048.576\n1.106;1.234,5;7\n"
    path = tmp_path / "f"
    path.write_text(text)
    rows = read_features(str(path), locale="de_DE")
    assert listed(rows.id) == [0, 1106]
    assert listed(rows.features.metrics["m"]) == [31.87, 1234.5]
    assert listed(rows.features.metrics["k"]) == [1_048_576, 7]
    with pytest.raises(ProfileError, match=r"row 2, column m: '31,87' .*`number_locale=de_DE`"):
        csv_rows(tmp_path, text)
    with pytest.raises(ProfileError, match=r"row 2, column k: '1.048.576' is not a number"):
        csv_rows(tmp_path, text.replace("31,87", "31").replace("1.234,5", "1"))


def test_infinite_values_count_as_none_and_a_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = csv_rows(tmp_path, "id,m,k,n\n0,inf,1,5\n1,2,-Infinity,6\n2,3,1e999,7\n")
    np.testing.assert_array_equal(rows.features.metrics["m"], [np.nan, 2, 3])
    np.testing.assert_array_equal(rows.features.metrics["k"], [1, np.nan, np.nan])
    assert rows.notes == ("infinite values count as none: m, k",)
    # Later pieces of plain numbers are read without a look at their texts.
    monkeypatch.setattr("sampling.readers.input_file.PIECE_BYTES", 16)
    late = csv_rows(tmp_path, "id,m\n" + "".join(f"{index},1\n" for index in range(30)) + "30,inf\n")
    assert np.isnan(late.features.metrics["m"][30])
    assert late.notes == ("infinite values count as none: m",)
    table = parquet_rows(tmp_path, {"id": [0, 1], "m": [1.0, float("-inf")], "k": [1.0, None]})
    assert table.notes == ("infinite values count as none: m",)


def test_parquet_rows(tmp_path: Path) -> None:
    rows = parquet_rows(
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
    assert (rows.names, listed(rows.name)) == (("f", "g"), [0, 1])
    assert listed(rows.grid) == [[4, 1, 1], [2, 2, 2]]
    assert list(rows.features.metrics) == ["m", "count", "flag", "bad"]
    np.testing.assert_array_equal(rows.features.metrics["m"], [1.5, np.nan])
    assert listed(rows.features.metrics["count"]) == [3, 2**40]
    assert listed(rows.features.metrics["flag"]) == [1, 0]
    np.testing.assert_array_equal(rows.features.metrics["bad"], [np.nan, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("instructions\n5\n7\n", r"without a column id or name \(instructions\): rows are never"),
        ("kernel;m\nf;1\ng;2,5\n", r"without a column id or name \(kernel, m\): rows are never"),
        ("kernel\tm\nf\t1\n", r"without a column id or name \(kernel, m\): rows are never"),
        ("kernel,m\nf,1\n", r"without a column id or name \(kernel, m\): rows are never joined by position"),
        ("id,m\n1,2\n2,3\n1,4\n", "row 4: this launch's id stands in row 2 already"),
        ("name,occurrence,m\nf,0,2\nf,1,3\nf,0,4\n", r"row 4: this launch \(.*\) stands in row 2 already"),
        ("id,m\n1,2\n,3\n", "row 3, column id: no value"),
        ("id,m\n1,2\n1.5,3\n", "row 3, column id: 1.5"),
        ("id,m\n-1,2\n", "row 2, column id: -1"),
        ("name,m\nf,2\n,3\n", "row 3, column name: a row without a kernel name"),
        ("id,m\n1,2\n2,x\n", "row 3, column m: 'x' is not a number"),
        ("id,m\n1,2\n2,3,4\n", "row 3"),
        ("id,m\n", "without a single row"),
        ("id,comment\n1,x\n", "without a column of numbers"),
        ("name,grid,m\nf,many,2\n", "row 2, column grid: 'many' is not one to three"),
        ("name,grid_x,m\nf,4,2\n", "column of the grid but none grid_y"),
        ('id,m\n1,"31,87"\n', r"row 2, column m: '31,87' .*`number_locale=de_DE`"),
    ],
)
def test_a_wrong_table_is_refused_with_its_row(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        csv_rows(tmp_path, text)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"kernel": ["f"], "m": [1]}, "without a column id or name"),
        ({"id": ["0"], "m": [1]}, "column id: holds string"),
        ({"id": [1, None], "m": [1, 2]}, "row 2, column id: no value"),
        ({"id": [1, 1], "m": [1, 2]}, "row 2: this launch's id stands in row 1 already"),
        ({"name": [1], "m": [1]}, "column name: holds int64, not text"),
        ({"name": ["f"], "grid": ["?"], "m": [1]}, "row 1, column grid"),
        ({"id": [1]}, "without a column of numbers"),
    ],
)
def test_a_wrong_parquet_table_is_refused(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        parquet_rows(tmp_path, columns)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"\n \n", "an empty file"),
        (
            b"NVR\0" + bytes(100),
            r"without a CSV of metrics in it; write it with `ncu --import .* --csv --page raw`",
        ),
        (
            b"==PROF== Connected\n==PROF== Profiling\n",
            "without a CSV of metrics in it; write it with `ncu --import",
        ),
        (b"hello\nworld\n", "text, not features"),
        (b"PK\x03\x04" + bytes(100), "an archive or packed data"),
        (b"Start (ns),End (ns),Duration (ns),Name,RangeId\n1,2,1,x,3\n", "no kernel launches"),
        (
            b"Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n1,2,3,1,1,1,1,1,1,f\n",
            "a profile",
        ),
    ],
)
def test_what_has_no_features_is_refused_with_the_reason(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(content)
    with pytest.raises(ProfileError, match=message) as caught:
        read_features(str(path))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("kineto", "a Kineto .* trace of 28 events without a GPU kernel among them"),
        ("nsys", "16 CUDA API calls but no kernel launches"),
        ("nothing", "no CUDA tables at all: CUDA was not traced"),
    ],
)
def test_a_small_trace_without_launches_is_not_called_a_profile(
    tmp_path: Path, written: str, message: str
) -> None:
    if written == "kineto":
        copies = small_recordings.copies_alone(small_recordings.batches())
        path = small_recordings.kineto(tmp_path, "today", copies)
    else:
        copies = small_recordings.copies_alone(small_recordings.images())
        path = small_recordings.nsys_sqlite(tmp_path, "2023.4", copies if written == "nsys" else Recording())
    with pytest.raises(ProfileError, match=message) as caught:
        read_features(str(path))
    assert "a profile" not in str(caught.value)
    assert "durations" not in str(caught.value)
    assert "it has no features of launches either; give a CSV of Nsight Compute" in str(caught.value)


def saved(path: Path, array: Any, **options: Any) -> str:
    """Write an array as numpy.save does."""
    with path.open("wb") as stream:
        np.save(stream, array, **options)
    return str(path)


@pytest.mark.parametrize("kind", ["<f4", ">f8", "<i2", "|u1", "|b1", "<f2", ">i8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_launches_in_id_order_whatever_the_kind_of_number(
    tmp_path: Path, kind: str, order: Any
) -> None:
    array = np.array([[1, 0, 1], [0, 0, 1]]).astype(kind, order=order)
    rows = read_features(saved(tmp_path / "v.npy", array))
    assert rows.format == "npy"
    assert rows.id is not None
    assert rows.id.tolist() == [0, 1]
    assert {name: values.tolist() for name, values in rows.features.metrics.items()} == {
        "vector_0": [1, 0],
        "vector_1": [0, 0],
        "vector_2": [1, 1],
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    array=numpy_strategies.arrays(
        st.sampled_from([np.float64, np.int32]), st.tuples(st.integers(1, 9), st.integers(1, 4))
    )
)
def test_what_numpy_loads_is_what_is_read(tmp_path: Path, array: Any) -> None:
    path = saved(tmp_path / "v.npy", array)
    metrics = read_features(path).features.metrics
    loaded = np.load(path).astype(np.float64)
    loaded[np.isinf(loaded)] = np.nan
    np.testing.assert_array_equal(np.stack(list(metrics.values()), axis=1), loaded)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([["a", "b"]]), "an array of 1 x 2 of <U1, not rows of numbers"),
        (np.array([[b"a"]]), "not rows of numbers"),
        (np.array([[1j]]), "of complex128, not rows of numbers"),
        (np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), "not rows of numbers"),
        (np.zeros((2, 3, 4)), "an array of 2 x 3 x 4 of float64, not rows of numbers"),
        (np.zeros((0, 3)), "an array of 0 x 3"),
        (np.zeros((3, 0)), "an array of 3 x 0"),
        (np.array(5.0), "an array of no dimension"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(tmp_path: Path, array: Any, message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        read_features(saved(tmp_path / "v.npy", array))
    assert (
        caught.value.remedy
        == "write numbers with numpy.save, a row for every launch in the order of their ids"
    )


def header(text: str) -> bytes:
    """A file with this header, version 1, and 16 bytes of numbers."""
    body = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body + bytes(16)


@pytest.mark.parametrize(
    "content",
    [
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00" + bytes(20),
        header("{'descr': '<f8', 'fortran_order': False}"),
        header("no header"),
        header("{'descr': 'quatsch', 'fortran_order': False, 'shape': (2,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (9**99, 2)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}"),
    ],
)
def test_damaged_files_are_said_to_be(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "v.npy"
    path.write_bytes(content)
    with pytest.raises(ProfileError, match="cut short or damaged"):
        read_features(str(path))


@pytest.fixture
def launches(table: Profile) -> LaunchList:
    """The launches of a small profile."""
    return list_launches(table, count_durations(table, Grouping()))


@pytest.fixture
def table(launch_table: Callable[..., Profile]) -> Profile:
    """Six launches of two kernels."""
    return launch_table(["f", "g", "f", "g", "f", "f"], [1, 2, 3, 4, 5, 6])


def test_rows_are_of_the_whole_profile_also_where_a_part_is_selected(tmp_path: Path, table: Profile) -> None:
    path = saved(tmp_path / "v.npy", np.arange(12).reshape(6, 2))
    chosen = list_launches(table, count_durations(table, Grouping(), Region(launches=(2, 5))))
    listed, (report,) = with_features(table, chosen, [path])
    assert listed.features is not None
    assert listed.features.metrics["vector_1"].tolist() == [5, 7, 9]
    assert (report.rows, report.matched, report.rows_not_selected) == (6, 3, 3)


@pytest.mark.parametrize("rows", [1, 5, 7])
def test_another_number_of_rows_is_another_profile(
    tmp_path: Path, table: Profile, launches: LaunchList, rows: int
) -> None:
    path = saved(tmp_path / "v.npy", np.zeros((rows, 2)))
    with pytest.raises(ProfileError, match="for 6 launches, and it has nothing but their order") as caught:
        with_features(table, launches, [path])
    assert "column id" in str(caught.value.remedy)
    _, (report,) = with_features(table, launches, [path], strict=False)
    assert report.matched == 0
