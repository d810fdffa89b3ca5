"""The nodes of a forest that the user has decided on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import OverrideError
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.forest import ClusterForest
from sampling.splitting.groups import Overrides, groups_overridden
from sampling.splitting.grower import no_such_node, not_splittable
from sampling.splitting.tree import Verdict


@dataclass(frozen=True, slots=True)
class ForcedNodes:
    """Numbers in a forest, ascending: (k,) each.

    Attributes
    ----------
    split : nodes that split, those on the way to a decision among them; keep : nodes that are kept whole.
    """

    split: IntArray
    keep: IntArray

    @classmethod
    def none(cls) -> ForcedNodes:
        """Return what is forced where the user has decided nothing."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))


def forced_nodes(forest: ClusterForest, counts: DurationCounts, overrides: Overrides) -> ForcedNodes:
    """Return the nodes behind the user's decisions; the way down to each is split too.

    Raises
    ------
    OverrideError : a group is not there, or a node on the way cannot be split.
    """
    split: list[int] = []
    keep: list[int] = []
    for group in groups_overridden(counts, overrides).tolist():
        key = counts.groups[group].key
        for path, verdict in overrides[key].items():
            node = group
            if set(path) - {"L", "R"}:
                raise no_such_node(counts, group, path)
            for depth, step in enumerate(path):
                _split_one(forest, node, counts, path[:depth])
                split.append(node)
                node = int(forest.left[node]) + (step == "R")
            if verdict is Verdict.SPLIT:
                _split_one(forest, node, counts, path)
            (split if verdict is Verdict.SPLIT else keep).append(node)
    both = sorted(set(split) & set(keep))
    if both:
        group = int(forest.group[both[0]])
        raise OverrideError(
            "overrides keep a node and decide below it",
            key=counts.groups[group].key,
            group=group,
        )
    return ForcedNodes(np.unique(np.array(split, dtype=np.int64)), np.unique(np.array(keep, dtype=np.int64)))


def _split_one(forest: ClusterForest, node: int, counts: DurationCounts, path: str) -> None:
    nodes = np.array([node])
    if not forest.splittable(nodes)[0]:
        raise not_splittable(counts, int(forest.group[node]), path)
    forest.split(nodes)
