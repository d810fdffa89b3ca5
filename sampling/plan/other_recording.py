"""Is a profile the recording that a plan was made from, or another of its program, launch by launch?

Another recording numbers its processes (and often its devices) differently, so sequences are matched in
their order. Where the number of launches of each agrees, a launch has the same id in both recordings.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, ProfileError
from sampling.parallel import Progress
from sampling.plan.plan_file import PlanFile, PlannedFile
from sampling.profile.identity import (
    SequenceFingerprint,
    content_sha256,
    fingerprints,
    sha256_as_read,
    signature_hashes,
)
from sampling.profile.profile import Dimensions, Profile
from sampling.text import Wording, listed

_OTHER_PROGRAM = (
    "record the same program again with the same input and settings, or make a plan of this recording; if it "
    "is of another GPU, make the plan by operator, and match by it: `kernelpoint judge --align operator`"
)
_OTHER_NAMES = Wording(
    f"{_OTHER_PROGRAM}; if its kernels merely have other names or grids here, give `names_may_differ`; "
    "`kernelpoint difference` shows the two recordings kernel by kernel"
)

# What a launch of another recording must share: whole name, grid and block.
_Kernel = tuple[str, Dimensions | None, Dimensions | None]


def made_from(profile: Profile, plan: PlanFile, *, refuse_other_order: bool = False) -> bool:
    """Return whether the profile's files are, byte for byte, those the plan was made from.

    Raises AnalysisError, where that is asked for: they are, in another order, and ids run through them as
    given.
    """
    digests = [sha256_as_read(file) for file in profile.files]
    planned_digests = [file.sha256 for file in plan.profile.files]
    if refuse_other_order and digests != planned_digests and sorted(digests) == sorted(planned_digests):
        remedy = f"give them as {' '.join(file.path for file in plan.profile.files)}"
        raise AnalysisError("the files are those of the plan, in another order", remedy=remedy)
    return digests == planned_digests


#: A run keeps its plans so many folders below the one that it lies in, an export one
_FOLDERS_ABOVE = 3


def located_files(plan: PlanFile) -> tuple[tuple[str, ...], str | None]:
    """Return where the files of a plan's profile lie, and the name of the first that lies nowhere.

    They lie beside the plan, or where they lay; else in a folder above the plan's. Where a name is found in
    several places, the file whose content the plan knows is meant.
    """
    paths: list[str] = []
    # Under the plan's name, and where it lies itself if that is a link.
    folders = list(dict.fromkeys([Path(plan.path).parent, Path(os.path.realpath(plan.path)).parent]))
    for file in plan.profile.files:
        path = _find_file(file, folders)
        if path is None:
            return tuple(paths), file.path
        paths.append(path)
    return tuple(paths), None if paths else ""


def _find_file(file: PlannedFile, folders: Sequence[Path]) -> str | None:
    """Return where a file lies: in the plan's folders, where it lay, or above these folders."""
    if file.path in {"", "-"}:
        return None
    path, ups = Path(file.path), [[os.pardir] * up for up in range(1, _FOLDERS_ABOVE + 1)]
    below = [folder / name for folder in folders for name in (path.name, path)]
    above = [Path(os.path.normpath(folder.joinpath(*up))) / path for folder in folders for up in ups]
    for candidates in ([*below, path], above):
        files: list[Path] = []
        for candidate in filter(_is_there, candidates):
            if not any(map(candidate.samefile, files)):
                files.append(candidate)
        # Hashing takes as long as reading, so it is done only where it has to tell two files apart.
        if len(files) > 1:
            files = [copy for copy in files if content_sha256(copy) == file.sha256] or files
        if files:
            return str(files[0])
    return None


def _is_there(path: Path) -> bool:
    """Return whether a file or folder can be read whole: a pipe or a device may never end."""
    try:
        return path.is_file() or path.is_dir()
    except OSError:
        return False


def find_original(plan: PlanFile, progress: Progress | None = None) -> tuple[Profile | None, str | None]:
    """Return the recording a plan was made from, if it is found and has not changed, or why not."""
    paths, missing = located_files(plan)
    recorded = [file.path for file in plan.profile.files] if missing is not None else paths
    named = f"{', '.join(recorded) or 'its file'}, which it was made from,"
    if missing is not None:
        return None, f"{named} is not there"
    try:
        profile = plan.read_profile(paths, progress)
    except ProfileError as error:
        return None, f"{named} cannot be read ({error})"
    return (
        (profile, None) if made_from(profile, plan) else (None, f"{named} has changed since, by its SHA-256")
    )


