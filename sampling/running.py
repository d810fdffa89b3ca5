"""A plan simulated until its total is known well enough: handed over, run, estimated, topped up, and so on.

All that is known of a run is in its folder: ``plan.json``, the plan as large as it is by now; ``rounds/N``,
what was exported of it each time; ``launches/ID``, where the process of a launch works, with ``exit`` once it
has ended; ``results/launch-ID.log`` (or ``.csv``), or ``.failed`` with the reason. So a run that was stopped
goes on by being called again. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.estimation.interval import Estimate
from sampling.estimation.top_up import enlarged, next_sizes, sampling_left
from sampling.estimation.total import PlanEstimate, estimate_plan, sample_of
from sampling.plan.plan_file import IN_FOLDER, PlanFile, ToppedUp, read_plan
from sampling.readers.input_file import open_input
from sampling.simulators.export import ExportChoices, informative_order
from sampling.simulators.exporter import template
from sampling.simulators.manifest import Manifest, manifests_in, read_manifest
from sampling.simulators.measured_run import CYCLES, MeasuredRun
from sampling.simulators.registry import exported_folder, read_results
from sampling.simulators.results import NOT_WANTED, results_of
from sampling.text import Wording, counted, shortened

#: What a command must name, of each simulator that is run: what it simulates
NEEDED = {"accel-sim": "{list}", "macsim": "", "csv": "{id}"}
_LISTS = {"accel-sim": "kernelslist{}.g", "macsim": "kernel_config{}.txt"}
#: So many launches that fail before one succeeds are the command's fault, not theirs
_ALL_FAIL = 3
#: How ``timeout`` of the coreutils ends for a program that it ended, and how the shell says that a signal did
_TIMED_OUT, _SIGNALLED, _TAIL_BYTES = 124, 128, 1 << 16
_FIRST_POLL_SECONDS, _LAST_POLL_SECONDS = 0.001, 0.05
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


@dataclass(slots=True, eq=False)
class Job:
    """A process that simulates a drawn launch, and those that run before it for the caches' sake."""

    id: int  #: of the launch that it is called by
    ids: IntArray  #: (n,) of all launches in their order, `NOT_WANTED` for those that count for nothing
    #: of those that count, 0-based; none where these are launches of another job once more
    strata: frozenset[int]
    duration_ns: int  #: of the launches that count, in the profile
    place: Path  #: its working folder
    result: Path  #: the file of its finished result
    list: Path | None  #: what the simulator is given to run; None where a command is told the id
    caches: tuple[str, ...]  #: (n,) how each launch finds them; empty where no manifest says
    measured: MeasuredRun | None = field(default=None, repr=False)
    failure: str = ""
    is_put_away: bool = False  #: whether what came of it has its name among the results

    @property
    def failed(self) -> Path:
        """The file that says why it has no result."""
        return self.result.with_suffix(".failed")

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to run of it."""
        return self.measured is not None or bool(self.failure)


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
    with Loop.begun(asked, watch) as loop:
        while not loop.is_met():
            loop.simulate()
            if loop.is_met() or not loop.grow():
                break
        return Ran(loop.found, loop.failed())


def write_job_array(asked: Asked, watch: Watch) -> Ran:
    """Take what a job array left, and write one for what is still to be simulated; run nothing."""
    with Loop.begun(asked, watch) as loop:
        if loop.is_met():
            return Ran(loop.found, loop.failed())
        if not loop.left():
            loop.grow()
        # The folder of one that has begun is in use, or was left by a task that was killed.
        begun = tuple(job.place for job in loop.left() if (job.place / "run.log").exists())
        waiting = [job for job in loop.left() if job.place not in begun]
        script = (loop.job_array(waiting), len(waiting)) if waiting else None
        return Ran(loop.found, loop.failed(), script, begun)


class Loop:
    """A run, from the files of its folder on."""

    def __init__(self, asked: Asked, watch: Watch) -> None:
        self.asked, self.watch, self.folder = asked, watch, asked.folder.absolute()
        self.words = _words_of(asked.command, asked.to)
        self.jobs: list[Job] = []
        # The process of each job that runs, and when it began.
        self.running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
        self.found: PlanEstimate | None = None
        self.plan = self.first = asked.plan
        self.manifests: list[Manifest] = []
        self.rounds = self.taken = 0
        # Since when jobs run, and the profile's time of those that ended since: how long the rest may take.
        self.began, self.spent_ns = 0.0, 0

    @classmethod
    @contextmanager
    def begun(cls, asked: Asked, watch: Watch) -> Iterator[Self]:
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
        loop = cls(asked, watch)
        loop.folder.mkdir(parents=True, exist_ok=True)
        # The lock holds for as long as this lasts, however this process ends.
        with (loop.folder / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                wrong = f"another run is at work in {loop.folder}"
                raise OptionError(wrong, remedy="wait for it, or give another folder") from error
            loop._load()
            try:
                yield loop
            finally:
                _end([process for process, _ in loop.running.values()])

    def _load(self) -> None:
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
                _write(how, text)
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
        _write(part / IN_FOLDER, text)
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
        plan, to = read_plan(str(path)), self.asked.to
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
                caches=caches,
            )
            _take_result(job, to)
            jobs.append(job)
        self.jobs += sorted(jobs, key=lambda job: (not job.strata, drawn[job.id][0]))
        self.rounds, self.taken = self.rounds + 1, 0
        if self.asked.target is not None:
            # Every result is looked at, so the interval is no narrower than what is waited for.
            rounds = 1 if plan.topped_up is None else plan.topped_up.rounds
            plan = structs.replace(plan, topped_up=ToppedUp(rounds, self.asked.target))
        self.plan = plan
        _write(self.folder / IN_FOLDER, plan.text())

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
            if not job.is_put_away:
                job.is_put_away = True
                job.result.parent.mkdir(exist_ok=True)
                if job.failure:
                    _write(job.failed, f"{job.failure}\n")
                else:
                    (job.place / f"run{job.result.suffix}").replace(job.result)
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
        queue, pause = self.left(), _FIRST_POLL_SECONDS
        self.began, self.spent_ns = time.monotonic(), 0
        while queue or self.running:
            while queue and len(self.running) < self.asked.processes:
                job = queue.pop(0)
                # In a session of its own, so that it can be ended with all that it starts.
                process = subprocess.Popen(  # noqa: S603
                    ["/bin/sh", "-c", self._shell_line(job)],
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
            pause = _FIRST_POLL_SECONDS if ended else min(2 * pause, _LAST_POLL_SECONDS)
            time.sleep(pause)

    def _ended(self) -> list[Job]:
        """Return the jobs that ended since the last call, or ran too long; refuse what always fails."""
        limit, ended = self.asked.timeout_seconds, []
        for job, (process, began) in list(self.running.items()):
            if process.poll() is None:
                if limit is None or time.monotonic() - began <= limit:
                    continue
                _end([process])
                _write(job.place / "exit", f"ran past {limit:g} s\n")
            del self.running[job]
            _take_result(job, self.asked.to)
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
        _write(tasks, "".join(f"{self._shell_line(job, timeout)}\n" for job in jobs))
        at_once = f"%{self.asked.processes}" if self.asked.processes > 1 else ""
        listed = shlex.quote(str(tasks))
        _write(script, template("run-slurm.sh", jobs=len(jobs), at_once=at_once, list=listed))
        return script

    def _shell_line(self, job: Job, before: Sequence[str] = ()) -> str:
        """Make a job's folder with what the simulator looks for there; return the line that runs it."""
        shutil.rmtree(job.place, ignore_errors=True)
        job.place.mkdir(parents=True)
        if job.list is not None:
            self._link_traces(job.place, job.list)
        said = {"{list}": job.list, "{id}": job.id, "{folder}": job.place, "{out}": job.place / "out"}
        stands_for = re.compile("|".join(map(re.escape, said)))
        words = [stands_for.sub(lambda found: str(said[found[0]]), word) for word in self.words]
        return (
            f"cd -- {shlex.quote(str(job.place))} || exit; {shlex.join([*before, *words])} > run.log "
            "2> stderr.log; echo $? > exit.part; mv exit.part exit"
        )

    def _link_traces(self, place: Path, listed: Path) -> None:
        """Put links to the traces of a list, and to what else a simulator wants, where it looks for them."""
        # Of several processes and devices each has a folder, in the export as among the traces.
        inside = listed.relative_to(self.folder / "rounds").parts[1:-1]
        traces = Path(self.asked.choices.traces or "", *inside).absolute()
        text = listed.read_text(encoding="utf-8")
        links: list[tuple[Path, Path]] = []
        if self.asked.to == "accel-sim":
            # It looks for traces beside the list, and for the network where it runs.
            for config in (Path(word) for word in self.words if word.endswith(".config")):
                links += [(net, place / net.name) for net in config.parent.glob("*.icnt")]
            names = [name for name in text.split("\n") if name.startswith("kernel")]
            links += [(traces / name, listed.parent / name) for name in names]
        else:
            names = re.findall(r"\./(Kernel\d+)/trace\.txt", text)
            links += [(traces / name, place / name) for name in dict.fromkeys(names)]
            links.append((Path("params.in").absolute(), place / "params.in"))
            _write(place / "kernel_config.txt", text)
            _write(place / "trace_file_list", "1\n./kernel_config.txt\n")
        for source, link in links:
            packed = source.with_name(f"{source.name}.gz")
            if link.exists():
                continue
            if source.exists():
                link.symlink_to(source)
            elif packed.exists():
                part = link.with_name(f"{link.name}.part")
                with gzip.open(packed) as stream, part.open("wb") as unpacked:
                    shutil.copyfileobj(stream, unpacked)
                part.replace(link)
            else:
                raise ProfileError("is not there, and the simulator looks for it", path=source)


