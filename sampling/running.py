"""A plan simulated until its total is known well enough: handed over, run, estimated, topped up, and so on.

All that is known of a run is in its folder: ``plan.json``, the plan as large as it is by now; ``rounds/N``,
what was exported of it each time; and what `sampling.simulators.jobs` puts there. So a run that was stopped
goes on by being called again. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from msgspec import structs

from sampling.errors import AnalysisError, OptionError
from sampling.estimation.interval import Estimate
from sampling.estimation.top_up import enlarged, next_sizes, sampling_left
from sampling.estimation.total import PlanEstimate, estimate_plan, sample_of
from sampling.plan.plan_file import IN_FOLDER, PlanFile, ToppedUp, read_json_object, read_plan
from sampling.readers.input_file import open_input
from sampling.simulators.export import (
    ExportChoices,
    Manifest,
    manifests_in,
    read_manifest,
)
from sampling.simulators.jobs import NEEDED, Job, jobs_of, prepare, put_away, take_result, words_of
from sampling.simulators.registry import exported_folder
from sampling.simulators.results import results_of
from sampling.text import Wording, counted

#: So many launches that fail before one succeeds are the command's fault, not theirs.
_ALL_FAIL = 3
_FIRST_POLL_SECONDS, _LAST_POLL_SECONDS, _TELL_SECONDS = 0.001, 0.05, 1.0
#: Together shorter than the second that the program has after a signal.
_GRACE_SECONDS, _DEATH_SECONDS = 0.5, 0.2


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be run."""

    plan: PlanFile
    #: Of the run; made, or gone on with.
    folder: Path
    #: The simulator, one of `NEEDED`, and its command line, in which {list}, {id}, {folder} and {out} stand
    #: for those of a launch.
    to: str
    command: str
    #: The half-width that the total is to reach, as a fraction; None: what the plan draws is run.
    target: float | None = None
    #: How many run at once, and after what time one counts as failed.
    processes: int = 1
    timeout_seconds: float | None = None
    choices: ExportChoices = ExportChoices()


@dataclass(frozen=True, slots=True)
class Failed:
    """A launch without a result, why, and which other one of its stratum is simulated for it, if any yet."""

    id: int
    why: str
    instead: int | None


