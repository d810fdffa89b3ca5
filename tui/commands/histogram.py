"""`histogram`: the durations of one kernel group, with its clusters."""

from __future__ import annotations

from dataclasses import replace

from sampling.plan.study import Study
from tui.charts.histogram_data import histogram_data
from tui.engine.studies import chosen_kernel, study_as_asked
from tui.options.commands import HistogramOptions
from tui.output.writer import Answer, Canvas, emit
from tui.text import facts
from tui.text.histogram import histogram_blocks, histogram_results, histogram_rows, histogram_text
from tui.text.selection import part_of_study, stated

_BINS = 60
_HEIGHT = 20


def run(options: HistogramOptions) -> None:
    """Read, study, draw."""
    study = study_as_asked(options.profiles, options)
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    clusters = facts.clusters_of_group(study, group)
    durations_ns, launches = study.counts.group_pairs(group)
    data = histogram_data(durations_ns, launches, clusters, options.width or _BINS, log=options.log)
    answer = Answer(
        "histogram",
        histogram_results(study, group, clusters, data),
        lambda canvas: _text(study, group, options, canvas),
        rows=histogram_rows(clusters, data),
        blocks=lambda _: histogram_blocks(study, group, data),
        warnings=tuple(finding.code for finding in study.findings),
    )
    emit(stated(answer, part_of_study(study)), options)


def _text(study: Study, group: int, options: HistogramOptions, canvas: Canvas) -> str:
    sized = replace(canvas, width=options.width or canvas.width)
    return histogram_text(study, group, sized, options.height or _HEIGHT, log=options.log, whole=options.all)
