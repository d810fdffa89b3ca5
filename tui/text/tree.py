"""A kernel group's split tree in words and charts, as `tree` prints it and view 2 shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sampling.errors import OptionError
from sampling.plan.split_stepper import RunningTotals, SplitStepper
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import SplitNode, Verdict
from sampling.text import counted
from tui.charts.grid import Grid
from tui.charts.histogram import DurationAxis, histogram
from tui.charts.quantities import UNKNOWN, count, duration, duration_range, ratio, share
from tui.charts.tree import tree
from tui.output.blocks import Block
from tui.output.writer import Canvas
from tui.terminal.printable import Column
from tui.text.groups import group_columns
from tui.text.labels import group_title

_HISTOGRAM_HEIGHT = 12


@dataclass(frozen=True, slots=True, eq=False)
class TreeSnapshot:
    """The split tree of a kernel group after some of its decisions."""

    counts: DurationCounts
    group: int
    #: The decisions so far, and the one that comes next, None when there is none left.
    nodes: tuple[SplitNode, ...]
    pending: SplitNode | None = None
    #: The one that is shown in detail, of these; None for the whole group.
    node: SplitNode | None = None
    #: What the decisions so far would cost; None where it was not computed.
    running: RunningTotals | None = None
    #: Whether these are all decisions of all groups.
    is_plan: bool = False

    @property
    def name(self) -> str:
        """The kernel group's rank."""
        return f"#{self.group + 1}"


def whole_tree(walk: SplitStepper) -> TreeSnapshot:
    """Return all decisions on the group where a walk is."""
    walk.finish_group()
    return TreeSnapshot(walk.counts, walk.group, walk.nodes)


def take_snapshot(walk: SplitStepper) -> TreeSnapshot:
    """Return where a walk is now, with the decision that comes next shown in detail."""
    pending = walk.pending
    return TreeSnapshot(walk.counts, walk.group, walk.nodes, pending, pending, walk.running, walk.at_end)


def node_name(path: str) -> str:
    """Return a node's path as it is printed and typed, with `root` for the empty path."""
    return path or "root"


def node_at(nodes: Sequence[SplitNode], name: str) -> SplitNode:
    """Return the node that a name means; raise OptionError where no node has it."""
    for node in nodes:
        if node_name(node.path) == name:
            return node
    message = f"--node {name}: the tree has no such node so far"
    raise OptionError(message, remedy="root is meant, or L or R a step, as `kernelpoint tree` prints it")


def stop_histogram(stop: TreeSnapshot, width: int, height: int, *, log: bool = False) -> Grid:
    """Return the durations of the node that is looked at, with its threshold; else those of the group."""
    counts, node = stop.counts, stop.node
    axis: DurationAxis = "log" if log else "linear"
    if node is None:
        clusters = [_range_ns(counts, node) for node in stop.nodes if node.verdict is Verdict.KEEP]
        return histogram(*counts.group_pairs(stop.group), clusters, width, height, axis=axis)
    of_node = slice(node.start, node.stop)
    split = None if node.threshold_ns is None else (node.threshold_ns, node.verdict is Verdict.SPLIT)
    pairs = counts.duration_ns[of_node], counts.count[of_node]
    return histogram(*pairs, [], width, height, axis=axis, split=split)


def _range_ns(counts: DurationCounts, node: SplitNode) -> tuple[int, int]:
    return int(counts.duration_ns[node.start]), int(counts.duration_ns[node.stop - 1])


def place_line(stop: TreeSnapshot) -> str:
    """Return how many decisions were taken on the group, and which comes next."""
    decisions = counted(len(stop.nodes), "decision")
    return (
        f"after {decisions}, next {node_name(stop.pending.path)}"
        if stop.pending
        else f"split to its end by {decisions}"
    )


