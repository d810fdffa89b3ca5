"""Two recordings of one program: whether their launches stand in the same order, and if not, where they
first differ.

Another recording numbers its processes (and often its devices) differently, so sequences are matched in
their order. Where the number of launches of each agrees, a launch has the same id in both recordings.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError
from sampling.plan.drawn_launches import find_launches_by_id
from sampling.plan.other_recording.kernel_texts import Kernel, kernel_texts
from sampling.plan.plan_file import PlannedLaunch
from sampling.profile.fingerprint import SequenceFingerprint, block_digests, signature_hashes
from sampling.profile.profile import LaunchSequence, Profile
from sampling.progress import Progress
from sampling.text import Wording

PIECE_LAUNCHES = 1 << 20
_MOST_LISTED = 6
_OTHER_PROGRAM = (
    "record the same program again with the same input and settings, or make a plan of this recording"
)
_OTHER_ORDER = f"launches are probably missing, added or in another order here: {_OTHER_PROGRAM}"
_OTHER_NAMES = Wording(
    "if it is the same program and its kernels merely have other names or grids here, give "
    "`names_may_differ`; `kernelpoint difference` shows the two recordings kernel by kernel"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is known of the recording that a plan was made from.

    Attributes
    ----------
    sequences : its sequences with their fingerprints, in id order.
    drawn : the plan's launches, in id order.
    profile : the recording itself, where it can still be read.
    """

    sequences: tuple[SequenceFingerprint, ...]
    drawn: tuple[PlannedLaunch, ...] = ()
    profile: Profile | None = None

    def first_id(self, sequence: int) -> int:
        """Return the id of a sequence's first launch."""
        return sum(earlier.launches for earlier in self.sequences[:sequence])


@dataclass(frozen=True, slots=True)
class Alignment:
    """Launch i of the one recording is launch i of the other.

    Attributes
    ----------
    renumbered : for each sequence that has other numbers here: process and device in the plan, process and
        device here.
    launches_differing : how many launches have another name, grid or block here; None where it is known only
        that some have.
    """

    renumbered: tuple[tuple[int, int, int, int], ...]
    launches_differing: int | None


@dataclass(frozen=True, slots=True)
class _FirstDifference:
    """The first difference of two sequences lies at an ordinal from ``first`` up to, not with, ``stop``.

    It may be where the shorter one ends.
    """

    sequence: int
    first: int
    stop: int


def align(
    recorded: Recorded, here: Profile, *, names_may_differ: bool = False, progress: Progress | None = None
) -> Alignment:
    """Match the launches of two recordings in their order.

    Parameters
    ----------
    names_may_differ : only compare the numbers of launches of the sequences, not their kernels.

    Raises
    ------
    AnalysisError : they do not match; says where they first differ, as narrowly as can be known.
    """
    _check_sequences(recorded, here)
    pairs = list(zip(recorded.sequences, here.sequences, strict=True))
    common = [min(there.launches, sequence.launches) for there, sequence in pairs]
    digests = block_digests(here, [there.block_launches for there, _ in pairs], common, progress)
    differing = []
    for index, (there, sequence) in enumerate(pairs):
        comparable = _comparable_blocks(there, common[index])
        differing.append(np.flatnonzero(digests[index][:comparable] != there.digests[:comparable]))
        if there.launches != sequence.launches or (len(differing[index]) and not names_may_differ):
            if names_may_differ:
                raise AnalysisError(_place(there, sequence) + _counts(there, sequence), remedy=_OTHER_PROGRAM)
            difference = _narrowed_difference(index, there, common[index], differing[index])
            raise _not_aligned(recorded, here, difference)
    return Alignment(
        renumbered=tuple(
            (there.process, there.device, sequence.process, sequence.device)
            for there, sequence in pairs
            if (there.process, there.device) != (sequence.process, sequence.device)
        ),
        launches_differing=_launches_differing(
            recorded, here, [index for index, blocks in enumerate(differing) if len(blocks)]
        ),
    )


def _check_sequences(recorded: Recorded, here: Profile) -> None:
    if len(recorded.sequences) != len(here.sequences):
        raise AnalysisError(
            f"launches of {_listed(recorded.sequences)} in the plan's recording, "
            f"of {_listed(here.sequences)} in this one",
            remedy=_OTHER_PROGRAM,
        )


