"""Text as a terminal may get it: what comes from a profile must neither steer it nor break a row."""

from __future__ import annotations

import re
import textwrap

# What a terminal needs to show rows: line ends, and the tabs of some tables.
_STRAY = re.compile(r"\r(?!\n)|[^\r\n\t]")


def printable(text: str, *, ascii_only: bool = False) -> str:
    r"""Return one row of text, what cannot be printed escaped as in a Python string.

    Those are control characters (line ends too), what turns the direction of writing, and what has no width.
    Text that is escaped already stays as it is.

    Parameters
    ----------
    ascii_only : escape what is not ASCII too, as ``\u0627``.
    """
    if text.isprintable() and (not ascii_only or text.isascii()):
        return text
    escaped = "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)
    return escaped.encode("ascii", "backslashreplace").decode() if ascii_only else escaped


def printable_lines(text: str, *, ascii_only: bool = False) -> str:
    """Return lines of text, each `printable`."""
    return "\n".join(printable(line, ascii_only=ascii_only) for line in text.split("\n"))


def data_for_terminal(text: str) -> str:
    r"""Return data as a terminal may get them: what must not steer it is escaped as JSON does, as ``\u202e``.

    JSON is so the same JSON; line ends and tabs stay, for they part rows and cells.
    """
    if all(line.isprintable() for line in text.split("\n")):
        return text
    return _STRAY.sub(lambda found: found[0] if found[0].isprintable() else _json_escape(found[0]), text)


def _json_escape(mark: str) -> str:
    units = mark.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return a sentence as lines of at most `width`, further ones indented; a number keeps its per cent."""
    kept = text.replace(" %", "\u00a0%")
    lines = textwrap.wrap(
        kept,
        max(width, len(indent) + 1),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0%", " %") for line in lines]
