"""What MacSim measured of each launch, from what it prints.

A kernel begins with ``setup_process:0 .../KernelN/trace.txt``, N being its launch number in the traced
process from 0, and ``thread_count:``, its warps. Each warp that ends has a line with the cycle of the process
in which it did: a kernel takes from the last warp of the kernel before to its own last one, as MacSim's
authors count (`figure12` of gpu-trace-generate). Instructions are those of warps. Names and grids are not
printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    LinesSoFar,
    MeasuredRun,
    SeenKernel,
    columns_of,
)

_LINE = re.compile(
    rb"setup_process:(?P<process>\d+) +(?P<path>[^\r\n]*?) +current_index:|"
    rb"thread_count: *(?P<warps>\d{1,18})(?!\d)|"
    rb"\n\*\*Core +\d+ +Thread +\d+ +Finished: +insts:(?P<insts>\d{1,18}) +cycles:(?P<cycles>\d{1,18})(?!\d)"
)
_NUMBER = re.compile(rb".*Kernel(\d{1,18})(?:/[^/]*)?$")
_SIGNS = re.compile(
    rb"^(src/(macsim|process_manager|retire)\.cc:|Arguments: \S*macsim|"
    rb"\*\*Core +\d+ +Thread +\d+ +Finished:)",
    re.MULTILINE,
)
_STAT_FILE = re.compile(rb"^(INST_COUNT_TOT|CYC_COUNT_TOT)\s", re.MULTILINE)
_KNOWN = (CYCLES, INSTRUCTIONS)
_REMEDY = "give what MacSim printed on its standard output"


@dataclass(slots=True)
class _Kernel:
    """A kernel while its lines are read.

    Attributes
    ----------
    last_cycle : of the process, at the end of the last warp that has ended.
    """

    number: int
    warps: int | None = None
    ended: int = 0
    instructions: int = 0
    last_cycle: int = 0


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this is MacSim's output, or its file of totals."""
    return _SIGNS.search(head) is not None or _STAT_FILE.search(head) is not None


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what an output says of each launch.

    Parameters
    ----------
    metrics : `CYCLES`, `INSTRUCTIONS` (of warps), or both; none: both.

    Raises
    ------
    OptionError : another metric is asked for.
    ProfileError : no kernel is printed; the file has totals of the whole run alone; several programs ran at
        once; a trace's path says not which launch it is of.
    """
    names = tuple(metrics) or _KNOWN
    for name in names:
        if name not in _KNOWN:
            raise OptionError(
                f"there is no {name}: MacSim prints {' and '.join(_KNOWN)} of each launch",
                remedy="ask for these, or for others as a CSV of your own",
            )
    kernels = _kernels(file)
    rows: list[list[int | None]] = []
    missing: dict[int, str] = {}
    before: int | None = 0
    for place, kernel in enumerate(kernels):
        why = _why_not_whole(kernel)
        took = {
            CYCLES: None if before is None else kernel.last_cycle - before,
            INSTRUCTIONS: kernel.instructions,
        }
        if not why and before is None:
            why = "the kernel before it is not whole, so that its start is not known"
        if why:
            missing[place] = why
        rows.append([None if why else took[name] for name in names])
        before = kernel.last_cycle if kernel.ended and not _why_not_whole(kernel) else None
    return MeasuredRun(
        path=file.path,
        number=np.array([kernel.number for kernel in kernels], dtype=np.int64),
        first_number=0,
        metrics=columns_of(names, rows),
        kernels=tuple(SeenKernel(warps=kernel.warps) for kernel in kernels),
        missing=missing,
    )


def _why_not_whole(kernel: _Kernel) -> str:
    if kernel.warps is None or kernel.ended < kernel.warps:
        of = "some" if kernel.warps is None else f"{kernel.ended:,} of its {kernel.warps:,}"
        return f"{of} warps have ended: the run goes on, or was killed"
    return ""


def _kernels(file: InputFile) -> list[_Kernel]:
    """Return the kernels in the order in which they ran."""
    kernels: list[_Kernel] = []
    for text in LinesSoFar(file):
        for found in _LINE.finditer(b"\n" + text):
            if found["process"] is not None:
                kernels.append(_Kernel(_number(file, found["process"], found["path"])))
            elif not kernels:
                raise ProfileError(
                    "its beginning is missing: which kernel ran first is not known",
                    path=file.path,
                    remedy=_REMEDY,
                )
            elif found["warps"] is not None:
                kernels[-1].warps = int(found["warps"])
            else:
                kernels[-1].ended += 1
                kernels[-1].instructions += int(found["insts"])
                kernels[-1].last_cycle = max(kernels[-1].last_cycle, int(found["cycles"]))
    if not kernels:
        if _STAT_FILE.search(file.head):
            raise ProfileError("has totals of the whole run alone", path=file.path, remedy=_REMEDY)
        raise ProfileError("no kernel is printed there", path=file.path, remedy=_REMEDY)
    return kernels


def _number(file: InputFile, process: bytes, path: bytes) -> int:
    """Return the number of a launch by the path of its trace."""
    if int(process) != 0:
        raise ProfileError(
            "several programs ran at once, so that no count is of one kernel alone",
            path=file.path,
            remedy="simulate one program at a time",
        )
    found = _NUMBER.match(path)
    if found is None:
        raise ProfileError(
            f"{path.decode('utf-8', 'replace')!r} is no trace of a folder KernelN",
            path=file.path,
            remedy="keep the tracer's names of folders",
        )
    return int(found[1])
