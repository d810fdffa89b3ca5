"""Where a report goes: its form by the name of its file, and each chart as a file of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from sampling.errors import OptionError
from tui.options.files import is_report
from tui.options.look import ReportOptions
from tui.output.files import new_file, write_folder
from tui.output.markdown import code, fenced, in_markdown, table_text
from tui.report.html import html_text
from tui.report.pictures import picture_text
from tui.report.sections import Block, Commands, Figure, Listing, Report, Table
from tui.version import __version__


def markdown_text(report: Report) -> str:
    """Return the whole file."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield f"# {in_markdown(report.title)}"
    yield in_markdown(report.about)
    # By this `tui.options.files` knows a report from another document.
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
        charts = ", or --svg FOLDER for each chart as a file" if suffix == ".svg" else ""
        raise OptionError(
            f"-o {path}: a report ends in .html or .md, {given}",
            remedy=f"give -o FILE.html for drawn charts, or -o FILE.md for charts as text{charts}",
        )
    return _WRITERS[suffix]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes
    ----------
    size_bytes : of the report; 0 where there are only charts.
    charts : the paths of the charts' own files.
    """

    size_bytes: int
    charts: tuple[str, ...]


@contextmanager
def report_files(options: ReportOptions) -> Iterator[Callable[[Report], Written]]:
    """Give what writes a report's files, once it is sure that they can be written; all of them or none.

    Raises
    ------
    OptionError : no file is named, or one that is no report; or see `new_file` and `write_folder`.
    OSError : one cannot be written.
    """
    output, folder = options.output, options.svg
    if output is None and folder is None:
        raise OptionError(
            "report needs -o FILE.html or -o FILE.md", remedy="or --svg FOLDER for the charts alone"
        )
    with ExitStack() as opened:
        text_of, path = None, None
        if output is not None:
            text_of, path = writer_for(output), opened.enter_context(new_file(Path(output)))

        def write(report: Report) -> Written:
            size = 0
            if path is not None and text_of is not None:
                text = text_of(replace(report, images=_images(report, options)))
                size = path.write_bytes(text.encode("utf-8", "backslashreplace"))
            charts: list[str] = []
            if folder is not None:
                pictures = _pictures(report)
                charts = write_folder(Path(folder), pictures, force=options.force, replaced=is_report)
            return Written(size, tuple(charts))

        yield write


def _pictures(report: Report) -> list[tuple[str, str]]:
    """Return the name and the content of each chart's own file."""
    return [(f"{figure.name}.svg", picture_text(figure)) for figure in report.figures]


def _images(report: Report, options: ReportOptions) -> dict[str, str]:
    """Return where the charts' own files are, seen from the report."""
    if options.output is None or options.svg is None:
        return {}
    there = os.path.relpath(Path(options.svg).resolve(), Path(options.output).resolve().parent)
    return {figure.name: (Path(there) / f"{figure.name}.svg").as_posix() for figure in report.figures}