@dataclass(frozen=True, slots=True)
class Alignment:
    """Launch i of the one recording is launch i of the other."""

    #: Of each sequence that has other numbers here: process and device in the plan, process and device here.
    renumbered: tuple[tuple[int, int, int, int], ...]
    #: How many launches have another name, grid or block here; None where it is known only that some have.
    launches_differing: int | None


def align(
    plan: PlanFile,
    profile: Profile,
    original: Profile | None = None,
    *,
    names_may_differ: bool = False,
    progress: Progress | None = None,
) -> Alignment:
    """Match the launches of the plan's recording and another one in their order.

    ``original`` is the plan's recording itself, where it can still be read. Where names may differ, only the
    numbers of launches of the sequences are compared, not their kernels.

    Raises AnalysisError: they do not match; says where they first differ, as far as it is known.
    """
    planned, recorded = plan.profile.sequences, fingerprints(profile, progress)
    if len(planned) != len(recorded):
        texts = (_list_sequences(sequences) for sequences in (planned, recorded))
        message = "launches of {} in the plan's recording, of {} in this one".format(*texts)
        raise AnalysisError(message, remedy=_OTHER_PROGRAM)
    pairs = list(zip(planned, recorded, strict=True))
    launches_differing: int | None = 0
    for index, (expected, actual) in enumerate(pairs):
        if expected.digest == actual.digest:
            continue
        as_many = expected.launches == actual.launches
        if as_many and names_may_differ:
            differing = None if original is None else _difference(original, profile, index)[1]
            launches_differing = None if differing is None else (launches_differing or 0) + differing
            continue
        message = f"process {actual.process} device {actual.device}"
        if (expected.process, expected.device) != (actual.process, actual.device):
            message += f" (process {expected.process} device {expected.device} in the plan)"
        if not as_many:
            message += f" has {actual.launches:,} launches here, "
            message += f"{expected.launches:,} in the plan's recording"
        if not names_may_differ:
            message += f"{':' if as_many else ';'} {_describe_parting(plan, profile, original, index)}"
        raise AnalysisError(message, remedy=_OTHER_NAMES if as_many else _OTHER_PROGRAM)
    numbers = [
        (expected.process, expected.device, actual.process, actual.device) for expected, actual in pairs
    ]
    return Alignment(tuple(row for row in numbers if row[:2] != row[2:]), launches_differing)


def matched_in_order(profile: Profile, other: Profile, progress: Progress | None = None) -> int:
    """Return how many launches of two recordings differ in name, grid or block, matched in their order.

    Raises AnalysisError: their sequences have other numbers of launches.
    """
    sequences, others = fingerprints(profile, progress), fingerprints(other, progress)
    if [entry.launches for entry in sequences] != [entry.launches for entry in others]:
        texts = map(_list_sequences, (sequences, others))
        message = "launches of {} in the profile, of {} in what plans are judged on".format(*texts)
        raise AnalysisError(message, remedy="give the results of all its launches, in its order")
    return sum(
        _difference(profile, other, index)[1]
        for index, (first, second) in enumerate(zip(sequences, others, strict=True))
        if first.digest != second.digest
    )


def _list_sequences(sequences: Sequence[SequenceFingerprint]) -> str:
    return listed(
        [f"process {entry.process} device {entry.device} ({entry.launches:,})" for entry in sequences]
    )


def _describe_parting(plan: PlanFile, profile: Profile, original: Profile | None, index: int) -> str:
    """Return where two sequences first differ; without the plan's recording, where a drawn launch does."""
    codes = _codes(profile, index)
    first_id = sum(sequence.launches for sequence in plan.profile.sequences[:index])
    if original is not None:
        row, _ = _difference(original, profile, index)
        kernels = _kernel_at(profile, codes, row), _kernel_at(original, _codes(original, index), row)
        text, planned_text = _texts(*kernels)
        return f"launch {first_id + row} is {text} here, {planned_text} in the plan's recording"
    stop_id = first_id + plan.profile.sequences[index].launches
    for launch in plan.drawn:
        planned = launch.name, launch.grid, launch.block
        if first_id <= launch.id < stop_id and _kernel_at(profile, codes, launch.id - first_id) != planned:
            text, planned_text = _texts(_kernel_at(profile, codes, launch.id - first_id), planned)
            return f"launch {launch.id} is {text} here, {planned_text} in the plan (they may part before it)"
    return "they part at launches that the plan does not draw"


