"""View 2 without widgets: its titles, the branches, the words on decisions, the command for the same."""

from __future__ import annotations

from dataclasses import replace

from sampling.errors import SamplingError
from sampling.methods.registry import splits_groups
from sampling.plan.study import Study
from sampling.reduction.group_by import GroupBy
from sampling.splitting.groups import Overrides
from sampling.splitting.tree import Verdict
from sampling.text import counted
from tui.app.overrides_file import options_with_overrides
from tui.app.planning import in_few_words
from tui.app.split_tree.walking import WalkSpec
from tui.app.state import Session
from tui.charts import quantities
from tui.charts.grid import Grid, blank
from tui.charts.tree import tree
from tui.options.command_line import command_line, options_of
from tui.options.commands import TreeOptions
from tui.options.flags import error_text
from tui.text import facts
from tui.text.tree import TreeStop, node_name

_NO_NODE = "-"
"""No node's path: what is marked when a group is split to its end."""


def node_title(
    stop: TreeStop, study: Study | None, method: str, of_plan: str, *, log: bool
) -> tuple[str, str]:
    """Return the group and which of its decisions is looked at; the axis and whose trees these are.

    Parameters
    ----------
    method, of_plan : whose trees are shown, and the plan's method.
    """
    taken = len(stop.nodes)
    if stop.node is None:
        place = "its one decision" if taken == 1 else f"all {counted(taken, 'decision', 'decisions')}"
    elif stop.node.index == taken:
        place = f"decision {quantities.count(taken + 1)}, {node_name(stop.node.path)}"
    else:
        so_far = "" if stop.ahead is None else " so far"
        place = f"decision {stop.node.index + 1} of {quantities.count(taken)}{so_far}"
    axis = "log" if log else "linear"
    whose = f"for {of_plan}" if splits_groups(of_plan) else "for study"
    whose = "the plan's" if method == of_plan else whose
    return f"[2] {stop.name} {place}{_label(stop, study)}", f"[x] {axis}  [m] {method}, {whose}"


def _label(stop: TreeStop, study: Study | None) -> str:
    if study is None:
        return ""
    return f": {facts.group_label(study, stop.group)}"


def tree_title(stop: TreeStop) -> tuple[str, str]:
    """Return whether all of the group's tree is there, and the keys that change it."""
    return "[tab] Tree" if stop.ahead is None else "[tab] Tree so far", "+ split  - keep  u undo"


def card_title(stop: TreeStop) -> tuple[str, str]:
    """Return that the words are of a decision, with the keys that take it; or of a group that is split."""
    return ("This kernel group", "") if stop.node is None else ("[+ -] This decision", "")


def decided_words(group: str, path: str, verdict: Verdict, by: str, of_plan: str) -> str:
    """Return what the user has decided on a node, and whether the plan is by another method now.

    Parameters
    ----------
    group : its name.
    by, of_plan : the method of the plan, now and before.
    """
    what = "split" if verdict is Verdict.SPLIT else "kept whole"
    plans = "u takes it back"
    if by != of_plan:
        plans = f"the plan is by {by} now; u goes back to {of_plan}"
    return f"{group} {node_name(path)} {what} by you; {plans}"


def undone_words(decisions_left: int, method: str, method_before: str) -> str:
    """Return that a decision is taken back, how many are left, and whether the method went back with it.

    Parameters
    ----------
    method, method_before : of the plan, now and before.
    """
    left = counted(decisions_left, "decision", "decisions")
    back = "" if method == method_before else f", by {method} again"
    return f"taken back{back}; {left} of yours left"


def refused_words(error: SamplingError, overrides: Overrides, method: str) -> str:
    """Return why what was asked of the walk cannot be done."""
    return error_text(in_few_words(error, overrides, f"in the trees of {method}"))


def tree_command(
    session: Session, spec: WalkSpec | None, stop: TreeStop | None, method: str, node: str | None
) -> str:
    """Return the `tree` command after as many decisions, looking at the same node.

    Parameters
    ----------
    spec : what the walk is made from; the session may be ahead of it.
    node : the path of the node under the cursor; None where that is the decision ahead.

    Raises
    ------
    OSError : the file of split decisions cannot be written.
    """
    kernel, taken = "#1", 0
    if stop is not None:
        kernel, taken = f"#{stop.group + 1}", len(stop.nodes)
    if spec is not None:
        session = replace(session, options=spec.options, overrides=spec.overrides)
    options = options_with_overrides(session)
    if options.group_by is GroupBy.PUBLISHED and spec is not None:
        # That of the plan's method, whose groups these are.
        options = replace(options, group_by=spec.counts.grouping.by)
    tree_options = options_of(
        TreeOptions,
        options,
        kernel=kernel,
        method=method,
        decisions=taken,
        node=None if node is None else node_name(node),
        log=session.log,
    )
    return command_line("tree", tree_options)


def draw_branches(stop: TreeStop, width: int, height: int, *, ascii_only: bool) -> Grid:
    """Return the branches so far, as many rows as there is room for, that of the node in focus among them."""
    if width < 1 or height < 2:
        return blank(width, height)
    taken = len(stop.nodes)
    all_rows, at = taken + (stop.ahead is not None), taken if stop.node is None else stop.node.index
    room = height - 1
    first = max(min(at - room // 2, all_rows - room), 0)
    return tree(
        stop.nodes,
        width,
        proposed=stop.ahead,
        marked=_NO_NODE if stop.node is None else stop.node.path,
        rows=(first, first + room),
        ascii_only=ascii_only,
    )


def durations_of(stop: TreeStop) -> int:
    """Return how many different durations the histogram has."""
    if stop.node is not None:
        return stop.node.stop - stop.node.start
    return int(stop.counts.offsets[stop.group + 1] - stop.counts.offsets[stop.group])
