"""Whether a trace has the launches of a profile: which of the trace's is which of the profile's.

Accel-Sim's tracer writes ``stats.csv`` (every launch, traced or not) and ``kernelslist`` (those traced;
what each is stands in the head of its trace), MacSim's tracer ``kernel_names.txt`` (every launch). Where each
number of such a list is the place of a launch of the same kernel in the profile, that is the answer. Else
launches are matched in their order, as many as can be, by name, grid and block: the longest common
subsequence of two lists that are nearly the same, or one nearly within the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, PlanFileError
from sampling.features.names import reconcile_names
from sampling.parallel import Progress
from sampling.plan.other_recording import find_original
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import LaunchSequence, Profile
from sampling.record import Dimensions, Index, Record
from sampling.simulators.measured_run import SeenKernel, TraceList
from sampling.text import Wording, counted, listed

#: At most so many diagonals are looked at: some ten seconds
MOST_STEPS = 5_000_000
_SHORT_RUN = 12


class ListedLaunch(NamedTuple):
    """A launch as one side lists it."""

    number: int  #: launch id of the profile, or the tracer's number
    kernel: SeenKernel

    @property
    def of_profile(self) -> ProfileLaunch:
        """It as a launch of a profile."""
        return ProfileLaunch.from_attributes(self.kernel, id=self.number)

    @property
    def of_trace(self) -> TraceLaunch:
        """It as a launch of a trace."""
        return TraceLaunch.from_attributes(self.kernel, number=self.number)


class ProfileLaunch(Record, frozen=True):
    """A launch of a profile."""

    id: Index
    name: str
    grid: Dimensions | None
    block: Dimensions | None


class TraceLaunch(Record, frozen=True):
    """A launch of a trace, with the tracer's number."""

    number: Index
    name: str
    grid: Dimensions | None
    block: Dimensions | None


class AlignedLaunch(Record, frozen=True):
    """A launch of a profile, a trace or both; None where it has no id, or no number."""

    id: Index | None
    number: Index | None
    name: str
    grid: Dimensions | None
    block: Dimensions | None


class FirstDifference(Record, frozen=True):
    """The first launches of either side after those at the start that both have; None at its end."""

    profile: ProfileLaunch | None
    trace: TraceLaunch | None


class AlignmentSummary(Record, frozen=True):
    """Which launches of a trace and of a plan's profile are not in the other."""

    matched: Index
    missing_in_trace: list[ProfileLaunch]
    missing_in_profile: list[TraceLaunch]
    first_difference: FirstDifference | None
    #: Whether the trace's own numbers tell, or the order of the launches.
    matched_by: Literal["number", "order"]
    #: How many launches the plan draws here, and the ids of those that the trace lacks.
    drawn: Index
    drawn_missing: list[Index]


@dataclass(frozen=True, slots=True, eq=False)
class TraceAlignment:
    """Which launch of a trace is which of a profile's process and device."""

    by: Literal["number", "order"]  #: whether the trace's own numbers tell, or the order of the launches
    #: (m,) launch ids of the profile and the tracer's numbers of the matched ones, ascending
    ids: IntArray
    numbers: IntArray
    missing_in_trace: IntArray  #: (a,) ids of the launches that the profile alone has
    missing_in_profile: IntArray  #: (b,) places in the trace's list of those that it alone has
    #: how many launches the plan draws here, and the ids of those that the trace lacks
    drawn_count: int
    drawn_missing: tuple[int, ...]
    notes: tuple[str, ...]  #: what could not be compared
    profile: Profile
    sequence: LaunchSequence
    signature: IntArray  #: (n,) the signature code of each launch of the profile's sequence
    trace: TraceList

    def profile_launch(self, launch_id: int) -> ListedLaunch:
        """Return a launch of the profile."""
        signature = self.profile.kernels.signature(int(self.signature[launch_id - self.sequence.first_id]))
        name = self.profile.kernels.names.full(signature.name)
        return ListedLaunch(launch_id, SeenKernel(name, signature.grid, signature.block))

    def trace_launch(self, place: int) -> ListedLaunch:
        """Return a launch of the trace by its place in the list."""
        return ListedLaunch(int(self.trace.number[place]), self.trace.kernels[self.trace.kernel[place]])

    def summary(self) -> AlignmentSummary:
        """Return the same for a command's output, launch by launch."""
        first = None
        if self.first_difference is not None:
            here, there = self.first_difference
            first = FirstDifference(
                None if here is None else here.of_profile, None if there is None else there.of_trace
            )
        return AlignmentSummary(
            matched=len(self.ids),
            missing_in_trace=[
                self.profile_launch(number).of_profile for number in self.missing_in_trace.tolist()
            ],
            missing_in_profile=[
                self.trace_launch(place).of_trace for place in self.missing_in_profile.tolist()
            ],
            first_difference=first,
            matched_by=self.by,
            drawn=self.drawn_count,
            drawn_missing=list(self.drawn_missing),
        )

    def list_launches(self) -> list[AlignedLaunch]:
        """Return all launches of the profile, then those that the trace alone has."""
        number_of = dict(zip(self.ids.tolist(), self.numbers.tolist(), strict=True))
        first_id = self.sequence.first_id
        launches = []
        for number, kernel in map(self.profile_launch, range(first_id, first_id + len(self.signature))):
            launches.append(AlignedLaunch.from_attributes(kernel, id=number, number=number_of.get(number)))
        for number, kernel in map(self.trace_launch, self.missing_in_profile.tolist()):
            launches.append(AlignedLaunch.from_attributes(kernel, id=None, number=number))
        return launches

    @property
    def first_difference(self) -> tuple[ListedLaunch | None, ListedLaunch | None] | None:
        """The first launches of either side after those at the start that both have; None where all are."""
        first, sizes = self.sequence.first_id, (len(self.signature), len(self.trace.number))
        missing = [*(self.missing_in_trace[:1] - first).tolist(), *self.missing_in_profile[:1].tolist()]
        if not missing:
            return None
        same = min(*missing, *sizes)
        launch = self.profile_launch(first + same) if same < sizes[0] else None
        return launch, self.trace_launch(same) if same < sizes[1] else None


