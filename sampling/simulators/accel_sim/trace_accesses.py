"""The accesses to global memory in a trace, as the 32-byte sectors of L2 that they touch.

A line of a trace is ``PC mask 1 R5 LDG.E.SYS 1 R8 4 1 0x7fa5fc000000 4``: destinations, opcode, sources,
bytes, then, where there are addresses, how they are given: of every active lane (0), the first and the stride
(1), or the first and the differences (2). What an opcode does, and to how many bytes, is read as Accel-Sim
reads it (trace_parser.cc, trace_driven.cc). Traces have gigabytes, so a block of lines is read as columns.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.simulators.accel_sim.trace_head import opened

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

#: What helps where a trace cannot be read.
REMEDY = "give the traces as post-traces-processing has made them"
#: log2 of the bytes of a sector.
SECTOR = 5
#: How many generic addresses are local memory, as the simulator has it.
LOCAL_BYTES = 1 << 14

_BLOCK_BYTES = 1 << 22
_LOAD, _STORE, _GENERIC = 1, 2, 4
_KINDS = dict.fromkeys(("LDG", "LDGSTS", "ATOM", "ATOMG", "RED"), _LOAD) | {
    "STG": _STORE,
    "LD": _LOAD | _GENERIC,
    "ST": _STORE | _GENERIC,
}
_OPCODE_BYTES = 40
_DIGIT = np.zeros(256, dtype=np.int64)
_DIGIT[np.frombuffer(b"0123456789abcdef", np.uint8)] = range(16)


def blocks(file: Path) -> Iterator[bytes]:
    """Yield a trace, unpacked, in pieces that end with a line.

    Raises
    ------
    ProfileError : it cannot be unpacked.
    """
    rest = b""
    try:
        with opened(file) as stream:
            while piece := stream.read(_BLOCK_BYTES):
                end = piece.rfind(b"\n") + 1
                if end:
                    yield rest + piece[:end]
                    rest = b""
                rest += piece[end:]
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=REMEDY) from error
    if rest:
        yield rest + b"\n"


@lru_cache(maxsize=1 << 12)
def _kind_and_width(opcode: str) -> tuple[int, int]:
    """Return what an instruction does to global memory, and the bytes of a lane as the simulator has them."""
    name, *rest = opcode.split(".")
    widths = (part.removeprefix("U") for part in rest)
    return _KINDS.get(name, 0), next((int(part) // 8 for part in widths if part.isdigit()), 4)


class _Lines(NamedTuple):
    """(n,) lines of a block that touch global memory, and the block itself.

    Attributes
    ----------
    place : of the blank before the first address among the blanks `space`.
    mode : how addresses are given.
    """

    byte: Bytes
    words: Words
    space: IntArray
    place: IntArray
    mode: IntArray
    lanes: IntArray
    base: IntArray
    width: IntArray
    is_load: BoolArray
    has_generic: bool


def accesses(
    text: bytes, bases: tuple[int, int], before: int, file: Path
) -> tuple[IntArray, IntArray, BoolArray, bool]:
    """Return (t,) the sectors that a block touches, what is known of each then, and whether by loads.

    Last, whether there are generic accesses, of which the address tells whether they are global.
    Known is a bit for each byte of the sector: all of one that is loaded, else the bytes that are stored.

    Parameters
    ----------
    bases : where shared and local memory begin among generic addresses; 0: not known.
    before : numbers that stand before the PC.

    Raises
    ------
    ProfileError : an access cannot be read.
    """
    byte, words, space, place, mode, lanes, base, width, is_load, has_generic = _global_lines(
        text, bases, before, file
    )
    stride, each = np.zeros(len(mode), dtype=np.int64), np.flatnonzero(mode == 1)
    stride[each] = _decimal(byte, space[place[each] + 1] + 1, space[place[each] + 2])
    # Lanes side by side are one span of bytes; so are loads of which each sector is touched.
    step = np.abs(stride)
    whole = (mode == 1) & ((step <= width) | is_load & (step <= 1 << SECTOR))
    spans = np.where(whole, 1, lanes)
    of = np.repeat(np.arange(len(spans)), spans)
    lane = _within(spans)
    address = base[of] + stride[of] * lane
    address[whole[of]] += np.minimum(stride * (lanes - 1), 0)[whole]
    each = np.flatnonzero((mode == 0)[of])
    at = place[of[each]] + lane[each]
    address[each] = _hexadecimal(words, space[at] + 3, space[at + 1])
    if (mode == 2).any():
        each = np.flatnonzero((mode[of] == 2) & (lane > 0))
        at = place[of[each]] + lane[each]
        difference = np.zeros(len(of), dtype=np.int64)
        difference[each] = _decimal(byte, space[at] + 1, space[at + 1])
        total = np.cumsum(difference)
        address += np.where(mode[of] == 2, total - total[np.cumsum(spans) - spans][of], 0)
    end = address + np.where(whole, step * (lanes - 1) + width, width)[of]
    low = address >> SECTOR
    count = (end - 1 >> SECTOR) - low + 1
    span = np.repeat(np.arange(len(count)), count)
    sector = low[span] + _within(count)
    is_load = is_load[of][span]
    first = np.maximum(address[span] - (sector << SECTOR), 0)
    stop = np.minimum(end[span] - (sector << SECTOR), 1 << SECTOR)
    return sector, np.where(is_load, (1 << 32) - 1, (1 << stop) - (1 << first)), is_load, has_generic


def _global_lines(text: bytes, bases: tuple[int, int], before: int, file: Path) -> _Lines:
    """Return the lines of a block that touch global memory."""
    # Zeros at the end, so that whatever a line lacks ends there.
    padded = b"\n" + text + bytes(64)
    byte, words = np.frombuffer(padded, np.uint8), np.ndarray(len(text) + 58, "<u8", padded, strides=(1,))
    space = np.flatnonzero(byte <= ord(" "))
    is_end, is_address = byte[space[:-2]] == ord("\n"), byte[space[:-2] + 2] == ord("x")
    marks = np.flatnonzero(is_end | is_address)
    row = np.flatnonzero(is_end[marks])
    listed = np.diff(np.append(row, len(marks))) - 1
    # Of all lines only these have addresses; the head's begin with a dash.
    kept = (listed > 0) & (byte[space[marks[row]] + 1] != ord("-"))
    row, listed = row[kept], listed[kept]
    x, start = space[marks[row + 1]] + 2, space[marks[row]] + 1
    place = marks[row] + 1 + before
    mask = _hexadecimal(words, space[place] + 1, space[place + 1])
    place += 2 + _DIGIT[byte[space[place + 1] + 1]]
    begin, length = space[place] + 1, space[place + 1] - space[place] - 1
    place += 4 + _DIGIT[byte[space[place + 1] + 1]]
    mode = _DIGIT[byte[space[place] - 1]]
    lanes = np.bitwise_count(mask).astype(np.int64)
    good = (space[place] + 2 == x) & (mode <= 2) & (length <= _OPCODE_BYTES)
    good &= (mode > 0) | (listed == lanes) | (lanes == 0)
    if (bad := np.flatnonzero(~good)).size:
        line = padded[start[bad[0]] : padded.index(b"\n", start[bad[0]])].decode("utf-8", "replace")
        raise ProfileError(f"an access to memory cannot be read: {line!r}", path=file, remedy=REMEDY)
    # Opcodes are few: one number for the text of each, then a look at each distinct one.
    code = np.zeros(len(begin), dtype=np.uint64)
    for part in range(0, _OPCODE_BYTES, 8):
        kept = 8 * np.clip(length - part, 0, 8).astype(np.uint64)
        word = words[np.minimum(begin + part, len(words) - 1)]
        code = (code ^ np.where(kept < 64, word & ((np.uint64(1) << kept) - 1), word)) * 0x9E3779B97F4A7C15
        code ^= code >> 29
    _, example, which = np.unique(code, return_index=True, return_inverse=True)
    opcodes = [padded[begin[each] : begin[each] + length[each]].decode() for each in example]
    kind, width = (
        np.array([_kind_and_width(each) for each in opcodes], dtype=np.int64).reshape(-1, 2)[which].T
    )
    base = _hexadecimal(words, x + 1, space[place + 1])
    # As in the simulator: a generic access is where its first lane's is, and shared if that cannot be told.
    shared, local = bases
    of_thread = (base >= shared) & (base < local) | (base >= local) & (base < local + LOCAL_BYTES)
    is_global = ((kind & _GENERIC) == 0) | (~of_thread if shared and local else False)
    wanted = np.flatnonzero((kind > 0) & (lanes > 0) & is_global)
    place, mode, lanes, base, width = (each[wanted] for each in (place, mode, lanes, base, width))
    is_load, has_generic = (kind[wanted] & _LOAD) > 0, bool((kind & _GENERIC).any())
    return _Lines(byte, words, space, place, mode, lanes, base, width, is_load, has_generic)


def _within(counts: IntArray) -> IntArray:
    """Return 0, 1, ... for each of these counts, one behind the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _hexadecimal(words: Words, begin: IntArray, end: IntArray) -> IntArray:
    """Return the numbers of at most 16 digits between these places, eight digits at a time."""
    digits = end - begin
    value = np.zeros(len(begin), dtype=np.uint64)
    for behind in range(8, 8 * (1 + (int(digits.max(initial=0)) > 8)) + 1, 8):
        kept = np.clip(digits - behind + 8, 0, 8)
        sign = words[end - behind].byteswap()
        digit = (sign & 0x0F0F0F0F0F0F0F0F) + 9 * (sign >> 6 & 0x0101010101010101)
        for bits, mask in ((4, 0x00FF00FF00FF00FF), (8, 0x0000FFFF0000FFFF), (16, 0x00000000FFFFFFFF)):
            digit = (digit | digit >> bits) & mask
        value |= (digit & ((1 << 4 * kept) - 1).astype(np.uint64)) << np.uint64(4 * behind - 32)
    return value.astype(np.int64)


def _decimal(byte: Bytes, begin: IntArray, end: IntArray) -> IntArray:
    """Return the numbers between these places, with their signs."""
    negative = byte[begin] == ord("-")
    digits = end - begin - negative
    value = np.zeros(len(begin), dtype=np.int64)
    for place in range(int(digits.max(initial=0)), 0, -1):
        digit = _DIGIT[byte[end - place]]
        value = np.where(digits >= place, value * 10 + digit, value)
    return np.where(negative, -value, value)
