"""One screen on a profile: what dominates, what to watch out for, what a plan costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.plan.study import Study
from sampling.text import counted
from tui.charts.quantities import count, duration
from tui.engine.planning import PlanCosts
from tui.options.command_line import PLAN_NAME, command_line, options_of
from tui.options.look import TreeOptions
from tui.options.plan import CompareOptions, SampleOptions
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions
from tui.output.blocks import Said, Typed
from tui.text.groups import devices_named, group_row, short_group_listing
from tui.text.plan import (
    binding_text,
    bound_sentence,
    cost_rows,
    design_row,
    hours_lines,
    known_sentence,
    pooled_row,
    promise_words,
    simulate_sentence,
)
from tui.text.profile import (
    busy_sentence,
    busy_shares,
    device_name,
    finding_rows,
    finding_sentences,
    held_words,
    kind_shares,
    kind_words,
)

_LARGEST = 10
_MOST_BINDING = 3


def following_commands(profiles: tuple[str, ...], options: MethodOptions) -> list[str]:
    """Return commands to run next, on the same launches with the same target."""
    shown = OutputOptions()
    kept = {field.name: getattr(shown, field.name) for field in fields(shown) if field.name != "seed"}
    kept["profiles"] = profiles
    # Root has split trees, unless another method that has them was chosen.
    has_trees = options.method != DEFAULT_METHOD and method_named(options.method).trees is not None
    stepped = options.method if has_trees else "root"
    changes: tuple[tuple[str, type[PlanningOptions], dict[str, Any]], ...] = (
        ("sample", SampleOptions, {"output": PLAN_NAME}),
        ("tree", TreeOptions, {"kernel": "#1", "method": stepped}),
        ("compare", CompareOptions, {}),
    )
    return [
        command_line(name, options_of(kind, options, **{**kept, **change})) for name, kind, change in changes
    ]


def summary_results(study: Study, following: list[str], costs: PlanCosts) -> dict[str, Any]:
    """Return what the contract's `summary` has.

    Parameters
    ----------
    following : the commands to run next.
    costs : what binds the plan, and what it takes to simulate.
    """
    counts = study.counts
    return {
        "device": device_name(study),
        "launches": counts.launches,
        "kernel_groups": len(counts.groups),
        "total_duration_ns": counts.total_duration_ns,
        "busy": busy_shares(study),
        "kinds": kind_shares(study),
        "findings": finding_rows(study),
        "groups": _largest(study),
        "plan": design_row(study),
        "promise": promise_words(study.design),
        "pooled": pooled_row(study),
        **cost_rows(counts.total_duration_ns, costs),
        "next": following,
    }


def _largest(study: Study) -> list[dict[str, Any]]:
    return [group_row(study, index) for index in range(min(_LARGEST, len(study.counts.groups)))]


def summary_blocks(
    study: Study, profiles: tuple[str, ...], following: list[str], costs: PlanCosts, *, details: bool
) -> Iterator[Said]:
    """Yield which GPU ran what, the largest kernel groups, the plan, the findings, what to run next.

    Parameters
    ----------
    details : whether each bound of the plan is told.
    """
    counts, design, name = study.counts, study.design, device_name(study)
    total_ns = counts.total_duration_ns
    yield f"{', '.join(profiles)} ({study.profile.format}{'' if name is None else f', {name}'})"
    yield _amount(study)
    yield from filter(None, (f"By kind of work: {kind_words(study)}", busy_sentence(study)))
    yield ""
    yield short_group_listing(study, _largest(study))
    if (left := len(counts.groups) - _LARGEST) > 0:
        yield f"and {count(left)} smaller groups: `kernelpoint groups`"
    yield from devices_named(study)
    yield ""
    yield simulate_sentence(design, counts.launches, total_ns)
    yield known_sentence(design)
    yield from hours_lines(design, costs)
    yield binding_text((costs.binding or ())[:_MOST_BINDING], design, total_ns, costs.slowdown)
    yield from [bound_sentence(design)] if details else []
    yield from finding_sentences(study)
    yield from (Typed(line, "      " if number else "Next: ") for number, line in enumerate(following))


def _amount(study: Study) -> str:
    """Return how much there is, and how few of several groups hold most of the time."""
    counts = study.counts
    launches = counted(counts.launches, "launch", "launches")
    groups, time = counted(len(counts.groups), "kernel group"), duration(counts.total_duration_ns)
    held = held_words(study)
    return f"{launches} in {groups}, {time} of kernel time{f'; {held}' if held else ''}"
