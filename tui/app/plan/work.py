"""A worker of the screen that computes what view 3 shows beyond the study, one pane after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from sampling.plan.study import Study
from sampling.progress import Progress
from tui.app.plan.details import PlanDetails, drawn, judged, launches_listed, strata_listed, traded
from tui.app.plan.presenter import PlanPane
from tui.app.planning import CancelledError, throttled
from tui.app.state import Session

_WORKERS = "details"

Job = Callable[[PlanDetails, Progress], Iterator[PlanDetails]]
Steps = Callable[[Progress], Iterator[PlanDetails]]


@dataclass
class DetailsReady(Message):
    """The plan with more of its details computed; None when the worker is done."""

    generation: int
    details: PlanDetails | None


class PlanWork:
    """Has the plan drawn, and what is missing in the panes computed; a worker does one pane at a time.

    Parameters
    ----------
    screen : has the worker, and is sent `DetailsReady`.

    Attributes
    ----------
    pane : the one that is being computed for; None if none is.
    problems : why what a pane shows could not be computed, in words.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._generation = 0
        self.pane: PlanPane | None = None
        self.problems: dict[PlanPane, str] = {}

    def begin(self, session: Session, study: Study, before: PlanDetails | None) -> None:
        """Draw a plan; the details are computed from it."""
        self.problems = {}

        def steps(_: Progress) -> Iterator[PlanDetails]:
            yield drawn(session, study, before)

        self._start(PlanPane.FIGURES, steps)

    def go_on(self, details: PlanDetails, is_in_sight: Callable[[PlanPane], bool]) -> None:
        """Compute the next missing detail of a visible pane, unless one is being computed already."""
        if self.pane is not None and is_in_sight(self.pane):
            return
        self.stop()
        for pane, job in _missing(details):
            if is_in_sight(pane) and pane not in self.problems:
                self._start(pane, partial(job, details))
                return

    def stop(self) -> None:
        """Compute nothing more; what a worker still reports is ignored."""
        self._generation += 1
        self.pane = None
        self._screen.workers.cancel_group(self._screen, _WORKERS)

    def is_stale(self, event: DetailsReady) -> bool:
        """Return whether what a worker tells is no longer wanted."""
        return event.generation != self._generation

    def end(self, problem: str | None = None) -> None:
        """Take note that the worker is done, or why it failed."""
        if self.pane is not None and problem is not None:
            self.problems[self.pane] = problem
        self.pane = None

    def _start(self, pane: PlanPane, steps: Steps) -> None:
        self._generation += 1
        self.pane = pane
        self._screen.run_worker(
            partial(self._run, self._generation, steps),
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group=_WORKERS,
        )

    def _run(self, generation: int, steps: Steps) -> None:
        worker = get_current_worker()
        progress = throttled(lambda *_: None, lambda: worker.is_cancelled)
        try:
            for details in steps(progress):
                self._screen.post_message(DetailsReady(generation, details))
        except CancelledError:
            return
        self._screen.post_message(DetailsReady(generation, None))


def _missing(details: PlanDetails) -> list[tuple[PlanPane, Job]]:
    """Return what is not known yet, for which pane, in the order in which it is to be computed."""
    jobs: list[tuple[PlanPane, bool, Job]] = [
        (PlanPane.STRATA, details.strata is None, strata_listed),
        (PlanPane.TRADE_OFF, not details.is_traded, traded),
        (PlanPane.LAUNCHES, details.launches is None, launches_listed),
    ]
    # Judging a large plan may take half a minute, so it comes last there.
    first = 0 if details.is_soon_judged else len(jobs)
    jobs.insert(first, (PlanPane.FIGURES, not details.is_judged, judged))
    return [(pane, job) for pane, is_missing, job in jobs if is_missing]
