"""What GPGPU-Sim and Accel-Sim print, as a profile: a cycle counts as a nanosecond.

Where kernels ran at once, a limit ended one, or one block is of several, no count is of one launch alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTable, LaunchTableBuilder
from sampling.profile.profile import KernelTable, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.gpgpu_sim_output import STILL_RUNNING, printed_lines, printed_run
from sampling.readers.input_file import InputFile, pieces
from sampling.readers.table import lines_before
from sampling.text import counted

FORMAT = "simulator-log"

_SIGNS = re.compile(
    rb"^[ \t]*gpu_sim_cycle = +\d|\*\*\* GPGPU-Sim Simulator Version|^Accel-Sim \[build", re.MULTILINE
)
_ALONE = "simulate it without limits and one kernel after the other, or give a table of its launches"


@dataclass(frozen=True, slots=True, eq=False)
class LoggedLaunches:
    """The launches of a log that ran to their end, in its order.

    Attributes
    ----------
    number : (n,) that of the trace where there is one, else the launch's in the run, from 1; None where not
        every launch has one of its own.
    sizes : (n, 6) x, y, z of the grid, then of the block; 0 where it is not printed.
    cycles, instructions : (n,).
    unfinished : how many launches had not ended.
    """

    names: list[str]
    number: IntArray | None
    sizes: IntArray
    cycles: IntArray
    instructions: IntArray
    unfinished: int


def recognise(file: InputFile) -> bool:
    """Return whether the head has a launch that ended, or the simulator's banner."""
    return _SIGNS.search(file.head) is not None


def logged_launches(file: InputFile, progress: Progress | None) -> LoggedLaunches:
    """Return the launches that ran to their end.

    Raises
    ------
    ProfileError : there is none; kernels ran at once, a limit ended one, or one count is of several.
    """
    run = printed_run(printed_lines(text for _, text in pieces(file, progress)))
    whole = [
        kernel for kernel in run.kernels if kernel.why_cut != STILL_RUNNING and kernel.cycles is not None
    ]
    wrong = [(run.together_at, f"{run.together}, so that no count is of one alone")] if run.together else []
    for kernel in whole:
        if kernel.why_cut:
            wrong.append((kernel.at, f"not every launch is known whole: {kernel.why_cut}"))
        elif len(kernel.uids) > 1:
            wrong.append((kernel.at, f"launches {' and '.join(map(str, kernel.uids))} are printed as one"))
    if wrong:
        at, message = min(wrong)
        raise ProfileError(message, path=file.path, row=lines_before(file, at) + 1, remedy=_ALONE)
    if not whole:
        raise ProfileError("no launch has ended", path=file.path, remedy="wait until one has")
    launches = [kernel.launches[0] for kernel in whole]
    number = np.array([each.trace_id or each.uid or 0 for each in launches], dtype=np.int64)
    rows = [
        (*(each.grid or (0,) * 3), *(each.block or (0,) * 3), kernel.cycles, kernel.instructions or 0)
        for each, kernel in zip(launches, whole, strict=True)
    ]
    table = np.array(rows, dtype=np.int64)
    return LoggedLaunches(
        names=[each.name for each in launches],
        number=number if number.all() and len(np.unique(number)) == len(number) else None,
        sizes=table[:, :6],
        cycles=table[:, 6],
        instructions=table[:, 7],
        unfinished=len(run.waiting) + len(run.kernels) - len(whole) - bool(run.waiting),
    )


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> LaunchTable:
    """Return the launches with their cycles, as nanoseconds, and their instructions.

    Raises
    ------
    ProfileError : see `logged_launches`.
    """
    found = logged_launches(file, progress)
    builder = LaunchTableBuilder(file.path, kernels)
    mangled = [name if name.startswith("_Z") else None for name in found.names]
    columns = LaunchColumns(
        name=kernels.names.intern(found.names, mangled=mangled),
        duration_ns=found.cycles,
        # A list of launches need not be in the order of the program; their numbers are.
        order=found.number,
        grid=list(found.sizes.T[:3]),
        block=list(found.sizes.T[3:]),
    )
    builder.append(columns)
    note = f"{file.path}: a cycle of the simulator counts as a nanosecond"
    if found.unfinished:
        note += f"; {counted(found.unfinished, 'launch', 'launches')} had not ended"
    made = builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(found.names)),
        facts=RecordingFacts(launch_order="file", product="GPGPU-Sim or Accel-Sim"),
        metrics={"instructions": found.instructions.astype(np.float64)},
    )
    made.notes = (note,)
    return made
