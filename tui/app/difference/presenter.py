"""View 7 without widgets: what is asked of `difference`, its rows, titles and charts, what is copied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.difference.difference import Difference
from sampling.difference.matching import Status
from sampling.difference.mean_ratio import Durations
from sampling.errors import OptionError
from sampling.text import counted
from tui.app.frame.heads import marked
from tui.app.overrides_file import printed_options
from tui.app.state import Session
from tui.charts import quantities
from tui.charts.grid import Grid
from tui.charts.histogram import Side, two_histograms
from tui.options.choices import DifferenceSort
from tui.options.command_line import options_of
from tui.options.difference import DifferenceOptions
from tui.options.parts import part_in_name
from tui.options.places import home_expanded
from tui.output.writer import Canvas
from tui.terminal.printable import printable
from tui.terminal.tables import Column
from tui.text.difference import (
    compared_parts,
    difference_answer,
    figure_columns,
    kernel_labels,
    paths_apart,
    total_words,
)
from tui.text.labels.kernel_labels import place_names
from tui.text.selection import stated

MOST_ROWS = 2_000
"""The most kernels of the table: more would make it slow."""

INVITATION = (
    "Nothing is compared yet. [o] asks for the recording before: a file, a range or launch ids of it "
    "(run.sqlite@step 3, run.sqlite@0:5000), or with @step 3 a part of the open one. What is open is after."
)
_GAP = 2
_MARK = 2
_LEAST_LABEL = 20
_DROPPED_FIRST = ("launches", "change", "interval", "before", "status", "after", "share")
_STATUS_WORDS = {Status.BOTH: "both", Status.APPEARED: "new", Status.VANISHED: "gone"}
_HEADS = {
    DifferenceSort.CHANGE: ("change", "share"),
    DifferenceSort.MEAN: ("mean",),
}
_STATUS_MARKS = {Status.BOTH: " ", Status.APPEARED: "+", Status.VANISHED: "-"}


@dataclass(frozen=True, slots=True)
class KernelTable:
    """The table as text: its heading, and a row a kernel."""

    heading: str
    rows: tuple[str, ...]


def asked_of(session: Session, before: str) -> DifferenceOptions:
    """Return what `difference` is asked: the recording named before, and what is open after.

    Which launches of the open one count is said behind its name; its other filters are of both.

    Parameters
    ----------
    before : FILE, FILE@RANGE or FILE@A:B; without FILE the open one is meant.

    Raises
    ------
    OptionError : no file is named, or several are open as one workload.
    """
    if len(session.profiles) != 1:
        raise OptionError(
            f"{counted(len(session.profiles), 'file')} are open as one workload, and a difference takes one "
            "a side",
            remedy="open the folder they are in, or one of them",
        )
    opened = session.profiles[0]
    if before in {"", "-"} or before.startswith("-@"):
        raise OptionError("the name of a file is meant, FILE, FILE@RANGE or FILE@A:B")
    if before.startswith("@") and not Path(before).exists():
        before = opened + before
    elif before.startswith("~"):
        before = str(home_expanded(before))
    options = options_of(DifferenceOptions, printed_options(session), before=before)
    after, options = part_in_name(opened, options)
    return options_of(DifferenceOptions, options, after=after)


def kernel_table(
    found: Difference,
    width: int,
    sort: DifferenceSort = DifferenceSort.CHANGE,
    *,
    reverse: bool = False,
    ascii_only: bool,
) -> KernelTable:
    """Return the first kernels, with the columns that have room, the one they are sorted by marked."""
    heads, falls = _HEADS.get(sort, (sort.value,)), (sort is DifferenceSort.KERNEL) == reverse
    # The mark may take a cell.
    columns = marked(_shown_columns(found, width - _MARK - 1), heads, falls=falls, ascii_only=ascii_only)
    taken = sum(_width(column) + _GAP for column in columns)
    room = max(width - _MARK - taken, _LEAST_LABEL)
    places = place_names((kernel.process, kernel.device) for kernel in found.kernels)
    labels = kernel_labels(found, MOST_ROWS, places, room, ascii_only=ascii_only)
    (name,) = marked([Column("kernel", ())], heads, falls=falls, ascii_only=ascii_only)
    names = [name.heading, *(printable(label, ascii_only=ascii_only) for label in labels)]
    marks = [" ", *(_STATUS_MARKS[kernel.status] for kernel in found.kernels[:MOST_ROWS])]
    cells = zip(*map(_aligned, columns), names, strict=True)
    lines = [f"{mark} {(_GAP * ' ').join(row)}" for mark, row in zip(marks, cells, strict=True)]
    return KernelTable(lines[0], tuple(lines[1:]))


def _shown_columns(found: Difference, width: int) -> list[Column]:
    """Return the columns that leave room for a label."""
    columns = _all_columns(found)
    for name in _DROPPED_FIRST:
        if sum(_width(column) + _GAP for column in columns) + _LEAST_LABEL <= width:
            break
        columns = [column for column in columns if column.heading != name]
    return columns


def _all_columns(found: Difference) -> list[Column]:
    named = {column.heading: column for column in figure_columns(found, MOST_ROWS)}
    kernels = found.kernels[:MOST_ROWS]
    status = Column("status", [_STATUS_WORDS[kernel.status] for kernel in kernels], to_right=False)
    share = Column("share", _shares(found)[: len(kernels)])
    figures = ("before", "after", "launches", "mean", "interval", "change")
    return [status, *(named[name] for name in figures), share]


def _shares(found: Difference) -> list[str]:
    """Return each kernel's change over the sum of all changes without their signs, with its sign."""
    change_ns = found.change_ns[:MOST_ROWS]
    whole = max(int(np.abs(found.change_ns).sum()), 1)
    return [f"{'+' if ns > 0 else ''}{quantities.share(ns / whole)}" for ns in change_ns.tolist()]


