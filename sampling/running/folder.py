"""The folder of a run: all that is known of it, so that a run that was stopped goes on by being called again.

``run.json`` says what is run how; ``plan.json`` is the plan as large as it is by now; ``rounds/N`` is what
was exported of it each time; ``launches/ID``, where the process of a launch works, has ``exit`` once it has
ended; ``results/launch-ID.log`` (or ``.csv``), or ``.failed`` with the reason, is what came of it.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.estimation.given_up import GivenUp, kernels_given_up
from sampling.estimation.top_up import read_original
from sampling.plan.plan_file import IN_FOLDER, PlanFile, PlannedLaunch, ToppedUp, read_plan
from sampling.readers.input_file import open_input
from sampling.running.job import Job, write_whole
from sampling.running.processes import end_left
from sampling.running.request import RunRequest
from sampling.simulators.export import ExportChoices, informative_order
from sampling.simulators.manifest import Manifest, manifests_in, read_manifest
from sampling.simulators.measured_run import MeasuredRun
from sampling.simulators.registry import exported_folder, find_exporter, find_run_rules
from sampling.simulators.results import NOT_WANTED
from sampling.text import counted

#: So many launches, of as many kernels, that fail before one succeeds are the command's fault, not theirs
_ALL_FAIL = 3
#: The larger plan whose launches cannot be exported yet
_MORE = "more.json"


@contextmanager
def locked_folder(path: Path, name: str = "lock") -> Iterator[None]:
    """Make a folder, which is nobody else's meanwhile; OptionError where another run is at work there.

    ``name``: of the file that is locked.
    """
    import fcntl

    path.mkdir(parents=True, exist_ok=True)
    # The lock holds for as long as this lasts, however this process ends.
    with (path / name).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            wrong = f"another run is at work in {path}"
            raise OptionError(wrong, remedy="wait for it, or give another folder") from error
        yield


class _Drawn(NamedTuple):
    """A launch of a round."""

    rank: int  #: its place in the order in which launches are best simulated
    stratum: int
    launch: PlannedLaunch


class _Task(NamedTuple):
    """What one process is to simulate, (n,) launches in their order."""

    ids: IntArray  #: `NOT_WANTED` for those that count for nothing
    caches: tuple[str, ...]
    launch_list: Path | None  #: what the simulator is given; None where it is told an id


class RunFolder:
    """A run, as its folder has it: the plan by now, and a job for each process that simulates it."""

    def __init__(self, request: RunRequest) -> None:
        self.request, self.path = request, request.folder.absolute()
        self.rules = find_run_rules(request.simulator)
        self.plan = self.first_plan = request.plan
        self.jobs: list[Job] = []
        self.manifests: list[Manifest] = []
        #: How often the plan was exported, the first time and each time it grew.
        self.rounds = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, which is nobody else's meanwhile, and end what an earlier run left at work in it.

        Raises OptionError where another run is at work there.
        """
        with locked_folder(self.path):
            end_left((self.path / "launches").glob("*"))
            yield

    def open(self) -> bool:
        """Take over what is in the folder; export the plan where nothing is. Return whether anything was.

        Raises OptionError where it is of another plan or command, or of no run.
        """
        plan, settings = self.request.plan, self._settings_text()
        path = self.path / "run.json"
        was_there = path.exists()
        if not was_there:
            self._begin(settings)
        self.first_plan = read_plan(str(self.path / "rounds" / "1"))
        recorded, requested = (
            (plan_file.options, plan_file.profile.files, plan_file.drawn)
            for plan_file in (self.first_plan, plan)
        )
        if path.read_text("utf-8", "replace") != settings or recorded != requested:
            raise OptionError(
                f"{self.path} is a run of another plan or command: results of both would be mixed",
                remedy="give another folder, or remove this one",
            )
        for round_path in sorted((self.path / "rounds").glob("*[0-9]"), key=lambda path: int(path.name)):
            self._add_round(round_path)
        return was_there

    def _settings_text(self) -> str:
        """Return ``run.json``: all that results of one run have in common beside the plan."""
        request = self.request
        compared = [choice.name for choice in fields(ExportChoices) if choice.compare]
        settings = {"to": request.simulator, "simulator": shlex.join(request.words)}
        settings |= {name: getattr(request.choices, name) for name in compared}
        return json.dumps(settings, indent=1) + "\n"

    def _begin(self, settings: str) -> None:
        """Make the first round, and what says that this is a run, last."""
        rounds = self.path / "rounds"
        # What a call that was killed has left is made anew, and nothing of anybody else's is touched.
        present = {path.name for path in (*self.path.iterdir(), *rounds.glob("*"))}
        if present - {"lock", rounds.name, "1", "1.part", "run.json.part"}:
            raise OptionError(f"{self.path} is there, and no run", remedy="give another folder")
        try:
            shutil.rmtree(rounds, ignore_errors=True)
            self.check_growth(self.request.plan)
            # What was simulated elsewhere has no result here.
            self._export(structs.replace(self.request.plan, simulated=()).text(), 1)
            write_whole(self.path / "run.json", settings)
        except Exception:
            # After an interruption the folder is there, and what is in it is made anew.
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def check_growth(self, plan: PlanFile) -> None:
        """Raise PlanFileError where a target may need more launches, and the profile is not found."""
        if self.request.target is not None:
            read_original(self.with_path(plan), self.request.choices.progress)

    def with_path(self, plan: PlanFile) -> PlanFile:
        """Return a plan of the folder as if it lay where the plan that was asked for lies."""
        return structs.replace(plan, path=self.request.plan.path)

    def grow(self, text: str) -> None:
        """Export what a larger plan has that the folder's plan has not, and add its jobs.

        Raises AnalysisError where it cannot be exported, as where its launches were not traced: then the
        larger plan is beside the folder's, and its own export records them.
        """
        try:
            path = self._export(text, self.rounds + 1)
        except ProfileError as error:
            more = self.path / _MORE
            write_whole(more, text)
            plan = shlex.quote(str(self.request.folder / _MORE))
            command = f"`kernelpoint export {plan} --to {self.request.simulator} -o more`"
            raise AnalysisError(
                f"{error.path}: {error.reason}", remedy=f"{command} writes what records them"
            ) from error
        (self.path / _MORE).unlink(missing_ok=True)
        self._add_round(path)

    def _export(self, text: str, number: int) -> Path:
        """Hand over what a plan has that was not handed over yet, whole or not at all."""
        simulator, path = self.request.simulator, self.path / "rounds" / str(number)
        part = path.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        write_whole(part / IN_FOLDER, text)
        choices = replace(self.request.choices, apart="apart" in find_exporter(simulator).takes)
        if number > 1:
            # The check is drawn of the plan once, and holds for what is added.
            choices = replace(choices, cold_check=0)
            logs = [job.result for job in self.jobs if job.measured is not None and job.measured.options]
            if logs and logs[0].exists() and "simulator_log" in find_exporter(simulator).takes:
                choices = replace(choices, simulator_log=str(logs[0]))
        for name, content in exported_folder(self.with_path(read_plan(str(part))), simulator, choices):
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            with (part / name).open("wb") as stream:
                if isinstance(content, str):
                    stream.write(content.encode("utf-8", "backslashreplace"))
                else:
                    content(stream)
        part.rename(path)
        return path

    def _add_round(self, path: Path) -> None:
        """Add the jobs of an export, the most informative first, and let the folder's plan be its plan."""
        plan = read_plan(str(path))
        order = enumerate(informative_order(plan.to_simulate()))
        launches = {launch.id: _Drawn(rank, stratum, launch) for rank, (stratum, launch) in order}
        tasks = self._list_tasks(path)
        if self.rules.is_told_ids:
            caches = (self.request.caches_of_command,)
            tasks = [_Task(np.array([launch_id]), caches, None) for launch_id in launches]
        jobs: list[Job] = []
        seen_ids: set[int] = set()
        for task in tasks:
            ids = sorted(
                task.ids[task.ids != NOT_WANTED].tolist(), key=lambda launch_id: launches[launch_id].rank
            )
            # Launches that are there already are run once more, and count for no stratum.
            jobs.append(
                self._job(task, [launches[launch_id] for launch_id in ids], path, is_check=ids[0] in seen_ids)
            )
            seen_ids.update(ids)
        for job in jobs:
            job.read_state()
        self.jobs += sorted(jobs, key=lambda job: (job.is_check, launches[job.id].rank))
        self.rounds += 1
        if targets := self.request.targets:
            # Every result is looked at, so no interval is narrower than what is waited for.
            topped_up = structs.replace(plan.topped_up or ToppedUp(1), **targets)
            plan = structs.replace(plan, topped_up=topped_up)
        self.plan = plan
        write_whole(self.path / IN_FOLDER, plan.text())

    def _list_tasks(self, path: Path) -> list[_Task]:
        """Return what the lists of an export are of; keep its manifests."""
        tasks: list[_Task] = []
        for manifest_path in manifests_in(path):
            with open_input(str(manifest_path)) as file:
                manifest = read_manifest(file)
            self.manifests.append(manifest)
            shards = np.unique(manifest.shard).tolist()
            for shard in shards:
                rows = np.flatnonzero(manifest.shard == shard)
                ids = np.where(manifest.is_warm_up[rows], NOT_WANTED, manifest.id[rows])
                name = self.rules.list_name.format("" if len(shards) == 1 else f"-{shard}")
                caches = tuple(manifest.caches[row] for row in rows)
                tasks.append(_Task(ids, caches, manifest_path.parent / name))
        return tasks

    def _job(self, task: _Task, launches: list[_Drawn], round_path: Path, *, is_check: bool) -> Job:
        """Return the job of a task, which is called by the first of the launches that count."""
        traces = Path(self.request.choices.traces or "").absolute()
        if task.launch_list is not None:
            # Of several processes and devices each has a folder, in the export as among the traces.
            traces /= task.launch_list.parent.relative_to(round_path)
        name = f"{launches[0].launch.id}{'-again' if is_check else ''}"
        ending = "csv" if self.rules.is_told_ids else "log"
        return Job(
            id=launches[0].launch.id,
            simulator=self.request.simulator,
            ids=task.ids,
            drawn_from=frozenset(launch.stratum for launch in launches),
            is_check=is_check,
            duration_ns=sum(entry.launch.duration_ns for entry in launches),
            folder=self.path / "launches" / name,
            result=self.path / "results" / f"launch-{name}.{ending}",
            launch_list=task.launch_list,
            traces=traces,
            caches=task.caches,
            paths_from=self.request.paths_from,
        )

    def take_results(self, left_out: Collection[int] = ()) -> list[MeasuredRun]:
        """Return the results that are finished, in the order of their strata, and give them their names.

        Of launches that run at once the short ones end first: taken as they come, those of a stratum would
        be no random sample of it. So each waits for those before it in its stratum.

        Parameters
        ----------
        left_out : the ids of launches that will not be run, and are not waited for.
        """
        waited_for: set[int] = set()
        runs: list[MeasuredRun] = []
        for job in self.jobs:
            if not job.has_ended or job.strata & waited_for:
                waited_for |= frozenset() if job.id in left_out else job.strata
                continue
            job.put_away()
            if job.measured is not None:
                runs.append(job.measured)
        return runs

    def find_given_up(self) -> tuple[GivenUp, ...]:
        """Return the kernels that the simulator never runs, by what has ended."""
        failed = [job for job in self.jobs if job.failure and not job.is_check]
        failures = {launch_id: job.failure for job in failed for launch_id in job.drawn_ids}
        runs = [job.measured for job in self.jobs if job.measured is not None]
        measured = {launch_id for run in runs for launch_id in run.number.tolist()}
        return kernels_given_up(self.plan, failures, measured)

    def kernels(self, jobs: Iterable[Job]) -> set[str]:
        """Return the keys of the strata whose launches some of its jobs are."""
        return {self.plan.strata[stratum].key for job in jobs for stratum in job.drawn_from}


