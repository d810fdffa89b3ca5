"""Dense codes: equal rows, and only equal rows, share one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling import dense_codes as column_codes
from sampling.dense_codes import dense_codes


@pytest.fixture(scope="module", params=["sorted", "hashed"], autouse=True)
def path_taken(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run every test by sorting and by hashing."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HASHING_PAYS_FROM_ROWS", "IMPORT_PAYS_FROM_ROWS"):
            patch.setattr(column_codes, name, 0 if request.param == "hashed" else 10**9)
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


@given(table=rows(2**31 - 1))
def test_equal_rows_and_only_equal_rows_share_a_code(table: list[tuple[int, ...]]) -> None:
    check_codes(table)


@given(table=rows(2**57))
def test_columns_too_wide_for_one_key_together_still_get_exact_codes(table: list[tuple[int, ...]]) -> None:
    check_codes(table)


def test_columns_that_fill_an_int64_each_still_get_exact_codes() -> None:
    top = 2**63 - 1
    check_codes([(0, top), (1, top), (2, top), (3, top), (4, top), (0, 0), (4, 0), (2, top)])


def test_no_rows_have_no_codes() -> None:
    codes, first_rows = dense_codes([np.zeros(0, dtype=np.int64)])
    assert len(codes) == len(first_rows) == 0


def test_a_column_broadcast_from_one_value_separates_nothing() -> None:
    same = np.broadcast_to(np.int64(7), 4)
    codes, first_rows = dense_codes([same, np.array([3, 3, 5, 3]), same])
    assert first_rows[codes].tolist() == [0, 0, 2, 0]


def test_a_column_of_zeros_separates_nothing() -> None:
    codes, first_rows = dense_codes([np.zeros(5, dtype=np.int32), np.zeros(5, dtype=np.int64)])
    assert codes.tolist() == [0] * 5
    assert first_rows.tolist() == [0]
