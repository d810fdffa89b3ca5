"""A share as a bar in one row."""

from __future__ import annotations

import math

_EIGHTHS = "▏▎▍▌▋▊▉█"
_ASCII = "#"


def bar(share: float, cells: int, *, ascii_only: bool = False) -> str:
    """A bar of at most `cells` cells, to an eighth of a cell; in ASCII to a whole one.

    Parameters
    ----------
    share : of the cells, from 0 to 1; what lies beyond or is no number counts as the nearer end, or as 0.
    """
    if not share > 0 or cells <= 0:
        return ""
    share = min(share, 1.0)
    if ascii_only:
        return _ASCII * round(share * cells)
    eighths = math.floor(share * cells * len(_EIGHTHS) + 0.5)
    full, part = divmod(eighths, len(_EIGHTHS))
    return _EIGHTHS[-1] * full + (_EIGHTHS[part - 1] if part else "")
