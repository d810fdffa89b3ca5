"""Whether a trace has the launches of a profile: which of the trace's is which of the profile's.

Accel-Sim's tracer writes ``stats.csv`` (every launch, traced or not) and ``kernelslist`` (those traced;
what each is stands in the head of its trace), MacSim's tracer ``kernel_names.txt`` (every launch). Where each
number of such a list is the place of a launch of the same kernel in the profile, that is the answer. Else
launches are matched in their order, as many as can be, by name, grid and block: the longest common
subsequence of two lists that are nearly the same, or one nearly within the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, PlanFileError, ProfileError
from sampling.features.names import reconcile_names
from sampling.parallel import Progress
from sampling.plan.other_recording import find_original
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import LaunchSequence, Profile
from sampling.readers.input_file import open_input
from sampling.simulators.measured_run import SeenKernel, TraceList
from sampling.text import Wording, counted, listed

#: The lists of a folder, that of all launches before that of the traced ones
_IN_A_FOLDER = ("stats.csv", "kernel_names.txt", "kernelslist.g", "kernelslist")
#: Modules with recognises_list(head: bytes) -> bool and read_list(file: InputFile) -> TraceList
_LIST_READERS = ("sampling.simulators.accel_sim_traces", "sampling.simulators.macsim")
#: At most so many diagonals are looked at: some ten seconds
MOST_STEPS = 5_000_000
_SHORT_RUN = 12


def read_trace_list(path: str) -> TraceList:
    """Read a list of launches, or that of a folder of traces; "-" is standard input.

    Raises ProfileError where there is none, it is of no known format, lists nothing, or is damaged.
    """
    inside = [str(Path(path) / name) for name in _IN_A_FOLDER if (Path(path) / name).is_file()]
    with open_input(inside[0] if inside else path) as file:
        for reader in map(import_module, _LIST_READERS):
            if reader.recognises_list(file.head):
                found: TraceList = reader.read_list(file)
                return found
        raise ProfileError(
            "neither stats.csv or kernelslist of Accel-Sim's tracer, nor kernel_names.txt of MacSim's",
            path=file.path,
            remedy="give one of them, or the folder of the traces",
        )


class ListedLaunch(NamedTuple):
    """A launch as one side lists it."""

    number: int  #: launch id of the profile, or the tracer's number
    kernel: SeenKernel


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
    drawn: int
    drawn_missing: tuple[int, ...]
    notes: tuple[str, ...]  #: what could not be compared
    profile: Profile
    sequence: LaunchSequence
    signature: IntArray  #: (n,) the signature code of each launch of the profile's sequence
    trace: TraceList

    def here(self, launch_id: int) -> ListedLaunch:
        """Return a launch of the profile."""
        found = self.profile.kernels.signature(int(self.signature[launch_id - self.sequence.first_id]))
        name = self.profile.kernels.names.full(found.name)
        return ListedLaunch(launch_id, SeenKernel(name, found.grid, found.block))

    def there(self, place: int) -> ListedLaunch:
        """Return a launch of the trace by its place in the list."""
        return ListedLaunch(int(self.trace.number[place]), self.trace.kernels[self.trace.kernel[place]])

    @property
    def first_difference(self) -> tuple[ListedLaunch | None, ListedLaunch | None] | None:
        """The first launches of either side after those at the start that both have; None where all are."""
        first, sizes = self.sequence.first_id, (len(self.signature), len(self.trace.number))
        missing = [*(self.missing_in_trace[:1] - first).tolist(), *self.missing_in_profile[:1].tolist()]
        if not missing:
            return None
        same = min(*missing, *sizes)
        here = self.here(first + same) if same < sizes[0] else None
        return here, self.there(same) if same < sizes[1] else None


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
    asked = [
        each
        for each in profile.sequences
        if process in {None, each.process} and device in {None, each.device}
    ]
    drawn_from = {(launch.process, launch.device) for launch in plan.drawn}
    of_plan = [each for each in asked if (each.process, each.device) in drawn_from]
    chosen = of_plan if len(asked) > 1 else asked
    if len(chosen) != 1:
        named = listed([f"{each.process}:{each.device}" for each in profile.sequences])
        raise OptionError(
            f"a trace is of one process and device, and the profile has {named} (process:device)",
            remedy=Wording("choose the traced one with `process` and `device`"),
        )
    place = chosen[0].process, chosen[0].device
    drawn = [launch.id for launch in plan.drawn if (launch.process, launch.device) == place]
    return align_launches(profile, chosen[0], trace, drawn)


def align_launches(
    profile: Profile, sequence: LaunchSequence, trace: TraceList, drawn: list[int]
) -> TraceAlignment:
    """Match the launches of one process and device of a profile, some of them drawn, with those of a trace.

    Raises AnalysisError where the two are too different to be of one program.
    """
    index = profile.sequences.index(sequence)
    parts = [part for part in profile.parts if part.sequence == index]
    signature = np.concatenate([part.load(("signature",))["signature"].astype(np.int64) for part in parts])
    of_profile, of_trace, notes = _common_codes(profile, signature, trace)
    here, there = of_profile[signature], of_trace[trace.kernel]
    by: Literal["number", "order"] = "number"
    places = np.argsort(trace.number)
    rows = trace.number[places] - trace.first_number
    is_in = rows[0] >= 0 and rows[-1] < len(here) and (np.diff(rows) > 0).all()
    if not is_in or (here[rows] != there[places]).any():
        by, found = "order", common_subsequence(here, there)
        if found is None:
            raise AnalysisError(
                f"{trace.path} and the profile differ in too many launches to be of one program",
                remedy="trace the program that was profiled, with the same input and settings",
            )
        rows, places = found
    in_trace, in_profile = np.zeros(len(here), dtype=np.bool_), np.zeros(len(there), dtype=np.bool_)
    in_trace[rows], in_profile[places] = True, True
    return TraceAlignment(
        by=by,
        ids=sequence.first_id + rows,
        numbers=trace.number[places],
        missing_in_trace=sequence.first_id + np.flatnonzero(~in_trace),
        missing_in_profile=np.flatnonzero(~in_profile),
        drawn=len(drawn),
        drawn_missing=tuple(each for each in sorted(set(drawn)) if not in_trace[each - sequence.first_id]),
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
    for what, first in (("grid", 1), ("block", 4)):
        sizes = [getattr(kernel, what) for kernel in trace.kernels]
        # What either side does not say of any launch is not compared.
        if (rows[used, first] > 0).all() and None not in sizes:
            columns += range(first, first + 3)
            keys = [(*key, *size) for key, size in zip(keys, sizes, strict=True)]
        else:
            notes.append(f"{what}s are not compared: one side does not have them of every launch")
    kept, of_profile = np.unique(rows[:, columns], axis=0, return_inverse=True)
    code_of = {tuple(row): code for code, row in enumerate(kept.tolist())}
    of_trace = [code_of.get(key, len(kept) + place) for place, key in enumerate(keys)]
    if ambiguous:
        several = counted(len(ambiguous), "name of the trace", "names of the trace")
        notes.append(
            f"{several} can be more than one kernel of the profile, and count as missing: "
            f"{listed(ambiguous, limit=2)}"
        )
    return of_profile.reshape(-1), np.array(of_trace, dtype=np.int64), tuple(notes)


def common_subsequence(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return (m,) the places in either list of codes of a longest common subsequence, ascending.

    None where the two differ so much that it would take more than `MOST_STEPS`. A search over diagonals, on
    each of which the longer list is ahead by the same number of places: the work is the product of the
    entries that the longer list alone has and those that the shorter one alone has, each and one more. S. Wu,
    U. Manber, G. Myers, W. Miller, An O(NP) Sequence Comparison Algorithm, Information Processing Letters 35,
    1990.
    """
    # What the other list has nowhere is left out.
    kept = np.flatnonzero(np.isin(one, other)), np.flatnonzero(np.isin(other, one))
    lists = one[kept[0]], other[kept[1]]
    swapped = len(lists[0]) > len(lists[1])
    shorter, longer = lists[::-1] if swapped else lists
    # Scalars of lists are compared much faster than those of arrays.
    here, there = shorter.tolist(), longer.tolist()
    last = len(there) - len(here)
    # The furthest place in the longer list that each diagonal has reached, and the last run of equal entries
    # on the way to it with those before it; Python's own indexing from the end serves diagonals below 0.
    furthest = [-1] * (len(here) + len(there) + 3)
    last_run: list[Any] = [None] * len(furthest)
    lacking = steps = 0
    while here and furthest[last] < len(there):
        if steps > MOST_STEPS:
            return None
        for diagonal in (*range(-lacking, last), *range(last + lacking, last - 1, -1)):
            # Come from the diagonal beside it that is further, and go on through equal entries.
            below, above = furthest[diagonal - 1] + 1, furthest[diagonal + 1]
            place, run = (below, diagonal - 1) if below >= above else (above, diagonal + 1)
            start = at = place - diagonal
            end = min(len(here), len(there) - diagonal)
            near, size = min(end, at + _SHORT_RUN), _SHORT_RUN
            while at < near and here[at] == there[at + diagonal]:
                at += 1
            # A long run is compared in ever larger pieces.
            while at == near < end:
                size *= 2
                near = min(at + size, end)
                same = shorter[at:near] == longer[at + diagonal : near + diagonal]
                at += len(same) if same.all() else int(np.argmin(same))
            furthest[diagonal] = at + diagonal
            last_run[diagonal] = (last_run[run], start, at, diagonal) if at > start else last_run[run]
        lacking += 1
        steps += last + 2 * lacking
    places: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    ahead: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    node = last_run[last] if here else None
    while node is not None:
        node, start, at, diagonal = node
        places.append(np.arange(start, at))
        ahead.append(np.arange(start, at) + diagonal)
    found = np.sort(np.concatenate(places)), np.sort(np.concatenate(ahead))
    mine, its = found[::-1] if swapped else found
    return kept[0][mine], kept[1][its]
