"""What no reader recognises: say what it is, why there is nothing to sample in it, and what to do."""

from __future__ import annotations

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile

_READABLE = (
    "give an nsys SQLite, Parquet or Arrow export, an `nsys stats` CSV, a PyTorch Kineto trace "
    "or Parquet written by `kernelpoint convert`"
)


def refusal(file: InputFile) -> ProfileError:
    """Return the error that names what the file is, as far as its content shows."""
    return ProfileError("not a profile that kernelpoint knows", path=file.path, remedy=_READABLE)
