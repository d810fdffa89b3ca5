"""A plan simulated until its total is known well enough: handed over, run, estimated, topped up, and so on.

A kernel that the simulator never runs is given up, `estimation.given_up`. What is finished is in the run's
folder. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, NoMetricError, PlanFileError
from sampling.estimation.given_up import GivenUp, estimate_rest, without
from sampling.estimation.sizes import next_sizes, sampling_left
from sampling.estimation.top_up import enlarged
from sampling.estimation.total import PlanEstimate, build_sample, estimate_plan
from sampling.running.folder import RunFolder, refuse_command
from sampling.running.job import Job
from sampling.running.local import LocalProcesses
from sampling.running.request import FailedLaunch, RunProgress, RunRequest, RunResult, Watch
from sampling.simulators.results import join_results


def run(request: RunRequest, watch: Watch) -> RunResult:
    """Simulate the plan's launches until the target holds, and more than the plan's if it takes more.

    Raises OptionError: the command cannot be run, another run has the folder, or it is of another plan or
    command; AnalysisError: the first launches all fail; ProfileError: traces or results are of others.
    """
    request.check()
    with Loop(request, watch).opened() as loop:
        loop.run()
        return loop.result()


class Loop:
    """A run in its folder."""

    def __init__(self, request: RunRequest, watch: Watch) -> None:
        # What is no command is refused before a folder is made.
        self.words = request.words
        self.request, self.watch, self.folder = request, watch, RunFolder(request)
        self.processes = LocalProcesses(request.timeout_seconds)
        self.estimate: PlanEstimate | None = None
        self.given_up: tuple[GivenUp, ...] = ()
        self.why_no_more = ""
        # How many results of this round are in the estimate.
        self._estimated = 0

    @contextmanager
    def opened(self) -> Iterator[Loop]:
        """Go on from the folder, which is nobody else's meanwhile; no process is left behind."""
        with self.folder.locked():
            was_there = self.folder.open()
            if was_there and not self.is_met() and self.pending():
                self.folder.check_growth(self.folder.plan)
            try:
                yield self
            finally:
                self.processes.end()

    def run(self) -> None:
        """Simulate and draw more until the target holds, or nothing more can be drawn."""
        while not self.is_met():
            self.simulate()
            if self.is_met() or not self.grow():
                break

    def is_met(self) -> bool:
        """Take the results that are finished, estimate, and return whether the total is within the target."""
        given_up, self.given_up = self.given_up, self.folder.find_given_up()
        runs = self.folder.take_results()
        if len(runs) > self._estimated or (runs and given_up != self.given_up):
            self._estimated = len(runs)
            plan = self.folder.plan
            results = join_results(plan, runs, self.folder.manifests)
            # The first launches may be of layers that are not whole yet.
            with suppress(NoMetricError):
                rest = estimate_plan(without(plan, self.given_up), results)
                self.estimate = estimate_rest(rest, plan, self.given_up, self.request.assume_like)
        target, estimate = self.request.target, self.estimate
        if target is None or estimate is None or any(job.is_check for job in self.pending()):
            return False
        return estimate.main.is_within(target)

    def pending(self) -> list[Job]:
        """Return the jobs that have not ended, those that run included, but for what is given up."""
        gone = frozenset().union(*(kernel.strata for kernel in self.given_up))
        return [
            job
            for job in self.folder.jobs
            if not job.has_ended and (job in self.processes or not job.drawn_from <= gone)
        ]

    def simulate(self) -> None:
        """Run the pending jobs until the target holds; AnalysisError where all fail from the start."""
        queue = self.pending()
        while queue or self.processes:
            while queue and len(self.processes) < self.request.processes:
                job = queue.pop(self._next_index(queue))
                self.processes.start(job, job.shell_line(self.words))
                self._report()
            jobs = self.processes.collect(self.folder.path)
            refuse_command([self.folder])
            failed_before = {launch_id for kernel in self.given_up for launch_id in kernel.failed}
            is_met = self.is_met()
            # Without what is given up, and with what was cut off.
            queue = [job for job in self.pending() if job not in self.processes]
            for job in jobs:
                self._report(job if job.has_ended else None)
            for kernel in self.given_up:
                if not failed_before & set(kernel.failed):
                    self._report(kernel)
            if is_met:
                return

    def _next_index(self, queue: Sequence[Job]) -> int:
        """Return the place of the job to run next: as long as all fail, of a kernel that was not tried."""
        tried_jobs = [job for job in self.folder.jobs if job.has_ended]
        if not tried_jobs or any(job.measured is not None for job in tried_jobs):
            return 0
        tried = self.folder.kernels([*tried_jobs, *self.processes])
        return next((index for index, job in enumerate(queue) if not self.folder.kernels([job]) <= tried), 0)

    def _report(self, news: Job | GivenUp | int | None = None) -> None:
        """Report how far the run is."""
        jobs, pending = self.folder.jobs, self.pending()
        progress = RunProgress(
            measured=sum(job.measured is not None for job in jobs),
            launches=sum(job.has_ended for job in jobs) + len(pending),
            failed=sum(bool(job.failure) for job in jobs),
            running=len(self.processes),
            total=None if self.estimate is None else self.estimate.main,
            seconds_left=self.processes.seconds_left(pending),
            news=news,
        )
        self.watch(progress)

    def grow(self) -> bool:
        """Draw what is missing to the target, and another for each that failed; return whether any is."""
        plan = self.folder.plan
        if not plan.is_random:
            return False
        drawn_sizes = np.array([stratum.units[1] for stratum in plan.strata])
        sizes = self._sizes_to_draw(drawn_sizes)
        if not (sizes > drawn_sizes).any():
            return False
        everything = frozenset(launch.id for launch in plan.drawn)
        try:
            larger = enlarged(
                self.folder.with_path(plan),
                sizes,
                self.request.target,
                everything,
                self.request.choices.progress,
            )
            self.folder.grow(larger.text)
        except (PlanFileError, AnalysisError) as error:
            # What is known by now is not lost.
            self.why_no_more = error.text
            return False
        self._estimated = 0
        self._report(larger.added)
        return True

    def _sizes_to_draw(self, drawn_sizes: IntArray) -> IntArray:
        """Return (k,) how many launches, or layers, of each stratum are to be drawn, with those drawn."""
        target, estimate = self.request.target, self.estimate
        size = np.array([stratum.units[0] for stratum in self.folder.plan.strata])
        planned = np.array([stratum.units[1] for stratum in self.folder.first_plan.strata])
        is_gone = np.zeros(len(size), dtype=np.bool_)
        is_gone[[stratum for kernel in self.given_up for stratum in kernel.strata]] = True
        needed = planned.copy()
        if estimate is not None and target is not None:
            sample = replace(build_sample(estimate.plan, estimate.results), planned=planned[~is_gone])
            if left := sampling_left(target, estimate.beside_sampling):
                # Of what was simulated, which is less than a total that assumes something.
                left *= estimate.main.total / float(estimate.main.stratum_total.sum())
                needed[~is_gone] = next_sizes(sample, estimate.main.metric, left, estimate.main.confidence)
        failed = np.zeros(len(size), dtype=np.int64)
        for job in self.folder.jobs:
            failed[list(job.strata)] += bool(job.failure)
        return np.where(is_gone, drawn_sizes, np.maximum(drawn_sizes, np.minimum(needed + failed, size)))

    def result(
        self, job_array: tuple[Path, int] | None = None, begun_folders: tuple[Path, ...] = ()
    ) -> RunResult:
        """Return what the run came to; AnalysisError where no launch has a result and none is left to run."""
        if self.estimate is None and job_array is None and not begun_folders:
            reason = next((job.failure for job in self.folder.jobs if job.failure), "nothing was run")
            raise AnalysisError(
                f"no launch has a result: {reason}", remedy=f"see the logs in {self.folder.path}"
            )
        failed = tuple(self._failed_launches())
        return RunResult(self.estimate, failed, job_array, begun_folders, self.given_up, self.why_no_more)

    def _failed_launches(self) -> Iterator[FailedLaunch]:
        """Yield the launches that failed, each with the one that was drawn of its stratum for it."""
        first = {launch.id for launch in self.folder.first_plan.drawn}
        added = [job for job in self.folder.jobs if job.id not in first]
        for job in (job for job in self.folder.jobs if job.failure):
            instead = next(
                (candidate for candidate in added if candidate.strata & job.strata and candidate is not job),
                None,
            )
            if instead is not None:
                added.remove(instead)
            yield FailedLaunch(job.id, job.failure, None if instead is None else instead.id)
