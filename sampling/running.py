"""A plan simulated until its total is known well enough: handed over, run, estimated, topped up, and so on.

All that is known of a run is in its folder: ``plan.json``, the plan as large as it is by now; ``rounds/N``,
what was exported of it each time; ``launches/ID``, where a process works, ID being its first drawn launch.
``exit`` there is written when it has ended; what it printed then becomes ``results/launch-ID.log`` (or
``.csv``), and why it failed ``results/launch-ID.failed``. So what is finished is told by names alone, and a
run that was stopped goes on by being called again. (docs/methods.md, 11 Back from the simulator)
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

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.estimation.interval import Estimate
from sampling.estimation.top_up import enlarged, next_sizes, sampling_left
from sampling.estimation.total import PlanEstimate, estimate_plan, sample_of
from sampling.plan.plan_file import IN_FOLDER, PlanFile, ToppedUp, read_json_object, read_plan
from sampling.readers.input_file import open_input
from sampling.simulators.export import (
    ExportChoices,
    Manifest,
    informative_order,
    manifests_in,
    read_manifest,
)
from sampling.simulators.measured_run import CYCLES, MeasuredRun
from sampling.simulators.registry import exported_folder, read_results
from sampling.simulators.results import NOT_WANTED, results_of
from sampling.text import Wording, counted, shortened

#: What a command must name, of each simulator that is run: what it simulates.
NEEDED = {"accel-sim": "{list}", "macsim": "", "csv": "{id}"}
_LISTS = {"accel-sim": "kernelslist{}.g", "macsim": "kernel_config{}.txt"}
#: How ``timeout`` of the coreutils ends for a program that it ended.
TIMED_OUT = "124"
_TAIL = 1 << 16
_PATH = re.compile(r"\./(Kernel\d+)/trace\.txt")


@dataclass(slots=True, eq=False)
class Job:
    """A process that simulates a drawn launch, and those that run before it for the caches' sake."""

    #: Of the launch that it is called by.
    id: int
    #: (n,) of all launches in their order, `NOT_WANTED` for those that count for nothing.
    ids: IntArray
    #: Of those that count, 0-based; none where these are launches of another job once more.
    strata: frozenset[int]
    #: What the simulator is given to run; None where a command names the launch by its id.
    list: Path | None
    #: The folder of its traces.
    traces: Path | None
    #: Its working folder, and the file of its finished result.
    place: Path
    result: Path
    #: Of the launches that count, in the profile.
    duration_ns: int
    #: (n,) how each launch finds them; empty where no manifest says.
    caches: tuple[str, ...] = ()
    #: What came of it, and whether that has its name among the results; neither yet: None and "".
    measured: MeasuredRun | None = field(default=None, repr=False)
    failure: str = ""
    is_put_away: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to run of it."""
        return self.measured is not None or bool(self.failure)

    @property
    def exit(self) -> Path:
        """The file that says how its process ended."""
        return self.place / "exit"


def jobs_of(plan: PlanFile, handed: Path, folder: Path, to: str, traces: str | None) -> list[Job]:
    """Return the jobs of an export (``handed``, of this plan), the most informative first, not yet run."""
    drawn = {launch.id: (stratum, launch) for stratum, launch in informative_order(plan)}
    order = {launch: place for place, launch in enumerate(drawn)}
    runs: list[tuple[IntArray, tuple[str, ...], Path | None, Path | None]] = []
    for path in manifests_in(handed):
        with open_input(str(path)) as file:
            manifest = read_manifest(file)
        shards = np.unique(manifest.shard).tolist()
        part = path.parent.relative_to(handed)
        for shard in shards:
            inside = manifest.shard == shard
            name = _LISTS[to].format("" if len(shards) == 1 else f"-{shard}")
            ids = np.where(manifest.is_warm_up[inside], NOT_WANTED, manifest.id[inside])
            states = tuple(np.array(manifest.caches)[inside].tolist())
            where = None if traces is None else Path(traces, part).absolute()
            runs.append((ids, states, path.parent / name, where))
    if not runs:
        runs = [(np.array([launch]), (), None, None) for launch in drawn]
    jobs = []
    known: set[int] = set()
    for ids, states, listed, where in runs:
        wanted = sorted(ids[ids != NOT_WANTED].tolist(), key=order.__getitem__)
        # Launches that are there already are run once more, and count for no stratum.
        is_check = wanted[0] in known
        known.update(wanted)
        name = f"{wanted[0]}{'-again' if is_check else ''}"
        jobs.append(
            Job(
                id=wanted[0],
                ids=ids,
                strata=frozenset() if is_check else frozenset(drawn[each][0] for each in wanted),
                list=listed,
                traces=where,
                place=folder / "launches" / name,
                result=folder / "results" / f"launch-{name}{'.csv' if to == 'csv' else '.log'}",
                duration_ns=sum(drawn[each][1].duration_ns or 0 for each in wanted),
                caches=states,
            )
        )
    return sorted(jobs, key=lambda job: (not job.strata, order[job.id]))


def words_of(command: str, to: str) -> list[str]:
    """Return a command line as words that mean the same in any folder."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"the simulator's command line cannot be read: {error}") from error
    if NEEDED[to] not in command or not words:
        raise OptionError(
            f"the simulator's command line does not say what to simulate, {NEEDED[to] or 'a program'}",
            remedy=f"put {NEEDED[to]} where the simulator takes it" if NEEDED[to] else None,
        )
    program = shutil.which(words[0])
    if program is None:
        raise OptionError(f"{words[0]}: there is no such program", remedy="give its path, or put it on PATH")
    # A job runs in a folder of its own, for simulators write files where they are.
    words[0] = str(Path(program).absolute())
    for place, word in enumerate(words[1:], start=1):
        # What is too long for a name is none.
        with suppress(OSError):
            if word and Path(word).exists():
                words[place] = str(Path(word).absolute())
    return words


