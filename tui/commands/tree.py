"""`tree`: how a kernel group is split, decision by decision."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from sampling.methods import method_options, splitting_method
from sampling.split_tree import SplitTree
from sampling.study import Study
from tui.charts.histogram import histogram
from tui.charts.plain import plain
from tui.charts.rich_sink import ansi
from tui.charts.tree import tree as drawn_tree
from tui.engine import chosen_kernel, overrides_of, study_of
from tui.options import TreeOptions
from tui.output import Answer, Canvas, emit
from tui.tables import shortened

_HISTOGRAM_HEIGHT = 12
_LEFT_OUT = {"start", "stop"}


def run(options: TreeOptions) -> None:
    """Read, split one group, draw."""
    overrides = overrides_of(options.overrides)
    method = splitting_method(options.method)
    study = study_of(options.profiles, options, method=options.method, overrides=overrides)
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    key = study.counts.groups[group].key
    chosen = method_options(options.method, options.set)
    grown = method.split_tree(study.counts, group, study.design.target, chosen, overrides)
    rows = [_row(asdict(node)) | {"key": key} for node in grown.nodes]
    codes = tuple(finding.code for finding in study.findings)
    emit(Answer("tree", rows, lambda canvas: _text(study, grown, options, canvas), warnings=codes), options)


def _row(node: dict[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in node.items() if name not in _LEFT_OUT}
    row["verdict"] = str(node["verdict"])
    row["samples_new"] = None if node["samples_new"] is None else list(node["samples_new"])
    return row


def _text(study: Study, grown: SplitTree, options: TreeOptions, canvas: Canvas) -> str:
    counts = study.counts
    durations_ns, launches = counts.group_pairs(grown.group)
    clusters = [
        (int(counts.duration_ns[leaf.start]), int(counts.duration_ns[leaf.stop - 1])) for leaf in grown.leaves
    ]
    chart = histogram(
        durations_ns, launches, clusters, canvas.width, _HISTOGRAM_HEIGHT, ascii_only=canvas.ascii_only
    )
    branches = drawn_tree(
        grown.nodes, canvas.width, max_depth=options.max_depth, ascii_only=canvas.ascii_only
    )
    sink = ansi if canvas.color else plain
    title = f"#{grown.group + 1} {counts.groups[grown.group].key}"
    reasons = [
        line
        for node in grown.nodes
        for line in textwrap.wrap(
            f"{node.path or 'root'}: {node.verdict}, {node.reason}", canvas.width, subsequent_indent="  "
        )
    ]
    return "\n".join(
        [
            shortened(title, canvas.width, ascii_only=canvas.ascii_only),
            sink(chart),
            "",
            sink(branches),
            "",
            *reasons,
        ]
    )
