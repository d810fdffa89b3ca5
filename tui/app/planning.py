"""From options to a study, in a worker thread: no widget, nothing on any stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sampling.errors import OptionError, OverrideError, SamplingError
from sampling.methods.registry import check_settings
from sampling.parallel import Progress
from sampling.plan.nearby import Relaxation, SimulationHours
from sampling.plan.study import Study, study, study_again
from sampling.profile.profile import Profile
from sampling.splitting.tree import Overrides
from tui.app.state import Session, decisions
from tui.engine.plan_files import plan_notes, profile_check
from tui.engine.planning import binding_of, budget_of, hours_of
from tui.engine.studies import (
    choice_of,
    columns_of,
    grouping_of,
    open_profile,
    region_of,
    target_of,
    with_flags_in_findings,
)
from tui.options.command_line import error_text
from tui.options.plan import SampleOptions

# What says words alone needs no screen.
if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.message_pump import MessagePump
    from textual.worker import Worker

_REPORT_SECONDS = 0.1

Found = TypeVar("Found")


class CancelledError(Exception):
    """The work was cancelled: its result is no longer wanted."""


def study_of(
    before: Session | None, wanted: Session, progress: Progress
) -> Iterator[tuple[Study, SimulationHours | None, tuple[str, ...]]]:
    """Yield the study that a session asks for, its hours, and what to note of its plan beside a file's.

    Raises SamplingError, OSError: the workload cannot be read, or cannot be planned so.
    """
    notes: tuple[str, ...] = ()
    try:
        if before is None or before.study is None:
            made = load_study(wanted.options, wanted.overrides, progress, profile_check(wanted.plan))
            notes = () if wanted.plan is None else plan_notes(wanted.plan, made)
        else:
            made = plan_again(before.study, before.options, wanted.options, wanted.overrides, progress)
        hours = hours_of(wanted.options, made)
    except OverrideError as error:
        if before is None or before.study is None:
            raise
        raise decision_error(error, wanted.overrides) from error
    yield made, hours, notes


def binding_found(shown: Session, study: Study, progress: Progress) -> Iterator[tuple[Relaxation, ...]]:
    """Yield what binds the plan of a session."""
    yield binding_of(shown.options, study, progress)


def tell(
    node: MessagePump,
    task: Callable[[Progress], Iterator[Found]],
    say: Progress,
    take: Callable[[Found], object],
) -> None:
    """Run a task in this worker's thread; a screen is told of progress and finds, until it is cancelled."""
    from textual.worker import get_current_worker

    worker = get_current_worker()

    def told(then: Callable[..., object], *given: object) -> object:
        return None if worker.is_cancelled else then(*given)

    def report(done: int, total: int, what: str) -> None:
        node.call_later(told, say, done, total, what)

    with suppress(CancelledError):
        for found in task(throttled(report, lambda: worker.is_cancelled)):
            node.call_later(told, take, found)


def start(
    node: DOMNode,
    task: Callable[[Progress], Iterator[Found]],
    take: Callable[[Found], object],
    say: Progress | None = None,
    *,
    group: str,
    is_exclusive: bool = True,
) -> Worker[None]:
    """Run a task in a worker of the node's screen, which knows what to do with a defect; see `tell`."""
    work = partial(tell, node, task, say or silent, take)
    return node.screen.run_worker(work, thread=True, exclusive=is_exclusive, exit_on_error=False, group=group)


def in_words(say: Callable[[str], None]) -> Progress:
    """Return a callback that says progress in words, with the share that is done where that is known."""
    return lambda done, total, what: say(f"{what}, {100 * done / total:.0f} %" if total else what)


def silent(*_: object) -> None:
    """Say no progress."""


def load_study(
    options: SampleOptions,
    overrides: Overrides,
    progress: Progress,
    check: Callable[[Profile], None] | None = None,
) -> Study:
    """Read the workload and design the plan; `check` refuses a profile that is not the one meant."""
    check_settings(options.set)
    budget_of(options)
    # Report wrong options before a long reading.
    target, choice = target_of(options), choice_of(options, options.profiles, overrides)
    region, grouping = region_of(options), grouping_of(options, options.method)
    profile = open_profile(options.profiles, progress, columns_of(options))
    if check is not None:
        check(profile)
    return _ready(study(profile, grouping, region, target, choice, progress))


def plan_again(
    read: Study, before: SampleOptions, options: SampleOptions, overrides: Overrides, progress: Progress
) -> Study:
    """Design another plan than `read`, which is of the options `before`.

    The launches are counted again only if others, or other groups, are asked for.
    """
    check_settings(options.set)
    target, choice = target_of(options), choice_of(options, options.profiles, overrides)
    region, grouping = region_of(options), grouping_of(options, options.method)
    if (region, grouping) == (region_of(before), grouping_of(before, before.method)):
        return _ready(study_again(read, target, choice, progress))
    return _ready(study(read.profile, grouping, region, target, choice, progress))


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


def failure_words(error: SamplingError | OSError) -> str:
    """Return why nothing was written or found, with the file that the system names."""
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return error_text(error)


def decision_error(error: SamplingError, overrides: Overrides) -> SamplingError:
    """Return an error of the user's decisions in few enough words for a line, others as they are."""
    if not isinstance(error, OverrideError):
        return error
    number = decisions(overrides)
    remedy = f"[u] in Split tree takes {'it' if number == 1 else 'them'} back"
    if error.group is None or error.path is None:
        return OptionError(error.in_short, remedy=remedy)
    node = f"{error.path or 'root'} in #{error.group + 1}"
    return OptionError(f"your decision on {node} fits no node with these options", remedy=remedy)
