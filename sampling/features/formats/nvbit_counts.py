"""What NVBit's instr_count and instr_count_bb print: the instructions of every launch, in launch order.

A line's number counts the launch calls that NVBit hooks; it leaves out graphs and cooperative launches, so it
is no launch id.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows, gap_notes
from sampling.features.tables.columns import TextCodes
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers import nvbit
from sampling.readers.input_file import InputFile
from sampling.reduction.launch_features import Features
from sampling.text import Wording, counted

FORMAT = "nvbit-instr-count"

#: The metric that the file gives.
METRIC = "instructions"


def recognise(file: InputFile) -> bool:
    """Return whether the head has a line of instr_count, or the rest where NVBit introduces itself."""
    return nvbit.recognise(file)


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their executed instructions.

    A count of 0 stands for a launch that was not instrumented (outside START_GRID_NUM and END_GRID_NUM): it
    counts as a launch and has no value. The same holds for a negative count, which has overflowed.

    Raises
    ------
    ProfileError : no line is whole, or the launch numbers do not ascend, so that it is the log of several
        processes or runs.
    """
    names = TextCodes()
    parts: list[tuple[IntArray, ...]] = [
        (part.line, names.take(part.name), part.number, part.blocks, part.instructions)
        for part in nvbit.count_lines(file, progress)
    ]
    line, name, number, blocks, instructions = map(np.concatenate, zip(*parts, strict=True))
    if not len(line):
        raise ProfileError(
            "NVBit output without a whole line of instr_count", path=file.path, remedy="count again"
        )
    _refuse_several_runs(file, line, number)
    executed = np.where(instructions > 0, instructions.astype(np.float64), np.nan)
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        line=line,
        features=Features(metrics={METRIC: executed}, units={METRIC: "inst"}),
        names=names.distinct(),
        name=name,
        thread_blocks=blocks,
        launch_number=number,
        notes=_notes(number, instructions),
    )


def _refuse_several_runs(file: InputFile, line: IntArray, number: IntArray) -> None:
    steps = np.diff(number) <= 0
    if steps.any():
        row = int(np.argmax(steps)) + 1
        raise ProfileError(
            f"kernel {int(number[row])} follows kernel {int(number[row - 1])}: "
            "the log of several processes or runs",
            path=file.path,
            row=int(line[row]),
            remedy=Wording(
                "give the log of one process, and choose its launches with `processes` or `devices`"
            ),
        )


def _notes(number: IntArray, instructions: IntArray) -> tuple[str, ...]:
    notes = list(gap_notes(number))
    empty = int(np.count_nonzero(instructions == 0))
    if empty:
        were = "was" if empty == 1 else "were"
        launches = counted(empty, "launch", "launches")
        notes.append(f"{launches} {were} not instrumented (0 instructions): no value is known")
    overflowed = int(np.count_nonzero(instructions < 0))
    if overflowed:
        launches = counted(overflowed, "launch", "launches")
        first = int(instructions[np.argmax(instructions < 0)])
        notes.append(f"the counter overflowed in {launches} (a count of {first:,}): no value is known")
    return tuple(notes)
