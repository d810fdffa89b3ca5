"""Totals from a simulator's results, as `estimate` gives them in every form."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sampling.estimation.estimate import Estimate
from sampling.estimation.plan_estimate import PlanEstimate, Ratio
from sampling.text import counted
from tui.charts import quantities
from tui.options.estimate import EstimateOptions
from tui.output.markdown import Block
from tui.output.writer import Answer, Canvas
from tui.terminal.tables import pairs
from tui.text.estimate_tables import NO_GROUPS, compared_groups, group_listing, places_named

if TYPE_CHECKING:
    from sampling.estimation.topped_up_plan import ToppedUp


def estimate_answer(found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions) -> Answer:
    """Return the answer; its rows are the metrics, or the kernel groups where these are asked for."""
    results = estimate_results(found, larger, options)
    return Answer(
        "estimate",
        results,
        lambda canvas: estimate_text(found, larger, options, canvas),
        blocks=lambda canvas: _blocks(found, larger, options, canvas),
        rows=_flat(results["groups"] if options.groups else results["metrics"]),
        warnings=found.notes,
    )


def estimate_results(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions
) -> dict[str, Any]:
    """Return every figure."""
    seen = found.seen
    metrics = [
        _row(total, found.interval) | {"missing": list(missing), "notes": list(total.notes)}
        for total, missing in zip(found.totals, found.missing, strict=True)
    ]
    return {
        "metrics": metrics,
        "ratios": [_ratio_row(ratio, found.main.confidence) for ratio in _ratios(found)],
        "groups": _group_rows(found) if options.groups else [],
        "promise_met": None if options.target is None else found.main.is_within(options.target),
        "seen": None
        if seen is None
        else {"noise": seen.within, "kernel_spread": seen.between, "slowdown": None},
        "declared": {
            "noise": found.plan.options.get("noise_floor"),
            "kernel_spread": found.plan.options.get("kernel_spread"),
        },
        "parts": None
        if found.parts is None
        else {
            "sampling": found.parts.sampling,
            "projection": found.parts.projection,
            "scale_model": found.parts.scale_model,
        },
        "next": [] if larger is None else [launch.as_json() for launch in larger.added],
        "covers": found.notes[-1],
    }


def _row(total: Estimate, interval: str) -> dict[str, Any]:
    nu = total.degrees_of_freedom
    return {
        "metric": total.metric,
        "total": total.total,
        "low": total.low,
        "high": total.high,
        "confidence": total.confidence,
        # An exact total has no end of them, which JSON cannot say.
        "degrees_of_freedom": None if nu is None or math.isinf(nu) else nu,
        "method": "none" if total.low is None else interval,
        "incomplete": total.is_incomplete,
        "share_missing": total.share_missing,
        "launches_missing": total.launches_missing,
    }


def _group_rows(found: PlanEstimate) -> list[dict[str, Any]]:
    compared = {group.key: group for group in compared_groups(found)}
    return [
        {
            "key": key,
            **_row(total, found.interval),
            "profiled_ns": compared[key].profiled_ns,
            "profiled_share": compared[key].profiled_share,
            "simulated_share": compared[key].simulated_share,
            "per_ns": compared[key].per_ns,
        }
        for key, total in found.groups
    ]


def _ratio_row(ratio: Ratio, confidence: float) -> dict[str, Any]:
    value = ratio.value
    return {
        "name": ratio.name,
        "ratio": None if value is None else value.ratio,
        "low": None if value is None else value.low,
        "high": None if value is None else value.high,
        "confidence": confidence,
        "reason": ratio.reason,
    }


def _flat(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without lists, for forms that have one value a cell."""
    return [{name: value for name, value in row.items() if not isinstance(value, list)} for row in rows]


def estimate_text(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, canvas: Canvas
) -> str:
    """Return the figures in words, and the table of kernel groups where it is asked for."""
    lines = _lines(found, larger, options, canvas)
    return (
        "\n".join(_wrapped(line, canvas.width) for line in lines) if canvas.is_terminal else "\n".join(lines)
    )


def _wrapped(line: str, width: int) -> str:
    """Return a line of words as lines of at most `width`, a table as it is."""
    if len(line) <= width or "\n" in line:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.lstrip(), width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )


def _lines(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, canvas: Canvas
) -> Iterator[str]:
    yield simulated_text(found)
    for total in found.totals:
        yield f"{total.metric}: {interval_text(total)}"
        yield from (f"  {note}" for note in total.notes)
    yield from (f"{ratio.name}: {ratio_text(ratio)}" for ratio in _ratios(found))
    yield from part_lines(found)
    yield from seen_lines(found)
    if options.groups:
        groups = group_listing(found)
        yield groups.text(canvas.width, ascii_only=canvas.ascii_only) if len(groups.labels) else NO_GROUPS
        yield from places_named(found)
    yield from _last_lines(found, larger, options)


