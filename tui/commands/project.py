"""`project`: where the simulation of each kernel of a log can stop, and what the whole then takes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sampling.projection.interval_log import IntervalLog, KernelFacts
from sampling.projection.pkp import Lack, Projection, ProjectionRule, cumulative_ipc, project
from sampling.simulators.registry import read_interval_logs
from tui.charts.ipc import IpcCurve, ipc_chart
from tui.charts.quantities import UNKNOWN, ratio, share, si
from tui.charts.sinks import ansi, plain
from tui.engine.kernel_values import chosen_log, values_by_kernel
from tui.options.commands import ProjectOptions
from tui.output.writer import Answer, Canvas, emit
from tui.terminal.diagnostics import note
from tui.terminal.tables import Column, shortened, table

_HEIGHT = 16
_LEAST_REASON = 40
# Sentences are not broken narrower than this: below it, each word would have a line of its own.
_LEAST_SENTENCE = 40


def run(options: ProjectOptions) -> None:
    """Read, project every kernel, draw one."""
    rule = ProjectionRule(options.stability, options.window, artifact=options.artifact)
    logs = _with_options(read_interval_logs(options.logs, options.source), options)
    chosen = chosen_log(logs, options.kernel, quiet=options.quiet)
    projections = [project(log, rule) for log in logs]
    for lack in Lack:
        lacking = [projection for projection in projections if lack in projection.lacks]
        if lacking:
            some = f" ({len(lacking)} of {len(logs)} kernels)" if len(logs) > 1 else ""
            note(_what_to_give(lack, lacking, options) + some, quiet=options.quiet)
    rows = [
        _row(number, log, projection)
        for number, (log, projection) in enumerate(zip(logs, projections, strict=True), start=1)
    ]
    emit(
        Answer(
            "project",
            rows,
            lambda canvas: _text(logs, projections, chosen, options, canvas),
            warnings=tuple(lack for lack in Lack if any(lack in found.lacks for found in projections)),
        ),
        options,
    )


def _with_options(logs: Sequence[IntervalLog], options: ProjectOptions) -> list[IntervalLog]:
    """Return the logs with what is given on the command line; that counts more than what the log says."""
    given = {
        "instructions": values_by_kernel("--instructions", options.instructions, logs, total=True),
        "ctas": values_by_kernel("--ctas (--grid)", options.ctas, logs, total=True),
        "ctas_per_core": values_by_kernel("--ctas-per-sm", options.ctas_per_sm, logs, total=False),
        "cores": [options.sms] * len(logs),
    }
    return [
        replace(
            log,
            facts=replace(
                log.facts,
                **{name: values[index] for name, values in given.items() if values[index] is not None},
            ),
        )
        for index, log in enumerate(logs)
    ]


def _what_to_give(lack: Lack, lacking: Sequence[Projection], options: ProjectOptions) -> str:
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
    }[lack]


def _row(number: int, log: IntervalLog, projection: Projection) -> dict[str, Any]:
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
        "total_instructions": totals.instructions,
        "projected_by": projection.basis.value,
    }


def _origin(log: IntervalLog, projection: Projection) -> str | None:
    """Return where the kernel's true end is from: the simulator, or the log's end taken for it."""
    if projection.total_cycles is None:
        return None
    return "log" if log.facts.cycles is None else "simulator"


def _text(
    logs: Sequence[IntervalLog],
    projections: Sequence[Projection],
    chosen: int,
    options: ProjectOptions,
    canvas: Canvas,
) -> str:
    width = options.width or canvas.width
    projection = projections[chosen]
    grid = ipc_chart(
        _curve(logs[chosen], projection), width, options.height or _HEIGHT, ascii_only=canvas.ascii_only
    )
    parts = [
        shortened(f"#{chosen + 1} {logs[chosen].name}", width, ascii_only=canvas.ascii_only),
        ansi(grid) if canvas.color else plain(grid),
        *textwrap.wrap(projection.reason, max(width, _LEAST_SENTENCE)),
        "",
        _table(logs, projections, width, ascii_only=canvas.ascii_only),
    ]
    if any(_origin(log, projection) == "log" for log, projection in zip(logs, projections, strict=True)):
        parts += textwrap.wrap("* the log's end, taken for the kernel's", max(width, _LEAST_SENTENCE))
    return "\n".join(parts)


def _curve(log: IntervalLog, projection: Projection) -> IpcCurve:
    is_stopped = projection.stopped
    return IpcCurve(
        log.cycle,
        cumulative_ipc(log),
        projection.cycle if is_stopped else None,
        projection.ipc,
        projection.projected_cycles if is_stopped else None,
    )


def _table(
    logs: Sequence[IntervalLog], projections: Sequence[Projection], width: int, *, ascii_only: bool
) -> str:
    name_width = max(width // 4, 12)
    columns = [
        Column("#", [str(number) for number in range(1, len(logs) + 1)]),
        Column(
            "kernel",
            [shortened(log.name, name_width, ascii_only=ascii_only) for log in logs],
            to_right=False,
        ),
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
    room = width - max(map(len, table(columns).split("\n"))) - 2
    if room >= _LEAST_REASON and len(logs) > 1:
        reasons = [shortened(found.reason, room, ascii_only=ascii_only) for found in projections]
        columns.append(Column("why", reasons, to_right=False))
    return table(columns)


def _or_unknown(value: float | None, shown: Any) -> str:
    return UNKNOWN if value is None else str(shown(value))
