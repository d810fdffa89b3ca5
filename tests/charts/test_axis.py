"""Ticks on round numbers, with labels that do not touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.charts.axis import fitting, round_step, time_labels, time_ticks


def test_steps_are_one_two_two_and_a_half_and_five_times_powers_of_ten() -> None:
    steps = dict.fromkeys(round_step(0, high, 1) for high in range(500))
    assert list(steps) == [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500]


@pytest.mark.parametrize(
    ("ticks_ns", "step_ns", "labels"),
    [
        ([0, 5, 10], 5, ["0", "5", "10 ns"]),
        ([500, 1_000, 1_500], 500, ["0.5", "1.0", "1.5 us"]),
        ([12_500, 15_000], 2_500, ["12.5", "15.0 us"]),
        ([10**9, 2 * 10**9], 10**9, ["1", "2 s"]),
        ([1_000_002, 1_000_004], 2, ["1.000002", "1.000004 ms"]),
        ([], 1, []),
    ],
)
def test_labels_are_exact_and_share_a_unit(ticks_ns: list[int], step_ns: int, labels: list[str]) -> None:
    assert time_labels(ticks_ns, step_ns) == labels


def test_a_label_is_centred_below_its_tick_and_stays_within_the_axis() -> None:
    ticks = fitting([([0, 10, 19], ["100", "200", "300 us"])], 0, 19)
    assert [(tick.column, tick.text_column) for tick in ticks] == [(0, 0), (10, 9), (19, 14)]


def test_labels_that_would_touch_are_not_placed() -> None:
    close, apart = (([4, last], ["100", "200"]) for last in (8, 9))
    assert fitting([close], 0, 19) == []
    assert [tick.column for tick in fitting([close, apart], 0, 19)] == [4, 9]


@given(st.integers(0, 10**18), st.integers(0, 10**18), st.integers(20, 200), st.booleans())
def test_labels_never_touch_and_their_ticks_are_in_their_places(
    low_ns: int, span_ns: int, width: int, log: bool
) -> None:
    high_ns = low_ns + span_ns

    def column_of(ns: int) -> int:
        return (ns - low_ns) * (width - 1) // max(span_ns, 1)

    ticks = time_ticks(low_ns, high_ns, column_of, 0, width - 1, log=log)
    assert [tick.column for tick in ticks] == sorted({tick.column for tick in ticks})
    assert len(ticks) >= 1 or len(str(high_ns)) > 10
    row = [" "] * width
    for tick in ticks:
        assert tick.text_column >= 0
        assert tick.text_column + len(tick.text) <= width
        row[tick.text_column : tick.text_column + len(tick.text)] = tick.text
    assert "".join(row).split() == " ".join(tick.text for tick in ticks).split()
