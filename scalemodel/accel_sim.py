"""Instruction traces of Accel-Sim, one kernel a file: ``kernel-N.traceg``.

Header lines start with ``-``. Then thread block by thread block, between ``#BEGIN_TB`` and ``#END_TB``, for
each warp ``warp = w``, ``insts = n`` and n instructions, numbers decimal but for PC, mask and addresses:

    [line] PC mask destinations [names] opcode sources [names] width [form addresses] ...

The line number is there if ``-enable lineinfo`` is 1; before tracer version 3, or without one, x, y, z and
warp come first. A width of 0 is no memory instruction. Forms: 0, the address of each active thread; 1, that
of the first, and a stride to each next one of a run of active threads; 2, that of the first, and for each
later one the difference to the one before. Written from the tool's grammar and public source (tracer_tool.cu,
post-traces-processing.cpp, trace_parser.cc).

Counted are accesses to global memory, of generic ones those outside the 16 MiB from the shared or the local
base on. The warps of all thread blocks take turns: the first instruction of each, in the file's order, then
the second of each, and so on. Each line that an instruction touches is one access, in ascending order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from scalemodel.arrays import BoolArray, IntArray
from scalemodel.errors import InputError, Place
from scalemodel.trace_file import (
    AddressArray,
    AddressTrace,
    Lines,
    TraceFile,
    Words,
    lines_touched,
    numbers,
    split_lines,
)

_SIGN = re.compile(rb"^(-kernel (name|id) = |-grid dim = |#BEGIN_TB|#traces format)", re.MULTILINE)
_UNGROUPED = "group the tracer's file by thread blocks first, with Accel-Sim's post-traces-processing"
_CUT_SHORT = "record or copy the trace again"


def recognises(head: bytes) -> bool:
    """Return whether a file that starts like this is an instruction trace of a kernel."""
    return _SIGN.search(head) is not None


def read(file: TraceFile, line_bytes: int) -> AddressTrace:
    """Read the accesses of a kernel.

    Raises InputError: the grammar is broken, a memory instruction is not known, or the file ends early.
    """
    blocks = _Blocks(file.path)
    thread_instructions = warp_instructions = 0
    warps, places, lines = [], [], []
    for text in file.line_pieces():
        instructions, warp, place = blocks.follow(split_lines(text))
        threads, instruction, line = _accesses(instructions, blocks.header, line_bytes)
        thread_instructions += threads
        warp_instructions += warp.size
        warps.append(warp[instruction])
        places.append(place[instruction])
        lines.append(line)
    if blocks.is_open or not lines:
        what = "ends within a thread block" if lines else "is empty"
        raise InputError(what, Place(file.path), remedy=_CUT_SHORT)
    # In turns: by the place of an instruction in its warp, then by warp.
    of_warp = np.concatenate(warps)
    turn = np.concatenate(places) * (int(of_warp.max(initial=0)) + 1) + of_warp
    line = np.concatenate(lines)[np.argsort(turn, kind="stable")]
    return AddressTrace(line, line_bytes, thread_instructions, warp_instructions)


# -- headers, thread blocks and warps -----------------------------------------------------------------------

# First letters of lines that are no instruction: headers, marks, "thread block", "warp", "insts"; "cluster"
# starts like a hexadecimal number.
_MARKS = np.frombuffer(b"#-twi", dtype=np.uint8)
_MARK = re.compile(
    r"#.*|-(?P<key>.*?) = ?(?P<header>.*)|warp = (?P<warp>\d+)|insts = (?P<insts>\d+)"
    r"|thread block = \d+,\d+,\d+|cluster (id|cta|rank) = [\d,]+"
)


@dataclass(slots=True)
class _Blocks:
    """Follows headers, thread blocks and warps through the pieces of one file."""

    path: str
    #: Those that matter; a base of 0 is one that the tracer does not know.
    header: dict[str, int] = field(default_factory=dict)
    #: Whether a thread block has begun and not ended.
    is_open: bool = False
    #: Rows and instructions so far; the warp, the first of its instructions, and the end of them.
    rows: int = 0
    count: int = 0
    warp: int = -1
    first: int = 0
    end: int = 0

    def follow(self, lines: Lines) -> tuple[_Instructions, IntArray, IntArray]:
        """Return the instruction lines of the next piece, the warp of each, and its place in that."""
        words, text = lines.words, lines.words.text
        start, end = words.start[lines.first[:-1]], words.end[lines.first[1:] - 1]
        is_cluster = (text[start] == ord("c")) & (text[np.minimum(start + 1, text.size - 1)] == ord("l"))
        is_mark: BoolArray = is_cluster | np.isin(text[start], _MARKS)
        row = self.rows + lines.row + 1
        rows, number = row[~is_mark], self.count + np.arange(np.count_nonzero(~is_mark))
        before = self.count + np.cumsum(~is_mark)
        firsts, warps = [self.first], [self.warp]
        for mark in np.flatnonzero(is_mark).tolist():
            self._check(int(before[mark]), rows)
            word = text[start[mark] : end[mark]].tobytes().decode("utf-8", "replace")
            if self._begins_instructions(word, int(row[mark]), int(before[mark])):
                firsts.append(self.first)
                warps.append(self.warp)
        self._check(self.count + rows.size, rows)
        self.rows, self.count = self.rows + lines.rows, self.count + rows.size
        run = np.searchsorted(np.array(firsts[1:], dtype=np.int64), number, side="right")
        instructions = _Instructions(
            self.path, words, lines.first[:-1][~is_mark], np.diff(lines.first)[~is_mark], rows
        )
        return instructions, np.array(warps)[run], number - np.array(firsts)[run]

    def _check(self, count: int, rows: IntArray) -> None:
        """Refuse the first of so many instructions that is beyond those of the warp."""
        if count > self.end:
            remedy = _UNGROUPED if self.warp < 0 else _CUT_SHORT
            what = "is an instruction outside of a warp, or more than it announces"
            raise InputError(what, Place(self.path, int(rows[self.end - self.count])), remedy=remedy)

    def _begins_instructions(self, text: str, row: int, before: int) -> bool:
        """Follow a line that is no instruction; return whether it announces those of a warp."""
        found, place = _MARK.fullmatch(text), Place(self.path, row)
        if before < self.end:
            what = f"the warp above has {self.end - before:,} instructions less than it announces"
            raise InputError(what, place, remedy=_CUT_SHORT)
        if text in ("#BEGIN_TB", "#END_TB"):
            found = None if self.is_open == (text == "#BEGIN_TB") else found
            self.is_open = text == "#BEGIN_TB"
        if found is None:
            raise InputError(f"{text!r} is no line of a trace, or out of place", place, remedy=_CUT_SHORT)
        name = (found["key"] or "").strip()
        try:
            if name in _NUMBERS:
                self.header[name] = int(found["header"])
            elif name in _WINDOWS:
                self.header[name] = int(found["header"], 16)
        except ValueError as error:
            raise InputError(f"{found['header']!r} is no value of -{name}", place) from error
        self.warp += found["warp"] is not None
        if found["insts"] is not None:
            self.first, self.end = before, before + int(found["insts"])
        return found["insts"] is not None


# -- instructions -------------------------------------------------------------------------------------------

# Tracers before this version leave thread block and warp in front of each instruction.
_FIRST_VERSION_WITHOUT_IDS, _ID_WORDS = 3, 4
_THREADS = 32
_MOST_BYTES = 1 << 16
# More registers than an instruction has; keeps a damaged number from pointing far away.
_MOST_REGISTERS = 64
# Shared and local memory are windows of so many bytes among generic addresses, from these on.
_WINDOW_BYTES = 1 << 24
_WINDOWS = ("shmem base_addr", "local mem base_addr")
_NUMBERS = ("accelsim tracer version", "enable lineinfo")
# The forms addresses are written in.
_LIST, _STRIDE, _DIFFERENCES = range(3)

# A memory instruction's name is shorter.
_MOST_LETTERS = 8
# Where a memory instruction's addresses are. Others: shared memory, constants, what only manages a cache,
# textures and surfaces (coordinates, no addresses).
_UNKNOWN, _GLOBAL, _GENERIC, _OTHER = range(4)
_OPCODES = {
    _GLOBAL: "LDG STG ATOMG REDG LDGSTS",
    _GENERIC: "LD ST ATOM RED",
    _OTHER: "LDL STL LDS STS ATOMS LDSM STSM SYNCS LDC LDCU ULDC CCTL CCTLL CCTLT QSPC MATCH MEMBAR ERRBAR "
    "TEX TLD TLD4 TMML TXD TXQ SULD SUST SURED SUATOM",
}
_SPACE_OF_NAME = {name: space for space, names in _OPCODES.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class _Instructions:
    """Some instruction lines of a piece of a trace: first word, number of words and row of each."""

    path: str
    words: Words
    first: IntArray
    count: IntArray
    row: IntArray

    def __getitem__(self, which: IntArray | BoolArray) -> _Instructions:
        return _Instructions(self.path, self.words, self.first[which], self.count[which], self.row[which])

    def at(self, place: IntArray) -> Words:
        """Return the word at this place of each line."""
        self.refuse(place >= self.count, "the line ends early")
        return self.words[self.first + place]

    def number(self, place: IntArray, what: str, below: int) -> IntArray:
        """Return the decimal number at this place of each line."""
        number, is_number = numbers(self.at(place), 10)
        self.refuse(~is_number | (number >= below), f"{what} is no such number", place)
        return number.view(np.int64)

    def hexadecimal(self, place: IntArray, what: str) -> AddressArray:
        """Return the hexadecimal number at this place of each line."""
        number, is_number = numbers(self.at(place), 16)
        self.refuse(~is_number, f"{what} is no hexadecimal number", place)
        return number

    def refuse(
        self, wrong: BoolArray, what: str, place: IntArray | None = None, instruction: IntArray | None = None
    ) -> None:
        """Raise for the first that is wrong."""
        if wrong.any():
            first = int(np.argmax(wrong))
            line = first if instruction is None else int(instruction[first])
            if place is not None:
                what = f"{what} ({self.words.word(int(self.first[line] + place[first]))!r})"
            raise InputError(what, Place(self.path, int(self.row[line])))


def _accesses(
    instructions: _Instructions, header: dict[str, int], line_bytes: int
) -> tuple[int, IntArray, AddressArray]:
    """Return how many threads' instructions these are, and of each access its instruction and line."""
    has_ids = header.get("accelsim tracer version", 0) < _FIRST_VERSION_WITHOUT_IDS
    has_lines = bool(header.get("enable lineinfo", 0))
    counter_at = np.full(instructions.first.size, has_ids * _ID_WORDS + has_lines)
    instructions.hexadecimal(counter_at, "the program counter")
    mask = instructions.hexadecimal(counter_at + 1, "the mask")
    instructions.refuse(mask >= 1 << _THREADS, "the mask is not one of 32 threads", counter_at + 1)
    destinations = instructions.number(counter_at + 2, "the number of destinations", _MOST_REGISTERS + 1)
    opcode_at = counter_at + 3 + destinations
    instructions.at(opcode_at)
    sources = instructions.number(opcode_at + 1, "the number of sources", _MOST_REGISTERS + 1)
    width_at = opcode_at + 2 + sources
    width = instructions.number(width_at, "the access width", _MOST_BYTES)
    memory = np.flatnonzero(width)
    space = _spaces(instructions[memory], opcode_at[memory])
    is_read = ((space == _GLOBAL) | (space == _GENERIC)) & (mask[memory] != 0)
    read, is_generic = memory[is_read], space[is_read] == _GENERIC
    # Of a generic instruction each thread is looked at: some may be in a window, others not.
    longest_step = np.where(is_generic, -1, line_bytes)
    instruction, address, size = _spans(
        instructions[read], width_at[read] + 1, mask[read], width[read], longest_step
    )
    is_in = np.zeros(address.size, dtype=np.bool_)
    for name in _WINDOWS:
        if base := header.get(name):
            # An address below the base wraps to one far above it.
            is_in |= (address - np.uint64(base)) < _WINDOW_BYTES
    kept = ~(is_in & is_generic[instruction])
    instruction = instruction[kept]
    line, access = lines_touched(address[kept], size[kept], line_bytes)
    # Each distinct line of each instruction once, ascending. Neighbouring threads mostly share one: few are
    # left to be sorted.
    instruction, line = _distinct_neighbours(instruction[access], line)
    order = np.lexsort((line, instruction))
    instruction, line = _distinct_neighbours(instruction[order], line[order])
    return int(np.bitwise_count(mask).sum(dtype=np.int64)), read[instruction], line


