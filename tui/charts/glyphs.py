"""The glyphs charts are made of, in Unicode and in pure ASCII, none wider than one cell."""

from __future__ import annotations

from dataclasses import dataclass

from tui.charts.grid import MARKER

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ASCII_FILLS = "#o*x+%@=&$~^" + "ABCDEFGHIJKLMNPQRSTUVWYZ"


@dataclass(frozen=True, slots=True)
class GlyphSet:
    """One glyph for each part of a chart; `levels` are the partial heights of a bar's top cell, ascending."""

    levels: str
    shades: str
    vertical: str
    horizontal: str
    corner: str
    tick_left: str
    tick_down: str
    split: str
    split_foot: str
    proposed: str
    proposed_foot: str
    gap: str
    branch: str
    last_branch: str
    trunk: str


UNICODE = GlyphSet(
    levels="▁▂▃▄▅▆▇█",
    shades="▁▂▃▄▅▆▇█",
    vertical="│",
    horizontal="─",
    corner="└",
    tick_left="┤",
    tick_down="┬",
    split="│",
    split_foot="┴",
    proposed="┊",
    proposed_foot="┴",
    gap="╌",
    branch="├─ ",
    last_branch="└─ ",
    trunk="│  ",
)
ASCII = GlyphSet(
    levels="",
    shades=".:-=+*#@",
    vertical="|",
    horizontal="-",
    corner="+",
    tick_left="+",
    tick_down="+",
    split="|",
    split_foot="|",
    proposed=":",
    proposed_foot=":",
    gap=" ",
    branch="|- ",
    last_branch="`- ",
    trunk="|  ",
)


def glyph_set(*, ascii_only: bool) -> GlyphSet:
    """The glyphs to draw with."""
    return ASCII if ascii_only else UNICODE


def cluster_symbol(cluster: int, *, ascii_only: bool) -> str:
    """A cluster's one-cell name, the same in every chart: a letter, or in ASCII what its bars are made of."""
    symbols = ASCII_FILLS if ascii_only else LETTERS
    return symbols[cluster % len(symbols)]


def cluster_style(cluster: int) -> int:
    """The grid style of a cluster; they repeat after a hundred."""
    return cluster % MARKER
