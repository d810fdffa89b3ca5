"""What GPGPU-Sim and Accel-Sim measured: results of each launch, and the visualizer's log within each kernel.

**Results.** A launch has its cycles and instructions; other counters are totals of the run, and a launch has
the difference to the launch before. Its number is that of its trace, counted from 1 in each traced process,
or its ``kernel_launch_uid`` where a program is simulated.

**The log** (``-visualizer_enabled 1``) has a record every ``-gpgpu_runtime_stat`` cycles: ``ctas_completed``
since the record before, ``globalcyclecount`` and ``globalinsncount`` since the kernel's start. A kernel
starts where the cycles do not rise; one shorter than the interval leaves no record. The count of finished
CTAs runs on, so that a kernel's first record includes those that earlier kernels finished after their last
records: the simulator's output, in the same file or another, tells how many, and names the kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers.gpgpu_sim_output import PrintedKernel, PrintedRun, printed_lines, printed_run, read_run
from sampling.readers.input_file import InputFile
from sampling.simulators.export import LOADS_FROM
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    UNNUMBERED,
    LinesSoFar,
    MeasuredRun,
    SeenKernel,
    metric_columns,
)
from sampling.simulators.simulator import IntervalReader, ResultsReader, Simulator
from sampling.text import counted

_OURS = {"gpu_sim_cycle": CYCLES, "gpu_sim_insn": INSTRUCTIONS}
_DOES_NOT_ADD_UP = re.compile(
    r"^(max|min|avg|average|bank skew|chip skew)|rate\b|_rate|ratio|util|occupancy|latency|ipc|_BW|locality|"
    r"Locality|parallism|Parallism|^kernel_|slowdown|per_cycle|LevelPara|_eff\b|_time\b"
)
_PRINTED = (
    rb"-kernel name = |kernel_name = |kernel_launch_uid = |gpu_sim_cycle = |Processing kernel |Accel-Sim \[|"
    rb"[ \t]*\*\*\* GPGPU-Sim|GPGPU-Sim"
)
_SIGNS = re.compile(rb"^(?:%s)" % _PRINTED, re.MULTILINE)
# The core's clock, those of the network, L2 and DRAM.
_CLOCKS = "-gpgpu_clock_domains"
_CLOCK = re.compile(r"(\d{1,9}(?:\.\d*)?)(?=:|$)")
# A record's lines, in their order; they end in a colon, for the output has "ctas_completed 16, Shader 0 ...".
_RECORD = (b"ctas_completed:", b"globalcyclecount:", b"globalinsncount:")
_PER_CORE = b"shaderinsncount:"
_LOG_SIGNS = re.compile(
    rb"^(globalcyclecount:|shaderinsncount:|WarpDivergenceBreakdown:|dramncmd:|(?i:CFLOG)\d*[_:]|%s)"
    % _PRINTED,
    re.MULTILINE,
)
_COUNT = re.compile(rb"\d{1,18}\s*")
_ENDS_WITHIN = "the log ends within a record: the run goes on, or was killed"
_LOG_AHEAD = "its simulator's output ends before it does: the run goes on, or was killed"
_LOG_REMEDY = "give the log as the simulator wrote it, of a run with -visualizer_enabled 1"


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts, or goes on, like this is the output of one of these simulators."""
    return _SIGNS.search(head) is not None


