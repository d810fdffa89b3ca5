"""A field of a dataclass that is an option or an argument of a command.

Its flags, help and panel lie in the field's metadata, so that Typer's parser and "copy as command" are both
made from there and cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tui.options.numbers import NumberKind

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
