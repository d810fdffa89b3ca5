"""A report as one page of HTML, which loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator

from tui.report.pictures import HEIGHT, WIDTH, legend_of, svg_of
from tui.report.sections import Block, Commands, Figure, Listing, Report, Table
from tui.report.style import STYLE, in_html, prose_in_html
from tui.terminal.printable import Column
from tui.version import __version__

# Should a name ever get past the escaping, the browser still neither loads nor runs anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# Tables of more are set closer, so that a page of 800 pixels or of A4 has room for them.
_MOST_COLUMNS = 8


def html_text(report: Report) -> str:
    """Return the whole file."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    title = in_html(report.title)
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f'<meta name="generator" content="KernelPoint {in_html(__version__)}">'
    yield f"<title>{title}</title>"
    yield f"<style>\n{STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield f"<header><h1>{title}</h1><p>{in_html(report.about)}</p></header>"
    yield "<main>"
    figures = 0
    for number, section in enumerate(report.sections, 1):
        yield f'<section aria-labelledby="section-{number}">'
        yield f'<h2 id="section-{number}">{in_html(section.title)}</h2>'
        for block in section.blocks:
            figures += isinstance(block, Figure)
            yield from _block(block, figures)
        yield "</section>"
    yield "</main>"
    yield "</body>"
    yield "</html>"


def _block(block: Block, number: int) -> Iterator[str]:
    """Yield the lines of a block; a chart has its number in the names of its parts."""
    match block:
        case Table():
            yield from _table(block)
        case Figure():
            yield from _figure(block, number)
        case Commands():
            lines = "\n".join(map(in_html, block.lines))
            yield f'<pre tabindex="0"><code>{lines}</code></pre>'
        case Listing():
            yield "<dl>"
            said = in_html if block.are_names else prose_in_html
            yield from (f"<dt>{in_html(head)}</dt><dd>{said(text)}</dd>" for head, text in block.points)
            yield "</dl>"
        case _:
            yield f"<p>{prose_in_html(block)}</p>"


def _table(table: Table) -> Iterator[str]:
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{in_html(table.caption)}">'
    yield '<table class="dense">' if len(table.columns) > _MOST_COLUMNS else "<table>"
    yield f"<caption>{in_html(table.caption)}</caption>"
    if any(column.heading for column in table.columns[1:] if column.heading != "value"):
        heads = "".join(f"<th{_aligned(column)}{_scope(column)}</th>" for column in table.columns)
        yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in range(len(table.columns[0].cells)):
        cells = (_cell(table, place, row) for place in range(len(table.columns)))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>"
    yield "</table>"
    yield "</div>"


def _scope(column: Column) -> str:
    # An empty heading would be announced as one.
    return f' scope="col">{in_html(column.heading)}' if column.heading else ">"


def _cell(table: Table, place: int, row: int) -> str:
    column = table.columns[place]
    bars = (table.bars or {}).get(column.heading)
    drawn = "" if bars is None else _bar(bars[row])
    content = in_html(column.cells[row])
    if place == 0:
        return f'<th scope="row"{_aligned(column)}>{content}</th>'
    return f"<td{_aligned(column)}>{content}{drawn}</td>"


def _aligned(column: Column) -> str:
    return ' class="number"' if column.to_right else ""


def _bar(length: float) -> str:
    """Return a bar of a share of its room; the number beside it says the same."""
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="fill0" width="{100 * length:.1f}" height="10"/></svg>'
    )


def _figure(figure: Figure, number: int) -> Iterator[str]:
    yield "<figure>"
    title, about = in_html(figure.title), in_html(figure.description)
    yield f"<figcaption><strong>{title}</strong><br>{about}</figcaption>"
    yield f'<div class="wide" role="region" tabindex="0" aria-label="Chart {number}">'
    named = f'role="img" aria-labelledby="title-{number} about-{number}"'
    yield f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" {named}>'
    yield f'<title id="title-{number}">{title}</title>'
    yield f'<desc id="about-{number}">{about}</desc>'
    yield from svg_of(figure.drawing)
    yield "</svg>"
    yield "</div>"
    entries = legend_of(figure.drawing)
    if entries:
        items = "".join(f"<li>{_symbol(mark)}{in_html(text)}</li>" for mark, text in entries)
        yield f'<ul class="legend">{items}</ul>'
    yield "</figure>"


def _symbol(mark: str) -> str:
    return f'<svg viewBox="0 0 12 12" aria-hidden="true">{mark}</svg> ' if mark else ""
