"""What the app shows, as one frozen value; every action makes a new one. Steps back, and findings' keys."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sampling.plan.request import PlanRequest
from sampling.reduction import GroupBy
from tui.options.choices import GroupSort
from tui.options.plan import SampleOptions
from tui.options.simulate import SpeedupOptions

# They import numpy, which the first paint must not wait for.
if TYPE_CHECKING:
    from sampling.plan.draft import Draft
    from sampling.plan.findings import Finding
    from sampling.plan.sensitivity import Relaxation, SimulationHours
    from sampling.splitting.tree import Overrides
    from tui.engine.plan_files import OpenedPlan
    from tui.scale.questions import OpenQuestions


class Undoable(NamedTuple):
    """What a split decision changed: the decisions so far, and the method and grouping they went with."""

    overrides: Overrides
    method: str
    group_by: GroupBy


# Two sessions are the same only if they are one object: comparing would compare whole profiles.
@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """The state behind all views."""

    #: The headless command's own, with the profiles, so that the app and the command line do the same.
    options: SampleOptions = field(default_factory=SampleOptions)
    #: What these options came to; None while the workload is read, or where none is open.
    draft: Draft | None = None
    #: What the plan takes to simulate; None where no slowdown is known.
    hours: SimulationHours | None = None
    #: The kernel time of all launches; None until a draft kept all of them.
    whole_ns: int | None = None
    #: What binds the plan; None where it is not known (yet).
    binding: tuple[Relaxation, ...] | None = None
    #: The user's split decisions, and what they were before each, along which undo goes back.
    overrides: Overrides = field(default_factory=dict)
    past_overrides: tuple[Undoable, ...] = ()
    #: What is being computed for the plan, in words; None when the draft is of these options.
    doing: str | None = None
    #: Why the options asked for last were refused, and whether a key was pressed since that was said.
    problem: str | None = None
    is_problem_read: bool = False
    #: The kernel group in focus by its index, rank - 1; None if no group is listed.
    selected: int | None = 0
    sort: GroupSort = GroupSort.TOTAL
    reverse: bool = False
    #: The text that the keys of listed groups contain, in any case.
    search: str = ""
    #: Whether durations are shown on a logarithmic axis; whether all glyphs are ASCII.
    log: bool = False
    ascii_only: bool = False
    #: The questions of view 5; None until one is read or edited.
    scale: OpenQuestions | None = None
    #: What view 7 compares with the open workload, as typed; None until something is.
    before: str | None = None
    #: What view 8 compares, as the headless command is told; None until something is.
    speedups: SpeedupOptions | None = None
    #: The plan file that was opened, and in what the plan shown is not that of the file, in a line each.
    plan: OpenedPlan | None = None
    #: Whether the first view says what can be done here, to somebody who tries it.
    invites: bool = False
    beside: tuple[str, ...] = ()

    @property
    def request(self) -> PlanRequest:
        """What is asked of the plan."""
        return self.options.request

    @property
    def focus(self) -> int | None:
        """The group in focus among those that people look at, by its index."""
        if self.draft is None or self.selected is None:
            return None
        return self.draft.look.holder(self.selected)

    @property
    def profiles(self) -> tuple[str, ...]:
        """The files, as given; none where only the scale model is open."""
        return self.options.profiles


def with_draft(session: Session, draft: Draft, hours: SimulationHours | None) -> Session:
    """Return the session with the draft that its options came to, and the hours that its plan takes."""
    before, counts, selected = session.draft, draft.counts, session.selected
    if before is not None and counts is not before.counts:
        # The group in focus has another rank among other launches; the first where it is gone.
        key = None if selected is None else before.counts.groups[selected].key
        selected = next((rank for rank, group in enumerate(counts.groups) if group.key == key), 0)
    whole_ns = counts.total_duration_ns if counts.launches == draft.profile.launches else session.whole_ns
    return replace(
        session,
        draft=draft,
        hours=hours,
        whole_ns=whole_ns,
        binding=None,
        doing=None,
        problem=None,
        selected=selected,
    )


def taken_back(session: Session, shown: Session, problem: str) -> Session:
    """Return the session with the options of the plan `shown` again, and why the new ones failed."""
    before = {name: getattr(shown, name) for name in ("options", "overrides", "past_overrides")}
    return replace(session, **before, doing=None, problem=problem, is_problem_read=False)


def decisions(overrides: Overrides) -> int:
    """Return how many split decisions there are."""
    return sum(map(len, overrides.values()))


def same_overrides(first: Overrides, second: Overrides) -> bool:
    """Return whether two sets of decisions are the same, in any order."""

    def plain(overrides: Overrides) -> dict[str, dict[str, object]]:
        return {key: dict(of_group) for key, of_group in overrides.items() if of_group}

    return plain(first) == plain(second)


KEYS = "abcde"
"""The keys of the first findings that have a remedy to apply."""


def remedy_keys(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    """Return by its key each finding whose remedy can be applied."""
    return dict(zip(KEYS, (finding for finding in findings if finding.changes), strict=False))


class Steps:
    """The changes of the plan's options that can be taken back: before, after, and what to say then."""

    def __init__(self) -> None:
        self._taken: list[tuple[SampleOptions, SampleOptions, str]] = []

    def __len__(self) -> int:
        return len(self._taken)

    def note(self, before: SampleOptions, after: SampleOptions, words: str) -> None:
        """Take note of a step, and what to say once it is taken back."""
        self._taken.append((before, after, words))

    def undo(self, options: SampleOptions) -> tuple[SampleOptions, str] | None:
        """Return the options with the last step taken back, and what to say of it; None where none is left.

        Steps that were refused, or whose options were changed since, are left alone.
        """
        while self._taken:
            before, after, words = self._taken.pop()
            own_values, request_values = (
                _changed(*of_both)
                for of_both in ((before, after, options), (before.request, after.request, options.request))
            )
            if own_values is not None and request_values is not None and (own_values or request_values):
                return replace(options, **own_values).with_request(**request_values), words
        return None


def _changed(before: Any, after: Any, present: Any) -> dict[str, Any] | None:
    """Return the values before a step of what it changed; None where one of these was changed since."""
    names = getattr(before, "__struct_fields__", None) or [option.name for option in fields(before)]
    names = [name for name in names if name != "request" and getattr(before, name) != getattr(after, name)]
    if any(getattr(present, name) != getattr(after, name) for name in names):
        return None
    return {name: getattr(before, name) for name in names}
