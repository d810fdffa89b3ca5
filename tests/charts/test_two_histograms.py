"""Two histograms on one axis: the same durations stand in the same columns, each side in its own symbol."""

from __future__ import annotations

import numpy as np
import pytest

from tests.drawing import in_ascii
from tui.charts.grid import plain
from tui.charts.histogram import Side, two_histograms


def side(words: str, durations_ns: dict[int, int]) -> Side:
    """A side of so many launches a duration."""
    values = sorted(durations_ns)
    return Side(words, np.array(values, dtype=np.int64), np.array([durations_ns[ns] for ns in values]))


def rows_of(before: dict[int, int], after: dict[int, int], height: int, **options: bool) -> list[str]:
    sides = side("before: 9", before), side("after: 7", after)
    return plain(in_ascii(True, two_histograms, sides, 40, height, **options)).split("\n")


def columns(rows: list[str], mark: str) -> set[int]:
    return {column for row in rows for column, glyph in enumerate(row) if glyph == mark and column >= 7}


@pytest.mark.parametrize("height", [6, 9, 10, 24])
@pytest.mark.parametrize("log", [False, True])
def test_a_duration_stands_in_the_same_column_on_both_sides(height: int, log: bool) -> None:
    rows = rows_of({1000: 5, 9000: 5}, {1000: 7, 5000: 7}, height, log=log)
    assert len(rows) == height
    cut = rows.index("o after: 7")
    assert rows[0] == "# before: 9"
    upper, lower = columns(rows[1:cut], "#"), columns(rows[cut + 1 :], "o")
    assert min(upper) == min(lower)
    assert max(upper) > max(lower) > min(lower)
    assert not columns(rows[1:cut], "o") | columns(rows[cut + 1 :], "#")


def test_only_the_lower_axis_has_labels() -> None:
    rows = rows_of({1000: 5}, {9000: 7}, 12)
    assert [number for number, row in enumerate(rows) if "us" in row] == [11]
    assert sum("+-" in row for row in rows) == 2, "two axes where there is room"
    assert sum("+-" in row for row in rows_of({1000: 5}, {9000: 7}, 9)) == 1
