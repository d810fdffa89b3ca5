"""The accesses of a program to the lines of a cache, and the arrays they come in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AddressArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class AddressTrace(NamedTuple):
    """The accesses of a program, in order."""

    #: (n,) the cache line of each access: its address over ``line_bytes``.
    line: AddressArray
    line_bytes: int
    #: Executed while it was recorded; None where nothing says it.
    thread_instructions: int | None = None
    warp_instructions: int | None = None


def lines_of(address: AddressArray, line_bytes: int) -> AddressArray:
    """Return the lines the addresses lie in."""
    return address >> np.uint64(line_bytes.bit_length() - 1)


def lines_touched(
    address: AddressArray, size: AddressArray, line_bytes: int
) -> tuple[AddressArray, IntArray]:
    """Return every line that each access touches, ascending, and the index of its access.

    Sizes, in bytes, are 1 or more and do not reach beyond the last address.
    """
    first = lines_of(address, line_bytes)
    more = (lines_of(address + (size - np.uint64(1)), line_bytes) - first).view(np.int64)
    access = np.arange(first.size)
    if not more.any():
        return first, access
    access = np.repeat(access, more + 1)
    start = np.cumsum(more + 1) - more - 1
    return first[access] + (np.arange(access.size) - start[access]).astype(np.uint64), access
