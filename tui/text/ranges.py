"""Named ranges and found iterations, as `ranges` gives them in every form."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.reduction.range_list import RangeList, RangeOrder, RangeOrigin
from sampling.text import counted
from tui.charts import quantities
from tui.charts.grid import AXIS, HEADING, LABEL, MARKER, SELECTED, Grid, blank, glyph_set, put
from tui.charts.timeline import LEFT, RunAxis
from tui.engine.looking import FoundRanges
from tui.options.look import RangesOptions
from tui.output.markdown import Block
from tui.output.writer import Answer, Canvas
from tui.terminal.printable import Column, is_ascii, names, printable, shortened, table
from tui.text.selection import Part, stated

NO_RANGES = "there are no named ranges with launches, and no sequence of kernels that most launches repeat"
_MOST_ROWS = 100
_LEAST_LABEL = 20


def ranges_answer(found: FoundRanges, options: RangesOptions) -> Answer:
    """Return the answer in every form."""
    kept = found.listed.kept
    answer = Answer(
        "ranges",
        range_rows(found.listed, _chosen(found.listed, options, options.top)),
        lambda canvas: ranges_text(found.listed, options, canvas),
        blocks=lambda _: ranges_blocks(found.listed, options),
    )
    part = Part(found.region, kept.launches, kept.total_duration_ns, found.profile.launches, kept.left_out)
    return stated(answer, part)


def _chosen(listed: RangeList, options: RangesOptions, most: int | None) -> list[int]:
    return listed.chosen(RangeOrder(options.sort.value), options.depth, most)


def range_rows(listed: RangeList, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Return these ranges as the contract's `ranges` lists them."""
    total_ns = max(listed.kept.total_duration_ns, 1)
    return [
        {
            "path": listed.paths.written(path),
            "name": listed.paths.name(path),
            "depth": int(listed.paths.depth[path]),
            "times": int(listed.times[path]),
            "launches": int(listed.launches[path]),
            "duration_ns": int(listed.duration_ns[path]),
            "share": int(listed.duration_ns[path]) / total_ns,
            "first": int(listed.first[path]),
            "last": int(listed.last[path]),
            "source": listed.origin(path).value,
        }
        for path in chosen
    ]


def ranges_text(listed: RangeList, options: RangesOptions, canvas: Canvas) -> str:
    """Return the tree with figures at its left, and what is not listed."""
    chosen = _chosen(listed, options, options.top or _MOST_ROWS)
    if not chosen:
        return NO_RANGES
    rows = range_rows(listed, chosen)
    columns = _figures(rows)
    taken = len(table(columns).split("\n", maxsplit=1)[0]) + 2
    room = max(canvas.width - taken, _LEAST_LABEL)
    labels = [_label(row, stem, room) for row, stem in zip(rows, _stems(rows), strict=True)]
    lines = [table([*columns, names("range", labels)])]
    return "\n".join([*lines, *_left(listed, options, len(chosen))])


def ranges_blocks(listed: RangeList, options: RangesOptions) -> list[Block]:
    """Return the same with whole paths, as `--range` takes them."""
    chosen = _chosen(listed, options, options.top or _MOST_ROWS)
    if not chosen:
        return [NO_RANGES]
    rows = range_rows(listed, chosen)
    paths = names("range", [row["path"] for row in rows])
    return [[*_figures(rows), paths], *_left(listed, options, len(chosen))]


def _figures(rows: Sequence[dict[str, Any]]) -> list[Column]:
    return [
        Column("launches", [quantities.count(row["launches"]) for row in rows]),
        Column("time", [quantities.duration(row["duration_ns"]) for row in rows]),
        Column("share", [quantities.share(row["share"]) for row in rows]),
        Column("times", [quantities.count(row["times"]) for row in rows]),
        Column("ids", [_ids(row) for row in rows]),
    ]


def _ids(row: dict[str, Any]) -> str:
    return f"{row['first']}" if row["first"] == row["last"] else f"{row['first']}-{row['last']}"


