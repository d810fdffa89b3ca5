"""The lines that NVBit's instr_count and instr_count_bb print, among whatever the program itself prints.

A line is ``kernel N - NAME - #thread-blocks B,  kernel instructions I, total instructions T``. N counts the
launch calls that NVBit hooks, from 0; it leaves out graphs and cooperative launches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sampling.arrays import IntArray
from sampling.progress import Progress
from sampling.readers.csv_cells import pieces
from sampling.readers.input_file import InputFile
from sampling.readers.text_lines import matching_lines, whole_counts

_LINE = (
    r"kernel (?P<number>\d+) - (?P<name>.+) - #thread-blocks (?P<blocks>\d+),\s*"
    r"kernel instructions (?P<instructions>-?\d+), total instructions (?P<total>-?\d+)"
)
_RECOGNISED = re.compile(rb"kernel \d+ - .+ - #thread-blocks \d+,\s*kernel instructions -?\d+")

_BANNER = b"NVBit (NVidia Binary Instrumentation Tool"


@dataclass(frozen=True, slots=True, eq=False)
class CountLines:
    """The lines of instr_count in one piece of a file; all (k,).

    Attributes
    ----------
    line : 1-based line of the file.
    name : Arrow binary array of the names.
    number, blocks, instructions : as printed.
    """

    line: IntArray
    name: Any
    number: IntArray
    blocks: IntArray
    instructions: IntArray


def has_count_lines(file: InputFile) -> bool:
    """Return whether the head has a line of instr_count, or the rest where NVBit introduces itself."""
    if _RECOGNISED.search(file.head) is not None:
        return True
    return _BANNER in file.head and any(_RECOGNISED.search(text) is not None for _, text in pieces(file))


def count_lines(file: InputFile, progress: Progress | None) -> Iterator[CountLines]:
    """Yield the lines of instr_count, piece by piece.

    Raises
    ------
    ProfileError : a count is too large for 64 bits.
    """
    lines_past = 0
    for _, text in pieces(file, progress):
        places, groups = matching_lines(text, _LINE)
        line = places + lines_past + 1
        number, blocks, instructions = (
            whole_counts(groups.field(field), line, file.path)
            for field in ("number", "blocks", "instructions")
        )
        yield CountLines(line, groups.field("name"), number, blocks, instructions)
        lines_past += text.count(b"\n")
