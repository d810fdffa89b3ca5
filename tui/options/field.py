"""One option: a field of a frozen dataclass with its flag, its help and what a value may be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import Field, dataclass, field
from enum import StrEnum
from inspect import get_annotations
from typing import Any, TypeVar, dataclass_transform

Options = TypeVar("Options")
OUTPUT_PANEL = "Output"


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


def option(  # noqa: PLR0913 - what an option is, in one place
    default: Any,
    text: str,
    *flags: str,
    panel: str | None = None,
    metavar: str | None = None,
    least: int | None = None,
    most: int | None = None,
    fraction: bool = False,
    kind: NumberKind = NumberKind.FRACTION,
    parameter: str | None = None,
    typed: str | None = None,
) -> Any:
    """Return a field that is an option: its default, its help, and flags besides `--name-of-the-field`.

    Parameters
    ----------
    flags : without a long one among them, the field's own name is the first flag.
    panel : the heading of the help that it stands below; that of its class if not given.
    fraction : whether it is from 0 to below 1.
    kind : what a number with a point counts, for what is said where it is typed in per cent.
    parameter, typed : the engine's parameter that it sets, and what is typed for it; by default the field's
        name and its flag.
    """
    metadata = {
        "help": text,
        "flags": flags,
        "panel": panel,
        "metavar": metavar,
        "least": least,
        "most": most,
        "fraction": fraction,
        "kind": kind,
        "parameter": parameter,
        "typed": typed,
    }
    return field(default=default, metadata=metadata)


@dataclass_transform(frozen_default=True)
def options(panel: str = "Options") -> Callable[[type[Options]], type[Options]]:
    """Make a frozen dataclass of the options of a command, its own ones below this heading of the help."""

    def made(cls: type[Options]) -> type[Options]:
        for name in get_annotations(cls):
            given = cls.__dict__.get(name)
            if isinstance(given, Field) and not given.metadata.get("argument"):
                flags, long = given.metadata["flags"], f"--{name.replace('_', '-')}"
                if not any(flag.startswith("--") for flag in flags):
                    flags = (long, *flags)
                own = {"flags": flags, "panel": given.metadata["panel"] or panel}
                setattr(cls, name, field(default=given.default, metadata={**given.metadata, **own}))
        return dataclass(frozen=True)(cls)

    return made


def argument(default: Any, text: str, metavar: str, *, required: bool = True) -> Any:
    """Return a field that is an argument: its default, its help and the name it has in the help."""
    return field(
        default=default, metadata={"help": text, "argument": True, "metavar": metavar, "required": required}
    )


def output_option(text: str, metavar: str) -> Any:
    """Return the field of ``-o``."""
    return option(None, text, "-o", "--output", panel=OUTPUT_PANEL, metavar=metavar)


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
