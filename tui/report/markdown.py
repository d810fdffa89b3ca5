"""A report as Markdown: tables, and charts as text, or as pictures where they lie beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from tui.output.markdown import code, fenced, in_markdown, table_text
from tui.report.sections import Block, Commands, Figure, Listing, Report, Table
from tui.version import __version__


def markdown_text(report: Report) -> str:
    """Return the whole file."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield f"# {in_markdown(report.title)}"
    yield in_markdown(report.about)
    # By this `tui.options.places` knows a report from another document.
    yield f"<!-- generator: KernelPoint {__version__} -->"
    for section in report.sections:
        yield f"## {in_markdown(section.title)}"
        yield from (_block(block, report.images) for block in section.blocks)


def _block(block: Block, images: Mapping[str, str]) -> str:
    match block:
        case Table():
            return f"**{in_markdown(block.caption)}**\n\n{table_text(block.columns)}"
        case Figure():
            title, words = in_markdown(block.title), in_markdown(block.description)
            chart = fenced(block.text)
            if block.name in images:
                chart = f"![{title}]({quote(images[block.name])})"
            return f"**{title}**\n\n{words}\n\n{chart}"
        case Commands():
            return fenced("\n".join(block.lines))
        case Listing():
            said = code if block.are_names else in_markdown
            return "\n".join(f"- **{in_markdown(head)}**: {said(text)}" for head, text in block.points)
    return in_markdown(block)