def _spaces(instructions: _Instructions, opcode_at: IntArray) -> IntArray:
    """Return where the addresses of each memory instruction are."""
    letters = np.ascontiguousarray(instructions.at(opcode_at).letters(_MOST_LETTERS))
    opcodes, which = np.unique(letters.view(f"S{_MOST_LETTERS}")[:, 0], return_inverse=True)
    names = (opcode.decode("utf-8", "replace").partition(".")[0] for opcode in opcodes.tolist())
    space = np.array([_SPACE_OF_NAME.get(name, _UNKNOWN) for name in names], dtype=np.int64)[which]
    unknown = np.flatnonzero(space == _UNKNOWN)
    if unknown.size:
        at = int(unknown[0])
        opcode = instructions.words.word(int((instructions.first + opcode_at)[at]))
        what = f"the memory instruction is not read ({opcode!r})"
        if opcode.startswith(("UTMA", "UBLK")):
            what = f"bulk copies of the tensor memory accelerator are not read ({opcode!r})"
        place = Place(instructions.path, int(instructions.row[at]))
        raise InputError(what, place, remedy="give the addresses as text or CSV")
    return space


def _distinct_neighbours(instruction: IntArray, line: AddressArray) -> tuple[IntArray, AddressArray]:
    """Leave out what is the same as the one before."""
    is_other = np.ones(line.size, dtype=np.bool_)
    is_other[1:] = (line[1:] != line[:-1]) | (instruction[1:] != instruction[:-1])
    return instruction[is_other], line[is_other]


