"""Which kernel groups are listed, in which order; the command and the app both use this."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.plan.study import GroupStatistics, Study
from tui.options.choices import GroupSort


@dataclass(frozen=True, slots=True)
class GroupList:
    """The listed groups.

    Attributes
    ----------
    groups : their indices, rank - 1, in the order of the list.
    matching : how many groups match the filter; the listed ones are the first of them.
    """

    groups: tuple[int, ...]
    matching: int


def list_groups(
    study: Study, sort: GroupSort, wanted: str = "", most: int | None = None, *, reverse: bool = False
) -> GroupList:
    """Return the groups whose key contains `wanted`, in any case, sorted; equal ones by rank.

    Parameters
    ----------
    most : list no more than this.
    reverse : the smallest first, or the last name.
    """
    order = _order(study, sort, reverse=reverse)
    wanted = wanted.casefold()
    if wanted:
        keys = [group.key.casefold() for group in study.counts.groups]
        order = [index for index in order if wanted in keys[index]]
    return GroupList(tuple(order[:most]), len(order))


def _order(study: Study, sort: GroupSort, *, reverse: bool) -> list[int]:
    if sort is GroupSort.NAME:
        groups = study.counts.groups
        return sorted(range(len(groups)), key=lambda index: groups[index].name, reverse=reverse)
    values = _values(study.groups, sort, pooled=np.inf if reverse else 0)
    if values is None:
        ranks = range(len(study.counts.groups))
        return list(reversed(ranks) if reverse else ranks)
    order: list[int] = np.argsort(values if reverse else -values, kind="stable").tolist()
    return order


def _values(of: GroupStatistics, sort: GroupSort, *, pooled: float) -> np.ndarray | None:
    """Return what to sort by; None to keep the order of ranks.

    Parameters
    ----------
    pooled : the value that puts groups last which are pooled, and have none of their own.
    """
    return {
        GroupSort.LAUNCHES: of.launches,
        GroupSort.MEAN: of.mean_ns,
        GroupSort.COV: of.cov,
        GroupSort.STRATA: _own(of.clusters, of, pooled),
        GroupSort.DRAWN: _own(of.samples, of, pooled),
    }.get(sort)


def _own(values: np.ndarray | None, of: GroupStatistics, pooled: float) -> np.ndarray | None:
    """Return what groups have of their own; `pooled` for those that are pooled."""
    return None if values is None else np.where(of.pooled, pooled, values)
