"""Reading results in a worker, and what it tells the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from textual.message import Message

from sampling.errors import SamplingError
from sampling.estimation.plan_estimate import PlanEstimate
from sampling.progress import Progress
from tui.app.plan.details import PlanDetails
from tui.app.plan.files import failure_words, save_plan
from tui.app.plan.results.presenter import Known
from tui.app.planning import CancelledError, throttled
from tui.engine.estimating import estimated, missing_to_target
from tui.options.estimate import EstimateOptions


@dataclass
class ResultsProgress(Message):
    """The progress of reading; a later report replaces one that is not yet handled."""

    generation: int
    words: str

    def can_replace(self, message: Message) -> bool:
        """Whether this report replaces the other."""
        return isinstance(message, ResultsProgress)


@dataclass
class PlanSaved(Message):
    """The plan shown is on the disk, as it has to be before results can be of it."""

    path: Path


@dataclass
class ResultsReady(Message):
    """What is known of the results, so far or in all."""

    generation: int
    known: Known


def tell_results(
    generation: int,
    details: PlanDetails,
    asked: EstimateOptions,
    tell: Callable[[Message], object],
    is_cancelled: Callable[[], bool],
) -> None:
    """Save the plan if there is no file of it, estimate, then find what is missing to the target.

    Raises
    ------
    SamplingError, OSError : the plan or the results cannot be used; what is only missing to the target is
        told beside the totals instead.
    """

    def report(done: int, total: int, what: str) -> None:
        tell(ResultsProgress(generation, what + (f", {100 * done / total:.0f} %" if total else "")))

    progress = throttled(report, is_cancelled)
    try:
        path = Path(asked.plan)
        if not path.exists():
            progress(0, 0, "saving the plan")
            save_plan(details, path, progress)
            tell(PlanSaved(path))
        progress(0, 0, "reading results")
        found = estimated(asked, progress)
        is_short = asked.target is not None and not found.main.is_within(asked.target)
        known = Known(asked, found, doing="drawing what to run next" if is_short else "")
        tell(ResultsReady(generation, _with_tables(known)))
        if is_short:
            tell(ResultsReady(generation, _with_tables(_with_next(known, found, progress))))
    except CancelledError:
        return


def _with_next(known: Known, found: PlanEstimate, progress: Progress) -> Known:
    """Return what is known with the larger plan, or why there is none."""
    try:
        larger = missing_to_target(found, known.asked, progress)
    except (SamplingError, OSError) as error:
        return replace(known, doing="", why_no_larger=failure_words(error))
    return replace(known, doing="", larger=larger)


def _with_tables(known: Known) -> Known:
    """Return the same, its tables made here so that the screen need not wait for them."""
    for listing in (known.groups, known.next):
        _ = listing and listing.widths
    return known
