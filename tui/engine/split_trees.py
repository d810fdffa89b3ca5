"""A split tree, of a kernel group or a pool, whole or decision by decision, as `tree` asks for it."""

from __future__ import annotations

from sampling.plan.study import Study
from sampling.plan.walk.tree_walk import TreeWalk
from sampling.reduction.kernel_choice import groups_containing
from sampling.reduction.plan_groups import PlanGroups
from sampling.strata.target import Target
from tui.engine.studies import chosen_kernel
from tui.terminal.diagnostics import note


def tree_walk(study: Study, target: Target) -> TreeWalk:
    """Return the walk through the trees of a study's method, by its settings and overrides."""
    choice = study.choice
    return TreeWalk(study.counts, choice.method, target, settings=choice.settings, overrides=choice.overrides)


def chosen_group(study: Study, groups: PlanGroups, kernel: str | None, *, quiet: bool) -> int:
    """Return the group of the plan that `--kernel` means: a kernel group's own, or the pool that holds it.

    A part of a pool's key means the pool.
    """
    # Labels are of kernel groups, and what fits one of them may fit another one of the plan.
    is_text = kernel is not None and not kernel.startswith("#")
    if is_text and groups_containing(groups.counts, str(kernel)):
        return chosen_kernel(groups.counts, kernel, quiet=quiet)
    index = chosen_kernel(study.counts, kernel, quiet=quiet)
    group = int(groups.group_of[index])
    if groups.is_pool[group]:
        others = int((groups.group_of == group).sum()) - 1
        note(
            f"#{index + 1} is pooled with {others} other kernel groups; the tree of their pool is shown",
            quiet=quiet,
        )
    return group
