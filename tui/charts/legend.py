"""The lines below a histogram that say which cluster is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sampling.text import counted
from tui.charts.grid import (
    LABEL,
    PROPOSED,
    Grid,
    blank,
    cluster_style,
    cluster_symbol,
    fitted,
    glyph_set,
    put,
)
from tui.charts.quantities import count, duration, duration_range

_GAP = 3
_FLOWING_GAP = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in the legend: its symbol (may be empty), its style, and wordings, longest first."""

    symbol: str
    style: int
    wordings: tuple[str, str, str]


def cluster_entries(ranges_ns: Sequence[tuple[int, int]], launches: Sequence[int]) -> list[Entry]:
    """An entry a cluster, ascending, numbers in columns; the only cluster of a group has no symbol."""
    ranges = [duration_range(low_ns, high_ns) for low_ns, high_ns in ranges_ns]
    numbers = [count(n) for n in launches]
    range_width, number_width = (max(map(len, texts), default=0) for texts in (ranges, numbers))
    entries = []
    for k, (range_text, number, n) in enumerate(zip(ranges, numbers, launches, strict=True)):
        symbol = cluster_symbol(k) if len(ranges) > 1 else ""
        left = f"{range_text:<{range_width}}  {'':{number_width - len(number)}}"
        wordings = (left + counted(n, "launch", "launches"), left + number, range_text)
        entries.append(Entry(symbol, cluster_style(k), wordings))
    return entries


def split_entry(threshold_ns: int, *, is_made: bool) -> Entry:
    """The entry for the threshold of a split, or of the best one where the launches are kept whole."""
    at = duration(threshold_ns)
    wordings = (f"keep; a split would be at {at}", f"keep, not split at {at}", "keep")
    if is_made:
        wordings = (f"split at {at}", f"at {at}", at)
    return Entry(glyph_set().proposed, PROPOSED, wordings)


def legend(entries: Sequence[Entry], width: int, most_rows: int, *, what: str = "clusters") -> Grid:
    """The entries side by side, in as few rows as they need and at most `most_rows`.

    Words are shortened where that makes room for all entries; entries that still have no room are counted
    in the last place, as "+N more" of `what`.
    """
    wording, places = _wording(entries, width, most_rows)
    texts = [entry.wordings[wording] for entry in entries]
    cell = _cell(texts)
    left_out = max(len(entries) - most_rows * places, 0)
    shown = len(entries) - left_out - (left_out > 0)
    grid = blank(width, min(-(-len(entries) // places), most_rows))
    for place, entry in enumerate(entries[:shown]):
        row, column = place // places, place % places * cell
        indent = 2 if entry.symbol else 0
        put(grid, row, column, entry.symbol, entry.style)
        put(
            grid,
            row,
            column + indent,
            fitted(texts[place], width - column - indent),
            LABEL,
        )
    if left_out:
        column = shown % places * cell
        more = f"+{left_out + 1} more" if shown else str(len(entries))
        named = f"{more} {what}"
        put(grid, shown // places, column, named if len(named) <= width - column else more, LABEL)
    return grid


def stacked_legend(entries: Sequence[Entry], width: int, most_rows: int) -> Grid:
    """The entries one below the other, in the longest words that fit; the last place counts the rest."""
    room = max(width - 2, 0)
    wording = next((n for n in (0, 1) if all(len(entry.wordings[n]) <= room for entry in entries)), 2)
    shown = len(entries) if len(entries) <= most_rows else max(most_rows - 1, 0)
    grid = blank(width, min(len(entries), most_rows))
    for row, entry in enumerate(entries[:shown]):
        put(grid, row, 0, entry.symbol, entry.style)
        put(grid, row, 2, fitted(entry.wordings[wording], room), LABEL)
    if shown < len(entries):
        put(grid, shown, 0, f"+{len(entries) - shown} more", LABEL)
    return grid


def flowing_legend(entries: Sequence[Entry], width: int, most_rows: int) -> Grid | None:
    """All entries one after the other in whole words, in as few rows as they need; None if those are more.

    The last wording of an entry, which may be cut, is not looked at.
    """
    flowed = [_flowed([entry.wordings[wording] for entry in entries], width) for wording in (0, 1)]
    wording = min((0, 1), key=lambda each: flowed[each][-1][0] if flowed[each] else 0)
    places = flowed[wording]
    texts = [entry.wordings[wording] for entry in entries]
    rows = places[-1][0] + 1 if places else 0
    # Only the first entry of a row may be wider than the row.
    if rows > most_rows or max(map(len, texts), default=0) + 2 > width:
        return None
    grid = blank(width, rows)
    for (row, column), entry, text in zip(places, entries, texts, strict=True):
        put(grid, row, column, entry.symbol, entry.style)
        put(grid, row, column + 2, fitted(text, width - column - 2), LABEL)
    return grid


def _flowed(texts: Sequence[str], width: int) -> list[tuple[int, int]]:
    """The row and column of each text with its symbol, filling one row after the other."""
    places, row, column = [], 0, 0
    for text in texts:
        cells = len(text) + 2
        if column and column + cells > width:
            row, column = row + 1, 0
        places.append((row, column))
        column += cells + _FLOWING_GAP
    return places


def is_whole(entries: Sequence[Entry], width: int, most_rows: int) -> bool:
    """Whether `legend` has room for all entries without the shortest words."""
    wording, places = _wording(entries, width, most_rows)
    return wording < 2 and len(entries) <= places * most_rows


def _wording(entries: Sequence[Entry], width: int, most_rows: int) -> tuple[int, int]:
    """The longest wording with room for all entries, else the shortest; and how many fit in a row."""
    for wording in range(3):
        places = max((width + _GAP) // _cell([entry.wordings[wording] for entry in entries]), 1)
        if len(entries) <= places * most_rows:
            break
    return wording, places


def _cell(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0) + 2 + _GAP