def _listed(sequences: Sequence[SequenceFingerprint] | Sequence[LaunchSequence]) -> str:
    listed = [
        f"process {sequence.process} device {sequence.device} ({sequence.launches:,})"
        for sequence in sequences[:_MOST_LISTED]
    ]
    more = len(sequences) - len(listed)
    return ", ".join([*listed, f"{more} more"] if more else listed)


def _comparable_blocks(there: SequenceFingerprint, common: int) -> int:
    """Return how many blocks of the plan's recording lie wholly within the common launches."""
    return len(there.digests) if common == there.launches else common // there.block_launches


def _narrowed_difference(
    index: int, there: SequenceFingerprint, common: int, differing: IntArray
) -> _FirstDifference:
    if len(differing):
        first = int(differing[0]) * there.block_launches
        return _FirstDifference(index, first, min(first + there.block_launches, common))
    first = min(_comparable_blocks(there, common) * there.block_launches, common)
    return _FirstDifference(index, first, common + 1)


def _place(there: SequenceFingerprint, sequence: LaunchSequence) -> str:
    """Return the sequence that differs, by its numbers here, and those in the plan if they are others."""
    place = f"process {sequence.process} device {sequence.device}"
    if (there.process, there.device) != (sequence.process, sequence.device):
        place += f" (process {there.process} device {there.device} in the plan)"
    return place


def _counts(there: SequenceFingerprint, sequence: LaunchSequence) -> str:
    return f" has {sequence.launches:,} launches here, {there.launches:,} in the plan's recording"


def _not_aligned(recorded: Recorded, here: Profile, difference: _FirstDifference) -> AnalysisError:
    there, sequence = recorded.sequences[difference.sequence], here.sequences[difference.sequence]
    counts = f"{_counts(there, sequence)}; " if sequence.launches != there.launches else ": "
    where, is_known_kernel = _where(recorded, here, difference)
    as_many = all(
        one.launches == other.launches for one, other in zip(recorded.sequences, here.sequences, strict=True)
    )
    remedy = _OTHER_PROGRAM
    if as_many:
        remedy = _OTHER_ORDER if is_known_kernel else _OTHER_NAMES
    return AnalysisError(_place(there, sequence) + counts + where, remedy=remedy)


def _where(recorded: Recorded, here: Profile, difference: _FirstDifference) -> tuple[str, bool]:
    """Return where two sequences first differ: the launch, or the launches between which it lies.

    And whether all kernels there are, as far as is known, kernels of the plan's recording too: then the
    difference is not that they have another name or grid here.
    """
    if recorded.profile is not None:
        return _first_difference(recorded, recorded.profile, here, difference)
    first_id = recorded.first_id(difference.sequence)
    first, last = first_id + difference.first, first_id + difference.stop - 1
    told = _first_drawn_that_differs(recorded, here, difference)
    if told is not None:
        # With the same kernel it is the launches before it that are others.
        last = told.launch.id if told.here != _planned_kernel(told.launch) else told.launch.id - 1
    code = _signatures(here, difference.sequence, difference.first, last + 1 - first_id)
    drawn_kernels = {_planned_kernel(launch) for launch in recorded.drawn}
    is_known = all(_kernel_of(here, one) in drawn_kernels for one in np.unique(code).tolist())
    if told is not None and last == told.launch.id:
        shown_here, shown_planned = kernel_texts(told.here, _planned_kernel(told.launch))
        narrowed = (
            "" if first == last else f", and the first difference is between launches {first} and {last}"
        )
        return f"launch {last} is {shown_here} here, {shown_planned} in the plan{narrowed}", is_known
    if first == last:
        ends = difference.first == recorded.sequences[difference.sequence].launches
        there = "missing" if ends else "another kernel"
        shown_here, _ = kernel_texts(_kernel_at(here, code, 0), None)
        return f"launch {first} is {shown_here} here, {there} in the plan's recording", is_known
    return f"they part between launches {first} and {last}", is_known


class _Told(NamedTuple):
    """A launch of the plan, and the kernel that stands in its place here; None past the end."""

    launch: PlannedLaunch
    here: Kernel | None


