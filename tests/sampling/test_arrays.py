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
from sampling.arrays import (
    dense_codes,
    first_true,
    nulls_as,
    to_arrow,
    to_arrow_texts,
    to_numpy,
)

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


@given(st.lists(st.lists(st.integers(-5, 5), max_size=4), max_size=4))
def test_chunks_follow_each_other(chunks: list[list[int]]) -> None:
    values = to_numpy(pa.chunked_array(chunks, type=pa.int32()))
    assert values.dtype == np.int32
    assert values.tolist() == [number for chunk in chunks for number in chunk]


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 20))
def test_truth_values_are_unpacked_from_their_bits(truths: list[bool], offset: int) -> None:
    values = to_numpy(pa.array(truths, pa.bool_()).slice(offset))
    assert values.dtype == np.bool_
    assert values.tolist() == truths[offset:]


@given(st.lists(st.text()))
def test_texts_come_back_as_they_were(texts: list[str]) -> None:
    array = to_arrow_texts(texts)
    assert array.type == pa.string()
    assert array.to_pylist() == texts


def test_numbers_with_a_null_are_refused() -> None:
    with pytest.raises(ValueError, match="nulls"):
        to_numpy(pa.array([1, None]))


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


@pytest.mark.usefixtures("path_taken")
def test_columns_that_fill_an_int64_each_still_get_exact_codes() -> None:
    top = 2**63 - 1
    check_codes([(0, top), (1, top), (2, top), (3, top), (4, top), (0, 0), (4, 0), (2, top)])


def test_a_column_of_one_value_separates_nothing() -> None:
    same = np.broadcast_to(np.int64(7), 4)
    codes, first_rows = dense_codes([same, np.array([3, 3, 5, 3]), same])
    assert first_rows[codes].tolist() == [0, 0, 2, 0]

    for several in (5, 0):
        codes, first_rows = dense_codes([np.zeros(several, dtype=np.int32)])
        assert codes.tolist() == [0] * several
        assert first_rows.tolist() == [0] * bool(several)
