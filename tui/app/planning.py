"""From options to a study, in a worker thread: no widget, nothing on any stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump
from textual.worker import get_current_worker

from sampling.errors import SamplingError
from sampling.methods.registry import check_settings
from sampling.plan.study import Study, study, study_again
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.splitting.groups import Overrides
from tui.app.messages import BindingFound, StudyFailed, StudyProgress, StudyReady
from tui.app.plan_problems import why_not_planned
from tui.app.state import Session
from tui.engine.budgets import binding_of, budget_of, hours_of
from tui.engine.opened_plans import plan_notes, profile_check
from tui.engine.studies import (
    choice_of,
    columns_of,
    grouping_of,
    open_profile,
    region_of,
    target_of,
    with_flags_in_findings,
)
from tui.options.commands import SampleOptions

_REPORT_SECONDS = 0.1

Found = TypeVar("Found")


class CancelledError(Exception):
    """The work was cancelled: its result is no longer wanted."""


def tell_study(
    generation: int,
    before: Session | None,
    wanted: Session,
    tell: Callable[[Message], object],
    is_cancelled: Callable[[], bool],
) -> None:
    """Make the study that a session asks for; progress and result are sent as messages.

    Parameters
    ----------
    generation : the number that the messages carry.
    before : the session whose study is there already, to go on from.
    """

    def report(done: int, total: int, what: str) -> None:
        tell(StudyProgress(generation, done, total, what))

    progress = throttled(report, is_cancelled)
    notes: tuple[str, ...] = ()
    try:
        if before is None or before.study is None:
            made = load_study(wanted.options, wanted.overrides, progress, profile_check(wanted.plan))
            notes = () if wanted.plan is None else plan_notes(wanted.plan, made)
        else:
            made = plan_again(before.study, before.options, wanted.options, wanted.overrides, progress)
        hours = hours_of(wanted.options, made)
    except CancelledError:
        return
    except (SamplingError, OSError) as error:
        # The file may have been deleted since it was first read.
        told = error if before is None or before.study is None else why_not_planned(error, before, wanted)
        tell(StudyFailed(generation, told))
        return
    tell(StudyReady(generation, made, hours, notes))


def tell_binding(
    shown: Session, study: Study, tell: Callable[[Message], object], is_cancelled: Callable[[], bool]
) -> None:
    """Find what binds the plan of a session; it is sent as a message."""
    progress = throttled(lambda *_: None, is_cancelled)
    try:
        found = binding_of(shown.options, study, progress)
    except CancelledError:
        return
    tell(BindingFound(study, found))


def tell(
    node: MessagePump,
    task: Callable[[Progress], Iterator[Found]],
    say: Callable[[str], object],
    take: Callable[[Found], object],
) -> None:
    """Run a task in this worker's thread; its progress in words and what it finds are told to a screen.

    Nothing is told once the worker is cancelled, though it may have ended before.
    """
    worker = get_current_worker()

    def told(then: Callable[[Any], object], what: Any) -> None:
        if not worker.is_cancelled:
            then(what)

    def report(done: int, total: int, what: str) -> None:
        node.call_later(told, say, f"{what}, {100 * done / total:.0f} %" if total else what)

    with suppress(CancelledError):
        for found in task(throttled(report, lambda: worker.is_cancelled)):
            node.call_later(told, take, found)


def load_study(
    options: SampleOptions,
    overrides: Overrides,
    progress: Progress,
    check: Callable[[Profile], None] | None = None,
) -> Study:
    """Read the workload and design the plan.

    Parameters
    ----------
    check : refuses a profile that is not the one meant.

    Raises
    ------
    SamplingError : see the engine.
    """
    check_settings(options.set)
    budget_of(options)
    # Report wrong options before a long reading.
    target, choice = target_of(options), choice_of(options, overrides)
    region, grouping = region_of(options), grouping_of(options, options.method)
    profile = open_profile(options.profiles, progress, columns_of(options))
    if check is not None:
        check(profile)
    return _ready(study(profile, grouping, region, target, choice, progress))


def _filter_again(read: Study, options: SampleOptions, overrides: Overrides, progress: Progress) -> Study:
    """Study other launches or groups of a workload that is open."""
    check_settings(options.set)
    target, choice = target_of(options), choice_of(options, overrides)
    region, grouping = region_of(options), grouping_of(options, options.method)
    return _ready(study(read.profile, grouping, region, target, choice, progress))


def plan_again(
    read: Study, before: SampleOptions, options: SampleOptions, overrides: Overrides, progress: Progress
) -> Study:
    """Design another plan; the launches are counted again only if others, or other groups, are asked for.

    Parameters
    ----------
    before : what `read` was studied with.

    Raises
    ------
    SamplingError : see the engine.
    """
    if _counts(before) != _counts(options):
        return _filter_again(read, options, overrides, progress)
    check_settings(options.set)
    return _ready(study_again(read, target_of(options), choice_of(options, overrides), progress))


def _counts(options: SampleOptions) -> object:
    """Return what decides which launches count and what their groups are."""
    return region_of(options), grouping_of(options, options.method)


def _ready(studied: Study) -> Study:
    shown = with_flags_in_findings(studied)
    # Computed on first use; done here so that the screen need not wait for it.
    _ = shown.groups
    return shown


def throttled(report: Progress, is_cancelled: Callable[[], bool]) -> Progress:
    """Return a callback that reports progress ten times a second, and raises CancelledError if cancelled."""
    last = -_REPORT_SECONDS

    def progress(done: int, total: int, what: str) -> None:
        nonlocal last
        if is_cancelled():
            raise CancelledError
        now = time.monotonic()
        if now - last >= _REPORT_SECONDS:
            last = now
            report(done, total, what)

    return progress
