"""The accesses of a trace of Accel-Sim to the sectors of global memory, as columns.

A line of a trace is ``PC mask 1 R5 LDG.E.SYS 1 R8 4 1 0x7fa5fc000000 4``: destinations, opcode, sources,
bytes, then, where there are addresses, how they are given: of every active lane (0), the first and the stride
(1), or the first and the differences (2); those of bulk copies are `memory_instructions`'. What an opcode
does, and to how many bytes, is read as Accel-Sim reads it (trace_parser.cc, trace_driven.cc). Traces have
gigabytes, so a block of lines is read as columns.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import BoolArray, IntArray, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.readers.accel_sim_traces import opened
from sampling.readers.input_file import whole_lines
from sampling.simulators.memory_instructions import BULK, GENERIC, READS, WRITES, bulk_addresses, memory_kind

#: log2 of the bytes of a sector
SECTOR = 5
#: How many generic addresses are local memory, as the simulator has it
LOCAL_BYTES = 1 << 14
REMEDY = "give the traces as post-traces-processing has made them"
# What loads, stores or reduces, and where a CTA or a warp begins; the head's lines begin with a dash.
_LINES = r"^(?:thread block|warp = |[^-#].* (?:LD|ST|ATOM|RED|UTMA|UBLK))"
_UNKNOWN, _UNREADABLE = -1, (ValueError, OverflowError)


class Accesses(NamedTuple):
    """The sectors that a block of a trace touches, in its order."""

    sector: IntArray  #: (t,) address / 32
    #: (t,) a bit for each byte that is known then: all of one that is loaded, else those that are stored
    known_bytes: IntArray
    kind: IntArray  #: (t,) `READS`, `WRITES` or both
    cta: IntArray  #: (t,) the place of the thread block in the file
    warp: IntArray  #: (t,) the place of the warp in the file
    step: IntArray  #: (t,) how many loads its warp did before


class _Instructions(NamedTuple):
    """Those that touch global memory, or may; each (n,)."""

    line: IntArray
    kind: IntArray
    width: IntArray  #: bytes a lane
    lanes: IntArray
    mode: IntArray  #: how addresses are given
    begin: IntArray  #: from which of the numbers on theirs are

    def at(self, places: BoolArray | IntArray) -> _Instructions:
        """Return the instructions at these places."""
        return _Instructions(*(column[places] for column in self))


class _Words:
    """The words of those lines that say something."""

    def __init__(self, lines: Any) -> None:
        from pyarrow import compute

        lines = lines.filter(compute.match_substring_regex(lines, _LINES))
        split = compute.split_pattern(lines, " ")
        self.words: Any = split.flatten()
        self.starts = to_numpy(split.offsets).astype(np.int64)
        #: How many words of a line begin with 0x, and whether a thread block or a warp begins there.
        self.listed = to_numpy(compute.count_substring(lines, " 0x"))
        self.begins_cta, self.begins_warp = (
            to_numpy(compute.starts_with(lines, mark)) for mark in ("thread", "warp")
        )

    def take(self, places: IntArray) -> Any:
        """Return the words at these places; ValueError: the last line is cut off."""
        if len(places) and int(places.max()) >= len(self.words):
            raise ValueError("a line is cut off")
        return self.words.take(to_arrow(places))

    def numbers(self, places: IntArray, is_hexadecimal: BoolArray | None = None) -> IntArray:
        """Return the numbers at places, hexadecimal ones with 0x or without; ValueError where one is none."""
        from pyarrow import compute

        texts = self.take(places)
        if is_hexadecimal is not None:
            is_bare = is_hexadecimal & ~to_numpy(compute.starts_with(texts, "0x"))
            if is_bare.any():
                prefixed = compute.binary_join_element_wise("0x", texts, "")
                texts = compute.if_else(to_arrow(is_bare.view(np.uint8)).cast("bool"), prefixed, texts)
        return to_numpy(texts.cast("int64"))


class TraceReader:
    """Reads a trace block by block; ProfileError, with the row, where a line cannot be read."""

    def __init__(self, file: Path, head: Mapping[str, str]) -> None:
        self.file, self.row = file, 0
        #: Whether there were addresses that tell themselves whether they are global, bulk copies, and
        #: addresses without 0x.
        self.has_generic = self.has_bulk = self.has_bare = False
        try:
            #: Where shared and local memory begin among these; 0: not known.
            self.bases = [int(head.get(f"{name} base_addr", "0"), 16) for name in ("shmem", "local mem")]
            version, has_lines = head.get("accelsim tracer version", "0"), head.get("enable lineinfo", "0")
            # Numbers that stand before the PC.
            self._before = 4 * (int(version) < 3) + int(has_lines)
        except ValueError as error:
            raise ProfileError(f"its head cannot be read ({error})", path=file, remedy=REMEDY) from error
        # The thread block and the warp that are open, and how many loads this warp did.
        self._cta, self._warp, self._loads = -1, -1, 0

    def read(self, block: bytes) -> Accesses:
        """Return the accesses of the next block, which ends with a line."""
        import pyarrow as pa
        from pyarrow import compute

        lines = compute.split_pattern(pa.array([block.decode("utf-8", "replace")]), "\n").flatten()
        try:
            words = _Words(lines)
            instructions, numbers = self._instructions(words)
        except _UNREADABLE:
            raise self._refusal(lines) from None
        self.row += len(lines) - 1
        instructions = self._global_ones(instructions, numbers)
        is_load = np.zeros(len(words.begins_warp), dtype=np.int64)
        is_load[instructions.line] = (instructions.kind & READS) > 0
        loads = np.cumsum(is_load)
        loads_before_warp = np.maximum.accumulate(np.where(words.begins_warp, loads, -self._loads))
        step = loads - is_load - loads_before_warp
        cta, warp = self._cta + np.cumsum(words.begins_cta), self._warp + np.cumsum(words.begins_warp)
        if len(loads):
            self._cta, self._warp = int(cta[-1]), int(warp[-1])
            self._loads = int(loads[-1] - loads_before_warp[-1])
        owner, sector, known_bytes = _sectors(instructions, numbers)
        line, kind = instructions.line[owner], instructions.kind[owner] & (READS | WRITES)
        return Accesses(sector, known_bytes, kind, cta[line], warp[line], step[line])

    def _refusal(self, lines: Any) -> ProfileError:
        """Return what is said of the first line that cannot be read."""
        first, count = 0, len(lines)
        while count > 1:
            half = count // 2
            try:
                self._instructions(_Words(lines[first : first + half]))
                first, count = first + half, count - half
            except _UNREADABLE:
                count = half
        wrong = "an access to memory cannot be read"
        return ProfileError(wrong, path=self.file, row=self.row + first + 1, remedy=REMEDY)

    def _instructions(self, words: _Words) -> tuple[_Instructions, IntArray]:
        """Return the instructions, and (a,) all numbers that say where; ValueError: one cannot be read."""
        line = np.flatnonzero(~(words.begins_cta | words.begins_warp))
        place, end = words.starts[line] + self._before + 1, words.starts[line + 1]
        lanes = np.bitwise_count(words.numbers(place, np.ones(len(place), dtype=np.bool_))).astype(np.int64)
        place += 2 + words.numbers(place + 1)
        opcodes = words.take(place).dictionary_encode()
        of_opcode = [_kind_and_width(opcode) for opcode in opcodes.dictionary.to_pylist()]
        kind, width = np.array(of_opcode, dtype=np.int64).reshape(-1, 2)[to_numpy(opcodes.indices)].T
        place += 2 + words.numbers(place + 1)
        printed_width = words.numbers(place)
        if (place >= end).any() or ((kind == _UNKNOWN) & (printed_width > 0)).any():
            raise ValueError("a line is cut off, or what it does is not known")
        kind = np.maximum(kind, 0)
        is_global = ((kind & (READS | WRITES)) > 0) & (lanes > 0) & ((printed_width > 0) | (kind & BULK > 0))
        line, kind, place = line[is_global], kind[is_global], place[is_global]
        lanes, width, printed_width = lanes[is_global], width[is_global], printed_width[is_global]
        is_bulk = (kind & BULK) > 0
        mode, begin = np.zeros_like(lanes), np.zeros_like(lanes)
        mode[~is_bulk], numbers, begin[~is_bulk], has_bare = _lane_addresses(
            words, line[~is_bulk], place[~is_bulk] + 1, lanes[~is_bulk]
        )
        self.has_bare |= has_bare
        if is_bulk.any():
            self.has_bulk = True
            lanes[is_bulk], addresses = _bulk_copies(words, line[is_bulk], place[is_bulk])
            begin[is_bulk] = len(numbers) + np.cumsum(lanes[is_bulk]) - lanes[is_bulk]
            numbers, width = np.append(numbers, addresses), np.where(is_bulk, printed_width, width)
            if ((width <= 0) & (lanes > 0)).any():
                raise ValueError("a bulk copy of no bytes")
        return _Instructions(line, kind, width, lanes, mode, begin).at(lanes > 0), numbers

    def _global_ones(self, instructions: _Instructions, numbers: IntArray) -> _Instructions:
        """Return those on global memory.

        As in the simulator: a generic load or store is where its first lane's is, and shared if nothing
        tells; an atomic one is global.
        """
        is_generic = np.isin(instructions.kind, (GENERIC | READS, GENERIC | WRITES))
        self.has_generic |= bool(is_generic.any())
        base, (shared, local) = numbers[instructions.begin], self.bases
        of_thread = (base >= shared) & (base < local) | (base >= local) & (base < local + LOCAL_BYTES)
        return instructions.at(~is_generic | (~of_thread if shared and local else False))


def blocks(file: Path) -> Iterator[bytes]:
    """Yield a trace, unpacked, in pieces that end with a line; ProfileError where it cannot be unpacked."""
    try:
        with opened(file) as stream:
            for piece in whole_lines(stream, file, REMEDY):
                yield piece if piece.endswith(b"\n") else piece + b"\n"
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=REMEDY) from error


def within(counts: IntArray) -> IntArray:
    """Return 0, 1, ... for each of these counts, one behind the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _kind_and_width(opcode: str) -> tuple[int, int]:
    """Return what an instruction does to global memory, and the bytes of a lane as the simulator has them."""
    kind = memory_kind(opcode)
    widths = (part.removeprefix("U") for part in opcode.split(".")[1:])
    width = next((int(part) // 8 for part in widths if part.isdigit()), 4)
    return _UNKNOWN if kind is None else kind, width


def _lane_addresses(
    words: _Words, line: IntArray, place: IntArray, lanes: IntArray
) -> tuple[IntArray, IntArray, IntArray, bool]:
    """Return how addresses are given from each place on, all their numbers, where each one's begin, and
    whether any has no 0x.
    """
    from pyarrow import compute

    mode, listed = words.numbers(place), words.listed[line]
    size = np.where(mode == 1, 2, lanes)
    # What a load returned, at the end of the line, may have 0x too, so the first address tells.
    is_prefixed = to_numpy(compute.starts_with(words.take(place + 1), "0x"))
    # Of a list that is cut off the immediate must not be an address.
    is_cut = (place + size >= words.starts[line + 1]) | (mode == 0) & is_prefixed & (listed < lanes)
    if ((mode < 0) | (mode > 2) | is_cut).any():
        raise ValueError("a line is cut off")
    owner, rank = np.repeat(np.arange(len(size)), size), within(size)
    numbers = words.numbers(place[owner] + 1 + rank, (mode[owner] == 0) | (rank == 0))
    return mode, numbers, np.cumsum(size) - size, not is_prefixed.all()


def _bulk_copies(words: _Words, line: IntArray, place: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many transfers each bulk copy has, whose bytes stand at a place, and all their addresses."""
    columns = (column.tolist() for column in (words.starts[line], words.starts[line + 1], place))
    copies = [
        bulk_addresses(words.words[start:end].to_pylist(), width_at - start)
        for start, end, width_at in zip(*columns, strict=True)
    ]
    addresses = np.array([address for copy in copies for address in copy], dtype=np.int64)
    return np.array(list(map(len, copies)), dtype=np.int64), addresses


def _sectors(instructions: _Instructions, numbers: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the instruction of each touch, its sector, and the bytes of the sector that are known then."""
    _, kind, width, lanes, mode, begin = instructions
    is_load = (kind & READS) > 0
    base = numbers[begin]
    stride = np.where(mode == 1, numbers[np.minimum(begin + 1, len(numbers) - 1)], 0) if len(base) else base
    # Lanes side by side are one span of bytes; so are loads of which each sector is touched.
    step = np.abs(stride)
    is_one_span = (mode == 1) & ((step <= width) | is_load & (step <= 1 << SECTOR))
    spans = np.where(is_one_span, 1, lanes)
    owner, lane = np.repeat(np.arange(len(spans)), spans), within(spans)
    start = base + np.where(is_one_span, np.minimum(stride * (lanes - 1), 0), 0)
    address = start[owner] + stride[owner] * lane
    # Those of each lane stand there, or how far each is behind the lane before.
    position, total = np.where(mode[owner] == 1, 0, begin[owner] + lane), np.cumsum(numbers)
    address = np.where(mode[owner] == 0, numbers[position], address)
    address += np.where(mode[owner] == 2, total[position] - total[begin[owner]], 0)
    end = address + np.where(is_one_span, step * (lanes - 1) + width, width)[owner]
    low = address >> SECTOR
    count = (end - 1 >> SECTOR) - low + 1
    span = np.repeat(np.arange(len(count)), count)
    sector = low[span] + within(count)
    begins = np.maximum(address[span] - (sector << SECTOR), 0)
    ends = np.minimum(end[span] - (sector << SECTOR), 1 << SECTOR)
    owner = owner[span]
    return owner, sector, np.where(is_load[owner], (1 << 32) - 1, (1 << ends) - (1 << begins))
