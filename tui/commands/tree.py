"""`tree`: how a kernel group is split, decision by decision."""

from __future__ import annotations

from dataclasses import replace

from sampling.methods.registry import split_trees_of
from tui.engine.split_trees import split_nodes, tree_walk
from tui.engine.studies import chosen_kernel, overrides_of, study_of, target_of
from tui.options.commands import TreeOptions
from tui.output.writer import Answer, emit
from tui.text.tree import TreeStop, node_at, stop_of, tree_rows, tree_text


def run(options: TreeOptions) -> None:
    """Read, split one group, draw."""
    overrides = overrides_of(options.overrides, options.method, quiet=options.quiet)
    split_trees_of(options.method)
    study = study_of(options.profiles, options, method=options.method, overrides=overrides)
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    if options.decisions is None:
        stop = TreeStop(study.counts, group, split_nodes(study, group))
    else:
        stop = stop_of(tree_walk(study, group, options.decisions, target_of(options)))
    if options.node is not None:
        seen = stop.nodes if stop.ahead is None else (*stop.nodes, stop.ahead)
        stop = replace(stop, node=node_at(seen, options.node))
    emit(
        Answer(
            "tree",
            tree_rows(stop),
            lambda canvas: tree_text(stop, canvas, options.max_depth, log=options.log),
            warnings=tuple(finding.code for finding in study.findings),
        ),
        options,
    )
