"""A plan simulated until its total is known well enough: handed over, run, estimated, topped up, and so on.

All that is known of a run is in its folder: ``plan.json``, the plan as large as it is by now; ``rounds/N``,
what was exported of it each time; ``launches/ID``, where the process of a launch works, with ``exit`` once it
has ended; ``results/launch-ID.log`` (or ``.csv``), or ``.failed`` with the reason. So a run that was stopped
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
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.interval import Estimate
from sampling.estimation.top_up import enlarged, next_sizes, sampling_left
from sampling.estimation.total import PlanEstimate, estimate_plan, sample_of
from sampling.plan.plan_file import IN_FOLDER, PlanFile, ToppedUp, read_plan
from sampling.readers.input_file import open_input
from sampling.simulators.export import ExportChoices, informative_order
from sampling.simulators.exporter import template
from sampling.simulators.job import NEEDED, Job, words_of, write_whole
from sampling.simulators.manifest import Manifest, manifests_in, read_manifest
from sampling.simulators.measured_run import MeasuredRun
from sampling.simulators.registry import exported_folder
from sampling.simulators.results import NOT_WANTED, results_of
from sampling.text import Wording, counted

_LISTS = {"accel-sim": "kernelslist{}.g", "macsim": "kernel_config{}.txt"}
#: So many launches that fail before one succeeds are the command's fault, not theirs
_ALL_FAIL = 3
_POLL_SECONDS = 0.01
#: What processes have to end after each signal: together shorter than the second that the program has itself
_SIGNALS = ((signal.SIGTERM, 0.5), (signal.SIGKILL, 0.2))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be run."""

    plan: PlanFile
    folder: Path  #: of the run; made, or gone on with
    to: str  #: the simulator, one of `NEEDED`
    command: str  #: its command line, with {list}, {id}, {folder} and {out} for those of a launch
    #: the half-width that the total is to reach, as a fraction; None: what the plan draws is run
    target: float | None = None
    processes: int = 1  #: how many run at once
    timeout_seconds: float | None = None  #: what takes longer counts as failed
    choices: ExportChoices = ExportChoices()


class Failed(NamedTuple):
    """A launch without a result, why, and which other one of its stratum is simulated for it, if any yet."""

    id: int
    why: str
    instead: int | None


class Now(NamedTuple):
    """How far a run is, in launches."""

    done: int
    of: int
    failed: int
    running: int
    total: Estimate | None  #: as far as it is known; None where there is no result
    seconds_left: float | None  #: until all that is drawn by now is simulated; None where nothing tells
    news: Job | int | None = None  #: what just happened: a launch that ended, or by how many the plan grew


class Ran(NamedTuple):
    """What a run came to."""

    found: PlanEstimate | None  #: None where there is no result
    failed: tuple[Failed, ...]
    #: the script to submit, and how many launches it simulates; None where nothing is left to run
    job_array: tuple[Path, int] | None = None
    #: folders of launches that began and have not ended, while a job array is at work
    begun: tuple[Path, ...] = ()


Watch = Callable[[Now], None]


