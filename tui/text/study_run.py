"""A run of a study, while launches are simulated and when it ends, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sampling.running.study_run import StudyProgress, StudyRunResult
from sampling.text import counted
from tui.charts.quantities import hours
from tui.output.blocks import Block
from tui.text.run import array_blocks, event_text, fit_parts, given_up_head
from tui.text.speedup import per_cent


def study_progress_line(progress: StudyProgress, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: cells, the widest speedup, the time left, what runs, launches; as fits."""
    parts = [f"cells {progress.cells_done:,} of {progress.cells:,}"]
    if progress.widest is not None:
        program, speedup = progress.widest
        goal = "" if target is None else f", asked {100 * target:.3g} %"
        parts.append(f"{speedup.name} of {program} within {per_cent(speedup.half_width)}{goal}")
    if progress.seconds_left is not None:
        parts.append(f"{'' if target is None else 'up to '}{hours(progress.seconds_left / 3600)} left")
    if progress.running:
        parts.append(f"{progress.running:,} running")
    parts.append(f"{progress.measured:,} of {counted(progress.launches, 'launch')}")
    return fit_parts(parts, width)


def study_news_line(progress: StudyProgress, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if progress.news is None:
        return None
    program, configuration, event = progress.news
    cell = program if configuration is None else f"{configuration} of {program}"
    return f"{cell}: {event_text(event)}; {study_progress_line(progress, target)}"


def study_run_blocks(result: StudyRunResult, command: str) -> Iterator[Block]:
    """Yield what failed, what nothing more can be drawn of, and what is still to be submitted.

    ``command``: what is typed to go on.
    """
    for program, configuration, kernel in result.given_up:
        effect = "so it has no speedup" if kernel.strata else "the others of its stratum stand for it"
        yield f"{given_up_head(kernel, f'{configuration} of {program}: ')}; {effect}"
    for program, configuration, launch_id, why in result.failed:
        yield f"{configuration} of {program}: launch {launch_id} failed ({why}) and is not compared"
    for program, why in result.why_no_more.items():
        yield f"{program}: no more launches were drawn: {why}"
    yield from array_blocks(result.job_array, command)
