"""Launches as dots: braille, half blocks or ASCII; a cell has the cluster of most of its launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tui.charts.glyphs import cluster_style, cluster_symbol
from tui.charts.grid import PLAIN, GlyphArray, StyleArray
from tui.terminal.tty import Dots

Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class DotCell:
    """The dots that a cell is made of.

    Attributes
    ----------
    rows, columns : of dots.
    glyphs : by the dots that are set; the dot of row r and column c counts 2^(r * columns + c).
    """

    rows: int
    columns: int
    glyphs: Sequence[str]


def _braille() -> DotCell:
    bits = (0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80)
    codes = (sum(bit for place, bit in enumerate(bits) if dots >> place & 1) for dots in range(1, 256))
    return DotCell(4, 2, (" ", *(chr(0x2800 + code) for code in codes)))


_BRAILLE = _braille()
_BLOCKS = DotCell(2, 1, (" ", "\N{UPPER HALF BLOCK}", "\N{LOWER HALF BLOCK}", "\N{FULL BLOCK}"))
_ASCII = DotCell(2, 1, (" ", "'", ".", ":"))
_SYMBOLS = DotCell(1, 1, (" ", "#"))


def dot_cell(dots: Dots, clusters: int) -> DotCell:
    """Return what cells are made of; in ASCII several clusters have a symbol each, and a cell one dot."""
    if dots == "braille":
        return _BRAILLE
    if dots == "blocks":
        return _BLOCKS
    return _ASCII if clusters == 1 else _SYMBOLS


def drawn_dots(
    row: Places,
    column: Places,
    cluster: npt.NDArray[np.integer],
    shape: tuple[int, int],
    of: DotCell,
    clusters: int,
) -> tuple[GlyphArray, StyleArray]:
    """Return the glyphs and styles of `shape` (rows, columns) of cells.

    Parameters
    ----------
    row, column : (n,) the dot of each launch.
    cluster : (n,) its cluster, of so many.
    """
    rows, columns = shape
    is_set = np.zeros((of.rows * rows, of.columns * columns), dtype=np.bool_)
    is_set.ravel()[row * np.int32(of.columns * columns) + column] = True
    cells = is_set.reshape(rows, of.rows, columns, of.columns).transpose(0, 2, 1, 3)
    weight = 1 << np.arange(of.rows * of.columns).reshape(of.rows, of.columns)
    code = (cells * weight).sum(axis=(2, 3))
    most = _most_common(row // of.rows, column // of.columns, cluster, shape, clusters)
    styles = np.array([cluster_style(each) for each in range(clusters)])
    style = np.where(code > 0, styles[most], PLAIN)
    if of is _SYMBOLS:
        symbols = np.array([cluster_symbol(each, ascii_only=True) for each in range(clusters)])
        return np.where(code > 0, symbols[most], " "), style
    return np.array(of.glyphs)[code], style


def _most_common(
    row: Places, column: Places, cluster: npt.NDArray[np.integer], shape: tuple[int, int], clusters: int
) -> npt.NDArray[np.intp]:
    """Return (rows, columns) the cluster with most launches in a cell; 0 where there is none."""
    rows, columns = shape
    if clusters == 1:
        return np.zeros(shape, dtype=np.intp)
    cell = row * np.int32(columns) + column
    counted = np.bincount(cell * np.int64(clusters) + cluster, minlength=rows * columns * clusters)
    return np.asarray(counted.reshape(rows, columns, clusters).argmax(axis=2))
