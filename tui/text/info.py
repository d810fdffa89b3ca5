"""What is in a profile, as `info` lists it."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from sampling.plan.study import Study
from tui.charts import quantities
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import pairs, printable
from tui.text import facts

_LABEL = 14


def info_results(study: Study) -> dict[str, Any]:
    """Return what the contract's `info` has."""
    profile, counts = study.profile, study.counts
    return {
        "format": profile.format,
        "files": [{"path": file.path, "launches": file.launches} for file in profile.files],
        "product": profile.facts.product,
        "launch_order": profile.facts.launch_order,
        "launches": counts.launches,
        "names": counts.names,
        "kernel_groups": len(counts.groups),
        "total_duration_ns": counts.total_duration_ns,
        "devices": facts.device_rows(study),
        "processes": len({sequence.process for sequence in study.sequences}),
        "streams": _streams(study),
        "span_ns": study.span_ns,
        "findings": facts.finding_rows(study),
    }


def _streams(study: Study) -> int | None:
    """Return how many streams launch kernels, counted apart for every process and device."""
    profile = study.profile
    if "stream" not in profile.columns:
        return None
    seen: set[tuple[int, int]] = set()
    for part in study.counted:
        stream = part.load(("stream",))["stream"]
        seen.update((part.sequence, number) for number in np.unique(stream).tolist())
    return len(seen)


def info_text(study: Study, results: dict[str, Any], canvas: Canvas) -> str:
    """Return the same as lines, and the findings."""
    body = "\n".join(_line(label, text, canvas) for label, text in info_lines(results))
    return f"{body}\n\n{facts.findings_text(study, canvas)}"


def info_blocks(study: Study, results: dict[str, Any]) -> list[Block]:
    """Return the same as a table and paragraphs."""
    return [pairs(info_lines(results)), *facts.finding_blocks(study)]


def _line(label: str, text: str, canvas: Canvas) -> str:
    """Return a line; on a terminal that is too narrow for it, several."""
    line = f"{label:<{_LABEL}}{printable(text)}"
    return textwrap.fill(line, canvas.width, subsequent_indent=" " * _LABEL, break_on_hyphens=False)


def info_lines(results: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the lines are about, and what they say.

    Parameters
    ----------
    results : as `info_results` returns them.
    """
    return [
        ("format", results["format"] + (f" ({results['product']})" if results["product"] else "")),
        ("launches", quantities.count(results["launches"])),
        ("kernel names", quantities.count(results["names"])),
        ("kernel groups", quantities.count(results["kernel_groups"])),
        ("kernel time", _time_or_none(results["total_duration_ns"])),
        ("span", _time_or_none(results["span_ns"])),
        ("processes", str(results["processes"])),
        ("streams", "not recorded" if results["streams"] is None else str(results["streams"])),
        ("launch order", results["launch_order"]),
        *(("device", _device(row)) for row in results["devices"]),
    ]


def _time_or_none(ns: int | None) -> str:
    return "not recorded" if ns is None else quantities.duration(ns)


def _device(row: dict[str, Any]) -> str:
    text = f"{row['device']} of process {row['process']}: {quantities.count(row['launches'])} launches"
    if row["name"] is not None:
        text += f", {row['name']}"
    if row["sm_count"] is not None:
        text += f", {row['sm_count']} SMs"
    if row["overlap_share"] is not None:
        text += f", busy {quantities.duration(row['busy_ns'])}"
    return text