def _blocks(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, canvas: Canvas
) -> Iterator[Block]:
    """Yield the same as paragraphs and tables."""
    yield simulated_text(found)
    yield pairs(total_lines(found))
    yield from part_lines(found)
    yield from seen_lines(found)
    if options.groups:
        groups = group_listing(found)
        yield groups.columns(canvas.width) if len(groups.labels) else NO_GROUPS
        yield from places_named(found)
    yield from _last_lines(found, larger, options)


def total_lines(found: PlanEstimate) -> Iterator[tuple[str, str]]:
    """Yield each total and ratio by its name, in words."""
    for total in found.totals:
        yield total.metric, "; ".join([interval_text(total), *total.notes])
    yield from ((ratio.name, ratio_text(ratio)) for ratio in _ratios(found))


def _ratios(found: PlanEstimate) -> Sequence[Ratio]:
    return (*found.ratios, *(() if found.speedup is None else (found.speedup,)))


def _last_lines(found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions) -> Iterator[str]:
    if options.target is not None:
        yield target_text(found.main, options.target)
    if larger is not None:
        yield next_text(larger)
    yield from found.notes


def simulated_text(found: PlanEstimate) -> str:
    """Return how much of the plan was simulated."""
    plan = found.plan
    simulated = len(plan.drawn) - found.main.launches_missing
    return (
        f"{simulated:,} of the plan's {counted(len(plan.drawn), 'launch', 'launches')} simulated, for "
        f"{counted(plan.launches, 'launch', 'launches')}"
    )


def target_text(total: Estimate, target: float) -> str:
    """Return whether a total is as narrow as asked for."""
    met = total.is_within(target)
    return f"within {quantities.share(target)} as asked for" if met else unmet_text(total, target)


def next_text(larger: ToppedUp) -> str:
    """Return how much more the next round is to simulate."""
    added_ns = sum(launch.duration_ns or 0 for launch in larger.added)
    return (
        f"next: {counted(len(larger.added), 'launch', 'launches')} more, "
        f"{quantities.duration(added_ns)} of profile time; "
        f"{quantities.duration(larger.sampled_duration_ns)} with what was simulated"
    )


def interval_text(total: Estimate) -> str:
    """Return a total and how far its interval reaches, in words."""
    half_width = total.half_width
    if half_width is None:
        return f"{total.total:,.0f}"
    if not half_width:
        return f"{total.total:,.0f}, exact: all launches were simulated"
    share = quantities.share(half_width / total.total) if total.total else "-"
    nu = total.degrees_of_freedom or 0
    freedom = "" if math.isinf(nu) else f", {nu:.1f} degrees of freedom"
    return (
        f"{total.total:,.0f} within {share} ({total.low:,.0f} to {total.high:,.0f}) "
        f"at {quantities.share(total.confidence)} confidence{freedom}"
    )


def ratio_text(ratio: Ratio) -> str:
    """Return a ratio and its interval, or why there is none."""
    if ratio.value is None:
        return ratio.reason or "none"
    text = f"{ratio.value.ratio:.4g}"
    if ratio.value.low is not None and ratio.value.half_width:
        text += f", {ratio.value.low:.4g} to {ratio.value.high:.4g}"
    return text if ratio.reason is None else f"{text}; {ratio.reason}"


def part_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the interval consists of, where some cycles are projected."""
    parts = found.parts
    if parts is None:
        return
    named = (
        ("sampling", parts.sampling),
        ("projection", parts.projection),
        ("scale model", parts.scale_model),
    )
    shares = ", ".join(
        f"{name} {'unknown' if part is None else quantities.share(part)}" for name, part in named
    )
    yield f"  parts of that: {shares}"
    if parts.note:
        yield f"  the error of projections is {parts.note}"


def seen_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield the spreads that the results show, beside those that the plan declared."""
    seen = found.seen
    if seen is None:
        return
    declared = found.plan.options.get("noise_floor")
    said = "" if declared is None else f", {quantities.share(declared)} declared"
    if seen.within is not None:
        freedom = counted(seen.within_freedom, "degree", "degrees")
        yield f"seen within strata: {quantities.share(seen.within)} ({freedom} of freedom{said})"
    if seen.between is not None:
        kernels = counted(seen.kernel_groups, "kernel", "kernels")
        spread = found.plan.options.get("kernel_spread")
        said = f" ({quantities.share(spread)} declared)" if spread else ""
        yield f"seen between {kernels}: {quantities.share(seen.between)}{said}"


def unmet_text(total: Estimate, target: float) -> str:
    """Return why a total is not as narrow as asked for."""
    asked = f"not within {quantities.share(target)}"
    if total.is_incomplete:
        if total.share_missing is None:
            return f"{asked}: {counted(len(total.emptied), 'stratum', 'strata')} without a result"
        return f"{asked}: {quantities.share(total.share_missing)} of the profile's time has no result"
    if total.half_width is None:
        return f"{asked}: there is no interval"
    if not total.total:
        return f"{asked}: the total is 0"
    return f"{asked}: the interval reaches {quantities.share(total.half_width / total.total)} to either side"
