"""What GPGPU-Sim and Accel-Sim measured: results of each launch, and the visualizer's log within each kernel.

**Results.** Cycles and instructions are those of each launch; every other counter that is asked for by its
printed name is a total of the run, and a launch has the difference to the launch before. A launch's number is
that of its trace (``-kernel id``, or the ``N`` of ``kernel-N.traceg``), counted from 1 in each traced
process; where a program is simulated, its launch number (``kernel_launch_uid``), counted from 1 too.

**The log** (``-visualizer_enabled 1``, gzip or not) has one record every so many cycles
(``-gpgpu_runtime_stat``): ``globalcyclecount`` and ``globalinsncount`` since the kernel's start,
``ctas_completed`` since the record before. A new kernel starts where the cycle count does not rise; a kernel
shorter than the interval leaves no record, and what follows a kernel's last record leaves none either. The
count of finished CTAs runs on from kernel to kernel, so that a kernel's first record includes those that the
kernels before finished after their last records. A run that goes on, or was killed, ends within a kernel.
The output, in the same file or another, names the kernels and tells their grids, CTAs a core, and true ends;
with it the CTAs of earlier kernels are subtracted. Without it any first record may include CTAs of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers import gpgpu_sim_output as printed
from sampling.readers.gpgpu_sim_output import PrintedKernel, PrintedRun, printed_lines, printed_run
from sampling.readers.input_file import InputFile
from sampling.simulators.export import LOADS_FROM
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    UNNUMBERED,
    LinesSoFar,
    MeasuredRun,
    SeenKernel,
    columns_of,
)
from sampling.text import counted

_OF_KERNEL = {
    CYCLES: CYCLES,
    INSTRUCTIONS: INSTRUCTIONS,
    printed.CYCLES.decode(): CYCLES,
    printed.INSTRUCTIONS.decode(): INSTRUCTIONS,
}
# What is printed before "=" is a counter's name only if it is no sentence.
_COUNTER = re.compile(rb"^[ \t]*([A-Za-z]\w{2,}(?:\[\w+\])*)[ \t]*=", re.MULTILINE)
_DOES_NOT_ADD_UP = re.compile(
    r"^(max|min|avg|average|bank skew|chip skew)|rate\b|_rate|ratio|util|occupancy|latency|ipc|_BW|locality|"
    r"Locality|parallism|Parallism|^kernel_|slowdown|per_cycle|LevelPara|_eff\b"
)
_MOST_BYTES_FOR_NAMES = 1 << 25
_PRINTED = (
    rb"-kernel name = |kernel_name = |kernel_launch_uid = |gpu_sim_cycle = |Processing kernel |Accel-Sim \[|"
    rb"\s*\*\*\* GPGPU-Sim|GPGPU-Sim"
)
_SIGNS = re.compile(rb"^(?:%s)" % _PRINTED, re.MULTILINE)


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts, or goes on, like this is the output of one of these simulators."""
    return _SIGNS.search(head) is not None


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what an output says of each launch; without metrics cycles and instructions, else counters too.

    Raises OptionError: a metric is a ratio or a maximum; ProfileError: kernels ran concurrently; no launch
    is printed; a metric is not printed, or is no count that launches add to.
    """
    names = tuple(metrics) or (CYCLES, INSTRUCTIONS)
    counters = [name for name in names if name not in _OF_KERNEL]
    for name in counters:
        if _DOES_NOT_ADD_UP.search(name):
            raise OptionError(
                f"{name} is a ratio, a mean or a maximum, which launches do not add up to",
                remedy="ask for the counts that it is made of",
            )
    asked = [name.encode() for name in counters]
    run = printed_run(printed_lines(LinesSoFar(file), asked), asked)
    _refuse_together(file, run)
    if not run.kernels:
        remedy = "give what the simulator printed on its standard output"
        raise ProfileError("no launch is printed there", path=file.path, remedy=remedy)
    if run.no_count:
        raise ProfileError(run.no_count, path=file.path, remedy="ask for counts that are totals of the run")
    missing = [name for name in asked if name not in run.seen]
    if missing and any(kernel.cycles is not None for kernel in run.kernels):
        name = missing[0].decode()
        near = get_close_matches(name, _counters_printed(file), 1)
        like = "give its name as it is printed, as L2_total_cache_misses"
        like = f"did you mean {near[0]!r}?" if near else like
        raise ProfileError(f"no counter {name!r} is printed there", path=file.path, remedy=like)
    return _measured(file, run, names, counters)


def _refuse_together(file: InputFile, run: PrintedRun) -> None:
    if run.together:
        raise ProfileError(
            f"{run.together}, so that no count is of one alone",
            path=file.path,
            row=_row(file, run.together_at),
            remedy="simulate one kernel at a time: -gpgpu_concurrent_kernel_sm 0, launches in one stream",
        )


def _row(file: InputFile, offset: int) -> int:
    """Return the 1-based row of an offset; it reads the file again, so it is for messages only."""
    row = 1
    for text in LinesSoFar(file):
        row += text.count(b"\n", 0, max(offset, 0))
        offset -= len(text)
        if offset <= 0:
            break
    return row


def _counters_printed(file: InputFile) -> list[str]:
    names: dict[bytes, None] = {}
    read = 0
    for text in LinesSoFar(file):
        names.update(dict.fromkeys(_COUNTER.findall(text)))
        read += len(text)
        if read > _MOST_BYTES_FOR_NAMES:
            break
    return [name.decode() for name in names]


def _measured(file: InputFile, run: PrintedRun, names: Sequence[str], counters: Sequence[str]) -> MeasuredRun:
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
        why = kernel.why_cut or (
            "it took 0 cycles: nothing of it was simulated" if kernel.cycles == 0 else ""
        )
        if len(kernel.launches) > 1 or len(kernel.uids) > 1:
            together = " and ".join(map(str, kernel.uids))
            why = why or f"launches {together} are printed as one, so that what each took is not known"
        known = {CYCLES: kernel.cycles, INSTRUCTIONS: kernel.instructions}
        known |= zip(counters, kernel.added, strict=False)
        row = [None if why else known.get(_OF_KERNEL.get(name, name)) for name in names]
        lacking = [name for name, value in zip(names, row, strict=True) if value is None]
        if lacking and not why:
            why = f"{', '.join(lacking)} cannot be told from the launches around it"
        uids = kernel.uids if len(kernel.uids) == len(kernel.launches) else (None,) * len(kernel.launches)
        for launch, uid in zip(kernel.launches, uids, strict=True):
            if launch.is_filled or was_filled:
                filled.add(len(rows))
            if why:
                missing[len(rows)] = why
            # One whose announcement is missing has no number, for it may be of a trace.
            number = launch.trace_id if launch.by == "trace" else uid if launch.by and uid else launch.uid
            numbers.append(UNNUMBERED if number is None or not launch.by else number)
            kernels.append(SeenKernel(launch.name, launch.grid, launch.block))
            rows.append(row)
        was_filled = False
    return MeasuredRun(
        path=file.path,
        number=np.array(numbers, dtype=np.int64),
        first_number=1,
        metrics=columns_of(names, rows),
        kernels=tuple(kernels),
        missing=missing,
        filled=frozenset(filled),
    )


# A record's keys end in a colon: the output has "ctas_completed 16, Shader 0 ..." for every kernel.
_RECORD = (b"globalcyclecount:", b"globalinsncount:", b"ctas_completed:")
_PER_CORE = b"shaderinsncount:"
_LOG_SIGNS = re.compile(
    rb"^(globalcyclecount:|shaderinsncount:|WarpDivergenceBreakdown:|dramncmd:|(?i:CFLOG)\d*[_:]|%s)"
    % _PRINTED,
    re.MULTILINE,
)
_LARGEST = (1 << 62) - 1
_ENDS_WITHIN = "the log ends within a record: the run goes on, or was killed"
_LOG_AHEAD = "its simulator's output ends before it does: the run goes on, or was killed"
_LOG_REMEDY = "give the log as the simulator wrote it, of a run with -visualizer_enabled 1"


def recognises_log(head: bytes) -> bool:
    """Return whether a file that starts like this is a visualizer log, or the simulator's output."""
    return _LOG_SIGNS.search(head) is not None


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
        _refuse_together(file, output)
        runs += [(file, logs)] if logs else []
        outputs += [output] if output.kernels else []
    if not runs:
        raise ProfileError("holds no whole record of any kernel", path=files[0].path, remedy=_LOG_REMEDY)
    if outputs and len(outputs) != len(runs):
        wrong = f"{counted(len(runs), 'log')} and {counted(len(outputs), 'output')}: which are of one run?"
        raise ProfileError(wrong, path=runs[0][0].path, remedy="give each log with its output, or logs alone")
    known = list(chain.from_iterable(logs for _, logs in runs))
    if outputs:
        pairs = zip(runs, outputs, strict=True)
        known = [log for (file, logs), output in pairs for log in _with_output(logs, output, file)]
    return tuple(
        replace(log, name=log.name or f"kernel {number}") for number, log in enumerate(known, start=1)
    )


