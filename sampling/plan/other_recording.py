"""Is a profile the recording that a plan was made from, or another of its program, launch by launch?

Another recording numbers its processes (and often its devices) differently, so sequences are matched in
their order. Where the number of launches of each agrees, a launch has the same id in both recordings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, ProfileError
from sampling.parallel import Progress
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.identity import SequenceFingerprint, fingerprints, sha256_as_read, signature_hashes
from sampling.profile.profile import Dimensions, Profile
from sampling.readers.registry import read_profile
from sampling.text import Wording, listed

# So many launches are compared at once: their hashes take four times the memory of their codes.
_PIECE_LAUNCHES = 1 << 20
_OTHER_PROGRAM = (
    "record the same program again with the same input and settings, or make a plan of this recording"
)
_OTHER_ORDER = f"launches are probably missing, added or in another order here: {_OTHER_PROGRAM}"
_OTHER_NAMES = Wording(
    "if it is the same program and its kernels merely have other names or grids here, give "
    "`names_may_differ`; `kernelpoint difference` shows the two recordings kernel by kernel"
)
_ITS_OWN = "give the profile the plan was made from"


def made_from(profile: Profile, plan: PlanFile) -> bool:
    """Return whether the profile's files are, byte for byte, those the plan was made from."""
    return [sha256_as_read(file) for file in profile.files] == [file.sha256 for file in plan.profile.files]


def refuse_other_order(profile: Profile, plan: PlanFile) -> None:
    """Refuse the plan's own files in another order: ids run through the files, so none would be its launch.

    Raises
    ------
    AnalysisError : they are; says in which order they are meant.
    """
    there = [file.sha256 for file in plan.profile.files]
    here = [sha256_as_read(file) for file in profile.files]
    if here == there or Counter(here) != Counter(there):
        return
    left, meant = list(here), []
    for sha256 in there:
        place = left.index(sha256)
        meant.append(profile.files[place].path)
        left[place] = ""
    raise AnalysisError(
        "the files are those that the plan was made from, in another order",
        remedy=f"give them as {' '.join(meant)}",
    )


class Original(NamedTuple):
    """The recording a plan was made from, or why it is not there to be read."""

    profile: Profile | None
    why_not: str | None = None


def find_original(plan: PlanFile, progress: Progress | None = None) -> Original:
    """Return the recording a plan was made from, if it lies where it lay and has not changed."""
    paths = [file.path for file in plan.profile.files]
    named = ", ".join(paths)
    # A pipe or a device may never end.
    gone = [path for path in paths if not Path(path).is_file() and not Path(path).is_dir()]
    if gone or not paths:
        return Original(None, f"{gone[0] if gone else 'its file'}, which it was made from, is not there")
    try:
        profile = read_profile(paths, progress, plan.options.column_map, needs_table=False)
    except ProfileError as error:
        return Original(None, f"{named}, which it was made from, cannot be read ({error})")
    if not made_from(profile, plan):
        return Original(None, f"{named}, which it was made from, has changed since")
    return Original(profile)


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


