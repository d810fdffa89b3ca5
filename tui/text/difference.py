"""Two profiles kernel by kernel, as `difference` gives them in every form."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.difference import Cause, Difference, MatchedKernel, Status
from sampling.mean_ratios import BLOCKS, LEAST_LAUNCHES, Durations
from sampling.reduction import GroupBy
from sampling.text import counted, finite
from tui.charts.grid import fitted
from tui.charts.quantities import UNKNOWN, count, duration, ratio, share, share_above, si, signed_duration
from tui.options.choices import DifferenceSort
from tui.options.look import DifferenceOptions
from tui.output.blocks import MOST_ROWS, Block, CommandLine, Listing
from tui.output.writer import Answer, Canvas
from tui.terminal.printable import Column, is_ascii, shortened
from tui.text.labels import KernelLabels, Place, group_places, place_lines
from tui.text.profile import Part

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
_KERNEL_FIELDS = ("launches", "total_ns", "mean_ns", "share")
_IDENTITY = ("key", "name", "grid", "block", "process", "device")
_FLAT = dict(zip(_KERNEL_FIELDS, ("launches_{}", "total_{}_ns", "mean_{}_ns", "share_{}"), strict=True))


def difference_answer(found: Difference, options: DifferenceOptions, *, following: bool = True) -> Answer:
    """Return the answer, with the command to type next; JSON nests the two sides of a kernel."""
    rows = kernel_rows(found, options.top)
    open_both = f"kernelpoint open {shlex.join([options.before, options.after])} --difference"
    ending = [CommandLine(open_both)] if following else []
    return Answer(
        "difference",
        {
            "before": options.before,
            "after": options.after,
            "launches_before": int(found.before.launches.sum()),
            "launches_after": int(found.after.launches.sum()),
            "total_before_ns": found.total_before_ns,
            "total_after_ns": found.total_after_ns,
            "ratio": found.ratio,
            **dict(zip(("low", "high"), found.total_interval or (None, None), strict=True)),
            "confidence": found.confidence,
            "matched_without_places": found.without_places,
            "causes": {cause.value: ns for cause, ns in found.causes.items()},
            "matched": {by.value: list(shares) for by, shares in found.matched_share.items()},
            "kernels_in_all": len(found.kernels),
            "kernels": rows,
        },
        rows=[_flat(row) for row in rows],
        blocks=lambda canvas: (*difference_blocks(found, options, canvas), *ending),
        warnings=tuple(_warnings(found)),
    )


def compared_parts(found: Difference) -> dict[str, Part]:
    """Return which part of either profile was compared."""
    parts = {}
    sides = zip(("before", "after"), found.parts, (found.before, found.after), found.counts, strict=True)
    for name, part, side, counts in sides:
        kept, whole = (int(side.launches.sum()), int(side.total_ns.sum())), part.profile.launches
        parts[name] = Part(part.region, *kept, whole, counts.left_out)
    return parts


def growth_text(found: Difference, allowed: float) -> str:
    """Return in words that the total grew by more than is allowed."""
    change = signed_duration(found.total_after_ns - found.total_before_ns)
    by = "from 0" if found.ratio is None else f"by {share_above(found.ratio - 1, allowed)}"
    ends = found.total_interval
    return f"the total kernel time grew {by} ({f'{_interval(*ends)}, ' if ends else ''}{change})"


def slower_text(found: Difference, allowed: float) -> str:
    """Return which kernels' mean durations grew by more than is allowed, with all of their interval."""
    slower = np.flatnonzero(found.ratios.low > 1 + allowed)
    if not len(slower):
        return ""
    first = slower[np.argmax(found.change_ns[slower])]
    mean, low, high = (float(of[first]) for of in (found.ratios.ratio, found.ratios.low, found.ratios.high))
    number = counted(len(slower), "kernel takes", "kernels take")
    return (
        f"{number} more than {100 * allowed:g} % longer a launch, most of all {found.kernels[first].key}: "
        f"{_ratio(mean)}, {_interval(low, high)}"
    )


def _warnings(found: Difference) -> Iterator[str]:
    if found.without_places:
        yield "processes or devices differ, so kernels are matched without them"
    if by_name := sum(_changed_shape(found, kernel) for kernel in found.kernels):
        matched = counted(by_name, "kernel is", "kernels are")
        yield f"{matched} matched by name alone, for grids or blocks differ after from before"


