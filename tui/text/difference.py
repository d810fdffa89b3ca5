"""Two profiles kernel by kernel, as `difference` gives them in every form."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import to_builtins

from sampling.arrays import FloatArray, IntArray
from sampling.difference import Cause, Difference, KernelDifference, MatchedKernel, Status
from sampling.mean_ratios import BLOCKS, LEAST_LAUNCHES, Durations
from sampling.reduction import GroupBy
from sampling.reduction.region import Selection, region_selection
from sampling.text import counted
from tui.charts.grid import fitted
from tui.charts.quantities import UNKNOWN, count, duration, ratio, share, share_above, si, signed_duration
from tui.options.choices import DifferenceSort
from tui.options.look import DifferenceOptions
from tui.output.blocks import MOST_ROWS, Block, CommandLine, Listing
from tui.output.writer import Canvas, CommandResult
from tui.terminal.printable import Column, is_ascii, shortened
from tui.text.labels import KernelLabels, Place, group_places, place_lines

_LEAST_LABEL = 12
_LEAST_MARKED = 16
_EXACT_COUNT_BELOW = 100_000
_MATCHED = {GroupBy.LAUNCH: "name and sizes", GroupBy.OPERATOR: "operator", GroupBy.SHORT_NAME: "function"}
_CAUSES = {
    Cause.NEW: ("new kernels", "new kernels"),
    Cause.GONE: ("kernels gone", "kernels gone"),
    Cause.DURATION: ("longer launches", "shorter launches"),
    Cause.LAUNCHES: ("more launches", "fewer launches"),
    Cause.OTHER_KERNELS: ("other kernels for the same work",) * 2,
}
_GONE = {Status.APPEARED: "new", Status.VANISHED: "gone"}
#: The columns of a kernel's two sides, by their names in JSON.
_FLAT = {"launches": "launches_{}", "total_ns": "total_{}_ns", "mean_ns": "mean_{}_ns", "share": "share_{}"}


def difference_result(
    difference: Difference, options: DifferenceOptions, *, following: bool = True
) -> CommandResult:
    """Return the answer, with the command to type next; JSON nests the two sides of a kernel."""
    summary = difference.summary(options.before, options.after, options.top)
    open_both = f"kernelpoint open {shlex.join([options.before, options.after])} --difference"
    ending = [CommandLine(open_both)] if following else []
    return CommandResult(
        "difference",
        summary,
        rows=[_flat(kernel) for kernel in summary.kernels],
        blocks=lambda canvas: (*difference_blocks(difference, options, canvas), *ending),
        warnings=tuple(_warnings(difference)),
    )


def compared_parts(difference: Difference) -> dict[str, Selection]:
    """Return which part of either profile was compared."""
    parts = {}
    sides = zip(
        ("before", "after"),
        difference.parts,
        (difference.before, difference.after),
        difference.counts,
        strict=True,
    )
    for name, part, side, counts in sides:
        totals, of_launches = (int(side.launches.sum()), int(side.total_ns.sum())), part.profile.launches
        parts[name] = region_selection(part.region, *totals, of_launches, counts.left_out)
    return parts


def growth_text(difference: Difference, allowed: float) -> str:
    """Return in words that the total grew by more than is allowed."""
    change = signed_duration(difference.total_after_ns - difference.total_before_ns)
    by = "from 0" if difference.ratio is None else f"by {share_above(difference.ratio - 1, allowed)}"
    ends = difference.total_interval
    return f"the total kernel time grew {by} ({f'{_interval(*ends)}, ' if ends else ''}{change})"


def slower_text(difference: Difference, allowed: float) -> str:
    """Return which kernels' mean durations grew by more than is allowed, with all of their interval."""
    slower = np.flatnonzero(difference.ratios.low > 1 + allowed)
    if not len(slower):
        return ""
    first = slower[np.argmax(difference.change_ns[slower])]
    mean, low, high = (
        float(values[first])
        for values in (difference.ratios.ratio, difference.ratios.low, difference.ratios.high)
    )
    number = counted(len(slower), "kernel takes", "kernels take")
    return (
        f"{number} more than {100 * allowed:g} % longer a launch, most of all "
        f"{difference.kernels[first].key}: {_ratio(mean)}, {_interval(low, high)}"
    )


def _warnings(difference: Difference) -> Iterator[str]:
    if difference.without_places:
        yield "processes or devices differ, so kernels are matched without them"
    if by_name := sum(_changed_shape(difference, kernel) for kernel in difference.kernels):
        matched = counted(by_name, "kernel is", "kernels are")
        yield f"{matched} matched by name alone, for grids or blocks differ after from before"


