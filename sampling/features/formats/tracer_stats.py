"""Accel-Sim's ``stats.csv`` as features: the warp instructions of every launch of a traced process."""

from __future__ import annotations

import numpy as np

from sampling.features.rows import FeatureRows, gap_notes
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers.accel_sim import INSTRUCTIONS, has_header, overflowed, read_rows
from sampling.readers.counted_launches import METRIC
from sampling.readers.input_file import InputFile
from sampling.reduction.launch_features import Features
from sampling.text import counted

FORMAT = "accel-sim-stats"

_FIRST_NUMBER = 1


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of stats.csv."""
    return has_header(file.head)


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their instructions; one that was not traced, or overflowed, has no value.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, an id no trace; the numbers do not ascend.
    """
    rows = read_rows(file, with_counts=True, progress=progress)
    rows.refuse_several_runs()
    executed = rows.counts[:, 0]
    wrong = overflowed(rows)
    number = rows.number - _FIRST_NUMBER
    known = np.where((executed > 0) & ~wrong, executed.astype(np.float64), np.nan)
    notes = list(gap_notes(number))
    for count, said in (
        (int(np.count_nonzero((executed == 0) & ~wrong)), "not traced (0 instructions)"),
        (int(np.count_nonzero(wrong)), f"beyond the 32 bits in which {INSTRUCTIONS} is printed"),
    ):
        if count:
            were = "was" if count == 1 else "were"
            notes.append(f"{counted(count, 'launch', 'launches')} {were} {said}: no value is known")
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        line=rows.line,
        features=Features(metrics={METRIC: known}, units={METRIC: "inst"}),
        names=rows.names,
        name=rows.name,
        grid=rows.sizes[:, :3],
        block=rows.sizes[:, 3:],
        launch_number=number,
        notes=tuple(notes),
    )
