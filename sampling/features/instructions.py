"""Instructions of every launch: what NVBit's instr_count prints, and the stats.csv of Accel-Sim's tracer.

A line of NVBit's is ``kernel N - NAME - #thread-blocks B,  kernel instructions I, total instructions T``,
among whatever the program itself printed. Their numbers count the launches that the tool sees (NVBit leaves
out graphs and cooperative launches), so they are no launch ids.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, gap_notes
from sampling.progress import Progress
from sampling.readers import accel_sim
from sampling.readers.csv_cells import NumberLocale, pieces
from sampling.readers.input_file import InputFile
from sampling.readers.tables.cells import unified
from sampling.readers.text_lines import lines_of, whole_counts
from sampling.reduction.launch_list import Features
from sampling.text import Wording, counted

_LINE = (
    r"kernel (?P<number>\d+) - (?P<name>.+) - #thread-blocks (?P<blocks>\d+),\s*"
    r"kernel instructions (?P<instructions>-?\d+), total instructions (?P<total>-?\d+)"
)
_RECOGNISED = re.compile(rb"kernel \d+ - .+ - #thread-blocks \d+,\s*kernel instructions -?\d+")
_BANNER = b"NVBit (NVidia Binary Instrumentation Tool"


def recognise(file: InputFile) -> bool:
    """Return whether this begins as stats.csv, has a line of instr_count, or NVBit introduces itself."""
    if accel_sim.has_header(file.head) or _RECOGNISED.search(file.head) is not None:
        return True
    return _BANNER in file.head and any(_RECOGNISED.search(text) is not None for _, text in pieces(file))


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their warp instructions.

    A count of 0 stands for a launch that was not counted: it counts as a launch and has no value. The same
    holds for a count that has overflowed.

    Raises
    ------
    ProfileError : no line is whole, a cell is no number, or the numbers of the launches do not ascend, so
        that it is of several processes or runs.
    """
    from pyarrow import compute

    if accel_sim.has_header(file.head):
        rows = accel_sim.read_rows(file, with_counts=True, progress=progress)
        rows.refuse_several_runs()
        beyond = accel_sim.overflowed(rows)
        return _rows(
            file.path,
            rows.line,
            rows.number - 1,
            np.where(beyond, -1, rows.counts[:, 0]),
            ("accel-sim-stats", "not traced", "beyond the 32 bits in which total_insts is printed"),
            names=rows.names,
            name=rows.name,
            grid=rows.sizes[:, :3],
            block=rows.sizes[:, 3:],
        )
    parts = []
    names: list[Any] = []
    lines_past = 0
    for _, text in pieces(file, progress):
        found = compute.extract_regex(lines_of(text), _LINE)
        line = np.flatnonzero(to_numpy(found.is_valid())) + lines_past + 1
        found = compute.drop_null(found)
        counts = (
            whole_counts(found.field(of), line, file.path) for of in ("number", "blocks", "instructions")
        )
        parts.append((line, *counts))
        names.append(found.field("name"))
        lines_past += text.count(b"\n")
    line, number, blocks, executed = map(np.concatenate, zip(*parts, strict=True))
    if not len(line):
        raise ProfileError(
            "NVBit output without a whole line of instr_count", path=file.path, remedy="count again"
        )
    falls = np.diff(number, prepend=number[:1] - 1) <= 0
    if falls.any():
        row = int(np.argmax(falls))
        raise ProfileError(
            f"kernel {int(number[row])} follows kernel {int(number[row - 1])}: "
            "the log of several processes or runs",
            path=file.path,
            row=int(line[row]),
            remedy=Wording(
                "give the log of one process, and choose its launches with `processes` or `devices`"
            ),
        )
    spelt, name = unified(names)
    said = ("nvbit-instr-count", "not instrumented", "beyond the bits of the counter, which overflowed")
    return _rows(file.path, line, number, executed, said, names=spelt, name=name, thread_blocks=blocks)


def _rows(
    path: str, line: IntArray, number: IntArray, executed: IntArray, said: tuple[str, str, str], **known: Any
) -> FeatureRows:
    """Return the rows of counts, (n,) each: 0 is none, below 0 overflowed.

    Parameters
    ----------
    said : the format, and how one calls a count that is none, and one that overflowed.
    """
    format_name, is_none, overflowed = said
    notes = [*gap_notes(number)]
    for chosen, what in ((executed == 0, f"{is_none} (0 instructions)"), (executed < 0, overflowed)):
        if count := int(np.count_nonzero(chosen)):
            were = "was" if count == 1 else "were"
            notes.append(f"{counted(count, 'launch', 'launches')} {were} {what}: no value is known")
    counts = np.where(executed > 0, executed.astype(np.float64), np.nan)
    return FeatureRows(
        path=path,
        format=format_name,
        line=line,
        features=Features(metrics={"instructions": counts}, units={"instructions": "inst"}),
        launch_number=number,
        notes=tuple(notes),
        **known,
    )