def refuse_command(folders: Sequence[RunFolder], place: str = "") -> None:
    """Raise AnalysisError where no launch of the first few kernels of a command's runs ran.

    It is not the kernels, then. ``place``: which command, in words.
    """
    tried_jobs, available, tried_kernels, kernels = list[Job](), 0, 0, 0
    for folder in folders:
        plan, tried = folder.plan, [job for job in folder.jobs if job.has_ended]
        tried_jobs += tried
        # Others can be drawn in place of few.
        available += sum(stratum.size for stratum in plan.strata) if plan.is_random else len(folder.jobs)
        tried_kernels += len(folder.kernels(tried))
        kernels += len({stratum.key for stratum in plan.strata})
    is_enough = len(tried_jobs) >= min(_ALL_FAIL, available) and tried_kernels >= min(_ALL_FAIL, kernels)
    if is_enough and all(job.failure for job in tried_jobs):
        # Then these have not failed for good.
        for path in (path for job in tried_jobs for path in (job.exit, job.failed)):
            path.unlink(missing_ok=True)
        failures = f"{counted(len(tried_jobs), 'launch', 'launches')}{place} failed"
        raise AnalysisError(
            f"the first {failures}: {tried_jobs[0].failure}",
            remedy=f"see run.log and stderr.log in {tried_jobs[0].folder}",
        )
