"""One screen on a profile: what dominates, what to watch out for, what a plan costs."""

from __future__ import annotations

import textwrap
from typing import Any

from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.output.writer import Canvas
from tui.text import facts

LARGEST = 10
_NEXT_LABELS = ("Next  ", "      ", "      ")


def summary_text(study: Study, profiles: tuple[str, ...], following: list[str], canvas: Canvas) -> str:
    """Return the screen: the largest kernel groups, the findings, the plan, what to run next.

    Parameters
    ----------
    following : the commands to run next.
    """
    counts = study.counts
    rows: list[dict[str, Any]] = [
        facts.group_row(study, index) for index in range(min(LARGEST, len(counts.groups)))
    ]
    left = len(counts.groups) - len(rows)
    launches = counted(counts.launches, "launch", "launches")
    groups = counted(len(counts.groups), "kernel group", "kernel groups")
    total = quantities.duration(counts.total_duration_ns)
    parts = [
        f"{', '.join(profiles)} ({study.profile.format}" + _on(study) + ")",
        f"{launches} in {groups}, {total} of kernel time",
        "",
        facts.short_groups_table(study, rows, canvas),
        *([f"and {quantities.count(left)} smaller groups: `kernelpoint groups`"] if left else []),
        "",
        facts.findings_text(study, canvas),
        "",
        *_labelled("Plan  ", facts.design_line(study).splitlines(), canvas),
        *(f"{label}{line}" for label, line in zip(_NEXT_LABELS, following, strict=True)),
    ]
    return "\n".join(parts)


def _labelled(label: str, lines: list[str], canvas: Canvas) -> list[str]:
    """Return lines wrapped behind a label, all below it indented as far."""
    indent = " " * len(label)
    wrapped = [part for line in lines for part in textwrap.wrap(line, canvas.width - len(label))]
    return [f"{indent if number else label}{part}" for number, part in enumerate(wrapped)]


def _on(study: Study) -> str:
    name = facts.device_name(study)
    return "" if name is None else f", {name}"
