"""What holds no features: say what it is, as far as its content shows, and what to do."""

from __future__ import annotations

import shlex

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable
from sampling.readers import launch_parquet
from sampling.readers.input_file import InputFile
from sampling.readers.refusal_kinds import FILE_KINDS
from sampling.readers.registry import Reader, readers

READABLE = (
    "give a CSV of Nsight Compute (`ncu --csv --page raw`), a CSV or Parquet file with a column id or name, "
    "or what NVBit's instr_count or the basic-block tool writes"
)

_A_PLAN = "a plan written by kernelpoint, not a profile"


def is_profile(file: InputFile) -> bool:
    """Return whether this is a profile that this program reads."""
    return _profile_reader(file) is not None


def feature_refusal(file: InputFile) -> ProfileError:
    """Return the error for a file that no format recognises."""
    message, remedy = _words(file)
    return ProfileError(message, path=file.path, remedy=remedy)


def _words(file: InputFile) -> tuple[str, str]:
    """Return what the file is, and what to do."""
    reader = _profile_reader(file)
    if reader is not None:
        return _words_of_profile(reader, file)
    if file.is_directory:
        return "a folder, not a file of features", READABLE
    if not file.head.strip():
        return "an empty file", "record the features again"
    return _words_of_kind(file)


def _words_of_profile(reader: Reader, file: InputFile) -> tuple[str, str]:
    """Return the same for a profile; one that cannot be read, for lack of launches mostly, is none."""
    try:
        reader.read(file, KernelTable(), None)
    except ProfileError as error:
        reason = error.message.removeprefix(f"{error.path}: ")
        return f"{reason}; it has no features of launches either", READABLE
    return (
        f"a profile ({reader.FORMAT}): it has durations of launches and no features of them",
        "give it in place of the profile, or record its features with `ncu --csv --page raw`",
    )


def _words_of_kind(file: InputFile) -> tuple[str, str]:
    """Return the same for what the refusals of profiles know, without what is about profiles in it."""
    kind = next(kind for kind in FILE_KINDS if kind.fits(file))
    shown = "REPORT" if file.path == "-" else shlex.quote(file.path)
    if kind.sentence.startswith("an Nsight Compute report"):
        return (
            "an Nsight Compute report that was not exported",
            f"write its metrics as CSV with `ncu --import {shown} --csv --page raw`",
        )
    if b"==PROF==" in file.head:
        return (
            "the console output of Nsight Compute without a CSV in it",
            "record it with `ncu --csv --page raw`",
        )
    sentence = kind.sentence.format(path=shown, detail=kind.detail(file) or "")
    if sentence == _A_PLAN:
        return "a plan written by kernelpoint, not features", READABLE
    if "profile" in sentence:
        sentence = "of no format of features that is known here"
    return sentence, READABLE


def _profile_reader(file: InputFile) -> Reader | None:
    return next(
        (reader for reader in readers() if reader.FORMAT != launch_parquet.FORMAT and reader.recognise(file)),
        None,
    )
