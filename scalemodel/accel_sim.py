"""Instruction traces of Accel-Sim, one kernel a file: ``kernel-N.traceg``.

Header lines start with ``-``: read are ``-accelsim tracer version``, ``-enable lineinfo``,
``-shmem base_addr`` and ``-local mem base_addr``. Then thread block by thread block, between ``#BEGIN_TB``
and ``#END_TB``: ``thread block = x,y,z``, perhaps lines on its cluster, and for each warp ``warp = w``,
``insts = n`` and n instructions,

    [line] PC mask destinations [names] opcode sources [names] width [form addresses] ...

PC, mask of the active threads and addresses are hexadecimal, the other numbers decimal. The line number is
there if ``-enable lineinfo`` is 1; before tracer version 3, or without one, x, y, z and warp come first. A
width of 0 is no memory instruction. Forms: 0, the address of each active thread; 1, that of the first, and a
stride to each next one of a run of active threads; 2, that of the first, and for each later one the
difference to the one before. What comes after (immediates, values) is left alone. Written from the tool's
grammar and public source (tracer_tool.cu, post-traces-processing.cpp, trace_parser.cc), not run against it.

Counted are the accesses of LDG, STG, ATOMG, REDG and LDGSTS, and of LD, ST, ATOM and RED where the address
is not in the 16 MiB from the shared or the local base on; LDL, STL and the local ones only if asked for.
Loads of constants and textures have no address in a trace. The bulk copies of Hopper's tensor memory
accelerator are refused: their grammar is another in each version.

The warps of all thread blocks take turns, in the file's order: the first instruction of each, then the second
of each, and so on; a warp that has ended is left out. Each line that the active threads of an instruction
touch is one access, in ascending order. How many warps a GPU holds at once is not modelled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from scalemodel.arrays import BoolArray, IntArray
from scalemodel.errors import InputError, Place
from scalemodel.trace_file import (
    AddressArray,
    AddressTrace,
    Lines,
    NumberArray,
    TraceFile,
    Words,
    base_names,
    decimal_numbers,
    hex_numbers,
    lines_touched,
    name_code,
    signed_numbers,
    split_lines,
)

# First letters of lines that are no instruction: headers, marks, "thread block", "warp", "insts"; "cluster"
# starts like a hexadecimal number.
_MARKS = np.frombuffer(b"#-twi", dtype=np.uint8)
_CLUSTER = np.frombuffer(b"cl", dtype=np.uint8)
_ONE_NUMBER = re.compile(r"(warp|insts) = (\d+)")
_IGNORED = re.compile(r"thread block = \d+,\d+,\d+|cluster (id|cta) = \d+,\d+,\d+|cluster rank = \d+")
_HEADER = re.compile(r"-(.*?) = ?(.*)")
_UNGROUPED = "group the tracer's file by thread blocks first, with Accel-Sim's post-traces-processing"
_CUT_SHORT = "record or copy the trace again"
# More registers than an instruction has; keeps a damaged number from pointing far away.
_MOST_REGISTERS = 64


@dataclass(slots=True)
class TraceHeader:
    """What a kernel's header says about the lines below it."""

    version: int = 0
    has_line_numbers: bool = False
    shared_base: int | None = None
    local_base: int | None = None


@dataclass(frozen=True, slots=True)
class InstructionWords:
    """Some instruction lines of a piece of a trace."""

    path: str
    words: Words
    first: IntArray
    count: IntArray
    row: IntArray

    def __getitem__(self, which: IntArray | BoolArray) -> InstructionWords:
        return InstructionWords(self.path, self.words, self.first[which], self.count[which], self.row[which])

    def at(self, place: IntArray) -> Words:
        """Return the word at this place of each line."""
        self.refuse(place >= self.count, "the line ends early")
        return self.words[self.first + place]

    def registers(self, place: IntArray, what: str) -> IntArray:
        """Return the number of registers at this place of each line."""
        number, is_number = decimal_numbers(self.at(place))
        self.refuse(~is_number | (number > _MOST_REGISTERS), f"the number of {what} is not one", place)
        return number.view(np.int64)

    def refuse(
        self, wrong: BoolArray, what: str, place: IntArray | None = None, instruction: IntArray | None = None
    ) -> None:
        """Raise for the first that is wrong."""
        if not wrong.any():
            return
        first = int(np.argmax(wrong))
        line = first if instruction is None else int(instruction[first])
        if place is not None:
            what = f"{what} ({self.words.word(int(self.first[line] + place[first]))!r})"
        raise InputError(what, Place(self.path, int(self.row[line])))


