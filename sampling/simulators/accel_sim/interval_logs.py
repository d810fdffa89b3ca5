"""Accel-Sim: the visualizer's log of what happens within each kernel.

The log (``-visualizer_enabled 1``, gzip or not) has one record every so many cycles
(``-gpgpu_runtime_stat``): ``globalcyclecount`` and ``globalinsncount`` since the kernel's start,
``ctas_completed`` since the record before. A new kernel starts where the cycle count does not rise; a kernel
shorter than the interval leaves no record, and what follows a kernel's last record leaves none either. The
count of finished CTAs runs on from kernel to kernel, so that a kernel's first record includes those that the
kernels before finished after their last records. A run that goes on, or was killed, ends within a kernel.

The simulator's own output, in the same file or another, names the kernels and tells their grids, CTAs a core,
and true ends; with it the CTAs of earlier kernels are subtracted. Without it any kernel's first record may
include CTAs of others, even the first kernel's: the kernels before may have been too short for a record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.projection.interval_log import IntervalLog, KernelFacts
from sampling.readers.input_file import InputFile
from sampling.simulators.accel_sim.printed_lines import KEYS, PUSHED, Line
from sampling.simulators.accel_sim.printed_output import SimulatedKernel, SimulatedRun, simulated_run
from sampling.simulators.lines_so_far import LinesSoFar

_LOG_AHEAD = "its simulator's output ends before it does: the run goes on, or was killed"


def with_outputs(
    files: Sequence[InputFile], logs: Sequence[Sequence[IntervalLog]], outputs: Sequence[SimulatedRun]
) -> list[IntervalLog]:
    """Return the logs of all files with what the simulator printed of their kernels.

    A file of records is one run. With equally many outputs each run has its own, in the same order; else all
    outputs together belong to all runs.

    Parameters
    ----------
    logs, outputs : what each file has; one of an output alone has no logs, one of records alone no kernels.

    Raises
    ------
    ProfileError : an output is of another run.
    """
    runs = [(file, own) for file, own in zip(files, logs, strict=True) if own]
    printed = [own for own in outputs if own.kernels]
    if len(printed) == len(runs):
        return [
            log
            for (file, own), output in zip(runs, printed, strict=True)
            for log in _with_output([own], output, file)
        ]
    kernels = tuple(chain.from_iterable(own.kernels for own in printed))
    together = SimulatedRun(kernels, has_ended=all(own.has_ended for own in printed))
    return _with_output([own for _, own in runs], together, runs[0][0])


def _with_output(
    runs: Sequence[Sequence[IntervalLog]], output: SimulatedRun, file: InputFile
) -> list[IntervalLog]:
    """Return the logs of one run or more with what the simulator printed of their kernels.

    Kernels shorter than the interval have no log; all others have one each, in the same order. A kernel's
    first record loses the CTAs that the records of the earlier kernels of its run lack. A run that goes on
    may have more records than are printed: the output is written later.

    Raises
    ------
    ProfileError : a kernel of the log is longer than the one printed, or there are too few printed.
    """
    known: list[IntervalLog] = []
    printed = iter(output.kernels)
    for run in runs:
        carried: int | None = 0
        for place, log in enumerate(run):
            skipped, kernel = _kernel_of(log, printed)
            if kernel is None and not output.has_ended:
                known += _ahead_of_output(run[place:], _launches(skipped))
                break
            if kernel is None or not _fits(kernel, log):
                raise ProfileError(
                    "the simulator's output is of another run: "
                    f"it has no kernel like number {len(known) + 1} of the log",
                    path=file.path,
                    remedy="give the log and the output of one run, or the log alone",
                )
            if known and place == 0 and skipped:
                # Whether they ran at the end of the run before or at the start of this one is not known.
                carried = None
            for short in skipped:
                carried = _sum(carried, short.facts.ctas)
            known.append(replace(_named(log, kernel, carried), unrecorded_before=_launches(skipped)))
            # How many CTAs the records lack is only known if it is known how many were carried in.
            left = _sum(kernel.facts.ctas, -int(known[-1].ctas.sum()))
            carried = None if carried is None else left
    known[-1] = replace(known[-1], unrecorded_after=_launches(list(printed)))
    return known


def _launches(kernels: Sequence[SimulatedKernel]) -> int:
    return sum(max(len(kernel.uids), 1) for kernel in kernels)


def _ahead_of_output(logs: Sequence[IntervalLog], unrecorded: int) -> list[IntervalLog]:
    """Return the logs of which nothing is printed yet; the last one's kernel may run on."""
    ahead = list(logs)
    ahead[0] = replace(ahead[0], unrecorded_before=unrecorded)
    ahead[-1] = replace(ahead[-1], is_cut_short=True, why_cut=_LOG_AHEAD)
    return ahead


