"""What the launches before left in L2, and how a drawn launch that is simulated alone finds it there.

A launch simulated without the launches before it finds an empty L2 and takes 5 to 10 % longer, up to 40.
One pass over the traces in launch order keeps the lines used last, of each 32-byte sector the bytes that are
known: all of a sector that was loaded, of one that was stored to those that were. What the launches before a
drawn one left is put there by the simulator's memory copies (``MemcpyHtoD,ADDRESS,BYTES``) or by a kernel of
loads: readable sectors alone, for a load of a partly written one misses; oldest launch first; never over a
gap, which would fill lines that the program did not touch. (docs/methods.md, 17 Launches simulated alone)

Blocks of a trace count in the order of the file. A line that was dropped and touched again in one launch may
keep what was known of its sectors; which lines are there is exact.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.parallel import ordered_map
from sampling.progress import Progress
from sampling.simulators.accel_sim.trace_head import opened, trace_head
from sampling.text import Wording

#: The largest L2 known, 128 MiB: the simulator drops what its own does not hold, the oldest first.
MOST_LINES = 1 << 20
#: Of a kernel of loads the launch number is this much more than that of the drawn launch after it.
LOADS_FROM = 10**9

_SECTOR, _LINE, _PAGE, _WORD = 5, 7, 12, 32  # log2 of bytes
_BLOCK_BYTES = 1 << 22
_LOAD, _STORE, _GENERIC = 1, 2, 4
_KINDS = {
    **dict.fromkeys(("LDG", "LDGSTS", "ATOM", "ATOMG", "RED"), _LOAD),
    **{"STG": _STORE, "LD": _LOAD | _GENERIC, "ST": _STORE | _GENERIC},
}
_LOCAL_BYTES = 1 << 14  # as the simulator has it
_HIGH = re.compile(rb"0x0*[1-9a-f][0-9a-f]*([0-9a-f]{8})\b")
_DIGIT = np.zeros(256, dtype=np.int64)
_DIGIT[np.frombuffer(b"0123456789abcdef", np.uint8)] = range(16)
_REMEDY = "give the traces as post-traces-processing has made them"


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of L2.

    Attributes
    ----------
    number : (n,) address / 128, ascending.
    known : (n, 4) uint32, of each sector a bit for each byte that is known.
    last : (n,) when it was touched last; larger is later.
    """

    number: IntArray
    known: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]
    last: IntArray

    def then(self, later: Lines, most: int) -> Lines:
        """Return the lines used last of these and of those touched after them."""
        number = np.concatenate([self.number, later.number])
        order = np.argsort(number, kind="stable")
        number = number[order]
        known = np.concatenate([self.known, later.known])[order]
        last = np.concatenate([self.last, later.last])[order]
        twice = np.flatnonzero(number[1:] == number[:-1])
        known[twice + 1] |= known[twice]
        kept = np.ones(len(number), dtype=np.bool_)
        kept[twice] = False
        if (excess := len(number) - len(twice) - most) > 0:
            last[twice] = np.iinfo(np.int64).max
            kept[np.argpartition(last, excess - 1)[:excess]] = False
        return Lines(number[kept], known[kept], last[kept])

    def ranges(self) -> tuple[IntArray, IntArray]:
        """Return (r,) first sectors and counts of the readable runs, those of the oldest launch first."""
        launch = self.last >> _WORD
        order = np.lexsort((self.number, launch))
        readable = self.known[order] == np.iinfo(np.uint32).max
        sector = ((self.number[order] << 2)[:, None] + np.arange(4))[readable]
        of = np.repeat(launch[order], readable.sum(axis=1))
        begins = np.flatnonzero(np.diff(sector, prepend=-2) != 1 | (np.diff(of, prepend=-1) != 0))
        return sector[begins], np.diff(np.append(begins, len(sector)))


