"""NumPy arrays of vectors: as numpy.save writes them, by position, and what is refused."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from sampling.errors import ProfileError
from sampling.features.join import with_features
from sampling.features.reading import read_features
from sampling.profile.launch_table import LaunchTable
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region


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


def test_one_number_a_launch_and_gzip(tmp_path: Path) -> None:
    plain = saved(tmp_path / "v.npy", np.array([5.0, 6.0, np.inf]))
    squeezed = tmp_path / "v.npy.gz"
    squeezed.write_bytes(gzip.compress(Path(plain).read_bytes()))
    for path in (plain, str(squeezed)):
        rows = read_features(path)
        np.testing.assert_array_equal(rows.features.metrics["vector_0"], [5, 6, np.nan])
        assert rows.notes == ("infinite values count as none: vector_0",)


class _Bomb:
    """Says so if it is ever unpickled."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("it was unpickled",))


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


def test_objects_are_refused_and_never_unpickled(tmp_path: Path) -> None:
    path = saved(tmp_path / "v.npy", np.array([[_Bomb()]], dtype=object), allow_pickle=True)
    with pytest.raises(ProfileError, match="holds no numbers"):
        read_features(path)


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
def launches(table: LaunchTable) -> LaunchList:
    """The launches of a small profile."""
    return list_launches(table, count_durations(table, Grouping()))


@pytest.fixture
def table(launch_table: Callable[..., LaunchTable]) -> LaunchTable:
    """Six launches of two kernels."""
    return launch_table(["f", "g", "f", "g", "f", "f"], [1, 2, 3, 4, 5, 6])


def test_rows_are_of_the_whole_profile_also_where_a_part_is_selected(
    tmp_path: Path, table: LaunchTable
) -> None:
    path = saved(tmp_path / "v.npy", np.arange(12).reshape(6, 2))
    chosen = list_launches(table, count_durations(table, Grouping(), Region(launches=(2, 5))))
    listed, (report,) = with_features(table, chosen, [path])
    assert listed.features is not None
    assert listed.features.metrics["vector_1"].tolist() == [5, 7, 9]
    assert (report.rows, report.matched, report.rows_not_selected) == (6, 3, 3)


@pytest.mark.parametrize("rows", [1, 5, 7])
def test_another_number_of_rows_is_another_profile(
    tmp_path: Path, table: LaunchTable, launches: LaunchList, rows: int
) -> None:
    path = saved(tmp_path / "v.npy", np.zeros((rows, 2)))
    with pytest.raises(ProfileError, match="for 6 launches, and it has nothing but their order") as caught:
        with_features(table, launches, [path])
    assert "column id" in str(caught.value.remedy)
    _, (report,) = with_features(table, launches, [path], strict=False)
    assert report.matched == 0


def test_the_bytes_may_come_by_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "v.npy", np.ones((2, 2)))

    class _Standard:
        buffer = io.BytesIO(Path(path).read_bytes())

    monkeypatch.setattr("sys.stdin", _Standard())
    assert len(read_features("-")) == 2


@pytest.mark.parametrize("head", [b"{'descr': '<f4', 'fortran", b"{'descr': ((((", b"('", b"\x00\xff" * 9])
def test_a_damaged_head_is_refused(tmp_path: Path, head: bytes) -> None:
    text = head.ljust(53, b" ") + b"\n"
    path = tmp_path / "v.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64))
    with pytest.raises(ProfileError):
        read_features(str(path))