def _first_drawn_that_differs(
    recorded: Recorded, here: Profile, difference: _FirstDifference
) -> _Told | None:
    """Return the plan's first launch whose place holds another kernel here, or another launch of the same.

    How often its kernel ran before it tells of launches that are missing or added in between.
    """
    first_id = recorded.first_id(difference.sequence)
    launches = [
        launch for launch in recorded.drawn if difference.first <= launch.id - first_id < difference.stop
    ]
    sequence = here.sequences[difference.sequence]
    inside = [launch for launch in launches if launch.id - first_id < sequence.launches]
    if inside:
        ids = np.array([launch.id for launch in inside]) + (sequence.first_id - first_id)
        found = find_launches_by_id(here, ids)
        for launch, code, occurrence in zip(
            inside, found.signature.tolist(), found.occurrence.tolist(), strict=True
        ):
            kernel = _kernel_of(here, code)
            if kernel != _planned_kernel(launch) or occurrence != launch.occurrence:
                return _Told(launch, kernel)
    return _Told(launches[len(inside)], None) if len(launches) > len(inside) else None


def _first_difference(
    recorded: Recorded, original: Profile, here: Profile, difference: _FirstDifference
) -> tuple[str, bool]:
    """Return the first launch that differs, by looking at both recordings, piece by piece."""
    for first in range(difference.first, difference.stop, PIECE_LAUNCHES):
        stop = min(first + PIECE_LAUNCHES, difference.stop)
        codes_there, codes_here = (
            _signatures(profile, difference.sequence, first, stop) for profile in (original, here)
        )
        both = min(len(codes_there), len(codes_here))
        hashes_there, hashes_here = signature_hashes(original.kernels), signature_hashes(here.kernels)
        differs = hashes_there.take(codes_there[:both]) != hashes_here.take(codes_here[:both])
        if differs.any() or both < stop - first:
            break
    row = int(np.argmax(differs)) if differs.any() else both
    shown_here, shown_there = kernel_texts(
        _kernel_at(here, codes_here, row), _kernel_at(original, codes_there, row)
    )
    launch_id = recorded.first_id(difference.sequence) + first + row
    is_known = row < len(codes_here) and bool(np.isin(hashes_here[codes_here[row]], hashes_there))
    return f"launch {launch_id} is {shown_here} here, {shown_there} in the plan's recording", is_known


def _kernel_at(profile: Profile, codes: IntArray, row: int) -> Kernel | None:
    """Return the kernel of a row; None past the end."""
    return _kernel_of(profile, int(codes[row])) if row < len(codes) else None


def _kernel_of(profile: Profile, code: int) -> Kernel:
    signature = profile.kernels.signature(code)
    return Kernel(profile.kernels.names.full(signature.name), signature.grid, signature.block)


def _planned_kernel(launch: PlannedLaunch) -> Kernel:
    return Kernel(launch.name, launch.grid, launch.block)


def _signatures(profile: Profile, sequence: int, first: int, stop: int) -> IntArray:
    """Return the signature codes of the ordinals ``first:stop`` of a sequence, as far as it goes."""
    parts = [np.zeros(0, dtype=np.int32)]
    sequence_of = attrgetter("sequence")
    begin = bisect_left(profile.parts, sequence, key=sequence_of)
    first_id = profile.sequences[sequence].first_id
    own = profile.parts[begin : bisect_right(profile.parts, sequence, key=sequence_of)]
    inside = (part.between(first_id + first, first_id + stop) for part in own)
    parts += [part.load(("signature",))["signature"].astype(np.int32) for part in inside if part is not None]
    return np.concatenate(parts)


def _launches_differing(recorded: Recorded, here: Profile, sequences: Sequence[int]) -> int | None:
    """Return how many launches of these sequences differ."""
    if not sequences:
        return 0
    if recorded.profile is None:
        return None
    differing = 0
    hashes_there, hashes_here = None, None
    for sequence in sequences:
        launches = recorded.sequences[sequence].launches
        codes_there = _signatures(recorded.profile, sequence, 0, launches)
        codes_here = _signatures(here, sequence, 0, launches)
        hashes_there = signature_hashes(recorded.profile.kernels, hashes_there)
        hashes_here = signature_hashes(here.kernels, hashes_here)
        # Piece by piece: the hashes of all launches would take four times the memory of their codes.
        for start in range(0, launches, PIECE_LAUNCHES):
            piece = slice(start, start + PIECE_LAUNCHES)
            differs = hashes_there.take(codes_there[piece]) != hashes_here.take(codes_here[piece])
            differing += int(np.count_nonzero(differs))
    return differing