def _changed_shape(difference: Difference, kernel: MatchedKernel) -> bool:
    """Return whether a kernel of both sides is matched by name although kernel groups have shapes."""
    return kernel.matched_by is GroupBy.NAME and kernel.matched_by is not difference.grouping.by


def _flat(kernel: KernelDifference) -> dict[str, Any]:
    """Return a kernel as one row of a table, without objects in it."""
    flat: dict[str, Any] = {}
    for name, value in to_builtins(kernel).items():
        if isinstance(value, dict):
            flat |= {column.format(name): value[part] for part, column in _FLAT.items()}
        else:
            flat[name] = value
    return flat


def _shapes(difference: Difference, kernel: MatchedKernel) -> str:
    """Return how many shapes a kernel has that is matched by name, or by what else it is, in brackets."""
    if difference.is_of_others(kernel):
        return f" (by {_MATCHED[kernel.matched_by or GroupBy.OPERATOR]})"
    if not _changed_shape(difference, kernel):
        return ""
    after = counted(kernel.shapes_after, "other shape")
    return f" ({kernel.shapes_before:,} -> {after})" if kernel.shapes_before > 1 else f" ({after})"


def difference_blocks(difference: Difference, options: DifferenceOptions, canvas: Canvas) -> Iterator[Block]:
    """Yield whether the total grew, and the kernels that changed most; on a page with their whole keys."""
    limit = options.top or MOST_ROWS
    places = group_places(difference.kernels)
    keys = [kernel.key + _shapes(difference, kernel) for kernel in difference.kernels[:limit]]
    yield changed_sentence(difference)
    yield from why_sentences(difference)
    sides = []
    for word, side in (("before: ", difference.before), ("after:  ", difference.after)):
        launches = counted(int(side.launches.sum()), "launch", "launches")
        sides.append(f"{word}{duration(int(side.total_ns.sum()))}, {launches}, ")
    room = max(canvas.width - max(map(len, sides)), _LEAST_LABEL)
    yield from (side + path for side, path in zip(sides, paths_apart(options, room), strict=True))
    yield ""
    figures = figure_columns(difference, limit)
    yield Listing(figures, "kernel", kernel_labels(difference, places), dropped_first=(), full_labels=keys)
    left = difference.change_ns[limit:]
    if len(left):
        yield f"and {counted(len(left), 'more kernel')}, {signed_duration(int(left.sum()))} together"
    yield from () if canvas.is_page else place_lines(places)
    yield (
        f"mean: ratio of mean durations. {share(difference.confidence)} intervals are told by {BLOCKS} "
        f"blocks of launches in their order and {LEAST_LAUNCHES} launches on both sides; they assume that "
        "either run goes on as it did."
    )


def changed_sentence(difference: Difference) -> str:
    """Return whether the total grew, by how much, and how many kernels are on one side alone."""
    change_ns = difference.total_after_ns - difference.total_before_ns
    grew = "grew" if change_ns > 0 else "shrank" if change_ns < 0 else "stayed the same"
    before, after = duration(difference.total_before_ns), duration(difference.total_after_ns)
    statuses = Counter(kernel.status for kernel in difference.kernels)
    kernels = f"{statuses[Status.APPEARED]:,} new, {statuses[Status.VANISHED]:,} gone"
    kernels += f", {statuses[Status.BOTH]:,} in both"
    by = f" {total_words(difference)}, from {before} to {after}" if change_ns else f" at {before}"
    return f"The kernel time {grew}{by}; kernels: {kernels}."


def causes_in_words(difference: Difference) -> list[tuple[str, int]]:
    """Return what changed the total and by how many ns, the largest cause first."""
    causes = [(_CAUSES[cause][ns < 0], ns) for cause, ns in difference.causes.items() if ns]
    return sorted(causes, key=lambda cause: -abs(cause[1]))


def why_sentences(difference: Difference) -> Iterator[str]:
    """Yield what changed the total, the largest cause first, and by what else than keys kernels match."""
    if causes := causes_in_words(difference):
        yield f"Why: {', '.join(f'{words} {signed_duration(ns)}' for words, ns in causes)}."
    matched = difference.matched_share
    if any(difference.is_of_others(kernel) for kernel in difference.kernels):
        shares = [
            f"{share(before)} and {share(after)} by {_MATCHED.get(by, by.value)}"
            for by, (before, after) in matched.items()
        ]
        yield f"Matched of the time before and after: {', '.join(shares)}."


