"""What a run is asked for, how far it is, and what it came to."""

from __future__ import annotations

import os
import shlex
import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from sampling.errors import OptionError
from sampling.estimation.given_up import GivenUp
from sampling.estimation.interval import Estimate
from sampling.estimation.total import PlanEstimate
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import readable_name
from sampling.reduction.grouping import KernelGroup, choose_kernel, is_pool_key
from sampling.running.job import Job
from sampling.simulators.export import ExportChoices
from sampling.simulators.measured_run import is_state
from sampling.simulators.registry import find_exporter, find_run_rules
from sampling.text import Wording, listed, shortened


@dataclass(frozen=True)
class RunRequest:
    """What is to be run."""

    plan: PlanFile
    folder: Path  #: of the run; made, or gone on with
    simulator: str  #: its name, of one that is run here
    command: str  #: its command line, with {list}, {id}, {folder} and {out} for those of a launch
    #: the half-width that the total is to reach, as a fraction; None: what the plan draws is run
    target: float | None = None
    processes: int = 1  #: how many run at once
    timeout_seconds: float | None = None  #: what takes longer counts as failed
    choices: ExportChoices = ExportChoices()
    #: how a command that is told ids, so that launches run alone, finds the caches; another state than cold
    #: where it sees to them
    caches_of_command: str = "cold"
    #: the key of the kernel group that those are taken to behave as which the simulator never runs
    assume_like: str | None = None
    #: the half-width that speedups between this run and others are to reach, as a fraction
    speedup_target: float | None = None
    #: what paths in the command are relative to
    paths_from: Path = Path()

    @property
    def targets(self) -> dict[str, float]:
        """The half-widths that are waited for, by what they are of."""
        targets = {"target": self.target, "speedup": self.speedup_target}
        return {name: target for name, target in targets.items() if target is not None}

    def check(self) -> None:
        """Raise OptionError for what is asked together and cannot be done so."""
        rules = find_run_rules(self.simulator)
        takes_traces = "traces" in find_exporter(self.simulator).takes
        wrong: str | None = None
        if rules.is_told_ids and self.choices.cold_check:
            wrong = Wording("a command that is told an id runs no launches before it: no `cold_check`")
        elif takes_traces and self.choices.traces is None:
            wrong = Wording("{} runs `traces`, and there are none", self.simulator)
        elif outside := [target for target in self.targets.values() if not 0 < target < 1]:
            wrong = Wording("`target` is a fraction between 0 and 1, not {:g}", outside[0])
        elif self.targets and not self.plan.is_random:
            wrong = "a plan of picked launches has no interval that could hold a target: run it without one"
        elif self.assume_like is not None and not self.plan.is_random:
            wrong = Wording("a plan of picked launches tells no kernel's own cycles: no `assume_like`")
        elif not is_state(self.caches_of_command):
            wrong = Wording("`caches` is warm, loads, own, cold or after:N, not {}", self.caches_of_command)
        if wrong is not None:
            raise OptionError(wrong)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its command line, see `command_words`."""
        return command_words(self.command, self.simulator, self.paths_from)


def split_caches(simulator: str, caches: str | None) -> tuple[str | None, str]:
    """Return what an export puts into the caches, and what a command that is told ids sees to itself."""
    return (None, caches or "cold") if find_run_rules(simulator).is_told_ids else (caches, "cold")


def command_words(command: str, simulator: str, paths_from: Path) -> tuple[str, ...]:
    """Return a command line as words that mean the same in any folder: each launch runs in its own.

    Raises OptionError: it is no command line, there is no such program, or nothing tells it what to simulate.

    Parameters
    ----------
    paths_from : the folder that its paths are relative to.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"the simulator's command line cannot be read: {error}") from error
    placeholder = find_run_rules(simulator).placeholder
    if placeholder not in command or not words:
        wrong = f"the simulator's command line does not say what to simulate, {placeholder or 'a program'}"
        raise OptionError(wrong, remedy="put it where the simulator takes it")
    name = str(paths_from.absolute() / words[0]) if os.sep in words[0] else words[0]
    if (program := shutil.which(name)) is None:
        wrong = f"{words[0]}: there is no such program"
        raise OptionError(wrong, remedy="give its path, or put it on PATH")
    words[0] = program
    for index, word in enumerate(words):
        path = paths_from / word
        # What is too long for a name is none.
        with suppress(OSError):
            words[index] = str(path.absolute()) if word and path.exists() else word
    return tuple(words)


def choose_assumed_group(plan: PlanFile, text: str) -> tuple[str, int]:
    """Return the key of the kernel group that is meant, the largest of several, and how many others are.

    `text`: "#2", its rank by the time it stands for, or a part of its key. Raises OptionError where none is
    meant that the plan estimates by itself.
    """
    time_ns: defaultdict[str, float] = defaultdict(float)
    for stratum in plan.strata:
        if not is_pool_key(stratum.key) and stratum.key != WHOLE_WORKLOAD_KEY:
            time_ns[stratum.key] += stratum.size * stratum.mean_ns
    keys = sorted(time_ns, key=lambda key: -time_ns[key])
    names = [key.partition(" <<<")[0] for key in keys]
    groups = [KernelGroup(key, name, None, None, None, None) for key, name in zip(keys, names, strict=True)]
    try:
        place, further = choose_kernel(groups, text)
    except OptionError as error:
        wrong = Wording("`assume_like={}`: no kernel group that the plan estimates by itself", text)
        examples = listed([shortened(readable_name(name)) for name in names], limit=3)
        remedy = f"give #1 to #{len(keys)}, or a part of a name: {examples}" if keys else "there is none"
        raise OptionError(wrong, remedy=remedy) from error
    return keys[place], further


class FailedLaunch(NamedTuple):
    """A launch without a result, why, and which other one of its stratum is simulated for it, if any yet."""

    id: int
    why: str
    instead: int | None


class RunProgress(NamedTuple):
    """How far a run is, in launches."""

    measured: int
    launches: int  #: in all, but for those of what is given up
    failed: int
    running: int
    total: Estimate | None  #: as far as it is known; None where there is no result
    seconds_left: float | None  #: until all that is drawn by now is simulated; None where nothing tells
    #: what just happened: a launch that ended, a kernel that was given up, or by how many the plan grew
    news: Job | GivenUp | int | None = None


class RunResult(NamedTuple):
    """What a run came to."""

    estimate: PlanEstimate | None  #: None where there is no result
    failed: tuple[FailedLaunch, ...]
    #: the script to submit, and how many launches it simulates; None where nothing is left to run
    job_array: tuple[Path, int] | None = None
    #: folders of launches that began and have not ended, while a job array is at work
    begun_folders: tuple[Path, ...] = ()
    given_up: tuple[GivenUp, ...] = ()  #: what the simulator never runs
    why_no_more: str = ""  #: why nothing more can be drawn, where more was wanted


Watch = Callable[[RunProgress], None]
