"""What NVBit's instr_count and instr_count_bb printed, among whatever the program itself printed.

A line is ``kernel N - NAME - #thread-blocks B,  kernel instructions I, total instructions T``. N counts the
launch calls that NVBit hooks, from 0; it leaves out graphs and cooperative launches. As a profile it has no
durations. A line says how many thread blocks a launch has, not its grid: launches of one kernel differ in
nothing that is known, and share a kernel group. A count of 0 is none: the launch was not instrumented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.counted_launches import CountedLaunches, refuse_gaps
from sampling.readers.csv_cells import pieces
from sampling.readers.input_file import InputFile
from sampling.readers.text_lines import lines_of, whole_counts

FORMAT = "nvbit-instr-count"

_LINE = (
    r"kernel (?P<number>\d+) - (?P<name>.+) - #thread-blocks (?P<blocks>\d+),\s*"
    r"kernel instructions (?P<instructions>-?\d+), total instructions (?P<total>-?\d+)"
)
_RECOGNISED = re.compile(rb"kernel \d+ - .+ - #thread-blocks \d+,\s*kernel instructions -?\d+")
_BANNER = b"NVBit (NVidia Binary Instrumentation Tool"


class CountLines(NamedTuple):
    """The lines of instr_count in one piece of a file, (k,) each; names are Arrow texts."""

    line: IntArray
    name: Any
    number: IntArray
    blocks: IntArray
    instructions: IntArray


def recognise(file: InputFile) -> bool:
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
    from pyarrow import compute

    lines_past = 0
    for _, text in pieces(file, progress):
        found = compute.extract_regex(lines_of(text), _LINE)
        line = np.flatnonzero(to_numpy(found.is_valid())) + lines_past + 1
        found = compute.drop_null(found)
        number, blocks, instructions = (
            whole_counts(found.field(field), line, file.path)
            for field in ("number", "blocks", "instructions")
        )
        yield CountLines(line, found.field("name"), number, blocks, instructions)
        lines_past += text.count(b"\n")


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches with their instructions.

    Raises
    ------
    ProfileError : no line is whole, a count has overflowed, or a launch is missing.
    """
    parts: list[tuple[Any, ...]] = []
    for part in count_lines(file, progress):
        encoded = part.name.dictionary_encode()
        spelt = [name.decode("utf-8", "replace") for name in encoded.dictionary.to_pylist()]
        # The tool prints mangled names unless MANGLED_NAMES is 0.
        codes = kernels.names.intern(
            spelt, mangled=[name if name.startswith("_Z") else None for name in spelt]
        )
        parts.append((part.line, part.number, part.instructions, codes[to_numpy(encoded.indices)]))
    line, number, instructions, name = map(np.concatenate, zip(*parts, strict=True))
    if not len(line):
        raise ProfileError(
            "NVBit output without a whole line of instr_count",
            path=file.path,
            remedy="count again, or record the program with `nsys profile --trace cuda`",
        )
    refuse_gaps(file.path, line, number, first=0)
    if instructions.min() < 0:
        row = int(np.argmax(instructions < 0))
        raise ProfileError(
            f"the count {int(instructions[row]):,} has overflowed",
            path=file.path,
            row=int(line[row]),
            column="kernel instructions",
            remedy="count again with a newer instr_count, or with COUNT_WARP_LEVEL=1, which counts less",
        )
    return CountedLaunches(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(number)),
        kernels=kernels,
        signature=kernels.intern(name, None, None),
        instructions=instructions,
        facts=RecordingFacts(launch_order="file", product="NVBit"),
    )