@dataclass(frozen=True, slots=True)
class InstructionLines:
    """The instruction lines of a piece of a trace."""

    words: InstructionWords
    warp: IntArray
    place: IntArray


class BlockReader:
    """Follows headers, thread blocks and warps through the pieces of one file."""

    def __init__(self, path: str) -> None:
        self.header = TraceHeader()
        self._path = path
        self._rows = 0
        self._is_in_block = False
        self._has_blocks = False
        self._warp = -1
        self._is_warp_open = False
        self._announced: int | None = None
        self._seen = 0

    def read(self, lines: Lines) -> InstructionLines:
        """Return the instruction lines of the next piece, and to which warp they belong."""
        is_mark = _is_mark(lines)
        first, count = lines.first[:-1], np.diff(lines.first)
        row = self._rows + lines.row + 1
        self._rows += lines.rows
        instruction_row = row[~is_mark]
        before_mark = np.cumsum(~is_mark)[is_mark]
        starts, warps = [-self._seen], [self._warp]
        done = 0
        marks = zip(_texts(lines, is_mark), row[is_mark].tolist(), before_mark.tolist(), strict=True)
        for text, mark_row, before in marks:
            self._count(instruction_row[done:before])
            done = before
            self._mark(text, mark_row)
            if self._announced is not None and not self._seen and text.startswith("insts"):
                starts.append(before)
                warps.append(self._warp)
        self._count(instruction_row[done:])
        number = np.arange(instruction_row.size)
        run = np.searchsorted(np.array(starts[1:], dtype=np.int64), number, side="right")
        return InstructionLines(
            InstructionWords(self._path, lines.words, first[~is_mark], count[~is_mark], instruction_row),
            np.array(warps, dtype=np.int64)[run],
            number - np.array(starts, dtype=np.int64)[run],
        )

    def finish(self) -> None:
        """Check that the file is whole."""
        if self._is_in_block:
            raise InputError("ends within a thread block", Place(self._path), remedy=_CUT_SHORT)
        if not self._has_blocks:
            raise InputError("has no thread block (#BEGIN_TB)", Place(self._path), remedy=_UNGROUPED)

    def _count(self, rows: IntArray) -> None:
        """Take note of instruction lines that follow each other."""
        if not rows.size:
            return
        if self._announced is None:
            remedy = None if self._has_blocks else _UNGROUPED
            raise self._error("is an instruction outside of a warp", int(rows[0]), remedy)
        left = self._announced - self._seen
        if rows.size > left:
            what = f"is one instruction more than the {self._announced:,} that the warp announces"
            raise self._error(what, int(rows[left]))
        self._seen += rows.size

    def _mark(self, text: str, row: int) -> None:
        """Follow a line that is no instruction."""
        if text.startswith("-"):
            self._read_header(text, row)
        elif text.startswith("#"):
            self._begin_or_end(text, row)
        elif not self._is_in_block:
            raise self._error(f"{text!r} stands outside of a thread block", row)
        elif found := _ONE_NUMBER.fullmatch(text):
            self._begin_warp(found[1], int(found[2]), row)
        elif not _IGNORED.fullmatch(text):
            raise self._error(f"{text!r} is no line of a trace", row)

    def _begin_or_end(self, text: str, row: int) -> None:
        if text == "#BEGIN_TB" and not self._is_in_block:
            self._is_in_block = self._has_blocks = True
        elif text == "#END_TB" and self._is_in_block:
            self._end_warp(row)
            self._is_in_block = False
        elif self._has_blocks:
            raise self._error(f"{text!r} is out of place", row)

    def _begin_warp(self, what: str, number: int, row: int) -> None:
        if what == "warp":
            self._end_warp(row)
            self._warp += 1
            self._is_warp_open = True
        elif not self._is_warp_open or self._announced is not None:
            raise self._error("the instructions of a warp are announced without one", row)
        else:
            self._announced, self._seen = number, 0

    def _end_warp(self, row: int) -> None:
        if self._announced is not None and self._seen < self._announced:
            what = f"the warp above has {self._seen:,} instructions, not the {self._announced:,} it announces"
            raise self._error(what, row, _CUT_SHORT)
        self._announced, self._seen = None, 0
        self._is_warp_open = False

    def _read_header(self, text: str, row: int) -> None:
        found = _HEADER.fullmatch(text)
        if found is None or self._has_blocks:
            raise self._error(f"{text!r} is no line of a header, or out of place", row)
        name, value = found[1].strip(), found[2].strip()
        try:
            self._set(name, value)
        except ValueError as error:
            raise self._error(f"{value!r} is no value of -{name}", row) from error

    def _set(self, name: str, value: str) -> None:
        if name == "accelsim tracer version":
            self.header.version = int(value)
        elif name == "enable lineinfo":
            self.header.has_line_numbers = bool(int(value))
        elif name == "shmem base_addr":
            # The tracer writes 0 where it does not know.
            self.header.shared_base = int(value, 16) or None
        elif name == "local mem base_addr":
            self.header.local_base = int(value, 16) or None

    def _error(self, what: str, row: int, remedy: str | None = None) -> InputError:
        return InputError(what, Place(self._path, row), remedy=remedy)


