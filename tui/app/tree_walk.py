"""The walk of view 2 through the split decisions, and the changes asked of it, in a thread of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from sampling.errors import OptionError, SamplingError
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.walk import TreeWalk
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Overrides, Verdict
from tui.app.planning import CancelledError, silent, throttled
from tui.app.state import same_overrides
from tui.engine.studies import target_of
from tui.options.plan import SampleOptions
from tui.text.tree import TreeStop, stop_of

_FOR_STUDY = ("root", "stem", "allegro")


def methods_in_turn(of_plan: str) -> tuple[str, ...]:
    """Return the methods whose trees are shown in turn, that of the plan first if it splits groups."""
    first = () if method_named(of_plan).trees is None else (of_plan,)
    return tuple(dict.fromkeys((*first, *_FOR_STUDY)))


@dataclass(frozen=True, slots=True, eq=False)
class WalkSpec:
    """What a walk is made from: whose trees it goes through may be another method than the plan's."""

    counts: DurationCounts
    method: str
    options: SampleOptions
    overrides: Overrides

    def is_like(self, other: WalkSpec | None) -> bool:
        """Return whether a walk made from the other goes the same way."""
        if other is None or self.counts is not other.counts:
            return False
        mine, theirs = (
            (spec.method, target_of(spec.options), spec.options.seed, spec.options.set)
            for spec in (self, other)
        )
        return mine == theirs and same_overrides(self.overrides, other.overrides)

    def walk(self, progress: Progress) -> TreeWalk:
        """Return a new walk by it, at no group yet."""
        return TreeWalk(
            self.counts,
            self.method,
            target_of(self.options),
            settings=self.options.set,
            overrides=self.overrides,
            progress=progress,
        )


Walked = tuple[WalkSpec, TreeWalk]
"""A walk, and what it was made from."""

Change = Callable[[Walked | None, Progress], Walked | None]
"""Moves a walk on, or makes another; raises SamplingError where it cannot."""


def begin(spec: WalkSpec, group: int) -> Change:
    """Return how to walk by another spec: from where the last walk was, or from the start of a group."""

    def change(walked: Walked | None, progress: Progress) -> Walked:
        walk = spec.walk(progress)
        if walked is not None and walked[0].counts is spec.counts:
            walk.resume(walked[1].place)
        else:
            walk.enter(group)
        return spec, walk

    return change


def move(how: Callable[[TreeWalk], object]) -> Change:
    """Return how to move on in the same walk."""

    def change(walked: Walked | None, _: Progress) -> Walked | None:
        if walked is not None:
            how(walked[1])
        return walked

    return change


def decide(
    node: tuple[int, str] | None, verdict: Verdict, tell: Callable[[WalkSpec, str, str, Verdict], object]
) -> Change:
    """Return how to change the decision on a node, by its group and path; None is the one ahead, then taken.

    `tell` is called with the spec of the changed walk, the group's name, the node's path, and the verdict.
    """

    def change(walked: Walked | None, progress: Progress) -> Walked | None:
        if walked is None:
            return None
        before, place = walked[1], walked[1].place
        group, wanted = (place.group, place.path) if node is None else node
        if group != place.group:
            # The user is at another node by now.
            return walked
        if wanted is None:
            raise OptionError("the group is split to its end", remedy="[ or k goes back to a decision")
        spec = replace(walked[0], overrides=before.overridden(wanted, verdict))
        walk = spec.walk(progress)
        walk.resume(place)
        if wanted == place.path:
            walk.step()
        tell(spec, f"#{group + 1}", wanted, verdict)
        return spec, walk

    return change


class WalkQueue:
    """The changes to a walk that are not made yet, and the walk; one worker at a time makes them in order.

    In the worker `moved` is called with where a change led, `refused` with why one failed: nothing moved.
    """

    def __init__(
        self, moved: Callable[[WalkSpec, TreeStop], object], refused: Callable[[SamplingError], object]
    ) -> None:
        self._moved, self._refused = moved, refused
        self._lock = Lock()
        self._waiting: deque[Change] = deque()
        self._has_worker = False
        # For the worker alone.
        self._walked: Walked | None = None

    def add(self, change: Change) -> bool:
        """Add a change to the queue; return whether a worker has to be started for it."""
        with self._lock:
            self._waiting.append(change)
            is_new, self._has_worker = not self._has_worker, True
        return is_new

    def work(self, is_cancelled: Callable[[], bool]) -> None:
        """Make the changes until none is left, in a worker."""
        # The line of the plan already shows what is being done.
        progress = throttled(silent, is_cancelled)
        while True:
            with self._lock:
                if not self._waiting or is_cancelled():
                    self._has_worker = False
                    return
                change = self._waiting.popleft()
            try:
                self._walked = change(self._walked, progress)
            except CancelledError:
                continue
            except SamplingError as error:
                self._refused(error)
                continue
            if self._walked is not None:
                self._moved(self._walked[0], stop_of(self._walked[1]))

    @property
    def is_done(self) -> bool:
        """Whether all that was asked for is made."""
        with self._lock:
            return not self._waiting and not self._has_worker
