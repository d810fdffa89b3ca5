"""What Accel-Sim and GPGPU-Sim measured of each launch, from what they print.

Cycles and instructions are those of each launch; every other counter that is asked for by its printed name is
a total of the run, and a launch has the difference to the launch before. A launch's number is that of its
trace (``-kernel id``, or the ``N`` of ``kernel-N.traceg``), counted from 1 in each traced process; where a
program is simulated, its launch number (``kernel_launch_uid``), counted from 1 too. Where the beginning of an
output is missing, so may be the number of its first launch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.accel_sim import printed_lines as printed
from sampling.simulators.accel_sim.announced_launches import PrintedLaunch
from sampling.simulators.accel_sim.printed_lines import names_of_lines, printed_lines
from sampling.simulators.accel_sim.printed_output import SimulatedKernel, SimulatedRun, simulated_run
from sampling.simulators.exporting.run_order import LOADS_FROM
from sampling.simulators.lines_so_far import LinesSoFar
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    UNNUMBERED,
    MeasuredRun,
    SeenKernel,
    columns_of,
)

_OF_KERNEL = {
    CYCLES: CYCLES,
    INSTRUCTIONS: INSTRUCTIONS,
    printed.CYCLES.decode(): CYCLES,
    printed.INSTRUCTIONS.decode(): INSTRUCTIONS,
}
# What is printed before "=" is a counter's name only if it is no sentence.
_COUNTER = re.compile(r"[A-Za-z]\w{2,}(\[\w+\])*")
_DOES_NOT_ADD_UP = re.compile(
    r"^(max|min|avg|average|bank skew|chip skew)|rate\b|_rate|ratio|util|occupancy|latency|ipc|_BW|locality|"
    r"Locality|parallism|Parallism|^kernel_|slowdown|per_cycle|LevelPara|_eff\b",
)
_SIGNS = re.compile(
    rb"^(kernel_name = |kernel_launch_uid = |gpu_sim_cycle = |-kernel name = |Processing kernel |"
    rb"Accel-Sim \[|\s*\*\*\* GPGPU-Sim|GPGPU-Sim)",
    re.MULTILINE,
)
_REMEDY = "give what the simulator printed on its standard output"
_ALONE = "simulate one kernel at a time: -gpgpu_concurrent_kernel_sm 0, launches in one stream"
_NOTHING_RAN = "it took 0 cycles: nothing of it was simulated"
_ONE_BLOCK = "launches {} are printed as one, so that what each took is not known"


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts, or goes on, like this is the output of one of these simulators."""
    return _SIGNS.search(head) is not None


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what an output says of each launch.

    Parameters
    ----------
    metrics : `CYCLES`, `INSTRUCTIONS`, or counters by their printed names; none: the first two.

    Raises
    ------
    OptionError : a metric is a ratio or a maximum.
    ProfileError : kernels ran concurrently; no launch is printed; a metric is not printed, or is no count
        that launches add to.
    """
    names = tuple(metrics) or (CYCLES, INSTRUCTIONS)
    counters = [name for name in names if name not in _OF_KERNEL]
    for name in counters:
        if _DOES_NOT_ADD_UP.search(name):
            raise OptionError(
                f"{name} is a ratio, a mean or a maximum, which launches do not add up to",
                remedy="ask for the counts that it is made of",
            )
    run = simulated_run(
        printed_lines(LinesSoFar(file), [name.encode() for name in counters]),
        [name.encode() for name in counters],
    )
    _refuse(file, run, counters)
    launches = list(_launches(run.kernels, names, counters))
    return MeasuredRun(
        path=file.path,
        number=np.array([number for number, *_ in launches], dtype=np.int64),
        first_number=1,
        metrics=columns_of(names, [row for _, _, row, *_ in launches]),
        kernels=tuple(kernel for _, kernel, *_ in launches),
        missing={place: why for place, (_, _, _, why, _) in enumerate(launches) if why},
        filled=frozenset(place for place, (*_, is_filled) in enumerate(launches) if is_filled),
    )


def _refuse(file: InputFile, run: SimulatedRun, counters: Sequence[str]) -> None:
    if run.together:
        raise ProfileError(f"{run.together}, so that no count is of one alone", path=file.path, remedy=_ALONE)
    if not run.kernels:
        raise ProfileError("no launch is printed there", path=file.path, remedy=_REMEDY)
    if run.no_count:
        raise ProfileError(run.no_count, path=file.path, remedy="ask for counts that are totals of the run")
    has_block = any(kernel.ran_cycles is not None for kernel in run.kernels)
    missing = [name for name in counters if name.encode() not in run.counters_seen]
    if missing and has_block:
        raise ProfileError(
            f"no counter {missing[0]!r} is printed there",
            path=file.path,
            remedy=_counter_meant(missing[0], names_of_lines(LinesSoFar(file))),
        )


def _counter_meant(name: str, printed: Iterable[str]) -> str:
    """Return the printed name that is near; an output has too many to list them."""
    near = get_close_matches(name, [each for each in printed if _COUNTER.fullmatch(each)], 1)
    example = "give its name as it is printed, as L2_total_cache_misses"
    return f"did you mean {near[0]!r}?" if near else example


def _launches(
    kernels: Sequence[SimulatedKernel], names: Sequence[str], counters: Sequence[str]
) -> Iterator[tuple[int, SeenKernel, list[int | None], str, bool]]:
    """Yield number, kernel, metrics, why they are missing, and whether L2 was filled, of each launch."""
    was_filled = False
    for kernel in kernels:
        if kernel.launches and (kernel.launches[0].trace_id or 0) >= LOADS_FROM:
            # A kernel of loads, which is none of the program.
            was_filled = True
            continue
        why = kernel.why_cut or (_NOTHING_RAN if kernel.ran_cycles == 0 else "")
        if len(kernel.launches) > 1 or len(kernel.uids) > 1:
            why = why or _ONE_BLOCK.format(" and ".join(map(str, kernel.uids)))
        known: dict[str, int | None] = {
            CYCLES: kernel.facts.cycles,
            INSTRUCTIONS: kernel.facts.instructions,
            **dict(zip(counters, kernel.added, strict=False)),
        }
        row = [None if why else known.get(_OF_KERNEL.get(name, name)) for name in names]
        lacking = [name for name, value in zip(names, row, strict=True) if value is None]
        if lacking and not why:
            why = f"{', '.join(lacking)} cannot be told from the launches around it"
        uids = kernel.uids if len(kernel.uids) == len(kernel.launches) else (None,) * len(kernel.launches)
        for launch, uid in zip(kernel.launches, uids, strict=True):
            seen = SeenKernel(launch.name or kernel.name, launch.grid, launch.block)
            yield _number(launch, uid), seen, row, why, launch.is_filled or was_filled
        was_filled = False


def _number(launch: PrintedLaunch, uid: int | None) -> int:
    """Return a launch's number; none for one whose announcement is missing, for it may be of a trace."""
    number = {"trace": launch.trace_id, "program": launch.uid if uid is None else uid, "": None}[launch.by]
    return UNNUMBERED if number is None else number
