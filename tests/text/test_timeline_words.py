"""What the line below a timeline says of idle gaps."""

from __future__ import annotations

import numpy as np
import pytest

from sampling.reduction.device_time import IdleGaps
from tui.text.timeline import gap_words, round_down

MS = 1_000_000


def test_gaps_are_counted_with_their_share_of_the_time() -> None:
    gaps = IdleGaps(np.array([0, 10, 50]) * MS, np.array([2, 15, 55]) * MS)
    assert gap_words(gaps, MS, 100 * MS) == "3 gaps over 1.00 ms: 12.0 % of the time"
    assert gap_words(gaps.within(0, 100 * MS, 20 * MS), 20 * MS, 100 * MS) == "no idle gap over 20.0 ms"
    assert gap_words(gaps.within(0, 3 * MS), MS, 100 * MS).startswith("1 gap over 1.00 ms: 2")


@pytest.mark.parametrize(
    ("ns", "rounded"), [(0.3, 1), (1, 1), (4.9, 2), (5, 5), (99, 50), (1000, 1000), (6e9, 5 * 10**9)]
)
def test_a_least_gap_is_a_round_number(ns: float, rounded: int) -> None:
    assert round_down(ns) == rounded
