"""The comparison of methods as text: a table with the reasons of those left out, a scatter, and the means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sampling.methods.registry import method_names
from sampling.plan.comparison import Comparison, Mean, MethodComparison, mean_comparison
from tui.charts import quantities
from tui.charts.glyphs import LETTERS, cluster_style
from tui.charts.grid import Grid
from tui.charts.scatter import Point, scatter
from tui.charts.sinks import ansi, plain
from tui.engine.comparing import check_feature_reports
from tui.engine.studies import grouping_of
from tui.options.choices import OutputFormat
from tui.options.commands import CompareOptions
from tui.options.flags import with_flags
from tui.output.writer import Canvas
from tui.terminal.diagnostics import note
from tui.terminal.printable import printable
from tui.terminal.tables import Column, shortened, table

HEIGHT = 20
"""Rows of a scatter, where no others are asked for."""

MEAN_OF = "mean of "
"""What the ``profile`` of a mean starts with."""

FIGURES = ("strata", "samples", "speedup", "bound", "group_bound")
_DROPPED_FIRST = ("p95", "strata", "group", "max", "within", "drawn", "bound")
ERRORS = ("error_mean", "error_p95", "error_max", "within_epsilon")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotedRows:
    """Rows, and sentences on what to know of them."""

    rows: list[Row]
    notes: list[str]


def workload_rows(
    paths: tuple[str, ...], comparison: MethodComparison, methods: Sequence[str], options: CompareOptions
) -> NotedRows:
    """Judge each method on a workload, and return a row a method.

    Parameters
    ----------
    paths : the files of this workload, among all the options' profiles.
    """
    is_one_of_several = len(paths) < len(options.profiles)
    profile = " ".join(paths)
    head = f"{profile}: " if is_one_of_several else ""
    found = NotedRows([], [])
    for method in methods:
        compared = comparison.compare(method, grouping_of(options, method))
        found.rows.append(comparison_row(profile, compared))
        if compared.design is not None:
            found.notes.extend(f"{head}{method}: {with_flags(text)}" for text in compared.design.notes)
    found.notes.extend(f"{head}{with_flags(report.sentence)}" for report in comparison.reports)
    if is_one_of_several:
        check_feature_reports(comparison.reports, options)
    return found


def comparison_row(profile: str, comparison: Comparison) -> Row:
    """Return one method on one profile as the contract's `compare` lists it."""
    design, judgement = comparison.design, comparison.judgement
    row = {
        "profile": profile,
        "method": comparison.method,
        "applicable": design is not None,
        "reason": None if comparison.reason is None else with_flags(comparison.reason),
        **dict.fromkeys((*FIGURES, *ERRORS)),
        "seconds": comparison.seconds,
    }
    if design is not None and judgement is not None:
        row |= {
            "strata": design.strata_count,
            "samples": design.samples,
            "speedup": design.speedup,
            "bound": design.bound,
            "group_bound": design.group_bound,
            "error_mean": judgement.error_mean,
            "error_p95": judgement.error_p95,
            "error_max": judgement.error_max,
            "within_epsilon": judgement.within_epsilon,
        }
    return row


def table_or_scatter(rows: Sequence[Row], options: CompareOptions, canvas: Canvas) -> str:
    """Return what `compare` prints with these options."""
    if options.scatter:
        return scatter_text(rows, canvas, options.width or canvas.width, options.height or HEIGHT)
    return comparison_text(rows, canvas)


def comparison_text(rows: Sequence[Row], canvas: Canvas) -> str:
    """Return a table a profile, below it why methods do not apply."""
    return _by_profile(rows, canvas, lambda of_profile: _table(of_profile, canvas))


def note_missing_in_scatter(rows: Sequence[Row], options: CompareOptions) -> None:
    """Say which methods do not apply, where a scatter is all that is shown."""
    if options.scatter and options.format is OutputFormat.TABLE:
        missing = dict.fromkeys(row["method"] for row in rows if not row["applicable"])
        if missing:
            note(f"not applicable, so not in the chart: {', '.join(missing)}", quiet=options.quiet)


def scatter_text(rows: Sequence[Row], canvas: Canvas, width: int, height: int) -> str:
    """Return a scatter a profile; methods that do not apply are in none."""

    def drawn(of_profile: list[Row]) -> str:
        grid = comparison_scatter(of_profile, width, height, ascii_only=canvas.ascii_only)
        return ansi(grid) if canvas.color else plain(grid)

    return _by_profile(rows, canvas, drawn)


def comparison_scatter(
    rows: Sequence[Row], width: int, height: int, *, ascii_only: bool, selected: str | None = None
) -> Grid:
    """Return the scatter of one profile's methods; a method has the same letter and colour in all of them."""
    points = [
        Point(row["method"], *method_mark(row["method"]), row["speedup"], row["error_mean"])
        for row in rows
        if row["applicable"] and row["speedup"] is not None and row["error_mean"] is not None
    ]
    return scatter(points, width, height, ascii_only=ascii_only, selected=selected)


def method_mark(method: str) -> tuple[str, int]:
    """Return a method's letter and its style, by its place among all methods."""
    place = method_names().index(method)
    return LETTERS[place % len(LETTERS)], cluster_style(place)


def _by_profile(rows: Sequence[Row], canvas: Canvas, drawn: Callable[[list[Row]], str]) -> str:
    profiles = list(dict.fromkeys(row["profile"] for row in rows))
    parts = []
    for profile, of_profile in groupby(rows, key=lambda row: row["profile"]):
        if len(profiles) > 1:
            parts.append(_title(profile, canvas))
        parts.append(drawn(list(of_profile)))
    return "\n\n".join(parts)