def prepare(job: Job, to: str, words: Sequence[str]) -> list[str]:
    """Make a job's folder with what the simulator looks for there, and return its command line."""
    shutil.rmtree(job.place, ignore_errors=True)
    job.place.mkdir(parents=True)
    if job.list is not None and job.traces is not None:
        if to == "accel-sim":
            _link_traces(job.list, job.traces)
            for config in (Path(word) for word in words if word.endswith(".config")):
                for net in config.parent.glob("*.icnt"):
                    _link(net, job.place / net.name)
        else:
            _make_macsim_folder(job.list, job.traces, job.place)
    said = {"{list}": job.list, "{id}": job.id, "{folder}": job.place, "{out}": job.place / "out"}
    stands_for = re.compile("|".join(map(re.escape, said)))
    return [stands_for.sub(lambda found: str(said[found[0]]), word) for word in words]


def _link_traces(listed: Path, traces: Path) -> None:
    """Put the traces of a list beside it, where Accel-Sim looks for them: links, or unpacked."""
    for name in listed.read_text(encoding="utf-8").split("\n"):
        beside, source = listed.parent / name, traces / name
        packed = source.with_name(f"{name}.gz")
        if not name.startswith("kernel") or beside.exists():
            continue
        if source.exists():
            _link(source, beside)
        elif packed.exists():
            part = beside.with_name(f"{name}.part")
            with gzip.open(packed) as stream, part.open("wb") as unpacked:
                shutil.copyfileobj(stream, unpacked)
            part.replace(beside)
        else:
            raise ProfileError(f"{name} is not there", path=traces, remedy="give the folder of the traces")


def _make_macsim_folder(listed: Path, traces: Path, place: Path) -> None:
    """Make the folder that MacSim runs in: links to the traces of a list, and the parameters of this one."""
    parameters = Path("params.in").absolute()
    if not parameters.is_file():
        raise OptionError(
            "MacSim takes its parameters from params.in, which is not in this folder",
            remedy="go to the folder of the params.in to simulate",
        )
    _link(parameters, place / "params.in")
    text = listed.read_text(encoding="utf-8")
    for name in set(_PATH.findall(text)):
        _link(traces / name, place / name)
    (place / "kernel_config.txt").write_text(text, encoding="utf-8")
    (place / "trace_file_list").write_text("1\n./kernel_config.txt\n", encoding="utf-8")


def _link(source: Path, link: Path) -> None:
    # Another job may have made it.
    with suppress(FileExistsError):
        link.symlink_to(source)


def take_result(job: Job, to: str) -> None:
    """Read what is on the disk of a job: a finished result, a failure, or how its process ended."""
    failed = job.result.with_suffix(".failed")
    job.is_put_away = job.result.exists() or failed.exists()
    if job.result.exists():
        _read(job, to, job.result)
    elif failed.exists():
        job.failure = failed.read_text(encoding="utf-8").strip() or "it failed"
    elif job.exit.exists():
        code = job.exit.read_text(encoding="utf-8").strip()
        job.failure = "" if code == "0" else _why_failed(job, code)
        if not job.failure:
            _read(job, to, _printed(job, to))


def put_away(job: Job) -> None:
    """Give what came of a job its name among the results."""
    job.is_put_away = True
    job.result.parent.mkdir(exist_ok=True)
    if job.failure:
        job.result.with_suffix(".failed").write_text(f"{job.failure}\n", encoding="utf-8")
    else:
        (job.place / f"run{job.result.suffix}").replace(job.result)


def _printed(job: Job, to: str) -> Path:
    """Return the file of a job's result, before it has its name; of a number make one."""
    printed = job.place / "run.log"
    if to != "csv":
        return printed
    out = job.place / "out"
    words = (out if out.exists() else printed).read_text("utf-8", "replace").split()
    table = printed.with_suffix(".csv")
    table.write_text(f"id,{CYCLES}\n{job.id},{words[-1] if words else ''}\n", encoding="utf-8")
    return table