def _changed_shape(found: Difference, kernel: MatchedKernel) -> bool:
    """Return whether a kernel of both sides is matched by name although kernel groups have shapes."""
    return kernel.matched_by is GroupBy.NAME and kernel.matched_by is not found.grouping.by


def kernel_rows(found: Difference, most: int | None = None) -> list[dict[str, Any]]:
    """Return the kernels that changed most, as JSON lists them; what is not known is None."""
    sides = {}
    for name, side in (("before", found.before), ("after", found.after)):
        figures = zip(*(getattr(side, field).tolist() for field in _KERNEL_FIELDS), strict=True)
        sides[name] = [dict(zip(_KERNEL_FIELDS, map(finite, values), strict=True)) for values in figures]
    of = found.ratios
    ratios = finite(np.stack((of.ratio, of.low, of.high), axis=1).tolist())
    change_ns = found.change_ns.tolist()
    return [
        {
            **{name: finite(getattr(kernel, name)) for name in _IDENTITY},
            "status": kernel.status.value,
            "matched_by": kernel.matched_by and kernel.matched_by.value,
            "shapes_before": kernel.shapes_before,
            "shapes_after": kernel.shapes_after,
            "before": sides["before"][index],
            "after": sides["after"][index],
            "change_ns": change_ns[index],
            **dict(zip(("ratio", "low", "high"), ratios[index], strict=True)),
        }
        for index, kernel in enumerate(found.kernels[:most])
    ]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a kernel as one row of a table, without objects in it."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if name in ("before", "after"):
            flat |= {column.format(name): value[part] for part, column in _FLAT.items()}
        else:
            flat[name] = value
    return flat


def _shapes(found: Difference, kernel: MatchedKernel) -> str:
    """Return how many shapes a kernel has that is matched by name, or by what else it is, in brackets."""
    if found.is_of_others(kernel):
        return f" (by {_MATCHED[kernel.matched_by or GroupBy.OPERATOR]})"
    if not _changed_shape(found, kernel):
        return ""
    after = counted(kernel.shapes_after, "other shape")
    return f" ({kernel.shapes_before:,} -> {after})" if kernel.shapes_before > 1 else f" ({after})"


def difference_blocks(found: Difference, options: DifferenceOptions, canvas: Canvas) -> Iterator[Block]:
    """Yield whether the total grew, and the kernels that changed most; on a page with their whole keys."""
    most = options.top or MOST_ROWS
    places = group_places(found.kernels)
    keys = [kernel.key + _shapes(found, kernel) for kernel in found.kernels[:most]]
    yield changed_sentence(found)
    yield from why_sentences(found)
    sides = []
    for word, side in (("before: ", found.before), ("after:  ", found.after)):
        launches = counted(int(side.launches.sum()), "launch", "launches")
        sides.append(f"{word}{duration(int(side.total_ns.sum()))}, {launches}, ")
    room = max(canvas.width - max(map(len, sides)), _LEAST_LABEL)
    yield from (side + path for side, path in zip(sides, paths_apart(options, room), strict=True))
    yield ""
    figures = figure_columns(found, most)
    yield Listing(figures, "kernel", kernel_labels(found, places), dropped_first=(), whole=keys)
    left = found.change_ns[most:]
    if len(left):
        yield f"and {counted(len(left), 'more kernel')}, {signed_duration(int(left.sum()))} together"
    yield from () if canvas.is_page else place_lines(places)
    yield (
        f"mean: ratio of mean durations. {share(found.confidence)} intervals are told by {BLOCKS} blocks of "
        f"launches in their order and {LEAST_LAUNCHES} launches on both sides; they assume that either run "
        "goes on as it did."
    )


def changed_sentence(found: Difference) -> str:
    """Return whether the total grew, by how much, and how many kernels are on one side alone."""
    change_ns = found.total_after_ns - found.total_before_ns
    grew = "grew" if change_ns > 0 else "shrank" if change_ns < 0 else "stayed the same"
    before, after = duration(found.total_before_ns), duration(found.total_after_ns)
    of = Counter(kernel.status for kernel in found.kernels)
    kernels = f"{of[Status.APPEARED]:,} new, {of[Status.VANISHED]:,} gone, {of[Status.BOTH]:,} in both"
    by = f" {total_words(found)}, from {before} to {after}" if change_ns else f" at {before}"
    return f"The kernel time {grew}{by}; kernels: {kernels}."


