"""The comparison as a table a profile: what can run, best first, and below it what cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from textwrap import fill
from typing import Any

from tui.charts import quantities
from tui.options.choices import CompareSort
from tui.options.commands import CompareOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import printable
from tui.terminal.tables import Column, shortened, table
from tui.text.comparison.means import MEAN_OF
from tui.text.comparison.order import Blocks, Merged, blocks, promises
from tui.text.comparison.rows import Row

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
    return shortened(profile, canvas.width, ascii_only=canvas.ascii_only)


def _filled(text: str, canvas: Canvas, *, first: str = "", others: str = "") -> str:
    return fill(
        printable(text, ascii_only=canvas.ascii_only),
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