def paths_apart(options: DifferenceOptions, room: int) -> list[str]:
    """Return the two paths in so many columns at most, from where they differ if else they looked alike."""
    paths = options.before, options.after
    short = [shortened(path, room) for path in paths]
    if len(set(short)) == len(set(paths)):
        return short
    differ = (index for index, (before, after) in enumerate(zip(*paths, strict=False)) if before != after)
    common = next(differ, min(map(len, paths)))
    start = max(paths[0].rfind("/", 0, common) + 1, common - room // 2)
    mark = "..." if is_ascii() else "…"
    return [fitted(mark + path[start:], room) for path in paths]


def total_words(difference: Difference) -> str:
    """Return how the total changed: its ratio, that one's interval if it has one, and by how much."""
    ratio_ = UNKNOWN if difference.ratio is None else _ratio(difference.ratio)
    ends = difference.total_interval
    interval = f"{_interval(*ends)}, " if ends else ""
    return f"{ratio_} ({interval}{signed_duration(difference.total_after_ns - difference.total_before_ns)})"


def figure_columns(difference: Difference, limit: int | None) -> list[Column]:
    """Return the figures of the kernels that changed most.

    They are change, before, after, launches, the ratio of means and its interval.
    """
    before = difference.before
    after = difference.after
    ratios = difference.ratios
    kernels = difference.kernels[:limit]

    def totals(side: Durations) -> list[str]:
        figures = zip(side.total_ns[:limit].tolist(), side.launches.tolist(), strict=False)
        return [duration(ns) if launches else UNKNOWN for ns, launches in figures]

    # Once where they are as many or on one side alone.
    launches = [
        "->".join(count(n) if n < _EXACT_COUNT_BELOW else si(n) for n in dict.fromkeys(numbers) if n)
        for numbers in zip(before.launches[:limit].tolist(), after.launches.tolist(), strict=False)
    ]
    means = [
        _GONE.get(kernel.status) or _ratio(value)
        for kernel, value in zip(kernels, ratios.ratio.tolist(), strict=False)
    ]
    ends = zip(ratios.low[:limit].tolist(), ratios.high.tolist(), strict=False)
    return [
        Column("change", [signed_duration(ns) for ns in difference.change_ns[:limit].tolist()]),
        Column("before", totals(before)),
        Column("after", totals(after)),
        Column("launches", launches),
        Column("mean", means),
        Column("interval", [_interval(low, high) for low, high in ends]),
    ]


def _ratio(value: float) -> str:
    """Return a ratio with three decimals where it is small: what changed by a per cent is to be seen."""
    return f"{value:.3f}x" if 0.001 <= value < 9.9995 else ratio(value)


def _interval(low: float, high: float) -> str:
    return UNKNOWN if math.isnan(low) else f"{_ratio(low).removesuffix('x')}-{_ratio(high).removesuffix('x')}"


def kernel_labels(difference: Difference, places: Mapping[Place, str]) -> Callable[[int, int], str]:
    """Return what labels kernels; of those that are matched by less than all it says by what, if it fits."""
    labels = KernelLabels(difference.kernels, places)

    def label(row: int, room: int) -> str:
        end = _shapes(difference, difference.kernels[row])
        end = end if room - len(end) >= min(len(labels.label(row, None)), _LEAST_MARKED) else ""
        return labels.label(row, room - len(end)) + end

    return label


def sorted_difference(difference: Difference, sort: DifferenceSort, *, reverse: bool) -> Difference:
    """Return the difference with its kernels in this order; equal ones stay, the one changed most first.

    `reverse`: the smallest first, or the last name; kernels without the figure stay last.
    """
    if sort is DifferenceSort.CHANGE:
        return difference.ordered(np.arange(len(difference.kernels))[::-1]) if reverse else difference
    if sort is DifferenceSort.KERNEL:
        keys = [kernel.key for kernel in difference.kernels]
        return difference.ordered(
            np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse), int)
        )
    figures: dict[DifferenceSort, FloatArray | IntArray] = {
        DifferenceSort.BEFORE: difference.before.total_ns,
        DifferenceSort.AFTER: difference.after.total_ns,
        DifferenceSort.LAUNCHES: np.maximum(difference.before.launches, difference.after.launches),
    }
    values = figures.get(sort, difference.ratios.ratio)
    return difference.ordered(np.argsort(values if reverse else -values, kind="stable"))
