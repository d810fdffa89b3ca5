"""`project`: where the simulation of each kernel of a log can stop, and what the whole then takes."""

from __future__ import annotations

from sampling.projection import Lack, ProjectionRule, project
from sampling.simulators.registry import read_interval_logs
from tui.engine.kernel_values import chosen_log, numbers_of, with_given_values
from tui.options.commands import ProjectOptions
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import note
from tui.text.projection import (
    projection_blocks,
    projection_row,
    projection_text,
    unrecorded_text,
    what_to_give,
)

_UNRECORDED = "launches-unrecorded"


def run(options: ProjectOptions) -> None:
    """Read, project every kernel, draw one."""
    rule = ProjectionRule(options.stability, options.window, artifact=options.artifact)
    logs = with_given_values(read_interval_logs(options.logs, options.source), options)
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
            blocks=lambda _: projection_blocks(logs, projections),
            warnings=(*lacks, _UNRECORDED) if unrecorded else lacks,
        ),
        options,
    )
