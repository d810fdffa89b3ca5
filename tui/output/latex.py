"""Pages as LaTeX for a paper: tables with the rules of booktabs, all that is said around them as comments.

pdfLaTeX sets what is written here with either of its usual font encodings, and letters of Latin scripts as
they are; for those of other scripts it takes LuaLaTeX or XeLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tui.output.blocks import PagePart, has_headings
from tui.terminal.printable import Column, printable

# What has a meaning, looks otherwise in some encoding of the font, or is a letter that pdfLaTeX refuses.
_SIGNS = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "`": r"\textasciigrave{}",
        '"': r"\symbol{34}",
        "\N{MINUS SIGN}": "$-$",
        "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
        "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
        "\N{NOT EQUAL TO}": r"$\neq$",
        "\N{ALMOST EQUAL TO}": r"$\approx$",
        "\N{INFINITY}": r"$\infty$",
        "\N{GREEK SMALL LETTER MU}": r"$\mu$",
        "\N{BLACK UP-POINTING TRIANGLE}": r"$\bigtriangleup$",
        "\N{BLACK DOWN-POINTING TRIANGLE}": r"$\bigtriangledown$",
    }
)
# Two of these in a row are set as one other sign.
_LIGATURES = re.compile(r"-(?=-)|'(?=')|,(?=,)")
# After the end of a row these would be its options.
_BEGINS = re.compile(r"^[\[*]")
# Between two numbers or for none, and before one.
_DASH, _MINUS = re.compile(r"(?<=\d)-(?=\d)|^-$"), re.compile(r"(?<![\w}-])-(?=[\d.])")


def in_latex(text: str) -> str:
    """Return one line of text as it stands in a cell."""
    escaped = _LIGATURES.sub(r"\g<0>{}", printable(text).strip().translate(_SIGNS))
    return _BEGINS.sub(r"{\g<0>}", escaped)


def table_text(columns: Sequence[Column]) -> str:
    """Return the columns as a table, without those of bars."""
    columns = [column for column in columns if not column.is_bar]
    heading = [_row([in_latex(column.heading) for column in columns]), r"\midrule"]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{''.join('r' if column.to_right else 'l' for column in columns)}}}",
            r"\toprule",
            *(heading if has_headings(columns) else []),
            *map(_row, zip(*map(_cells, columns), strict=True)),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def page_text(parts: Iterable[PagePart]) -> str:
    """Return comments and tables, first what these need; a table is a paragraph."""
    parts = list(parts)
    packages = [] if all(isinstance(part, str) for part in parts) else [r"\usepackage{booktabs}"]
    texts = (
        f"% {printable(part)}" if isinstance(part, str) else f"{table_text(part)}\n"
        for part in (*packages, *parts)
    )
    return "\n".join(texts).rstrip("\n")


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _cells(column: Column) -> list[str]:
    cells = [in_latex(cell) for cell in column.cells]
    return [_MINUS.sub("$-$", _DASH.sub("--", cell)) for cell in cells] if column.to_right else cells
