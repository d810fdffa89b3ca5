"""All kernel groups of a workload split by one rule."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import OverrideError
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.forest import SPLITTING, ClusterForest, forest_of, report_split
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import ClusterArrays, Halves, SplitRule
from sampling.splitting.tree import Verdict
from sampling.strata.strata import Clusters, measured_clusters
from sampling.text import Wording

#: Group key -> path -> the user's decision.
Overrides = Mapping[str, Mapping[str, Verdict]]


def split_groups(
    counts: DurationCounts,
    rule: SplitRule,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> tuple[Clusters, IntArray]:
    """Return the final clusters of every group, and (s,) the samples each costs by the decision above it.

    Where a decision makes two parts, all groups are split at once, level by level; with more parts, or where
    the user has decided, one by one.

    Raises
    ------
    OverrideError : an override names a group or node that does not exist.
    """
    overrides = overrides or {}
    singly = set(groups_overridden(counts, overrides).tolist())
    mean_ns = counts.group_duration_ns / counts.group_launches
    alone = rule.samples_alone(ClusterArrays(counts.group_launches, mean_ns, counts.group_std_ns))
    if rule.most_parts > 2:
        singly |= set(np.flatnonzero((alone > rule.enough) & (np.diff(counts.offsets) > 1)).tolist())
    at_once = np.ones(len(counts.groups), dtype=np.bool_)
    at_once[list(singly)] = False
    rows = [_split_at_once(counts, rule, np.flatnonzero(at_once), alone, progress)]
    for done, group in enumerate(sorted(singly)):
        tree = TreeGrower(counts, group, rule, overrides.get(counts.groups[group].key)).run()
        leaves = [(group, leaf.start, leaf.stop, leaf.samples_old) for leaf in tree.leaves]
        rows.append(np.array(leaves, dtype=np.int64).T)
        if progress is not None:
            progress(done + 1, len(singly), SPLITTING)
    group_of, start, stop, samples = np.concatenate(rows, axis=1)
    order = np.argsort(start)
    return measured_clusters(counts, group_of[order], start[order], stop[order]), samples[order]


def groups_overridden(counts: DurationCounts, overrides: Overrides) -> IntArray:
    """Return the kernel groups in which the user has decided something, ascending.

    Raises
    ------
    OverrideError : an override names a group that does not exist.
    """
    index_of_key = {group.key: index for index, group in enumerate(counts.groups)} if overrides else {}
    unknown = [key for key in overrides if key not in index_of_key]
    if unknown:
        raise OverrideError(
            "an override names a kernel group that is not in this profile",
            key=unknown[0],
            remedy=Wording(
                "overrides hold for one `group_by`; `kernelpoint groups --format json` lists the keys"
            ),
        )
    return np.array(sorted(index_of_key[key] for key in overrides), dtype=np.int64)


def _split_at_once(
    counts: DurationCounts, rule: SplitRule, groups: IntArray, alone: IntArray, progress: Progress | None
) -> IntArray:
    """Return (4, s) group, start, stop and samples of the final clusters of groups split into halves.

    The decisions are those of `TreeGrower`, taken level by level over all groups.
    """
    forest = forest_of(counts)
    with forest.lock:
        nodes, samples = groups, alone[groups]
        finals: list[IntArray] = []
        while len(nodes):
            is_final = (samples <= rule.enough) | ~forest.splittable(nodes)
            open_nodes, samples_old = nodes[~is_final], samples[~is_final]
            forest.split(open_nodes)
            children = np.stack([forest.left[open_nodes], forest.left[open_nodes] + 1], axis=1)
            halves = Halves(_clusters(forest, open_nodes), samples_old, _clusters(forest, children))
            splits, samples_new = rule.halve(halves)
            kept = np.concatenate([nodes[is_final], open_nodes[~splits]])
            kept_samples = np.concatenate([samples[is_final], samples_old[~splits]])
            finals.append(np.stack([forest.group[kept], forest.start[kept], forest.stop[kept], kept_samples]))
            if progress is not None:
                report_split(progress, forest.group[children[splits].ravel()], len(counts.groups))
            nodes, samples = children[splits].ravel(), samples_new[splits].ravel()
    return np.concatenate([np.zeros((4, 0), dtype=np.int64), *finals], axis=1)


def _clusters(forest: ClusterForest, nodes: IntArray) -> ClusterArrays:
    return ClusterArrays(forest.launches[nodes], forest.mean_ns[nodes], forest.std_ns[nodes])
