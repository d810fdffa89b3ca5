"""Whether a trace has the launches of a profile: which of the trace's is which of the profile's.

Where each number of the trace is the place of a launch of the same kernel in the profile, that is the answer.
Else launches are matched in their order, as many as can be, by name, grid and block: the longest common
subsequence, which a tracer's list and a profile nearly are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import AnalysisError, OptionError, PlanFileError
from sampling.features.names import reconcile_names
from sampling.plan.other_recording.plan_judgement import find_original
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import LaunchSequence, Profile
from sampling.progress import Progress
from sampling.simulators.common_subsequence import common_subsequence
from sampling.simulators.measured_run import SeenKernel
from sampling.simulators.trace_list import TraceList
from sampling.text import Wording, counted, listed


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
