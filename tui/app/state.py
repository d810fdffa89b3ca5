"""What the app shows, as one frozen value; every action makes a new one."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.study import Study
from tui.options import GroupSort, PlanningOptions


# Two sessions are the same only if they are one object: comparing would compare whole profiles.
@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """The state behind all views.

    Attributes
    ----------
    profiles : the files, as given.
    options : the headless commands' own, so that both doors do the same.
    study : None while it is loading.
    selected : the kernel group in focus by its index, rank - 1; None if no group is listed.
    sort : the order of the groups.
    search : the text that the keys of listed groups contain, in any case.
    log : whether durations are shown on a logarithmic axis.
    ascii_only : whether all glyphs are ASCII.
    """

    profiles: tuple[str, ...]
    options: PlanningOptions
    study: Study | None = None
    selected: int | None = 0
    sort: GroupSort = GroupSort.TOTAL
    search: str = ""
    log: bool = False
    ascii_only: bool = False


def next_sort(sort: GroupSort) -> GroupSort:
    """Return the order that follows, the first after the last."""
    orders = list(GroupSort)
    return orders[(orders.index(sort) + 1) % len(orders)]
