"""Drawing as a terminal of ASCII alone would have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tui.terminal.printable import ascii_within

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")


def in_ascii(only: bool, draw: Callable[Given, Drawn], *args: Given.args, **kwargs: Given.kwargs) -> Drawn:
    """What is drawn where ASCII alone may be, or where all glyphs are."""
    with ascii_within(only):
        return draw(*args, **kwargs)
