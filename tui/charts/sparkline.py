"""Counts as one row of glyphs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tui.charts.glyphs import glyph_set


def sparkline(counts: npt.ArrayLike, width: int, *, ascii_only: bool = False) -> str:
    """One glyph a count, higher for more; a blank for none.

    Parameters
    ----------
    counts : (n,) array, >= 0. More than `width` are joined by their maximum, so that no spike is lost.
    width : the most glyphs to return.
    """
    values = np.asarray(counts, dtype=np.float64)
    if width <= 0 or values.size == 0:
        return ""
    if values.size > width:
        values = np.maximum.reduceat(values, np.arange(width) * values.size // width)
    shades = glyph_set(ascii_only=ascii_only).shades
    most = values.max()
    if most <= 0:
        return " " * values.size
    level = np.ceil(values / most * len(shades)).astype(int)
    return "".join((" " + shades)[step] for step in level.tolist())
