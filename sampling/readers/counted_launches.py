"""A profile of launches with their instructions and no durations, as tracers and counting tools see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchTable
from sampling.profile.profile import KernelTable, LaunchSequence, ProfileFile, RecordingFacts

#: The metric that such a profile has.
METRIC = "instructions"


class CountedLaunches(LaunchTable):
    """The launches of one process, in launch order, of which a count of 0 is none.

    Parameters
    ----------
    signature : (n,) codes of the kernel table.
    instructions : (n,) counts, >= 0.
    """

    has_durations = False

    def __init__(
        self,
        *,
        format_name: str,
        file: ProfileFile,
        kernels: KernelTable,
        signature: AnyIntArray,
        instructions: AnyIntArray,
        facts: RecordingFacts,
    ) -> None:
        launches = len(signature)
        super().__init__(
            format_name=format_name,
            files=(replace(file, launches=launches),),
            kernels=kernels,
            sequences=(LaunchSequence(0, 0, launches, 0),),
            columns={"signature": signature, "duration_ns": np.zeros(launches, dtype=np.int64)},
            facts=facts,
            metrics={METRIC: np.where(instructions > 0, instructions.astype(np.float64), np.nan)},
        )


def refuse_gaps(path: str, line: IntArray, number: IntArray, first: int) -> None:
    """Refuse a file whose launches are not all there in one row of numbers: ids count from the first.

    Parameters
    ----------
    line, number : (n,) line of each launch, and the tool's own number of it.
    first : the number of the first launch.

    Raises
    ------
    ProfileError : a number is not the one before it and one.
    """
    wrong = np.flatnonzero(number != np.arange(first, first + len(number)))
    if not len(wrong):
        return
    row = int(wrong[0])
    found = int(number[row])
    if row == 0:
        message = f"the first launch is kernel {found}, not {first}: those before it are missing"
        remedy = "give the whole file, from the start of the program"
    elif found <= int(number[row - 1]):
        message = f"kernel {found} follows kernel {int(number[row - 1])}: several processes, contexts or runs"
        remedy = "give each a file of its own"
    else:
        message = f"kernel {found} follows kernel {int(number[row - 1])}: what is between is missing or cut"
        remedy = "write the file again, and keep what the program prints out of its lines"
    raise ProfileError(message, path=path, row=int(line[row]), remedy=remedy)