def lines_of(sector: IntArray, known: IntArray, first: int = 0) -> Lines:
    """Return the lines of sectors touched one after the other, with what each touch tells of their bytes."""
    order = np.argsort(sector, kind="stable")
    ordered = sector[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    mask = np.bitwise_or.reduceat(known[order], begins) if len(begins) else known
    last = order[np.append(begins[1:], len(order)) - 1] if len(begins) else order
    distinct = ordered[begins]
    line = distinct >> 2
    heads = np.flatnonzero(np.diff(line, prepend=-1))
    table = np.zeros((len(heads), 4), dtype=np.uint32)
    table[np.cumsum(np.diff(line, prepend=-1) != 0) - 1, distinct & 3] = mask
    return Lines(line[heads], table, first + (np.maximum.reduceat(last, heads) if len(heads) else last))


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """What one launch did to L2: the lines that it used last, and (p,) the pages that it touched, ascending."""

    lines: Lines
    pages: IntArray


def touched(file: Path, most: int = MOST_LINES, *, loads_alone: bool = False) -> Touched:
    """Return what the launch of a trace leaves in an L2 of so many lines.

    Parameters
    ----------
    loads_alone : leave out what it only stores to.

    Raises
    ------
    ProfileError : the trace cannot be unpacked, or an access cannot be read.
    """
    head = trace_head(file)
    bases = [int(head.get(key, "0"), 16) for key in ("shmem base_addr", "local mem base_addr")]
    before = 4 * (int(head.get("accelsim tracer version", "0")) < 3) + int(head.get("enable lineinfo", "0"))
    none = np.zeros(0, dtype=np.int64)
    lines, pages, done = lines_of(none, none), none, 0
    for block in blocks(file):
        sector, known, is_load = _accesses(block, bases, before, file)
        if loads_alone:
            sector, known = sector[is_load], known[is_load]
        lines = lines.then(found := lines_of(sector, known, done), most)
        pages = np.union1d(pages, found.number >> _PAGE - _LINE)
        done += len(sector)
    return Touched(lines, pages)


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
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=_REMEDY) from error
    if rest:
        yield rest + b"\n"


