"""A chart as a file of its own, for a paper: light, with its legend, and without a caption."""

from __future__ import annotations

from collections.abc import Iterator

from tui.report.escaping import in_html
from tui.report.sections import Figure
from tui.report.style import picture_style
from tui.report.svg.axes import HEIGHT, LEFT, RIGHT, WIDTH
from tui.report.svg.drawing import Legend, legend_of, svg_of
from tui.version import __version__

_FONT = 'font-family="Helvetica, Arial, sans-serif" font-size="12"'
_ROW, _MARK, _GAP, _BELOW = 18, 17, 18, 8
# Wider than most letters of the font, as nothing here measures it.
_LETTER = 6.8

Place = tuple[float, float]


def picture_text(figure: Figure) -> str:
    """Return the whole file."""
    return "\n".join(_lines(figure)) + "\n"


def _lines(figure: Figure) -> Iterator[str]:
    entries = legend_of(figure.drawing)
    places, bottom = _placed(entries)
    size = f'width="{WIDTH}" height="{bottom:g}" viewBox="0 0 {WIDTH} {bottom:g}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" {size} {_FONT} role="img">'
    yield f"<title>{_text(figure.title)}</title>"
    yield f"<desc>{_text(figure.description)}</desc>"
    yield f"<metadata>KernelPoint {_text(__version__)}</metadata>"
    yield f"<style>\n{picture_style()}</style>"
    # Some viewers show what has no ground on a dark one.
    yield f'<rect width="{WIDTH}" height="{bottom:g}" fill="#ffffff"/>'
    yield from svg_of(figure.drawing)
    for (mark, words), (x, y) in zip(entries, places, strict=True):
        yield f'<g transform="translate({x:g} {y:g})">{mark}'
        yield f'<text x="{_MARK if mark else 0}" y="10.5">{_text(words)}</text></g>'
    yield "</svg>"


def _placed(entries: Legend) -> tuple[list[Place], float]:
    """Return where each entry of a legend begins, in rows below the chart, and where the picture ends."""
    places: list[Place] = []
    x, y = float(LEFT), float(HEIGHT + _BELOW)
    for mark, words in entries:
        width = (_MARK if mark else 0) + len(words) * _LETTER
        if places and x + width > RIGHT and x > LEFT:
            x, y = float(LEFT), y + _ROW
        places.append((x, y))
        x += width + _GAP
    return places, y + _ROW if places else float(HEIGHT)


def _text(text: str) -> str:
    """Return a text as it stands in XML, which has fewer letters than HTML."""
    return "".join(letter for letter in in_html(text) if letter not in "\ufffe\uffff")
