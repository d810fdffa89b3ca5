"""One option: a field of a frozen dataclass with its flag, its help and what a value may be."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from enum import StrEnum
from typing import Any


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


MOST_COLUMNS, MOST_ROWS = 10_000, 1_000
"""What a chart is drawn for at most: larger than any screen, and small beside the memory of a profile."""


def option(
    default: Any,
    text: str,
    *flags: str,
    panel: str = "Options",
    metavar: str | None = None,
    least: int | None = None,
    most: int | None = None,
    fraction: bool = False,
    kind: NumberKind = NumberKind.FRACTION,
    parameters: Mapping[str, str] | None = None,
) -> Any:
    """Return a field that is an option: its default, its help and its flags.

    Parameters
    ----------
    panel : the heading of the help that it stands below.
    metavar : what its value is called in the help.
    least, most : the least and the largest value, None where any is accepted.
    fraction : whether it is from 0 to below 1.
    kind : what a number with a point counts, for what is said where it is typed in per cent.
    parameters : the engine's parameters that it sets, and what is typed for each; None where the parameter
        has the field's name, and the flag is typed.
    """
    shown = {"help": text, "flags": flags, "panel": panel, "metavar": metavar}
    accepted = {"least": least, "most": most, "fraction": fraction, "kind": kind}
    return field(default=default, metadata={**shown, **accepted, "parameters": parameters})


def argument(default: Any, text: str, metavar: str, *, required: bool = True) -> Any:
    """Return a field that is an argument: its default, its help and the name it has in the help."""
    return field(
        default=default, metadata={"help": text, "argument": True, "metavar": metavar, "required": required}
    )


def width_option(text: str, **shown: Any) -> Any:
    """Return the field of ``--width``; the help says what it counts."""
    return option(
        None, f"{text} At most {MOST_COLUMNS:,}.", "--width", metavar="N", least=1, most=MOST_COLUMNS, **shown
    )


def height_option(text: str, **shown: Any) -> Any:
    """Return the field of ``--height``; the help says what it counts."""
    return option(
        None, f"{text} At most {MOST_ROWS:,}.", "--height", metavar="N", least=1, most=MOST_ROWS, **shown
    )