def _words_of(command: str, to: str) -> list[str]:
    """Return a command line as words that mean the same in any folder: each job runs in its own."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"the simulator's command line cannot be read: {error}") from error
    if NEEDED[to] not in command or not words:
        wrong = f"the simulator's command line does not say what to simulate, {NEEDED[to] or 'a program'}"
        raise OptionError(wrong, remedy="put it where the simulator takes it")
    if (program := shutil.which(words[0])) is None:
        raise OptionError(f"{words[0]}: there is no such program", remedy="give its path, or put it on PATH")
    words[0] = program
    for place, word in enumerate(words):
        # What is too long for a name is none.
        with suppress(OSError):
            words[place] = str(Path(word).absolute()) if word and Path(word).exists() else word
    return words


def _take_result(job: Job, to: str) -> None:
    """Read what is on the disk of a job: a finished result, a failure, or how its process ended."""
    exit_file, path = job.place / "exit", job.result
    job.is_put_away = path.exists() or job.failed.exists()
    if job.failed.exists():
        job.failure = job.failed.read_text(encoding="utf-8").strip() or "it failed"
        return
    if not job.is_put_away:
        code = exit_file.read_text(encoding="utf-8").strip() if exit_file.exists() else ""
        if code != "0":
            job.failure = code and _why_failed(job, code)
            return
        path = job.place / "run.log"
        if to == "csv":
            # Its number, the last word that it wrote, becomes a table.
            out = job.place / "out"
            words = (out if out.exists() else path).read_text("utf-8", "replace").split()
            path = job.place / "run.csv"
            _write(path, f"id,{CYCLES}\n{job.id},{words[-1] if words else ''}\n")
    try:
        with open_input(str(path)) as file:
            measured = read_results(file, (), to)
    except ProfileError as error:
        what = error.message.removeprefix(str(path)).removeprefix(": ")
        job.failure = "it gave no number of cycles" if to == "csv" else what
        return
    # Kernels that only fill caches may be left out where results are read.
    ids = job.ids if len(measured.number) == len(job.ids) else job.ids[job.ids != NOT_WANTED]
    if len(measured.number) != len(ids):
        launches = counted(len(measured.number), "launch", "launches")
        job.failure = f"{launches} printed of {len(job.ids)}"
    elif lacking := np.flatnonzero((ids != NOT_WANTED) & ~(measured.metrics[CYCLES] > 0)).tolist():
        job.failure = measured.missing.get(lacking[0], "it took 0 cycles")
    else:
        told = tuple(each for each, launch in zip(job.caches, job.ids, strict=False) if launch in ids)
        job.measured = replace(measured, number=ids, first_number=None, told=told)


def _why_failed(job: Job, code: str) -> str:
    """Return why a process that did not end well ended, with the last line that it printed of it."""
    why = code
    if code.isdigit():
        signalled = int(code) - _SIGNALLED
        if int(code) == _TIMED_OUT:
            why = "it ran past the time limit"
        elif signalled in set(signal.Signals):
            why = f"ended by {signal.Signals(signalled).name}"
        else:
            why = f"exit code {code}"
    with suppress(OSError), (job.place / "stderr.log").open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - _TAIL_BYTES))
        last = stream.read().decode("utf-8", "replace").strip().split("\n")[-1]
        why += f": {shortened(last.strip(), 80)}" if last else ""
    return why


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


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
