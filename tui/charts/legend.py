"""The lines below a chart that say which sign is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sampling.text import counted
from tui.charts import grid as cells
from tui.charts.grid import LABEL, PROPOSED, Grid, fitted, put
from tui.charts.quantities import count, duration, duration_range
from tui.terminal.printable import cell_width

_GAP = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in the legend: its symbol (may be empty), its style, and wordings, the longest first."""

    symbol: str
    style: int
    wordings: tuple[str, ...]


def cluster_entries(ranges_ns: Sequence[tuple[int, int]], launches: Sequence[int]) -> list[Entry]:
    """An entry a cluster, ascending, numbers in columns; the only cluster of a group has no symbol."""
    ranges = [duration_range(low_ns, high_ns) for low_ns, high_ns in ranges_ns]
    numbers = [count(n) for n in launches]
    range_width, number_width = (max(map(len, texts), default=0) for texts in (ranges, numbers))
    entries = []
    for k, (range_text, number, n) in enumerate(zip(ranges, numbers, launches, strict=True)):
        left = f"{range_text:<{range_width}}  {'':{number_width - len(number)}}"
        wordings = (left + counted(n, "launch", "launches"), left + number, range_text)
        symbol = cells.cluster_symbol(k) if len(ranges) > 1 else ""
        entries.append(Entry(symbol, cells.cluster_style(k), wordings))
    return entries


def split_entry(threshold_ns: int, *, is_made: bool) -> Entry:
    """The entry for the threshold of a split, or of the best one where the launches are kept whole."""
    threshold = duration(threshold_ns)
    wordings = (
        (f"split at {threshold}", threshold)
        if is_made
        else (f"keep; a split would be at {threshold}", "keep")
    )
    return Entry(cells.glyph_set().proposed, PROPOSED, wordings)


def legend(entries: Sequence[Entry], width: int, most_rows: int, *, noun: str = "clusters") -> Grid:
    """The entries side by side, in as few rows as they need and at most `most_rows`.

    Words are shortened where that makes room for all entries; entries that still have no room are counted
    in the last place, as "+N more" of `noun`.
    """
    if not entries or most_rows < 1:
        return cells.blank(width, 0)
    # In columns, or one after the other where that takes fewer rows; in the shortest words where none fit.
    shortest = max(len(entry.wordings) for entry in entries) - 1
    for wording in range(shortest + 1):
        # Of an entry with fewer wordings the last one is its shortest.
        texts = [entry.wordings[min(wording, len(entry.wordings) - 1)] for entry in entries]
        widths = [*map(cell_width, texts)]
        in_columns, running = _places([max(widths)] * len(texts), width), _places(widths, width)
        places = running if wording < shortest and running[-1][0] < in_columns[-1][0] else in_columns
        if places[-1][0] < most_rows and max(widths) + 2 <= width:
            break
    grid = cells.blank(width, min(places[-1][0] + 1, most_rows))
    fitting = sum(row < most_rows for row, _ in places)
    left_out = len(entries) - fitting
    entry_count = fitting - (left_out > 0)
    for (row, column), entry, text in zip(places[:entry_count], entries, texts, strict=False):
        put(grid, row, column, entry.symbol, entry.style)
        start = column + 2 if entry.symbol else column
        put(grid, row, start, fitted(text, width - start), LABEL)
    if left_out:
        row, column = places[entry_count]
        ending = f"+{left_out + 1} more" if entry_count else str(len(entries))
        named = f"{ending} {noun}"
        put(grid, row, column, named if len(named) <= width - column else ending, LABEL)
    return grid


def _places(widths: Sequence[int], width: int) -> list[tuple[int, int]]:
    """The row and column of texts of these widths, each with its symbol, filling one row after the other."""
    places, row, column = [], 0, 0
    for wide in widths:
        if column and column + 2 + wide > width:
            row, column = row + 1, 0
        places.append((row, column))
        column += 2 + wide + _GAP
    return places
