"""Logs of what happens within kernels: read, numbered, chosen, and completed by what is known besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.projection import IntervalLog
from sampling.simulators.accel_sim_traces import count_traced_instructions
from sampling.simulators.registry import choose_reader, opened, simulators
from sampling.text import Wording

_TOO_LARGE = 2**62
_MOST_DIGITS = 18
Logs = Sequence[IntervalLog]


def read_interval_logs(paths: Sequence[str], source: str | None = None) -> tuple[IntervalLog, ...]:
    """Read the interval logs of some files; without a source the content of the first tells whose.

    Raises OptionError: there is no such reader; ProfileError: a file is damaged, or no interval log.
    """
    readers = {
        simulator.name: simulator.intervals for simulator in simulators() if simulator.intervals is not None
    }
    forms = [reader.form for reader in sorted(readers.values(), key=lambda reader: reader.is_table)]
    wrong = f"neither {', '.join(forms[:-1])} nor {forms[-1]}"
    with opened(paths, "log") as (files, _):
        logs = choose_reader(files[0], readers, source, kind="log", wrong=wrong).read(files)
    logs = tuple(
        replace(log, name=log.name or f"kernel {number}") for number, log in enumerate(logs, start=1)
    )
    for log in logs:
        if max(counts.sum(dtype=np.float64) for counts in (log.instructions, log.ctas)) >= _TOO_LARGE:
            wrong = f"{log.name} has more instructions or thread blocks than 64 bits can count"
            raise ProfileError(wrong, path=", ".join(paths), remedy="give the simulator's log of a run")
    return logs


def number_kernels(logs: Logs) -> list[int]:
    """Return the launch's number in the run of each log, or its place where not all have one of their own."""
    launches = [log.launches[0] for log in logs if log.launches]
    is_known = len(launches) == len(set(launches)) == len(logs)
    return launches if is_known else list(range(1, len(logs) + 1))


def select_kernels(logs: Logs, text: str, parameter: str = "kernel") -> list[int]:
    """Return the places of the kernels of "#3" (its number), or whose name contains the text.

    Raises OptionError, of this parameter, where there is none.
    """
    if text.startswith("#") and text[1:].isdecimal():
        number = int(text[1:])
        places = [
            place for place, kernel_number in enumerate(number_kernels(logs)) if kernel_number == number
        ]
    else:
        places = [place for place, log in enumerate(logs) if text in log.name]
    if not places:
        wrong = f"`{parameter}={{!r}}`: no kernel has this number, or this in its name (case counts)"
        raise OptionError(Wording(wrong, text), remedy="`kernelpoint project LOG` lists them")
    return places


@dataclass(frozen=True, slots=True)
class ExtraFacts:
    """What is said of kernels besides their logs: numbers as "N" or "KERNEL=N", the last of which wins."""

    instructions: Sequence[str] = ()  #: of the whole kernel
    ctas: Sequence[str] = ()  #: of the whole kernel
    ctas_per_sm: Sequence[str] = ()  #: that one core holds at once
    cores: int | None = None
    #: the ``stats.csv`` of the tracer, for the instructions of kernels that nothing else tells
    instructions_from: str | None = None


def complete_facts(logs: Logs, extra: ExtraFacts) -> list[IntervalLog]:
    """Return the logs with what is given in place of what they say themselves.

    The tracer's instructions are the most there can be, so that a simulator's own count comes before them.

    Raises OptionError: a value is no number above 0, no kernel is meant, or it could mean several;
    ProfileError: the tracer's file is damaged or of other kernels.
    """
    traced: Sequence[int | None] = [None] * len(logs)
    if extra.instructions_from is not None:
        traced = count_traced_instructions(extra.instructions_from, logs)
    instructions = _number_each("instructions", extra.instructions, logs, is_total=True)
    ctas = _number_each("ctas", extra.ctas, logs, is_total=True)
    ctas_per_core = _number_each("ctas_per_sm", extra.ctas_per_sm, logs, is_total=False)
    completed = []
    for index, log in enumerate(logs):
        facts = log.facts
        facts = replace(
            facts,
            instructions=instructions[index] or facts.instructions or traced[index],
            ctas=ctas[index] or facts.ctas,
            ctas_per_core=ctas_per_core[index] or facts.ctas_per_core,
            cores=extra.cores or facts.cores,
        )
        completed.append(replace(log, facts=facts))
    return completed


def _number_each(parameter: str, texts: Sequence[str], logs: Logs, *, is_total: bool) -> list[int | None]:
    """Return the number given for each kernel, None without one.

    `is_total`: of a whole kernel, so that a bare number needs a log of one kernel.
    """
    numbers: list[int | None] = [None] * len(logs)
    for text in texts:
        kernel, _, number = text.rpartition("=")
        is_whole = number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS
        if not is_whole or int(number) == 0:
            wrong = Wording(f"`{parameter}={{}}`: a number above 0 is meant, or KERNEL=N", text)
            raise OptionError(wrong)
        if not kernel and is_total and len(logs) > 1:
            wrong = Wording(f"`{parameter}={{}}`: the log has {{}} kernels", text, len(logs))
            raise OptionError(wrong, remedy=f"say whose it is by part of its name or #1: KERNEL={number}")
        for index in select_kernels(logs, kernel, parameter) if kernel else range(len(logs)):
            numbers[index] = int(number)
    return numbers
