"""One iteration, and what it stands for: of a named range, between launch ids, or of the loop that is found.

[Principal Kernel Analysis, baseline]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import NotApplicableError, OptionError
from sampling.methods.method import Method, Picks, setting
from sampling.parallel import Progress
from sampling.profile.named_ranges import is_named
from sampling.reduction import GroupBy
from sampling.reduction.iterations import MOST, find_iterations
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted

NAME = "single-iteration"
GIVE_IDS = f"set {NAME}.first and .last to the launch ids of one iteration, and .iterations to their number"
# The first may warm up. Which one is nearest to the mean would follow from the durations, but these are what
# is to be predicted, so they are not looked at.
_SECOND = 1


@dataclass(frozen=True, slots=True)
class Options:
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
        ge=0,
    )
    first: int | None = setting(None, "the iteration's first launch id, instead of a range", ge=0)
    last: int | None = setting(None, "its last launch id, which belongs to it", ge=0)
    iterations: float | None = setting(
        None,
        "how many iterations there are; none: as many as there are ranges of exactly that name, or as make "
        "up the loop that is found",
        gt=0,
    )

    def __post_init__(self) -> None:
        if self.range is not None and (self.first, self.last) != (None, None):
            raise OptionError(f"{NAME} takes a range or launch ids, not both")
        if self.first is not None and self.last is not None and self.last < self.first:
            raise OptionError(f"{NAME}.last {self.last} is before {NAME}.first {self.first}")


class _Iteration(NamedTuple):
    """The iteration of one process and device, or the one given by launch ids."""

    #: Its rows of the launch list, and how many iterations it stands for.
    start: int
    stop: int
    iterations: float
    #: Rows of the launches it stands for; what it is in words; how many of its launches are not selected.
    stands_for: IntArray
    label: str
    missing: int = 0


def pick(launches: LaunchList, options: Options, _: np.random.Generator, __: Progress | None) -> Picks:
    """Take the launches of one iteration; each weighs the number of iterations."""
    more_notes, more_details = list[str](), dict[str, Any]()
    if options.range is not None:
        stretches = _iterations_in_ranges(launches, options.range, options)
    elif (options.first, options.last) != (None, None):
        stretches = [_iteration_by_ids(launches, options)]
    else:
        stretches, more_notes, more_details = _iterations_in_loops(launches, options)
    stratum = np.full(len(launches), -1, dtype=np.int64)
    for index, iteration in enumerate(stretches):
        stratum[iteration.stands_for] = index
    sizes = [iteration.stop - iteration.start for iteration in stretches]
    iterations = [iteration.iterations for iteration in stretches]
    terms = [f"{size:,} x {round(of_one, 2):,.12g}" for size, of_one in zip(sizes, iterations, strict=True)]
    term = terms[0] if len(stretches) == 1 else f"{len(stretches)} of them, {', '.join(dict.fromkeys(terms))}"
    notes = [f"one iteration: {term} = {np.dot(sizes, iterations):,.12g} of {len(launches):,} launches"]
    if missing := sum(iteration.missing for iteration in stretches):
        notes.append(f"{missing:,} launches of the iteration are not selected, and so not counted")
    reached = len({int(launches.sequence[iteration.start]) for iteration in stretches})
    sequences = np.unique(launches.sequence)
    if options.first is None and reached < len(sequences):
        lacking = len(sequences) - reached
        notes.append(f"{lacking} of {len(sequences)} processes and devices have no such iteration")
    details = {"iterations": iterations, "launches_of_one": sizes, "launches": len(launches), **more_details}
    return Picks(
        stratum=stratum,
        labels=tuple(iteration.label for iteration in stretches),
        row=np.concatenate([np.arange(iteration.start, iteration.stop) for iteration in stretches]),
        weight=np.repeat(np.array(iterations, dtype=np.float64), sizes),
        notes=(*notes, *more_notes),
        details=details,
    )


def _iteration_by_ids(launches: LaunchList, options: Options) -> _Iteration:
    first, last, iterations = options.first, options.last, options.iterations
    if first is None or last is None or iterations is None:
        raise OptionError(f"{NAME}.first, .last and .iterations go together", remedy=GIVE_IDS)
    start, stop = np.searchsorted(launches.id, [first, last + 1]).tolist()
    if start == stop or (launches.last_id is not None and last > launches.last_id):
        raise NotApplicableError(
            f"launches {first} to {last} are not in the profile, or not selected",
            remedy=f"the ids selected lie between {launches.id[0]} and {launches.id[-1]}",
        )
    label, missing = f"all launches, by those from {first} to {last}", last + 1 - first - (stop - start)
    return _Iteration(start, stop, iterations, np.arange(len(launches)), label, missing)


def _iterations_in_loops(
    launches: LaunchList, options: Options
) -> tuple[list[_Iteration], list[str], dict[str, Any]]:
    """Return an iteration of the loop of each process and device that has one, notes and details.

    A loop is of launches of the same kernels and shapes, else of the same kernels alone.
    """
    edges = np.flatnonzero(np.diff(launches.sequence, prepend=-1, append=-1)).tolist()
    occurrence = _SECOND if options.occurrence is None else options.occurrence
    names = launches.kernels.signature_names()[launches.signature].astype(np.int64)
    stretches, found_by, numbers = list[_Iteration](), list[str](), list[int]()
    is_covered = np.zeros(len(launches), dtype=np.bool_)
    for row, stop in pairwise(edges):
        for by, codes in (("launch", launches.signature[row:stop]), ("name", names[row:stop])):
            loop = find_iterations(codes)
            if loop is None or loop.equal_launches < MOST * len(codes):
                continue
            place = f" in process and device number {launches.sequence[row] + 1}" if len(edges) > 2 else ""
            if occurrence >= len(loop.first):
                raise NotApplicableError(
                    f"no iteration {occurrence} is found{place}",
                    remedy=f"{NAME}.occurrence counts from 0, and there are {len(loop.first):,}",
                )
            start, rows = row + int(loop.first[occurrence]), np.arange(row + loop.start, row + loop.stop)
            iterations = options.iterations or len(rows) / loop.launches
            label = f"the loop found{place}"
            stretches.append(_Iteration(start, start + loop.launches, iterations, rows, label))
            found_by.append(by)
            numbers.append(len(loop.first))
            is_covered[(row + loop.first)[:, np.newaxis] + np.arange(loop.launches)] = True
            break
    if not stretches:
        raise NotApplicableError(
            f"{NAME} finds no sequence of kernels that most launches repeat",
            remedy=f"set {NAME}.range to the name of a range, or {GIVE_IDS}",
        )
    share = float(is_covered.mean())
    share_of_time = float(launches.duration_ns[is_covered].sum() / max(int(launches.duration_ns.sum()), 1))
    first, last = launches.id[[stretches[0].start, stretches[0].stop - 1]].tolist()
    of_these = f"{numbers[0]} iterations, {100 * share:.3g} % of the launches"
    notes = [f"found by the order of the launches: {first} to {last} are one of {of_these}"]
    if uncovered := len(launches) - sum(len(iteration.stands_for) for iteration in stretches):
        notes.append(f"{counted(uncovered, 'launch', 'launches')} before and after the loop: not counted")
    details = {"found": numbers, "found_by": found_by, "share": share, "share_of_time": share_of_time}
    return stretches, notes, details


def _iterations_in_ranges(launches: LaunchList, text: str, options: Options) -> list[_Iteration]:
    """Return the iteration of each process and device that has one."""
    ranges = () if launches.ranges_named is None else launches.ranges_named(text) or ()
    if not ranges:
        raise NotApplicableError(
            f"no launch was issued during a range whose name contains {text!r}", remedy=GIVE_IDS
        )
    if not is_named(ranges[0].text, text) and options.iterations is None:
        raise NotApplicableError(
            f"no range is named exactly {text!r}, but {ranges[0].text!r} is, so it is not known how many "
            "iterations there are",
            remedy=f"set {NAME}.iterations too",
        )
    occurrence, largest, stretches = options.occurrence or 0, 0, []
    sequences = sorted({span.sequence for span in ranges} & set(np.unique(launches.sequence).tolist()))
    for sequence in sequences:
        sequence_ranges = [span for span in ranges if span.sequence == sequence]
        largest = max(largest, len(sequence_ranges))
        ends = np.array([(span.first_ordinal, span.stop_ordinal) for span in sequence_ranges], dtype=np.int64)
        start, stop = np.searchsorted(launches.id, launches.first_ids[sequence] + ends).T
        if occurrence >= len(sequence_ranges) or start[occurrence] == stop[occurrence]:
            continue
        # A range the selection leaves nothing of adds nothing to the total either.
        iterations = options.iterations or float((stop > start).sum())
        rows = [np.arange(first, last) for first, last in zip(start.tolist(), stop.tolist(), strict=True)]
        place = f" of process and device number {sequence + 1}" if len(sequences) > 1 else ""
        first, last = int(start[occurrence]), int(stop[occurrence])
        missing = int(ends[occurrence, 1] - ends[occurrence, 0]) - (last - first)
        covered = np.unique(np.concatenate(rows))
        stretches.append(
            _Iteration(
                first,
                last,
                iterations,
                covered,
                f"range {sequence_ranges[occurrence].text!r}{place}",
                missing,
            )
        )
    if not stretches:
        raise NotApplicableError(
            f"no launch of range {text!r}, occurrence {occurrence}, is selected",
            remedy=f"there are {largest} of it among the selected processes and devices, counted from 0",
        )
    return stretches


METHOD = Method(
    name=NAME,
    source="Principal Kernel Analysis, single iteration (baseline)",
    description="The launches of one iteration of the program's loop stand for all iterations.",
    needs=(
        "a loop of the same kernels, a named range (NVTX, annotation), or the launch ids of one iteration",
    ),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
