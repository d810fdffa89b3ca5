"""A plan simulated until its total is known well enough: handed over, run, estimated, topped up, and so on.

All that is known of a run is in its folder: ``plan.json``, the plan as large as it is by now; ``rounds/N``,
what was exported of it each time; ``launches/ID``, where the process of a launch works, with ``exit`` once it
has ended; ``results/launch-ID.log`` (or ``.csv``), or ``.failed`` with the reason. So a run that was stopped
goes on by being called again. A kernel that the simulator never runs is given up, `estimation.given_up`.
(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, PlanFileError
from sampling.estimation.given_up import GivenUp, estimate_rest, kernels_given_up, without
from sampling.estimation.interval import Estimate
from sampling.estimation.top_up import enlarged, next_sizes, read_original, sampling_left
from sampling.estimation.total import PlanEstimate, build_sample, estimate_plan
from sampling.plan.plan_file import IN_FOLDER, PlanFile, ToppedUp, read_plan
from sampling.readers.input_file import open_input
from sampling.simulators.export import ExportChoices, informative_order
from sampling.simulators.exporter import template
from sampling.simulators.job import NEEDED, Job, words_of, write_whole
from sampling.simulators.manifest import Manifest, manifests_in, read_manifest
from sampling.simulators.measured_run import MeasuredRun, is_state
from sampling.simulators.processes import close, end, end_left, is_full, start
from sampling.simulators.registry import exported_folder
from sampling.simulators.results import NOT_WANTED, results_of
from sampling.text import Wording, counted

_LISTS = {"accel-sim": "kernelslist{}.g", "macsim": "kernel_config{}.txt"}
#: So many launches, of as many kernels, that fail before one succeeds are the command's fault, not theirs
_ALL_FAIL = 3
_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class RunRequest:
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
    #: how a csv command, which runs launches alone, finds the caches; another state where it sees to them
    told_caches: str = "cold"
    #: the key of the kernel group that those are taken to behave as which the simulator never runs
    assume_like: str | None = None


class FailedLaunch(NamedTuple):
    """A launch without a result, why, and which other one of its stratum is simulated for it, if any yet."""

    id: int
    why: str
    instead: int | None


class RunProgress(NamedTuple):
    """How far a run is, in launches."""

    done: int
    of: int
    failed: int
    running: int
    total: Estimate | None  #: as far as it is known; None where there is no result
    seconds_left: float | None  #: until all that is drawn by now is simulated; None where nothing tells
    #: what just happened: a launch that ended, a kernel that was given up, or by how many the plan grew
    news: Job | GivenUp | int | None = None


class RunResult(NamedTuple):
    """What a run came to."""

    found: PlanEstimate | None  #: None where there is no result
    failed: tuple[FailedLaunch, ...]
    #: the script to submit, and how many launches it simulates; None where nothing is left to run
    job_array: tuple[Path, int] | None = None
    #: folders of launches that began and have not ended, while a job array is at work
    begun: tuple[Path, ...] = ()
    given_up: tuple[GivenUp, ...] = ()  #: what the simulator never runs
    why_no_more: str = ""  #: why nothing more can be drawn, where more was wanted


Watch = Callable[[RunProgress], None]


def run(asked: RunRequest, watch: Watch) -> RunResult:
    """Simulate the plan's launches until the target holds, and more than the plan's if it takes more.

    Raises OptionError: the command cannot be run, another run has the folder, or it is of another plan or
    command; AnalysisError: the first launches all fail; ProfileError: traces or results are of others.
    """
    with _begun(asked, watch) as loop:
        while not loop.is_met():
            loop.simulate()
            if loop.is_met() or not loop.grow():
                break
        return loop.ran()


def write_job_array(asked: RunRequest, watch: Watch) -> RunResult:
    """Take what a job array left, and write one for what is still to be simulated; run nothing."""
    with _begun(asked, watch, is_array=True) as loop:
        if loop.is_met():
            return loop.ran()
        if not loop.left():
            loop.grow()
        # The folder of one that has begun is in use, or was left by a task that was killed.
        begun = tuple(job.place for job in loop.left() if (job.place / "run.log").exists())
        waiting = [job for job in loop.left() if job.place not in begun]
        script = (loop.job_array(waiting), len(waiting)) if waiting else None
        return loop.ran(script, begun)


@contextmanager
def _begun(asked: RunRequest, watch: Watch, *, is_array: bool = False) -> Iterator[Loop]:
    """Give the run, whose folder is nobody else's meanwhile; no process of it is left behind."""
    import fcntl

    refuse_what_cannot_run(asked)
    loop = Loop(asked, watch)
    for what, text in (("folder", str(loop.folder)), ("command", shlex.join(loop.words))):
        if is_array and "\n" in text:
            wrong = f"a job array has a line for each launch, and the {what} has a line break in it: {text!r}"
            raise OptionError(wrong, remedy="give another, or run it without a job array")
    loop.folder.mkdir(parents=True, exist_ok=True)
    # The lock holds for as long as this lasts, however this process ends.
    with (loop.folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            wrong = f"another run is at work in {loop.folder}"
            raise OptionError(wrong, remedy="wait for it, or give another folder") from error
        end_left((loop.folder / "launches").glob("*"))
        loop.load()
        try:
            yield loop
        finally:
            end([process for process, _ in loop.running.values()])


def refuse_what_cannot_run(asked: RunRequest) -> None:
    """Raise OptionError for what is asked together and cannot be done so."""
    wrong: str | None = None
    if asked.to not in NEEDED:
        wrong = f"nothing runs {asked.to} here: there is {', '.join(NEEDED)}"
    elif asked.to == "csv" and asked.choices.cold_check:
        wrong = Wording("a command that is told an id runs no launches before it: no `cold_check`")
    elif asked.to != "csv" and asked.choices.traces is None:
        wrong = Wording("{} runs `traces`, and there are none", asked.to)
    elif asked.target is not None and not 0 < asked.target < 1:
        wrong = Wording("`target` is a fraction between 0 and 1, not {:g}", asked.target)
    elif asked.target is not None and not asked.plan.is_random:
        wrong = "a plan of picked launches has no interval that could hold a target: run it without one"
    elif asked.assume_like is not None and not asked.plan.is_random:
        wrong = Wording("a plan of picked launches tells no kernel's own cycles: no `assume_like`")
    elif not is_state(asked.told_caches):
        wrong = Wording("`caches` is warm, loads, own, cold or after:N, not {}", asked.told_caches)
    if wrong is not None:
        raise OptionError(wrong)


class Loop:
    """A run, from the files of its folder on."""

    def __init__(self, asked: RunRequest, watch: Watch) -> None:
        self.asked, self.watch, self.folder = asked, watch, asked.folder.absolute()
        self.words = words_of(asked.command, asked.to)
        self.jobs: list[Job] = []
        # The process of each job that runs, and when it began.
        self.running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
        self.found: PlanEstimate | None = None
        self.given_up: tuple[GivenUp, ...] = ()
        self.why_no_more = ""
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
        is_new = not how.exists()
        if is_new:
            # What a call that was killed has left is made anew, and nothing of anybody else's is touched.
            there = {path.name for path in (*self.folder.iterdir(), *rounds.glob("*"))}
            if there - {"lock", rounds.name, "1", "1.part", f"{how.name}.part"}:
                raise OptionError(f"{self.folder} is there, and no run", remedy="give another folder")
            try:
                shutil.rmtree(rounds, ignore_errors=True)
                self._check_more(plan)
                # What was simulated elsewhere has no result here.
                self._export(structs.replace(plan, simulated=()).text(), 1)
                write_whole(how, text)
            except Exception:
                # After an interruption the folder is there, and what is in it is made anew.
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
        if not is_new and not self.is_met() and self.left():
            self._check_more(self.plan)

    def _check_more(self, plan: PlanFile) -> None:
        """Raise PlanFileError where a target may need more launches, and the profile is not found."""
        if self.asked.target is not None:
            read_original(self._beside(plan), self.asked.choices.progress)

    def _beside(self, plan: PlanFile) -> PlanFile:
        """Return a plan of the folder as if it lay where the plan that was asked for lies."""
        return structs.replace(plan, path=self.asked.plan.path)

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
        for name, content in exported_folder(self._beside(read_plan(str(part))), self.asked.to, choices):
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
        plan, to = read_plan(str(path)), self.asked.to
        traces = Path(self.asked.choices.traces or "").absolute()
        order = informative_order(plan.to_simulate())
        drawn = {launch.id: (place, stratum, launch) for place, (stratum, launch) in enumerate(order)}
        # Of each job its launches, how they find the caches, and its list; a command is told ids alone.
        given: list[tuple[IntArray, tuple[str, ...], Path | None]] = []
        if to == "csv":
            given = [(np.array([launch.id]), (self.asked.told_caches,), None) for _, launch in order]
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
                drawn_from=frozenset(drawn[each][1] for each in wanted),
                is_check=is_check,
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
        self.jobs += sorted(jobs, key=lambda job: (job.is_check, drawn[job.id][0]))
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
        given_up, self.given_up = self.given_up, self._never_run()
        for job in self.jobs:
            if not job.has_ended or job.strata & waited_for:
                waited_for |= job.strata
                continue
            job.put_away()
            if job.measured is not None:
                runs.append(job.measured)
        if len(runs) > self.taken or (runs and given_up != self.given_up):
            self.taken = len(runs)
            results = results_of(self.plan, runs, self.manifests)
            rest = estimate_plan(without(self.plan, self.given_up), results)
            self.found = estimate_rest(rest, self.plan, self.given_up, self.asked.assume_like)
        target, found = self.asked.target, self.found
        if target is None or found is None or any(job.is_check for job in self.left()):
            return False
        return found.main.is_within(target)

    def _never_run(self) -> tuple[GivenUp, ...]:
        """Return what is given up by now."""
        failures = {
            each: job.failure
            for job in self.jobs
            if job.failure and not job.is_check
            for each in job.ids[job.ids != NOT_WANTED].tolist()
        }
        measured = {
            each for job in self.jobs if job.measured is not None for each in job.measured.number.tolist()
        }
        return kernels_given_up(self.plan, failures, measured)

    def left(self) -> list[Job]:
        """Return the jobs that have not ended, those that run included, but for what is given up."""
        gone = frozenset().union(*(each.strata for each in self.given_up))
        return [
            job
            for job in self.jobs
            if not job.has_ended and (job in self.running or not job.drawn_from <= gone)
        ]

    def simulate(self) -> None:
        """Run the jobs that are left until the target holds; AnalysisError where all fail from the start."""
        queue = self.left()
        self.began, self.spent_ns = time.monotonic(), 0
        while queue or self.running:
            while queue and len(self.running) < self.asked.processes:
                job = queue.pop(self._next(queue))
                line = job.shell_line(self.words)
                self.running[job] = start(line, job.place), time.monotonic()
                self._tell()
            if ended := self._ended():
                before = {launch for kernel in self.given_up for launch in kernel.failed}
                is_met = self.is_met()
                # Without what is given up, and with what was cut off.
                queue = [job for job in self.left() if job not in self.running]
                for job in ended:
                    self._tell(job if job.has_ended else None)
                for kernel in self.given_up:
                    if not before & set(kernel.failed):
                        self._tell(kernel)
                if is_met:
                    return
            else:
                time.sleep(_POLL_SECONDS)

    def _next(self, queue: Sequence[Job]) -> int:
        """Return the place of the job to run next: as long as all fail, of a kernel that was not tried."""
        over = [job for job in self.jobs if job.has_ended]
        if not over or any(job.measured is not None for job in over):
            return 0
        tried = self._kernels([*over, *self.running])
        return next((place for place, job in enumerate(queue) if not self._kernels([job]) <= tried), 0)

    def _kernels(self, jobs: Sequence[Job]) -> set[str]:
        """Return the keys of the strata whose launches some jobs are."""
        return {self.plan.strata[each].key for job in jobs for each in job.drawn_from}

    def _ended(self) -> list[Job]:
        """Return the jobs that ended since the last call, or ran too long."""
        limit, ended = self.asked.timeout_seconds, list[Job]()
        for job, (process, began) in list(self.running.items()):
            if process.poll() is None:
                if limit is None or time.monotonic() - began <= limit:
                    continue
                end([process])
                write_whole(job.place / "exit", f"ran past {limit:g} s\n")
            close(process)
            del self.running[job]
            has_exit = (job.place / "exit").exists()
            if not ended and is_full(self.folder):
                self._stop_for_room(job)
            job.take(self.asked.to)
            if not has_exit:
                job.failure = "its shell was ended"
            if job.has_ended:
                self.spent_ns += job.duration_ns
            ended.append(job)
        if ended:
            self._refuse_if_all_fail()
        return ended

    def _refuse_if_all_fail(self) -> None:
        """Raise AnalysisError where no launch of the first few kernels ran: it is not the kernels, then."""
        over = [job for job in self.jobs if job.has_ended]
        groups = {stratum.key for stratum in self.plan.strata}
        # Others can be drawn in place of few.
        most = sum(stratum.size for stratum in self.plan.strata) if self.plan.is_random else len(self.jobs)
        is_enough = len(over) >= min(_ALL_FAIL, most)
        is_enough &= len(self._kernels(over)) >= min(_ALL_FAIL, len(groups))
        if is_enough and all(job.failure for job in over):
            # Then these have not failed for good.
            for path in (each for job in over for each in (job.place / "exit", job.failed)):
                path.unlink(missing_ok=True)
            raise AnalysisError(
                f"the first {counted(len(over), 'launch', 'launches')} failed: {over[0].failure}",
                remedy=f"see run.log and stderr.log in {over[0].place}",
            )

    def _stop_for_room(self, job: Job) -> None:
        """Raise AnalysisError for a disk that is full; what launches wrote meanwhile is run again."""
        end([process for process, _ in self.running.values()])
        for each in (job, *self.running):
            (each.place / "exit").unlink(missing_ok=True)
        raise AnalysisError(
            f"no room is left where {self.folder} lies: what launch {job.id} printed may be cut off",
            remedy="make room; the same command goes on",
        )

    def _tell(self, news: Job | GivenUp | int | None = None) -> None:
        """Report how far the run is."""
        left = self.left()
        left_ns = sum(job.duration_ns for job in left)
        pace = self.spent_ns / max(time.monotonic() - self.began, 1e-9)
        seconds = left_ns / pace if pace and left_ns else None
        done = sum(job.measured is not None for job in self.jobs)
        failed = sum(bool(job.failure) for job in self.jobs)
        of = sum(job.has_ended for job in self.jobs) + len(left)
        total = None if self.found is None else self.found.main
        self.watch(RunProgress(done, of, failed, len(self.running), total, seconds, news))

    def grow(self) -> bool:
        """Draw what is missing to the target, and another for each that failed; return whether any is."""
        if not self.plan.is_random:
            return False
        drawn, sizes = np.array([[each.samples, each.size] for each in self.plan.strata]).T
        planned = np.array([stratum.samples for stratum in self.first.strata])
        wanted, target, found = planned.copy(), self.asked.target, self.found
        gone = np.zeros(len(sizes), dtype=np.bool_)
        gone[[place for each in self.given_up for place in each.strata]] = True
        if found is not None and target is not None:
            sample = replace(build_sample(found.plan, found.results), planned=planned[~gone])
            if left := sampling_left(target, found.beside_sampling):
                # Of what was simulated, which is less than a total that assumes something.
                left *= found.main.total / float(found.main.stratum_total.sum())
                wanted[~gone] = next_sizes(sample, found.main.metric, left, found.main.confidence)
        failed = np.zeros(len(sizes), dtype=np.int64)
        for job in self.jobs:
            failed[list(job.strata)] += bool(job.failure)
        wanted = np.where(gone, drawn, np.maximum(drawn, np.minimum(wanted + failed, sizes)))
        if not (wanted > drawn).any():
            return False
        everything = frozenset(launch.id for launch in self.plan.drawn)
        progress = self.asked.choices.progress
        try:
            larger = enlarged(self._beside(self.plan), wanted, target, everything, progress)
        except (PlanFileError, AnalysisError) as error:
            # What is known by now is not lost.
            self.why_no_more = error.text
            return False
        self._take_round(self._export(larger.text, self.rounds + 1))
        self._tell(larger.added)
        return True

    def ran(self, script: tuple[Path, int] | None = None, begun: tuple[Path, ...] = ()) -> RunResult:
        """Return what the run came to; AnalysisError where no launch has a result and none is left to run."""
        if self.found is None and script is None and not begun:
            why = next((job.failure for job in self.jobs if job.failure), "nothing was run")
            raise AnalysisError(f"no launch has a result: {why}", remedy=f"see the logs in {self.folder}")
        return RunResult(self.found, self.failed(), script, begun, self.given_up, self.why_no_more)

    def failed(self) -> tuple[FailedLaunch, ...]:
        """Return the launches that failed, each with the one that was drawn of its stratum for it."""
        first = {launch.id for launch in self.first.drawn}
        added = [job for job in self.jobs if job.id not in first]
        rows = []
        for job in (job for job in self.jobs if job.failure):
            instead = next((each for each in added if each.strata & job.strata and each is not job), None)
            if instead is not None:
                added.remove(instead)
            rows.append(FailedLaunch(job.id, job.failure, None if instead is None else instead.id))
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