def _spans(
    instructions: _Instructions,
    form_at: IntArray,
    mask: AddressArray,
    width: IntArray,
    longest_step: IntArray,
) -> tuple[IntArray, AddressArray, AddressArray]:
    """Return instruction, first byte and bytes of what each active thread touches.

    Whatever the form, an address is a running sum: of the first one and what each later one is beyond the one
    before it, which a stride says once; where all are listed each is a sum of its own. What threads touch by
    a stride up to the longest step is one span.
    """
    form = instructions.number(form_at, "the form of the addresses", _DIFFERENCES + 1)
    has_stride, is_list = form == _STRIDE, form == _LIST
    # One more than a run, from its lowest thread on, has none of its threads.
    lowest = mask & (~mask + np.uint64(1))
    is_broken = has_stride & (((mask + lowest) & mask) != 0)
    instructions.refuse(is_broken, "has a stride, but its active threads are no run")
    threads = np.bitwise_count(mask).astype(np.int64)
    words = np.where(has_stride, 2, threads)
    instructions.at(form_at + words)
    instruction, number = _ranked(words)
    place = form_at[instruction] + 1 + number
    texts = instructions.words[instructions.first[instruction] + place]
    is_address = is_list[instruction] | (number == 0)
    value = np.zeros(instruction.size, dtype=np.uint64)
    is_number = np.zeros(instruction.size, dtype=np.bool_)
    for which, base in ((is_address, 16), (~is_address, 10)):
        value[which], is_number[which] = numbers(texts[which], base, is_signed=base == 10)
    what = "the address, or the difference to it, is no number"
    instructions.refuse(~is_number, what, place, instruction)
    start = np.cumsum(words) - words
    stride = np.where(has_stride, value[np.minimum(start + 1, value.size - 1)].view(np.int64), 0)
    is_one = has_stride & (np.abs(stride) <= longest_step)
    reach = np.where(is_one, stride * (threads - 1), 0)
    instruction, rank = _ranked(np.where(is_one, 1, threads))
    step = value[start[instruction] + np.where(has_stride[instruction], np.minimum(rank, 1), rank)]
    begins = is_list[instruction] | (rank == 0)
    # Running sums, modulo 2**64, that restart at each address.
    total = np.cumsum(step, dtype=np.uint64)
    before = (total - step)[begins]
    address = total - before[np.cumsum(begins) - 1] + np.minimum(reach, 0).view(np.uint64)[instruction]
    return instruction, address, (width + np.abs(reach)).view(np.uint64)[instruction]


def _ranked(count: IntArray) -> tuple[IntArray, IntArray]:
    """Return each index as often as its count says, and how often it came before."""
    index = np.repeat(np.arange(count.size), count)
    return index, np.arange(index.size) - (np.cumsum(count) - count)[index]
