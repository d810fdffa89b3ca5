"""Text as a terminal may get it: what comes from a profile must neither steer it nor break a row."""

from __future__ import annotations


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