def _content(file: InputFile) -> tuple[list[IntervalLog], PrintedRun]:
    """Return the logs of a file's kernels, without names yet, and what is printed there.

    The first record of a kernel may include CTAs of kernels too short for one.
    """
    kinds: list[int] = []
    values: list[bytes] = []
    cores: list[int] = []
    lines = LinesSoFar(file)

    def of_output() -> Iterator[tuple[int, bytes, bytes]]:
        for at, key, value in printed_lines(lines, (*_RECORD, _PER_CORE)):
            if key == _PER_CORE:
                cores[:] = cores or [len(value.split())]
            elif key in _RECORD:
                kinds.append(_RECORD.index(key))
                values.append(value)
            else:
                yield at, key, value

    output = printed_run(of_output())
    order = _order(file, np.array(kinds, dtype=np.int64))
    digits = [text.rstrip() for text in values]
    for index, text in enumerate(digits):
        if not text.isdigit() or int(text) > _LARGEST:
            raise _error(file, index, f"{text.decode('utf-8', 'replace')!r} is not a count")
    numbers = np.array(list(map(int, digits)), dtype=np.int64)
    is_cut = lines.is_cut or numbers.size % 3 > 0
    records = numbers[: numbers.size - numbers.size % 3].reshape(-1, 3)
    cycle, executed, ctas = (records[:, order.index(kind)] for kind in range(3))
    starts = np.diff(cycle, prepend=cycle[:1]) <= 0
    instructions = np.where(starts, executed, np.diff(executed, prepend=np.int64(0)))
    wrong = "a record of cycle 0 has nothing before it", "instructions go down while cycles go up"
    for kind, bad in enumerate((cycle == 0, instructions < 0)):
        if bad.any():
            raise _error(file, 3 * int(np.argmax(bad)) + order.index(kind), wrong[kind])
    first = np.flatnonzero(starts).tolist()
    logs = [
        IntervalLog(
            name="",
            cycle=cycle[start:end],
            instructions=instructions[start:end],
            ctas=ctas[start:end],
            facts=KernelFacts(cores=max(cores, default=0) or None),
            is_cut_short=is_cut and end == cycle.size,
            why_cut=_ENDS_WITHIN if is_cut and end == cycle.size else "",
            has_carried_ctas=True,
        )
        for start, end in zip(first, [*first[1:], cycle.size], strict=False)
    ]
    return logs, output


