"""One iteration, and what it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import NotApplicableError, OptionError
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.settings import MethodOptions, Span, setting
from sampling.profile.named_ranges import NamedRange
from sampling.reduction.group_by import GroupBy
from sampling.reduction.iterations import MOST, Iterations, find_iterations
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted


@dataclass(frozen=True, slots=True)
class Iteration:
    """The iteration of one process and device, or the one given by launch ids.

    Attributes
    ----------
    start, stop : its rows of the launch list.
    missing : how many of its launches are not selected.
    iterations : how many it stands for.
    stands_for : rows of the launches it stands for; None: all of the list.
    label : what it is, in words.
    """

    start: int
    stop: int
    missing: int
    iterations: float
    stands_for: IntArray | None
    label: str


NAME = "single-iteration"
GIVE_IDS = f"set {NAME}.first and .last to the launch ids of one iteration, and .iterations to their number"


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """Which launches are the iteration, and how many there are; by range, by launch ids, or found."""

    range: str | None = setting(
        None,
        "the range that is open during an iteration; without one of that name, those whose name contains it",
        values="a name",
    )
    occurrence: int | None = setting(
        None,
        "which of the ranges, or of the iterations found, from 0; the same in each process and device; none: "
        "the first range, the second iteration found",
        span=Span(least=0),
    )
    first: int | None = setting(
        None, "the iteration's first launch id, instead of a range", span=Span(least=0)
    )
    last: int | None = setting(None, "its last launch id, which belongs to it", span=Span(least=0))
    iterations: float | None = setting(
        None,
        "how many iterations there are; none: as many as there are ranges of exactly that name, or as make "
        "up the loop that is found",
        span=Span(above=0),
    )

    def __post_init__(self) -> None:
        MethodOptions.__post_init__(self)
        if self.range is not None and (self.first, self.last) != (None, None):
            raise OptionError(f"{NAME} takes a range or launch ids, not both")
        if self.first is not None and self.last is not None and self.last < self.first:
            raise OptionError(f"{NAME}.last {self.last} is before {NAME}.first {self.first}")


def pick(request: PickRequest[Options]) -> Picks:
    """Take the launches of one iteration; each weighs the number of iterations.

    Raises
    ------
    NotApplicableError : the profile has no iteration of the name, or none is found.
    OptionError : launch ids without both ends or without the number of iterations.
    """
    launches, options = request.launches, request.options
    loops: list[FoundLoop] = []
    if options.range is not None:
        iterations = iterations_of_ranges(launches, options.range, options)
    elif (options.first, options.last) != (None, None):
        iterations = [_of_launch_ids(launches, options)]
    else:
        loops = found_loops(launches)
        iterations = [loop.iteration(options) for loop in loops]
    stratum = np.full(len(launches), -1, dtype=np.int64)
    for index, iteration in enumerate(iterations):
        stratum[slice(None) if iteration.stands_for is None else iteration.stands_for] = index
    rows = [np.arange(iteration.start, iteration.stop) for iteration in iterations]
    weights = [np.full(len(row), each.iterations) for row, each in zip(rows, iterations, strict=True)]
    return Picks(
        stratum=stratum,
        labels=tuple(iteration.label for iteration in iterations),
        row=np.concatenate(rows),
        weight=np.concatenate(weights),
        notes=(*_notes(launches, iterations), *loop_notes(launches, loops, iterations)),
        details={
            "iterations": [iteration.iterations for iteration in iterations],
            "launches_of_one": [iteration.stop - iteration.start for iteration in iterations],
            "launches": len(launches),
            **loop_details(launches, loops),
        },
    )


def _of_launch_ids(launches: LaunchList, options: Options) -> Iteration:
    if options.first is None or options.last is None:
        raise OptionError(f"{NAME}.first and .last go together", remedy=GIVE_IDS)
    if options.iterations is None:
        raise OptionError(
            f"launches {options.first} to {options.last} do not tell how many iterations there are",
            remedy=f"set {NAME}.iterations",
        )
    if launches.last_id is not None and options.last > launches.last_id:
        raise OptionError(
            f"{NAME}.last {options.last}: there is no such launch",
            remedy=f"the ids of the profile end at {launches.last_id}",
        )
    start, stop = np.searchsorted(launches.id, [options.first, options.last + 1]).tolist()
    if start == stop:
        raise NotApplicableError(
            f"none of the launches {options.first} to {options.last} is selected",
            remedy=f"the ids selected lie between {launches.id[0]} and {launches.id[-1]}",
        )
    return Iteration(
        start=start,
        stop=stop,
        missing=options.last + 1 - options.first - (stop - start),
        iterations=options.iterations,
        stands_for=None,
        label=f"all launches, by those from {options.first} to {options.last}",
    )


def _notes(launches: LaunchList, iterations: list[Iteration]) -> tuple[str, ...]:
    terms = dict.fromkeys(
        f"{each.stop - each.start:,} x {round(each.iterations, 2):,.12g}" for each in iterations
    )
    share = sum((each.stop - each.start) * each.iterations for each in iterations)
    shown = next(iter(terms)) if len(iterations) == 1 else f"{len(iterations)} of them, {', '.join(terms)}"
    notes = [f"one iteration: {shown} = {share:,.12g} of {len(launches):,} launches"]
    if missing := sum(each.missing for each in iterations):
        notes.append(f"{missing:,} launches of the iteration are not selected, and so not counted")
    reached = {int(launches.sequence[each.start]) for each in iterations}
    there = len(np.unique(launches.sequence))
    if iterations[0].stands_for is not None and len(reached) < there:
        notes.append(f"{there - len(reached)} of {there} processes and devices have no such iteration")
    return tuple(notes)


METHOD = Method(
    name=NAME,
    source="Principal Kernel Analysis, single iteration (baseline)",
    needs=(
        "a loop of the same kernels, a named range (NVTX, annotation), or the launch ids of one iteration",
    ),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)


_SECOND = 1


@dataclass(frozen=True, slots=True, eq=False)
class FoundLoop:
    """The loop of one process and device.

    Attributes
    ----------
    row : the first row of the process and device in the launch list, from which ``found`` counts.
    found : its iterations.
    by_name : whether launches of the same kernel are the same whatever their shapes.
    of : which process and device, in words; "" where there is one.
    """

    row: int
    found: Iterations
    by_name: bool
    of: str

    def iteration(self, options: Options) -> Iteration:
        """Return the iteration that is taken, the second if none is asked for.

        The first may warm up. Which one is nearest to the mean would follow from the durations, but these are
        what is to be predicted, so they are not looked at.

        Raises
        ------
        NotApplicableError : there are not so many.
        """
        found, chosen = self.found, _SECOND if options.occurrence is None else options.occurrence
        if chosen >= len(found.first):
            raise NotApplicableError(
                f"no iteration {chosen} is found{self.of}",
                remedy=f"{NAME}.occurrence counts from 0, and there are {len(found.first):,}",
            )
        start = self.row + int(found.first[chosen])
        in_loop = found.stop - found.start
        return Iteration(
            start=start,
            stop=start + found.launches,
            missing=0,
            iterations=in_loop / found.launches if options.iterations is None else options.iterations,
            stands_for=np.arange(self.row + found.start, self.row + found.stop),
            label=f"the loop found{self.of}",
        )


def found_loops(launches: LaunchList) -> list[FoundLoop]:
    """Return the loop of each process and device that has one: by name and shape, else by name alone.

    Raises
    ------
    NotApplicableError : none has a loop of which most launches are equal iterations.
    """
    edges = np.flatnonzero(np.diff(launches.sequence, prepend=-1, append=-1)).tolist()
    loops: list[FoundLoop] = []
    others: list[tuple[float, Iterations | None]] = []
    for first, stop in pairwise(edges):
        of = f" in process and device number {launches.sequence[first] + 1}" if len(edges) > 2 else ""
        signature = launches.signature[first:stop]
        name = launches.kernels.signature_names()[signature].astype(np.int64)
        for by_name, codes in ((False, signature), (True, name)):
            found = find_iterations(codes)
            if found is not None and found.equal_launches >= MOST * len(codes):
                loops.append(FoundLoop(first, found, by_name, of))
                break
            others.append((0.0 if found is None else found.equal_launches / len(codes), found))
    if not loops:
        raise _none_found(others)
    return loops


def _none_found(others: Sequence[tuple[float, Iterations | None]]) -> NotApplicableError:
    """Return the error that names the best of loops that are too small.

    Parameters
    ----------
    others : the share of the launches that each repeats, and the loop.
    """
    share, best = max(others, key=lambda each: each[0])
    at_best = ""
    if best is not None:
        of = f"{counted(best.launches, 'launch', 'launches')} repeated {counted(len(best.first), 'time')}"
        at_best = f": at best {of}, {100 * share:.2g} % of them"
    return NotApplicableError(
        f"{NAME} finds no sequence of kernels that most launches repeat{at_best}",
        remedy=f"set {NAME}.range to the name of a range, or {GIVE_IDS}",
    )


def loop_notes(
    launches: LaunchList, loops: Sequence[FoundLoop], iterations: Sequence[Iteration]
) -> tuple[str, ...]:
    """Return which iteration is taken, and how far the launches really repeat."""
    if not loops:
        return ()
    ids = launches.id[[iterations[0].start, iterations[0].stop - 1]].tolist()
    how_many = " and ".join(dict.fromkeys(f"{len(loop.found.first):,}" for loop in loops))
    same = "whatever their sizes" if any(loop.by_name for loop in loops) else "in the same sizes"
    share, share_of_time = _shares(launches, loops)
    found = (
        f"found by the order of the launches: {ids[0]} to {ids[1]} are one of {how_many} iterations "
        f"of the same kernels {same}"
    )
    notes = [f"{found}, {100 * share:.3g} % of the launches and {100 * share_of_time:.3g} % of the time"]
    if others := sum(loop.found.stop - loop.found.start - loop.found.equal_launches for loop in loops):
        count = "counts as part of an iteration" if others == 1 else "count as parts of iterations"
        which = counted(others, "other launch", "other launches")
        notes.append(f"{which} of the loop, between iterations and at its ends, {count}")
    if outside := len(launches) - sum(loop.found.stop - loop.found.start for loop in loops):
        notes.append(f"{counted(outside, 'launch', 'launches')} before and after the loop: not counted")
    return tuple(notes)


def loop_details(launches: LaunchList, loops: Sequence[FoundLoop]) -> dict[str, Any]:
    """Return what was found, as figures."""
    if not loops:
        return {}
    share, share_of_time = _shares(launches, loops)
    return {
        "found": [len(loop.found.first) for loop in loops],
        "found_by": ["name" if loop.by_name else "launch" for loop in loops],
        "share": share,
        "share_of_time": share_of_time,
    }


def _shares(launches: LaunchList, loops: Sequence[FoundLoop]) -> tuple[float, float]:
    """Return how much of the launches, and of their time, iterations are that equal the one taken."""
    is_equal = np.zeros(len(launches) + 1, dtype=np.int64)
    for loop in loops:
        is_equal[loop.row + loop.found.first] += 1
        is_equal[loop.row + loop.found.first + loop.found.launches] -= 1
    inside = np.cumsum(is_equal[:-1]) > 0
    total_ns = int(launches.duration_ns.sum())
    return float(inside.mean()), float(launches.duration_ns[inside].sum() / total_ns) if total_ns else 0.0


@dataclass(frozen=True, slots=True)
class _SelectedRanges:
    """Named ranges of one process and device, in the order they open.

    Attributes
    ----------
    texts : (r,) their names.
    start, stop : (r,) the rows ``start:stop`` of the launch list are in the range; none if start = stop.
    launches : (r,) how many launches each has, selected or not.
    """

    texts: tuple[str, ...]
    start: IntArray
    stop: IntArray
    launches: IntArray

    @property
    def selected(self) -> IntArray:
        """(r,) how many launches of each range are selected."""
        return self.stop - self.start


def iterations_of_ranges(launches: LaunchList, text: str, options: Options) -> list[Iteration]:
    """Return the iteration of each process and device that has one."""
    ranges = _ranges(launches, text)
    exact, occurrence = ranges[0].text == text, options.occurrence or 0
    if not exact and options.iterations is None:
        raise NotApplicableError(
            f"no range is named exactly {text!r}, but {len(ranges):,} contain it, {ranges[0].text!r} first, "
            "so it is not known how many iterations there are",
            remedy=f"set {NAME}.iterations too",
        )
    of_sequence = _selected_ranges(launches, ranges)
    found = []
    for sequence, own in of_sequence.items():
        if occurrence < len(own.texts) and own.selected[occurrence] > 0:
            found.append(_of_sequence(own, options, sequence if len(of_sequence) > 1 else None))
    if not found:
        most = max((len(own.texts) for own in of_sequence.values()), default=0)
        raise NotApplicableError(
            f"no launch of range {text!r}, occurrence {occurrence}, is selected",
            remedy=f"there are {most} of it among the selected processes and devices, counted from 0",
        )
    return found


def _selected_ranges(launches: LaunchList, ranges: tuple[NamedRange, ...]) -> dict[int, _SelectedRanges]:
    """Return the ranges of every sequence that has both ranges and selected launches, by sequence."""
    present = set(np.unique(launches.sequence).tolist())
    found = {}
    for sequence in sorted({each.sequence for each in ranges} & present):
        own = [each for each in ranges if each.sequence == sequence]
        first = launches.first_ids[sequence]
        start = np.array([each.first_ordinal for each in own], dtype=np.int64)
        stop = np.array([each.stop_ordinal for each in own], dtype=np.int64)
        found[sequence] = _SelectedRanges(
            texts=tuple(each.text for each in own),
            start=np.searchsorted(launches.id, first + start),
            stop=np.searchsorted(launches.id, first + stop),
            launches=stop - start,
        )
    return found


def _ranges(launches: LaunchList, text: str) -> tuple[NamedRange, ...]:
    ranges = None if launches.ranges_named is None else launches.ranges_named(text)
    if ranges is None:
        raise NotApplicableError(f"{NAME} finds no named ranges in this format", remedy=GIVE_IDS)
    if not ranges:
        raise NotApplicableError(
            f"no launch was issued during a range whose name contains {text!r}",
            remedy=f"set {NAME}.range to the name of another, or {GIVE_IDS}",
        )
    return ranges


def _of_sequence(own: _SelectedRanges, options: Options, sequence: int | None) -> Iteration:
    """Return one iteration; ``sequence`` tells it from those of others, where there are others."""
    chosen = options.occurrence or 0
    # A range the selection leaves nothing of adds nothing to the total either.
    counted = float((own.selected > 0).sum()) if options.iterations is None else options.iterations
    label = f"range {own.texts[chosen]!r}"
    return Iteration(
        start=int(own.start[chosen]),
        stop=int(own.stop[chosen]),
        missing=int(own.launches[chosen] - own.selected[chosen]),
        iterations=counted,
        stands_for=_covered(own),
        label=label if sequence is None else f"{label} of process and device number {sequence + 1}",
    )


def _covered(own: _SelectedRanges) -> IntArray:
    """Return the rows inside any of the ranges, ascending and distinct; they may overlap."""
    begin, end = own.start.min(), own.stop.max()
    step = np.bincount(own.start - begin, minlength=end - begin + 1)
    step -= np.bincount(own.stop - begin, minlength=end - begin + 1)
    return np.asarray(begin + np.flatnonzero(np.cumsum(step) > 0))
