"""Whether a trace has the launches of a profile: which of the trace's is which of the profile's.

Accel-Sim's tracer writes ``stats.csv`` (every launch, traced or not) and ``kernelslist`` (those traced;
what each is stands in the head of its trace), MacSim's tracer ``kernel_names.txt`` (every launch). Where each
number of such a list is the place of a launch of the same kernel in the profile, that is the answer. Else
launches are matched in their order, as many as can be, by name, grid and block: the longest common
subsequence of two lists that are nearly the same, or one nearly within the other.

The work is the product of two numbers, the entries that the longer list alone has and those that the
shorter one alone has, each and one more: a list that merely lacks some entries costs little. Entries that the
other list has nowhere, and equal beginnings and ends, are left out before. S. Wu, U. Manber, G. Myers,
W. Miller, An O(NP) Sequence Comparison Algorithm, Information Processing Letters 35, 1990.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import AnalysisError, OptionError, PlanFileError, ProfileError
from sampling.features.names import reconcile_names
from sampling.plan.other_recording.plan_judgement import find_original
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import LaunchSequence, Profile
from sampling.progress import Progress
from sampling.readers.input_file import open_input
from sampling.simulators.measured_run import SeenKernel, TraceList
from sampling.text import Wording, counted, listed

#: The lists of a folder, that of all launches before that of the traced ones.
_IN_A_FOLDER = ("stats.csv", "kernel_names.txt", "kernelslist.g", "kernelslist")
#: Modules with recognises_list(head: bytes) -> bool and read_list(file: InputFile) -> TraceList.
_LIST_READERS = ("sampling.simulators.accel_sim_traces", "sampling.simulators.macsim")
#: At most so many diagonals are looked at: some ten seconds.
MOST_STEPS = 5_000_000
_LONG_RUN = 12


def read_trace_list(path: str) -> TraceList:
    """Read a list of launches, or that of a folder of traces; "-" is standard input.

    Raises
    ------
    ProfileError : there is none, it is of no known format, lists nothing, or is damaged.
    """
    folder = Path(path)
    if folder.is_dir():
        there = [str(folder / name) for name in _IN_A_FOLDER if (folder / name).is_file()]
        if not there:
            raise ProfileError(
                f"no {', '.join(_IN_A_FOLDER[:-1])} or {_IN_A_FOLDER[-1]} is there",
                path=path,
                remedy="give the folder of the traces, or the tracer's list itself",
            )
        path = there[0]
    with open_input(path) as file:
        for reader in map(import_module, _LIST_READERS):
            if reader.recognises_list(file.head):
                found: TraceList = reader.read_list(file)
                return found
        raise ProfileError(
            "neither stats.csv or kernelslist of Accel-Sim's tracer, nor kernel_names.txt of MacSim's",
            path=file.path,
            remedy="give one of them, or the folder of the traces",
        )


@dataclass(frozen=True, slots=True)
class ListedLaunch:
    """A launch as one side lists it.

    Attributes
    ----------
    number : launch id of the profile, or the tracer's number.
    """

    number: int
    kernel: SeenKernel


@dataclass(frozen=True, slots=True, eq=False)
class TraceAlignment:
    """Which launch of a trace is which of a profile's process and device.

    Attributes
    ----------
    by : whether the trace's own numbers tell, or the order of the launches.
    ids, numbers : (m,) launch ids of the profile and the tracer's numbers of the matched ones, ascending.
    missing_in_trace : (a,) ids of the launches that the profile alone has.
    missing_in_profile : (b,) places in the trace's list of those that it alone has.
    first_difference : the first launches of either side where the two part; None where they do not.
    drawn, drawn_missing : how many launches the plan draws here, and the ids of those that the trace lacks.
    notes : what could not be compared.
    lists : the launches of both sides.
    """

    by: Literal["number", "order"]
    ids: IntArray
    numbers: IntArray
    missing_in_trace: IntArray
    missing_in_profile: IntArray
    first_difference: tuple[ListedLaunch | None, ListedLaunch | None] | None
    drawn: int
    drawn_missing: tuple[int, ...]
    notes: tuple[str, ...]
    lists: BothLists


def align(
    plan: PlanFile,
    trace: TraceList,
    *,
    process: int | None = None,
    device: int | None = None,
    progress: Progress | None = None,
) -> TraceAlignment:
    """Match the launches of a plan's profile with those of a trace.

    Parameters
    ----------
    process, device : which of the profile was traced; None: that of the plan's launches.

    Raises
    ------
    PlanFileError : the profile is not there any more, or has changed.
    OptionError : there are several processes and devices to choose from, or none is as chosen.
    AnalysisError : the two are too different to be of one program.
    """
    original = find_original(plan, progress)
    if original.profile is None:
        raise PlanFileError(
            f"its profile's launches cannot be listed: {original.why_not}",
            path=plan.path,
            remedy="put the profile back in its place, or make the plan again",
        )
    sequence = _sequence(original.profile, plan, process, device)
    drawn = [
        launch.id
        for launch in plan.drawn
        if (launch.process, launch.device) == (sequence.process, sequence.device)
    ]
    return align_launches(original.profile, sequence, trace, drawn)


def align_launches(
    profile: Profile, sequence: LaunchSequence, trace: TraceList, drawn: list[int]
) -> TraceAlignment:
    """Match the launches of one process and device of a profile with those of a trace.

    Parameters
    ----------
    drawn : the ids of those that a plan draws.

    Raises
    ------
    AnalysisError : the two are too different to be of one program.
    """
    signature = _signatures(profile, sequence)
    codes = _CommonCodes(profile, signature, trace)
    here, there = codes.of_profile[signature], codes.of_trace[trace.kernel]
    rows, places = _by_number(here, there, trace)
    by: Literal["number", "order"] = "number"
    if rows is None or places is None:
        by, found = "order", common_subsequence(here, there)
        if found is None:
            raise AnalysisError(
                f"{trace.path} and the profile differ in too many launches to be of one program",
                remedy="trace the program that was profiled, with the same input and settings",
            )
        rows, places = found
    lists = BothLists(profile, sequence, signature, trace)
    in_trace, in_profile = np.zeros(len(here), dtype=np.bool_), np.zeros(len(there), dtype=np.bool_)
    in_trace[rows], in_profile[places] = True, True
    return TraceAlignment(
        by=by,
        ids=sequence.first_id + rows,
        numbers=trace.number[places],
        missing_in_trace=sequence.first_id + np.flatnonzero(~in_trace),
        missing_in_profile=np.flatnonzero(~in_profile),
        first_difference=lists.first_difference(in_trace, in_profile),
        drawn=len(drawn),
        drawn_missing=tuple(each for each in sorted(set(drawn)) if not in_trace[each - sequence.first_id]),
        notes=tuple(codes.notes()),
        lists=lists,
    )


def _sequence(profile: Profile, plan: PlanFile, process: int | None, device: int | None) -> LaunchSequence:
    chosen = [
        each
        for each in profile.sequences
        if process in {None, each.process} and device in {None, each.device}
    ]
    if len(chosen) > 1:
        drawn = {(launch.process, launch.device) for launch in plan.drawn}
        chosen = [each for each in chosen if (each.process, each.device) in drawn]
    if len(chosen) != 1:
        named = listed([f"{each.process}:{each.device}" for each in profile.sequences])
        raise OptionError(
            f"a trace is of one process and device, and the profile has {named} (process:device)",
            remedy=Wording("choose the traced one with `process` and `device`"),
        )
    return chosen[0]


def _signatures(profile: Profile, sequence: LaunchSequence) -> IntArray:
    """Return (launches,) the signature code of each launch of a sequence."""
    index = profile.sequences.index(sequence)
    spans = [span for span in profile.spans if span.sequence == index]
    return np.concatenate(
        [profile.read(span, ("signature",))["signature"].astype(np.int64) for span in spans]
    )


class _CommonCodes:
    """One code for each kernel that a profile and a trace have, however they spell it.

    Attributes
    ----------
    of_profile : (signatures,) the code of each signature of the profile.
    of_trace : (kernels,) that of each kernel of the trace; one that the profile lacks has a code of its own.
    """

    def __init__(self, profile: Profile, signature: IntArray, trace: TraceList) -> None:
        rows = profile.kernels.signature_rows()
        used = np.zeros(len(rows), dtype=np.bool_)
        used[signature] = True
        used_names = np.zeros(len(profile.kernels.names), dtype=np.bool_)
        used_names[rows[used, 0]] = True
        names = list(dict.fromkeys(kernel.name for kernel in trace.kernels))
        found = reconcile_names(profile.kernels.names, used_names, names)
        self._ambiguous = found.ambiguous
        # What either side does not say of any launch is not compared.
        self._has = tuple(
            bool((rows[used, first] > 0).all()) and all(each is not None for each in sizes)
            for first, sizes in (
                (1, [kernel.grid for kernel in trace.kernels]),
                (4, [kernel.block for kernel in trace.kernels]),
            )
        )
        columns = [0, *(range(1, 4) if self._has[0] else ()), *(range(4, 7) if self._has[1] else ())]
        kept, self.of_profile = np.unique(rows[:, columns], axis=0, return_inverse=True)
        self.of_profile = self.of_profile.reshape(-1)
        code_of = {tuple(row): code for code, row in enumerate(kept.tolist())}
        name_code = dict(zip(names, found.code.tolist(), strict=True))
        self.of_trace = np.array(
            [
                code_of.get(self._key(name_code[kernel.name], kernel), len(kept) + place)
                for place, kernel in enumerate(trace.kernels)
            ],
            dtype=np.int64,
        )

    def _key(self, name: int, kernel: SeenKernel) -> tuple[int, ...]:
        grid = kernel.grid if self._has[0] and kernel.grid else ()
        block = kernel.block if self._has[1] and kernel.block else ()
        return (name, *grid, *block)

    def notes(self) -> Iterator[str]:
        """Yield what could not be compared."""
        for has, what in zip(self._has, ("grids", "blocks"), strict=True):
            if not has:
                yield f"{what} are not compared: one side does not have them of every launch"
        if self._ambiguous:
            several = counted(len(self._ambiguous), "name of the trace", "names of the trace")
            yield (
                f"{several} can be more than one kernel of the profile, and count as missing: "
                f"{listed(self._ambiguous, most=2)}"
            )


def _by_number(
    here: IntArray, there: IntArray, trace: TraceList
) -> tuple[IntArray, IntArray] | tuple[None, None]:
    """Return the places of the same launches where each number is the place of its launch in the profile."""
    row = trace.number - trace.first_number
    if row.min() < 0 or row.max() >= len(here) or (here[row] != there).any():
        return None, None
    places = np.argsort(row)
    row = row[places]
    return (row, places) if (np.diff(row) > 0).all() else (None, None)


@dataclass(frozen=True, slots=True, eq=False)
class BothLists:
    """The launches of both sides, to be named one by one.

    Attributes
    ----------
    signature : (n,) the signature code of each launch of the profile's sequence.
    known : the kernels of signatures that have been named.
    """

    profile: Profile
    sequence: LaunchSequence
    signature: IntArray
    trace: TraceList
    known: dict[int, SeenKernel] = field(default_factory=dict)

    def here(self, launch_id: int) -> ListedLaunch:
        """Return a launch of the profile."""
        code = int(self.signature[launch_id - self.sequence.first_id])
        if code not in self.known:
            kernels = self.profile.kernels
            found = kernels.signature(code)
            self.known[code] = SeenKernel(kernels.names.full(found.name), found.grid, found.block)
        return ListedLaunch(launch_id, self.known[code])

    def there(self, place: int) -> ListedLaunch:
        """Return a launch of the trace by its place in the list."""
        return ListedLaunch(int(self.trace.number[place]), self.trace.kernels[self.trace.kernel[place]])

    def first_difference(
        self, in_trace: BoolArray, in_profile: BoolArray
    ) -> tuple[ListedLaunch | None, ListedLaunch | None] | None:
        """Return the first launch of either side after those at the start that both have."""
        if in_trace.all() and in_profile.all():
            return None
        same = min(_leading(in_trace), _leading(in_profile))
        return (
            self.here(self.sequence.first_id + same) if same < len(in_trace) else None,
            self.there(same) if same < len(in_profile) else None,
        )


def _leading(is_there: BoolArray) -> int:
    return len(is_there) if is_there.all() else int(np.argmin(is_there))


def common_subsequence(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return (m,) the places in either list of a longest common subsequence, ascending.

    Parameters
    ----------
    one, other : (n,) and (k,) codes; equal entries have the same.

    Returns
    -------
    None where the two differ so much that it would take more than `MOST_STEPS`.
    """
    first, second = np.flatnonzero(np.isin(one, other)), np.flatnonzero(np.isin(other, one))
    found = _matched(one[first], other[second])
    return None if found is None else (first[found[0]], second[found[1]])


