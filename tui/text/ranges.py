"""Named ranges and found iterations, as `ranges` gives them in every form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sampling.reduction.ranges.listing import RangeList, RangeOrder, RangeOrigin
from sampling.text import counted
from tui.charts import quantities
from tui.charts.glyphs import glyph_set
from tui.engine.ranges import FoundRanges
from tui.options.ranges import RangesOptions
from tui.output.markdown import Block
from tui.output.writer import Answer, Canvas
from tui.terminal.tables import Column, names, shortened, table
from tui.text.selection import Part, stated

NONE = "there are no named ranges with launches, and no sequence of kernels that most launches repeat"
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
        return NONE
    rows = range_rows(listed, chosen)
    columns = _figures(rows)
    taken = len(table(columns).split("\n", maxsplit=1)[0]) + 2
    room = max(canvas.width - taken, _LEAST_LABEL)
    labels = [_label(row, stem, room, canvas) for row, stem in zip(rows, _stems(rows, canvas), strict=True)]
    lines = [table([*columns, names("range", labels)], ascii_only=canvas.ascii_only)]
    return "\n".join([*lines, *_left(listed, options, len(chosen))])


def ranges_blocks(listed: RangeList, options: RangesOptions) -> list[Block]:
    """Return the same with whole paths, as `--range` takes them."""
    chosen = _chosen(listed, options, options.top or _MOST_ROWS)
    if not chosen:
        return [NONE]
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


def _label(row: dict[str, Any], stem: str, room: int, canvas: Canvas) -> str:
    """Return a range's place in the tree and its name; of an iteration also how to select it, if it fits."""
    room = max(room - len(stem), 8)
    if row["source"] == RangeOrigin.FOUND.value:
        text = f"{row['name']}: --launches {row['first']}:{row['last'] + 1}"
        if len(text) <= room:
            return stem + text
    return stem + shortened(row["name"], room, ascii_only=canvas.ascii_only)


def _stems(rows: Sequence[dict[str, Any]], canvas: Canvas) -> list[str]:
    """Return what is drawn before each name: the branches of the tree."""
    glyphs = glyph_set(ascii_only=canvas.ascii_only)
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
