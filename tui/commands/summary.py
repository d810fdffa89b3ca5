"""`summary`: one screen that says what dominates, what to watch out for, and what a plan costs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sampling.methods.registry import DEFAULT_METHOD, method_named
from tui.engine.studies import study_as_asked
from tui.options.command_line import command_line, options_of, printed_plan_name
from tui.options.commands import (
    CompareOptions,
    MethodOptions,
    OutputOptions,
    PlanningOptions,
    SampleOptions,
    SummaryOptions,
    TreeOptions,
)
from tui.output.writer import Answer, emit
from tui.text import facts
from tui.text.summary import LARGEST, summary_text


def run(options: SummaryOptions) -> None:
    """Read, study, show."""
    show(options.profiles, options)


def show(profiles: tuple[str, ...], options: MethodOptions, command: str = "summary") -> None:
    """Print the summary of these files; also what `open` and `demo` do without a terminal."""
    study = study_as_asked(profiles, options)
    following = _next(profiles, options)
    results = {
        "device": facts.device_name(study),
        "launches": study.counts.launches,
        "kernel_groups": len(study.counts.groups),
        "total_duration_ns": study.counts.total_duration_ns,
        "findings": facts.finding_rows(study),
        "groups": [facts.group_row(study, index) for index in range(min(LARGEST, len(study.counts.groups)))],
        "plan": facts.design_row(study),
        "next": following,
    }
    emit(
        Answer(
            command,
            results,
            human=lambda canvas: summary_text(study, profiles, following, canvas),
            warnings=tuple(finding.code for finding in study.findings),
        ),
        options,
    )


def _next(profiles: tuple[str, ...], options: MethodOptions) -> list[str]:
    """Return commands on the same launches with the same target; how this summary is shown is its own."""
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
    """Return whose decisions to look at: ROOT's, whose rule is the simplest, unless another was asked for."""
    return method if method != DEFAULT_METHOD and method_named(method).trees is not None else "root"