def _difference(original: Profile, profile: Profile, index: int) -> tuple[int, int]:
    """Return the first row in which a sequence's launches differ, and in how many of those both have."""
    # Kernels are known once they are read.
    original_codes, codes = _codes(original, index), _codes(profile, index)
    original_hashes, hashes = signature_hashes(original.kernels), signature_hashes(profile.kernels)
    _, kernel = np.unique(np.concatenate([original_hashes, hashes]), return_inverse=True)
    common = min(len(original_codes), len(codes))
    original_kernel, own_kernel = np.split(kernel.astype(np.int32), [len(original_hashes)])
    differs = original_kernel.take(original_codes[:common]) != own_kernel.take(codes[:common])
    return int(np.argmax(differs)) if differs.any() else common, int(np.count_nonzero(differs))


def _codes(profile: Profile, sequence: int) -> IntArray:
    """Return the signature codes of a sequence's launches."""
    parts = [part for part in profile.parts if part.sequence == sequence]
    return np.concatenate([part.load(("signature",))["signature"].astype(np.int32) for part in parts])


def _kernel_at(profile: Profile, codes: IntArray, row: int) -> _Kernel | None:
    """Return the kernel of a row; None past the end."""
    if row >= len(codes):
        return None
    signature = profile.kernels.signature(int(codes[row]))
    return profile.kernels.names.full(signature.name), signature.grid, signature.block


def _texts(first: _Kernel | None, second: _Kernel | None) -> tuple[str, ...]:
    """Return two kernels as messages name them, names shortened; None is a launch that is missing."""
    names = shortened_names(first[0] if first else "", second[0] if second else "")
    return tuple(
        f"{name!r} grid {kernel[1] or 'unknown'} block {kernel[2] or 'unknown'}" if kernel else "missing"
        for kernel, name in zip((first, second), names, strict=True)
    )


def shortened_names(first: str, second: str) -> tuple[str, str]:
    """Return two names short enough for one message, whole where they would look the same otherwise."""
    # Two thirds of what is kept from the start, which tells more.
    short = [name if len(name) <= 96 else f"{name[:62]}...{name[-31:]}" for name in (first, second)]
    return (short[0], short[1]) if first == second or short[0] != short[1] else (first, second)


def drawn_durations_ns(profile: Profile, plan: PlanFile, *, names_may_differ: bool = False) -> IntArray:
    """Return (n,) how long the plan's drawn launches last in this profile, in id order.

    Raises AnalysisError: one of them is not there, or is another kernel and names may not differ.
    """
    launches = plan.drawn
    ids = np.array([launch.id for launch in launches], dtype=np.int64)
    codes, durations_ns = np.zeros((2, len(ids)), dtype=np.int64)
    for part in profile.parts:
        start, stop = np.searchsorted(ids, [part.first_id, part.stop_id])
        if start < stop:
            table, rows = part.load(("signature", "duration_ns")), ids[start:stop] - part.first_id
            codes[start:stop], durations_ns[start:stop] = table["signature"][rows], table["duration_ns"][rows]
    present = np.unique(codes[ids < profile.launches])
    kernel_of = {code: _kernel_at(profile, present, place) for place, code in enumerate(present.tolist())}
    for launch, code in zip(launches, codes.tolist(), strict=True):
        kernel = kernel_of[code] if launch.id < profile.launches else None
        planned = launch.name, launch.grid, launch.block
        if kernel is None or (kernel != planned and not names_may_differ):
            text, planned_text = _texts(kernel, planned)
            raise AnalysisError(
                f"launch {launch.id} is {text} in this profile, {planned_text} in the plan",
                remedy="give the profile the plan was made from",
            )
    return durations_ns
