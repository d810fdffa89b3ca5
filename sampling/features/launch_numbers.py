"""The numbers that a tool gives launches as it meets them, and what they show of launches without a row."""

from __future__ import annotations

from sampling.arrays import IntArray
from sampling.text import counted


def missing_numbers(number: IntArray) -> int:
    """Return how many numbers from 0 to the last have no row; (n,) they ascend, n > 0."""
    return int(number[-1]) + 1 - len(number)


def gap_notes(number: IntArray) -> tuple[str, ...]:
    """Return what the user should know of gaps: nothing where there are none."""
    missing = missing_numbers(number)
    if not missing:
        return ()
    have = "has" if missing == 1 else "have"
    return (f"{missing:,} of {counted(int(number[-1]) + 1, 'kernel')} up to the last {have} no line",)
