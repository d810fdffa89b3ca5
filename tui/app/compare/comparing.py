"""Comparing methods in a thread of its own, and what it tells the view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event, Thread

from textual.message import Message

from sampling.methods.registry import check_settings
from sampling.profile.profile import Profile
from sampling.progress import Progress
from tui.app.planning import CancelledError, throttled
from tui.engine.comparing import comparison_of
from tui.engine.studies import grouping_of
from tui.options.commands import CompareOptions
from tui.options.flags import with_flags
from tui.text.compare import Row, comparison_row

THREAD = "kernelpoint-compare"
"""The name of the thread that compares."""


@dataclass
class MethodProgress(Message):
    """The progress of a method; a later report replaces one that is not yet handled."""

    generation: int
    method: str
    words: str

    def can_replace(self, message: Message) -> bool:
        """Whether this report replaces the other."""
        return isinstance(message, MethodProgress)


@dataclass
class MethodCompared(Message):
    """One method is done, or does not apply."""

    generation: int
    row: Row
    notes: tuple[str, ...]


@dataclass
class ComparisonEnded(Message):
    """The comparison has ended; `error` is why, if not all methods are done."""

    generation: int
    notes: tuple[str, ...] = ()
    error: Exception | None = None


def start_comparing(
    profile: Profile,
    options: CompareOptions,
    methods: Sequence[str],
    generation: int,
    post: Callable[[Message], object],
) -> Callable[[], None]:
    """Compare methods one after the other; return what cancels it.

    The thread is a daemon: a method that reports no progress cannot be stopped, and leaving the app must not
    wait for it. Results after cancelling are dropped.
    """
    cancelled = Event()

    def tell(message: Message) -> None:
        if not cancelled.is_set():
            post(message)

    def work() -> None:
        try:
            notes = _compare(profile, options, methods, generation, tell, cancelled)
        except CancelledError:
            return
        except Exception as error:
            # The view shows errors of the engine; any other error ends the app.
            tell(ComparisonEnded(generation, error=error))
        else:
            tell(ComparisonEnded(generation, notes))

    Thread(target=copy_context().run, args=(work,), name=THREAD, daemon=True).start()
    return cancelled.set


def _compare(
    profile: Profile,
    options: CompareOptions,
    methods: Sequence[str],
    generation: int,
    tell: Callable[[Message], None],
    cancelled: Event,
) -> tuple[str, ...]:
    """Compare them, and return the notes on the feature files."""
    method = methods[0]

    def report(done: int, total: int, what: str) -> None:
        share = f", {100 * done / total:.0f} %" if total else ""
        tell(MethodProgress(generation, method, what + share))

    progress: Progress = throttled(report, cancelled.is_set)
    check_settings(options.set)
    comparison = comparison_of(profile, options.profiles, options, progress)
    for method in methods:
        tell(MethodProgress(generation, method, "designing"))
        progress(0, 0, "designing")
        compared = comparison.compare(method, grouping_of(options, method))
        notes = () if compared.design is None else tuple(map(with_flags, compared.design.notes))
        tell(MethodCompared(generation, comparison_row(" ".join(options.profiles), compared), notes))
    return tuple(with_flags(report.sentence) for report in comparison.reports)
