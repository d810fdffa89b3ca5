"""`timeline`: one kernel group's launches over the run."""

from __future__ import annotations

from dataclasses import replace

from sampling.reduction.range_list import RangeList
from sampling.reduction.timeline import timeline_bins
from tui.engine.studies import study_as_asked
from tui.engine.timelines import GroupTimeline, is_quickly_listed, ranges_of, timeline_of
from tui.options.choices import OutputFormat
from tui.options.commands import TimelineOptions
from tui.output.writer import Answer, Canvas, emit
from tui.text.ranges import above_chart
from tui.text.selection import part_of_study, stated
from tui.text.timeline import bin_rows, timeline_blocks, timeline_results, timeline_text

_BINS = 60
_HEIGHT = 20


def run(options: TimelineOptions) -> None:
    """Read, study, draw."""
    study = study_as_asked(options.profiles, options)
    timeline = timeline_of(study, options)
    bins = timeline_bins(timeline.launches, options.bins or _BINS, timeline.by, timeline.drawn_ids)
    # The two formats with room for them. Looking for them takes long where launches are many.
    is_drawn = options.format is OutputFormat.TABLE
    wanted = options.format is OutputFormat.JSON or (is_drawn and is_quickly_listed(study))
    listed = ranges_of(study, options) if wanted else None
    answer = Answer(
        "timeline",
        timeline_results(timeline, bins, listed),
        lambda canvas: _text(timeline, listed, options, canvas),
        rows=bin_rows(bins),
        blocks=lambda _: timeline_blocks(timeline, bins),
        warnings=tuple(finding.code for finding in study.findings),
    )
    emit(stated(answer, part_of_study(study)), options)


def _text(timeline: GroupTimeline, listed: RangeList | None, options: TimelineOptions, canvas: Canvas) -> str:
    sized = replace(canvas, width=options.width or canvas.width)
    above = above_chart(listed, is_looked_for=is_quickly_listed(timeline.study))
    height = options.height or _HEIGHT
    return timeline_text(timeline, sized, height, log=options.log, above=above, dots=canvas.dots)