def recognises_log(head: bytes) -> bool:
    """Return whether a file that starts like this is a visualizer log, or the simulator's output."""
    return _LOG_SIGNS.search(head) is not None


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what an output says of each launch: cycles, instructions, and counters by their names.

    Raises OptionError: a metric is a ratio or a maximum; ProfileError: kernels ran concurrently; no launch
    is printed; a metric is not printed, or is no count that launches add to.
    """
    names = tuple(dict.fromkeys((CYCLES, INSTRUCTIONS, *metrics)))
    counters = [name for name in names if _OURS.get(name, name) not in {CYCLES, INSTRUCTIONS}]
    for name in counters:
        if _DOES_NOT_ADD_UP.search(name):
            message = f"{name} is a ratio, a mean or a maximum, which launches do not add up to"
            raise OptionError(message, remedy="ask for the counts that it is made of")
    keys = [name.encode() for name in counters]
    run = read_run(file.path, LinesSoFar(file), keys)
    if not run.kernels:
        remedy = "give what the simulator printed on its standard output"
        raise ProfileError("no launch is printed there", path=file.path, remedy=remedy)
    numbers: list[int] = []
    kernels: list[SeenKernel] = []
    rows: list[list[int | None]] = []
    missing: dict[int, str] = {}
    filled: set[int] = set()
    was_filled = False
    for kernel in run.kernels:
        if (kernel.launches[0].trace_id or 0) >= LOADS_FROM:
            # A kernel of loads, which is none of the program.
            was_filled = True
            continue
        reason = _why_unknown(kernel)
        values = {CYCLES: kernel.cycles, INSTRUCTIONS: kernel.instructions}
        values |= zip(counters, kernel.added, strict=False)
        row = [None if reason else values.get(_OURS.get(name, name)) for name in names]
        lacking = [name for name, value in zip(names, row, strict=True) if value is None]
        if lacking and not reason:
            reason = f"{', '.join(lacking)} cannot be told from the launches around it"
        uids = kernel.uids if len(kernel.uids) == len(kernel.launches) else (None,) * len(kernel.launches)
        for launch, uid in zip(kernel.launches, uids, strict=True):
            if launch.is_filled or was_filled:
                filled.add(len(rows))
            if reason:
                missing[len(rows)] = reason
            number = launch.trace_id if launch.by == "trace" else uid or launch.uid
            # One whose announcement is missing has no number, for it may be of a trace.
            numbers.append(UNNUMBERED if number is None or not launch.by else number)
            kernels.append(SeenKernel(launch.name, launch.grid, launch.block))
            rows.append(row)
        was_filled = False
    return MeasuredRun(
        path=file.path,
        number=np.array(numbers, dtype=np.int64),
        first_number=1,
        metrics=metric_columns(names, rows),
        kernels=tuple(kernels),
        missing=missing,
        filled=frozenset(filled),
        options=run.options,
        unfinished=len(run.waiting),
        clock_hz=_core_clock_hz(run.options.get(_CLOCKS, "")),
    )


def _core_clock_hz(domains: str) -> float | None:
    """Return the clock that `gpu_sim_cycle` counts, the first of MHz by domain; None where there is none."""
    match = _CLOCK.match(domains)
    return 1e6 * float(match[1]) if match and float(match[1]) > 0 else None


def _why_unknown(kernel: PrintedKernel) -> str:
    """Return why nothing that is printed of a kernel is of a whole launch; empty where it is."""
    if kernel.why_cut:
        return kernel.why_cut
    if kernel.cycles == 0:
        return "it took 0 cycles: nothing of it was simulated"
    if len(kernel.launches) > 1 or len(kernel.uids) > 1:
        together = " and ".join(map(str, kernel.uids))
        return f"launches {together} are printed as one, so that what each took is not known"
    return ""


def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]:
    """Return the log of each kernel with a record, in the files' order.

    Raises ProfileError: there is no record; a record is not whole, other than the last; the simulator's
    output is of another run, or of kernels that ran at once; some of several runs have an output.

    Parameters
    ----------
    files : visualizer logs, a run each, and the simulator's outputs of these runs in the same order.
    """
    runs: list[tuple[InputFile, list[IntervalLog]]] = []
    outputs: list[PrintedRun] = []
    for file in files:
        logs, output = _content(file)
        runs += [(file, logs)] if logs else []
        outputs += [output] if output.kernels else []
    if not runs:
        raise ProfileError("holds no whole record of any kernel", path=files[0].path, remedy=_LOG_REMEDY)
    if outputs and len(outputs) != len(runs):
        wrong = f"{counted(len(runs), 'log')} and {counted(len(outputs), 'output')}: which are of one run?"
        raise ProfileError(wrong, path=runs[0][0].path, remedy="give each log with its output, or logs alone")
    if not outputs:
        return tuple(log for _, logs in runs for log in logs)
    pairs = zip(runs, outputs, strict=True)
    return tuple(log for (file, logs), output in pairs for log in _with_output(logs, output, file))


def _content(file: InputFile) -> tuple[list[IntervalLog], PrintedRun]:
    """Return the logs of a file's kernels, without names yet, and what is printed there."""

    def refused(row: int, message: str) -> ProfileError:
        return ProfileError(message, path=file.path, row=row, remedy=_LOG_REMEDY)

    records: list[tuple[int, bytes, bytes]] = []
    cores = 0
    lines = LinesSoFar(file)

    def of_output() -> Iterator[tuple[int, bytes, bytes]]:
        nonlocal cores
        for line in printed_lines(lines, (*_RECORD, _PER_CORE)):
            if line[1] == _PER_CORE:
                cores = cores or len(line[2].split())
            elif line[1] in _RECORD:
                records.append(line)
            else:
                yield line

    output = printed_run(file.path, of_output())
    for place, (row, key, text) in enumerate(records):
        if key != _RECORD[place % 3]:
            raise refused(row, "a record lacks a line before this one, or has one twice")
        if not _COUNT.fullmatch(text):
            raise refused(row, f"{text.decode('utf-8', 'replace').strip()!r} is not a count")
    is_cut = lines.is_cut or len(records) % 3 > 0
    complete = len(records) - len(records) % 3
    numbers = np.array([int(text) for _, _, text in records[:complete]], dtype=np.int64)
    ctas, cycle, executed = numbers.reshape(-1, 3).T
    starts = np.diff(cycle, prepend=cycle[:1]) <= 0
    instructions = np.where(starts, executed, np.diff(executed, prepend=np.int64(0)))
    wrong = (cycle == 0) | (instructions < 0)
    if wrong.any():
        raise refused(records[3 * int(np.argmax(wrong)) + 2][0], "cycles or instructions do not go up")
    edges = [*np.flatnonzero(starts).tolist(), cycle.size]
    logs = [
        IntervalLog(
            name="",
            cycle=cycle[start:end],
            instructions=instructions[start:end],
            ctas=ctas[start:end],
            facts=KernelFacts(cores=cores or None),
            is_cut_short=is_cut and end == cycle.size,
            why_cut=_ENDS_WITHIN if is_cut and end == cycle.size else "",
            # The first record may include CTAs of kernels too short for one.
            has_carried_ctas=True,
        )
        for start, end in pairwise(edges)
    ]
    return logs, output


