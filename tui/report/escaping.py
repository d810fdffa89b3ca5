"""Text of a profile in HTML: what means something there is escaped, what has no glyph spelled out."""

from __future__ import annotations

import html
import re

from tui.terminal.printable import printable

_CODE = re.compile(r"`([^`]+)`")


def in_html(text: str) -> str:
    """Return one line of text as it stands between tags and within quoted attributes."""
    return html.escape(printable(text), quote=True)


def prose_in_html(text: str) -> str:
    """Return a sentence, what stands between backticks in it as code."""
    return _CODE.sub(r"<code>\1</code>", in_html(text))
