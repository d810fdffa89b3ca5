"""Which record of Accel-Sim's visualizer is of which launch of its output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from sampling.errors import ProfileError
from sampling.projection.interval_log import IntervalLog
from sampling.readers.input_file import InputFile
from sampling.simulators.accel_sim.printed_output import SimulatedKernel, SimulatedRun

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
