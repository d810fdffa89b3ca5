"""A report as one page of HTML, which loads and runs nothing, or as Markdown; each chart as a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sampling.errors import OptionError
from tui import __version__
from tui.options.files import is_report
from tui.options.look import ReportOptions
from tui.output.blocks import Block, CommandLine, has_headings, page_parts
from tui.output.files import new_file, write_folder
from tui.output.markdown import fenced, in_markdown, page_text
from tui.report.pictures import HEIGHT, STYLE, WIDTH, Figure, in_html, picture_text
from tui.terminal.printable import Column

# Names in tables are cut at so many letters.
_NAME_WIDTH = 48
# Should a name ever get past the escaping, the browser still neither loads nor runs anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# Tables of more are set closer, so that a page of 800 pixels or of A4 has room for them.
_MOST_COLUMNS = 8
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Report:
    """The whole file."""

    title: str
    #: What the profile is, in a line below the title.
    about: str
    #: What is said below each heading.
    sections: Mapping[str, Sequence[Block | Figure]]

    @property
    def figures(self) -> Iterator[Figure]:
        """All charts, in their order."""
        for blocks in self.sections.values():
            yield from (block for block in blocks if isinstance(block, Figure))


# As Markdown.


def markdown_text(report: Report, images: Mapping[str, str]) -> str:
    """Return the whole file; `images` says where charts lie as files, the others are drawn as text."""
    parts = [
        f"# {in_markdown(report.title)}",
        in_markdown(report.about),
        # By this `tui.options.files` knows a report from another document.
        f"<!-- generator: KernelPoint {__version__} -->",
    ]
    for heading, blocks in report.sections.items():
        parts.append(f"## {in_markdown(heading)}")
        for block in blocks:
            if isinstance(block, Figure):
                title, words = in_markdown(block.title), in_markdown(block.description)
                source = images.get(block.name)
                chart = fenced(block.text) if source is None else f"![{title}]({quote(source)})"
                parts += [f"**{title}**", words, chart]
            elif isinstance(block, CommandLine):
                parts.append(fenced(block.command))
            elif block:
                parts.append(page_text(page_parts([block], _NAME_WIDTH)))
    return "\n\n".join(parts) + "\n"


# As HTML.


def html_lines(report: Report) -> Iterator[str]:
    """Yield the whole file; its charts stand in it."""
    title = in_html(report.title)
    yield f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="KernelPoint {in_html(__version__)}">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<header><h1>{title}</h1><p>{in_html(report.about)}</p></header>
<main>"""
    figures = 0
    for number, (heading, blocks) in enumerate(report.sections.items(), 1):
        yield f'<section aria-labelledby="section-{number}">'
        yield f'<h2 id="section-{number}">{in_html(heading)}</h2>'
        for block in blocks:
            match block:
                case Figure():
                    figures += 1
                    yield from _figure(block, figures)
                case CommandLine():
                    commands = "\n".join(map(in_html, block.command.split("\n")))
                    yield f'<pre tabindex="0"><code>{commands}</code></pre>'
                case _:
                    for part in page_parts([block], _NAME_WIDTH):
                        if isinstance(part, str):
                            yield f"<p>{prose_in_html(part)}</p>"
                        else:
                            yield from _table(heading, part)
        yield "</section>"
    yield "</main>\n</body>\n</html>"


def prose_in_html(text: str) -> str:
    """Return a sentence, what stands between backticks in it as code."""
    return _CODE.sub(r"<code>\1</code>", in_html(text).strip())


def _table(label: str, columns: Sequence[Column]) -> Iterator[str]:
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{in_html(label)}">'
    yield '<table class="dense">' if len(columns) > _MOST_COLUMNS else "<table>"
    aligned = [' class="number"' if column.to_right else "" for column in columns]
    if has_headings(columns):
        heads = (
            # An empty heading would be announced as one.
            f'<th{css} scope="col">{in_html(column.heading)}</th>' if column.heading else f"<th{css}></th>"
            for css, column in zip(aligned, columns, strict=True)
        )
        yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for first, *row in zip(*(map(in_html, column.cells) for column in columns), strict=True):
        cells = "".join(f"<td{css}>{text}</td>" for css, text in zip(aligned[1:], row, strict=True))
        yield f'<tr><th scope="row"{aligned[0]}>{first}</th>{cells}</tr>'
    yield "</tbody>\n</table>\n</div>"


def _figure(figure: Figure, number: int) -> Iterator[str]:
    """Yield the lines of a chart; it has its number in the names of its parts."""
    title, about = in_html(figure.title), in_html(figure.description)
    named = f'role="img" aria-labelledby="title-{number} about-{number}"'
    yield f"""<figure>
<figcaption><strong>{title}</strong><br>{about}</figcaption>
<div class="wide" role="region" tabindex="0" aria-label="Chart {number}">"""
    if figure.file:
        # Its first line says of a file that it is XML.
        yield figure.file.partition("\n")[2].rstrip()
    else:
        yield f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" {named}>'
        yield f'<title id="title-{number}">{title}</title>\n<desc id="about-{number}">{about}</desc>'
        yield from figure.svg
        yield "</svg>"
    yield "</div>"
    items = []
    for mark, text in figure.legend:
        symbol = f'<svg viewBox="0 0 12 12" aria-hidden="true">{mark}</svg> ' if mark else ""
        items.append(f"<li>{symbol}{in_html(text)}</li>")
    yield from [f'<ul class="legend">{"".join(items)}</ul>'] if items else []
    yield "</figure>"


# Its files.

_HTML, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")


@contextmanager
def report_files(options: ReportOptions) -> Iterator[Callable[[Report], tuple[int, list[str]]]]:
    """Give what writes a report's files, once it is sure that they can be written; all of them or none.

    It returns the bytes of the report, 0 where there are only charts, and the charts' own files.

    Raises OptionError: no file is named, or one that is no report; or see `new_file` and `write_folder`.
    OSError: one cannot be written.
    """
    output, folder = options.output, options.svg
    if output is None and folder is None:
        raise OptionError(
            "report needs -o FILE.html or -o FILE.md", remedy="or --svg FOLDER for the charts alone"
        )
    suffix = "" if output is None else Path(output).suffix.lower()
    if output is not None and suffix not in _HTML + _MARKDOWN:
        raise OptionError(
            f"-o {output}: a report ends in .html or .md",
            remedy="give -o FILE.html for drawn charts, -o FILE.md for charts as text, or --svg FOLDER for "
            "each chart as a file",
        )
    with ExitStack() as opened:
        path = None if output is None else opened.enter_context(new_file(Path(output)))

        def write(report: Report) -> tuple[int, list[str]]:
            size, images, charts = 0, dict[str, str](), list[str]()
            if output is not None and folder is not None:
                # Seen from the report.
                folder_path = Path(os.path.relpath(Path(folder).resolve(), Path(output).resolve().parent))
                images = {
                    figure.name: (folder_path / f"{figure.name}.svg").as_posix() for figure in report.figures
                }
            if path is not None:
                is_page = suffix in _HTML
                text = "\n".join([*html_lines(report), ""]) if is_page else markdown_text(report, images)
                size = path.write_bytes(text.encode("utf-8", "backslashreplace"))
            if folder is not None:
                pictures = [(f"{figure.name}.svg", picture_text(figure)) for figure in report.figures]
                charts = write_folder(Path(folder), pictures, force=options.force, replaced=is_report)
            return size, charts

        yield write