def _kernel_of(
    log: IntervalLog, printed: Iterator[SimulatedKernel]
) -> tuple[list[SimulatedKernel], SimulatedKernel | None]:
    """Return the next kernels that are too short for a record, and the one after them; None at the end."""
    skipped: list[SimulatedKernel] = []
    for kernel in printed:
        if kernel.ran_cycles is None or kernel.ran_cycles >= int(log.cycle[0]):
            return skipped, kernel
        skipped.append(kernel)
    return skipped, None


def _fits(kernel: SimulatedKernel, log: IntervalLog) -> bool:
    cycles, instructions = kernel.ran_cycles, kernel.facts.instructions
    fits_cycles = cycles is None or int(log.cycle[-1]) <= cycles
    return fits_cycles and (instructions is None or int(log.instructions.sum()) <= instructions)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _named(log: IntervalLog, kernel: SimulatedKernel, carried: int | None) -> IntervalLog:
    ctas = log.ctas
    if carried:
        ctas = ctas.copy()
        ctas[0] -= min(max(carried, 0), int(ctas[0]))
    facts = kernel.facts
    if facts.cores is None:
        facts = replace(facts, cores=log.facts.cores)
    return replace(
        log,
        name=kernel.name,
        ctas=ctas,
        facts=facts,
        launches=kernel.uids,
        trace_id=kernel.trace_id,
        is_cut_short=facts.cycles is None,
        why_cut=kernel.why_cut,
        has_carried_ctas=carried is None,
    )


_CYCLE, _INSTRUCTIONS, _CTAS = range(3)
_RECORD_KEYS = (b"globalcyclecount", b"globalinsncount", b"ctas_completed")
_KIND_OF_KEY = {key: kind for kind, key in enumerate(_RECORD_KEYS)}
# A record's keys end in a colon: the output has "ctas_completed 16, Shader 0 ..." for every kernel. Another
# thread prints that a kernel is pushed, so that half a line may stand before it.
_LINE = re.compile(
    rb"(?:^|(?=%s))(?:(%s):|(%s)(?=[ \t:=]))[ \t]*[:=]?[ \t]*([^\r\n]*)"
    % (
        re.escape(PUSHED),
        b"|".join(map(re.escape, _RECORD_KEYS)),
        b"|".join(map(re.escape, (*KEYS, PUSHED))),
    ),
    re.MULTILINE,
)
_PER_CORE = re.compile(rb"^shaderinsncount:([ \t\d]*)\r?\n", re.MULTILINE)
_SIGNS = re.compile(
    rb"^(globalcyclecount:|shaderinsncount:|WarpDivergenceBreakdown:|dramncmd:|(?i:CFLOG)\d*[_:]|"
    rb"-kernel name =|kernel_name =|gpu_sim_cycle =|Accel-Sim|\s*\*\*\* GPGPU-Sim|GPGPU-Sim)",
    re.MULTILINE,
)
_LARGEST = (1 << 62) - 1
_ENDS_WITHIN = "the log ends within a record: the run goes on, or was killed"
_REMEDY = "give the log as the simulator wrote it, of a run with -visualizer_enabled 1"


@dataclass(frozen=True, slots=True)
class _Content:
    """What one file says.

    Attributes
    ----------
    cycle, instructions, ctas : (n,) of each record, the first two since the kernel's start.
    is_cut : whether the file ends within a record, or its gzip data before their end.
    cores : of the GPU; None where the file does not say.
    output : the lines of the simulator's own output.
    """

    cycle: IntArray
    instructions: IntArray
    ctas: IntArray
    is_cut: bool
    cores: int | None
    output: list[Line]


def recognises_log(head: bytes) -> bool:
    """Return whether a file that starts like this is a visualizer log, or the simulator's output."""
    return _SIGNS.search(head) is not None


def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]:
    """Return the log of each kernel with a record, in the files' order.

    Parameters
    ----------
    files : visualizer logs, and the simulator's output of the same runs.

    Raises
    ------
    ProfileError : there is no record; a record is not whole, other than the last; the simulator's output is
        of another run, or of kernels that ran at once.
    """
    contents = [_content(file) for file in files]
    outputs = [simulated_run(content.output) for content in contents]
    for file, output in zip(files, outputs, strict=True):
        if output.together:
            raise ProfileError(
                f"{output.together}, so that no record is of one alone",
                path=file.path,
                remedy="simulate one kernel at a time: -gpgpu_concurrent_kernel_sm 0, launches in one stream",
            )
    logs = [list(_kernels(file, content)) for file, content in zip(files, contents, strict=True)]
    if not any(logs):
        raise ProfileError("holds no whole record of any kernel", path=files[0].path, remedy=_REMEDY)
    has_output = any(output.kernels for output in outputs)
    known = with_outputs(files, logs, outputs) if has_output else list(chain.from_iterable(logs))
    return tuple(
        replace(log, name=log.name or f"kernel {number}") for number, log in enumerate(known, start=1)
    )


