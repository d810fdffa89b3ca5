"""Numbers as they are typed, and what is said of a text that is none."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum


class NumberKind(StrEnum):
    """What a number with a point counts."""

    FRACTION = "fraction"
    PERCENT = "per cent"
    OTHER = "other"


def why_no_number(text: str, kind: NumberKind = NumberKind.FRACTION) -> str:
    """Return why a text is no number; one in per cent is told what is typed instead.

    >>> why_no_number("5%"), why_no_number("five")
    ('fractions are meant, not per cent: 0.05', "'five' is no number")
    """
    share = None
    if text.endswith("%"):
        with suppress(ValueError):
            share = float(text[:-1])
    if share is not None and kind is NumberKind.FRACTION:
        return f"fractions are meant, not per cent: {share / 100:g}"
    if share is not None and kind is NumberKind.PERCENT:
        return f"per cent are meant without their sign: {share:g}"
    return f"{text!r} is no number"
