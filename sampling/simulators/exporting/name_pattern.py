"""A kernel's name as a regular expression that every tool and shell reads alike."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z0-9_]+")


def name_pattern(name: str) -> str:
    """Return an expression for exactly this name, in letters, digits, underscores and dots.

    A dot stands for any other character: colons end a field in ncu, brackets and stars mean something to
    expressions, blanks to shells. A character that is no ASCII may be several bytes.

    >>> name_pattern("void at::f<(int)4>(float *)")
    '^void.at..f..int.4..float...$'
    """
    return "^" + "".join(map(_sign, name)) + "$"


def _sign(character: str) -> str:
    if not character.isascii():
        return ".+"
    return character if _PLAIN.fullmatch(character) else "."