def _order(file: InputFile, kinds: IntArray) -> list[int]:
    """Return the kinds of line in the order that every record has; the last record may be cut short."""
    order: list[int] = kinds[:3].tolist()
    missing = [key.decode().rstrip(":") for kind, key in enumerate(_RECORD) if kind not in kinds]
    if kinds.size >= 3 and missing:
        raise ProfileError(f"no record has {' or '.join(missing)}", path=file.path, remedy=_LOG_REMEDY)
    if len(set(order)) < len(order):
        raise _error(file, 1 if order[0] == order[1] else 2, "a record lacks a line before this one")
    wrong: BoolArray = kinds != np.resize(kinds[:3], kinds.size)
    if wrong.any():
        message = "a record lacks a line before this one, or has one twice"
        raise _error(file, int(np.argmax(wrong)), message)
    return order if len(order) == 3 else [0, 1, 2]


def _error(file: InputFile, index: int, message: str) -> ProfileError:
    """Return the error that points at one of the records' lines, found by reading the file once more."""
    of_records = (at for at, key, _ in printed_lines(LinesSoFar(file), _RECORD) if key in _RECORD)
    at = next(at for place, at in enumerate(of_records) if place == index)
    return ProfileError(message, path=file.path, row=_row(file, at), remedy=_LOG_REMEDY)


def _with_output(logs: Sequence[IntervalLog], output: PrintedRun, file: InputFile) -> list[IntervalLog]:
    """Return the logs of a run with what the simulator printed of their kernels.

    Kernels shorter than the interval have no log; all others have one each, in the same order. A kernel's
    first record loses the CTAs that the records of the earlier kernels lack. A run that goes on may have more
    records than are printed: the output is written later.
    """
    known: list[IntervalLog] = []
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
            return [*known, *ahead[:-1], replace(ahead[-1], is_cut_short=True, why_cut=_LOG_AHEAD)]
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
        known.append(
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
    known[-1] = replace(known[-1], unrecorded_after=_launches(list(kernels)))
    return known


def _launches(kernels: Sequence[PrintedKernel]) -> int:
    return sum(max(len(kernel.uids), 1) for kernel in kernels)
