"""The grid, its sinks and the sparkline."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.drawing import in_ascii
from tui.charts.grid import (
    ASCII,
    ASCII_FILLS,
    AXIS,
    CLUSTER_COLOURS,
    LABEL,
    LETTERS,
    MARKER,
    PLAIN,
    PROPOSED,
    UNICODE,
    Grid,
    ansi,
    ansi_code,
    bar,
    blank,
    cluster_style,
    cluster_symbol,
    fitted,
    plain,
    put,
    runs,
    sparkline,
    style_name,
)


def drawn() -> Grid:
    grid = blank(8, 3)
    put(grid, 0, 1, "ab", 0)
    put(grid, 0, 3, "c", 1)
    put(grid, 2, 0, "end", MARKER)
    return grid


@given(st.integers(-3, 5), st.integers(-12, 12), st.text("xyz", max_size=12))
def test_text_outside_the_grid_is_cut_off(row: int, column: int, text: str) -> None:
    grid = blank(6, 2)
    put(grid, row, column, text)
    inside = {column + i: glyph for i, glyph in enumerate(text) if 0 <= column + i < 6 and 0 <= row < 2}
    assert {c: glyph for r in range(2) for c, glyph in enumerate(grid.glyph[r]) if glyph != " "} == inside
    assert (grid.style != PLAIN).sum() == len(inside)


WIDE = st.text("x\u6838\uff37\u00fc", max_size=9)


@given(st.lists(st.tuples(st.integers(-8, 12), WIDE), min_size=1, max_size=4))
def test_a_row_keeps_its_columns_whatever_wide_letters_are_drawn_over(texts: list[tuple[int, str]]) -> None:
    grid = blank(10, 1)
    for column, text in texts:
        put(grid, 0, column, text)
        row = "".join(grid.glyph[0].tolist())
        assert cell_len(row) == 10
        # What was drawn last is there, but for letters of which half lies outside.
        first = [column + cell_len(text[:place]) for place in range(len(text))]
        whole = [
            (start, letter)
            for start, letter in zip(first, text, strict=True)
            if start >= 0 and start + cell_len(letter) <= 10
        ]
        assert [grid.glyph[0, start] for start, _ in whole] == [letter for _, letter in whole]
    assert "".join(words for words, _ in runs(grid, 0)) == plain(grid)


@given(WIDE, st.integers(0, 20), st.booleans())
def test_a_fitted_text_of_wide_letters_has_room(text: str, width: int, ascii_only: bool) -> None:
    short = in_ascii(ascii_only, fitted, text, width)
    assert cell_len(short) <= width
    assert ascii_only or short == text or cell_len(text) > width


def test_runs_are_of_one_style_and_without_blanks_at_the_end() -> None:
    assert list(runs(drawn(), 0)) == [(" ", PLAIN), ("ab", 0), ("c", 1)]
    assert list(runs(drawn(), 1)) == []


def test_colours_are_the_terminals_own() -> None:
    assert ansi(drawn()) == " \x1b[36mab\x1b[0m\x1b[33mc\x1b[0m\n\n\x1b[1mend\x1b[0m"
    styles = [*range(MARKER), MARKER, LABEL, AXIS, PROPOSED, PLAIN]
    assert all(re.fullmatch(r"|3[0-7]|[12]|1;3[0-7]", ansi_code(style)) for style in styles)


def test_neighbouring_clusters_differ_in_colour_and_in_symbol() -> None:
    for k in range(300):
        assert cluster_symbol(k) != cluster_symbol(k + 1)
        assert in_ascii(True, cluster_symbol, k) != in_ascii(True, cluster_symbol, k + 1)
        assert ansi_code(cluster_style(k)) != ansi_code(cluster_style(k + 1))
        assert style_name(cluster_style(k)) != style_name(cluster_style(k + 1))
    assert len(set(LETTERS)) == len(LETTERS)
    assert len(set(ASCII_FILLS)) == len(ASCII_FILLS)
    assert len({code for _, code in CLUSTER_COLOURS}) == len(CLUSTER_COLOURS)


@given(st.text("ab ", max_size=20), st.integers(0, 20), st.booleans())
def test_a_fitted_text_has_room(text: str, width: int, ascii_only: bool) -> None:
    short = in_ascii(ascii_only, fitted, text, width)
    assert len(short) <= width
    assert short == text or len(text) > width
    assert short.isascii() or not ascii_only


def test_a_shortened_text_says_so() -> None:
    assert fitted("launches", 6) == "launc…"
    assert in_ascii(True, fitted, "launches", 6) == "lau..."


def test_charts_import_neither_rich_nor_textual() -> None:
    sinks = "tui.charts.grid, tui.terminal.tty"
    modules = f"tui.charts.histogram, tui.charts.tree, {sinks}"
    code = f"import sys, {modules}; print({{'rich', 'textual', 'typer', 'pandas'}} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("counts", "width", "text"),
    [
        ([], 5, ""),
        ([1, 2], 0, ""),
        ([0, 0], 5, "  "),
        ([1, 0, 4, 8], 9, "▁ ▄█"),
        ([0, 0, 9, 0, 0, 0, 0, 1], 4, " █ ▁"),
    ],
)
def test_sparkline(counts: list[int], width: int, text: str) -> None:
    assert sparkline(counts, width) == text


@given(st.lists(st.integers(0, 10**12), max_size=60), st.integers(0, 50), st.booleans())
def test_a_sparkline_has_room_and_rises_with_its_counts(
    counts: list[int], width: int, ascii_only: bool
) -> None:
    text = in_ascii(ascii_only, sparkline, counts, width)
    assert len(text) == min(len(counts), width)
    assert text.isascii() or not ascii_only
    if len(counts) <= width:
        levels = np.array([(" " + (ASCII if ascii_only else UNICODE).shades).index(glyph) for glyph in text])
        order = np.argsort(counts)
        assert (np.diff(levels[order]) >= 0).all()
        assert ((levels > 0) == (np.array(counts) > 0)).all()


EIGHTHS = {"▏": 1, "▎": 2, "▍": 3, "▌": 4, "▋": 5, "▊": 6, "▉": 7, "█": 8}


@given(st.floats(0, 1), st.integers(0, 40))
def test_a_bar_is_as_long_as_its_share_to_an_eighth_of_a_cell(share: float, cells: int) -> None:
    drawn = bar(share, cells)
    assert len(drawn) <= cells
    assert abs(sum(EIGHTHS[glyph] for glyph in drawn) - 8 * share * cells) <= 0.5 + 1e-9
    assert set(drawn[:-1]) <= {"█"}, "only its end is part of a cell"
    assert in_ascii(True, bar, share, cells) == "#" * round(share * cells)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, ""), (-1.0, ""), (float("nan"), ""), (1.5, "████"), (float("inf"), "████")]
)
def test_what_is_no_share_is_an_end(share: float, expected: str) -> None:
    assert bar(share, 4) == expected