def _width(column: Column) -> int:
    return max(map(len, [column.heading, *column.cells]))


def _aligned(column: Column) -> list[str]:
    """Return the heading and the cells, all as wide as the widest."""
    width = _width(column)
    texts = [column.heading, *column.cells]
    return [text.rjust(width) if column.to_right else text.ljust(width) for text in texts]


def table_title(
    found: Difference | None,
    doing: str,
    sort: DifferenceSort = DifferenceSort.CHANGE,
    *,
    reverse: bool = False,
) -> tuple[str, str]:
    """Return the order and the totals, and what is under way or how many kernels are listed."""
    if found is None:
        return "[7] Kernels by change", doing
    listed = min(len(found.kernels), MOST_ROWS)
    of = "" if listed == len(found.kernels) else f" of {quantities.count(len(found.kernels))}"
    kernels = f"{quantities.count(listed)}{of} {'kernel' if listed == 1 else 'kernels'}"
    by = sort.value
    if reverse:
        by += ", Z to A" if sort is DifferenceSort.KERNEL else ", smallest first"
    return f"[7] Kernels by {by}: total {total_words(found)}", doing or kernels


def sides_lines(asked: DifferenceOptions) -> list[str]:
    """Return what is compared with what, the longest form first."""
    short = [Path(name).name for name in (asked.before, asked.after)]
    if short[0] == short[1]:
        short = paths_apart(asked, _LEAST_LABEL, ascii_only=True)
    forms = [(asked.before, asked.after), short]
    return [f"Before: {before}; after: {after}" for before, after in forms]


def chart_title(found: Difference, kernel: int, *, log: bool) -> tuple[str, str]:
    """Return the kernel whose durations are drawn, and their axis."""
    return f"{kernel + 1}. {found.kernels[kernel].key}", f"[x] {'log' if log else 'linear'}"


def draw_kernel(found: Difference, kernel: int, log: bool, ascii_only: bool, width: int, height: int) -> Grid:
    """Return the durations of a kernel before, over those after."""
    before, after = (
        Side(_caption(word, side, kernel), *durations.of(kernel))
        for word, side, durations in zip(
            ("before", "after"), (found.before, found.after), found.durations, strict=True
        )
    )
    return two_histograms((before, after), width, height, log=log, ascii_only=ascii_only)


def _caption(word: str, side: Durations, kernel: int) -> str:
    launches = int(side.launches[kernel])
    if not launches:
        return f"{word}: no launches"
    mean = quantities.duration(float(side.mean_ns[kernel]))
    return f"{word}: {counted(launches, 'launch', 'launches')}, mean {mean}"


def printed_text(found: Difference, asked: DifferenceOptions, canvas: Canvas) -> str:
    """Return what the command prints, also which launches are compared."""
    drawn = stated(difference_answer(found, asked), compared_parts(found)).drawn(canvas)
    return drawn.partition("\nNext: ")[0] + "\n"