def _is_mark(lines: Lines) -> BoolArray:
    """Return which lines are no instruction."""
    start = lines.words.start[lines.first[:-1]]
    text = lines.words.text
    second = text[np.minimum(start + 1, text.size - 1)]
    is_cluster: BoolArray = (text[start] == _CLUSTER[0]) & (second == _CLUSTER[1])
    return is_cluster | np.isin(text[start], _MARKS)


def _texts(lines: Lines, which: BoolArray) -> list[str]:
    """Return some lines as text, without blanks around them."""
    start = lines.words.start[lines.first[:-1][which]]
    end = lines.words.end[lines.first[1:][which] - 1]
    text = lines.words.text.tobytes()
    pairs = zip(start.tolist(), end.tolist(), strict=True)
    return [text[first:last].decode("utf-8", "replace") for first, last in pairs]


# Tracers before this version leave thread block and warp in front of each instruction.
_FIRST_VERSION_WITHOUT_IDS = 3
_ID_WORDS = 4
_THREADS = 32
_MOST_BYTES = 1 << 16
# Shared and local memory are windows of so many bytes among generic addresses.
_WINDOW_BYTES = 1 << 24
# The forms addresses are written in.
_LIST, _STRIDE, _DIFFERENCES = range(3)
# Far more than any address space; a stride times 31 fits 64 bits.
_LONGEST_STRIDE = 1 << 56


class _Space(IntEnum):
    """Where a memory instruction's addresses are."""

    UNKNOWN = 0
    GLOBAL = 1
    GENERIC = 2
    LOCAL = 3
    OTHER = 4


_OPCODES = {
    _Space.GLOBAL: ("LDG", "STG", "ATOMG", "REDG", "LDGSTS"),
    _Space.GENERIC: ("LD", "ST", "ATOM", "RED"),
    _Space.LOCAL: ("LDL", "STL"),
    # Shared memory, constants, what only manages a cache, textures and surfaces (coordinates, no addresses).
    _Space.OTHER: (
        *("LDS", "STS", "ATOMS", "LDSM", "STSM", "SYNCS", "LDC", "LDCU", "ULDC"),
        *("CCTL", "CCTLL", "CCTLT", "QSPC", "MATCH", "MEMBAR", "ERRBAR"),
        *("TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ", "SULD", "SUST", "SURED", "SUATOM"),
    ),
}
_SPACE_OF_NAME = {name_code(name): space for space, names in _OPCODES.items() for name in names}
_BULK_COPIES = ("UTMA", "UBLK")


@dataclass(frozen=True, slots=True)
class InstructionAccesses:
    """What a piece of a trace does to memory."""

    thread_instructions: int
    instruction: IntArray
    line: AddressArray


def read_instructions(
    words: InstructionWords, header: TraceHeader, line_bytes: int, *, with_local: bool
) -> InstructionAccesses:
    """Return the accesses of the instructions."""
    has_ids = header.version < _FIRST_VERSION_WITHOUT_IDS
    counter_at = np.full(words.first.size, has_ids * _ID_WORDS + header.has_line_numbers)
    mask_at = counter_at + 1
    _, is_number = hex_numbers(words.at(counter_at))
    words.refuse(~is_number, "the program counter is no hexadecimal number", counter_at)
    mask, is_number = hex_numbers(words.at(mask_at))
    words.refuse(~is_number | (mask >= 1 << _THREADS), "the mask is not one of 32 threads", mask_at)
    opcode_at = mask_at + 2 + words.registers(mask_at + 1, "destinations")
    words.at(opcode_at)
    width_at = opcode_at + 2 + words.registers(opcode_at + 1, "sources")
    width, is_number = decimal_numbers(words.at(width_at))
    words.refuse(~is_number | (width >= _MOST_BYTES), "the access width is no number of bytes", width_at)
    memory = np.flatnonzero(width)
    space = _spaces(words[memory], opcode_at[memory])
    is_read = (space == _Space.GLOBAL) | (space == _Space.GENERIC) | ((space == _Space.LOCAL) & with_local)
    is_read &= mask[memory] != 0
    read, is_generic = memory[is_read], space[is_read] == _Space.GENERIC
    instructions = MemoryInstructions(words[read], width_at[read] + 1, mask[read], width[read])
    # Of a generic instruction each thread is looked at: some may be in a window, others not.
    spans = read_spans(instructions, np.where(is_generic, -1, line_bytes))
    is_left_out = _is_in_window(spans.start, header, with_local=with_local) & is_generic[spans.instruction]
    instruction, line = _coalesced(spans[~is_left_out], line_bytes)
    return InstructionAccesses(int(np.bitwise_count(mask).sum(dtype=np.int64)), read[instruction], line)


