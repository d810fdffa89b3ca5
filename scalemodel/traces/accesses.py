"""Accesses to cache lines, from addresses and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalemodel.arrays import IntArray

AddressArray = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class AddressTrace:
    """The accesses of a program, in order.

    Attributes
    ----------
    line : (n,) uint64, the cache line of each access: its address over ``line_bytes``.
    line_bytes : bytes of a cache line.
    thread_instructions : executed by threads while the trace was recorded; None where nothing says it.
    warp_instructions : executed by warps; None where nothing says it.
    """

    line: AddressArray
    line_bytes: int
    thread_instructions: int | None = None
    warp_instructions: int | None = None


def joined(parts: Sequence[AddressTrace], line_bytes: int) -> AddressTrace:
    """Return the parts one after the other; instructions are known where every part says them."""
    threads = [part.thread_instructions for part in parts if part.thread_instructions is not None]
    warps = [part.warp_instructions for part in parts if part.warp_instructions is not None]
    line = parts[0].line if len(parts) == 1 else np.concatenate([part.line for part in parts])
    return AddressTrace(
        line,
        line_bytes,
        sum(threads) if len(threads) == len(parts) else None,
        sum(warps) if len(warps) == len(parts) else None,
    )


def lines_of(address: AddressArray, line_bytes: int) -> AddressArray:
    """Return the lines the addresses lie in."""
    shift = np.uint64(line_bytes.bit_length() - 1)
    return address >> shift


def lines_touched(
    address: AddressArray, size: AddressArray, line_bytes: int
) -> tuple[AddressArray, IntArray]:
    """Return every line that each access touches, ascending, and the index of its access.

    Parameters
    ----------
    address, size : (n,) uint64, bytes; sizes are 1 or more and do not reach beyond the last address.
    """
    first = lines_of(address, line_bytes)
    more = (lines_of(address + (size - np.uint64(1)), line_bytes) - first).view(np.int64)
    access = np.arange(first.size)
    if not more.any():
        return first, access
    access = np.repeat(access, more + 1)
    start = np.cumsum(more + 1) - more - 1
    return first[access] + (np.arange(access.size) - start[access]).astype(np.uint64), access
