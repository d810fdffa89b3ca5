"""How kernels of a log are named: the numbers they go by, `KERNEL=N` of an option, and `--kernel`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sampling.errors import OptionError
from sampling.projection import IntervalLog
from sampling.simulators.accel_sim_traces import instructions_of_traces
from tui.options.simulate import ProjectOptions
from tui.terminal.diagnostics import note

_COUNT = re.compile(r"\d{1,18}")
_GRID = re.compile(r"\d{1,9}([x,]\d{1,9}){0,2}")


def numbers_of(logs: Sequence[IntervalLog]) -> list[int]:
    """Return the launch's number in the run of each log, or its place where not all have one of their own."""
    launches = [log.launches[0] for log in logs if log.launches]
    is_known = len(launches) == len(set(launches)) == len(logs)
    return launches if is_known else list(range(1, len(logs) + 1))


def with_given_values(logs: Sequence[IntervalLog], options: ProjectOptions) -> list[IntervalLog]:
    """Return the logs with the values given on the command line in place of the log's own.

    The tracer's instructions are the most there can be, so that a simulator's own count comes before them.
    """
    if options.instructions_from is not None:
        traced = instructions_of_traces(options.instructions_from, logs)
        logs = [
            log
            if log.facts.instructions is not None
            else replace(log, facts=replace(log.facts, instructions=most))
            for log, most in zip(logs, traced, strict=True)
        ]
    given = {
        "instructions": _values_by_kernel("--instructions", options.instructions, logs, total=True),
        "ctas": _values_by_kernel("--ctas (--grid)", options.ctas, logs, total=True),
        "ctas_per_core": _values_by_kernel("--ctas-per-sm", options.ctas_per_sm, logs, total=False),
        "cores": [options.sms] * len(logs),
    }
    return [
        replace(
            log,
            facts=replace(
                log.facts,
                **{name: values[index] for name, values in given.items() if values[index] is not None},
            ),
        )
        for index, log in enumerate(logs)
    ]


def _values_by_kernel(
    flag: str, given: Sequence[str], logs: Sequence[IntervalLog], *, total: bool
) -> list[int | None]:
    """Return the number given for each kernel, None for those without one; the last one given wins.

    Parameters
    ----------
    given : each "N", or "KERNEL=N" with a kernel as `--kernel` takes it; a substring means all that have it.
    total : whether the number is a whole kernel's total; then a bare number needs a log of one kernel, else
        it applies to all kernels.

    Raises OptionError: it is no number above 0, no kernel is meant, or a bare number could mean several.
    """
    found: list[int | None] = [None] * len(logs)
    for text in given:
        kernel, _, number = text.rpartition("=")
        value = _number(flag, text, number, grid=total)
        if not kernel and total and len(logs) > 1:
            raise OptionError(
                f"{flag} {text}: the log has {len(logs)} kernels",
                remedy=f"say whose it is: KERNEL={number} with part of the name, or #1={number}",
            )
        for index in _meant(flag, kernel, logs) if kernel else range(len(logs)):
            found[index] = value
    return found


def _number(flag: str, text: str, number: str, *, grid: bool) -> int:
    """Return a count, or the product of a grid's dimensions."""
    value = 0
    if _COUNT.fullmatch(number):
        value = int(number)
    elif grid and _GRID.fullmatch(number):
        value = 1
        for size in re.split("[x,]", number):
            value *= int(size)
    if not 0 < value < 1 << 62:
        raise OptionError(f"{flag} {text}: a number above 0 is meant, or KERNEL=N")
    return value


def _meant(flag: str, wanted: str, logs: Sequence[IntervalLog]) -> list[int]:
    """Return the kernels of "#3" (its number), or whose name contains the text."""
    if wanted.startswith("#") and wanted[1:].isdecimal():
        numbers = numbers_of(logs)
        if int(wanted[1:]) not in numbers:
            raise OptionError(
                f"{flag} {wanted}: the log's kernels are #{min(numbers)} to #{max(numbers)}"
                + ("" if numbers[-1] - numbers[0] < len(numbers) else ", less those without a record")
            )
        return [numbers.index(int(wanted[1:]))]
    meant = [index for index, log in enumerate(logs) if wanted in log.name]
    if not meant:
        raise OptionError(
            f"{flag} {wanted!r}: no kernel's name contains it (case counts)",
            remedy="`kernelpoint project LOG` lists them",
        )
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
