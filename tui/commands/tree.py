"""`tree`: how a kernel group is split, decision by decision."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from sampling.methods.method import SplitRequest
from sampling.methods.registry import method_options, split_trees_of
from sampling.plan.study import Study
from sampling.plan.walk.tree_walk import TreeWalk
from sampling.splitting.groups import Overrides
from sampling.splitting.tree import SplitNode
from tui.engine.studies import chosen_kernel, overrides_of, study_of, target_of
from tui.options.commands import TreeOptions
from tui.output.writer import Answer, emit
from tui.text.tree import TreeStop, node_at, stop_of, tree_text

_LEFT_OUT = {"start", "stop"}


def run(options: TreeOptions) -> None:
    """Read, split one group, draw."""
    overrides = overrides_of(options.overrides, options.method, quiet=options.quiet)
    split_trees_of(options.method)
    study = study_of(options.profiles, options, method=options.method, overrides=overrides)
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    key = study.counts.groups[group].key
    stop = _stop(study, group, options, overrides)
    rows = [_row(node, len(stop.nodes)) | {"key": key} for node in stop.nodes]
    codes = tuple(finding.code for finding in study.findings)
    emit(
        Answer(
            "tree",
            rows,
            lambda canvas: tree_text(stop, canvas, options.max_depth, log=options.log),
            warnings=codes,
        ),
        options,
    )


def _stop(study: Study, group: int, options: TreeOptions, overrides: Overrides | None) -> TreeStop:
    """Return the group's whole tree, or its first decisions; with the node that is asked for."""
    if options.decisions is None:
        request = SplitRequest(
            counts=study.counts,
            target=study.design.target,
            options=method_options(options.method, options.set),
            overrides=overrides or {},
        )
        grown = split_trees_of(options.method).split_tree(request, group)
        stop = TreeStop(study.counts, group, grown.nodes)
    else:
        walk = TreeWalk(
            study.counts,
            options.method,
            target_of(options),
            settings=options.set,
            overrides=overrides,
        )
        walk.enter(group, options.decisions)
        stop = stop_of(walk)
    if options.node is None:
        return stop
    seen = stop.nodes if stop.ahead is None else (*stop.nodes, stop.ahead)
    return replace(stop, node=node_at(seen, options.node))


def _row(node: SplitNode, taken: int) -> dict[str, Any]:
    """Return a node as the contract lists it; a child that is not decided on is not there yet."""
    row = {name: value for name, value in asdict(node).items() if name not in _LEFT_OUT}
    row["verdict"] = str(node.verdict)
    row["samples_new"] = None if node.samples_new is None else list(node.samples_new)
    row["left"] = node.left if node.left is not None and node.left < taken else None
    return row