def _read(job: Job, to: str, path: Path) -> None:
    """Take over a job's result, or why it is none."""
    try:
        with open_input(str(path)) as file:
            measured = read_results(file, (), to)
    except ProfileError as error:
        what = error.message.removeprefix(str(path)).removeprefix(": ")
        job.failure = "it gave no number of cycles" if to == "csv" else what
        return
    drawn = job.ids[job.ids != NOT_WANTED]
    # Kernels that only fill caches may be left out where results are read.
    ids = job.ids if len(measured.number) == len(job.ids) else drawn
    if len(measured.number) != len(ids):
        job.failure = f"{counted(len(measured.number), 'launch', 'launches')} printed of {len(job.ids)}"
        return
    lacking = np.flatnonzero((ids != NOT_WANTED) & ~(measured.metrics[CYCLES] > 0)).tolist()
    if lacking:
        job.failure = measured.missing.get(lacking[0], "it took 0 cycles")
        return
    told = job.caches
    if told and len(ids) < len(job.ids):
        told = tuple(np.array(told)[job.ids != NOT_WANTED].tolist())
    job.measured = replace(measured, number=ids, first_number=None, told=told)


def _why_failed(job: Job, code: str) -> str:
    """Return why a process that did not end well ended, in words."""
    why = f"exit code {code}" if code.lstrip("-").isdigit() else code
    if code == TIMED_OUT:
        why = "it ran past the time limit"
    if code.startswith("-"):
        why = f"ended by {signal.Signals(int(code[1:])).name}"
    tails = []
    for name in ("run.log", "stderr.log"):
        with suppress(OSError), (job.place / name).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _TAIL))
            tails.append(stream.read())
    if tails and b"deadlock detected" in tails[0]:
        why += ", a deadlock"
    last = tails[1].decode("utf-8", "replace").strip().split("\n")[-1] if len(tails) > 1 else ""
    return f"{why}: {shortened(last.strip(), 80)}" if last else why


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
        asked |= {
            each.name: getattr(self.asked.choices, each.name)
            for each in fields(ExportChoices)
            if each.compare
        }
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
        """Return whether the total is within the target, by what is finished."""
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
        """Return the jobs whose processes have ended since the last call, or ran too long, with what came."""
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
        if ended:
            self._refuse_command()
        return ended

    def _refuse_command(self) -> None:
        """Raise AnalysisError where every launch so far failed, which then is not for good."""
        over = [job for job in self.jobs if job.has_ended]
        if len(over) < min(_ALL_FAIL, len(self.jobs)) or any(job.measured for job in over):
            return
        for path in (each for job in over for each in (job.exit, job.result.with_suffix(".failed"))):
            path.unlink(missing_ok=True)
        raise AnalysisError(
            f"the first {counted(len(over), 'launch', 'launches')} failed: {over[0].failure}",
            remedy=f"see run.log and stderr.log in {over[0].place}",
        )

    def tell(self, news: Job | int | None = None) -> None:
        """Report how far the run is."""
        now = Now(
            done=sum(job.measured is not None for job in self.jobs),
            of=len(self.jobs),
            failed=sum(bool(job.failure) for job in self.jobs),
            running=len(self.running),
            total=None if self.found is None else self.found.main,
            seconds_left=self._seconds_left(),
            news=news,
        )
        self.watch(now)

    def _seconds_left(self) -> float | None:
        left = self.left()
        if not self.spent_jobs or not left:
            return None
        left_ns = sum(job.duration_ns for job in left)
        share = left_ns / self.spent_ns if self.spent_ns else len(left) / self.spent_jobs
        return share * self.spent_seconds / min(self.asked.processes, len(left))

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


def _refuse(asked: Asked) -> None:
    if asked.to not in NEEDED:
        raise OptionError(f"nothing runs {asked.to} here", remedy=f"there is {', '.join(NEEDED)}")
    if asked.to == "csv" and asked.choices.cold_check:
        raise OptionError(
            Wording(
                "a command that is told an id runs no launches before it: `cold_check` means nothing here"
            )
        )
    if asked.to != "csv" and asked.choices.traces is None:
        raise OptionError(Wording(f"{asked.to} runs `traces`, and there are none"))
    if asked.target is not None and not asked.plan.is_random:
        raise OptionError(
            "a plan of picked launches has no interval that could hold a target",
            remedy="make one that is drawn, or run it without a target",
        )


@contextmanager
def _begun(asked: Asked, watch: Watch) -> Iterator[_Loop]:
    """Give the run, whose folder is nobody else's meanwhile; no process of it is left behind.

    The folder is kept from any other run for as long as this lasts, however this process ends.
    """
    import fcntl

    _refuse(asked)
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
