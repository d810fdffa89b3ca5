"""A study as a page for a colleague: the question, the answer, the figure, and all numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from sampling.study.summary import MeanSpeedup, SpeedupCell, SpeedupSummary
from sampling.text import counted, joined, listed
from tui.charts.quantities import UNKNOWN, count
from tui.charts.whiskers import axis_words, ratio_axis, whisker_row
from tui.output.blocks import Block, CommandLine
from tui.report.page import Report
from tui.report.pictures import Figure
from tui.report.speedup_figure import bar_groups, compared_names, speedup_figure
from tui.terminal.printable import Column, ascii_within, names, table
from tui.text.speedup import interval_text, per_cent, ratio_text
from tui.text.study import MEANS, speedup_text

_BAR_COLUMNS = 48


def study_report(
    summary: SpeedupSummary, sentences: Sequence[str], notes: Sequence[str], commands: Sequence[str]
) -> Report:
    """Return the report.

    Parameters
    ----------
    sentences : the answer, in short.
    notes : what is to be known beside it.
    commands : those that make it again, in their order.
    """
    compared = compared_names(summary)
    question = f"Is {compared[0]}" if len(compared) == 1 else f"Which of {joined(compared)} is"
    programs = [program.name for program in summary.programs]
    sections: dict[str, Iterable[Block | Figure]] = {
        "In short": (" ".join(sentences),),
        "Speedups": (_figure(summary), _table(summary)),
        "Means": _means(summary),
        "Every cell": (_cells(summary),),
        "Launches": _launches(summary),
        "Configurations": _configurations(summary),
        "What is assumed": (*_assumptions(summary), *notes),
        "To make this again": (CommandLine("\n".join(commands)),),
    }
    return Report(
        title=f"{question} faster than {summary.base}?",
        about=f"On {counted(len(programs), 'program')}: {listed(programs)}",
        sections={title: section for title, blocks in sections.items() if (section := tuple(blocks))},
    )


def _figure(summary: SpeedupSummary) -> Figure:
    """Return the figure that a paper has; as text it is a row a bar."""
    groups, compared = bar_groups(summary), compared_names(summary)
    bars = [[math.nan if value is None else value for value in bar] for group in groups for bar in group.bars]
    axis = ratio_axis([value for bar in bars for value in bar])
    with ascii_within():
        rows = [whisker_row(ratio, low, high, axis, _BAR_COLUMNS) for ratio, low, high in bars]
        text = table(
            [
                names("program", [group.name for group in groups for _ in compared]),
                names("configuration", [name for _ in groups for name in compared]),
                Column(axis_words(axis), rows, to_right=False),
            ]
        )
    return Figure(
        name="speedups",
        title=f"Speedup over {summary.base}",
        description="Above 1 a configuration is faster; whiskers are its interval.",
        svg=(),
        legend=[],
        text=text,
        file=speedup_figure(summary),
    )


# Its tables.


def _table(summary: SpeedupSummary) -> list[Column]:
    """Return the speedups of programs, and their means, by configurations."""
    rows = []
    for program in summary.programs:
        cells = [cell for cell in program.cells if cell.base == summary.base]
        rows.append({cell.configuration: _speedup(cell.speedup, cell.low, cell.high) for cell in cells})
    labels = [program.name for program in summary.programs]
    for words, means in _means_by_kind(summary):
        rows.append({name: _speedup(mean.ratio, mean.low, mean.high) for name, mean in means.items()})
        labels.append(words)
    return [
        names("program", labels),
        *(Column(name, [row.get(name, UNKNOWN) for row in rows]) for name in compared_names(summary)),
    ]


def _speedup(ratio: float | None, low: float | None, high: float | None) -> str:
    """Return a speedup with its interval to either side, as far as there are any."""
    if ratio is None:
        return UNKNOWN
    return ratio_text(ratio) if low is None or high is None else speedup_text(ratio, low, high)


def _interval(low: float | None, high: float | None) -> str:
    return UNKNOWN if low is None or high is None else interval_text(low, high)


def _means_by_kind(summary: SpeedupSummary) -> list[tuple[str, dict[str, MeanSpeedup]]]:
    """Return the means in words, and of each what it is by configurations; none of a single program."""
    if summary.means is None:
        return []
    return [(words, getattr(summary.means, kind)) for kind, words in MEANS.items()]


def _means(summary: SpeedupSummary) -> Iterator[Block]:
    rows = [
        (words, name, mean) for words, by_name in _means_by_kind(summary) for name, mean in by_name.items()
    ]
    means = [mean for _, _, mean in rows]
    if means:
        yield [
            Column("mean", [words for words, _, _ in rows], to_right=False),
            names("configuration", [name for _, name, _ in rows]),
            Column("speedup", [ratio_text(mean.ratio) for mean in means]),
            Column("interval", [_interval(mean.low, mean.high) for mean in means]),
            Column("verdict", [mean.verdict or UNKNOWN for mean in means], to_right=False),
        ]


def _cells(summary: SpeedupSummary) -> list[Column]:
    """Return a row a cell, with all its numbers."""
    rows = [(program.name, cell) for program in summary.programs for cell in program.cells]
    cells = [cell for _, cell in rows]
    bases = ["" if cell.base == summary.base else f" over {cell.base}" for cell in cells]
    return [
        names("program", [name for name, _ in rows]),
        names("configuration", [cell.configuration + base for cell, base in zip(cells, bases, strict=True)]),
        Column("cycles", [UNKNOWN if cell.cycles is None else count(round(cell.cycles)) for cell in cells]),
        Column("speedup", [_speedup(cell.speedup, None, None) for cell in cells]),
        Column(
            "interval", ["" if cell.verdict == "base" else _interval(cell.low, cell.high) for cell in cells]
        ),
        Column("verdict", [cell.verdict or UNKNOWN for cell in cells], to_right=False),
        Column("launches", [count(cell.launches) for cell in cells]),
        Column("differing", [count(cell.differing) for cell in cells]),
        Column("missing", [count(cell.missing) for cell in cells]),
        Column("remark", [_remark(cell) for cell in cells], to_right=False),
    ]


def _remark(cell: SpeedupCell) -> str:
    more = cell.launches_to_tell
    return cell.remark or ("" if more is None else f"{counted(more, 'launch')} more would tell")


def _launches(summary: SpeedupSummary) -> Iterator[Block]:
    """Yield how many launches stand for how many, in all and program by program."""
    planned = [
        (program.name, program.drawn, program.launches)
        for program in summary.programs
        if program.launches is not None and program.drawn
    ]
    if not planned:
        yield "No launch is drawn yet."
        return
    labels, samples, launches = map(list, zip(*planned, strict=True))
    all_samples, all_launches = sum(samples), sum(launches)
    share = f"{all_samples:,} of {counted(all_launches, 'launch')}"
    stands_for = f"{all_launches / all_samples:,.0f}"
    yield f"{share} are drawn, the same for every configuration: one stands for {stands_for}."
    yield [
        names("program", labels),
        Column("launches", [*map(count, launches)]),
        Column("drawn", [*map(count, samples)]),
        Column(
            "one stands for", [f"{whole / part:,.0f}" for whole, part in zip(launches, samples, strict=True)]
        ),
    ]


def _configurations(summary: SpeedupSummary) -> Iterator[Block]:
    """Yield how launches found the caches, and the options that differ from the base's."""
    base, *compared = summary.configurations
    yield [
        names("configuration", [configuration.name for configuration in summary.configurations]),
        Column(
            "caches",
            [configuration.caches or "no results" for configuration in summary.configurations],
            to_right=False,
        ),
    ]
    changes = [
        (configuration.name, change)
        for configuration in compared
        for change in configuration.options_changed or ()
    ]
    if changes:
        yield f"Options other than {base.name}'s:"
        yield [
            names("configuration", [name for name, _ in changes]),
            names("option", [change.option for _, change in changes]),
            names(base.name, [change.base or "unset" for _, change in changes]),
            names("value", [change.value or "unset" for _, change in changes]),
        ]
    unknown = [configuration.name for configuration in compared if configuration.options_changed is None]
    if unknown:
        yield f"Of {joined(unknown)} the results do not print the options beside {base.name}'s."


def _assumptions(summary: SpeedupSummary) -> Iterator[str]:
    if summary.confidence is not None:
        together = ", those of a program all together" if summary.simultaneous else ""
        yield f"Intervals hold with {100 * summary.confidence:.4g} %{together}."
    yield (
        "Faster or slower is what has all of its interval on one side of 1, the same what has it within "
        f"{per_cent(summary.same_within)} of 1; all else is not told apart."
    )
    yield (
        "An interval covers that the simulated launches stand for all of them; it does not cover how far the "
        "simulator itself is off."
    )
    if summary.means is not None:
        yield (
            "Means are of these programs and say nothing of others: the geometric and the harmonic mean "
            "count programs alike, the total work counts cycles."
        )
