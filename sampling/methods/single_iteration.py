"""One iteration of a loop, times the number of iterations. [Principal Kernel Analysis, baseline]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import NotApplicableError, OptionError
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.settings import MethodOptions, Span, setting
from sampling.profile.profile import NamedRange
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList

_NAME = "single-iteration"
_GIVE_IDS = f"set {_NAME}.first and .last to the launch ids of one iteration, and .iterations to their number"


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """Which launches are the iteration, and how many there are; by range or by launch ids."""

    range: str | None = setting(
        None,
        "the range that is open during an iteration; without one of that name, those whose name contains it",
        values="a name",
    )
    occurrence: int = setting(
        0, "which of these ranges, from 0; the same in each process and device", span=Span(least=0)
    )
    first: int | None = setting(
        None, "the iteration's first launch id, instead of a range", span=Span(least=0)
    )
    last: int | None = setting(None, "its last launch id, which belongs to it", span=Span(least=0))
    iterations: float | None = setting(
        None,
        "how many iterations there are; none: as many as there are ranges of exactly that name",
        span=Span(above=0),
    )

    def __post_init__(self) -> None:
        MethodOptions.__post_init__(self)
        if self.range is not None and (self.first, self.last) != (None, None):
            raise OptionError(f"{_NAME} takes a range or launch ids, not both")
        if self.first is not None and self.last is not None and self.last < self.first:
            raise OptionError(f"{_NAME}.last {self.last} is before {_NAME}.first {self.first}")


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


@dataclass(frozen=True, slots=True)
class _Iteration:
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


def pick(request: PickRequest[Options]) -> Picks:
    """Take the launches of one iteration; each weighs the number of iterations.

    Raises
    ------
    NotApplicableError : no iteration is named, or the profile has none such.
    OptionError : launch ids without both ends or without the number of iterations.
    """
    launches, options = request.launches, request.options
    if options.range is not None:
        iterations = _of_ranges(launches, options.range, options)
    else:
        iterations = [_of_launch_ids(launches, options)]
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
        notes=_notes(launches, iterations),
        details={
            "iterations": [iteration.iterations for iteration in iterations],
            "launches_of_one": [iteration.stop - iteration.start for iteration in iterations],
            "launches": len(launches),
        },
    )


def _of_launch_ids(launches: LaunchList, options: Options) -> _Iteration:
    if options.first is None and options.last is None:
        raise NotApplicableError(
            f"{_NAME} has to be told which launches are one iteration",
            remedy=f"set {_NAME}.range to the name of a range, or {_GIVE_IDS}",
        )
    if options.first is None or options.last is None:
        raise OptionError(f"{_NAME}.first and .last go together", remedy=_GIVE_IDS)
    if options.iterations is None:
        raise OptionError(
            f"launches {options.first} to {options.last} do not tell how many iterations there are",
            remedy=f"set {_NAME}.iterations",
        )
    if launches.last_id is not None and options.last > launches.last_id:
        raise OptionError(
            f"{_NAME}.last {options.last}: there is no such launch",
            remedy=f"the ids of the profile end at {launches.last_id}",
        )
    start, stop = np.searchsorted(launches.id, [options.first, options.last + 1]).tolist()
    if start == stop:
        raise NotApplicableError(
            f"none of the launches {options.first} to {options.last} is selected",
            remedy=f"the ids selected lie between {launches.id[0]} and {launches.id[-1]}",
        )
    return _Iteration(
        start=start,
        stop=stop,
        missing=options.last + 1 - options.first - (stop - start),
        iterations=options.iterations,
        stands_for=None,
        label=f"all launches, by those from {options.first} to {options.last}",
    )


def _of_ranges(launches: LaunchList, text: str, options: Options) -> list[_Iteration]:
    """Return the iteration of each process and device that has one."""
    ranges = _ranges(launches, text)
    exact = ranges[0].text == text
    if not exact and options.iterations is None:
        raise NotApplicableError(
            f"no range is named exactly {text!r}, but {len(ranges):,} contain it, {ranges[0].text!r} first, "
            "so it is not known how many iterations there are",
            remedy=f"set {_NAME}.iterations too",
        )
    of_sequence = _selected_ranges(launches, ranges)
    found = []
    for sequence, own in of_sequence.items():
        if options.occurrence < len(own.texts) and own.selected[options.occurrence] > 0:
            found.append(_of_sequence(own, options, sequence if len(of_sequence) > 1 else None))
    if not found:
        most = max((len(own.texts) for own in of_sequence.values()), default=0)
        raise NotApplicableError(
            f"no launch of range {text!r}, occurrence {options.occurrence}, is selected",
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
        raise NotApplicableError(f"{_NAME} finds no named ranges in this format", remedy=_GIVE_IDS)
    if not ranges:
        raise NotApplicableError(
            f"no launch was issued during a range whose name contains {text!r}",
            remedy=f"set {_NAME}.range to the name of another, or {_GIVE_IDS}",
        )
    return ranges


def _of_sequence(own: _SelectedRanges, options: Options, sequence: int | None) -> _Iteration:
    """Return one iteration; ``sequence`` tells it from those of others, where there are others."""
    chosen = options.occurrence
    # A range the selection leaves nothing of adds nothing to the total either.
    counted = float((own.selected > 0).sum()) if options.iterations is None else options.iterations
    label = f"range {own.texts[chosen]!r}"
    return _Iteration(
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


def _notes(launches: LaunchList, iterations: list[_Iteration]) -> tuple[str, ...]:
    terms = dict.fromkeys(f"{each.stop - each.start:,} x {each.iterations:,.12g}" for each in iterations)
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
    name="single-iteration",
    source="Principal Kernel Analysis, single iteration (baseline)",
    needs=("a named range (NVTX, annotation), or the launch ids of one iteration",),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