def _spaces(words: InstructionWords, opcode_at: IntArray) -> IntArray:
    """Return where the addresses of each memory instruction are."""
    names, which = np.unique(base_names(words.at(opcode_at)), return_inverse=True)
    known = [_SPACE_OF_NAME.get(int(name), _Space.UNKNOWN) for name in names]
    space = np.array(known, dtype=np.int64)[which]
    unknown = np.flatnonzero(space == _Space.UNKNOWN)
    if unknown.size:
        at = int(unknown[0])
        opcode = words.words.word(int((words.first + opcode_at)[at]))
        is_bulk = opcode.startswith(_BULK_COPIES)
        what = "bulk copies of the tensor memory accelerator are" if is_bulk else "the memory instruction is"
        raise InputError(
            f"{what} not read ({opcode!r})",
            Place(words.path, int(words.row[at])),
            remedy="give the addresses as text or CSV",
        )
    return space


def _is_in_window(address: AddressArray, header: TraceHeader, *, with_local: bool) -> BoolArray:
    """Return which generic addresses are those of shared memory, or of local memory if that is left out."""
    is_in = np.zeros(address.size, dtype=np.bool_)
    for base in (header.shared_base, None if with_local else header.local_base):
        if base is not None:
            # An address below the base wraps to one far above it.
            is_in |= (address - np.uint64(base)) < _WINDOW_BYTES
    return is_in


def _coalesced(spans: Spans, line_bytes: int) -> tuple[IntArray, AddressArray]:
    """Return each distinct line of each instruction once, by instruction, then ascending."""
    line, span = lines_touched(spans.start, spans.size, line_bytes)
    # Neighbouring threads mostly share a line: few are left to be sorted.
    instruction, line = _distinct_neighbours(spans.instruction[span], line)
    order = np.lexsort((line, instruction))
    return _distinct_neighbours(instruction[order], line[order])


def _distinct_neighbours(instruction: IntArray, line: AddressArray) -> tuple[IntArray, AddressArray]:
    """Leave out what is the same as the one before."""
    is_other = np.ones(line.size, dtype=np.bool_)
    is_other[1:] = (line[1:] != line[:-1]) | (instruction[1:] != instruction[:-1])
    return instruction[is_other], line[is_other]


@dataclass(frozen=True, slots=True)
class MemoryInstructions:
    """Memory instructions with at least one active thread."""

    words: InstructionWords
    form_at: IntArray
    mask: NumberArray
    width: NumberArray

    def __getitem__(self, which: IntArray) -> MemoryInstructions:
        return MemoryInstructions(self.words[which], self.form_at[which], self.mask[which], self.width[which])

    @property
    def threads(self) -> IntArray:
        """(i,) int64, how many threads are active."""
        return np.bitwise_count(self.mask).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Spans:
    """Bytes that instructions touch, in no order."""

    instruction: IntArray
    start: AddressArray
    size: AddressArray

    def __getitem__(self, which: BoolArray) -> Spans:
        return Spans(self.instruction[which], self.start[which], self.size[which])


def read_spans(instructions: MemoryInstructions, longest_step: IntArray) -> Spans:
    """Return the spans that the active threads touch."""
    form, is_number = decimal_numbers(instructions.words.at(instructions.form_at))
    instructions.words.refuse(
        ~is_number | (form > _DIFFERENCES), "the form of the addresses is not known", instructions.form_at
    )
    strided, listed = np.flatnonzero(form == _STRIDE), np.flatnonzero(form != _STRIDE)
    by_stride = _by_stride(instructions[strided], longest_step[strided])
    by_list = _by_list(instructions[listed], form[listed] == _LIST)
    return Spans(
        np.concatenate([strided[by_stride.instruction], listed[by_list.instruction]]),
        np.concatenate([by_stride.start, by_list.start]),
        np.concatenate([by_stride.size, by_list.size]),
    )


