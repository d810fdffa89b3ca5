"""Accel-Sim's ``stats.csv`` as a profile: every launch with its instructions, and no durations.

The launches are those of one context, in the order of their launch. A launch that was not traced has a count
of 0, which is none: a dry run lists all launches and counts no instruction.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import AnyIntArray
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.accel_sim.stats_rows import (
    BLOCK,
    GRID,
    INSTRUCTIONS,
    NAME,
    REPORTED,
    StatsRows,
    has_header,
    overflowed,
    read_rows,
)
from sampling.readers.counted_launches import CountedLaunches, refuse_gaps
from sampling.readers.input_file import InputFile

FORMAT = "accel-sim-stats"

_FIRST_NUMBER = 1


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of stats.csv."""
    return has_header(file.head)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches with their warp instructions.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, a count has overflowed, or a launch is missing.
    """
    rows = read_rows(file, with_counts=True, progress=progress)
    refuse_gaps(file.path, rows.line, rows.number, _FIRST_NUMBER)
    _refuse_overflow(file, rows)
    _refuse_no_size(file, rows)
    names = _names(file, rows, kernels)
    sizes = list(rows.sizes.T)
    return CountedLaunches(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(rows.number)),
        kernels=kernels,
        signature=kernels.intern(names, sizes[:3], sizes[3:]),
        instructions=rows.counts[:, 0],
        facts=RecordingFacts(launch_order="file", product="the tracer of Accel-Sim"),
    )


def _names(file: InputFile, rows: StatsRows, kernels: KernelTable) -> AnyIntArray:
    if "" in rows.names:
        row = int(np.argmax(rows.name == rows.names.index("")))
        raise _error(file, rows, row, NAME, "a launch has no name", "record the traces again")
    # They are mangled names, which is what simulators and tracers call the kernels.
    return kernels.names.intern(rows.names, mangled=rows.names)[rows.name]


def _refuse_overflow(file: InputFile, rows: StatsRows) -> None:
    wrong = overflowed(rows)
    if wrong.any():
        row = int(np.argmax(wrong))
        total, reported = rows.counts[row].tolist()
        found = f"{reported:,}" if total >= 0 > reported else f"{total:,}"
        told = f", less than the {reported:,} in its trace" if 0 <= total < reported else ""
        raise _error(
            file,
            rows,
            row,
            REPORTED if total >= 0 > reported else INSTRUCTIONS,
            f"the count {found}{told} has overflowed: the tracer prints 32 bits",
            "count again with NVBit's instr_count, whose counts have 64, and give what it prints",
        )


def _refuse_no_size(file: InputFile, rows: StatsRows) -> None:
    wrong = rows.sizes < 1
    if wrong.any():
        row, axis = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        column = (*GRID, *BLOCK)[axis]
        raise _error(
            file, rows, int(row), column, "a grid or block has no such size", "record the traces again"
        )


def _error(
    file: InputFile, rows: StatsRows, row: int, column: str, message: str, remedy: str
) -> ProfileError:
    return ProfileError(message, path=file.path, row=int(rows.line[row]), column=column, remedy=remedy)
