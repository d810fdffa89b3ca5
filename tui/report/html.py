"""A report as one page of HTML, which loads nothing and runs nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from tui.report.pictures import HEIGHT, WIDTH, legend_of, svg_of
from tui.report.sections import Block, Commands, Figure, Listing, Report, Table
from tui.terminal.printable import printable
from tui.terminal.tables import Column
from tui.version import __version__

#: Neighbours differ in hue and in lightness; each contrasts with the page by 3 to 1 or more.
SERIES = 6

_LIGHT = """\
  --page: #ffffff; --text: #1c2126; --faint: #5b6570; --line: #c9d0d6; --shade: #f3f5f7;
  --c0: #1b6ca8; --c1: #b8560b; --c2: #2b7a4b; --c3: #7a48b4; --c4: #a61e4d; --c5: #586470;
"""
_COLOUR = re.compile(r"var\((--\w+)\)")

# What the parts of a chart look like, in a page and in a file of its own.
_CHART = """\
.chart text { fill: var(--text); }
.axis { stroke: var(--faint); fill: none; }
.rule { stroke: var(--line); fill: none; }
.fill0 { fill: var(--c0); } .fill1 { fill: var(--c1); } .fill2 { fill: var(--c2); }
.fill3 { fill: var(--c3); } .fill4 { fill: var(--c4); } .fill5 { fill: var(--c5); }
.curve { stroke: var(--c0); stroke-width: 2; fill: none; }
.drawn { stroke: var(--text); stroke-width: 1.5; fill: none; }
.chosen { fill: var(--c1); stroke: var(--text); stroke-width: 1.5; }
"""

STYLE = f"""\
:root {{
  color-scheme: light dark;
{_LIGHT}}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --page: #14181c; --text: #e6eaee; --faint: #a3adb7; --line: #3b444d; --shade: #1e242a;
    --c0: #5aa9e6; --c1: #f0a04b; --c2: #63c08a; --c3: #b794f4; --c4: #f27ea5; --c5: #a9b4c0;
  }}
}}
body {{
  background: var(--page); color: var(--text); margin: 0 auto; max-width: 62rem; padding: 1.5rem;
  font: 1rem/1.5 system-ui, sans-serif;
}}
h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.25rem; margin: 2.2rem 0 0.6rem; border-bottom: 1px solid var(--line); }}
header p, figcaption, caption {{ color: var(--faint); }}
header p {{ margin: 0.2rem 0 0; }}
p, dd {{ max-width: 46rem; overflow-wrap: anywhere; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0 0 0.7rem 1.2rem; }}
.wide {{ overflow-x: auto; margin: 0.8rem 0; }}
table {{ border-collapse: collapse; font-size: 0.9rem; }}
caption {{ text-align: left; padding-bottom: 0.3rem; }}
th, td {{ padding: 0.2rem 0.45rem; text-align: left; vertical-align: top; }}
th, td {{ border-bottom: 1px solid var(--line); }}
th {{ font-weight: 600; }}
tbody th {{ font-weight: 400; }}
.dense {{ font-size: 0.8rem; }}
.dense th, .dense td {{ padding-left: 0.3rem; padding-right: 0.3rem; }}
th:first-child, td:first-child {{ padding-left: 0; }}
td:last-child {{ overflow-wrap: anywhere; min-width: 6rem; }}
.number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
td.number:last-child {{ min-width: 0; }}
.bar {{ display: block; width: 5rem; height: 0.35rem; margin-left: auto; }}
code {{ white-space: nowrap; }}
pre code {{ white-space: inherit; }}
pre {{ background: var(--shade); padding: 0.7rem; overflow-x: auto; font-size: 0.85rem; }}
figure {{ margin: 1.4rem 0; break-inside: avoid; }}
figcaption {{ overflow-wrap: anywhere; font-size: 0.9rem; }}
figcaption strong {{ color: var(--text); }}
.chart {{ display: block; width: 100%; min-width: 34rem; font: 12px system-ui, sans-serif; }}
{_CHART}.legend {{ display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; }}
.legend {{ list-style: none; margin: 0.3rem 0 0; padding: 0; }}
.legend li {{ font-size: 0.85rem; }}
.legend svg {{ width: 0.75rem; height: 0.75rem; vertical-align: -0.05rem; }}
@media print {{
  :root {{
    --page: #ffffff; --text: #000000; --faint: #3b3b3b; --line: #b5b5b5; --shade: #ffffff;
    --c0: #1b6ca8; --c1: #b8560b; --c2: #2b7a4b; --c3: #7a48b4; --c4: #a61e4d; --c5: #586470;
  }}
  body {{ max-width: none; padding: 0; font-size: 10pt; }}
  .wide, pre {{ overflow: visible; }}
  pre {{ white-space: pre-wrap; }}
  tr, dd {{ break-inside: avoid; }}
  h2 {{ break-after: avoid; }}
}}
"""


def picture_style() -> str:
    """Return the style of a chart in a file of its own: light, and without variables.

    Inkscape and rsvg-convert, which make PDF of it for a paper, know no variables of CSS.
    """
    colours = dict(re.findall(r"(--\w+): (#\w+);", _LIGHT))
    return _COLOUR.sub(lambda found: colours[found[1]], _CHART)


_CODE = re.compile(r"`([^`]+)`")


def in_html(text: str) -> str:
    """Return one line of text as it stands between tags and within quoted attributes."""
    return html.escape(printable(text), quote=True)


def prose_in_html(text: str) -> str:
    """Return a sentence, what stands between backticks in it as code."""
    return _CODE.sub(r"<code>\1</code>", in_html(text))


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
