"""Which form a report has, by the name of its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sampling.errors import OptionError
from tui.report.html import html_text
from tui.report.markdown import markdown_text
from tui.report.sections import Report

_WRITERS: dict[str, Callable[[Report], str]] = {
    ".html": html_text,
    ".htm": html_text,
    ".md": markdown_text,
    ".markdown": markdown_text,
}


def writer_for(path: str) -> Callable[[Report], str]:
    """Return what writes a report for a file of this name.

    Raises
    ------
    OptionError : its suffix is of neither form.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        given = f"not {suffix}" if suffix else "and this has no suffix"
        raise OptionError(
            f"-o {path}: a report ends in .html or .md, {given}",
            remedy="give -o FILE.html for drawn charts, or -o FILE.md for charts as text",
        )
    return _WRITERS[suffix]
