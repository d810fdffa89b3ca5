"""How kernels of a log are named: the numbers they go by, `KERNEL=N` of an option, and `--kernel`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sampling.errors import OptionError
from sampling.projection import IntervalLog
from sampling.simulators.accel_sim_traces import instructions_of_traces
from tui.options.simulate import ProjectOptions
from tui.terminal.diagnostics import note

_MOST_DIGITS = 18


def numbers_of(logs: Sequence[IntervalLog]) -> list[int]:
    """Return the launch's number in the run of each log, or its place where not all have one of their own."""
    launches = [log.launches[0] for log in logs if log.launches]
    is_known = len(launches) == len(set(launches)) == len(logs)
    return launches if is_known else list(range(1, len(logs) + 1))


def with_given_values(logs: Sequence[IntervalLog], options: ProjectOptions) -> list[IntervalLog]:
    """Return the logs with the values given on the command line in place of the log's own.

    The tracer's instructions are the most there can be, so that a simulator's own count comes before them.

    Raises OptionError: a value is no number above 0, no kernel is meant, or it could mean several.
    """
    traced: Sequence[int | None] = [None] * len(logs)
    if options.instructions_from is not None:
        traced = instructions_of_traces(options.instructions_from, logs)
    instructions = _by_kernel("--instructions", options.instructions, logs, is_total=True)
    ctas = _by_kernel("--ctas", options.ctas, logs, is_total=True)
    ctas_per_core = _by_kernel("--ctas-per-sm", options.ctas_per_sm, logs, is_total=False)
    found = []
    for place, log in enumerate(logs):
        given = {
            "instructions": instructions[place] or log.facts.instructions or traced[place],
            "ctas": ctas[place],
            "ctas_per_core": ctas_per_core[place],
            "cores": options.sms,
        }
        known = {name: value for name, value in given.items() if value is not None}
        found.append(replace(log, facts=replace(log.facts, **known)))
    return found


def _by_kernel(
    flag: str, given: Sequence[str], logs: Sequence[IntervalLog], *, is_total: bool
) -> list[int | None]:
    """Return the number given for each kernel by "N" or "KERNEL=N", None without one; the last one wins.

    `is_total`: of a whole kernel, so that a bare number needs a log of one kernel.
    """
    found: list[int | None] = [None] * len(logs)
    for text in given:
        kernel, _, number = text.rpartition("=")
        is_whole = number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS
        if not is_whole or int(number) == 0:
            raise OptionError(f"{flag} {text}: a number above 0 is meant, or KERNEL=N")
        if not kernel and is_total and len(logs) > 1:
            what = f"{flag} {text}: the log has {len(logs)} kernels"
            raise OptionError(what, remedy=f"say whose it is by part of its name or #1: KERNEL={number}")
        for index in _meant(flag, kernel, logs) if kernel else range(len(logs)):
            found[index] = int(number)
    return found


def _meant(flag: str, wanted: str, logs: Sequence[IntervalLog]) -> list[int]:
    """Return the kernels of "#3" (its number), or whose name contains the text."""
    numbers = numbers_of(logs)
    is_number = wanted.startswith("#") and wanted[1:].isdecimal()
    meant = [
        place
        for place, log in enumerate(logs)
        if (numbers[place] == int(wanted[1:]) if is_number else wanted in log.name)
    ]
    if not meant:
        what = f"{flag} {wanted!r}: no kernel has this number, or this in its name (case counts)"
        raise OptionError(what, remedy="`kernelpoint project LOG` lists them")
    return meant


def chosen_log(logs: Sequence[IntervalLog], wanted: str | None, *, quiet: bool) -> int:
    """Return the kernel meant by `--kernel`, of several the one with most cycles, which is said on stderr.

    Raises OptionError: none is meant.
    """
    meant = list(range(len(logs))) if wanted is None else _meant("--kernel", wanted, logs)
    chosen = max(meant, key=lambda index: int(logs[index].cycle[-1]))
    if wanted is not None and len(meant) > 1:
        shown = f"#{numbers_of(logs)[chosen]} {logs[chosen].name}"
        note(f"--kernel {wanted!r} fits {len(meant)} kernels; the longest is shown: {shown}", quiet=quiet)
    return chosen
