"""`histogram`: the durations of one kernel group, with its clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sampling.plan.study import Study
from tui.charts.histogram_data import HistogramData, histogram_data
from tui.engine.studies import chosen_kernel, study_as_asked
from tui.options.commands import HistogramOptions
from tui.output.writer import Answer, Canvas, emit
from tui.text import facts
from tui.text.histogram import histogram_text

_BINS = 60
_HEIGHT = 20


def run(options: HistogramOptions) -> None:
    """Read, study, draw."""
    study = study_as_asked(options.profiles, options)
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    clusters = facts.clusters_of_group(study, group)
    durations_ns, launches = study.counts.group_pairs(group)
    data = histogram_data(durations_ns, launches, clusters, options.width or _BINS, log=options.log)
    emit(
        Answer(
            "histogram",
            _results(study, group, clusters, data),
            lambda canvas: _text(study, group, options, canvas),
            rows=_rows(clusters, data),
            warnings=tuple(finding.code for finding in study.findings),
        ),
        options,
    )


def _results(
    study: Study, group: int, clusters: list[tuple[int, int]], data: HistogramData
) -> dict[str, Any]:
    return {
        "key": study.counts.groups[group].key,
        "rank": group + 1,
        "edges_ns": data.edges_ns.tolist(),
        "counts": data.counts.tolist(),
        "clusters": [
            {"low_ns": low, "high_ns": high, "launches": int(counts.sum()), "counts": counts.tolist()}
            for (low, high), counts in zip(clusters, data.cluster_counts, strict=True)
        ],
    }


def _rows(clusters: list[tuple[int, int]], data: HistogramData) -> list[dict[str, Any]]:
    return [
        {
            "low_ns": int(data.edges_ns[index]),
            "high_ns": int(data.edges_ns[index + 1]),
            "count": int(data.counts[index]),
            **{
                f"cluster_{number}": int(data.cluster_counts[number, index])
                for number in range(len(clusters))
            },
        }
        for index in range(len(data.counts))
    ]


def _text(study: Study, group: int, options: HistogramOptions, canvas: Canvas) -> str:
    sized = replace(canvas, width=options.width or canvas.width)
    return histogram_text(study, group, sized, options.height or _HEIGHT, log=options.log)
