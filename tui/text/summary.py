"""One screen on a profile: what dominates, what to watch out for, what a plan costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.plan.study import Study
from sampling.reduction.duration_counts import fewest_holding
from sampling.text import counted
from tui.charts import quantities
from tui.engine.planning import PlanCosts
from tui.options.command_line import command_line, options_of, printed_plan_name
from tui.options.look import TreeOptions
from tui.options.plan import CompareOptions, SampleOptions
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import table, wrapped
from tui.text import facts
from tui.text.groups import short_group_columns
from tui.text.header import MOST_SHARE
from tui.text.promise import (
    binding_text,
    cost_rows,
    hours_lines,
    known_sentence,
    pooled_row,
    promise_words,
    simulate_sentence,
)

_LARGEST = 10
_MOST_BINDING = 3
_NEXT_LABELS = ("Next: ", "      ", "      ")


def following_commands(profiles: tuple[str, ...], options: MethodOptions) -> list[str]:
    """Return commands to run next, on the same launches with the same target."""
    shown = OutputOptions()
    kept = {field.name: getattr(shown, field.name) for field in fields(shown) if field.name != "seed"}
    kept["profiles"] = profiles
    plan = printed_plan_name(options_of(SampleOptions, options, **kept))
    changes: tuple[tuple[str, type[PlanningOptions], dict[str, Any]], ...] = (
        ("sample", SampleOptions, {"output": plan}),
        ("tree", TreeOptions, {"kernel": "#1", "method": _stepped(options.method)}),
        ("compare", CompareOptions, {}),
    )
    return [
        command_line(name, options_of(kind, options, **{**kept, **change})) for name, kind, change in changes
    ]


def _stepped(method: str) -> str:
    """Return the method whose split tree to show: root, unless another one with split trees was chosen."""
    return method if method != DEFAULT_METHOD and method_named(method).trees is not None else "root"


def summary_results(study: Study, following: list[str], costs: PlanCosts) -> dict[str, Any]:
    """Return what the contract's `summary` has.

    Parameters
    ----------
    following : the commands to run next.
    costs : what binds the plan, and what it takes to simulate.
    """
    return {
        "device": facts.device_name(study),
        "launches": study.counts.launches,
        "kernel_groups": len(study.counts.groups),
        "total_duration_ns": study.counts.total_duration_ns,
        "busy": facts.busy_shares(study),
        "kinds": facts.kind_shares(study),
        "findings": facts.finding_rows(study),
        "groups": _largest(study),
        "plan": facts.design_row(study),
        "promise": promise_words(study.design),
        "pooled": pooled_row(study),
        **cost_rows(study.counts.total_duration_ns, costs),
        "next": following,
    }


def _largest(study: Study) -> list[dict[str, Any]]:
    return [facts.group_row(study, index) for index in range(min(_LARGEST, len(study.counts.groups)))]


def summary_text(
    study: Study,
    profiles: tuple[str, ...],
    following: list[str],
    costs: PlanCosts,
    canvas: Canvas,
    *,
    details: bool,
) -> str:
    """Return the screen: the largest kernel groups, the plan, the findings, what to run next.

    Parameters
    ----------
    following : the commands to run next.
    costs : what binds the plan, and what it takes to simulate.
    details : whether each bound of the plan is told.
    """
    said = [
        *_plan_lines(study, costs),
        *(facts.bounds_line(study.design, None).splitlines() if details else []),
    ]
    parts = [
        *(part for line in _head(study, profiles) for part in wrapped(line, canvas.width)),
        "",
        table(short_group_columns(study, _largest(study), canvas)),
        *_left(study),
        "",
        *(part for line in said for part in wrapped(line, canvas.width)),
        *facts.finding_lines(study, canvas),
        *(f"{label}{line}" for label, line in zip(_NEXT_LABELS, following, strict=False)),
    ]
    return "\n".join(parts)


def summary_blocks(
    study: Study, profiles: tuple[str, ...], following: list[str], costs: PlanCosts, canvas: Canvas
) -> Iterator[Block]:
    """Yield the same as paragraphs and a table."""
    yield from _head(study, profiles)
    yield short_group_columns(study, _largest(study), canvas)
    yield from _left(study)
    yield from _plan_lines(study, costs)
    yield from facts.finding_lines(study, canvas)
    yield from (f"Next: `{line}`" for line in following)


def _head(study: Study, profiles: tuple[str, ...]) -> list[str]:
    """Return which GPU ran what, whether it was busy, and what dominates."""
    counts, name = study.counts, facts.device_name(study)
    on = "" if name is None else f", {name}"
    launches = counted(counts.launches, "launch", "launches")
    groups = counted(len(counts.groups), "kernel group", "kernel groups")
    total = quantities.duration(counts.total_duration_ns)
    lines = [
        f"{', '.join(profiles)} ({study.profile.format}{on})",
        f"{launches} in {groups}, {total} of kernel time{_held(study)}",
    ]
    if kinds := facts.kind_words(study):
        lines.append(f"By kind of work: {kinds}")
    busy = facts.busy_words(study)
    return lines if busy is None else [*lines, f"{busy[0].upper()}{busy[1:]}"]


def _left(study: Study) -> list[str]:
    """Return how many groups are not listed, and what the devices are called in those that are."""
    left = len(study.counts.groups) - _LARGEST
    smaller = [f"and {quantities.count(left)} smaller groups: `kernelpoint groups`"] if left > 0 else []
    return smaller + facts.devices_named(study)


def _held(study: Study) -> str:
    """Return how few of several groups hold most of the time."""
    totals_ns = study.counts.group_duration_ns
    holding = fewest_holding(totals_ns)
    if not holding or len(totals_ns) == 1:
        return ""
    hold = "holds" if holding == 1 else "hold"
    return f"; {quantities.count(holding)} {hold} {MOST_SHARE}"


def _plan_lines(study: Study, costs: PlanCosts) -> list[str]:
    """Return the plan, what it takes to simulate, and the first few options that make it dear."""
    design, total_ns = study.design, study.counts.total_duration_ns
    binding = binding_text((costs.binding or ())[:_MOST_BINDING], design, total_ns, costs.slowdown)
    return [
        simulate_sentence(design, study.counts.launches, total_ns),
        known_sentence(design),
        *hours_lines(design, costs),
        binding,
    ]
