"""All kernel groups of a workload split by one rule."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.allocation import IntArray
from sampling.duration_counts import DurationCounts
from sampling.errors import OptionError
from sampling.progress import Progress
from sampling.split_tree import SplitRule, TreeGrower, Verdict
from sampling.strata import Clusters, measured_clusters

#: Group key -> path -> the user's decision.
Overrides = Mapping[str, Mapping[str, Verdict]]


def split_groups(
    counts: DurationCounts,
    rule: SplitRule,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> tuple[Clusters, IntArray]:
    """Return the final clusters of every group, and (s,) the samples each costs by the decision above it.

    Groups that the rule keeps whole at the first look are never visited one by one.

    Raises
    ------
    OptionError : an override names a group or node that does not exist.
    """
    overrides = overrides or {}
    index_of_key = {group.key: index for index, group in enumerate(counts.groups)} if overrides else {}
    unknown = [key for key in overrides if key not in index_of_key]
    if unknown:
        raise OptionError(
            f"an override names the kernel group {unknown[0]!r}, which is not in this profile",
            remedy="overrides hold for one --group-by; `kernelpoint groups --format json` lists the keys",
        )
    alone = rule.samples_alone(
        counts.group_launches, counts.group_duration_ns / counts.group_launches, counts.group_std_ns
    )
    visited = (alone > rule.enough) & (np.diff(counts.offsets) > 1)
    visited[[index_of_key[key] for key in overrides]] = True
    ranges: dict[int, list[tuple[int, int, int]]] = {}
    to_visit = np.flatnonzero(visited).tolist()
    for done, group in enumerate(to_visit):
        tree = TreeGrower(counts, group, rule, overrides.get(counts.groups[group].key)).run()
        ranges[group] = [(leaf.start, leaf.stop, leaf.samples_old) for leaf in tree.leaves]
        if progress is not None:
            progress(done + 1, len(to_visit), "splitting")
    rows = [
        (group, *leaf)
        for group in range(len(counts.groups))
        for leaf in ranges.get(
            group, [(int(counts.offsets[group]), int(counts.offsets[group + 1]), int(alone[group]))]
        )
    ]
    group_of, start, stop, samples = np.array(rows, dtype=np.int64).T
    return measured_clusters(counts, group_of, start, stop), samples