def align(
    plan: PlanFile,
    trace: TraceList,
    *,
    process: int | None = None,
    device: int | None = None,
    progress: Progress | None = None,
) -> TraceAlignment:
    """Match the launches of a plan's profile, of a process and device or the plan's own, with a trace's.

    Raises PlanFileError: the profile is not there any more, or has changed; OptionError: there are several
    processes and devices to choose from, or none is as chosen; AnalysisError: see `align_launches`.
    """
    profile, why_not = find_original(plan, progress)
    if profile is None:
        raise PlanFileError(
            f"its profile's launches cannot be listed: {why_not}",
            path=plan.path,
            remedy="put the profile back in its place, or make the plan again",
        )
    sequences = [
        sequence
        for sequence in profile.sequences
        if process in {None, sequence.process} and device in {None, sequence.device}
    ]
    drawn_from = {(launch.process, launch.device) for launch in plan.drawn}
    of_plan = [sequence for sequence in sequences if (sequence.process, sequence.device) in drawn_from]
    candidates = of_plan if len(sequences) > 1 else sequences
    if len(candidates) != 1:
        named = listed([f"{sequence.process}:{sequence.device}" for sequence in profile.sequences])
        raise OptionError(
            f"a trace is of one process and device, and the profile has {named} (process:device)",
            remedy=Wording("choose the traced one with `process` and `device`"),
        )
    place = candidates[0].process, candidates[0].device
    drawn_ids = [launch.id for launch in plan.drawn if (launch.process, launch.device) == place]
    return align_launches(profile, candidates[0], trace, drawn_ids)


def align_launches(
    profile: Profile, sequence: LaunchSequence, trace: TraceList, drawn_ids: list[int]
) -> TraceAlignment:
    """Match the launches of one process and device of a profile, some of them drawn, with those of a trace.

    Raises AnalysisError where the two are too different to be of one program.
    """
    index = profile.sequences.index(sequence)
    parts = [part for part in profile.parts if part.sequence == index]
    signature = np.concatenate([part.load(("signature",))["signature"].astype(np.int64) for part in parts])
    of_profile, of_trace, notes = _common_codes(profile, signature, trace)
    profile_codes, trace_codes = of_profile[signature], of_trace[trace.kernel]
    by: Literal["number", "order"] = "number"
    places = np.argsort(trace.number)
    rows = trace.number[places] - trace.first_number
    is_in = rows[0] >= 0 and rows[-1] < len(profile_codes) and (np.diff(rows) > 0).all()
    if not is_in or (profile_codes[rows] != trace_codes[places]).any():
        by, matches = "order", common_subsequence(profile_codes, trace_codes)
        if matches is None:
            raise AnalysisError(
                f"{trace.path} and the profile differ in too many launches to be of one program",
                remedy="trace the program that was profiled, with the same input and settings",
            )
        rows, places = matches
    in_trace = np.zeros(len(profile_codes), dtype=np.bool_)
    in_profile = np.zeros(len(trace_codes), dtype=np.bool_)
    in_trace[rows], in_profile[places] = True, True
    planned = np.unique(np.array(drawn_ids, dtype=np.int64))
    return TraceAlignment(
        by=by,
        ids=sequence.first_id + rows,
        numbers=trace.number[places],
        missing_in_trace=sequence.first_id + np.flatnonzero(~in_trace),
        missing_in_profile=np.flatnonzero(~in_profile),
        drawn_count=len(drawn_ids),
        drawn_missing=tuple(planned[~in_trace[planned - sequence.first_id]].tolist()),
        notes=notes,
        profile=profile,
        sequence=sequence,
        signature=signature,
        trace=trace,
    )


