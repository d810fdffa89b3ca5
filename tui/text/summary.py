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
from tui.text import plan as plan_words
from tui.text import profile as profile_words
from tui.text.groups import devices_named, group_row, short_group_listing

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
    """Return what the contract's `summary` has; `following` are the commands to run next."""
    counts = study.counts
    return {
        "device": profile_words.device_name(study),
        "launches": counts.launches,
        "kernel_groups": len(counts.groups),
        "total_duration_ns": counts.total_duration_ns,
        "busy": profile_words.busy_shares(study),
        "kinds": profile_words.kind_shares(study),
        "findings": profile_words.finding_rows(study),
        "groups": _largest(study),
        "plan": plan_words.design_row(study),
        "promise": plan_words.promise_words(study.design),
        "pooled": plan_words.pooled_row(study),
        **plan_words.cost_rows(counts.total_duration_ns, costs),
        "next": following,
    }


def _largest(study: Study) -> list[dict[str, Any]]:
    return [group_row(study, index) for index in range(min(_LARGEST, len(study.counts.groups)))]


def summary_blocks(
    study: Study, profiles: tuple[str, ...], following: list[str], costs: PlanCosts, *, details: bool
) -> Iterator[Said]:
    """Yield which GPU ran what, the largest kernel groups, the plan, the findings, what to run next.

    `details`: whether each bound of the plan is told.
    """
    counts, design, name = study.counts, study.design, profile_words.device_name(study)
    total_ns, held = counts.total_duration_ns, profile_words.held_words(study)
    yield f"{', '.join(profiles)} ({study.profile.format}{'' if name is None else f', {name}'})"
    launches, groups = (
        counted(counts.launches, "launch", "launches"),
        counted(len(counts.groups), "kernel group"),
    )
    yield f"{launches} in {groups}, {duration(total_ns)} of kernel time{held and f'; {held}'}"
    yield f"By kind of work: {profile_words.kind_words(study)}"
    yield from filter(None, [profile_words.busy_sentence(study)])
    yield ""
    yield short_group_listing(study, _largest(study))
    if (left := len(counts.groups) - _LARGEST) > 0:
        yield f"and {count(left)} smaller groups: `kernelpoint groups`"
    yield from devices_named(study)
    yield ""
    yield plan_words.simulate_sentence(design, counts.launches, total_ns)
    yield plan_words.known_sentence(design)
    yield from plan_words.hours_lines(design, costs)
    binding = (costs.binding or ())[:_MOST_BINDING]
    yield plan_words.binding_text(binding, design, total_ns, costs.slowdown)
    yield from [plan_words.bound_sentence(design)] if details else []
    yield from profile_words.finding_sentences(study)
    yield from (Typed(line, "      " if number else "Next: ") for number, line in enumerate(following))