def _content(file: InputFile) -> _Content:
    kinds: list[int] = []
    values: list[bytes] = []
    output: list[Line] = []
    cores = None
    lines = LinesSoFar(file)
    for text in lines:
        if cores is None and (per_core := _PER_CORE.search(text)):
            cores = len(per_core[1].split())
        for key, output_key, value in _LINE.findall(text):
            if key:
                kinds.append(_KIND_OF_KEY[key])
                values.append(value)
            else:
                output.append((output_key, value))
    order = _order(file, np.array(kinds, dtype=np.int64))
    numbers = _numbers(file, values)
    records = numbers[: numbers.size - numbers.size % 3].reshape(-1, 3)
    columns = [records[:, order.index(kind)] for kind in (_CYCLE, _INSTRUCTIONS, _CTAS)]
    is_cut = lines.is_cut or numbers.size % 3 > 0
    return _Content(columns[0], columns[1], columns[2], is_cut, cores or None, output)


def _order(file: InputFile, kinds: IntArray) -> list[int]:
    """Return the kinds of line in the order that every record has.

    Raises
    ------
    ProfileError : a record has another order, or lacks a line; the last may be cut short.
    """
    order: list[int] = kinds[:3].tolist()
    missing = [key.decode() for kind, key in enumerate(_RECORD_KEYS) if kind not in kinds]
    if kinds.size >= 3 and missing:
        raise ProfileError(f"no record has {' or '.join(missing)}", path=file.path, remedy=_REMEDY)
    if len(set(order)) < len(order):
        raise _error(file, 1 if order[0] == order[1] else 2, "a record lacks a line before this one")
    wrong = np.flatnonzero(kinds != np.resize(kinds[:3], kinds.size))
    if wrong.size:
        raise _error(file, int(wrong[0]), "a record lacks a line before this one, or has one twice")
    return order if len(order) == 3 else [_CYCLE, _INSTRUCTIONS, _CTAS]


def _numbers(file: InputFile, values: Sequence[bytes]) -> IntArray:
    """Return (n,) the values as numbers."""
    numbers = np.zeros(len(values), dtype=np.int64)
    for index, text in enumerate(values):
        digits = text.rstrip()
        if not digits.isdigit() or int(digits) > _LARGEST:
            shown = digits.decode("utf-8", "replace")
            raise _error(file, index, f"{shown!r} is not a count")
        numbers[index] = int(digits)
    return numbers


def _error(file: InputFile, index: int, message: str) -> ProfileError:
    """Return the error that points at one of the records' lines, found by reading the file once more."""
    lines, seen = 0, 0
    for text in LinesSoFar(file):
        for match in _LINE.finditer(text):
            if match[1]:
                if seen == index:
                    row = lines + text.count(b"\n", 0, match.start()) + 1
                    return ProfileError(message, path=file.path, row=row, remedy=_REMEDY)
                seen += 1
        lines += text.count(b"\n")
    return ProfileError(message, path=file.path, remedy=_REMEDY)


def _kernels(file: InputFile, content: _Content) -> Iterator[IntervalLog]:
    """Yield the records of each kernel; none has a name yet.

    The first may include CTAs of kernels that were too short for a record.
    """
    if content.cycle.size == 0:
        return
    starts_anew = np.diff(content.cycle, prepend=content.cycle[0]) <= 0
    first = np.flatnonzero(starts_anew)
    _refuse(file, content.cycle == 0, _CYCLE, "a record of cycle 0 has nothing before it")
    instructions = np.where(
        starts_anew, content.instructions, np.diff(content.instructions, prepend=np.int64(0))
    )
    _refuse(file, instructions < 0, _INSTRUCTIONS, "instructions go down while cycles go up")
    for start, end in zip(first.tolist(), [*first[1:].tolist(), content.cycle.size], strict=True):
        yield IntervalLog(
            name="",
            cycle=content.cycle[start:end],
            instructions=instructions[start:end],
            ctas=content.ctas[start:end],
            facts=KernelFacts(cores=content.cores),
            is_cut_short=content.is_cut and end == content.cycle.size,
            why_cut=_ENDS_WITHIN if content.is_cut and end == content.cycle.size else "",
            has_carried_ctas=True,
        )


def _refuse(file: InputFile, bad: BoolArray, kind: int, message: str) -> None:
    """Raise for the first record that is bad, pointing at its line of that kind."""
    record = np.flatnonzero(bad)
    if record.size == 0:
        return
    order: list[int] = []
    for text in LinesSoFar(file):
        order += [_KIND_OF_KEY[key] for key, _, _ in _LINE.findall(text) if key]
        if len(order) >= 3:
            break
    raise _error(file, 3 * int(record[0]) + order.index(kind), message)
