"""`timeline`: one kernel group's launches over the run."""

from __future__ import annotations

from dataclasses import replace

from sampling.errors import NoDurationsError
from sampling.reduction.timeline import timeline_bins
from tui.engine.studies import study_as_asked
from tui.engine.timelines import GroupTimeline, ranges_of, timeline_of
from tui.options.choices import OutputFormat
from tui.options.commands import TimelineOptions
from tui.output.writer import Answer, Canvas, emit
from tui.text.selection import part_of_study, stated
from tui.text.timeline import bin_rows, timeline_results, timeline_text

_BINS = 60
_HEIGHT = 20


def run(options: TimelineOptions) -> None:
    """Read, study, draw."""
    study = study_as_asked(options.profiles, options)
    if not study.counts.has_durations:
        raise NoDurationsError("a timeline")
    timeline = timeline_of(study, options)
    bins = timeline_bins(timeline.launches, options.bins or _BINS, timeline.by, timeline.drawn_ids)
    # Only there is room for them; they are looked for among all launches.
    listed = ranges_of(study, options) if options.format is OutputFormat.JSON else None
    answer = Answer(
        "timeline",
        timeline_results(timeline, bins, listed),
        lambda canvas: _text(timeline, options, canvas),
        rows=bin_rows(bins),
        warnings=tuple(finding.code for finding in study.findings),
    )
    emit(stated(answer, part_of_study(study)), options)


def _text(timeline: GroupTimeline, options: TimelineOptions, canvas: Canvas) -> str:
    sized = replace(canvas, width=options.width or canvas.width)
    return timeline_text(timeline, sized, options.height or _HEIGHT, log=options.log)
