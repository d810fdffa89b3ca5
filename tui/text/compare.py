"""All methods on profiles, in every form: rows, their order, the table, the scatter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill
from typing import Any

from sampling.methods.registry import method_names
from sampling.parallel import Progress
from sampling.plan.comparison import Comparison, Mean, MethodComparison, mean_comparison
from sampling.profile.profile import Profile
from sampling.readers.registry import refuse_unused_columns
from tui.charts import quantities
from tui.charts.grid import LETTERS, Grid, ansi, cluster_style, plain
from tui.charts.size_plot import Point, scatter
from tui.engine.planning import check_feature_reports, comparison_of
from tui.engine.studies import columns_of, grouping_of, note_what_is_read, open_profile
from tui.options.choices import CompareSort, OutputFormat
from tui.options.command_line import with_flags
from tui.options.plan import CompareOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.diagnostics import note
from tui.terminal.printable import Column, printable, shortened, table
from tui.text.selection import Part, part_of

FIGURES = ("strata", "samples", "speedup", "bound", "group_bound")
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
        "bound_with_noise": None,
        "same_as": comparison.same_as,
    }
    if design is not None:
        row |= {
            "strata": design.strata_count,
            "samples": design.samples,
            "speedup": design.speedup,
            "bound": design.bound,
            "group_bound": design.group_bound,
            "bound_with_noise": design.bound_with_noise,
        }
    if judgement is not None:
        row |= {
            "error_mean": judgement.error_mean,
            "error_p95": judgement.error_p95,
            "error_max": judgement.error_max,
            "within_epsilon": judgement.within_epsilon,
        }
    return row


MEAN_OF = "mean of "
"""What the ``profile`` of a mean starts with."""


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
    method, same_as = there[0]["method"], {row["same_as"] for row in there}
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
        "bound_with_noise": None,
        "same_as": same_as.pop() if len(same_as) == 1 else None,
    }


_FIGURES = {
    CompareSort.SPEEDUP: "speedup",
    CompareSort.MEAN: "error_mean",
    CompareSort.DRAWN: "samples",
    CompareSort.STRATA: "strata",
    CompareSort.SIMULATED: "bound_with_noise",
    CompareSort.BOUND: "bound",
    CompareSort.GROUP: "group_bound",
    CompareSort.P95: "error_p95",
    CompareSort.MAX: "error_max",
    CompareSort.WITHIN: "within_epsilon",
}


@dataclass(frozen=True, slots=True)
class Merged:
    """Methods whose plan is the same one.

    Attributes
    ----------
    row : of the first of them.
    methods : all of them, the first one first.
    """

    row: Row
    methods: tuple[str, ...]

    @property
    def label(self) -> str:
        """Their names."""
        return ", ".join(self.methods)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The methods of one profile: those that can run, and the rows of those that cannot."""

    can_run: tuple[Merged, ...]
    cannot_run: tuple[Row, ...]


def promises(rows: Sequence[Row], epsilon: float, confidence: float) -> dict[str, float]:
    """Return what each method promises on all of the profiles that it can run on, the worst of it.

    0 where the simulated total is bounded by epsilon and as many draws as the confidence says were within;
    else the bound, and infinity where there is none.
    """
    found: dict[str, float] = {}
    for row in rows:
        if row["applicable"]:
            bound, within = row["bound_with_noise"], row["within_epsilon"]
            if bound is None:
                bound = math.inf
            elif bound <= epsilon and (within is None or within >= confidence):
                bound = 0.0
            found[row["method"]] = max(found.get(row["method"], 0.0), bound)
    return found


def blocks(
    rows: Sequence[Row], sort: CompareSort, promise: Mapping[str, float], *, reverse: bool = False
) -> Blocks:
    """Return the methods of one profile in order.

    Best first: promises that are kept, by cost, which is the highest speedup first; the others, the smallest
    bound first; then what promises nothing, the smallest mean error first.

    Parameters
    ----------
    promise : of each method that can run, as `promises` has it.
    reverse : the worst first; methods without the figure stay last.
    """
    there = [row for row in rows if row["applicable"]]
    return Blocks(
        can_run=merged(_in_order(there, sort, promise, reverse=reverse)),
        cannot_run=tuple(row for row in rows if not row["applicable"]),
    )


def falls(sort: CompareSort, *, reverse: bool) -> bool:
    """Return whether the largest figure stands first."""
    return (sort in {CompareSort.SPEEDUP, CompareSort.WITHIN}) != reverse


def _in_order(
    rows: list[Row], sort: CompareSort, promise: Mapping[str, float], *, reverse: bool
) -> list[Row]:
    if sort is CompareSort.BEST:

        def worse(row: Row) -> tuple[float, float, float]:
            promised = promise[row["method"]]
            measured = 0 if promised < math.inf else row["error_mean"] or 0
            return promised, measured, -(row["speedup"] or 0)

        return sorted(rows, key=worse, reverse=reverse)
    if sort is CompareSort.METHOD:
        return sorted(rows, key=lambda row: str(row["method"]), reverse=reverse)
    name, sign = _FIGURES[sort], -1 if falls(sort, reverse=reverse) else 1
    return sorted(rows, key=lambda row: (row[name] is None, sign * (row[name] or 0)))


