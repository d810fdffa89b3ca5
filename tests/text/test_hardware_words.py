"""How much longer a simulated GPU takes than the recorded one, in words."""

from __future__ import annotations

import pytest

from sampling.estimation.hardware import HardwareComparison
from tui.text.estimate import ratio_words


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (1.082, 1.051, 1.113, "8.2 % longer (5.1 to 11.3 %)"),
        (0.92, 0.89, 0.95, "8.0 % shorter (5.0 to 11.0 %)"),
        (1.008, 0.988, 1.028, "0.8 % longer (1.2 % shorter to 2.8 % longer)"),
        (1.082, None, None, "8.2 % longer"),
        (1.082, 1.082, 1.082, "8.2 % longer"),
        (3.1, 2.9, 3.3, "3.1 times as long (2.9 to 3.3)"),
        (0.31, 0.29, 0.33, "0.31 times as long (0.29 to 0.33)"),
        (0.31, None, None, "0.31 times as long"),
    ],
)
def test_a_ratio(ratio: float, low: float | None, high: float | None, words: str) -> None:
    assert ratio_words(HardwareComparison(1e9, 100 * ratio, 100.0, ratio, low, high)) == words
