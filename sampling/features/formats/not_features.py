"""What holds no features: say what it is, as far as its content shows, and what to do."""

from __future__ import annotations

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable
from sampling.readers.input_file import InputFile
from sampling.readers.not_a_profile import shell_path, sort_of
from sampling.readers.registry import Reader, reader_of

_READABLE = (
    "give a CSV of Nsight Compute (`ncu --csv --page raw`), a CSV or Parquet file with a column id or name, "
    "an npy file with a row for every launch, or what NVBit's instr_count or the basic-block tool writes"
)

_A_PLAN = "a plan written by kernelpoint, not a profile"


def not_features(file: InputFile) -> ProfileError:
    """Return the error for a file that no format recognises."""
    message, remedy = _message_and_remedy(file)
    return ProfileError(message, path=file.path, remedy=remedy)


def _message_and_remedy(file: InputFile) -> tuple[str, str]:
    reader = reader_of(file)
    if reader is not None:
        return _of_profile(reader, file)
    if file.is_directory:
        return "a folder, not a file of features", _READABLE
    if not file.head.strip():
        return "an empty file", "record the features again"
    return _of_other_file(file)


def _of_profile(reader: Reader, file: InputFile) -> tuple[str, str]:
    """Return message and remedy for what a reader recognises, which need not be a profile it can read."""
    try:
        reader.read(file, KernelTable(), None)
    except ProfileError as error:
        reason = error.message.removeprefix(f"{error.path}: ")
        return f"{reason}; it has no features of launches either", _READABLE
    return (
        f"a profile ({reader.FORMAT}): it has durations of launches and no features of them",
        "give it in place of the profile, or record its features with `ncu --csv --page raw`",
    )


def _of_other_file(file: InputFile) -> tuple[str, str]:
    """Return message and remedy from what is said where a profile is wanted, less what is about profiles."""
    sort = sort_of(file)
    if sort.sentence.startswith("an Nsight Compute report"):
        return (
            "an Nsight Compute report that was not exported",
            f"write its metrics as CSV with `ncu --import {shell_path(file)} --csv --page raw`",
        )
    if b"==PROF==" in file.head:
        return (
            "the console output of Nsight Compute without a CSV in it",
            "record it with `ncu --csv --page raw`",
        )
    sentence = sort.sentence.format(path=shell_path(file), detail=sort.detail(file) or "")
    if sentence == _A_PLAN:
        return "a plan written by kernelpoint, not features", _READABLE
    if "profile" in sentence:
        sentence = "of no format of features that is known here"
    return sentence, _READABLE
