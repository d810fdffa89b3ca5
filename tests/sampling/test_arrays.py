"""Arrays to Arrow and back, the same values; dense codes: equal rows, and only equal rows, share one."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling import arrays
from sampling.arrays import dense_codes, first_true, nulls_as, to_arrow, to_numpy

DTYPES = ["int8", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"]


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 100)), st.integers(0, 5), st.integers(1, 3))
def test_numbers_come_back_as_they_were(dtype: str, numbers: list[int], offset: int, step: int) -> None:
    values = np.array(numbers, dtype=dtype)[::step]
    array = to_arrow(values)
    assert array.type == pa.from_numpy_dtype(values.dtype)
    assert array.to_pylist() == values.tolist()
    back = to_numpy(array.slice(offset))
    assert back.dtype == values.dtype
    assert back.tolist() == values[offset:].tolist()


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8(), pa.float64()])
def test_nulls_become_a_number_of_the_same_type(kind: pa.DataType) -> None:
    filled = nulls_as(pa.chunked_array([pa.array([1, None], kind), pa.array([None], kind)]), 7)
    assert filled.type == kind
    assert filled.to_pylist() == [1, 7, 7]
    assert nulls_as(pa.array([1], kind), 7).to_pylist() == [1]


@given(st.lists(st.lists(st.sampled_from([True, False, None]), max_size=4), max_size=4))
def test_the_first_true_counts_over_all_chunks(chunks: list[list[bool | None]]) -> None:
    flat = [value for chunk in chunks for value in chunk]
    expected = flat.index(True) if True in flat else -1
    assert first_true(pa.chunked_array(chunks, type=pa.bool_())) == expected


@pytest.fixture(scope="module", params=["sorted", "hashed"])
def path_taken(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run every test by sorting and by hashing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "sys", SimpleNamespace(modules=()))
        patch.setattr(arrays, "IMPORT_PAYS_FROM_ROWS", 0 if request.param == "hashed" else 10**9)
        yield request.param


def rows(widest: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Tables of one to eight columns of small and of wide numbers."""
    cell = st.one_of(st.integers(0, 3), st.integers(widest - 3, widest))
    return st.integers(1, 8).flatmap(
        lambda columns: st.lists(st.tuples(*[cell] * columns), min_size=1, max_size=40)
    )


def check_codes(table: list[tuple[int, ...]]) -> None:
    """Hold the codes against a dictionary of the rows."""
    codes, first_rows = dense_codes([np.array(column, dtype=np.int64) for column in zip(*table, strict=True)])
    first_row_of = {row: table.index(row) for row in table}
    assert sorted(first_rows.tolist()) == sorted(first_row_of.values())
    assert [table[first] for first in first_rows[codes].tolist()] == table
    assert first_rows[codes].tolist() == [first_row_of[row] for row in table]


@pytest.mark.usefixtures("path_taken")
@given(table=rows(2**31 - 1))
def test_equal_rows_and_only_equal_rows_share_a_code(table: list[tuple[int, ...]]) -> None:
    check_codes(table)


@pytest.mark.usefixtures("path_taken")
@given(table=rows(2**57))
def test_columns_too_wide_for_one_key_together_still_get_exact_codes(table: list[tuple[int, ...]]) -> None:
    check_codes(table)
