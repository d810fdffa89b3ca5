"""A study simulated until its speedups are known well enough: a run for each cell, one lock for all.

A cell is a program on a configuration, and its folder that of an ordinary run. Of the programs that comes
first whose speedups are widest; which of its launches run is said in `program_run`. (docs/methods.md, 15 Two
configurations)
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from sampling.errors import OptionError, ProfileError
from sampling.estimation.given_up import GivenUp
from sampling.estimation.speedup import Speedup
from sampling.parallel import Progress
from sampling.plan.plan_file import PlanFile
from sampling.running.folder import locked_folder, refuse_command
from sampling.running.job import Job
from sampling.running.local import LocalProcesses
from sampling.running.program_run import CellFailure, CellGivenUp, ProgramRun
from sampling.running.request import RunRequest, command_words, split_caches
from sampling.running.slurm import NO_ARRAY, JobArray, make_array, refuse_line_breaks
from sampling.simulators.export import FILLED, ExportChoices
from sampling.simulators.registry import find_exporter, find_run_rules
from sampling.study.comparison import ProgramComparison, StudySpeedups, compare_study
from sampling.study.plans import first_plan
from sampling.study.study_file import Study


@dataclass(frozen=True)
class StudyRunRequest:
    """What is to be run: the programs of a study that name no results of their own."""

    study: Study
    processes: int = 1  #: how many run at once
    timeout_seconds: float | None = None  #: what takes longer counts as failed
    caches: str | None = None  #: what launches find in the caches of all cells, as of `ExportChoices`
    progress: Progress | None = None  #: of reading profiles and traces


class CellNews(NamedTuple):
    """What just happened: a launch that ended, a kernel that was given up, or by how many a plan grew."""

    program: str
    configuration: str | None  #: None: all of them
    event: Job | GivenUp | int


class StudyProgress(NamedTuple):
    """How far a run of a study is."""

    cells_done: int
    cells: int
    #: The program whose speedup is widest, and that speedup; None where there is none yet.
    widest: tuple[str, Speedup] | None
    measured: int  #: launches, over all cells
    launches: int  #: in all, of what is wanted by now
    failed: int
    running: int
    seconds_left: float | None  #: until all that is drawn by now is simulated; None where nothing tells
    news: CellNews | None = None


class StudyRunResult(NamedTuple):
    """What the run of a study came to."""

    speedups: StudySpeedups
    failed: tuple[CellFailure, ...]
    given_up: tuple[CellGivenUp, ...]
    #: Why nothing more can be drawn of a program, where more was wanted.
    why_no_more: Mapping[str, str]
    job_array: JobArray

    @property
    def is_waiting(self) -> bool:
        """Whether launches are left to a job array."""
        return self.job_array != NO_ARRAY


StudyWatch = Callable[[StudyProgress], None]


def run_study(request: StudyRunRequest, watch: StudyWatch) -> StudyRunResult:
    """Simulate until every speedup is within the study's target; without one, all that the plans draw.

    Raises OptionError: a command cannot be run, another run has a folder, or it is of another plan or
    command; ProfileError: the study, a plan, a profile or traces lack something; AnalysisError: the first
    launches on a configuration all fail.
    """
    with StudyRun(request, watch).opened() as study_run:
        study_run.run()
        return study_run.result()


def write_study_array(request: StudyRunRequest, watch: StudyWatch) -> StudyRunResult:
    """Take what a job array left, and write one for the launches that come next; run nothing.

    Raises what `run_study` raises; OptionError too where a line of the array would be two.
    """
    study_run, folder = StudyRun(request, watch), request.study.run_folder
    refuse_line_breaks({"folder": str(folder), "command": " ".join(study_run.words)})
    with study_run.opened():
        study_run.draw()
        tasks = [(job, program.cells[name].request.words) for program, name, job in study_run.queue()]
        return study_run.result(make_array(folder, tasks, request.processes, request.timeout_seconds))


class StudyRun:
    """A run of a study in its folder."""

    def __init__(self, request: StudyRunRequest, watch: StudyWatch) -> None:
        self.request, self.watch = request, watch
        self.processes = LocalProcesses(request.timeout_seconds)
        self.programs: list[ProgramRun] = []
        self._others: dict[str, ProgramComparison] = {}
        self.names = [name for name, entry in request.study.programs.items() if entry.results is None]
        # What the file lacks is said before a folder is made.
        self._check_file()
        #: Of all commands.
        self.words = [word for name in request.study.configurations for word in self._command_words(name)]

    def _check_file(self) -> None:
        """Raise ProfileError where the study lacks what a run takes, or says what means nothing."""
        study = self.request.study

        def refuse(message: str, key: str, remedy: str) -> ProfileError:
            return ProfileError(message, path=study.path, key=key, remedy=remedy)

        if not self.names:
            message = "every program names results, so nothing is to be simulated"
            remedy = f"compare them: `kernelpoint speedup {study.path}`, or leave out `results` of one"
            raise refuse(message, "programs", remedy)
        for cell, configuration in study.configurations.items():
            tool, key = configuration.to, f"configurations.{cell}"
            find_run_rules(tool)
            takes = find_exporter(tool).takes
            if configuration.simulator is None:
                raise refuse("how launches are simulated is not said", key, "give its `simulator`")
            if configuration.config is not None and "config" not in takes:
                remedy = "leave it out; what differs is said in its command line"
                raise refuse(f"it means nothing to {tool}", f"{key}.config", remedy)
            for name in self.names:
                if "traces" in takes and study.programs[name].traces is None:
                    message = f"{tool} runs traces, and there are none"
                    raise refuse(message, f"programs.{name}", "give its `traces`")

    def _command_words(self, name: str) -> tuple[str, ...]:
        """Return the words of a configuration's command line; ProfileError where it cannot be run."""
        study = self.request.study
        configuration, key = study.configurations[name], f"configurations.{name}"
        try:
            return command_words(configuration.simulator or "", configuration.to, study.folder)
        except OptionError as error:
            raise ProfileError(error.message, path=study.path, key=key, remedy=error.remedy) from error

    def _cell_request(self, program: str, name: str, plan: PlanFile) -> RunRequest:
        """Return what is to be run of a cell; OptionError or ProfileError where it cannot be."""
        study = self.request.study
        configuration, takes = study.configurations[name], find_exporter(study.configurations[name].to).takes
        traces = study.place(study.programs[program].traces) if "traces" in takes else None
        caches, caches_of_command = split_caches(configuration.to, self.request.caches)
        is_filled = traces is not None and caches in {None, *FILLED}
        choices = ExportChoices(
            traces=traces,
            caches=caches,
            config=study.place(configuration.config) if is_filled else None,
            progress=self.request.progress,
        )
        request = RunRequest(
            plan,
            study.cell_folder(program, name),
            configuration.to,
            configuration.simulator or "",
            choices=choices,
            caches_of_command=caches_of_command,
            speedup_target=study.settings.target,
            paths_from=study.folder,
        )
        request.check()
        return request

    def _program_run(self, name: str) -> ProgramRun:
        """Return the run of a program, whose plan is made if it has none yet."""
        study = self.request.study
        plan = first_plan(study, name, self.request.progress)
        requests = {cell: self._cell_request(name, cell, plan) for cell in study.configurations}
        # Intervals of all programs are as sure as those of the first.
        confidence = self.programs[0].confidence if self.programs else plan.options.confidence
        return ProgramRun(name, requests, study.settings, confidence)

    def _compare_others(self) -> dict[str, ProgramComparison]:
        """Return the programs that name results of their own, by their names."""
        study = self.request.study
        others = {name: entry for name, entry in study.programs.items() if entry.results is not None}
        compared = compare_study(replace(study, programs=others), confidence=self.programs[0].confidence)
        return {program.name: program for program in compared.programs}

    @contextmanager
    def opened(self) -> Iterator[StudyRun]:
        """Go on from the folder, which is nobody else's meanwhile; no process is left behind."""
        folder = self.request.study.run_folder
        with ExitStack() as stack:
            # No program is called so.
            stack.enter_context(locked_folder(folder, ".lock"))
            try:
                for name in self.names:
                    self.programs.append(self._program_run(name))
            except Exception:
                if len(list(folder.iterdir())) == 1:
                    shutil.rmtree(folder, ignore_errors=True)
                raise
            # What is wrong with them is said before anything runs.
            self._others = self._compare_others()
            for program in self.programs:
                program.open(stack)
            try:
                yield self
            finally:
                self.processes.end()

    def run(self) -> None:
        """Simulate and draw more until every speedup is within the target, or nothing more can be drawn."""
        # Whose launch each is that runs.
        owners: dict[Job, tuple[ProgramRun, str]] = {}
        while True:
            self.draw()
            for program, name, job in self.queue()[: self.request.processes - len(self.processes)]:
                self.processes.start(job, job.shell_line(program.cells[name].request.words))
                owners[job] = program, name
                self._report()
            if all(program.is_over for program in self.programs):
                return
            jobs = self.processes.collect(self.request.study.run_folder)
            self._refuse_commands()
            cells = {job: owners.pop(job) for job in jobs}
            given_up_before = {cell.key for cell in self._given_up()}
            for program in dict.fromkeys(program for program, _ in cells.values()):
                program.compare()
            for job, (program, name) in cells.items():
                self._report(CellNews(program.name, name, job) if job.has_ended else None)
            for cell in self._given_up():
                if cell.key not in given_up_before:
                    self._report(CellNews(cell.program, cell.configuration, cell.kernel))

    def draw(self) -> None:
        """Draw more for programs that have nothing left to run and are not known well enough."""
        for program in self.programs:
            for added in program.draw():
                self._report(CellNews(program.name, None, added))

    def queue(self) -> list[tuple[ProgramRun, str, Job]]:
        """Return the launches that may run now and do not, what narrows the widest speedup first."""
        programs = sorted(self.programs, key=lambda program: -program.half_width)
        return [
            (program, name, job)
            for program in programs
            for name, job in program.ready_launches()
            if job not in self.processes
        ]

    def _given_up(self) -> tuple[CellGivenUp, ...]:
        """Return what is given up by now."""
        return tuple(
            CellGivenUp(program.name, name, kernel)
            for program in self.programs
            for name, kernels in program.given_up.items()
            for kernel in kernels
        )

    def _refuse_commands(self) -> None:
        """Raise AnalysisError where no launch of the first few kernels ran on a configuration."""
        for name in self.request.study.configurations:
            refuse_command([program.cells[name] for program in self.programs], f" on {name}")

    def _report(self, news: CellNews | None = None) -> None:
        """Report how far the run is."""
        jobs = [job for program in self.programs for cell in program.cells.values() for job in cell.jobs]
        remaining = [job for program in self.programs for _, job in program.remaining_launches()]
        contrasts = [
            (program.name, contrast)
            for program in self.programs
            for contrast in (() if program.speedups is None else program.speedups.speedups)
            if not math.isnan(contrast.half_width)
        ]
        progress = StudyProgress(
            cells_done=sum(program.cells_done for program in self.programs),
            cells=sum(len(program.cells) for program in self.programs),
            widest=max(contrasts, key=lambda row: row[1].half_width, default=None),
            measured=sum(job.measured is not None for job in jobs),
            launches=sum(job.has_ended for job in jobs) + len(remaining),
            failed=sum(bool(job.failure) for job in jobs),
            running=len(self.processes),
            seconds_left=self.processes.seconds_left(remaining),
            news=news,
        )
        self.watch(progress)

    def result(self, job_array: JobArray = NO_ARRAY) -> StudyRunResult:
        """Return what the run came to, with the programs that name results of their own."""
        study, runs = self.request.study, {program.name: program for program in self.programs}
        confidence = self.programs[0].confidence
        comparisons = tuple(
            runs[name].comparison() if name in runs else self._others[name] for name in study.programs
        )
        return StudyRunResult(
            StudySpeedups(tuple(study.configurations), comparisons, study.settings.same_within, confidence),
            tuple(failure for program in self.programs for failure in program.failures()),
            self._given_up(),
            {program.name: program.why_no_more for program in self.programs if program.why_no_more},
            job_array,
        )