def _left(listed: RangeList, options: RangesOptions, shown: int) -> list[str]:
    """Return how many ranges are not listed, and how to list them."""
    within_depth = len(_chosen(listed, options, None))
    said = []
    if within_depth > shown:
        rest = counted(within_depth - shown, "range")
        said.append(f"and {rest} of no more time: --top N lists the N longest")
    deeper = int((listed.launches > 0).sum()) - within_depth
    if deeper:
        said.append(f"and {counted(deeper, 'deeper range')}: --depth N goes down to level N")
    return said


def _label(row: dict[str, Any], stem: str, room: int) -> str:
    """Return a range's place in the tree and its name; of an iteration also how to select it, if it fits."""
    room = max(room - len(stem), 8)
    if row["source"] == RangeOrigin.FOUND.value:
        text = f"{row['name']}: --launches {row['first']}:{row['last'] + 1}"
        if len(text) <= room:
            return stem + text
    return stem + shortened(row["name"], room)


def _stems(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is drawn before each name: the branches of the tree."""
    glyphs = glyph_set()
    stems: list[str] = []
    # Going up, `follows[d]` says whether another range of level d comes further down inside the same one.
    follows: list[bool] = []
    for row in reversed(rows):
        depth = row["depth"]
        follows += [False] * (depth + 1 - len(follows))
        own = "" if not depth else glyphs.branch if follows[depth] else glyphs.last_branch
        trunks = (glyphs.trunk if follows[level] else " " * len(glyphs.trunk) for level in range(1, depth))
        stems.append("".join(trunks) + own)
        follows[depth:] = [True]
    return stems[::-1]


NONE = (
    "no named ranges, and no iterations found: NVTX (nsys -t nvtx,cuda), record_function (PyTorch) or roctx "
    "ranges record them"
)
TOO_MANY = (
    "ranges and iterations are not looked for unasked among so many launches: `kernelpoint ranges` does"
)

_LEAST_ALIGNED = 64
_LEFTS = ((160, 60), (110, 52), (0, 36))
# Without room for so many cells of a name, there is none for a column.
_DROPPED_FIRST = (("launches", 20), ("time", 8), ("share", 8))
_MOST_INDENTS = 6
_TAIL = 6
_OPEN, _CLOSED = ("▾", "-"), ("▸", "+")
_IN_FORCE = ("●", "*")


@dataclass(frozen=True, slots=True, eq=False)
class RangeForest:
    """Ranges by the range that they lie in.

    Attributes
    ----------
    by_parent : paths with launches, those that lie directly in the same one together, by where they begin;
        ``parent`` has that one of each, -1 for none.
    """

    listed: RangeList
    by_parent: IntArray
    parent: IntArray

    @classmethod
    def of(cls, listed: RangeList) -> RangeForest:
        """Return the ranges that have launches."""
        shown = np.flatnonzero(listed.launches > 0)
        parent = listed.paths.parent[shown]
        order = np.lexsort((shown, listed.first[shown], shown >= listed.found_from, parent))
        return cls(listed, shown[order], parent[order])

    def inside(self, path: int) -> list[int]:
        """Return the paths directly inside one; of -1 the outermost."""
        first, stop = np.searchsorted(self.parent, (path, path + 1))
        found: list[int] = self.by_parent[first:stop].tolist()
        return found

    def has_inside(self, path: int) -> bool:
        """Whether any lies inside."""
        first, stop = np.searchsorted(self.parent, (path, path + 1))
        return bool(stop > first)

    def walked(self, opened: Collection[int]) -> list[int]:
        """Return the outermost paths and what lies in those that are open, each before what it holds."""
        walked: list[int] = []
        ahead = self.inside(-1)[::-1]
        while ahead:
            path = ahead.pop()
            walked.append(path)
            if path in opened:
                ahead += self.inside(path)[::-1]
        return walked

    def opened_at_first(self) -> frozenset[int]:
        """Return what is open before anybody opened anything: the only outermost range."""
        outermost = self.inside(-1)
        return frozenset(outermost if len(outermost) == 1 else ())

    def parent_of(self, path: int) -> int:
        """Return the range that one lies in, -1 for none."""
        return int(self.listed.paths.parent[path])


@dataclass(frozen=True, slots=True)
class TreeMarks:
    """What is special about rows: which are open, at the cursor, and the region in force; by path."""

    opened: Collection[int] = ()
    cursor: int | None = None
    in_force: int | None = None


def above_chart(listed: RangeList | None, *, is_looked_for: bool = True) -> RangeForest | str:
    """Return the ranges as a tree, or in words why there is none."""
    if not is_looked_for:
        return TOO_MANY
    return NONE if listed is None else RangeForest.of(listed)


def left_of(width: int, *, has_ranges: bool) -> int:
    """Return the columns at the left of a timeline's dots: as many as the ranges above need for words."""
    if not has_ranges or width < _LEAST_ALIGNED:
        return LEFT
    return next(left for least, left in _LEFTS if width >= least)


def tree_grid(
    forest: RangeForest,
    paths: Sequence[int],
    run: RunAxis | None,
    width: int,
    marks: TreeMarks,
) -> Grid:
    """Return a heading and a row a range: name, launches, time, share, and when in the run it lies.

    Parameters
    ----------
    paths : the rows to draw.
    run : the axis of the chart below; without one, or where there is no room, there are no bars.
    """
    left = left_of(width, has_ranges=True)
    room = width if left == LEFT else left - 1
    listed, total_ns = forest.listed, max(forest.listed.kept.total_duration_ns, 1)
    columns = {
        "launches": [quantities.count(int(listed.launches[path])) for path in paths],
        "time": [quantities.duration(int(listed.duration_ns[path])) for path in paths],
        "share": [quantities.share(int(listed.duration_ns[path]) / total_ns) for path in paths],
    }
    widths = {name: max(map(len, (name, *cells))) for name, cells in columns.items()}
    for column, least in _DROPPED_FIRST:
        if room - sum(each + 2 for each in widths.values()) < least:
            del widths[column]
    grid = blank(width, len(paths) + 1)
    names = max(room - sum(each + 2 for each in widths.values()), 0)
    _put_row(grid, 0, "  range", [(name, name, cells) for name, cells in widths.items()], names, HEADING)
    for row, path in enumerate(paths, start=1):
        style = SELECTED if path == marks.cursor else LABEL
        cells = [(name, columns[name][row - 1], cells) for name, cells in widths.items()]
        name = _name(forest, path, marks, names)
        _put_row(grid, row, name, cells, names, style)
        if run is not None and left > LEFT:
            bar = run.bar(*listed.runs(path))
            put(grid, row, left, bar, MARKER if path == marks.in_force else LABEL)
            put(grid, row, left - 1, "|" if is_ascii() else "│", AXIS)
    return grid


def _put_row(
    grid: Grid, row: int, name: str, cells: Sequence[tuple[str, str, int]], names: int, style: int
) -> None:
    text = f"{name:<{names}}" + "".join(f"  {cell:>{cells}}" for _, cell, cells in cells)
    put(grid, row, 0, text, style)


def _name(forest: RangeForest, path: int, marks: TreeMarks, width: int) -> str:
    """Return a range's place in the tree and its name; a long one loses its middle, not its number."""
    listed = forest.listed
    mark = " "
    if forest.has_inside(path):
        mark = (_OPEN if path in marks.opened else _CLOSED)[is_ascii()]
    chosen = _IN_FORCE[is_ascii()] if path == marks.in_force else " "
    name = listed.paths.name(path)
    if path >= listed.found_from and listed.paths.depth[path]:
        name = f"iteration {name}"
    place = f"{chosen}{'  ' * min(int(listed.paths.depth[path]), _MOST_INDENTS)}{mark} "
    name, room = printable(name), width - len(place)
    if room < 1:
        return place[:width]
    if len(name) > room:
        cut = "..." if is_ascii() else "\N{HORIZONTAL ELLIPSIS}"
        tail = min(_TAIL, max(room - len(cut) - 1, 0))
        name = f"{name[: room - len(cut) - tail]}{cut}{name[len(name) - tail :]}"
    return place + name


def range_words(forest: RangeForest, path: int) -> list[str]:
    """Return a range in a line, the longest form first: its path, launches and share."""
    listed = forest.listed
    share = quantities.share(int(listed.duration_ns[path]) / max(listed.kept.total_duration_ns, 1))
    launches = counted(int(listed.launches[path]), "launch", "launches")
    times = int(listed.times[path])
    often = f", {counted(times, 'time')}" if times > 1 else ""
    return [f"{listed.paths.written(path)}: {launches}, {share}{often}", f"{launches}, {share}", launches]
