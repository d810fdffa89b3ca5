"""Counts and lists of names in what is said of a file of features."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "row"), counted(1106, "row"), counted(2, "launch", "launches")
    ('1 row', '1,106 rows', '2 launches')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {several or one + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return the first of some names, and that there are more where there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], most=2)
    ('a, b', 'a, b, ... (3 in all)')
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names):,} in all)"
