"""What the app shows, as one frozen value; every action makes a new one. Steps back, and findings' keys."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sampling.reduction import GroupBy
from tui.options.choices import GroupSort
from tui.options.plan import SampleOptions

# They import numpy, which the first paint must not wait for.
if TYPE_CHECKING:
    from sampling.plan.findings import Finding
    from sampling.plan.nearby import Relaxation, SimulationHours
    from sampling.plan.study import Study
    from sampling.splitting.tree import Overrides
    from tui.engine.plan_files import OpenedPlan
    from tui.scale.sheet import OpenTables


class Undoable(NamedTuple):
    """What a split decision changed: the decisions so far, and the method and grouping they went with."""

    overrides: Overrides
    method: str
    group_by: GroupBy


# Two sessions are the same only if they are one object: comparing would compare whole profiles.
@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """The state behind all views.

    Attributes
    ----------
    options : the headless command's own, with the profiles, so that the app and the command line do the same.
    study : what these options came to; None while the workload is read, or where none is open.
    hours : what the plan takes to simulate; None where no slowdown is known.
    whole_ns : the kernel time of all launches; None until a study kept all of them.
    binding : what binds the plan; None where it is not known (yet).
    overrides : the user's split decisions, by group key and path.
    past_overrides : what they were before each decision, the latest last; undo goes back along it.
    doing : what is being computed for the plan, in words; None when the study is of these options.
    problem : why the options asked for last were refused; None if they were not.
    is_problem_read : whether a key was pressed since that was said.
    selected : the kernel group in focus by its index, rank - 1; None if no group is listed.
    sort : the order of the groups.
    reverse : whether that order is the other way round.
    search : the text that the keys of listed groups contain, in any case.
    log : whether durations are shown on a logarithmic axis.
    ascii_only : whether all glyphs are ASCII.
    scale : the tables of view 5; None until one is read or edited.
    before : what view 7 compares with the open workload, as typed; None until something is.
    plan : the plan file that was opened; None where a profile was.
    beside : in what the plan shown is not that of the plan file, in a line each.
    """

    options: SampleOptions = field(default_factory=SampleOptions)
    study: Study | None = None
    hours: SimulationHours | None = None
    whole_ns: int | None = None
    binding: tuple[Relaxation, ...] | None = None
    overrides: Overrides = field(default_factory=dict)
    past_overrides: tuple[Undoable, ...] = ()
    doing: str | None = None
    problem: str | None = None
    is_problem_read: bool = False
    selected: int | None = 0
    sort: GroupSort = GroupSort.TOTAL
    reverse: bool = False
    search: str = ""
    log: bool = False
    ascii_only: bool = False
    scale: OpenTables | None = None
    before: str | None = None
    plan: OpenedPlan | None = None
    beside: tuple[str, ...] = ()

    @property
    def profiles(self) -> tuple[str, ...]:
        """The files, as given; none where only the scale model is open."""
        return self.options.profiles


def studied(session: Session, study: Study, hours: SimulationHours | None) -> Session:
    """Return the session with the study that its options came to, and the hours that its plan takes."""
    before = session.study
    is_regrouped = before is not None and study.counts is not before.counts
    selected = session.selected if before is None or not is_regrouped else _same_group(session, before, study)
    counts = study.counts
    whole_ns = counts.total_duration_ns if counts.launches == study.profile.launches else session.whole_ns
    return replace(
        session,
        study=study,
        hours=hours,
        whole_ns=whole_ns,
        binding=None,
        doing=None,
        problem=None,
        selected=selected,
    )


def _same_group(session: Session, before: Study, study: Study) -> int:
    """Return the group in focus, which has another rank among other launches; the first where it is gone."""
    if session.selected is None:
        return 0
    key = before.counts.groups[session.selected].key
    return next((rank for rank, group in enumerate(study.counts.groups) if group.key == key), 0)


def taken_back(session: Session, shown: Session, problem: str) -> Session:
    """Return the session with the options of the plan that is shown again, as the new ones failed.

    `problem`: why they failed.
    """
    return replace(
        session,
        options=shown.options,
        overrides=shown.overrides,
        past_overrides=shown.past_overrides,
        doing=None,
        problem=problem,
        is_problem_read=False,
    )


def undoable(session: Session) -> Undoable:
    """Return what a decision now would change."""
    return Undoable(session.overrides, session.options.method, session.options.group_by)


def decisions(overrides: Overrides) -> int:
    """Return how many split decisions there are."""
    return sum(map(len, overrides.values()))


def same_overrides(one: Overrides, other: Overrides) -> bool:
    """Return whether two sets of decisions are the same, in any order."""

    def plain(overrides: Overrides) -> dict[str, dict[str, object]]:
        return {key: dict(of_group) for key, of_group in overrides.items() if of_group}

    return plain(one) == plain(other)


KEYS = "abcde"
"""The keys of the first findings that have a remedy to apply."""


def remedy_keys(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    """Return by its key each finding whose remedy can be applied."""
    return dict(zip(KEYS, (finding for finding in findings if finding.changes), strict=False))


class _Taken(NamedTuple):
    before: SampleOptions
    after: SampleOptions
    words: str


class Steps:
    """The steps taken so far, the latest last."""

    def __init__(self) -> None:
        self._taken: list[_Taken] = []

    def __len__(self) -> int:
        return len(self._taken)

    def note(self, before: SampleOptions, after: SampleOptions, words: str) -> None:
        """Take note of a step.

        `words`: what to say once it is taken back.
        """
        self._taken.append(_Taken(before, after, words))

    def undo(self, options: SampleOptions) -> tuple[SampleOptions, str] | None:
        """Return the options with the last step taken back, and what to say of it; None where none is left.

        Steps that were refused, or whose options were changed since, are left alone.
        """
        while self._taken:
            step = self._taken.pop()
            names = [
                option.name
                for option in fields(options)
                if getattr(step.before, option.name) != getattr(step.after, option.name)
            ]
            if names and all(getattr(options, name) == getattr(step.after, name) for name in names):
                given: dict[str, Any] = {name: getattr(step.before, name) for name in names}
                return replace(options, **given), step.words
        return None
