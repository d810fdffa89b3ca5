"""Lines of a text as an Arrow array, so that they are tested without a Python step for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError

_NEWLINE, _RETURN = 10, 13
_TOO_LARGE = 2.0**63


def lines_of(text: bytes) -> Any:
    """Return the lines of ``text`` as an Arrow binary array, without their ends."""
    import pyarrow as pa
    from pyarrow import compute

    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE) + 1
    if not text.endswith(b"\n") and text:
        ends = np.append(ends, len(text))
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    lines = pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    )
    return compute.replace_substring_regex(lines, pattern=r"\r*\n?$", replacement="", max_replacements=1)


def only_lines(text: bytes, pattern: str, *, kept: str | None = None) -> bytes:
    """Return the text with every line that does not match made empty, so that lines keep their numbers.

    Parameters
    ----------
    pattern : a regular expression (RE2), found anywhere in a line unless it says otherwise.
    kept : what of a matching line is kept: the first group of this expression. A line that does not fit it is
        kept whole.
    """
    from pyarrow import compute

    lines = lines_of(text)
    fits = compute.match_substring_regex(lines, pattern)
    if kept is None and compute.all(fits).as_py():
        return text
    lines = compute.if_else(fits, lines, b"")
    if kept is not None:
        lines = compute.replace_substring_regex(lines, pattern=kept, replacement=r"\1")
    return bytes(compute.binary_join(_one_list(lines), b"\n")[0].as_py()) + b"\n"


def whole_counts(cells: Any, line: IntArray, path: str) -> IntArray:
    """Return (k,) the whole numbers that texts of digits are.

    Parameters
    ----------
    cells : (k,) Arrow binary array.
    line : (k,) 1-based line of each in the file, for the error.

    Raises
    ------
    ProfileError : one is too large for 64 bits.
    """
    import pyarrow as pa

    nearly = to_numpy(cells.cast(pa.string()).cast(pa.float64()))
    # As floats, numbers just beyond 64 bits are equal to the last ones within them.
    large = np.abs(nearly) >= _TOO_LARGE
    if large.any():
        row = int(np.argmax(large))
        text = cells[row].as_py().decode("utf-8", "replace")
        raise ProfileError(
            f"{text[:40]} is too large for a count",
            path=path,
            row=int(line[row]),
            remedy="record the file again, or leave the launch out",
        )
    numbers: IntArray = to_numpy(cells.cast(pa.int64()))
    return numbers


def row_lines(text: bytes) -> IntArray:
    """Return the 0-based places of the lines that are not empty."""
    bytes_of = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(bytes_of == _NEWLINE)
    if not text.endswith(b"\n") and text:
        ends = np.append(ends, len(text))
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    length = ends - starts
    only_return = (length == 1) & (bytes_of[np.minimum(starts, max(len(text) - 1, 0))] == _RETURN)
    return np.flatnonzero((length > 0) & ~only_return)


def _one_list(values: Any) -> Any:
    import pyarrow as pa

    offsets = pa.py_buffer(np.array([0, len(values)], dtype=np.int32))
    return pa.ListArray.from_buffers(pa.list_(values.type), 1, [None, offsets], children=[values])
