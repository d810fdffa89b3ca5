"""LaTeX as a small reader of its own understands it: comments, and tables of booktabs with their cells."""

from __future__ import annotations

import re

from tests.rendered_markdown import Cells

_TABLE = re.compile(r"\\begin{tabular}{([lr]+)}\n\\toprule\n(.*?)\\bottomrule\n\\end{tabular}", re.DOTALL)
# All that a cell may have; a letter with a meaning, or a brace that is not closed, is none of it.
_TOKEN = re.compile(r"\\\w+{\d*}|\\[&%$#_{}]|\$[^$]+\$|{[\[*]?}|--|''|,,|[^\\~^`<>|\"&%$#_{}]")
_SHOWN = {
    r"\symbol{34}": '"',
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textasciigrave{}": "`",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    "$-$": "\u2212",
    r"$\leq$": "≤",
    r"$\geq$": "≥",
    r"$\neq$": "≠",
    r"$\approx$": "≈",
    r"$\infty$": "∞",
    r"$\mu$": "\u03bc",
    r"$\bigtriangleup$": "▲",
    r"$\bigtriangledown$": "▼",
    "{}": "",
    "{[}": "[",
    "{*}": "*",
    # Two letters that are set as one other.
    "--": "\u2013",
    "''": "\u201d",
    ",,": "\u201e",
    **{f"\\{mark}": mark for mark in "&%$#_{}"},
}


def rendered_tables(text: str) -> list[Cells]:
    """Return the cells of each table, the headings first; all around them is comments and empty lines."""
    for line in _TABLE.sub("%", text).removesuffix("\n").split("\n"):
        assert line[:1] in {"%", ""}, line
    return [_rows(*match.groups()) for match in _TABLE.finditer(text)]


def _rows(alignments: str, body: str) -> Cells:
    rows: Cells = []
    for line in body.replace("\\midrule\n", "").removesuffix("\n").split("\n"):
        # A bracket or a star at the beginning is an option of what stands before it.
        assert re.fullmatch(r"[^\[*].*\\\\", line), line
        cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
        assert len(cells) == len(alignments), line
        rows.append([rendered_cell(cell.strip()) for cell in cells])
    return rows


def rendered_cell(text: str) -> str:
    """Return what a cell shows."""
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == text
    return "".join(_SHOWN.get(token, token) for token in tokens)