def _title(profile: str, canvas: Canvas) -> str:
    """Return a table's profile; a mean lists its profiles in full, as only they distinguish it."""
    import textwrap

    if profile.startswith(MEAN_OF):
        return textwrap.fill(
            printable(profile, ascii_only=canvas.ascii_only), canvas.width, break_on_hyphens=False
        )
    return shortened(profile, canvas.width, ascii_only=canvas.ascii_only)


def _table(rows: Sequence[Row], canvas: Canvas) -> str:
    """Return the methods that apply with their figures, and why the others do not."""
    there, missing = ([row for row in rows if row["applicable"] is whether] for whether in (True, False))
    parts = [table(comparison_columns(there, canvas.width), gap=" ")] if there else []
    return "\n".join([*parts, *reason_lines(missing, canvas)])


def comparison_columns(rows: Sequence[Row], width: int, *, gap: str = " ") -> list[Column]:
    """Return the columns of methods that apply; if too wide, without the least important figures.

    Parameters
    ----------
    width : of the table, with `gap` between its columns.
    """
    columns = _all_columns(rows)
    # CSV and the other data formats have all of them.
    for heading in _DROPPED_FIRST:
        if len(table(columns, gap=gap).partition("\n")[0]) > width:
            columns = [column for column in columns if column.heading != heading]
    return columns


def _all_columns(rows: Sequence[Row]) -> list[Column]:
    def shown(heading: str, name: str, form: Any) -> list[Column]:
        # Rows of means have few of the figures.
        if all(row[name] is None for row in rows):
            return []
        return [Column(heading, ["-" if row[name] is None else form(row[name]) for row in rows])]

    return [
        Column("method", [row["method"] for row in rows], to_right=False),
        *shown("strata", "strata", quantities.count),
        *shown("drawn", "samples", quantities.count),
        *shown("speedup", "speedup", quantities.ratio),
        *shown("bound", "bound", quantities.share),
        *shown("group", "group_bound", quantities.share),
        *shown("mean", "error_mean", quantities.share),
        *shown("p95", "error_p95", quantities.share),
        *shown("max", "error_max", quantities.share),
        *shown("within", "within_epsilon", quantities.share),
    ]


def reason_lines(rows: Sequence[Row], canvas: Canvas) -> list[str]:
    """Return why methods are not applicable, one after the other."""
    import textwrap

    lines = ["", "not applicable:"] if rows else []
    for row in rows:
        lines += textwrap.wrap(
            printable(row["reason"], ascii_only=canvas.ascii_only),
            canvas.width,
            initial_indent="- ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    return lines


def mean_rows(workloads: Sequence[Sequence[Row]], mean: Mean) -> NotedRows:
    """Return a row a method and set of workloads: over all workloads, then over smaller sets of them.

    Means over different workloads cannot be compared. So where a method applies to some workloads only, the
    other methods get a mean over the same ones too; for a single workload its own rows already say that.

    Parameters
    ----------
    workloads : the rows of each, the same methods in the same order.
    """
    applies = {
        rows[0]["method"]: frozenset(place for place, row in enumerate(rows) if row["applicable"])
        for rows in zip(*workloads, strict=True)
    }
    everywhere = frozenset(range(len(workloads)))
    partial = sorted({places for places in applies.values() if places} - {everywhere}, key=sorted)
    summed = [
        (method, places)
        for places in (everywhere, *partial)
        for method, of_method in applies.items()
        if of_method == places or (of_method > places and len(places) > 1)
    ]
    means = NotedRows([], [])
    for method, places in summed:
        there = [row for place in sorted(places) for row in workloads[place] if row["method"] == method]
        row = _mean_row(there, len(workloads), mean)
        means.rows.append(row)
        is_one_of_several = sum(each == method for each, _ in summed) > 1
        means.notes.extend(_why_none(row, there, f" over {len(there)}" if is_one_of_several else ""))
    return means


def _why_none(mean: Row, there: Sequence[Row], which: str) -> Iterator[str]:
    """Yield why values of a mean are not given.

    Parameters
    ----------
    there : the rows that were averaged.
    which : names the mean, where the method has several.
    """
    method = mean["method"]
    if mean["error_mean"] is None:
        exact = next(row["profile"] for row in there if row["error_mean"] == 0)
        yield (
            f"{method}: its error is 0 on {exact}, so a geometric mean{which} would be 0 whatever the others "
            "are; not given"
        )
    if mean["speedup"] is None:
        endless = next(row["profile"] for row in there if row["speedup"] is None)
        yield f"{method}: it samples no time on {endless}, so a mean speedup{which} is not known"


def _mean_row(there: Sequence[Row], workloads: int, mean: Mean) -> Row:
    method = there[0]["method"]
    found = mean_comparison(
        method, [row["speedup"] for row in there], [row["error_mean"] for row in there], mean
    )
    means = f"({'geometric' if mean == 'geometric' else 'harmonic'} speedup, {mean} error)"
    over = f"{MEAN_OF}{found.profiles} {means}"
    if found.profiles < workloads:
        over = f"{MEAN_OF}{found.profiles} of {workloads} {means}: " + ", ".join(
            row["profile"] for row in there
        )
    return {
        "profile": over,
        "method": method,
        "applicable": True,
        "reason": None,
        **dict.fromkeys((*FIGURES, *ERRORS)),
        "speedup": found.speedup,
        "error_mean": found.error,
        "seconds": sum(row["seconds"] for row in there),
    }
