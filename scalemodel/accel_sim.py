"""Instruction traces of Accel-Sim, one kernel a file: ``kernel-N.traceg``.

Header lines start with ``-``. Then thread block by thread block, between ``#BEGIN_TB`` and ``#END_TB``, for
each warp ``warp = w``, ``insts = n`` and n instructions, numbers decimal but for PC, mask and addresses:

    [line] PC mask destinations [names] opcode sources [names] width [form addresses] ...

The line number is there if ``-enable lineinfo`` is 1; before tracer version 3, or without one, x, y, z and
warp come first. A width of 0 is no memory instruction. Forms: 0, the address of each active thread; 1, that
of the first, and a stride to each next one of a run of active threads; 2, that of the first, and for each
later one the difference to the one before; those of bulk copies are `memory_instructions`'. Before the width
of matrix instructions (GMMA), which have no addresses, stands whether a group ends. Written from the tool's
grammar and public source (tracer_tool.cu, post-traces-processing.cpp, trace_parser.cc).

Counted are accesses to global memory, of generic ones those outside the 16 MiB from the shared or the local
base on. The warps of all thread blocks take turns: the first instruction of each, in the file's order, then
the second of each, and so on. Each line that an instruction touches is one access, in ascending order.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile, pieces
from sampling.simulators.memory_instructions import BULK, GENERIC, bulk_addresses, memory_kind
from scalemodel.accesses import AddressTrace

_SIGN = re.compile(rb"^(-kernel (name|id) = |-grid dim = |#BEGIN_TB|#traces format)", re.MULTILINE)
_UNGROUPED = "group the tracer's file by thread blocks first, with Accel-Sim's post-traces-processing"
_CUT_SHORT = "record or copy the trace again"


def recognises(head: bytes) -> bool:
    """Return whether a file that starts like this is an instruction trace of a kernel."""
    return _SIGN.search(head) is not None


def read(file: InputFile, line_bytes: int) -> AddressTrace:
    """Read the accesses of a kernel.

    Raises ProfileError: the grammar is broken, a memory instruction is not known, or the file ends early.
    """
    kernel, row = _Kernel(file.path, line_bytes), 0
    for _, piece in pieces(file):
        for line in piece.removesuffix(b"\n").split(b"\n"):
            row += 1
            kernel.follow(line, row)
    if kernel.is_open or not row:
        message = "ends within a thread block" if row else "is empty"
        raise ProfileError(message, path=file.path, remedy=_CUT_SHORT)
    # In turns: by the place of an instruction in its warp, then by warp.
    order = np.lexsort((np.array(kernel.warp_of), np.array(kernel.place_of)))
    line_of = np.array(kernel.line_of, dtype=np.uint64)[order]
    return AddressTrace(line_of, line_bytes, kernel.thread_instructions, kernel.warp_instructions)


# A line that is no instruction: headers, marks, thread blocks, warps, their instructions, clusters.
_BEGINS_MARK = (b"#", b"-", b"t", b"w", b"i", b"cl")
_MARK = re.compile(
    r"#.*|-(?P<key>.*?) = ?(?P<header>.*)|warp = (?P<warp>\d+)|insts = (?P<insts>\d+)"
    r"|thread block = \d+,\d+,\d+|cluster (id|cta|rank) = [\d,]+"
)
# Tracers before this version leave thread block and warp in front of each instruction.
_VERSION, _HAS_LINES = "accelsim tracer version", "enable lineinfo"
_FIRST_VERSION_WITHOUT_IDS, _ID_WORDS = 3, 4
_THREADS = 32
_MOST_BYTES = 1 << 16
# More registers than an instruction has; keeps a damaged number from pointing far away.
_MOST_REGISTERS = 64
_ADDRESSES = 1 << 64
# Shared and local memory are windows of so many bytes among generic addresses, from these on.
_WINDOW_BYTES = 1 << 24
_WINDOWS = ("shmem base_addr", "local mem base_addr")
# The forms addresses are written in; the words of each: an address, and others, strides or differences.
_LIST, _STRIDE, _DIFFERENCES = range(3)
_ADDRESS, _STEP = rb"(?:0[xX])?[0-9a-fA-F]{1,16}", rb"-?\d{1,19}"
_WORDS = [re.compile(rb"%b(?: %b)*" % (_ADDRESS, later)) for later in (_ADDRESS, _STEP, _STEP)]
# Lines without an access are few where they have no addresses, and as many as accesses where they have.
_MOST_KEPT = 1 << 16


@dataclass(slots=True)
class _Kernel:
    """Follows headers, thread blocks, warps and instructions line by line."""

    path: str
    line_bytes: int
    #: Those that matter; a base of 0 is one that the tracer does not know.
    header: dict[str, int] = field(default_factory=dict)
    #: Whether a thread block has begun and not ended.
    is_open: bool = False
    #: The warp, which of its instructions comes next, and how many are to come.
    warp: int = -1
    place: int = 0
    left: int = 0
    thread_instructions: int = 0
    warp_instructions: int = 0
    #: Line of text -> threads, of instructions without an access: most lines come many times.
    without_access: dict[bytes, int] = field(default_factory=dict)
    #: Of each access its instruction's place and warp, and its cache line.
    place_of: array[int] = field(default_factory=lambda: array("q"))
    warp_of: array[int] = field(default_factory=lambda: array("q"))
    line_of: array[int] = field(default_factory=lambda: array("Q"))

    def follow(self, text: bytes, row: int) -> None:
        """Follow the next line of the file."""
        threads = self.without_access.get(text)
        if threads is None:
            words = text.split()
            if not words:
                return
            if words[0].startswith(_BEGINS_MARK):
                self._follow_mark(text.strip().decode("utf-8", "replace"), row)
                return
        if not self.left:
            remedy = _UNGROUPED if self.warp < 0 else _CUT_SHORT
            message = "is an instruction outside of a warp, or more than it announces"
            raise ProfileError(message, path=self.path, row=row, remedy=remedy)
        if threads is None:
            instruction = _Instruction(words, self.path, row)
            threads, lines = instruction.accesses(self.header, self.line_bytes)
            self.line_of.extend(lines)
            self.place_of.extend([self.place] * len(lines))
            self.warp_of.extend([self.warp] * len(lines))
            if not lines and len(self.without_access) < _MOST_KEPT:
                self.without_access[text] = threads
        self.left -= 1
        self.place += 1
        self.warp_instructions += 1
        self.thread_instructions += threads

    def _follow_mark(self, text: str, row: int) -> None:
        """Follow a line that is no instruction."""
        mark = _MARK.fullmatch(text)
        if self.left:
            message = f"the warp above has {self.left:,} instructions less than it announces"
            raise ProfileError(message, path=self.path, row=row, remedy=_CUT_SHORT)
        if text in ("#BEGIN_TB", "#END_TB"):
            mark = None if self.is_open == (text == "#BEGIN_TB") else mark
            self.is_open = text == "#BEGIN_TB"
        if mark is None:
            message = f"{text!r} is no line of a trace, or out of place"
            raise ProfileError(message, path=self.path, row=row, remedy=_CUT_SHORT)
        name = (mark["key"] or "").strip()
        if name in (_VERSION, _HAS_LINES, *_WINDOWS):
            try:
                self.header[name] = int(mark["header"], 16 if name in _WINDOWS else 10)
            except ValueError as error:
                message = f"{mark['header']!r} is no value of -{name}"
                raise ProfileError(message, path=self.path, row=row) from error
        self.warp += mark["warp"] is not None
        if mark["insts"] is not None:
            self.left, self.place = int(mark["insts"]), 0


@dataclass(frozen=True, slots=True)
class _Instruction:
    """The words of an instruction."""

    words: list[bytes]
    path: str
    row: int  #: of the file, from 1

    def accesses(self, header: dict[str, int], line_bytes: int) -> tuple[int, list[int]]:
        """Return how many threads it is of, and the lines of global memory that these touch, ascending."""
        has_ids = header.get(_VERSION, 0) < _FIRST_VERSION_WITHOUT_IDS
        place = has_ids * _ID_WORDS + bool(header.get(_HAS_LINES, 0))
        self._number(place, "the program counter", 16, _ADDRESSES)
        mask = self._number(place + 1, "the mask", 16, _ADDRESSES)
        if mask >> _THREADS:
            raise self._error("the mask is not one of 32 threads", place + 1)
        opcode_at = place + 3 + self._number(place + 2, "the number of destinations", 10, _MOST_REGISTERS + 1)
        opcode, label = self._word(opcode_at), "the number of sources"
        width_at = opcode_at + 2 + self._number(opcode_at + 1, label, 10, _MOST_REGISTERS + 1)
        threads = mask.bit_count()
        if b"GMMA" in opcode:
            return threads, []
        width = self._number(width_at, "the access width", 10, _MOST_BYTES)
        kind = memory_kind(opcode.decode("utf-8", "replace"))
        if width and kind is None:
            label = "the memory instruction is not read"
            raise self._error(label, opcode_at, remedy="give the addresses as text or CSV")
        if not width or not mask or not kind:
            return threads, []
        addresses = self._bulk_addresses(width_at) if kind & BULK else self._addresses(width_at + 1, mask)
        if kind & GENERIC:
            windows = [range(base, base + _WINDOW_BYTES) for key in _WINDOWS if (base := header.get(key))]
            addresses = [address for address in addresses if not any(address in window for window in windows)]
        shift, offsets = line_bytes.bit_length() - 1, (*range(0, width, line_bytes), width - 1)
        lines = {(address + offset) % _ADDRESSES >> shift for offset in offsets for address in addresses}
        return threads, sorted(lines)

    def _addresses(self, form_at: int, mask: int) -> list[int]:
        """Return the address of each active thread."""
        form, threads = self._number(form_at, "the form of the addresses", 10, 3), mask.bit_count()
        # One more than a run, from its lowest thread on, has none of its threads.
        if form == _STRIDE and (mask + (mask & -mask)) & mask:
            raise self._error("has a stride, but its active threads are no run")
        end = form_at + 1 + (2 if form == _STRIDE else threads)
        self._word(end - 1)
        words, steps_base = self.words[form_at + 1 : end], 16 if form == _LIST else 10
        if not _WORDS[form].fullmatch(b" ".join(words)):
            # The longest start that is right is followed by the first word that is not.
            right = (count for count in range(len(words)) if _WORDS[form].fullmatch(b" ".join(words[:count])))
            wrong = form_at + 1 + max(right, default=0)
            raise self._error("the address, or the difference to it, is no number", wrong)
        numbers = [int(words[0], 16), *(int(word, steps_base) for word in words[1:])]
        if form == _STRIDE:
            numbers = [numbers[0] + rank * numbers[1] for rank in range(threads)]
        elif form == _DIFFERENCES:
            numbers = list(accumulate(numbers))
        return [number % _ADDRESSES for number in numbers]

    def _bulk_addresses(self, width_at: int) -> list[int]:
        """Return the address of each transfer of a bulk copy."""
        try:
            addresses = bulk_addresses([word.decode("utf-8", "replace") for word in self.words], width_at)
        except ValueError as error:
            wrong = "the addresses of a bulk copy by the tensor memory accelerator are not what is announced"
            raise self._error(wrong) from error
        return [address % _ADDRESSES for address in addresses]

    def _word(self, place: int) -> bytes:
        if place >= len(self.words):
            raise self._error("the line ends early")
        return self.words[place]

    def _number(self, place: int, label: str, base: int, below: int) -> int:
        """Return the number from 0 at a place."""
        try:
            number = int(self._word(place), base)
        except ValueError:
            number = -1
        if not 0 <= number < below:
            kind = "no such number" if base == 10 else "no hexadecimal number"
            raise self._error(f"{label} is {kind}", place)
        return number

    def _error(self, message: str, place: int | None = None, remedy: str | None = None) -> ProfileError:
        if place is not None:
            message = f"{message} ({self.words[place].decode('utf-8', 'replace')!r})"
        return ProfileError(message, path=self.path, row=self.row, remedy=remedy)
