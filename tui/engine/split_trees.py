"""A kernel group's split tree, whole or decision by decision, as `tree` asks for it."""

from __future__ import annotations

from sampling.methods.method import SplitRequest
from sampling.methods.registry import method_options, split_trees_of
from sampling.plan.study import Study
from sampling.plan.walk.tree_walk import TreeWalk
from sampling.splitting.tree import SplitNode
from sampling.strata.target import Target


def split_nodes(study: Study, group: int) -> tuple[SplitNode, ...]:
    """Return all decisions on a kernel group, by the method and overrides of the study."""
    choice = study.choice
    request = SplitRequest(
        counts=study.counts,
        target=study.design.target,
        options=method_options(choice.method, choice.settings),
        overrides=choice.overrides or {},
    )
    return split_trees_of(choice.method).split_tree(request, group).nodes


def tree_walk(study: Study, group: int, decisions: int, target: Target) -> TreeWalk:
    """Return the walk through a kernel group's tree after so many decisions."""
    choice = study.choice
    walk = TreeWalk(study.counts, choice.method, target, settings=choice.settings, overrides=choice.overrides)
    walk.enter(group, decisions)
    return walk
