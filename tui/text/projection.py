"""Where the simulation of kernels can stop, in words: what `project` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from sampling.profile.names import readable_name
from sampling.projection import IntervalLog, KernelFacts, Lack, Projection, cumulative_ipc
from tui.charts.grid import ansi, plain
from tui.charts.ipc import IpcCurve, ipc_chart
from tui.charts.quantities import UNKNOWN, ratio, share, si
from tui.engine.kernel_values import numbers_of
from tui.options.simulate import ProjectOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import Column, names, shortened, table

_HEIGHT = 16
_LEAST_REASON = 40
# Sentences are not broken narrower than this: below it, each word would have a line of its own.
_LEAST_SENTENCE = 40
_CUT = "the log ends before it does"


def what_to_give(lack: Lack, lacking: Sequence[Projection], options: ProjectOptions) -> str:
    """Return what a log lacks, what was done instead, and what to give."""
    if lack is Lack.WAVE:
        unknown = {
            "--ctas-per-sm": any(projection.totals.ctas_per_core is None for projection in lacking),
            "--sms": any(projection.totals.cores is None for projection in lacking),
        }
        flags = " and ".join(flag for flag, is_so in unknown.items() if is_so)
        return f"how many CTAs fill the GPU is not known, 0.3 of the grid is waited for; give {flags}"
    return {
        Lack.TOTAL: "how much work is left at the stop is not known; give "
        + ("--ctas" if options.artifact else "--instructions or --ctas"),
        Lack.CTAS: "no CTA finishes in the log; a log that counts them, or runs on longer, is needed",
        Lack.COARSE: f"the records are too far apart for a window of {options.window:,} cycles; "
        "log more often (-gpgpu_runtime_stat 500), or give a wider --window",
        Lack.CARRIED: "a kernel's first record may also count the last CTAs of kernels before it; "
        "the simulator's stdout of each run, given too, tells them apart",
        Lack.CUT: "a kernel was not simulated to its end, so that what it takes is not known: "
        "its row says why",
    }[lack]


def unrecorded_text(logs: Sequence[IntervalLog]) -> str:
    """Return how many launches have no record, and why; nothing where all have one."""
    count = sum(log.unrecorded_before + log.unrecorded_after for log in logs)
    if not count:
        return ""
    interval = min(int(log.cycle[0]) for log in logs)
    launches, have = ("launch", "has") if count == 1 else ("launches", "have")
    return (
        f"{count:,} {launches} of the output {have} no record: shorter than the {interval:,} cycles between "
        "records, or after the log's end"
    )


def projection_row(number: int, log: IntervalLog, projection: Projection) -> dict[str, Any]:
    """Return one kernel as the contract's `project` lists it."""
    totals: KernelFacts = projection.totals
    return {
        "kernel": log.name,
        "stopped": projection.stopped,
        "cycle": projection.cycle,
        "projected_cycles": projection.projected_cycles,
        "speedup": projection.speedup,
        "reason": projection.reason,
        "number": number,
        "cycles_logged": int(log.cycle[-1]),
        "total_cycles": projection.total_cycles,
        "total_cycles_from": _origin(log, projection),
        "error": projection.error,
        "ipc": projection.ipc,
        "spread_percent": projection.spread_percent,
        "ctas_done": projection.ctas_done,
        "ctas_needed": projection.ctas_needed,
        "wave": totals.wave_ctas,
        "total_ctas": totals.ctas,
        "launches": max(len(log.launches), 1),
        "cut_short": (log.why_cut or _CUT) if log.is_cut_short else None,
        "total_instructions": totals.instructions,
        "projected_by": projection.basis.value,
    }


def _origin(log: IntervalLog, projection: Projection) -> str | None:
    """Return where the kernel's true end is from: the simulator, or the log's end taken for it."""
    if projection.total_cycles is None:
        return None
    return "log" if log.facts.cycles is None else "simulator"


def projection_text(
    logs: Sequence[IntervalLog],
    projections: Sequence[Projection],
    chosen: int,
    options: ProjectOptions,
    canvas: Canvas,
) -> str:
    """Return the chart of one kernel, why it can stop, and a table of all kernels.

    Parameters
    ----------
    chosen : whose chart.
    """
    width = options.width or canvas.width
    projection = projections[chosen]
    grid = ipc_chart(_curve(logs[chosen], projection), width, options.height or _HEIGHT)
    name = readable_name(logs[chosen].name)
    parts = [
        shortened(f"#{numbers_of(logs)[chosen]} {name}", width),
        ansi(grid) if canvas.color else plain(grid),
        *textwrap.wrap(projection.reason, max(width, _LEAST_SENTENCE)),
        "",
        _table(logs, projections, width),
    ]
    for foot in _feet(logs, projections):
        parts += textwrap.wrap(foot, max(width, _LEAST_SENTENCE))
    return "\n".join(parts)


def projection_blocks(logs: Sequence[IntervalLog], projections: Sequence[Projection]) -> Iterator[Block]:
    """Yield a table of all kernels with why each can stop, and what to know of it."""
    reasons = [found.reason for found in projections]
    kernels = [readable_name(log.name) for log in logs]
    yield [*_columns(logs, projections, kernels), Column("why", reasons, to_right=False)]
    yield from _feet(logs, projections)


def _feet(logs: Sequence[IntervalLog], projections: Sequence[Projection]) -> Iterator[str]:
    if any(_origin(log, projection) == "log" for log, projection in zip(logs, projections, strict=True)):
        yield "* the log's end, taken for the kernel's"
    for number, log in zip(numbers_of(logs), logs, strict=True):
        if log.is_cut_short:
            yield f"#{number} is not whole: {log.why_cut or _CUT}"
    yield from filter(None, [unrecorded_text(logs)])


def _curve(log: IntervalLog, projection: Projection) -> IpcCurve:
    is_stopped = projection.stopped
    return IpcCurve(
        log.cycle,
        cumulative_ipc(log),
        projection.cycle if is_stopped else None,
        projection.ipc,
        projection.projected_cycles if is_stopped else None,
    )


def _table(logs: Sequence[IntervalLog], projections: Sequence[Projection], width: int) -> str:
    name_width = max(width // 4, 12)
    columns = _columns(
        logs,
        projections,
        [shortened(readable_name(log.name), name_width) for log in logs],
    )
    room = width - max(map(len, table(columns).split("\n"))) - 2
    if room >= _LEAST_REASON and len(logs) > 1:
        reasons = [shortened(found.reason, room) for found in projections]
        columns.append(Column("why", reasons, to_right=False))
    return table(columns)


def _columns(
    logs: Sequence[IntervalLog], projections: Sequence[Projection], kernels: Sequence[str]
) -> list[Column]:
    return [
        Column("#", [str(number) for number in numbers_of(logs)]),
        names("kernel", kernels),
        Column("stop", [si(found.cycle) if found.stopped else "none" for found in projections]),
        Column("projected", [_or_unknown(found.projected_cycles, si) for found in projections]),
        Column(
            "simulated",
            [
                _or_unknown(found.total_cycles, si) + ("*" if _origin(log, found) == "log" else "")
                for log, found in zip(logs, projections, strict=True)
            ],
        ),
        Column("speedup", [_or_unknown(found.speedup, ratio) for found in projections]),
        Column("error", [_or_unknown(found.error, share) for found in projections]),
    ]


def _or_unknown(value: float | None, shown: Any) -> str:
    return UNKNOWN if value is None else str(shown(value))