def align(
    plan: PlanFile,
    here: Profile,
    original: Profile | None = None,
    *,
    names_may_differ: bool = False,
    progress: Progress | None = None,
) -> Alignment:
    """Match the launches of the plan's recording and another one in their order.

    Parameters
    ----------
    original : the plan's recording itself, where it can still be read.
    names_may_differ : only compare the numbers of launches of the sequences, not their kernels.

    Raises
    ------
    AnalysisError : they do not match; says where they first differ, as narrowly as can be known.
    """
    there, found = plan.profile.sequences, fingerprints(here, progress)
    if len(there) != len(found):
        raise AnalysisError(
            f"launches of {_listed(there)} in the plan's recording, of {_listed(found)} in this one",
            remedy=_OTHER_PROGRAM,
        )
    pairs = list(zip(there, found, strict=True))
    differing = [place for place, (one, other) in enumerate(pairs) if one.digest != other.digest]
    as_many = all(one.launches == other.launches for one, other in pairs)
    for place in differing:
        one, other = pairs[place]
        if names_may_differ and one.launches == other.launches:
            continue
        message = f"process {other.process} device {other.device}"
        if (one.process, one.device) != (other.process, other.device):
            message += f" (process {one.process} device {one.device} in the plan)"
        if one.launches != other.launches:
            message += f" has {other.launches:,} launches here, {one.launches:,} in the plan's recording"
        if names_may_differ:
            raise AnalysisError(message, remedy=_OTHER_PROGRAM)
        where, is_known = _parting(plan, here, original, place)
        remedy = _OTHER_PROGRAM if not as_many else _OTHER_ORDER if is_known else _OTHER_NAMES
        raise AnalysisError(
            f"{message}{':' if one.launches == other.launches else ';'} {where}", remedy=remedy
        )
    launches_differing: int | None = 0
    if differing:
        launches_differing = None
        if original is not None:
            launches_differing = sum(_difference(original, here, place)[1] for place in differing)
    numbers = [(one.process, one.device, other.process, other.device) for one, other in pairs]
    return Alignment(tuple(each for each in numbers if each[:2] != each[2:]), launches_differing)


def _listed(sequences: Sequence[SequenceFingerprint]) -> str:
    return listed([f"process {each.process} device {each.device} ({each.launches:,})" for each in sequences])


def _parting(plan: PlanFile, here: Profile, original: Profile | None, place: int) -> tuple[str, bool]:
    """Return where two sequences first differ: the launch, or the launches between which it lies.

    And whether all kernels there are, as far as is known, kernels of the plan's recording too: then the
    difference is not that they have another name or grid here.
    """
    sequences, codes = plan.profile.sequences, _codes(here, place)
    first_id = sum(earlier.launches for earlier in sequences[:place])
    if original is None:
        return _parting_by_drawn(plan, here, place, codes, first_id)
    row, _ = _difference(original, here, place)
    texts = kernel_texts(_kernel_at(here, codes, row), _kernel_at(original, _codes(original, place), row))
    known = signature_hashes(original.kernels)
    is_known = row < len(codes) and bool(np.isin(signature_hashes(here.kernels)[codes[row]], known))
    return f"launch {first_id + row} is {texts[0]} here, {texts[1]} in the plan's recording", is_known


def _parting_by_drawn(
    plan: PlanFile, here: Profile, place: int, codes: IntArray, first_id: int
) -> tuple[str, bool]:
    """Return the same by the first launch that the plan draws and that is another kernel here."""
    launches = plan.profile.sequences[place].launches
    last = first_id + min(launches, len(codes)) - (launches == len(codes))
    told = f"they part between launches {first_id} and {last}"
    for launch in plan.drawn:
        if not first_id <= launch.id <= last:
            continue
        kernel, planned = _kernel_at(here, codes, launch.id - first_id), planned_kernel(launch)
        if kernel != planned:
            last, texts = launch.id, kernel_texts(kernel, planned)
            told = f"launch {last} is {texts[0]} here, {texts[1]} in the plan"
            if last > first_id:
                told += f", and the first difference is between launches {first_id} and {last}"
            break
    drawn_kernels = {planned_kernel(launch) for launch in plan.drawn}
    present = np.unique(codes[: last + 1 - first_id]).tolist()
    return told, all(kernel_of(here, code) in drawn_kernels for code in present)


def _difference(original: Profile, here: Profile, place: int) -> tuple[int, int]:
    """Return the first row in which a sequence's launches differ, and in how many of those both have."""
    codes_there, codes_here = _codes(original, place), _codes(here, place)
    hashes_there, hashes_here = signature_hashes(original.kernels), signature_hashes(here.kernels)
    both = min(len(codes_there), len(codes_here))
    first, differing = both, 0
    for start in range(0, both, _PIECE_LAUNCHES):
        rows = slice(start, min(start + _PIECE_LAUNCHES, both))
        differs = hashes_there.take(codes_there[rows]) != hashes_here.take(codes_here[rows])
        if first == both and differs.any():
            first = start + int(np.argmax(differs))
        differing += int(np.count_nonzero(differs))
    return first, differing