def merged(rows: Sequence[Row]) -> tuple[Merged, ...]:
    """Return rows of methods that can run, those of one plan as one where its first method is among them."""
    methods: dict[str, list[str]] = {row["method"]: [row["method"]] for row in rows}
    for row in rows:
        if row["same_as"] in methods:
            methods[row["same_as"]].append(row["method"])
    alone = [row for row in rows if row["same_as"] not in methods]
    return tuple(Merged(row, tuple(methods[row["method"]])) for row in alone)


_DROPPED_FIRST = ("p95", "strata", "group", "max", "within", "drawn", "bound")


def comparison_text(rows: Sequence[Row], options: CompareOptions, canvas: Canvas) -> str:
    """Return a table a profile, below it what cannot run, with the reasons where they are asked for."""
    promise = promises(rows, options.epsilon, options.confidence)
    return by_profile(
        rows,
        canvas,
        lambda of_profile: _table(
            blocks(of_profile, options.sort, promise, reverse=options.reverse), options, canvas
        ),
    )


def comparison_blocks(rows: Sequence[Row], options: CompareOptions) -> Iterator[Block]:
    """Yield the same with all figures, and the reasons of what cannot run."""
    promise = promises(rows, options.epsilon, options.confidence)
    profiles = list(dict.fromkeys(row["profile"] for row in rows))
    for profile, of_profile in groupby(rows, key=lambda row: row["profile"]):
        if len(profiles) > 1:
            yield profile
        found = blocks(list(of_profile), options.sort, promise, reverse=options.reverse)
        if found.can_run:
            yield _all_columns(found.can_run)
            if _is_best_first(found, options):
                yield best_first_words(options.epsilon)
        if found.cannot_run:
            yield "cannot run:"
            yield [
                Column("method", [row["method"] for row in found.cannot_run], to_right=False),
                Column("reason", [row["reason"] for row in found.cannot_run], to_right=False),
            ]


def by_profile(rows: Sequence[Row], canvas: Canvas, drawn: Callable[[list[Row]], str]) -> str:
    """Return what is drawn of each profile, with its name where there are several."""
    profiles = list(dict.fromkeys(row["profile"] for row in rows))
    parts = []
    for profile, of_profile in groupby(rows, key=lambda row: row["profile"]):
        if len(profiles) > 1:
            parts.append(_title(profile, canvas))
        parts.append(drawn(list(of_profile)))
    return "\n\n".join(parts)


def _title(profile: str, canvas: Canvas) -> str:
    """Return a table's profile; a mean lists its profiles in full, as only they distinguish it."""
    if profile.startswith(MEAN_OF):
        return _filled(profile, canvas)
    return shortened(profile, canvas.width)


def _filled(text: str, canvas: Canvas, *, first: str = "", others: str = "") -> str:
    return fill(
        printable(text),
        canvas.width,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
    )


def _table(found: Blocks, options: CompareOptions, canvas: Canvas) -> str:
    """Return the methods that can run with their figures, and those that cannot."""
    parts = []
    if found.can_run:
        parts.append(table(comparison_columns(found.can_run, canvas.width), gap=" "))
        if _is_best_first(found, options):
            parts.append(_filled(best_first_words(options.epsilon), canvas))
    if found.cannot_run:
        parts.append(_cannot_run(found.cannot_run, options, canvas))
    return "\n\n".join(parts)


def best_first_words(epsilon: float) -> str:
    """Return what makes a method better than another."""
    return (
        f"Best first: the simulated total bounded by {quantities.share(epsilon)} (column simulated), and the "
        "draws within it, by speedup; then wider bounds, the smallest first; then none, by mean error"
    )


def _is_best_first(found: Blocks, options: CompareOptions) -> bool:
    """Return whether there is a promise that orders the methods."""
    has_promise = any(each.row["bound_with_noise"] is not None for each in found.can_run)
    return has_promise and options.sort is CompareSort.BEST and not options.reverse


def _cannot_run(rows: Sequence[Row], options: CompareOptions, canvas: Canvas) -> str:
    """Return the names of the methods that cannot run; with their reasons, a paragraph each."""
    if options.reasons:
        reasons = [_filled(row["reason"], canvas, first="- ", others="  ") for row in rows]
        return "\n".join(["cannot run:", *reasons])
    return "\n".join([_filled(cannot_run_text(rows), canvas, others="  "), "(--reasons says why)"])


def cannot_run_text(rows: Sequence[Row]) -> str:
    """Return the names of the methods that cannot run, in one line."""
    return f"cannot run: {', '.join(row['method'] for row in rows)}"


def comparison_columns(methods: Sequence[Merged], width: int, *, gap: str = " ") -> list[Column]:
    """Return the columns of methods that can run; if too wide, without the least important figures.

    Parameters
    ----------
    width : of the table, with `gap` between its columns.
    """
    columns = _all_columns(methods)
    # CSV and the other data formats have all of them.
    for heading in _DROPPED_FIRST:
        if len(table(columns, gap=gap).partition("\n")[0]) > width:
            columns = [column for column in columns if column.heading != heading]
    return columns


