"""What view 2 does with a walk through the split decisions, in a thread of its own: no widget here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sampling.errors import OptionError
from sampling.methods.registry import method_named
from sampling.plan.walk import TreeWalk
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.groups import Overrides
from sampling.splitting.tree import Verdict
from sampling.strata.target import Target
from tui.app.state import Session, same_overrides
from tui.engine.studies import target_of
from tui.options.commands import SampleOptions

_FOR_STUDY = ("root", "stem", "allegro")


def methods_in_turn(of_plan: str) -> tuple[str, ...]:
    """Return the methods whose trees are shown in turn, that of the plan first if it splits groups."""
    first = () if method_named(of_plan).trees is None else (of_plan,)
    return tuple(dict.fromkeys((*first, *_FOR_STUDY)))


@dataclass(frozen=True, slots=True, eq=False)
class WalkSpec:
    """What a walk is made from.

    Attributes
    ----------
    method : whose trees are walked through; the plan's, in the options, may be another.
    """

    counts: DurationCounts
    method: str
    options: SampleOptions
    overrides: Overrides

    @property
    def target(self) -> Target:
        """What is asked of the strata."""
        return target_of(self.options)

    def is_like(self, other: WalkSpec | None) -> bool:
        """Return whether a walk made from the other goes the same way."""
        return (
            other is not None
            and self.counts is other.counts
            and self._asked == other._asked
            and same_overrides(self.overrides, other.overrides)
        )

    @property
    def _asked(self) -> object:
        return self.method, self.target, self.options.seed, self.options.set


def spec_of(session: Session, method: str) -> WalkSpec | None:
    """Return what the session asks of a walk by this method; None while nothing is read."""
    if session.study is None:
        return None
    return WalkSpec(session.study.counts, method, session.options, session.overrides)


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk, and what it was made from."""

    spec: WalkSpec
    walk: TreeWalk


Change = Callable[[Walked | None, Progress], Walked | None]
"""Moves a walk on, or makes another; raises SamplingError where it cannot."""


def begin(spec: WalkSpec, group: int) -> Change:
    """Return how to walk by another spec: from where the last walk was, or from the start of a group."""

    def change(walked: Walked | None, progress: Progress) -> Walked:
        walk = _walk(spec, progress)
        if walked is not None and walked.spec.counts is spec.counts:
            walk.resume(walked.walk.place)
        else:
            walk.enter(group)
        return Walked(spec, walk)

    return change


def move(how: Callable[[TreeWalk], object]) -> Change:
    """Return how to move on in the same walk."""

    def change(walked: Walked | None, _: Progress) -> Walked | None:
        if walked is not None:
            how(walked.walk)
        return walked

    return change


def decide(
    node: tuple[int, str] | None, verdict: Verdict, tell: Callable[[WalkSpec, str, str, Verdict], object]
) -> Change:
    """Return how to change the decision on a node.

    Parameters
    ----------
    node : its group and path; None is the one ahead, whose decision is then taken.
    tell : called with the spec of the changed walk, the group's name, the node's path, and the verdict.
    """

    def change(walked: Walked | None, progress: Progress) -> Walked | None:
        if walked is None:
            return None
        place = walked.walk.place
        group, wanted = (place.group, place.path) if node is None else node
        if group != place.group:
            # The user is at another node by now.
            return walked
        if wanted is None:
            raise OptionError("the group is split to its end", remedy="[ or k goes back to a decision")
        spec = replace(walked.spec, overrides=walked.walk.overridden(wanted, verdict))
        walk = _walk(spec, progress)
        walk.resume(place)
        if wanted == place.path:
            walk.step()
        tell(spec, f"#{group + 1}", wanted, verdict)
        return Walked(spec, walk)

    return change


def _walk(spec: WalkSpec, progress: Progress) -> TreeWalk:
    return TreeWalk(
        spec.counts,
        spec.method,
        spec.target,
        settings=spec.options.set,
        overrides=spec.overrides,
        progress=progress,
    )
