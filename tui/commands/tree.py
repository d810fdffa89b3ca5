"""`tree`: how a kernel group is split, decision by decision."""

from __future__ import annotations

from dataclasses import replace

from sampling.methods.registry import split_trees_of
from sampling.plan.walk import TreeWalk
from tui.engine.studies import chosen_kernel, overrides_of, study_of, target_of
from tui.options.commands import TreeOptions
from tui.output.writer import Answer, emit
from tui.text.selection import part_of_study, stated
from tui.text.tree import node_at, stop_of, tree_blocks, tree_rows, tree_text, whole_tree


def run(options: TreeOptions) -> None:
    """Read, split one group, draw."""
    overrides = overrides_of(options.overrides, options.method, quiet=options.quiet)
    split_trees_of(options.method)
    study = study_of(options.profiles, options, method=options.method, overrides=overrides)
    choice, counts = study.choice, study.counts
    walk = TreeWalk(
        counts, choice.method, target_of(options), settings=choice.settings, overrides=choice.overrides
    )
    walk.enter(chosen_kernel(counts, options.kernel, quiet=options.quiet))
    if options.decisions is None:
        stop = whole_tree(walk)
    else:
        walk.enter(walk.group, options.decisions)
        stop = stop_of(walk)
    if options.node is not None:
        seen = stop.nodes if stop.ahead is None else (*stop.nodes, stop.ahead)
        stop = replace(stop, node=node_at(seen, options.node))
    answer = Answer(
        "tree",
        tree_rows(stop),
        lambda canvas: tree_text(stop, canvas, options.max_depth, log=options.log),
        blocks=lambda _: tree_blocks(stop),
        warnings=tuple(finding.code for finding in study.findings),
    )
    emit(stated(answer, part_of_study(study)), options)
