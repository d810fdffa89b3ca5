"""`timeline`: one kernel group's launches over the run."""

from __future__ import annotations

from dataclasses import replace

from sampling.reduction.timeline import timeline_bins
from tui.engine.studies import study_as_asked
from tui.engine.timelines import GroupTimeline, timeline_of
from tui.options.commands import TimelineOptions
from tui.output.writer import Answer, Canvas, emit
from tui.text.timeline import timeline_results, timeline_text

_BINS = 60
_HEIGHT = 20


def run(options: TimelineOptions) -> None:
    """Read, study, draw."""
    study = study_as_asked(options.profiles, options)
    timeline = timeline_of(study, options)
    bins = timeline_bins(timeline.launches, options.bins or _BINS, timeline.by, timeline.drawn_ids)
    results = timeline_results(timeline, bins)
    emit(
        Answer(
            "timeline",
            results,
            lambda canvas: _text(timeline, options, canvas),
            rows=results["bins"],
            warnings=tuple(finding.code for finding in study.findings),
        ),
        options,
    )


def _text(timeline: GroupTimeline, options: TimelineOptions, canvas: Canvas) -> str:
    sized = replace(canvas, width=options.width or canvas.width)
    return timeline_text(timeline, sized, options.height or _HEIGHT, log=options.log)