def _matched(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return the places of a common subsequence, with equal beginnings and ends taken off first."""
    shorter = min(len(one), len(other))
    head = _equal_entries(one[:shorter] == other[:shorter])
    tail = _equal_entries(one[::-1][: shorter - head] == other[::-1][: shorter - head])
    inner = _of_middle(one[head : len(one) - tail], other[head : len(other) - tail])
    if inner is None:
        return None
    parts = [
        np.concatenate([np.arange(head), head + middle, np.arange(size - tail, size)])
        for middle, size in zip(inner, (len(one), len(other)), strict=True)
    ]
    return parts[0], parts[1]


def _equal_entries(is_equal: BoolArray) -> int:
    """Return how many entries are equal before the first that is not."""
    return len(is_equal) if is_equal.all() else int(np.argmin(is_equal))


def _of_middle(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    if len(one) > len(other):
        swapped = _of_middle(other, one)
        return None if swapped is None else (swapped[1], swapped[0])
    if not len(one):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    search = _Search(one, other)
    return search.places() if search.has_reached_the_end() else None


@dataclass(slots=True)
class _Search:
    """A search over diagonals, on each of which the place in the longer list is ahead by the same number.

    Attributes
    ----------
    furthest : the furthest place in the longer list that each diagonal has reached; Python's own indexing
        from the end serves the diagonals below 0.
    last_run : the last run of equal entries on the way to it, as an index into the runs; -1: none.
    before, start, length : of each run: the one before it, its place in the shorter list, its entries.
    ahead : of each run, how far its place in the longer list is ahead.
    """

    shorter: IntArray
    longer: IntArray
    furthest: list[int] = field(init=False)
    last_run: array[int] = field(init=False)
    before: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    length: array[int] = field(default_factory=lambda: array("q"))
    ahead: array[int] = field(default_factory=lambda: array("q"))

    def __post_init__(self) -> None:
        diagonals = len(self.shorter) + len(self.longer) + 3
        self.furthest = [-1] * diagonals
        self.last_run = array("q", [-1]) * diagonals

    def has_reached_the_end(self) -> bool:
        """Search until both lists are at their end; False where that takes too long."""
        last = len(self.longer) - len(self.shorter)
        # Scalars of lists are compared much faster than those of arrays.
        shorter, longer = self.shorter.tolist(), self.longer.tolist()
        lacking, steps = 0, 0
        while steps <= MOST_STEPS:
            for diagonal in range(-lacking, last):
                self._go_on(diagonal, shorter, longer)
            for diagonal in range(last + lacking, last - 1, -1):
                self._go_on(diagonal, shorter, longer)
            if self.furthest[last] == len(longer):
                return True
            lacking += 1
            steps += last + 2 * lacking
        return False

    def _go_on(self, diagonal: int, shorter: list[int], longer: list[int]) -> None:
        """Come to a diagonal from one beside it, whichever is further, and on through equal entries."""
        furthest = self.furthest
        below, above = furthest[diagonal - 1] + 1, furthest[diagonal + 1]
        place, run = (below, diagonal - 1) if below >= above else (above, diagonal + 1)
        start = at = place - diagonal
        rows, columns = len(shorter), len(longer)
        until = min(rows, columns - diagonal)
        near = min(until, at + _LONG_RUN)
        while at < near and shorter[at] == longer[at + diagonal]:
            at += 1
        if at == start + _LONG_RUN:
            at = self._end_of_long_run(at, until, diagonal)
        furthest[diagonal] = at + diagonal
        if at == start:
            self.last_run[diagonal] = self.last_run[run]
            return
        self.before.append(self.last_run[run])
        self.start.append(start)
        self.length.append(at - start)
        self.ahead.append(diagonal)
        self.last_run[diagonal] = len(self.start) - 1

    def _end_of_long_run(self, at: int, until: int, diagonal: int) -> int:
        size = 8 * _LONG_RUN
        while at < until:
            stop = min(at + size, until)
            differs = self.shorter[at:stop] != self.longer[at + diagonal : stop + diagonal]
            if differs.any():
                return at + int(np.argmax(differs))
            at, size = stop, 2 * size
        return at

    def places(self) -> tuple[IntArray, IntArray]:
        """Return the places of equal entries on the way found, in the shorter list and the longer."""
        run = self.last_run[len(self.longer) - len(self.shorter)]
        empty = np.zeros(0, dtype=np.int64)
        ones, others = [empty], [empty]
        while run >= 0:
            places = np.arange(self.start[run], self.start[run] + self.length[run])
            ones.append(places)
            others.append(places + self.ahead[run])
            run = self.before[run]
        return np.concatenate(ones[::-1]), np.concatenate(others[::-1])
