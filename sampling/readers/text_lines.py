"""The lines of a text: where and how many they are, and all of them as Arrow has them, to test at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.readers.input_file import InputFile, pieces

_NEWLINE, _RETURN = 10, 13


def row_places(text: bytes) -> IntArray:
    """Return the 0-based places of the lines that are not empty."""
    characters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(characters == _NEWLINE)
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    starts = np.append(0, ends[:-1] + 1)
    is_return = characters[np.minimum(starts, len(text) - 1)] == _RETURN if text else 0
    return np.flatnonzero(ends - starts > is_return)


def newlines(text: bytes) -> int:
    """Return how many lines end in a text."""
    # Four times as fast as `bytes.count` on short lines.
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE))


def lines_before(file: InputFile, offset: int) -> int:
    """Return how many lines end before ``offset``. It reads the file again, so it is for messages only."""
    count = 0
    for start, text in pieces(file):
        count += text.count(b"\n", 0, max(offset - start, 0))
        if start + len(text) >= offset:
            break
    return count


def split_lines(text: bytes) -> Any:
    """Return the lines of a text as an Arrow binary array, without their ends: to test them all at once."""
    import pyarrow as pa
    from pyarrow import compute

    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE) + 1
    if not text.endswith(b"\n") and text:
        ends = np.append(ends, len(text))
    offsets = np.append(0, ends).astype(np.int32)
    lines = pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    )
    return compute.replace_substring_regex(lines, pattern=r"\r*\n?$", replacement="", max_replacements=1)


def join_lines(lines: Any) -> bytes:
    """Return the text of some lines, an Arrow binary array."""
    import pyarrow as pa
    from pyarrow import compute

    offsets = pa.py_buffer(np.array([0, len(lines)], dtype=np.int32))
    one_list = pa.ListArray.from_buffers(pa.list_(lines.type), 1, [None, offsets], children=[lines])
    return bytes(compute.binary_join(one_list, b"\n")[0].as_py()) + b"\n"
