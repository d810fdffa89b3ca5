"""The changes asked of view 2's walk, made in order by one worker at a time, which reports to the view."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from textual.message import Message

from sampling.errors import SamplingError
from sampling.splitting.tree import Verdict
from tui.app.planning import CancelledError, throttled
from tui.app.split_tree.walking import Change, Walked, WalkSpec
from tui.text.tree import TreeStop, stop_of


@dataclass
class WalkMoved(Message):
    """The walk is here now."""

    spec: WalkSpec
    at: TreeStop


@dataclass
class WalkRefused(Message):
    """A change of the walk failed; the walk did not move."""

    error: SamplingError


@dataclass
class Decided(Message):
    """The walk follows another decision of the user."""

    spec: WalkSpec
    group: str
    path: str
    verdict: Verdict


@dataclass
class UndoAsked(Message):
    """The user takes the last decision back; decisions queued before it are made first."""


class WalkQueue:
    """The changes to a walk that are not made yet, and the walk.

    Parameters
    ----------
    tell : takes a `WalkMoved` or a `WalkRefused` for each change made.
    """

    def __init__(self, tell: Callable[[Message], object]) -> None:
        self._tell = tell
        self._lock = Lock()
        self._waiting: deque[Change] = deque()
        self._has_worker = False
        # For the worker alone, of which there is one at a time.
        self._walked: Walked | None = None

    def add(self, change: Change) -> bool:
        """Add a change to the queue; return whether a worker has to be started for it."""
        with self._lock:
            self._waiting.append(change)
            is_new, self._has_worker = not self._has_worker, True
        return is_new

    def work(self, is_cancelled: Callable[[], bool]) -> None:
        """Make the changes until none is left, in a worker."""
        progress = throttled(_ignore_progress, is_cancelled)
        while (change := self._next(is_cancelled)) is not None:
            try:
                self._walked = change(self._walked, progress)
            except CancelledError:
                continue
            except SamplingError as error:
                self._tell(WalkRefused(error))
                continue
            if self._walked is not None:
                self._tell(WalkMoved(self._walked.spec, stop_of(self._walked.walk)))

    def _next(self, is_cancelled: Callable[[], bool]) -> Change | None:
        with self._lock:
            if self._waiting and not is_cancelled():
                return self._waiting.popleft()
            self._has_worker = False
            return None

    @property
    def is_done(self) -> bool:
        """Whether all that was asked for is made."""
        with self._lock:
            return not self._waiting and not self._has_worker


def _ignore_progress(done: int, total: int, what: str) -> None:
    """Drop a progress report: the line of the plan already shows what is being done."""
