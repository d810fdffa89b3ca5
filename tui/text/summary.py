"""One screen on a profile: what dominates, what to watch out for, what a plan costs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.plan.study import Study
from sampling.reduction.concentration import fewest_holding
from sampling.text import counted
from tui.charts import quantities
from tui.engine.budgets import PlanCosts
from tui.options.command_line import command_line, options_of, printed_plan_name
from tui.options.commands import CompareOptions, SampleOptions, TreeOptions
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.tables import table
from tui.text import facts
from tui.text.binding import binding_text, cost_rows, hours_lines
from tui.text.group_tables import short_group_columns
from tui.text.header import MOST_SHARE
from tui.text.promise import pooled_row, promise_words

_LARGEST = 10
_MOST_BINDING = 3
_NEXT_LABELS = ("Next  ", "      ", "      ")


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
    study: Study, profiles: tuple[str, ...], following: list[str], costs: PlanCosts, canvas: Canvas
) -> str:
    """Return the screen: the largest kernel groups, the findings, the plan, what to run next.

    Parameters
    ----------
    following : the commands to run next.
    costs : what binds the plan, and what it takes to simulate.
    """
    parts = [
        *_head(study, profiles, canvas),
        "",
        table(short_group_columns(study, _largest(study), canvas), ascii_only=canvas.ascii_only),
        *_left(study),
        "",
        facts.findings_text(study, canvas),
        "",
        *_labelled("Plan  ", _plan_lines(study, costs), canvas),
        *(f"{label}{line}" for label, line in zip(_NEXT_LABELS, following, strict=False)),
    ]
    return "\n".join(parts)


def summary_blocks(
    study: Study, profiles: tuple[str, ...], following: list[str], costs: PlanCosts, canvas: Canvas
) -> Iterator[Block]:
    """Yield the same as paragraphs and a table."""
    yield from _head(study, profiles, canvas)
    yield short_group_columns(study, _largest(study), canvas)
    yield from _left(study)
    yield from facts.finding_blocks(study)
    yield from (
        f"Plan: {line}" if not number else line for number, line in enumerate(_plan_lines(study, costs))
    )
    yield from (f"Next: `{line}`" for line in following)


def _head(study: Study, profiles: tuple[str, ...], canvas: Canvas) -> list[str]:
    """Return the files, and how much is in them."""
    counts = study.counts
    launches = counted(counts.launches, "launch", "launches")
    groups = counted(len(counts.groups), "kernel group", "kernel groups")
    total = f"{quantities.duration(counts.total_duration_ns)} of kernel time"
    amounts = f"{launches} in {groups}, {total}"
    held = amounts + _held(study)
    return [
        f"{', '.join(profiles)} ({study.profile.format}" + _on(study) + ")",
        held if len(held) <= canvas.width else amounts,
    ]


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
    return [*facts.design_line(study).splitlines(), *hours_lines(design, costs), binding]


def _labelled(label: str, lines: list[str], canvas: Canvas) -> list[str]:
    """Return wrapped lines after a label, with the further lines indented by its width."""
    indent = " " * len(label)
    width = canvas.width - len(label)
    wrapped = [part for line in lines for part in textwrap.wrap(line, width, break_on_hyphens=False)]
    return [f"{indent if number else label}{part}" for number, part in enumerate(wrapped)]


def _on(study: Study) -> str:
    name = facts.device_name(study)
    return "" if name is None else f", {name}"