@lru_cache(maxsize=1 << 12)
def _kind_and_width(opcode: str) -> tuple[int, int]:
    """Return what an instruction does to global memory, and the bytes of a lane as the simulator has them."""
    widths = (part.removeprefix("U") for part in opcode.split("."))
    width = next((int(part) // 8 for part in widths if part.isdigit()), 4)
    return _KINDS.get(opcode.split(".")[0], 0), width


def _accesses(
    text: bytes, bases: list[int], before: int, file: Path
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return (t,) the sectors touched, what is known of them then, and whether by loads.

    A line is ``PC mask 1 R5 LDG.E.SYS 1 R8 4 1 0x7fa5fc000000 4``: of all lines only those with an ``x`` have
    addresses: of every active lane (0), the first and the stride (1), or the first and the differences (2).

    Parameters
    ----------
    bases : where shared and local memory begin among generic addresses; 0: not known.
    before : numbers that stand before the PC.
    """
    byte = np.frombuffer(text + bytes(48), np.uint8)
    words = np.ndarray(len(byte) - 7, "<u8", byte.tobytes(), strides=(1,))
    x, ends = np.flatnonzero(byte == ord("x")), np.flatnonzero(byte == ord("\n"))
    space = np.append(np.flatnonzero(byte <= ord(" ")), [len(text)] * 64)
    row = np.searchsorted(ends, x)
    starts = np.append(0, ends + 1)[row]
    of_code = ~np.isin(byte[starts], (ord("-"), ord("#")))
    x, row, starts = x[of_code], row[of_code], starts[of_code]
    first = np.flatnonzero(np.diff(row, prepend=-1))
    listed = np.diff(np.append(first, len(x)))
    start, place = starts[first], np.searchsorted(space, starts[first]) + before
    mask = _number(byte, space[place] + 1, space[place + 1], 16)
    place += 2 + _DIGIT[byte[space[place + 1] + 1]]
    begin, length = space[place] + 1, space[place + 1] - space[place] - 1
    sources = _DIGIT[byte[space[place + 1] + 1]]
    place += 3 + sources
    mode = _DIGIT[byte[space[place] + 1]]
    if (bad := np.flatnonzero((space[place + 1] + 2 != x[first]) | (mode > 2) | (length > 40))).size:
        line = text[start[bad[0]] : ends[row[first[bad[0]]]]].decode("utf-8", "replace")
        raise ProfileError(f"an access to memory cannot be read: {line!r}", path=file, remedy=_REMEDY)
    # Opcodes are few: one number for the text of each, then a look at each distinct one.
    code = np.zeros(len(first), dtype=np.uint64)
    for part in range(5):
        bits = 8 * np.clip(length - 8 * part, 0, 8)
        word = words[np.minimum(begin + 8 * part, len(words) - 1)]
        word = np.where(bits == 64, word, word & ((np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)))
        code = (code ^ word) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    _, example, which = np.unique(code, return_index=True, return_inverse=True)
    opcodes = [text[begin[each] : begin[each] + length[each]].decode() for each in example]
    table = np.array([_kind_and_width(each) for each in opcodes], dtype=np.int64).reshape(-1, 2)
    kind, width = table[which].T
    lanes = np.bitwise_count(mask).astype(np.int64)
    base = _number(byte, x[first] + 1, space[place + 2], 16)
    # As the simulator: a generic access is where its first lane's is, and shared if that cannot be told.
    shared, local = bases
    is_own = (base >= shared) & (base < local) | (base >= local) & (base < local + _LOCAL_BYTES)
    of_threads = ((kind & _GENERIC) > 0) & (is_own if shared and local else True)
    wanted = np.flatnonzero((kind > 0) & (mask != 0) & ~of_threads)
    first, listed, place, mode, lanes, base, kind, width = (
        each[wanted] for each in (first, listed, place, mode, lanes, base, kind, width)
    )
    if (bad := np.flatnonzero((mode == 0) & (listed != lanes))).size:
        raise ProfileError("an access to memory lacks addresses", path=file, remedy=_REMEDY)
    stride = np.where(mode == 1, _number(byte, space[place + 2] + 1, space[place + 3], 10), 0)
    is_load = (kind & _LOAD) > 0
    # Lanes side by side are one span of bytes; so are loads of which each sector is touched.
    step = np.abs(stride)
    whole = (mode == 1) & ((step <= width) | is_load & (step <= 1 << _SECTOR))
    spans = np.where(whole, 1, lanes)
    of = np.repeat(np.arange(len(spans)), spans)
    lane = np.arange(len(of)) - np.repeat(np.cumsum(spans) - spans, spans)
    address = base[of] + stride[of] * lane
    address[whole[of]] += np.minimum(stride * (lanes - 1), 0)[whole]
    each = np.flatnonzero(mode[of] == 0)
    at = x[first[of[each]] + lane[each]] + 1
    address[each] = _number(byte, at, space[np.searchsorted(space, at)], 16)
    each = np.flatnonzero((mode[of] == 2) & (lane > 0))
    difference = np.zeros(len(of), dtype=np.int64)
    at = place[of[each]] + 1 + lane[each]
    difference[each] = _number(byte, space[at] + 1, space[at + 1], 10)
    total = np.cumsum(difference)
    address += np.where(mode[of] == 2, total - total[np.cumsum(spans) - spans][of], 0)
    bytes_of = np.where(whole, step * (lanes - 1) + width, width)[of]
    low = address >> _SECTOR
    count = (address + bytes_of - 1 >> _SECTOR) - low + 1
    span = np.repeat(np.arange(len(count)), count)
    sector = low[span] + np.arange(len(span)) - np.repeat(np.cumsum(count) - count, count)
    is_load = is_load[of][span]
    from_byte = np.maximum(address[span] - (sector << _SECTOR), 0)
    to_byte = np.minimum((address + bytes_of)[span] - (sector << _SECTOR), 1 << _SECTOR)
    known = np.where(is_load, (1 << 32) - 1, (1 << to_byte) - (1 << from_byte))
    return sector, known, is_load


def _number(byte: np.ndarray, begin: IntArray, end: IntArray, radix: int) -> IntArray:
    """Return the numbers between these places, of decimal ones with their sign."""
    negative = byte[begin] == ord("-")
    digits = end - begin - negative
    value = np.zeros(len(begin), dtype=np.int64)
    for place in range(int(digits.max(initial=0)), 0, -1):
        value = value * np.where(digits >= place, radix, 1) + np.where(
            digits >= place, _DIGIT[byte[end - place]], 0
        )
    return np.where(negative, -value, value)
