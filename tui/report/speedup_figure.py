"""The figure of speedups as a paper takes it: bars from 1 by program, with the whiskers of their intervals.

It has no caption, which the paper has, and no style sheet, which not all converters to PDF know. Bars are
told apart by hue, lightness and hatch: in print without colour too, and by the colour-blind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sampling.study.summary import SpeedupSummary
from sampling.text import counted, joined
from tui.charts.axis import round_step
from tui.charts.whiskers import ratio_axis
from tui.report.pictures import LETTER, Axis, Ticks, in_xml, svg_text
from tui.terminal.printable import cell_width, shortened

# Lengths are points, of which an inch has 72. A column of a paper, both of its columns, and the narrowest bar
# that one column is enough for.
_COLUMN, _PAGE, _LEAST_BAR = 237.6, 504.0, 4.5
_WIDEST_BAR, _PLOT_HEIGHT, _MARGIN, _GAP = 18.0, 96.0, 3.0, 4.0
_FONT_SIZE, _SMALL_SIZE, _ROW, _SWATCH = 8.0, 6.5, 11.0, 9.0
# From the middle of letters to their foot, in heights of the font.
_BASELINE = 0.35
# What a label at half a right angle reaches down and to the left.
_SLANT = math.sqrt(0.5)
# Letters of names below bars, in the title of the axis, in the legend.
_BELOW, _OF_BASE, _IN_LEGEND = 20, 15, 40
_MOST_TICKS, _MILLION = 6, 1_000_000
_MEAN, _NONE = "geomean", "n/a"
# How many bars the mean stands apart.
_APART = 1.5


class Bar(NamedTuple):
    """A speedup and its interval, as far as there are any."""

    ratio: float | None = None
    low: float | None = None
    high: float | None = None


class BarGroup(NamedTuple):
    """The bars of a program or of the mean, one a configuration."""

    name: str
    bars: list[Bar]
    is_mean: bool = False

    @property
    def label(self) -> str:
        """What stands below it."""
        return shortened(self.name, _BELOW)


def speedup_figure(summary: SpeedupSummary) -> str:
    """Return the whole file: the speedups on every program and, of several, their geometric means.

    It is as wide as a column of a paper, or as two where bars would be too narrow.
    """
    names, groups = compared_names(summary), bar_groups(summary)
    layout = _layout(names, groups)
    width, height = layout.width, layout.height
    size = f'width="{width / 72:.3f}in" height="{height / 72:.3f}in" viewBox="0 0 {width:.2f} {height:.2f}"'
    programs = counted(len(summary.programs), "program")
    return svg_text(
        f"Speedup over {summary.base}",
        f"Speedups of {joined(names)} over {summary.base} on {programs}, with their intervals.",
        f'{size} font-size="{_FONT_SIZE:g}"',
        [
            # Some viewers show what has no ground on a dark one.
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *_legend(layout, names),
            *_axis(layout, f"Speedup over {shortened(summary.base, _OF_BASE)}"),
            *_labels(layout, groups),
            *_bars(layout, groups, names),
        ],
    )


def compared_names(summary: SpeedupSummary) -> list[str]:
    """Return the configurations that are compared with the base."""
    names = [configuration.name for configuration in summary.configurations]
    return [name for name in names if name != summary.base]


def bar_groups(summary: SpeedupSummary) -> list[BarGroup]:
    """Return the bars program by program, then those of the mean where there is one."""
    names, groups = compared_names(summary), []
    for program in summary.programs:
        cells = {cell.configuration: cell for cell in program.cells if cell.base == summary.base}
        bars = {name: Bar(cell.speedup, cell.low, cell.high) for name, cell in cells.items()}
        groups.append(BarGroup(program.name, [bars.get(name, Bar()) for name in names]))
    if summary.means is not None and (means := summary.means.geometric):
        bars = {name: Bar(mean.ratio, mean.low, mean.high) for name, mean in means.items()}
        groups.append(BarGroup(_MEAN, [bars.get(name, Bar()) for name in names], is_mean=True))
    return groups


# Where everything stands.


@dataclass(frozen=True, slots=True)
class _Layout:
    """The places of a figure."""

    width: float
    height: float
    #: Where the plot begins, and the title of its axis.
    left: float
    title_x: float
    up: Axis
    ticks: Ticks
    #: From the middle of a bar to that of the next, and from that of a group to that of the next.
    pitch: float
    group_pitch: float
    is_slanted: bool

    @property
    def bar_width(self) -> float:
        """The width of a bar."""
        return min(self.pitch, _WIDEST_BAR)

    def middle(self, number: int, group: BarGroup) -> float:
        """Return the middle of a group, by its number from 0."""
        return self.left + (number + 0.5) * self.group_pitch + _APART * self.pitch * group.is_mean


def _layout(names: Sequence[str], groups: Sequence[BarGroup]) -> _Layout:
    ticks = _ticks([value for group in groups for bar in group.bars for value in bar if value is not None])
    axis_width = max(_width(text) for _, text in ticks) + 2 * _GAP
    label_width = max(_width(group.label) for group in groups)
    bars = len(groups) * (len(names) + 1) + _APART * groups[-1].is_mean
    left = axis_width + _FONT_SIZE
    width = _COLUMN if (_COLUMN - left - _MARGIN) / bars >= _LEAST_BAR else _PAGE
    is_slanted = label_width + _GAP > (width - left - _MARGIN) / bars * (len(names) + 1)
    if is_slanted:
        # The label of the first group reaches to the left of it.
        left = max(left, label_width * _SLANT)
    pitch = (width - left - _MARGIN) / bars
    rows = 1 + max(row for row, _ in _legend_places(names, left, width))
    top = rows * _ROW + _GAP
    bottom = top + _PLOT_HEIGHT
    return _Layout(
        width=width,
        height=bottom + _GAP + (label_width * _SLANT if is_slanted else _FONT_SIZE) + _MARGIN,
        left=left,
        title_x=left - axis_width,
        up=Axis(ticks[0][0], ticks[-1][0], bottom, top),
        ticks=ticks,
        pitch=pitch,
        group_pitch=pitch * (len(names) + 1),
        is_slanted=is_slanted,
    )


def _ticks(values: Sequence[float]) -> Ticks:
    """Return round numbers from the lowest of the values and 1, or below it, to the highest, or above."""
    low, high = ratio_axis(values)
    least, most = math.floor(low * _MILLION), math.ceil(high * _MILLION)
    step = round_step(least, most, _MOST_TICKS - 1)
    decimals = next(digits for digits in range(7) if step * 10**digits % _MILLION == 0)
    ticks = range(least // step * step, -(-most // step) * step + 1, step)
    return [(tick / _MILLION, f"{tick / _MILLION:.{decimals}f}") for tick in ticks]


def _legend_places(names: Sequence[str], left: float, width: float) -> list[tuple[int, float]]:
    """Return the row of each name, and where in it its colour is."""
    places, row, x = list[tuple[int, float]](), 0, left
    for name in names:
        room = _SWATCH + _GAP + _width(shortened(name, _IN_LEGEND))
        if x + room > width and x > left:
            row, x = row + 1, left
        places.append((row, x))
        x += room + 2 * _GAP
    return places


def _width(text: str) -> float:
    return cell_width(text) * LETTER * _FONT_SIZE


# What is drawn.


def _legend(layout: _Layout, names: Sequence[str]) -> Iterator[str]:
    places = _legend_places(names, layout.left, layout.width)
    for number, (name, (row, x)) in enumerate(zip(names, places, strict=True)):
        y = _GAP / 2 + row * _ROW
        yield from _filled(number, x, y, _SWATCH, _SWATCH)
        foot = y + _SWATCH / 2 + _BASELINE * _FONT_SIZE
        yield _text(shortened(name, _IN_LEGEND), x + _SWATCH + _GAP, foot, "start")


def _axis(layout: _Layout, title: str) -> Iterator[str]:
    for value, words in layout.ticks:
        y = _at(layout.up, value)
        yield _line(_level(layout, y), "#c4c4c4", 0.5)
        yield _text(words, layout.left - _GAP, y + _BASELINE * _FONT_SIZE, "end")
    yield _text(title, layout.title_x, (layout.up.first + layout.up.last) / 2, "middle", turn=-90)


def _labels(layout: _Layout, groups: Sequence[BarGroup]) -> Iterator[str]:
    """Yield what stands below the groups, and the line between the programs and their mean."""
    bottom, half_letter = layout.up.first, _BASELINE * _FONT_SIZE
    for number, group in enumerate(groups):
        x = layout.middle(number, group)
        if layout.is_slanted:
            yield _text(group.label, x + half_letter, bottom + _GAP + half_letter, "end", turn=-45)
        else:
            yield _text(group.label, x, bottom + _GAP + _FONT_SIZE, "middle")
        if group.is_mean:
            x -= (layout.group_pitch + _APART * layout.pitch) / 2
            yield _line(f"M{x:.2f} {layout.up.last:.2f}V{bottom:.2f}", "#808080", 0.5, dashed=True)


def _bars(layout: _Layout, groups: Sequence[BarGroup], names: Sequence[str]) -> Iterator[str]:
    """Yield the bars, over them the line at 1, and over that the intervals."""
    up, width, whiskers = layout.up, layout.bar_width, []
    thickness = min(0.7, width / 6)
    for number, group in enumerate(groups):
        left = layout.middle(number, group) - len(names) / 2 * width
        for place, (name, bar) in enumerate(zip(names, group.bars, strict=True)):
            x = left + place * width
            yield f"<g><title>{in_xml(f'{group.name}, {name}: {_words(bar)}')}</title>"
            if bar.ratio is None:
                yield _no_bar(x + width / 2, up)
            else:
                upper, lower = sorted((_at(up, 1), _at(up, bar.ratio)))
                yield from _filled(place, x, upper, width, lower - upper)
            if bar.low is not None and bar.high is not None:
                path = _whisker(x, width, _at(up, bar.low), _at(up, bar.high))
                # So that it is seen on dark bars and among hatches.
                yield _line(path, "#ffffff", 2.6 * thickness)
                whiskers.append(_line(path, "#000000", thickness))
            yield "</g>"
    yield _line(_level(layout, _at(up, 1)), "#000000", 0.8)
    yield from whiskers


def _words(bar: Bar) -> str:
    if bar.ratio is None:
        return "no speedup"
    interval = "" if bar.low is None or bar.high is None else f" ({bar.low:.4f} to {bar.high:.4f})"
    return f"{bar.ratio:.4f}{interval}"


def _no_bar(x: float, up: Axis) -> str:
    """Return what stands in place of a bar: above the line at 1, or below it where there is no room."""
    y = _at(up, 1)
    has_room = y - up.last > _width(_NONE) + _GAP / 2
    y, anchor = (y - _GAP / 2, "start") if has_room else (y + _GAP / 2, "end")
    return _text(_NONE, x + _BASELINE * _SMALL_SIZE, y, anchor, turn=-90, size=_SMALL_SIZE)


def _whisker(x: float, width: float, low: float, high: float) -> str:
    """Return the path of an interval, with caps, in the middle of a bar that begins at x."""
    caps = "".join(f"M{x + width / 4:.2f} {y:.2f}h{width / 2:.2f}" for y in (low, high))
    return f"M{x + width / 2:.2f} {low:.2f}V{high:.2f}{caps}"


# Blues and yellows, which the colour-blind tell apart too; neighbours differ most in lightness.
_COLOURS = ("#17375e", "#eaa640", "#4f8fcb", "#fff6d6", "#9c5a1e", "#c3d9ee")
_DARK = ("#17375e", "#9c5a1e")
_HATCHES = ("", "/", "\\", "-", "/\\", "|")
_SPACING = 2.8


def _filled(number: int, x: float, y: float, width: float, height: float) -> Iterator[str]:
    """Yield a rectangle in the colour and hatch of a configuration, by its number."""
    colour, hatch = _COLOURS[number % 6], _HATCHES[(number + number // 6) % 6]
    box = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
    yield f'<rect {box} fill="{colour}" stroke="#000000" stroke-width="0.4"/>'
    if path := "".join(_hatch_lines(hatch, x, y, width, height)):
        yield _line(path, "#ffffff" if colour in _DARK else "#000000", 0.4)


def _hatch_lines(hatch: str, x: float, y: float, width: float, height: float) -> Iterator[str]:
    """Yield the lines of a hatch within a rectangle."""
    for stroke in hatch:
        reach = {"-": height, "|": width}.get(stroke, width + height)
        for number in range(1, math.ceil(reach / _SPACING)):
            offset = number * _SPACING
            if stroke == "-":
                yield f"M{x:.2f} {y + offset:.2f}h{width:.2f}"
            elif stroke == "|":
                yield f"M{x + offset:.2f} {y:.2f}v{height:.2f}"
            else:
                # From the left side or the lower one to the upper or the right one; or its mirror image.
                left, low = max(offset - height, 0.0), min(offset, height)
                right, high = min(offset, width), max(offset - width, 0.0)
                if stroke == "\\":
                    left, right = width - left, width - right
                yield f"M{x + left:.2f} {y + low:.2f}L{x + right:.2f} {y + high:.2f}"


def _at(axis: Axis, value: float) -> float:
    return float(axis.at(value))


def _level(layout: _Layout, y: float) -> str:
    return f"M{layout.left:.2f} {y:.2f}H{layout.width - _MARGIN:.2f}"


def _line(path: str, colour: str, thickness: float, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="2 2"' if dashed else ""
    return f'<path fill="none" stroke="{colour}" stroke-width="{thickness:.2f}"{dashes} d="{path}"/>'


def _text(words: str, x: float, y: float, anchor: str, *, turn: int = 0, size: float = _FONT_SIZE) -> str:
    place = f'transform="translate({x:.2f} {y:.2f}) rotate({turn})"' if turn else f'x="{x:.2f}" y="{y:.2f}"'
    return f'<text {place} text-anchor="{anchor}" font-size="{size:g}">{in_xml(words)}</text>'
