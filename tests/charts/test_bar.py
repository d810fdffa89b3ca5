"""A share as a bar: as long as the share, to an eighth of a cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import in_ascii
from tui.charts.grid import bar

EIGHTHS = {"▏": 1, "▎": 2, "▍": 3, "▌": 4, "▋": 5, "▊": 6, "▉": 7, "█": 8}


@given(st.floats(0, 1), st.integers(0, 40))
def test_a_bar_is_as_long_as_its_share_to_an_eighth_of_a_cell(share: float, cells: int) -> None:
    drawn = bar(share, cells)
    assert len(drawn) <= cells
    assert abs(sum(EIGHTHS[glyph] for glyph in drawn) - 8 * share * cells) <= 0.5 + 1e-9
    assert set(drawn[:-1]) <= {"█"}, "only its end is part of a cell"
    assert in_ascii(True, bar, share, cells) == "#" * round(share * cells)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, ""), (-1.0, ""), (float("nan"), ""), (1.5, "████"), (float("inf"), "████")]
)
def test_what_is_no_share_is_an_end(share: float, expected: str) -> None:
    assert bar(share, 4) == expected
