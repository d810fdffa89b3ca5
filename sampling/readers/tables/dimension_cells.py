"""Cells that hold a grid or a block: ``8``, ``8x1``, ``(8, 1, 1)``, ``8 1 1``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import first_true, to_arrow_texts, to_numpy

#: How such a cell is written, for messages.
WRITTEN = "one to three whole numbers, such as 8, 8x1 or (8, 1, 1)"

_NUMBER = r"\d{1,10}"
_BETWEEN = r"(?:\s*[xX*,;]\s*|\s+)"
_CELL = rf"^\s*[(\[{{<]?\s*{_NUMBER}(?:{_BETWEEN}{_NUMBER}){{0,2}}\s*[)\]}}>]?\s*$"
_AXES = 3


def dimensions_of(cells: Any) -> tuple[IntArray, int]:
    """Return (n, 3) x, y and z of some cells, and the index of the first cell that is none, -1 if all are.

    Axes that a cell leaves out are 1. An empty cell is a dimension that is not known: zeros.

    Parameters
    ----------
    cells : (n,) an Arrow array of texts without nulls.
    """
    import pyarrow as pa
    from pyarrow import compute

    empty = compute.equal(compute.utf8_trim_whitespace(cells), "")
    cells = compute.if_else(empty, to_arrow_texts(["0 0 0"])[0], cells)
    bad = first_true(compute.invert(compute.match_substring_regex(cells, _CELL)))
    if bad >= 0:
        return np.zeros((0, _AXES), dtype=np.int64), bad
    bare = compute.utf8_trim_whitespace(compute.replace_substring_regex(cells, r"[^0-9]+", " "))
    given = compute.split_pattern(compute.binary_join_element_wise(bare, "1 1", " "), " ")
    # Each list has one to three numbers of the cell and two ones: the first three of them are meant.
    ends = to_numpy(given.offsets)[:-1, np.newaxis] + np.arange(_AXES)
    numbers = to_numpy(given.values.cast(pa.int64()))
    return numbers[ends].astype(np.int64, copy=False), -1
