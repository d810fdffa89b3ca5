"""Two recordings of one program: whether their launches stand in the same order, and if not, where they
first differ.

Another recording numbers its processes (and often its devices) differently, so sequences are matched in
their order. Where the number of launches of each agrees, a launch has the same id in both recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError
from sampling.plan.plan_file import PlannedLaunch
from sampling.profile.fingerprint import SequenceFingerprint, block_digests, signature_hashes
from sampling.profile.profile import Dimensions, LaunchSequence, Profile
from sampling.progress import Progress
from sampling.text import Wording

PIECE_LAUNCHES = 1 << 20
_MOST_LISTED = 6
_LONGEST_NAME = 96
_CUT = "..."
_SHOWN_BEFORE_DIFFERENCE = 20
_OTHER_PROGRAM = (
    "record the same program again with the same input and settings, or make a plan of this recording"
)
_OTHER_ORDER = f"launches are probably missing, added or in another order here: {_OTHER_PROGRAM}"
_OTHER_NAMES = Wording(
    "if it is the same program and its kernels merely have other names or grids here, give `names_may_differ`"
)


class Kernel(NamedTuple):
    """What a launch of another recording must share: whole name, grid and block."""

    name: str
    grid: Dimensions | None
    block: Dimensions | None


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
    code = _signatures(here, difference.sequence, difference.first, difference.stop)
    drawn_kernels = {_planned_kernel(launch) for launch in recorded.drawn}
    is_known = all(_kernel_of(here, one) in drawn_kernels for one in np.unique(code).tolist())
    for launch in recorded.drawn:
        if not first <= launch.id <= last:
            continue
        row = launch.id - first
        is_here, planned = _kernel_at(here, code, row), _planned_kernel(launch)
        if is_here == planned:
            continue
        shown_here, shown_planned = kernel_texts(is_here, planned)
        narrowed = (
            "" if row == 0 else f", and the first difference is between launches {first} and {launch.id}"
        )
        return f"launch {launch.id} is {shown_here} here, {shown_planned} in the plan{narrowed}", is_known
    if first == last:
        ends = difference.first == recorded.sequences[difference.sequence].launches
        there = "missing" if ends else "another kernel"
        shown_here, _ = kernel_texts(_kernel_at(here, code, 0), None)
        return f"launch {first} is {shown_here} here, {there} in the plan's recording", is_known
    return f"they part between launches {first} and {last}", is_known


def _first_difference(
    recorded: Recorded, original: Profile, here: Profile, difference: _FirstDifference
) -> tuple[str, bool]:
    """Return the first launch that differs, by looking at both recordings."""
    codes_there, codes_here = (
        _signatures(profile, difference.sequence, difference.first, difference.stop)
        for profile in (original, here)
    )
    both = min(len(codes_there), len(codes_here))
    hashes_there, hashes_here = signature_hashes(original.kernels), signature_hashes(here.kernels)
    differs = hashes_there.take(codes_there[:both]) != hashes_here.take(codes_here[:both])
    row = int(np.argmax(differs)) if differs.any() else both
    shown_here, shown_there = kernel_texts(
        _kernel_at(here, codes_here, row), _kernel_at(original, codes_there, row)
    )
    launch_id = recorded.first_id(difference.sequence) + difference.first + row
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


def kernel_texts(one: Kernel | None, other: Kernel | None) -> tuple[str, str]:
    """Return two kernels with their launch shapes as error messages name them, names shortened.

    None is a launch that is missing.
    """
    name, other_name = shortened_names(one.name if one else "", other.name if other else "")
    return _kernel_text(one, name), _kernel_text(other, other_name)


def _kernel_text(kernel: Kernel | None, name: str) -> str:
    if kernel is None:
        return "missing"
    return f"{name!r} grid {kernel.grid or 'unknown'} block {kernel.block or 'unknown'}"


def shortened_names(one: str, other: str) -> tuple[str, str]:
    """Return two names short enough for one message, and still different where they differ.

    The middle is left out, as names differ at both ends; names that differ in the middle alone are shown
    from their start, and around the first difference.
    """
    ends = shortened_name(one), shortened_name(other)
    if one == other or ends[0] != ends[1]:
        return ends
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return _around(one, same), _around(other, same)


def shortened_name(name: str) -> str:
    """Return a name for a message: both ends, two thirds of what is kept from its start."""
    if len(name) <= _LONGEST_NAME:
        return name
    kept = _LONGEST_NAME - len(_CUT)
    return name[: kept - kept // 3] + _CUT + name[-(kept // 3) :]


def _around(name: str, place: int) -> str:
    """Return the start of a name, and what is around a place beyond it."""
    first = place - _SHOWN_BEFORE_DIFFERENCE
    last = first + _LONGEST_NAME // 2
    head = name[: _LONGEST_NAME // 2 - 2 * len(_CUT)]
    return head + _CUT + name[first:last] + (_CUT if last < len(name) else "")


def _signatures(profile: Profile, sequence: int, first: int, stop: int) -> IntArray:
    """Return the signature codes of the ordinals ``first:stop`` of a sequence, as far as it goes."""
    parts = [np.zeros(0, dtype=np.int32)]
    for span in profile.spans:
        if span.sequence == sequence and span.first_ordinal < stop:
            rows = slice(max(first - span.first_ordinal, 0), stop - span.first_ordinal)
            if rows.start < span.launches:
                parts.append(profile.read(span, ("signature",))["signature"][rows].astype(np.int32))
    return np.concatenate(parts)


def _launches_differing(recorded: Recorded, here: Profile, sequences: Sequence[int]) -> int | None:
    """Return how many launches of these sequences differ."""
    if not sequences:
        return 0
    if recorded.profile is None:
        return None
    differing = 0
    for sequence in sequences:
        launches = recorded.sequences[sequence].launches
        codes_there = _signatures(recorded.profile, sequence, 0, launches)
        codes_here = _signatures(here, sequence, 0, launches)
        hashes_there, hashes_here = signature_hashes(recorded.profile.kernels), signature_hashes(here.kernels)
        # Piece by piece: the hashes of all launches would take four times the memory of their codes.
        for start in range(0, launches, PIECE_LAUNCHES):
            piece = slice(start, start + PIECE_LAUNCHES)
            differs = hashes_there.take(codes_there[piece]) != hashes_here.take(codes_here[piece])
            differing += int(np.count_nonzero(differs))
    return differing