def causes_in_words(found: Difference) -> list[tuple[str, int]]:
    """Return what changed the total and by how many ns, the largest cause first."""
    causes = [(_CAUSES[cause][ns < 0], ns) for cause, ns in found.causes.items() if ns]
    return sorted(causes, key=lambda each: -abs(each[1]))


def why_sentences(found: Difference) -> Iterator[str]:
    """Yield what changed the total, the largest cause first, and by what else than keys kernels match."""
    if causes := causes_in_words(found):
        yield f"Why: {', '.join(f'{words} {signed_duration(ns)}' for words, ns in causes)}."
    matched = found.matched_share
    if any(found.is_of_others(kernel) for kernel in found.kernels):
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
    differ = (index for index, (one, other) in enumerate(zip(*paths, strict=False)) if one != other)
    common = next(differ, min(map(len, paths)))
    start = max(paths[0].rfind("/", 0, common) + 1, common - room // 2)
    mark = "..." if is_ascii() else "…"
    return [fitted(mark + path[start:], room) for path in paths]


def total_words(found: Difference) -> str:
    """Return how the total changed: its ratio, that one's interval if it has one, and by how much."""
    ratio_, ends = UNKNOWN if found.ratio is None else _ratio(found.ratio), found.total_interval
    interval = f"{_interval(*ends)}, " if ends else ""
    return f"{ratio_} ({interval}{signed_duration(found.total_after_ns - found.total_before_ns)})"


def figure_columns(found: Difference, most: int | None) -> list[Column]:
    """Return the figures of the kernels that changed most.

    They are change, before, after, launches, the ratio of means and its interval.
    """
    before, after, ratios, kernels = found.before, found.after, found.ratios, found.kernels[:most]

    def totals(side: Durations) -> list[str]:
        figures = zip(side.total_ns[:most].tolist(), side.launches.tolist(), strict=False)
        return [duration(ns) if launches else UNKNOWN for ns, launches in figures]

    # Once where they are as many or on one side alone.
    launches = [
        "->".join(count(n) if n < _EXACT_COUNT_BELOW else si(n) for n in dict.fromkeys(both) if n)
        for both in zip(before.launches[:most].tolist(), after.launches.tolist(), strict=False)
    ]
    means = [
        _GONE.get(kernel.status) or _ratio(value)
        for kernel, value in zip(kernels, ratios.ratio.tolist(), strict=False)
    ]
    ends = zip(ratios.low[:most].tolist(), ratios.high.tolist(), strict=False)
    return [
        Column("change", [signed_duration(ns) for ns in found.change_ns[:most].tolist()]),
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


def kernel_labels(found: Difference, places: Mapping[Place, str]) -> Callable[[int, int], str]:
    """Return what labels kernels; of those that are matched by less than all it says by what, if it fits."""
    labels = KernelLabels(found.kernels, places)

    def label(row: int, room: int) -> str:
        end = _shapes(found, found.kernels[row])
        end = end if room - len(end) >= min(len(labels.label(row, None)), _LEAST_MARKED) else ""
        return labels.label(row, room - len(end)) + end

    return label


def sorted_difference(found: Difference, sort: DifferenceSort, *, reverse: bool) -> Difference:
    """Return the difference with its kernels in this order; equal ones stay, the one changed most first.

    `reverse`: the smallest first, or the last name; kernels without the figure stay last.
    """
    if sort is DifferenceSort.CHANGE:
        return found.ordered(np.arange(len(found.kernels))[::-1]) if reverse else found
    if sort is DifferenceSort.KERNEL:
        keys = [kernel.key for kernel in found.kernels]
        return found.ordered(np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse), int))
    figures: dict[DifferenceSort, FloatArray | IntArray] = {
        DifferenceSort.BEFORE: found.before.total_ns,
        DifferenceSort.AFTER: found.after.total_ns,
        DifferenceSort.LAUNCHES: np.maximum(found.before.launches, found.after.launches),
    }
    values = figures.get(sort, found.ratios.ratio)
    return found.ordered(np.argsort(values if reverse else -values, kind="stable"))