@dataclass(frozen=True, slots=True)
class Now:
    """How far a run is."""

    #: Launches.
    done: int
    of: int
    failed: int
    running: int
    #: As far as it is known; None where there is no result.
    total: Estimate | None
    #: Until all that is drawn by now is simulated; None where nothing tells.
    seconds_left: float | None
    #: What just happened, where it did: a launch that ended, or the plan that became larger.
    news: Job | int | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to."""

    #: None where there is no result.
    found: PlanEstimate | None
    failed: tuple[Failed, ...]
    #: The script to submit, and how many launches it simulates; None where nothing is left to run.
    job_array: tuple[Path, int] | None = None
    #: Folders of launches that began and have not ended, while a job array is at work.
    begun: tuple[Path, ...] = ()


Watch = Callable[[Now], None]


def run(asked: Asked, watch: Watch) -> Ran:
    """Simulate the plan's launches until the target holds, and more than the plan's if it takes more.

    Raises
    ------
    OptionError : the command cannot be run, another run has the folder, or it is of another plan or command.
    AnalysisError : the first launches all fail; the plan cannot become larger.
    ProfileError : the traces are not those of the plan's launches; results are of another program.
    """
    with _begun(asked, watch) as loop:
        while not loop.is_met():
            loop.simulate()
            if loop.is_met() or not loop.grow():
                break
        return Ran(loop.found, loop.failed())


def write_job_array(asked: Asked, watch: Watch) -> Ran:
    """Take what a job array left, and write one for what is still to be simulated; run nothing."""
    with _begun(asked, watch) as loop:
        loop.update()
        left = loop.left()
        if not left and not loop.is_met() and loop.grow():
            left = loop.left()
        if loop.is_met():
            left = []
        # The folder of one that has begun is in use, or was left by a task that was killed.
        waiting = [job for job in left if not (job.place / "run.log").exists()]
        script = (loop.job_array(waiting), len(waiting)) if waiting else None
        return Ran(loop.found, loop.failed(), script, tuple(job.place for job in left if job not in waiting))


class _Loop:
    """A run, from the files of its folder on."""

    def __init__(self, asked: Asked, watch: Watch) -> None:
        self.asked, self.watch, self.folder = asked, watch, asked.folder.absolute()
        self.words = words_of(asked.command, asked.to)
        self.jobs: list[Job] = []
        # The process of each job that runs, and when it began.
        self.running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
        self.found: PlanEstimate | None = None
        self.plan = self.first = asked.plan
        self.manifests: list[Manifest] = []
        self.rounds = self.taken = 0
        # Of what ended since this call, for how long the rest may take.
        self.spent_seconds, self.spent_ns, self.spent_jobs = 0.0, 0, 0

    def load(self) -> None:
        """Take over what is in the folder; export the plan where nothing is."""
        plan, rounds, how = self.asked.plan, self.folder / "rounds", self.folder / "run.json"
        asked = {"to": self.asked.to, "simulator": shlex.join(self.words)}
        compared = (each.name for each in fields(ExportChoices) if each.compare)
        asked |= {name: getattr(self.asked.choices, name) for name in compared}
        if not (rounds / "1").is_dir():
            if {path.name for path in self.folder.iterdir()} - {"lock", how.name, rounds.name}:
                raise OptionError(f"{self.folder} is there, and no run", remedy="give another folder")
            try:
                _write(how, json.dumps(asked, indent=1) + "\n")
                # What was simulated elsewhere has no result here.
                self._export(structs.replace(plan, simulated=()).text(), 1)
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
        before = read_json_object(str(how))
        self.first = read_plan(str(rounds / "1"))
        other = [name for name, value in asked.items() if before.get(name) != value]
        own, given = ((each.options, each.profile.files, each.drawn) for each in (self.first, plan))
        if other or own != given:
            raise OptionError(
                f"{self.folder} is a run of another {[*other, 'plan'][0]}: results of both would be mixed",
                remedy="give another folder, or remove this one",
            )
        for path in sorted(rounds.glob("*[0-9]"), key=lambda each: int(each.name)):
            self._take_round(path)

    def _export(self, text: str, number: int) -> Path:
        """Hand over what a plan has that was not handed over yet, whole or not at all."""
        path = self.folder / "rounds" / str(number)
        part = path.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        _write(part / IN_FOLDER, text)
        choices = replace(self.asked.choices, apart=self.asked.to != "csv")
        if number > 1:
            # The check is drawn of the plan once, and holds for what is added.
            choices = replace(choices, cold_check=0)
        for name, content in exported_folder(read_plan(str(part)), self.asked.to, choices):
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as stream:
                if isinstance(content, str):
                    stream.write(content.encode("utf-8", "backslashreplace"))
                else:
                    content(stream)
        part.rename(path)
        return path

    def _take_round(self, path: Path) -> None:
        """Add the jobs of an export, and let the folder's plan be its plan."""
        plan = read_plan(str(path))
        jobs = jobs_of(plan.to_simulate(), path, self.folder, self.asked.to, self.asked.choices.traces)
        for job in jobs:
            take_result(job, self.asked.to)
        self.jobs += jobs
        self.rounds, self.taken = self.rounds + 1, 0
        if self.asked.target is not None:
            # Every result is looked at, so the interval is no narrower than what is waited for.
            rounds = 1 if plan.topped_up is None else plan.topped_up.rounds
            plan = structs.replace(plan, topped_up=ToppedUp(rounds, self.asked.target))
        _write(self.folder / IN_FOLDER, plan.text())
        self.plan = read_plan(str(self.folder))
        for place in manifests_in(path):
            with open_input(str(place)) as file:
                self.manifests.append(read_manifest(file))

    def update(self) -> None:
        """Take the results that are finished in the order of their stratum, and estimate from these.

        Of launches that run at once the short ones end first: taken as they come, those of a stratum would
        be no random sample of it.
        """
        waited_for: set[int] = set()
        usable: list[Job] = []
        for job in self.jobs:
            if job.has_ended and not job.strata & waited_for:
                if not job.is_put_away:
                    put_away(job)
                usable.append(job)
            else:
                waited_for |= job.strata
        runs = [job.measured for job in usable if job.measured is not None]
        if not runs or len(runs) == self.taken:
            return
        self.taken = len(runs)
        self.found = estimate_plan(self.plan, results_of(self.plan, runs, self.manifests))

    def is_met(self) -> bool:
        """Whether the total is within the target, by what is finished."""
        self.update()
        target, found = self.asked.target, self.found
        if target is None or found is None or any(not job.strata and not job.has_ended for job in self.jobs):
            return False
        return found.main.is_within(target)

    def left(self) -> list[Job]:
        """Return the jobs that have not ended, those that run included."""
        return [job for job in self.jobs if not job.has_ended]

    def simulate(self) -> None:
        """Run the jobs that are left, until the target holds."""
        queue, told, pause = self.left(), 0.0, _FIRST_POLL_SECONDS
        while queue or self.running:
            while queue and len(self.running) < self.asked.processes:
                self.start(queue.pop(0))
            ended = self.reap()
            is_met = bool(ended) and self.is_met()
            for job in ended:
                self.tell(job)
            if is_met:
                return
            if time.monotonic() - told > _TELL_SECONDS:
                told = time.monotonic()
                self.tell()
            pause = _FIRST_POLL_SECONDS if ended else min(2 * pause, _LAST_POLL_SECONDS)
            time.sleep(pause)

    def start(self, job: Job) -> None:
        """Start a job's process, in a session of its own so that it can be ended with all that it starts."""
        words = prepare(job, self.asked.to, self.words)
        with (job.place / "run.log").open("wb") as out, (job.place / "stderr.log").open("wb") as err:
            try:
                process = subprocess.Popen(  # noqa: S603
                    words,
                    cwd=job.place,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except OSError as error:
                raise OptionError(f"{words[0]} cannot be run ({error.strerror})") from error
        self.running[job] = process, time.monotonic()

    def reap(self) -> list[Job]:
        """Return the jobs that ended since the last call, or ran too long; refuse what always fails."""
        limit, ended = self.asked.timeout_seconds, []
        for job, (process, began) in list(self.running.items()):
            code, seconds = process.poll(), time.monotonic() - began
            said = str(code)
            if code is None and limit is not None and seconds > limit:
                said = f"ran past {limit:g} s"
                _end([process])
            elif code is None:
                continue
            del self.running[job]
            _write(job.exit, said + "\n")
            take_result(job, self.asked.to)
            self.spent_seconds += seconds
            self.spent_ns += job.duration_ns
            self.spent_jobs += 1
            ended.append(job)
        over = [job for job in self.jobs if job.has_ended]
        if ended and len(over) >= min(_ALL_FAIL, len(self.jobs)) and not any(job.measured for job in over):
            # Then these have not failed for good.
            for path in (each for job in over for each in (job.exit, job.result.with_suffix(".failed"))):
                path.unlink(missing_ok=True)
            raise AnalysisError(
                f"the first {counted(len(over), 'launch', 'launches')} failed: {over[0].failure}",
                remedy=f"see run.log and stderr.log in {over[0].place}",
            )
        return ended

    def tell(self, news: Job | int | None = None) -> None:
        """Report how far the run is."""
        left, seconds = self.left(), None
        if self.spent_jobs and left:
            left_ns = sum(job.duration_ns for job in left)
            share = left_ns / self.spent_ns if self.spent_ns else len(left) / self.spent_jobs
            seconds = share * self.spent_seconds / min(self.asked.processes, len(left))
        done = sum(job.measured is not None for job in self.jobs)
        failed = sum(bool(job.failure) for job in self.jobs)
        total = None if self.found is None else self.found.main
        self.watch(Now(done, len(self.jobs), failed, len(self.running), total, seconds, news))

    def grow(self) -> bool:
        """Draw what is missing to the target, and another for each that failed; return whether any is."""
        drawn, sizes = np.array([[each.samples, each.size] for each in self.plan.strata]).T
        planned = np.array([stratum.samples for stratum in self.first.strata])
        wanted, target = planned, self.asked.target
        if self.found is not None and target is not None and self.plan.is_random:
            sample = replace(sample_of(self.plan, self.found.results), planned=planned)
            if left := sampling_left(target, self.found.beside_sampling):
                wanted = next_sizes(sample, self.found.main.metric, left, self.found.main.confidence)
        failed = np.zeros(len(sizes), dtype=np.int64)
        for job in self.jobs:
            failed[list(job.strata)] += bool(job.failure)
        wanted = np.maximum(drawn, np.minimum(wanted + failed, sizes))
        if not self.plan.is_random or not (wanted > drawn).any():
            return False
        everything = frozenset(launch.id for launch in self.plan.drawn)
        larger = enlarged(self.plan, wanted, target, everything, self.asked.choices.progress)
        self._take_round(self._export(larger.text, self.rounds + 1))
        self.tell(larger.added)
        return True

    def failed(self) -> tuple[Failed, ...]:
        """Return the launches that failed, each with the one that was drawn of its stratum for it."""
        first = {launch.id for launch in self.first.drawn}
        added = [job for job in self.jobs if job.id not in first]
        rows = []
        for job in (job for job in self.jobs if job.failure):
            instead = next((each for each in added if each.strata & job.strata and each is not job), None)
            if instead is not None:
                added.remove(instead)
            rows.append(Failed(job.id, job.failure, None if instead is None else instead.id))
        return tuple(rows)

    def job_array(self, jobs: list[Job]) -> Path:
        """Write the script that simulates these jobs, a task each, and return it."""
        limit = self.asked.timeout_seconds
        lines = []
        for job in jobs:
            words = prepare(job, self.asked.to, self.words)
            words = words if limit is None else ["timeout", "-k", "10", f"{limit:g}", *words]
            lines.append(
                f"cd -- {shlex.quote(str(job.place))} || exit; {shlex.join(words)} > run.log 2> stderr.log; "
                "echo $? > exit.part; mv exit.part exit\n"
            )
        script, tasks = self.folder / "slurm.sh", self.folder / "jobs.txt"
        _write(tasks, "".join(lines))
        at_once = f"%{self.asked.processes}" if self.asked.processes > 1 else ""
        _write(script, _SLURM.format(jobs=len(jobs), at_once=at_once, list=shlex.quote(str(tasks))))
        return script


_SLURM = """\
#!/bin/sh
#SBATCH --job-name=kernelpoint
#SBATCH --array=1-{jobs}{at_once}
# One task a launch. When all have ended, the command that wrote this collects them.
eval "$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {list})"
"""


def _end(processes: Collection[subprocess.Popen[bytes]]) -> None:
    """End processes and all that they started; what they began is begun anew the next time."""
    for number, seconds in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, _DEATH_SECONDS)):
        until = time.monotonic() + seconds
        for process in processes:
            # Also what a process that has ended itself left in its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.01, until - time.monotonic()))