def run(asked: Asked, watch: Watch) -> Ran:
    """Simulate the plan's launches until the target holds, and more than the plan's if it takes more.

    Raises OptionError: the command cannot be run, another run has the folder, or it is of another plan or
    command; AnalysisError: the first launches all fail; ProfileError: traces or results are of others.
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
        if loop.is_met():
            return Ran(loop.found, loop.failed())
        if not loop.left():
            loop.grow()
        # The folder of one that has begun is in use, or was left by a task that was killed.
        begun = tuple(job.place for job in loop.left() if (job.place / "run.log").exists())
        waiting = [job for job in loop.left() if job.place not in begun]
        script = (loop.job_array(waiting), len(waiting)) if waiting else None
        return Ran(loop.found, loop.failed(), script, begun)


@contextmanager
def _begun(asked: Asked, watch: Watch) -> Iterator[Loop]:
    """Give the run, whose folder is nobody else's meanwhile; no process of it is left behind."""
    import fcntl

    wrong: str | None = None
    if asked.to not in NEEDED:
        wrong = f"nothing runs {asked.to} here: there is {', '.join(NEEDED)}"
    elif asked.to == "csv" and asked.choices.cold_check:
        wrong = Wording("a command that is told an id runs no launches before it: no `cold_check`")
    elif asked.to != "csv" and asked.choices.traces is None:
        wrong = Wording("{} runs `traces`, and there are none", asked.to)
    elif asked.target is not None and not asked.plan.is_random:
        wrong = "a plan of picked launches has no interval that could hold a target: run it without one"
    if wrong is not None:
        raise OptionError(wrong)
    loop = Loop(asked, watch)
    loop.folder.mkdir(parents=True, exist_ok=True)
    # The lock holds for as long as this lasts, however this process ends.
    with (loop.folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            wrong = f"another run is at work in {loop.folder}"
            raise OptionError(wrong, remedy="wait for it, or give another folder") from error
        loop.load()
        try:
            yield loop
        finally:
            _end([process for process, _ in loop.running.values()])


class Loop:
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
        # Since when jobs run, and the profile's time of those that ended since: how long the rest may take.
        self.began, self.spent_ns = 0.0, 0

    def load(self) -> None:
        """Take over what is in the folder; export the plan where nothing is."""
        plan, rounds, how = self.asked.plan, self.folder / "rounds", self.folder / "run.json"
        compared = [each.name for each in fields(ExportChoices) if each.compare]
        asked = {"to": self.asked.to, "simulator": shlex.join(self.words)}
        asked |= {name: getattr(self.asked.choices, name) for name in compared}
        text = json.dumps(asked, indent=1) + "\n"
        if not how.exists():
            # What a call that was killed has left is made anew, and nothing of anybody else's is touched.
            there = {path.name for path in (*self.folder.iterdir(), *rounds.glob("*"))}
            if there - {"lock", rounds.name, "1", "1.part"}:
                raise OptionError(f"{self.folder} is there, and no run", remedy="give another folder")
            try:
                shutil.rmtree(rounds, ignore_errors=True)
                # What was simulated elsewhere has no result here.
                self._export(structs.replace(plan, simulated=()).text(), 1)
                write_whole(how, text)
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
        self.first = read_plan(str(rounds / "1"))
        own, given = ((each.options, each.profile.files, each.drawn) for each in (self.first, plan))
        if how.read_text("utf-8", "replace") != text or own != given:
            raise OptionError(
                f"{self.folder} is a run of another plan or command: results of both would be mixed",
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
        write_whole(part / IN_FOLDER, text)
        choices = replace(self.asked.choices, apart=self.asked.to != "csv")
        if number > 1:
            # The check is drawn of the plan once, and holds for what is added.
            choices = replace(choices, cold_check=0)
        for name, content in exported_folder(read_plan(str(part)), self.asked.to, choices):
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            with (part / name).open("wb") as stream:
                if isinstance(content, str):
                    stream.write(content.encode("utf-8", "backslashreplace"))
                else:
                    content(stream)
        part.rename(path)
        return path

    def _take_round(self, path: Path) -> None:
        """Add the jobs of an export, the most informative first, and let the folder's plan be its plan."""
        plan, to, traces = (
            read_plan(str(path)),
            self.asked.to,
            Path(self.asked.choices.traces or "").absolute(),
        )
        order = informative_order(plan.to_simulate())
        drawn = {launch.id: (place, stratum, launch) for place, (stratum, launch) in enumerate(order)}
        # Of each job its launches, how they find the caches, and its list; a command is told ids alone.
        given: list[tuple[IntArray, tuple[str, ...], Path | None]] = []
        if to == "csv":
            given = [(np.array([launch.id]), (), None) for _, launch in order]
        for file_path in manifests_in(path):
            with open_input(str(file_path)) as file:
                manifest = read_manifest(file)
            self.manifests.append(manifest)
            shards = np.unique(manifest.shard).tolist()
            for shard in shards:
                inside = np.flatnonzero(manifest.shard == shard)
                ids = np.where(manifest.is_warm_up[inside], NOT_WANTED, manifest.id[inside])
                name = _LISTS[to].format("" if len(shards) == 1 else f"-{shard}")
                given.append((ids, tuple(manifest.caches[each] for each in inside), file_path.parent / name))
        jobs: list[Job] = []
        known: set[int] = set()
        for ids, caches, listed in given:
            wanted = sorted(ids[ids != NOT_WANTED].tolist(), key=lambda each: drawn[each][0])
            # Launches that are there already are run once more, and count for no stratum.
            is_check = wanted[0] in known
            known.update(wanted)
            name = f"{wanted[0]}{'-again' if is_check else ''}"
            job = Job(
                id=wanted[0],
                ids=ids,
                strata=frozenset() if is_check else frozenset(drawn[each][1] for each in wanted),
                duration_ns=sum(drawn[each][2].duration_ns for each in wanted),
                place=self.folder / "launches" / name,
                result=self.folder / "results" / f"launch-{name}{'.csv' if to == 'csv' else '.log'}",
                list=listed,
                # Of several processes and devices each has a folder, in the export as among the traces.
                traces=traces if listed is None else traces / listed.parent.relative_to(path),
                caches=caches,
            )
            job.take(to)
            jobs.append(job)
        self.jobs += sorted(jobs, key=lambda job: (not job.strata, drawn[job.id][0]))
        self.rounds, self.taken = self.rounds + 1, 0
        if self.asked.target is not None:
            # Every result is looked at, so the interval is no narrower than what is waited for.
            rounds = 1 if plan.topped_up is None else plan.topped_up.rounds
            plan = structs.replace(plan, topped_up=ToppedUp(rounds, self.asked.target))
        self.plan = plan
        write_whole(self.folder / IN_FOLDER, plan.text())

    def is_met(self) -> bool:
        """Take the results that are finished, estimate, and return whether the total is within the target.

        Of launches that run at once the short ones end first: taken as they come, those of a stratum would
        be no random sample of it. So each is taken in the order of its stratum.
        """
        waited_for: set[int] = set()
        runs: list[MeasuredRun] = []
        for job in self.jobs:
            if not job.has_ended or job.strata & waited_for:
                waited_for |= job.strata
                continue
            job.put_away()
            if job.measured is not None:
                runs.append(job.measured)
        if len(runs) > self.taken:
            self.taken = len(runs)
            self.found = estimate_plan(self.plan, results_of(self.plan, runs, self.manifests))
        target, found = self.asked.target, self.found
        if target is None or found is None or any(not job.strata and not job.has_ended for job in self.jobs):
            return False
        return found.main.is_within(target)

    def left(self) -> list[Job]:
        """Return the jobs that have not ended, those that run included."""
        return [job for job in self.jobs if not job.has_ended]

    def simulate(self) -> None:
        """Run the jobs that are left until the target holds; AnalysisError where all fail from the start."""
        queue = self.left()
        self.began, self.spent_ns = time.monotonic(), 0
        while queue or self.running:
            while queue and len(self.running) < self.asked.processes:
                job = queue.pop(0)
                # In a session of its own, so that it can be ended with all that it starts.
                process = subprocess.Popen(  # noqa: S603
                    ["/bin/sh", "-c", job.shell_line(self.words)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                self.running[job] = process, time.monotonic()
                self._tell()
            if ended := self._ended():
                is_met = self.is_met()
                for job in ended:
                    self._tell(job)
                if is_met:
                    return
            else:
                time.sleep(_POLL_SECONDS)

    def _ended(self) -> list[Job]:
        """Return the jobs that ended since the last call, or ran too long; refuse what always fails."""
        limit, ended = self.asked.timeout_seconds, []
        for job, (process, began) in list(self.running.items()):
            if process.poll() is None:
                if limit is None or time.monotonic() - began <= limit:
                    continue
                _end([process])
                write_whole(job.place / "exit", f"ran past {limit:g} s\n")
            del self.running[job]
            job.take(self.asked.to)
            job.failure = job.failure or ("" if job.measured else "its shell was ended")
            self.spent_ns += job.duration_ns
            ended.append(job)
        over = [job for job in self.jobs if job.has_ended] if ended else []
        if ended and len(over) >= min(_ALL_FAIL, len(self.jobs)) and all(job.failure for job in over):
            # Then these have not failed for good.
            for path in (each for job in over for each in (job.place / "exit", job.failed)):
                path.unlink(missing_ok=True)
            raise AnalysisError(
                f"the first {counted(len(over), 'launch', 'launches')} failed: {over[0].failure}",
                remedy=f"see run.log and stderr.log in {over[0].place}",
            )
        return ended

    def _tell(self, news: Job | int | None = None) -> None:
        """Report how far the run is."""
        left_ns = sum(job.duration_ns for job in self.left())
        pace = self.spent_ns / max(time.monotonic() - self.began, 1e-9)
        seconds = left_ns / pace if pace and left_ns else None
        done = sum(job.measured is not None for job in self.jobs)
        failed = sum(bool(job.failure) for job in self.jobs)
        total = None if self.found is None else self.found.main
        self.watch(Now(done, len(self.jobs), failed, len(self.running), total, seconds, news))

    def grow(self) -> bool:
        """Draw what is missing to the target, and another for each that failed; return whether any is."""
        if not self.plan.is_random:
            return False
        drawn, sizes = np.array([[each.samples, each.size] for each in self.plan.strata]).T
        planned = np.array([stratum.samples for stratum in self.first.strata])
        wanted, target = planned, self.asked.target
        if self.found is not None and target is not None:
            sample = replace(sample_of(self.plan, self.found.results), planned=planned)
            if left := sampling_left(target, self.found.beside_sampling):
                wanted = next_sizes(sample, self.found.main.metric, left, self.found.main.confidence)
        failed = np.zeros(len(sizes), dtype=np.int64)
        for job in self.jobs:
            failed[list(job.strata)] += bool(job.failure)
        wanted = np.maximum(drawn, np.minimum(wanted + failed, sizes))
        if not (wanted > drawn).any():
            return False
        everything = frozenset(launch.id for launch in self.plan.drawn)
        larger = enlarged(self.plan, wanted, target, everything, self.asked.choices.progress)
        self._take_round(self._export(larger.text, self.rounds + 1))
        self._tell(larger.added)
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

    def job_array(self, jobs: Sequence[Job]) -> Path:
        """Write the script that simulates these jobs, a task each, and return it."""
        limit, script, tasks = self.asked.timeout_seconds, self.folder / "slurm.sh", self.folder / "jobs.txt"
        timeout = [] if limit is None else ["timeout", "-k", "10", f"{limit:g}"]
        write_whole(tasks, "".join(f"{job.shell_line(self.words, timeout)}\n" for job in jobs))
        at_once = f"%{self.asked.processes}" if self.asked.processes > 1 else ""
        listed = shlex.quote(str(tasks))
        write_whole(script, template("run-slurm.sh", jobs=len(jobs), at_once=at_once, list=listed))
        return script


def _end(processes: Collection[subprocess.Popen[bytes]]) -> None:
    """End processes and all that they started; what they began is begun anew the next time."""
    for number, seconds in _SIGNALS:
        until = time.monotonic() + seconds
        for process in processes:
            # Also what a process that has ended itself left in its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.01, until - time.monotonic()))
