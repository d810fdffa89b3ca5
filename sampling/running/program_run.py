"""A program of a study simulated on all configurations: which launches run next, when they are enough.

All configurations run the launches of one plan, the most informative first, a launch on every configuration
before the next. Until it is within the target itself the base runs alone: compared with itself, K = 0 in
`estimation.speedup`, it tells how many launches any comparison takes at least. A comparison within the target
needs no more; where one is not when all its launches have run, the plan grows by a round. (docs/methods.md,
15 Two configurations)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, NoMetricError, OptionError, PlanFileError
from sampling.estimation.configurations import PlanSpeedups, compare_configurations
from sampling.estimation.given_up import GivenUp
from sampling.estimation.interval import Sample
from sampling.estimation.speedup import Speedup, next_sizes, speedup
from sampling.estimation.top_up import enlarged, read_original
from sampling.estimation.total import build_sample
from sampling.plan.plan_file import IN_FOLDER, PlanFile
from sampling.running.folder import RunFolder
from sampling.running.job import Job
from sampling.running.request import RunRequest
from sampling.simulators.measured_run import CYCLES
from sampling.simulators.results import SimulatedLaunches, join_results
from sampling.study.comparison import ProgramComparison
from sampling.study.study_file import Settings

_NO_RESULT = "no launch has a result there and on the base"


class CellFailure(NamedTuple):
    """A launch that failed on a configuration, and so left its comparison, and why."""

    program: str
    configuration: str
    id: int
    why: str


class CellGivenUp(NamedTuple):
    """A kernel that the simulator never runs on a configuration."""

    program: str
    configuration: str
    kernel: GivenUp

    @property
    def key(self) -> tuple[str, str, str, frozenset[int]]:
        """What stays the same when more of its launches fail."""
        return self.program, self.configuration, self.kernel.launch.name, self.kernel.strata


class ProgramRun:
    """A program of a study: a folder of a run for each configuration, the base first, with one plan."""

    def __init__(
        self, name: str, requests: Mapping[str, RunRequest], settings: Settings, confidence: float
    ) -> None:
        self.name, self.settings, self.confidence = name, settings, confidence
        self.cells = {configuration: RunFolder(request) for configuration, request in requests.items()}
        self.base, *self.others = self.cells
        self.speedups: PlanSpeedups | None = None
        # Why nothing is compared, and why nothing more can be drawn where more was wanted.
        self.why_none = self.why_no_more = ""
        self.given_up: dict[str, tuple[GivenUp, ...]] = {}
        # Whether the base has told how many launches a comparison takes, and whether no more can be drawn.
        self._is_sized, self._is_drawn = settings.target is None, False
        # The results of each configuration; how many of the plan's launches they are, and how many it has.
        self._results: dict[str, SimulatedLaunches] = {}
        self._counts: dict[str, tuple[int, int]] = {}

    @property
    def plan(self) -> PlanFile:
        """The plan of all configurations, as large as it is by now."""
        return self.cells[self.base].plan

    @property
    def is_over(self) -> bool:
        """Whether no launch is wanted any more."""
        return not self.open_cells()

    @property
    def cells_done(self) -> int:
        """How many configurations need no more launches, for all that is known by now."""
        names = {name for name, _ in self.remaining_launches()}
        return len(self.cells) - len(names if self.settings.target is None else self.open_cells())

    def open(self, stack: ExitStack) -> None:
        """Go on from the folders, which are nobody else's meanwhile; one that lags behind catches up.

        Raises OptionError where their plans differ; PlanFileError where a target may take more launches, and
        the profile is not found.
        """
        for cell in self.cells.values():
            stack.enter_context(cell.locked())
            cell.open()
        largest = max(self.cells.values(), key=lambda cell: cell.rounds)
        for cell in self.cells.values():
            while cell.rounds < largest.rounds:
                path = largest.path / "rounds" / str(cell.rounds + 1) / IN_FOLDER
                cell.grow(path.read_text(encoding="utf-8"))
            if cell.plan.drawn != largest.plan.drawn:
                wrong = f"{cell.path} and {largest.path} are runs of different plans"
                raise OptionError(wrong, remedy="remove one of the folders")
        self.compare()
        if self.settings.target is not None and not self.is_over:
            cell = self.cells[self.base]
            read_original(cell.with_path(cell.plan), cell.request.choices.progress)

    def compare(self) -> None:
        """Take the results that are finished, and compare the configurations that have any."""
        failed_ids = self._failed_ids()
        self.given_up = {name: cell.find_given_up() for name, cell in self.cells.items()}
        counts_before = dict(self._counts)
        for name, cell in self.cells.items():
            runs = cell.take_results(failed_ids)
            counts = len(runs), len(self.plan.drawn)
            if runs and counts != counts_before.get(name):
                self._counts[name] = counts
                self._results[name] = join_results(self.plan, runs, cell.manifests)
        if self._counts == counts_before or self.base not in self._results:
            return
        base_ids = self._results[self.base].ids
        results = {
            name: self._results[name]
            for name in self.cells
            if name in self._results and np.isin(self._results[name].ids, base_ids).any()
        }
        self.speedups, self.why_none = None, ""
        if len(results) > 1:
            try:
                self.speedups = compare_configurations(
                    self.plan,
                    results,
                    files={name: [str(self.cells[name].path)] for name in results},
                    same_within=self.settings.same_within,
                    confidence=self.confidence,
                )
            except AnalysisError as error:
                self.why_none = error.text
        target = self.settings.target
        if target is not None and not self._is_sized and (base := self._base_contrast()) is not None:
            self._is_sized = base[1].half_width <= target

    def _base_contrast(self) -> tuple[Sample, Speedup] | None:
        """Return the base compared with itself, and the launches that it has run; None while it has none."""
        if self.base not in self._results:
            return None
        sample = build_sample(self.plan, self._results[self.base])
        try:
            return sample, speedup(sample, CYCLES, CYCLES, self.confidence)
        except NoMetricError:
            # The first launches are of layers that are not whole yet.
            return None

    def contrast(self, name: str) -> Speedup | None:
        """Return the speedup of a configuration over the base; None where it has none yet."""
        speedups = () if self.speedups is None else self.speedups.speedups
        return next((contrast for contrast in speedups if contrast.name == name), None)

    def open_cells(self) -> list[str]:
        """Return the configurations whose launches are wanted: of open comparisons, and the base of any."""
        if self._is_drawn:
            return []
        names = [name for name in self.others if self._is_open(name)]
        return [self.base, *names] if names else []

    def _is_open(self, name: str) -> bool:
        # A stratum that one of two never runs leaves no speedup.
        if any(kernel.strata for cell in (self.base, name) for kernel in self.given_up.get(cell, ())):
            return False
        contrast, target = self.contrast(name), self.settings.target
        return target is None or contrast is None or not contrast.half_width <= target

    @property
    def half_width(self) -> float:
        """The widest of the open speedups; infinite where one is not known."""
        contrasts = [self.contrast(name) for name in self.open_cells()[1:]]
        widths = [math.nan if contrast is None else contrast.half_width for contrast in contrasts]
        return max((math.inf if math.isnan(width) else width for width in widths), default=0.0)

    def remaining_launches(self) -> list[tuple[str, Job]]:
        """Return the wanted launches that have not ended, by configuration, in the order in which they run.

        What failed on the base is compared with nothing, and left out on the others.
        """
        names, failed_ids = self.open_cells(), self._failed_ids()
        rows = zip_longest(*(self.cells[name].jobs for name in names))
        return [
            (name, job)
            for row in rows
            for name, job in zip(names, row, strict=True)
            if job is not None and not job.has_ended and job.id not in failed_ids
        ]

    def ready_launches(self) -> list[tuple[str, Job]]:
        """Return those of them that may run by now: the base alone until it has told what it takes."""
        return [(name, job) for name, job in self.remaining_launches() if self._is_sized or name == self.base]

    def _failed_ids(self) -> frozenset[int]:
        return frozenset(job.id for job in self.cells[self.base].jobs if job.failure)

    def draw(self) -> Iterator[int]:
        """Draw more while nothing is left to run and more is wanted; yield how many launches each time."""
        while not self.is_over and not self.ready_launches():
            if added := self._grow(self._sizes()):
                yield added
            elif self._is_sized:
                self._is_drawn = True
            else:
                self._is_sized = True

    def _sizes(self) -> IntArray:
        """Return (s,) how many launches of each stratum an open comparison takes, beside those that fail."""
        strata = self.plan.strata
        size = np.array([stratum.units[0] for stratum in strata])
        planned = np.array([stratum.units[1] for stratum in self.cells[self.base].first_plan.strata])
        sizes = np.array([stratum.units[1] for stratum in strata])
        for name in self.open_cells()[1:] if self._is_sized else [self.base]:
            needed = self._needed(name, planned)
            jobs = [job for cell in {self.base, name} for job in self.cells[cell].jobs if job.failure]
            for job_strata in {job.id: list(job.strata) for job in jobs}.values():
                needed[job_strata] += 1
            sizes = np.maximum(sizes, np.minimum(needed, size))
        return np.asarray(sizes)

    def _needed(self, name: str, planned: IntArray) -> IntArray:
        """Return (s,) how many results of each stratum a comparison with the base takes, one round on."""
        target = self.settings.target
        sizes: IntArray | None = None
        if target is not None and name == self.base and (base := self._base_contrast()) is not None:
            sample, contrast = base
            if contrast.half_width > target:
                sample = replace(sample, planned=planned)
                sizes = next_sizes(sample, CYCLES, CYCLES, target, self.confidence)
        elif self.speedups is not None and (open_contrast := self.contrast(name)) is not None:
            goal = None if target is None else self.speedups.goal(open_contrast, target)
            speedups = replace(self.speedups, sample=replace(self.speedups.sample, planned=planned))
            sizes = None if goal is None else speedups.sizes(open_contrast, goal)
        return planned.copy() if sizes is None else sizes

    def _grow(self, sizes: IntArray) -> int:
        """Draw what is missing to some sizes, the same for all configurations; return how many launches."""
        cell, plan, target = self.cells[self.base], self.plan, self.settings.target
        if not plan.is_random or not (sizes > [stratum.units[1] for stratum in plan.strata]).any():
            return 0
        drawn_ids = frozenset(launch.id for launch in plan.drawn)
        progress = cell.request.choices.progress
        try:
            larger = enlarged(cell.with_path(plan), sizes, None, drawn_ids, progress, speedup_epsilon=target)
            for cell in self.cells.values():
                cell.grow(larger.text)
        except (PlanFileError, AnalysisError) as error:
            # What is known by now is not lost.
            self.why_no_more = error.text
            return 0
        self.compare()
        return larger.added

    def failures(self) -> Iterator[CellFailure]:
        """Yield the launches that failed, but for those of kernels that are given up."""
        for name, cell in self.cells.items():
            gone = {launch_id for kernel in self.given_up[name] for launch_id in kernel.failed}
            for job in cell.jobs:
                if job.failure and job.id not in gone:
                    yield CellFailure(self.name, name, job.id, job.failure)

    def comparison(self) -> ProgramComparison:
        """Return what the program comes to by now."""
        compared = () if self.speedups is None else self.speedups.by_name
        missing = {name: self.why_none or _NO_RESULT for name in self.cells if name not in compared}
        return ProgramComparison(self.name, self.plan, self.speedups, missing)
