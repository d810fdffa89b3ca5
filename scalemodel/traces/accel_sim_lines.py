"""The lines of an Accel-Sim trace: its header, thread blocks and warps, and the words of its instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from scalemodel.arrays import BoolArray, IntArray
from scalemodel.errors import InputError, Place
from scalemodel.traces.words import Lines, Words, decimal_numbers

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
    """What a kernel's header says about the lines below it.

    Attributes
    ----------
    version : of the tracer; 0 before it was written.
    has_line_numbers : whether a source line comes first on each instruction line.
    shared_base, local_base : where shared and local memory start among generic addresses; None where unknown.
    """

    version: int = 0
    has_line_numbers: bool = False
    shared_base: int | None = None
    local_base: int | None = None


@dataclass(frozen=True, slots=True)
class InstructionWords:
    """Some instruction lines of a piece of a trace.

    Attributes
    ----------
    path : the file's, for messages.
    words : of the whole piece.
    first : (i,) int64, the first word of each line.
    count : (i,) int64, how many words it has.
    row : (i,) int64, 1-based, its row in the file.
    """

    path: str
    words: Words
    first: IntArray
    count: IntArray
    row: IntArray

    def __getitem__(self, which: IntArray | BoolArray) -> InstructionWords:
        return InstructionWords(self.path, self.words, self.first[which], self.count[which], self.row[which])

    def at(self, place: IntArray) -> Words:
        """Return the word at this place of each line.

        Raises
        ------
        InputError : a line has not so many words.
        """
        self.refuse(place >= self.count, "the line ends early")
        return self.words[self.first + place]

    def registers(self, place: IntArray, what: str) -> IntArray:
        """Return the number of registers at this place of each line.

        Raises
        ------
        InputError : there is none.
        """
        number, is_number = decimal_numbers(self.at(place))
        self.refuse(~is_number | (number > _MOST_REGISTERS), f"the number of {what} is not one", place)
        return number.view(np.int64)

    def refuse(
        self, wrong: BoolArray, what: str, place: IntArray | None = None, instruction: IntArray | None = None
    ) -> None:
        """Raise for the first that is wrong.

        Parameters
        ----------
        wrong : (i,) bool, or (t,) if ``instruction`` says which line each of them is of.
        what : what is wrong.
        place : of the same length, where the word stands that is to blame.

        Raises
        ------
        InputError : one is wrong.
        """
        if not wrong.any():
            return
        first = int(np.argmax(wrong))
        line = first if instruction is None else int(instruction[first])
        if place is not None:
            what = f"{what} ({self.words.word(int(self.first[line] + place[first]))!r})"
        raise InputError(what, Place(self.path, int(self.row[line])))


@dataclass(frozen=True, slots=True)
class InstructionLines:
    """The instruction lines of a piece of a trace.

    Attributes
    ----------
    words : the words of these lines.
    warp : (i,) int64, the warp of each, numbered from 0 in the file's order.
    place : (i,) int64, its place in that warp, from 0.
    """

    words: InstructionWords
    warp: IntArray
    place: IntArray


class BlockReader:
    """Follows headers, thread blocks and warps through the pieces of one file.

    Raises
    ------
    InputError : a line is out of place or not known, or a warp has not the instructions it announces.
    """

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