def _all_columns(methods: Sequence[Merged]) -> list[Column]:
    rows = [each.row for each in methods]

    def shown(heading: str, name: str, form: Any) -> list[Column]:
        # Rows of means have few of the figures.
        if all(row[name] is None for row in rows):
            return []
        return [Column(heading, ["-" if row[name] is None else form(row[name]) for row in rows])]

    return [
        Column("method", [each.label for each in methods], to_right=False),
        *shown("strata", "strata", quantities.count),
        *shown("drawn", "samples", quantities.count),
        *shown("speedup", "speedup", quantities.ratio),
        *shown("simulated", "bound_with_noise", quantities.share),
        *shown("bound", "bound", quantities.share),
        *shown("group", "group_bound", quantities.share),
        *shown("mean", "error_mean", quantities.share),
        *shown("p95", "error_p95", quantities.share),
        *shown("max", "error_max", quantities.share),
        *shown("within", "within_epsilon", quantities.share),
    ]


HEIGHT = 20
"""Rows of a scatter, where no others are asked for."""


def note_missing_in_scatter(rows: Sequence[Row], options: CompareOptions) -> None:
    """Say which methods do not apply, where a scatter is all that is shown."""
    if options.scatter and options.format is OutputFormat.TABLE:
        missing = dict.fromkeys(row["method"] for row in rows if not row["applicable"])
        if missing:
            note(f"not applicable, so not in the chart: {', '.join(missing)}", quiet=options.quiet)


def scatter_text(rows: Sequence[Row], canvas: Canvas, width: int, height: int) -> str:
    """Return a scatter a profile; methods that do not apply are in none."""

    def drawn(of_profile: list[Row]) -> str:
        grid = comparison_scatter(of_profile, width, height)
        return ansi(grid) if canvas.color else plain(grid)

    return by_profile(rows, canvas, drawn)


def comparison_scatter(rows: Sequence[Row], width: int, height: int, *, selected: str | None = None) -> Grid:
    """Return the scatter of one profile's methods; a method has the same letter and colour in all of them.

    Parameters
    ----------
    selected : the method to mark, the first of those whose plan is the same.
    """
    there = merged([row for row in rows if row["applicable"]])
    points = [
        Point(each.label, *method_mark(each.methods[0]), each.row["speedup"], each.row["error_mean"])
        for each in there
        if each.row["speedup"] is not None and each.row["error_mean"] is not None
    ]
    selected = next((each.label for each in there if each.methods[0] == selected), None)
    return scatter(points, width, height, selected=selected)


def method_mark(method: str) -> tuple[str, int]:
    """Return a method's letter and its style, by its place among all methods."""
    place = method_names().index(method)
    return LETTERS[place % len(LETTERS)], cluster_style(place)


def table_or_scatter(rows: Sequence[Row], options: CompareOptions, canvas: Canvas) -> str:
    """Return what `compare` prints with these options."""
    if options.scatter:
        return scatter_text(rows, canvas, options.width or canvas.width, options.height or HEIGHT)
    return comparison_text(rows, options, canvas)


@dataclass(frozen=True, slots=True)
class ComparedWorkloads:
    """Rows, and sentences on what to know of them.

    Attributes
    ----------
    parts : by a workload's name, what the filters keep of it.
    """

    found: NotedRows
    parts: dict[str, Part]


def compared_workloads(
    workloads: Sequence[tuple[str, ...]], methods: Sequence[str], options: CompareOptions, progress: Progress
) -> ComparedWorkloads:
    """Return a row a workload and method; of several workloads then the means over them.

    Parameters
    ----------
    workloads : the files of each.

    Raises
    ------
    OptionError : columns are named, and no file is a table; or see `comparison_of`.
    """
    columns = columns_of(options)
    tables: list[NotedRows] = []
    parts: dict[str, Part] = {}
    has_table, profile = False, None
    for paths in workloads:
        profile = open_profile(paths, progress, columns, needs_table=len(workloads) == 1)
        note_what_is_read(profile, quiet=options.quiet)
        has_table |= profile.named_columns is not None
        rows, parts[" ".join(paths)] = _on_one(profile, paths, methods, options, progress)
        tables.append(rows)
    if columns is not None and not has_table and profile is not None:
        refuse_unused_columns([profile])
    if len(workloads) > 1:
        tables.append(mean_rows([each.rows for each in tables], options.mean.value))
    notes = dict.fromkeys(text for each in tables for text in each.notes)
    return ComparedWorkloads(NotedRows([row for each in tables for row in each.rows], list(notes)), parts)


def _on_one(
    profile: Profile,
    paths: tuple[str, ...],
    methods: Sequence[str],
    options: CompareOptions,
    progress: Progress,
) -> tuple[NotedRows, Part]:
    comparison = comparison_of(profile, paths, options, progress)
    rows = workload_rows(paths, comparison, methods, options)
    return rows, part_of(profile, comparison.counts(grouping_of(options, methods[0])))
