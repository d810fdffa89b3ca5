"""The waterfall of a difference: where each cause begins and ends."""

from __future__ import annotations

from tests.drawing import in_ascii
from tui.charts.grid import plain
from tui.charts.waterfall import waterfall


def rows_of(before_ns: int, causes: list[tuple[str, int]]) -> list[str]:
    return plain(in_ascii(True, waterfall, before_ns, causes, 51, len(causes) + 2)).split("\n")


def test_each_cause_begins_where_the_one_before_it_ended() -> None:
    assert rows_of(10_000, [("new", 10_000), ("shorter", -5_000), ("less", -1)]) == [
        "before    10.0 us  ################",
        "new      +10.0 us                  ++++++++++++++++",
        "shorter  -5.00 us                          --------",
        "less        -1 ns                          -",
        "after     15.0 us  ########################",
    ]


def test_where_little_changes_the_axis_begins_later() -> None:
    before, step, after = rows_of(1_000_000, [("longer", 30_000)])
    assert (before.count("~"), after.count("~")) == (1, 1)
    assert before.index("~") == after.index("~")
    assert step.index("++") == len(before)
    assert step.count("+") > 20
