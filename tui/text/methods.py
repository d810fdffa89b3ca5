"""The methods: what they are and need, and all of them on profiles, as rows, a table or a scatter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sampling.features.metric_names import NCU_COMMAND
from sampling.methods.description import MethodDescription
from sampling.methods.registry import method_names
from sampling.parallel import Progress
from sampling.plan.comparison import MEAN_OF, ComparedMethod, MethodComparison, list_means
from sampling.readers.registry import refuse_unused_columns
from sampling.reduction.duration_counts import counts_selection
from sampling.reduction.region import Selection
from sampling.text import counted
from tui.charts.grid import LETTERS, Grid, cluster_style
from tui.charts.quantities import UNKNOWN, count, ratio, share
from tui.charts.size_plot import Point, scatter
from tui.engine.drafts import open_profile
from tui.engine.planning import check_feature_reports, comparison_of
from tui.options.choices import CompareSort
from tui.options.command_line import with_flags
from tui.options.plan import CompareOptions
from tui.output.blocks import Block, CommandLine, Preformatted
from tui.output.writer import Canvas
from tui.terminal.printable import Column, shortened, table

# What they are.


def methods_blocks(methods: Sequence[MethodDescription]) -> Iterator[Block]:
    """Yield each method with its source, what it needs and its options."""
    for method in methods:
        yield f"{method.name}{'*' if method.default else ''}: {method.source}"
        yield from [f"  needs {', '.join(method.needs)}"] if method.needs else []
        for option in method.about_options:
            value = option.default
            default = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
            yield f"  {method.name}.{option.name}={default} [{option.values}] {option.meaning}"
    yield from ("", "* the default; options are set by `--set METHOD.NAME=VALUE`", "")
    yield "to record the metrics of Nsight Compute that they need:"
    yield CommandLine(f"{NCU_COMMAND} ./program", "")


# All of them on profiles, as rows.

_LACKING = {
    "error_mean": "its error is 0 on some, so there is no geometric mean",
    "speedup": "it samples no time on some, so there is no mean speedup",
}


def compared_workloads(
    workloads: Sequence[tuple[str, ...]], methods: Sequence[str], options: CompareOptions, progress: Progress
) -> tuple[list[ComparedMethod], tuple[str, ...], dict[str, Selection]]:
    """Return a row a workload (its files) and method, and of several workloads the means over them.

    Beside them sentences on what to know of the rows, and what filters keep of each workload. Raises
    OptionError: columns are named, and no file is a table; or see `comparison_of`.
    """
    tables: list[list[ComparedMethod]] = []
    sentences: list[str] = []
    parts: dict[str, Selection] = {}
    profiles = []
    for paths in workloads:
        profile = open_profile(paths, options, progress, needs_table=len(workloads) == 1)
        profiles.append(profile)
        comparison = comparison_of(profile, paths, options, progress)
        rows, texts = workload_rows(paths, comparison, methods, options)
        tables.append(rows)
        sentences += texts
        counts = comparison.counts(comparison.grouping(methods[0]))
        parts[" ".join(paths)] = counts_selection(profile, counts)
    if options.request.columns is not None and not any(profile.named_columns for profile in profiles):
        refuse_unused_columns(profiles[-1:])
    means = list_means(tables, options.mean.value) if len(workloads) > 1 else []
    sentences += [
        f"{row.method}, {row.profile}: {reason}"
        for row in means
        for name, reason in _LACKING.items()
        if getattr(row, name) is None
    ]
    return [row for table in (*tables, means) for row in table], tuple(dict.fromkeys(sentences)), parts


def workload_rows(
    paths: tuple[str, ...], comparison: MethodComparison, methods: Sequence[str], options: CompareOptions
) -> tuple[list[ComparedMethod], list[str]]:
    """Judge each method on a workload; return a row a method, and sentences on them."""
    is_one_of_several = len(paths) < len(options.profiles)
    profile = " ".join(paths)
    head = f"{profile}: " if is_one_of_several else ""
    rows: list[ComparedMethod] = []
    notes: list[str] = []
    for method in methods:
        compared = comparison.compare(method)
        rows.append(compared.record(profile, compared.reason and with_flags(compared.reason)))
        if compared.design is not None:
            notes += [f"{head}{method}: {with_flags(text)}" for text in compared.design.notes]
    notes += [f"{head}{with_flags(report.sentence)}" for report in comparison.reports]
    if comparison.launches_differing:
        differing = counted(comparison.launches_differing, "launch has", "launches have")
        notes.append(
            f"{differing} another name, grid or block in {options.on}: they are matched in their order"
        )
    if is_one_of_several:
        check_feature_reports(comparison.reports, options)
    return rows, notes


# Their order.

# Heading and figure of each column; a sort is called as its column is.
_COLUMNS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("strata", "strata", count),
    ("drawn", "samples", count),
    ("speedup", "speedup", ratio),
    ("simulated", "promised_error", share),
    ("bound", "bound", share),
    ("group", "group_bound", share),
    ("mean", "error_mean", share),
    ("p95", "error_p95", share),
    ("max", "error_max", share),
    ("within", "within_epsilon", share),
)


class Merged(NamedTuple):
    """Methods whose plan is the same one: the row of the first of them, and all their names."""

    row: ComparedMethod
    methods: tuple[str, ...]

    @property
    def label(self) -> str:
        """Their names."""
        return ", ".join(self.methods)


class Blocks(NamedTuple):
    """The methods of one profile: those that can run, and the rows of those that cannot."""

    can_run: tuple[Merged, ...]
    cannot_run: tuple[ComparedMethod, ...]


def promises(rows: Sequence[ComparedMethod], epsilon: float, confidence: float) -> dict[str, float]:
    """Return what each method promises on all of the profiles that it can run on, the worst of it.

    0 where the simulated total is known within epsilon and as many draws as the confidence says were within;
    else the error promised, and infinity where there is none.
    """
    worst: dict[str, float] = {}
    for row in rows:
        # A mean over profiles has no bound of its own.
        if row.applicable and not row.profile.startswith(MEAN_OF):
            error, share_within = row.promised_error, row.within_epsilon
            if error is None:
                error = math.inf
            elif error <= epsilon and (share_within is None or share_within >= confidence):
                error = 0.0
            worst[row.method] = max(worst.get(row.method, 0.0), error)
    return worst


def blocks(
    rows: Sequence[ComparedMethod], sort: CompareSort, promise: Mapping[str, float], *, reverse: bool = False
) -> Blocks:
    """Return the methods of one profile in order; reversed, methods without the figure stay last.

    Best first: promises that are kept (0 in `promises`), by cost, which is the highest speedup first; the
    others, the smallest bound first; then what promises nothing, the smallest mean error first.
    """

    def place(row: ComparedMethod) -> tuple[Any, ...]:
        if sort is CompareSort.METHOD:
            return (row.method,)
        if sort is CompareSort.BEST:
            promised = promise[row.method]
            return promised, 0 if promised < math.inf else row.error_mean or 0, -(row.speedup or 0)
        figure = next(getattr(row, name) for heading, name, _ in _COLUMNS if heading == sort.value)
        return figure is None, (figure or 0) * (-1 if falls(sort, reverse=reverse) else 1)

    is_reversed = reverse and sort in {CompareSort.BEST, CompareSort.METHOD}
    able = sorted((row for row in rows if row.applicable), key=place, reverse=is_reversed)
    return Blocks(merged(able), tuple(row for row in rows if not row.applicable))


def falls(sort: CompareSort, *, reverse: bool) -> bool:
    """Return whether the largest figure stands first."""
    return (sort in {CompareSort.SPEEDUP, CompareSort.WITHIN}) != reverse


def merged(rows: Sequence[ComparedMethod]) -> tuple[Merged, ...]:
    """Return the methods that can run, those of one plan as one where its first method is among them."""
    methods: dict[str, list[str]] = {row.method: [row.method] for row in rows if row.applicable}
    for row in rows:
        if row.same_as in methods:
            methods[row.same_as].append(row.method)
    firsts = (row for row in rows if row.method in methods and row.same_as not in methods)
    return tuple(Merged(row, tuple(methods[row.method])) for row in firsts)


# As tables and scatters.

_HEIGHT = 20
_BEST_FIRST = (
    "Best first: bounds of the simulated total that are as asked for, by speedup; then wider ones, the "
    "smallest first; then none, by mean error"
)
_DROPPED_FIRST = ("p95", "strata", "group", "max", "within", "drawn", "bound")


def comparison_blocks(
    rows: Sequence[ComparedMethod], options: CompareOptions, canvas: Canvas
) -> Iterator[Block]:
    """Yield a scatter or a table a profile, below it what cannot run, with the reasons if asked for."""
    promise = promises(rows, options.request.epsilon, options.request.confidence)
    by_profile = [(profile, list(group)) for profile, group in groupby(rows, key=lambda row: row.profile)]
    for number, (profile, of_profile) in enumerate(by_profile):
        if len(by_profile) > 1:
            # A mean lists its profiles in full, as only they distinguish it.
            is_whole = canvas.is_page or profile.startswith(MEAN_OF)
            yield from [""] if number else []
            yield from (profile if is_whole else shortened(profile, canvas.width), "")
        if options.on is not None:
            yield f"Plans of the profile, judged on {shortened(options.on, canvas.width // 2)}:"
        if options.scatter and not canvas.is_page:
            yield comparison_scatter(of_profile, options.width or canvas.width, options.height or _HEIGHT)
            continue
        ordered = blocks(of_profile, options.sort, promise, reverse=options.reverse)
        if ordered.can_run:
            columns = comparison_columns(ordered.can_run, canvas.width)
            yield columns if canvas.is_page else Preformatted(table(columns, gap=" "))
            if options.sort is CompareSort.BEST and not options.reverse:
                yield from ("", _BEST_FIRST)
        if ordered.cannot_run:
            yield from [""] if ordered.can_run else []
            is_explained = options.reasons or canvas.is_page
            names = f"{cannot_run_text(ordered.cannot_run)} (--reasons says why)"
            yield "cannot run:" if is_explained else names
            yield from (f"- {row.reason}" for row in ordered.cannot_run if is_explained)


def cannot_run_text(rows: Sequence[ComparedMethod]) -> str:
    """Return the names of the methods that cannot run, in one line."""
    return f"cannot run: {', '.join(row.method for row in rows)}"


def comparison_columns(methods: Sequence[Merged], width: int) -> list[Column]:
    """Return the columns of methods that can run; if too wide, without the least important figures."""
    columns = [Column("method", [method.label for method in methods], to_right=False)]
    for heading, name, form in _COLUMNS:
        values = [getattr(method.row, name) for method in methods]
        # Rows of means have few of the figures.
        if any(value is not None for value in values):
            columns.append(Column(heading, [UNKNOWN if value is None else form(value) for value in values]))
    for heading in _DROPPED_FIRST:
        if len(table(columns, gap=" ").partition("\n")[0]) > width:
            columns = [column for column in columns if column.heading != heading]
    return columns


def drawable(rows: Sequence[ComparedMethod]) -> list[Merged]:
    """Return the methods of one profile that have a place in a scatter."""
    return [
        method
        for method in merged(rows)
        if method.row.speedup is not None and method.row.error_mean is not None
    ]


def comparison_scatter(
    rows: Sequence[ComparedMethod], width: int, height: int, *, selected: str | None = None
) -> Grid:
    """Return the scatter of one profile's methods, one of them marked; a method has one letter everywhere."""
    methods = drawable(rows)
    points = [
        Point(method.label, *method_mark(method.methods[0]), method.row.speedup, method.row.error_mean)
        for method in methods
        if method.row.speedup is not None and method.row.error_mean is not None
    ]
    marked = next((method.label for method in methods if method.methods[0] == selected), None)
    return scatter(points, width, height, selected=marked)


def method_mark(method: str) -> tuple[str, int]:
    """Return a method's letter and its style, by its place among all methods."""
    place = method_names().index(method)
    return LETTERS[place % len(LETTERS)], cluster_style(place)
