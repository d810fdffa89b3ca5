"""Two recordings per iteration and kernel by kernel, as `difference` gives them in every form."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import to_builtins

from sampling.arrays import FloatArray, IntArray
from sampling.difference.comparison import Basis, Cause, Change, Difference, KernelDifference, KernelTimes
from sampling.difference.matching import MatchedKernel, Status
from sampling.reduction import GroupBy
from sampling.reduction.iteration_runs import LEAST_MEASUREMENTS, IterationFacts
from sampling.reduction.region import Selection
from sampling.text import counted
from tui.charts.grid import fitted
from tui.charts.quantities import (
    UNKNOWN,
    count,
    duration,
    growth,
    growth_range,
    share,
    share_above,
    si,
    signed_duration,
)
from tui.options.choices import DifferenceSort
from tui.options.look import DifferenceOptions
from tui.output.blocks import MOST_ROWS, Block, CommandLine, Listing
from tui.output.checks import Check
from tui.output.writer import Canvas, CommandResult
from tui.terminal.printable import Column, is_ascii, names, shortened
from tui.text.labels import KernelLabels, Place, group_places, place_lines

_LEAST_LABEL, _LEAST_ROOM = 12, 20
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
_QUANTITIES = {"kernel_ns": "kernel time", "elapsed_ns": "elapsed", "busy": "busy", "copies_ns": "copies"}
_IDLE = {
    "host_ns": ("the host's", "host"),
    "copy_ns": ("copies'", "copies"),
    "turnaround_ns": ("turnarounds'", "turnaround"),
    "dependency_ns": ("dependencies'", "dependency"),
    "unknown_ns": ("of unknown cause", "unknown"),
    "short_ns": ("in gaps below 1 us", "below 1 us"),
}
# Causes of a smaller share are not told.
_LEAST_IDLE = 0.01


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
    """Return which part of either recording there is to compare."""
    return dict(zip(("before", "after"), (side.selection for side in difference.recordings), strict=True))


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
    if kernel.is_of_others(difference.grouping.by):
        return f" (by {_MATCHED[kernel.matched_by or GroupBy.OPERATOR]})"
    if not _changed_shape(difference, kernel):
        return ""
    after = counted(kernel.shapes_after, "other shape")
    return f" ({kernel.shapes_before:,} -> {after})" if kernel.shapes_before > 1 else f" ({after})"


def difference_blocks(difference: Difference, options: DifferenceOptions, canvas: Canvas) -> Iterator[Block]:
    """Yield what is compared, the answer, and the kernels that changed most; on a page with whole keys."""
    limit = options.top or MOST_ROWS
    places = group_places(difference.kernels)
    keys = [kernel.key + _shapes(difference, kernel) for kernel in difference.kernels[:limit]]
    yield from basis_sentences(difference)
    yield answer_sentence(difference)
    yield from idle_sentences(difference)[:1]
    yield ""
    yield quantity_columns(difference)
    if difference.basis is Basis.ITERATIONS and difference.per_iteration.busy is not None:
        yield "Busy and idle reach to the next iteration's first kernel, elapsed to the last kernel's end."
    yield ""
    yield from why_sentences(difference)
    sides = []
    for word, side in zip(("before: ", "after:  "), compared_parts(difference).values(), strict=True):
        launches = counted(side.launches, "launch", "launches")
        sides.append(f"{word}{duration(side.total_duration_ns)}, {launches}, ")
    room = max(canvas.width - max(map(len, sides)), _LEAST_LABEL)
    yield from (side + path for side, path in zip(sides, paths_apart(options, room), strict=True))
    yield ""
    figures = figure_columns(difference, limit)
    yield Listing(figures, "kernel", kernel_labels(difference, places), ["before"], _LEAST_ROOM, keys)
    left = difference.change_ns[limit:]
    if len(left):
        yield f"and {counted(len(left), 'more kernel')}, {signed_duration(int(left.sum()))} together"
    yield from () if canvas.is_page else place_lines(places)
    yield f"{share(difference.confidence)} intervals: {_interval_words(difference)}"


def _unit(difference: Difference) -> str:
    return "an iteration" if difference.basis is Basis.ITERATIONS else "the run"


def _interval_words(difference: Difference) -> str:
    """Return what tells the intervals, and what they assume."""
    goes_on = "they assume that either run goes on as it did."
    if difference.basis is Basis.PAIRED:
        return "of the same launches, by ten blocks of pairs in their order."
    numbers = difference.per_iteration.iterations
    if difference.basis is Basis.ITERATIONS and min(numbers.before, numbers.after) >= LEAST_MEASUREMENTS:
        return f"told by how much iterations differ; {goes_on}"
    return f"told by blocks of launches in their order; {goes_on}"


def basis_sentences(difference: Difference) -> Iterator[str]:
    """Yield what is compared, and what of either recording is not."""
    facts = [side.facts for side in difference.recordings]
    reason = f" ({difference.reason})" if difference.reason else ""
    if difference.basis is Basis.PAIRED:
        launches = counted(int(difference.before.launches.sum()), "launch")
        yield f"Compared launch by launch: both run the same {launches} in the same order{reason}."
    elif difference.basis is Basis.RECORDED:
        yield f"Compared as recorded: {difference.reason or 'all launches, whatever work they are'}."
    elif facts[0] is not None and facts[1] is not None:
        before, after = facts[0], facts[1]
        how = " and ".join(
            dict.fromkeys(f"named {side.name}" if side.name else "found" for side in (before, after))
        )
        launches = " and ".join(dict.fromkeys(map(_launches, (before, after))))
        number = f"{count(before.iterations)} before, {count(after.iterations)} after"
        yield f"Compared per iteration: {number}, {how}, of {launches} launches{reason}."
        for word, side in (("before", before), ("after", after)):
            places = {
                "ahead of the first": counted(side.launches_ahead, "launch"),
                "behind the last": counted(side.launches_behind, "launch"),
                "of other lengths": counted(side.left_out, "iteration"),
                "between or beside them": counted(side.launches_outside, "launch"),
            }
            outside = [f"{number} {place}" for place, number in places.items() if not number.startswith("0 ")]
            if outside:
                yield f"Left out {word}: {', '.join(outside)}."


def _launches(facts: IterationFacts) -> str:
    ends = count(facts.least_launches), count(facts.most_launches)
    return " to ".join(dict.fromkeys(ends))


def answer_sentence(difference: Difference) -> str:
    """Return whether an iteration, or the run, takes longer, its kernels do, and how busy the GPU is."""
    per = difference.per_iteration
    subject = "An iteration" if difference.basis is Basis.ITERATIONS else "The run"
    kernels = f"kernels take {_more(per.kernel_ns)}"
    said = f"{subject}'s {kernels}"
    if per.elapsed_ns is not None and per.elapsed_ns.ratio is not None:
        said = f"{subject} takes {_more(per.elapsed_ns)}; its {kernels}"
    if per.busy is not None and per.busy.ratio is not None:
        said += f"; the GPU is busy {share(per.busy.after)} of the time, before {share(per.busy.before)}"
    return f"{said}."


def idle_sentences(difference: Difference) -> list[str]:
    """Return what of the change is idle time, and why, the longest form first; or that nothing tells why."""
    per = difference.per_iteration
    if per.idle is None:
        lacking = [
            word
            for word, side in zip(("before", "after"), difference.recordings, strict=True)
            if side.whole.idle_ns is None
        ]
        where = "on either side" if len(lacking) > 1 else "".join(lacking)
        said = f"Why the GPU is idle is not compared: API calls are not recorded {where}."
        return [said] if per.busy is not None and lacking else []
    changes = {name: _change_ns(getattr(per.idle, name)) for name in per.idle.__struct_fields__}
    idle_ns = changes["idle_ns"]
    if not idle_ns:
        return []
    less, other = ("less", "more") if idle_ns < 0 else ("more", "less")
    of_unit = " an iteration" if difference.basis is Basis.ITERATIONS else ""
    said = f"The GPU is idle {duration(abs(idle_ns))} {less}{of_unit}"
    shortly = f"Idle {signed_duration(idle_ns)}"
    if _may_be_chance(per.idle.idle_ns):
        said, shortly = f"{said}, which may be chance", f"{shortly} (may be chance)"
    causes = [name for name in _IDLE if abs(changes[name]) >= _LEAST_IDLE * abs(idle_ns)]
    causes.sort(key=lambda name: -abs(changes[name]))

    def words(name: str) -> str:
        return f"{duration(abs(changes[name]))}{'' if changes[name] * idle_ns >= 0 else f' {other}'}"

    items = [f"{_IDLE[name][0]} {words(name)}" for name in causes]
    whole = [*items]
    if "host_ns" in causes and abs(changes["synchronising_ns"]) >= _LEAST_IDLE * abs(idle_ns):
        whole[causes.index("host_ns")] += f" (synchronising {words('synchronising_ns')})"
    brief = [f"{_IDLE[name][1]} {signed_duration(changes[name])}" for name in causes]
    cut = ([*brief[:number], "..."] for number in range(len(brief) - 1, 0, -1))
    return [
        *(f"{said}: {', '.join(told)}." for told in (whole, items)),
        *(f"{shortly}: {', '.join(told)}" for told in (brief, *cut)),
    ]


def _change_ns(change: Change | None) -> int:
    return 0 if change is None else round((change.after or 0) - (change.before or 0))


def _may_be_chance(change: Change) -> bool:
    return change.low is not None and change.high is not None and change.low <= 1 <= change.high


def _more(change: Change) -> str:
    """Return in words how much more a time is, or less, and whether that may be chance."""
    ends = f"{duration(change.before)} -> {duration(change.after)}"
    if change.ratio is None or change.ratio == 1:
        return f"as long as before ({ends})" if change.ratio else ends
    text = f"{growth(change.ratio).lstrip('+-')} {'more' if change.ratio > 1 else 'less'}"
    return f"{text}, which may be chance ({ends})" if _may_be_chance(change) else f"{text} ({ends})"


def quantity_columns(difference: Difference) -> list[Column]:
    """Return what an iteration takes, or the run, before and after."""
    per = difference.per_iteration
    rows: list[tuple[str, Change, Callable[[float | None], str]]] = [
        (word, change, share if name == "busy" else duration)
        for name, word in _QUANTITIES.items()
        # A run without copies says nothing of them.
        if (change := getattr(per, name)) is not None and (change.before or change.after)
    ]
    if per.idle is not None:
        idle_before, idle_after = per.idle.idle_ns.before or 0, per.idle.idle_ns.after or 0
        rows.append(("idle", per.idle.idle_ns, duration))
        for name, (_, word) in _IDLE.items():
            change = getattr(per.idle, name)
            shares = (change.before or 0, idle_before), (change.after or 0, idle_after)
            if any(part > _LEAST_IDLE * whole for part, whole in shares):
                rows.append((f"of it {word}", change, duration))
    rows.append(("launches", per.launches, lambda value: UNKNOWN if value is None else _number(value)))
    changes = {
        word: (growth(change.ratio), growth_range(change.low, change.high)) for word, change, _ in rows
    }
    if per.busy is not None and per.busy.before and per.busy.ratio:
        # A share of a share would be read as a share: in points.
        ratio, *ends = (
            "" if end is None else f"{100 * per.busy.before * (end - 1):+.1f}"
            for end in (per.busy.ratio, per.busy.low, per.busy.high)
        )
        changes["busy"] = f"{ratio} points", f"{' to '.join(ends)} points" if all(ends) else UNKNOWN
    return [
        names(_unit(difference), [word for word, _, _ in rows]),
        Column("before", [text(change.before) for _, change, text in rows]),
        Column("after", [text(change.after) for _, change, text in rows]),
        Column("change", [changes[word][0] for word, _, _ in rows]),
        Column("interval", [changes[word][1] for word, _, _ in rows]),
    ]


def causes_in_words(difference: Difference) -> list[tuple[str, int]]:
    """Return what changed the kernel time and by how many ns, the largest cause first."""
    causes = [(_CAUSES[cause][ns < 0], ns) for cause, ns in difference.causes.items() if ns]
    return sorted(causes, key=lambda cause: -abs(cause[1]))


def why_sentences(difference: Difference) -> Iterator[str]:
    """Yield what changed the kernel time, the largest cause first, and by what kernels are matched."""
    statuses = Counter(kernel.status for kernel in difference.kernels)
    kernels = f"{statuses[Status.APPEARED]:,} new, {statuses[Status.VANISHED]:,} gone"
    kernels += f", {statuses[Status.BOTH]:,} in both"
    causes = [f"{words} {signed_duration(ns)}" for words, ns in causes_in_words(difference)]
    why = f"Why: {', '.join(causes)}; kernels" if causes else "Kernels"
    yield f"{why}: {kernels}."
    if any(kernel.is_of_others(difference.grouping.by) for kernel in difference.kernels):
        shares = [
            f"{share(before)} and {share(after)} by {_MATCHED.get(by, by.value)}"
            for by, (before, after) in difference.matched_share.items()
        ]
        yield f"Matched of the time before and after: {', '.join(shares)}."


# What CI asks for.


def difference_checks(difference: Difference, options: DifferenceOptions) -> list[Check]:
    """Return what was compared and its quantities, failing where they are above what the options allow."""
    per, unit, kernel_limit = difference.per_iteration, _unit(difference), options.fail_kernel_above
    limits = options.fail_above, options.fail_elapsed_above, kernel_limit
    if limits != (None, None, None) and not difference.is_same_work:
        said = f"{difference.reason}; --as-recorded compares them all the same"
        return [Check("compared", said, fails=True)]
    checks = [Check("compared", next(basis_sentences(difference)), fails=False)]
    quantities = ("kernel time", per.kernel_ns), ("elapsed time", per.elapsed_ns)
    for (name, change), limit in zip(quantities, limits, strict=False):
        if change is not None:
            checks.append(_check(name, f"the {name} of {unit}", change, limit))
    if kernel_limit is not None:
        slower = np.flatnonzero(difference.ratios.low > 1 + kernel_limit)
        for row in slower[np.argsort(-difference.change_ns[slower], kind="stable")].tolist():
            name, sides = f"kernel {difference.kernels[row].key}", (difference.before, difference.after)
            times_ns = [float(side.total_ns[row]) / side.iterations for side in sides]
            change = Change(*times_ns, *(float(values[row]) for values in difference.ratios))
            checks.append(_check(name, name, change, kernel_limit))
        if not len(slower):
            checks.append(Check("kernels", "none surely grew by more than is allowed", fails=False))
    return checks


def _check(name: str, words: str, change: Change, limit: float | None) -> Check:
    figures = f"{duration(change.before)} -> {duration(change.after)}"
    if change.low is not None:
        figures = f"{growth_range(change.low, change.high)}, {figures}"
    if limit is None or not change.is_above(limit):
        return Check(name, f"{words}: {growth(change.ratio)} ({figures})", fails=False)
    by = "from 0" if change.ratio is None else f"by {share_above(change.ratio - 1, limit)}"
    return Check(name, f"{words} grew {by} ({figures})", fails=True)


# Paths, and the table of kernels.


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


def kernel_time_words(difference: Difference) -> str:
    """Return how the kernel time changed, with its interval if it has one."""
    change = difference.per_iteration.kernel_ns
    interval = "" if change.low is None else f" ({growth_range(change.low, change.high)})"
    return f"{growth(change.ratio)}{interval}"


def figure_columns(difference: Difference, limit: int | None) -> list[Column]:
    """Return the figures of the kernels that changed most, of an iteration where iterations are compared."""
    kernels, ratios = difference.kernels[:limit], difference.ratios

    def totals(side: KernelTimes) -> list[str]:
        figures = zip(side.total_ns[:limit].tolist(), side.launches.tolist(), strict=False)
        return [duration(ns / side.iterations) if launches else UNKNOWN for ns, launches in figures]

    sides = [side.launches[:limit] / side.iterations for side in (difference.before, difference.after)]
    # Once where they are as many or on one side alone.
    launches = [
        "->".join(map(_number, (number for number in dict.fromkeys(numbers) if number)))
        for numbers in zip(*(side.tolist() for side in sides), strict=True)
    ]
    relative = [
        _GONE.get(kernel.status) or growth(value)
        for kernel, value in zip(kernels, ratios.ratio.tolist(), strict=False)
    ]
    ends = zip(ratios.low[:limit].tolist(), ratios.high.tolist(), strict=False)
    return [
        Column("change", [signed_duration(ns) for ns in difference.change_ns[:limit].tolist()]),
        Column("before", totals(difference.before)),
        Column("after", totals(difference.after)),
        Column("launches", launches),
        Column("relative", relative),
        Column("interval", [growth_range(low, high) for low, high in ends]),
    ]


def _number(value: float) -> str:
    """Return a number of launches, a decimal where it is no whole one."""
    if value >= _EXACT_COUNT_BELOW:
        return si(value)
    return count(int(value)) if value == int(value) else f"{value:,.1f}"


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
