"""Pages as Markdown, as GitHub shows it: names read as they are, and are no tag, link, mention or mark-up.

GitHub finds mentions, references, emoji and addresses in what is shown, so no backslash keeps them from it:
names, and words that may be such, are code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tui.output.blocks import PagePart
from tui.terminal.printable import Column, printable

# What has a meaning within a line; an underline has none inside a word.
_MARKS = re.compile(r"[\\*\[\]<~&#]|(?<![^\W_])_|_(?![^\W_])")
# What has one at the beginning of a paragraph.
_BEGINS = re.compile(r"^(?:(?=[+\-=>])|(\d+)(?=[.)](?:\s|$)))")
# What has one in a word that is shown: mentions, mathematics, addresses, files that look like them, emoji,
# references.
_LIVE = re.compile(r"[@$`]|//|www\.|\w\.[^\W\d]|:\w[\w+-]*:|#\d|\bGH-\d", re.IGNORECASE)
# What may stand around code, so that no two of them touch.
_AROUND = "(.,;:)\"'"
_CODE = re.compile(rf"(?<![^\s{_AROUND}])`([^`]+)`(?![^\s{_AROUND}])")
_TICKS = re.compile(r"`+")


def in_markdown(text: str) -> str:
    """Return a sentence as a paragraph or a heading; what stands between backticks in it is code."""
    return _BEGINS.sub(lambda match: f"{match[0]}\\", _inline(text))


def code(text: str) -> str:
    """Return a name as code, which reads as it is to the last space."""
    text = printable(text)
    fence = "`" * (_longest_ticks(text) + 1)
    # Of a space at either end one is taken away.
    pad = " " if text.strip() and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def fenced(text: str) -> str:
    """Return lines as a block that Markdown leaves alone."""
    fence = "`" * max(3, _longest_ticks(text) + 1)
    printable_lines = "\n".join(map(printable, text.split("\n")))
    return f"{fence}text\n{printable_lines}\n{fence}"


def table_text(columns: Sequence[Column]) -> str:
    """Return the columns as one of GitHub's tables."""
    cells = (map(code if column.is_name else _inline, column.cells) for column in columns)
    rows = [
        [_inline(column.heading) for column in columns],
        ["---:" if column.to_right else "---" for column in columns],
        *zip(*cells, strict=True),
    ]
    # The bar is so written in a table alone, and in its code too.
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def page_text(parts: Iterable[PagePart]) -> str:
    """Return paragraphs and tables, an empty line between; nothing is cut or wrapped."""
    texts = (in_markdown(part) if isinstance(part, str) else table_text(part) for part in parts)
    return "\n\n".join(texts)


def _inline(text: str) -> str:
    pieces = _CODE.split(printable(text).strip())
    pieces[::2] = [" ".join(map(_word, piece.split(" "))) for piece in pieces[::2]]
    pieces[1::2] = map(code, pieces[1::2])
    return "".join(pieces)


def _word(word: str) -> str:
    if not _LIVE.search(word):
        return _MARKS.sub(lambda match: f"\\{match[0]}", word)
    core = word.strip(_AROUND)
    before, _, after = word.partition(core)
    return before + code(core) + after


def _longest_ticks(text: str) -> int:
    return max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
