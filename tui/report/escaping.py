"""Text of a profile in a document: what means something there is escaped, what has no glyph spelled out."""

from __future__ import annotations

import html
import re

from tui.terminal.printable import printable

# What Markdown, with its tables and GitHub's additions, gives a meaning within a line.
_MARKS = re.compile(r"[\\`*_\[\]<>|~&$@]")
# What it gives a meaning at the beginning of a line.
_BEGINS = re.compile(r"^(?:(?=[#+\-=])|(\d+)(?=[.)](?:\s|$)))")
_CODE = re.compile(r"`([^`]+)`")
_TICKS = re.compile(r"`+")


def in_html(text: str) -> str:
    """Return one line of text as it stands between tags and within quoted attributes."""
    return html.escape(printable(text), quote=True)


def prose_in_html(text: str) -> str:
    """Return a sentence, what stands between backticks in it as code."""
    return _CODE.sub(r"<code>\1</code>", in_html(text))


def in_markdown(text: str) -> str:
    """Return one line of text that reads as it is in Markdown, also in a table's cell."""
    escaped = _MARKS.sub(lambda found: f"\\{found[0]}", printable(text).strip())
    # A web address would become a link of its own.
    return _BEGINS.sub(lambda found: f"{found[0]}\\", escaped).replace("://", ":\\//")


def fenced(text: str) -> str:
    """Return lines as a block that Markdown leaves alone."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    shown = "\n".join(map(printable, text.split("\n")))
    return f"{fence}text\n{shown}\n{fence}"