def _codes(profile: Profile, sequence: int) -> IntArray:
    """Return the signature codes of a sequence's launches."""
    parts = [part for part in profile.parts if part.sequence == sequence]
    return np.concatenate([part.load(("signature",))["signature"].astype(np.int32) for part in parts])


class Kernel(NamedTuple):
    """What a launch of another recording must share: whole name, grid and block."""

    name: str
    grid: Dimensions | None
    block: Dimensions | None


def kernel_of(profile: Profile, code: int) -> Kernel:
    """Return the kernel of a signature code."""
    signature = profile.kernels.signature(code)
    return Kernel(profile.kernels.names.full(signature.name), signature.grid, signature.block)


def planned_kernel(launch: PlannedLaunch) -> Kernel:
    """Return the kernel of a launch of the plan."""
    return Kernel(launch.name, launch.grid, launch.block)


def _kernel_at(profile: Profile, codes: IntArray, row: int) -> Kernel | None:
    """Return the kernel of a row; None past the end."""
    return kernel_of(profile, int(codes[row])) if row < len(codes) else None


def kernel_texts(one: Kernel | None, other: Kernel | None) -> tuple[str, str]:
    """Return two kernels as messages name them, names shortened; None is a launch that is missing."""
    names = shortened_names(one.name if one else "", other.name if other else "")
    one_text, other_text = (
        f"{name!r} grid {kernel.grid or 'unknown'} block {kernel.block or 'unknown'}" if kernel else "missing"
        for kernel, name in zip((one, other), names, strict=True)
    )
    return one_text, other_text


def shortened_names(one: str, other: str) -> tuple[str, str]:
    """Return two names short enough for one message, and still different where they differ.

    Names that differ in the middle alone are shown from their start, and around the first difference.
    """
    # Two thirds of what is kept from the start, which tells more.
    ends = [name if len(name) <= 96 else f"{name[:62]}...{name[-31:]}" for name in (one, other)]
    if one == other or ends[0] != ends[1]:
        return ends[0], ends[1]
    same = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    around_one, around_other = (f"{name[:42]}...{name[same - 20 : same + 28]}..." for name in (one, other))
    return around_one, around_other


def drawn_durations_ns(profile: Profile, plan: PlanFile, *, names_may_differ: bool = False) -> IntArray:
    """Return (n,) how long the plan's drawn launches last in this profile, in id order.

    Parameters
    ----------
    names_may_differ : take the launches of the plan's ids, whatever name, grid and block they have here.

    Raises
    ------
    AnalysisError : one of them is not there, or is another kernel.
    """
    drawn = plan.drawn
    ids = np.array([launch.id for launch in drawn], dtype=np.int64)
    if ids[-1] >= profile.launches:
        raise AnalysisError(
            f"launch {ids[-1]} of the plan is not in this profile, whose ids end at {profile.launches - 1}",
            remedy=_ITS_OWN,
        )
    codes, durations_ns = np.zeros((2, len(ids)), dtype=np.int64)
    for part in profile.parts:
        start, stop = np.searchsorted(ids, [part.first_id, part.stop_id])
        if start < stop:
            table, rows = part.load(("signature", "duration_ns")), ids[start:stop] - part.first_id
            codes[start:stop], durations_ns[start:stop] = table["signature"][rows], table["duration_ns"][rows]
    if names_may_differ:
        return durations_ns
    kernels = {code: kernel_of(profile, code) for code in np.unique(codes).tolist()}
    for launch, code in zip(drawn, codes.tolist(), strict=True):
        if kernels[code] != planned_kernel(launch):
            shown_here, shown_planned = kernel_texts(kernels[code], planned_kernel(launch))
            message = f"launch {launch.id} is {shown_here} in this profile, {shown_planned} in the plan"
            raise AnalysisError(message, remedy=_ITS_OWN)
    return durations_ns
