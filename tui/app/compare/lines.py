"""The rows of the table of methods, as text with the method's mark before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tui.charts.grid import fitted
from tui.terminal.tables import Column, table
from tui.text.comparison import Row, comparison_columns, method_mark

_MARK_CELLS = 2


@dataclass(frozen=True, slots=True)
class CompareLine:
    """One method: its letter and style as in the scatter, and its figures, or words in their place."""

    method: str
    symbol: str
    style: int
    text: str
    has_figures: bool


def compare_lines(
    rows: Sequence[Row], doing: tuple[str, str] | None, width: int, *, ascii_only: bool
) -> tuple[str, list[CompareLine]]:
    """Return the heading and a line a method, none wider than `width`.

    Parameters
    ----------
    rows : those that apply have figures, the others their reason.
    doing : a method under way, and what it does, which is the last line.
    """
    there = [row for row in rows if row["applicable"]]
    heading, *figures = _figures(there, width - _MARK_CELLS) if there else ["method"]
    texts = iter(figures)
    lines = [
        _line(
            row["method"], next(texts) if row["applicable"] else _reason(row), has_figures=row["applicable"]
        )
        for row in rows
    ]
    if doing is not None:
        method, words = doing
        lines.append(_line(method, f"{method}: {words}", has_figures=False))
    return (
        fitted(" " * _MARK_CELLS + heading, width, ascii_only=ascii_only),
        [_within(line, width - _MARK_CELLS, ascii_only=ascii_only) for line in lines],
    )


def _figures(rows: Sequence[Row], width: int) -> list[str]:
    """Return a heading and a row each, with as many columns, and then as wide apart, as there is room for."""
    columns: list[Column] = comparison_columns(rows, width)
    wide = table(columns).split("\n")
    return wide if len(wide[0]) <= width else table(columns, gap=" ").split("\n")


def _reason(row: Row) -> str:
    reason, method = row["reason"] or "", row["method"]
    return reason if reason.startswith(method) else f"{method}: {reason}"


def _line(method: str, text: str, *, has_figures: bool) -> CompareLine:
    return CompareLine(method, *method_mark(method), text, has_figures)


def _within(line: CompareLine, width: int, *, ascii_only: bool) -> CompareLine:
    text = fitted(line.text, width, ascii_only=ascii_only)
    return CompareLine(line.method, line.symbol, line.style, text, line.has_figures)