def _with_output(logs: Sequence[IntervalLog], output: PrintedRun, file: InputFile) -> list[IntervalLog]:
    """Return the logs of a run with what the simulator printed of their kernels.

    Kernels shorter than the interval have no log; all others have one each, in the same order. A kernel's
    first record loses the CTAs that the records of the earlier kernels lack. A run that goes on may have more
    records than are printed: the output is written later.
    """
    completed: list[IntervalLog] = []
    kernels = iter(output.kernels)
    carried: int | None = 0
    for place, log in enumerate(logs):
        skipped: list[PrintedKernel] = []
        kernel = next(kernels, None)
        while kernel is not None and kernel.cycles is not None and kernel.cycles < log.cycle[0]:
            skipped.append(kernel)
            kernel = next(kernels, None)
        if kernel is None and not output.has_ended:
            ahead = [replace(log, unrecorded_before=_launches(skipped)), *logs[place + 1 :]]
            return [*completed, *ahead[:-1], replace(ahead[-1], is_cut_short=True, why_cut=_LOG_AHEAD)]
        if (
            kernel is None
            or (kernel.cycles is not None and log.cycle[-1] > kernel.cycles)
            or (kernel.instructions is not None and log.instructions.sum() > kernel.instructions)
        ):
            raise ProfileError(
                "the simulator's output is of another run: "
                f"it has no kernel like number {place + 1} of the log",
                path=file.path,
                remedy="give the log and the output of one run, or the log alone",
            )
        for short in skipped:
            carried = None if carried is None or short.ctas is None else carried + short.ctas
        ctas = log.ctas.copy()
        ctas[0] -= min(max(carried or 0, 0), int(ctas[0]))
        cycles = None if kernel.why_cut else kernel.cycles
        cores = log.facts.cores if kernel.cores is None else kernel.cores
        completed.append(
            replace(
                log,
                name=kernel.name,
                ctas=ctas,
                facts=KernelFacts(cycles, kernel.instructions, kernel.ctas, kernel.ctas_per_core, cores),
                launches=kernel.uids,
                trace_id=kernel.launches[0].trace_id if len(kernel.launches) == 1 else None,
                unrecorded_before=_launches(skipped),
                is_cut_short=cycles is None,
                why_cut=kernel.why_cut,
                has_carried_ctas=carried is None,
            )
        )
        if carried is not None:
            # How many CTAs the records lack is only known if it is known how many were carried in.
            carried = None if kernel.ctas is None else kernel.ctas - int(ctas.sum())
    completed[-1] = replace(completed[-1], unrecorded_after=_launches(list(kernels)))
    return completed


def _launches(kernels: Sequence[PrintedKernel]) -> int:
    return sum(max(len(kernel.uids), 1) for kernel in kernels)


RESULTS = ResultsReader(recognises_results, read_results)
INTERVALS = IntervalReader(recognises_log, read_interval_logs, form="a visualizer log of Accel-Sim")
SIMULATOR = Simulator(
    name="gpgpu-sim",
    title="GPGPU-Sim",
    results=RESULTS,
    instead="export for accel-sim, the same simulator on traces",
)