@contextmanager
def _begun(asked: Asked, watch: Watch) -> Iterator[_Loop]:
    """Give the run, whose folder is nobody else's meanwhile; no process of it is left behind.

    The folder is kept from any other run for as long as this lasts, however this process ends.
    """
    import fcntl

    needless = "a command that is told an id runs no launches before it: `cold_check` means nothing here"
    refusals: tuple[tuple[bool, str, str | None], ...] = (
        (asked.to not in NEEDED, f"nothing runs {asked.to} here", f"there is {', '.join(NEEDED)}"),
        (asked.to == "csv" and bool(asked.choices.cold_check), Wording(needless), None),
        (
            asked.to != "csv" and asked.choices.traces is None,
            Wording(f"{asked.to} runs `traces`, and there are none"),
            None,
        ),
        (
            asked.target is not None and not asked.plan.is_random,
            "a plan of picked launches has no interval that could hold a target",
            "make one that is drawn, or run it without a target",
        ),
    )
    for is_so, message, remedy in refusals:
        if is_so:
            raise OptionError(message, remedy=remedy)
    loop = _Loop(asked, watch)
    loop.folder.mkdir(parents=True, exist_ok=True)
    with (loop.folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OptionError(
                f"another run is at work in {loop.folder}", remedy="wait for it, or give another folder"
            ) from error
        loop.load()
        try:
            yield loop
        finally:
            _end([process for process, _ in loop.running.values()])
            loop.running.clear()


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
