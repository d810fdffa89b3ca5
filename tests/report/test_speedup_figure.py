"""The figure of speedups: each bar, whisker and name is where the numbers on its axis say."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.small_studies import Contrast, made_summary
from tui.report.speedup_figure import speedup_figure
from tui.terminal.printable import printable

SVG = "{http://www.w3.org/2000/svg}"
CONTRASTS = st.none() | st.tuples(st.floats(0.2, 5), st.floats(0, 0.5) | st.just(math.nan))
NAMES = [f"c{number}" for number in range(7)]


class ReadFigure:
    """A figure as a reader takes it: by the numbers and lines of its axis."""

    def __init__(self, text: str) -> None:
        self.root = ET.fromstring(text)
        # A line, and the number beside it.
        self.ticks = [
            (float(label.text or ""), float(re.findall(r"[\d.]+", line.attrib["d"])[1]))
            for line, label in pairwise(self.root)
            if label.get("text-anchor") == "end" and line.get("stroke") == "#c4c4c4"
        ]
        (self.low, self.bottom), *_, (self.high, self.top) = self.ticks
        self.places = list(self.root.iter(f"{SVG}g"))
        self.texts = ["".join(text.itertext()) for text in self.root.iter(f"{SVG}text")]
        self.size = [float(number) for number in self.root.attrib["viewBox"].split()[2:]]

    def value(self, y: float) -> float:
        """What a height means."""
        return self.low + (self.bottom - y) / (self.bottom - self.top) * (self.high - self.low)

    def bar(self, place: ET.Element) -> tuple[float, float] | None:
        """The ends of a bar; None where there is none."""
        rect = place.find(f"{SVG}rect")
        if rect is None:
            assert [text.text for text in place.iter(f"{SVG}text")] == ["n/a"]
            return None
        y, height = float(rect.attrib["y"]), float(rect.attrib["height"])
        return self.value(y + height), self.value(y)

    def whisker(self, place: ET.Element) -> tuple[float, float] | None:
        """The ends of an interval, whose line stands over all bars; None where there is none."""
        paths = [path.attrib["d"] for path in place.iter(f"{SVG}path") if path.get("stroke") == "#ffffff"]
        lines = [path for path in self.root if path.get("d") in paths]
        assert [line.get("stroke") for line in lines] == ["#000000"] * len(lines)
        if not lines:
            return None
        low, high = re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)", lines[0].attrib["d"])[0]
        return self.value(float(low)), self.value(float(high))


@given(
    st.integers(1, 7).flatmap(
        lambda number: st.lists(st.lists(CONTRASTS, min_size=number, max_size=number), min_size=1, max_size=8)
    )
)
def test_every_bar_and_whisker_is_where_the_axis_says(rows: list[list[Contrast | None]]) -> None:
    names = NAMES[: len(rows[0])]
    summary = made_summary({f"p{number}": row for number, row in enumerate(rows)}, names)
    figure = ReadFigure(speedup_figure(summary))
    bars_by_title = {
        f"{program.name}, {cell.configuration}": (cell.speedup, cell.low, cell.high)
        for program in summary.programs
        for cell in program.cells[1:]
    }
    if summary.means is not None and (means := summary.means.geometric):
        bars = {name: (mean.ratio, mean.low, mean.high) for name, mean in means.items()}
        bars_by_title |= {f"geomean, {name}": bars.get(name, (None, None, None)) for name in names}
    titles = [(place.findtext(f"{SVG}title") or "").partition(":")[0] for place in figure.places]
    assert titles == list(bars_by_title)
    # Coordinates have two decimals.
    error = pytest.approx(0, abs=0.03 * (figure.high - figure.low) / (figure.bottom - figure.top))
    for place, (ratio, low, high) in zip(figure.places, bars_by_title.values(), strict=True):
        bar, whisker = figure.bar(place), figure.whisker(place)
        assert (bar is None, whisker is None) == (ratio is None, low is None)
        if bar is not None and ratio is not None:
            assert [end - expected for end, expected in zip(bar, sorted((1.0, ratio)), strict=True)] == [
                error
            ] * 2
        if whisker is not None and low is not None and high is not None:
            assert [whisker[0] - low, whisker[1] - high] == [error] * 2
    values = [1.0, *(value for bar in bars_by_title.values() for value in bar if value is not None)]
    assert figure.low <= min(values) <= max(values) <= figure.high
    steps = [after - before for (before, _), (after, _) in pairwise(figure.ticks)]
    assert steps == pytest.approx([steps[0]] * len(steps))


@pytest.mark.parametrize(("programs", "configurations", "inches"), [(1, 2, 3.3), (3, 3, 3.3), (10, 6, 7.0)])
def test_it_is_as_wide_as_a_column_or_two_and_all_is_within(
    programs: int, configurations: int, inches: float
) -> None:
    rows = {f"benchmark-{number}": [(1 + number / 50, 0.01)] * configurations for number in range(programs)}
    figure = ReadFigure(speedup_figure(made_summary(rows, NAMES[:configurations])))
    width, height = figure.size
    assert figure.root.attrib["width"] == f"{inches:.3f}in"
    assert float(figure.root.attrib["height"].removesuffix("in")) * 72 == pytest.approx(height, abs=0.05)
    edges = []
    for place in figure.places:
        rect = place.find(f"{SVG}rect")
        assert rect is not None
        left, wide = float(rect.attrib["x"]), float(rect.attrib["width"])
        edges += [left, round(left + wide, 2)]
    assert edges == pytest.approx(sorted(edges), abs=0.02)
    assert 0 < edges[0] < edges[-1] < width
    assert edges[1] - edges[0] > 3.5
    assert figure.texts.count("Speedup over base") == 1
    assert ("geomean" in figure.texts) == (programs > 1)
    # Apart from the programs.
    gaps = {round(after - before, 1) for before, after in list(pairwise(edges))[1::2]} - {0.0}
    assert len(gaps) == 2 * (programs > 1)


def test_names_of_any_kind_are_shown_and_mean_nothing() -> None:
    name = '<script src="x">&\x1b]]></svg> größe'
    rows = {name: [(1.1, 0.01), None], "字" * 30: [(1.2, 0.1), (0.9, math.nan)]}
    text = speedup_figure(made_summary(rows, [name[::-1], "x" * 90], base=f"{name}2"))
    figure = ReadFigure(text)
    titles = [place.findtext(f"{SVG}title") or "" for place in figure.places]
    assert titles[0] == f"{printable(name)}, {printable(name[::-1])}: 1.1000 (1.0891 to 1.1111)"
    assert titles[1] == f"{printable(name)}, {'x' * 90}: no speedup"
    assert titles[3].endswith(": 0.9000")
    assert {element.tag.removeprefix(SVG) for element in figure.root.iter()} == {
        *("svg", "title", "desc", "metadata", "rect", "path", "text", "g")
    }
    assert "\x1b" not in text
    assert not any(word in text for word in ("<style", "url(", "href", "class="))
    # Below the bars, in the legend and on the axis, cut to what has room.
    assert sum("…" in words for words in figure.texts) == 4


def test_the_same_everywhere_is_a_line_at_1() -> None:
    figure = ReadFigure(speedup_figure(made_summary({"p": [(1.0, 0.0)], "q": [(1.0, 0.0)]}, ["c"])))
    assert all(figure.bar(place) == pytest.approx((1.0, 1.0)) for place in figure.places)
    assert [number for number, _ in figure.ticks] == pytest.approx([0.998, 0.999, 1.0, 1.001, 1.002])
    nothing = ReadFigure(speedup_figure(made_summary({"p": [None], "q": [None]}, ["c"])))
    assert nothing.texts.count("n/a") == 2


def lightness(colour: str) -> float:
    """CIE L* of an sRGB colour."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 116 * math.cbrt(sum(map(math.prod, zip((0.2126, 0.7152, 0.0722), linear, strict=True)))) - 16


def directions(path: str) -> set[str]:
    """Return which ways the lines of a hatch go."""
    slanted = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path)
    rising = {
        (float(right) > float(left)) == (float(high) < float(low)) for left, low, right, high in slanted
    }
    return {"/" if is_rising else "\\" for is_rising in rising} | set(re.findall("[hv]", path))


def test_bars_are_told_apart_without_colour() -> None:
    names = [f"c{number}" for number in range(14)]
    figure = ReadFigure(speedup_figure(made_summary({"p": [(1.5, 0.01)] * len(names)}, names)))
    fills, looks = [], set()
    for place in figure.places:
        rect, *paths = (element for element in place if element.tag != f"{SVG}title")
        fills.append(rect.attrib["fill"])
        looks.add((fills[-1], *sorted(directions(paths[0].attrib["d"]) if paths[1:] else "")))
    assert len(looks) == len(names)
    levels = [lightness(fill) for fill in fills[:6]]
    assert min(after - before for before, after in pairwise(sorted(levels))) > 10
    assert min(abs(after - before) for before, after in pairwise(levels)) > 14
