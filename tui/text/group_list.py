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


def list_groups(study: Study, sort: GroupSort, wanted: str = "", most: int | None = None) -> GroupList:
    """Return the groups whose key contains `wanted`, in any case, sorted; equal ones by rank.

    Parameters
    ----------
    most : list no more than this.
    """
    order = _order(study, sort)
    wanted = wanted.casefold()
    if wanted:
        keys = [group.key.casefold() for group in study.counts.groups]
        order = [index for index in order if wanted in keys[index]]
    return GroupList(tuple(order[:most]), len(order))


def _order(study: Study, sort: GroupSort) -> list[int]:
    if sort is GroupSort.NAME:
        groups = study.counts.groups
        return sorted(range(len(groups)), key=lambda index: (groups[index].name, index))
    values = _values(study.groups, sort)
    if values is None:
        return list(range(len(study.counts.groups)))
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return order


def _values(of: GroupStatistics, sort: GroupSort) -> np.ndarray | None:
    """Return what to sort by, largest first; None to keep the order of ranks."""
    return {
        GroupSort.LAUNCHES: of.launches,
        GroupSort.MEAN: of.mean_ns,
        GroupSort.COV: of.cov,
        GroupSort.CLUSTERS: _own(of.clusters, of),
        GroupSort.SAMPLES: _own(of.samples, of),
    }.get(sort)


def _own(values: np.ndarray | None, of: GroupStatistics) -> np.ndarray | None:
    """Return what groups have; those that are pooled have none of their own, and come last."""
    return None if values is None else np.where(of.pooled, 0, values)