def _common_codes(
    profile: Profile, signature: IntArray, trace: TraceList
) -> tuple[IntArray, IntArray, tuple[str, ...]]:
    """Return one code for each kernel that a profile and a trace have, however they spell it.

    That of each signature of the profile; that of each kernel of the trace, where one that the profile lacks
    has a code of its own; what could not be compared, in words.
    """
    rows = profile.kernels.signature_rows()
    used = np.bincount(signature, minlength=len(rows)) > 0
    used_names = np.bincount(rows[used, 0], minlength=len(profile.kernels.names)) > 0
    names = list(dict.fromkeys(kernel.name for kernel in trace.kernels))
    codes, ambiguous = reconcile_names(profile.kernels.names, used_names, names)
    name_code = dict(zip(names, codes.tolist(), strict=True))
    columns = [0]
    keys: list[tuple[int, ...]] = [(name_code[kernel.name],) for kernel in trace.kernels]
    notes: list[str] = []
    for dimension, first in (("grid", 1), ("block", 4)):
        sizes = [getattr(kernel, dimension) for kernel in trace.kernels]
        # What either side does not say of any launch is not compared.
        if (rows[used, first] > 0).all() and None not in sizes:
            columns += range(first, first + 3)
            keys = [(*key, *size) for key, size in zip(keys, sizes, strict=True)]
        else:
            notes.append(f"{dimension}s are not compared: one side does not have them of every launch")
    kernels, of_profile = np.unique(rows[:, columns], axis=0, return_inverse=True)
    code_of = {tuple(row): code for code, row in enumerate(kernels.tolist())}
    of_trace = [code_of.get(key, len(kernels) + place) for place, key in enumerate(keys)]
    if ambiguous:
        several = counted(len(ambiguous), "name of the trace", "names of the trace")
        notes.append(
            f"{several} can be more than one kernel of the profile, and count as missing: "
            f"{listed(ambiguous, limit=2)}"
        )
    return of_profile.reshape(-1), np.array(of_trace, dtype=np.int64), tuple(notes)


def common_subsequence(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return (m,) the places in either list of codes of a longest common subsequence, ascending.

    None where the two differ so much that it would take more than `MOST_STEPS`. A search over diagonals, on
    each of which the longer list is ahead by the same number of places: the work is the product of the
    entries that the longer list alone has and those that the shorter one alone has, each and one more. S. Wu,
    U. Manber, G. Myers, W. Miller, An O(NP) Sequence Comparison Algorithm, Information Processing Letters 35,
    1990.
    """
    # What the other list has nowhere is left out.
    common = np.flatnonzero(np.isin(first, second)), np.flatnonzero(np.isin(second, first))
    lists = first[common[0]], second[common[1]]
    swapped = len(lists[0]) > len(lists[1])
    shorter, longer = lists[::-1] if swapped else lists
    # Scalars of lists are compared much faster than those of arrays.
    short_list, long_list = shorter.tolist(), longer.tolist()
    last = len(long_list) - len(short_list)
    # The furthest place in the longer list that each diagonal has reached, and the last run of equal entries
    # on the way to it with those before it; Python's own indexing from the end serves diagonals below 0.
    furthest = [-1] * (len(short_list) + len(long_list) + 3)
    last_run: list[Any] = [None] * len(furthest)
    lacking = steps = 0
    while short_list and furthest[last] < len(long_list):
        if steps > MOST_STEPS:
            return None
        for diagonal in (*range(-lacking, last), *range(last + lacking, last - 1, -1)):
            # Come from the diagonal beside it that is further, and go on through equal entries.
            below, above = furthest[diagonal - 1] + 1, furthest[diagonal + 1]
            place, run = (below, diagonal - 1) if below >= above else (above, diagonal + 1)
            start = position = place - diagonal
            end = min(len(short_list), len(long_list) - diagonal)
            near, size = min(end, position + _SHORT_RUN), _SHORT_RUN
            while position < near and short_list[position] == long_list[position + diagonal]:
                position += 1
            # A long run is compared in ever larger pieces.
            while position == near < end:
                size *= 2
                near = min(position + size, end)
                same = shorter[position:near] == longer[position + diagonal : near + diagonal]
                position += len(same) if same.all() else int(np.argmin(same))
            furthest[diagonal] = position + diagonal
            last_run[diagonal] = last_run[run]
            if position > start:
                last_run[diagonal] = last_run[run], start, position, diagonal
        lacking += 1
        steps += last + 2 * lacking
    places: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    ahead: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    node = last_run[last] if short_list else None
    while node is not None:
        node, start, position, diagonal = node
        places.append(np.arange(start, position))
        ahead.append(np.arange(start, position) + diagonal)
    matches = np.sort(np.concatenate(places)), np.sort(np.concatenate(ahead))
    mine, its = matches[::-1] if swapped else matches
    return common[0][mine], common[1][its]
