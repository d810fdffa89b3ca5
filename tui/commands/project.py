"""`project`: where the simulation of each kernel of a log can stop, and what the whole then takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sampling.projection.interval_log import IntervalLog
from sampling.projection.pkp import Lack, ProjectionRule, project
from sampling.simulators.registry import read_interval_logs
from sampling.simulators.tracer_stats import instructions_of_traces
from tui.engine.kernel_values import chosen_log, numbers_of, values_by_kernel
from tui.options.commands import ProjectOptions
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import note
from tui.text.projection import projection_row, projection_text, unrecorded_text, what_to_give

_UNRECORDED = "launches-unrecorded"


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
            note(what_to_give(lack, lacking, options) + some, quiet=options.quiet)
    unrecorded = unrecorded_text(logs)
    if unrecorded:
        note(unrecorded, quiet=options.quiet)
    rows = [
        projection_row(number, log, projection)
        for number, log, projection in zip(numbers_of(logs), logs, projections, strict=True)
    ]
    lacks = tuple(lack for lack in Lack if any(lack in found.lacks for found in projections))
    emit(
        Answer(
            "project",
            rows,
            lambda canvas: projection_text(logs, projections, chosen, options, canvas),
            warnings=(*lacks, _UNRECORDED) if unrecorded else lacks,
        ),
        options,
    )


def _with_options(logs: Sequence[IntervalLog], options: ProjectOptions) -> list[IntervalLog]:
    """Return the logs with what is given on the command line; that counts more than what the log says.

    The tracer's instructions are the most there can be, so that a simulator's own count comes before them.
    """
    if options.instructions_from is not None:
        traced = instructions_of_traces(options.instructions_from, logs)
        logs = [
            log
            if log.facts.instructions is not None
            else replace(log, facts=replace(log.facts, instructions=most))
            for log, most in zip(logs, traced, strict=True)
        ]
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
