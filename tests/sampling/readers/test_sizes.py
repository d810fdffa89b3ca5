"""Cells that hold a grid or a block, in the ways in which people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.arrow import to_arrow_texts
from sampling.readers.table import sizes_of

numbers = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=3)
between = st.sampled_from(["x", "X", ",", ", ", " ", " x ", "  ", ";", "*"])
around = st.sampled_from([("", ""), ("(", ")"), ("[", "]"), (" ( ", " ) "), ("{", "}"), (" ", "")])


@given(st.lists(st.tuples(numbers, between, around), max_size=6))
def test_cells(cells: list[tuple[list[int], str, tuple[str, str]]]) -> None:
    texts = [first + mark.join(map(str, values)) + last for values, mark, (first, last) in cells]
    found, bad = sizes_of(to_arrow_texts(texts))
    assert bad == -1
    assert found.tolist() == [[*values, 1, 1][:3] for values, _, _ in cells]


def test_an_empty_cell_is_not_known() -> None:
    found, bad = sizes_of(to_arrow_texts(["8", "", "  "]))
    assert bad == -1
    assert found.tolist() == [[8, 1, 1], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "cell", ["a", "-8", "8.5", "1x2x3x4", "8x", "x8", "8xx1", "(8", "1e3", "12345678901", "8-1", "\u0663"]
)
def test_what_is_none_is_pointed_at(cell: str) -> None:
    _, bad = sizes_of(to_arrow_texts(["8x1", cell, "9"]))
    assert bad == (1 if cell != "(8" else -1)