def _by_stride(instructions: MemoryInstructions, longest_step: IntArray) -> Spans:
    """Return the spans of a first address and a stride to each next thread."""
    words, mask, threads = instructions.words, instructions.mask, instructions.threads
    base_at, stride_at = instructions.form_at + 1, instructions.form_at + 2
    base, is_number = hex_numbers(words.at(base_at))
    words.refuse(~is_number, "the address is no hexadecimal number", base_at)
    stride, is_number = signed_numbers(words.at(stride_at))
    words.refuse(~is_number | (np.abs(stride) > _LONGEST_STRIDE), "the stride is no number", stride_at)
    # One more than a run, from its lowest thread on, has none of its threads.
    lowest = mask & (~mask + np.uint64(1))
    words.refuse(((mask + lowest) & mask) != 0, "has a stride, but its active threads are no run")
    is_one = np.abs(stride) <= longest_step
    reach = np.where(is_one, stride * (threads - 1), 0)
    start = base + np.minimum(reach, 0).view(np.uint64)
    size = instructions.width + np.abs(reach).view(np.uint64)
    instruction, rank = _ranked(np.where(is_one, 1, threads))
    return Spans(
        instruction, start[instruction] + (stride[instruction] * rank).view(np.uint64), size[instruction]
    )


def _by_list(instructions: MemoryInstructions, is_list: BoolArray) -> Spans:
    """Return the spans of all addresses, or of a first one and the differences from each to the next."""
    words, threads = instructions.words, instructions.threads
    words.at(instructions.form_at + threads)
    instruction, rank = _ranked(threads)
    place = instructions.form_at[instruction] + 1 + rank
    number_words = words.words[words.first[instruction] + place]
    is_address = is_list[instruction] | (rank == 0)
    step = np.zeros(instruction.size, dtype=np.uint64)
    is_number = np.zeros(instruction.size, dtype=np.bool_)
    step[is_address], is_number[is_address] = hex_numbers(number_words[is_address])
    difference, is_number[~is_address] = signed_numbers(number_words[~is_address])
    step[~is_address] = difference.view(np.uint64)
    words.refuse(~is_number & is_address, "the address is no hexadecimal number", place, instruction)
    words.refuse(~is_number, "the difference between addresses is no number", place, instruction)
    return Spans(instruction, _summed(step, is_address), instructions.width[instruction])


def _ranked(count: IntArray) -> tuple[IntArray, IntArray]:
    """Return each index as often as its count says, and how often it came before."""
    index = np.repeat(np.arange(count.size), count)
    return index, np.arange(index.size) - (np.cumsum(count) - count)[index]


def _summed(step: NumberArray, is_start: BoolArray) -> AddressArray:
    """Return running sums, modulo 2**64, that restart at each start; the first step is a start."""
    total = np.cumsum(step, dtype=np.uint64)
    before = (total - step)[is_start]
    sums: AddressArray = total - before[np.cumsum(is_start) - 1]
    return sums


_SIGN = re.compile(rb"^(-kernel (name|id) = |-grid dim = |#BEGIN_TB|#traces format)", re.MULTILINE)


def recognises(head: bytes) -> bool:
    """Return whether a file that starts like this is an instruction trace of a kernel."""
    return _SIGN.search(head) is not None


def read(file: TraceFile, line_bytes: int, *, with_local: bool) -> AddressTrace:
    """Read the accesses of a kernel.

    Raises
    ------
    InputError : the grammar is broken, a memory instruction is not known, or the file ends early.
    """
    blocks = BlockReader(file.path)
    thread_instructions = warp_instructions = 0
    warps, places, lines = [], [], []
    for text in file.line_pieces():
        instructions = blocks.read(split_lines(text))
        accesses = read_instructions(instructions.words, blocks.header, line_bytes, with_local=with_local)
        thread_instructions += accesses.thread_instructions
        warp_instructions += instructions.warp.size
        warps.append(instructions.warp[accesses.instruction])
        places.append(instructions.place[accesses.instruction])
        lines.append(accesses.line)
    blocks.finish()
    line = _in_turns(np.concatenate(warps), np.concatenate(places), np.concatenate(lines))
    return AddressTrace(line, line_bytes, thread_instructions, warp_instructions)


def _in_turns(warp: IntArray, place: IntArray, line: AddressArray) -> AddressArray:
    """Return the lines by the place of their instruction in its warp, then by warp."""
    warps = int(warp.max(initial=0)) + 1
    return line[np.argsort(place * warps + warp, kind="stable")]
