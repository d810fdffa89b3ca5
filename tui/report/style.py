"""The style sheet of a report: light or dark as the reader's screen is, and plain on paper."""

from __future__ import annotations

import html
import re

from tui.terminal.printable import printable

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