def card_lines(stop: TreeSnapshot) -> list[str]:
    """Return the facts of the node that is looked at: its size, the verdict, kept whole, split.

    Without a node, those of a group that is split to its end.
    """
    counts, node, group = stop.counts, stop.node, stop.group
    if node is None:
        durations_ns, _ = counts.group_pairs(group)
        launches, std_ns = int(counts.group_launches[group]), float(counts.group_std_ns[group])
        name, mean_ns = "all", int(counts.group_duration_ns[group]) / launches
        ends = int(durations_ns[0]), int(durations_ns[-1])
    else:
        name, launches, mean_ns, std_ns = node_name(node.path), node.launches, node.mean_ns, node.std_ns
        ends = _range_ns(counts, node)
    cov = f"{std_ns / mean_ns:.3f}" if mean_ns > 0 else UNKNOWN
    number = counted(launches, "launch")
    first = f"{name}: {number}, mean {duration(mean_ns)}, CoV {cov}, {duration_range(*ends)}"
    if node is None:
        clusters = sum(node.verdict is Verdict.KEEP for node in stop.nodes)
        return [first, f"{place_line(stop)}: {counted(clusters, 'cluster')}"]
    split = "split: not looked at"
    if node.samples_new is not None and node.tau_new_ns is not None and node.threshold_ns is not None:
        parts, at = " + ".join(map(count, node.samples_new)), duration(node.threshold_ns)
        split = f"split at {at}: {parts} samples, {duration(node.tau_new_ns)} to simulate (tau new)"
    samples = counted(node.samples_old, "sample")
    kept_text = f"whole: {samples}, {duration(node.tau_old_ns)} to simulate (tau old)"
    is_ahead = stop.pending is not None and node.path == stop.pending.path
    by = "proposed: " if is_ahead else "decided: "
    if node.overridden:
        # The reason already says that the user decided.
        by = "next: " if is_ahead else ""
    return [first, f"{by}{node.verdict}; {node.reason}", kept_text, split]


def running_lines(stop: TreeSnapshot) -> list[str]:
    """Return what the decisions so far would cost and promise, the longest wording first."""
    running = stop.running
    if running is None:
        return []
    speedup, samples = ratio(running.speedup), counted(running.samples, "sample")
    total, worst, bound = map(share, (running.bound, running.worst_group_bound, running.group_bound))
    head = "All groups split" if stop.is_plan else "If splitting ended here"
    cost = f"speedup {speedup}, {samples} in {counted(running.strata, 'stratum')}"
    bounds = f"{total} of the total time, {worst} of any kernel group's, {bound} of this one's"
    return [
        f"{head}: {cost}; error bounds: {bounds}",
        f"{speedup}, {samples}; bounds: total {total}, worst {worst}, this {bound}",
        f"{speedup}; total {total}, worst {worst}, this {bound}",
    ]


def tree_blocks(
    stop: TreeSnapshot, canvas: Canvas, max_depth: int | None = None, *, log: bool = False
) -> Iterator[Block]:
    """Yield the group's key, a histogram, the tree so far and the reasons of all decisions.

    On a page the tree is a table of its nodes, without the histogram.
    """
    looked_at = stop.node is not None or stop.running is not None
    place = [place_line(stop)] if stop.pending is not None else []
    groups = stop.counts.groups
    marked = None if stop.node is None else stop.node.path
    if canvas.is_page:
        yield group_columns(stop.name, groups[stop.group].key)
    else:
        yield group_title(stop.name, groups, stop.group, canvas.width)
    yield from place
    if not canvas.is_page:
        yield stop_histogram(stop, canvas.width, _HISTOGRAM_HEIGHT, log=log)
    yield from ("", *card_lines(stop)) if looked_at else ()
    if canvas.is_page:
        yield [
            Column("node", [node_name(node.path) for node in stop.nodes], to_right=False),
            Column("launches", [count(node.launches) for node in stop.nodes]),
            Column("mean", [duration(node.mean_ns) for node in stop.nodes]),
            Column("samples", [count(node.samples_old) for node in stop.nodes]),
            Column("tau old", [duration(node.tau_old_ns) for node in stop.nodes]),
            Column("tau new", [duration(node.tau_new_ns) for node in stop.nodes]),
            Column("split at", [duration(node.threshold_ns) for node in stop.nodes]),
            Column("decision", [f"{node.verdict}: {node.reason}" for node in stop.nodes], to_right=False),
        ]
    else:
        yield ""
        yield tree(stop.nodes, canvas.width, proposed=stop.pending, marked=marked, max_depth=max_depth)
        yield from [""] if stop.nodes else []
        yield from (f"{node_name(node.path)}: {node.verdict}, {node.reason}" for node in stop.nodes)
    yield from ("", running_lines(stop)[0]) if stop.running is not None else ()
