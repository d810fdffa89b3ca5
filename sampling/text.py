"""Counts, lists, long names and misspelt ones, as messages write them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "row"), counted(1106, "row"), counted(2, "launch", "launches")
    ('1 row', '1,106 rows', '2 launches')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {several or one + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return the first names, and how many there are in all where not all are shown.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], most=2)
    ('a, b', 'a, b, ... (3 in all)')
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names):,} in all)"


def shortened(name: str, most: int = 96) -> str:
    """Return a name with its middle cut out where it has more than ``most`` characters.

    >>> shortened("abcdefghijklmno", most=12)
    'abcdef...mno'
    """
    return name if len(name) <= most else f"{name[: most // 2]}...{name[-(most // 2 - 3) :]}"


def nearest(word: str, known: Sequence[str]) -> str:
    """Return which of the known words may be meant, as a remedy; all of them where none is near.

    >>> nearest("rot", ["root", "stem"]), nearest("x", ["root", "stem"])
    ("did you mean 'root'?", 'there are root, stem')
    """
    close = get_close_matches(word.lower(), known, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
