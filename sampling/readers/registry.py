"""Readers of profiles: one module or folder a format. The content says which it is, never the suffix.

A new format is one new module and one line in ``MODULES``. A reader module has::

    FORMAT: str                                    # e.g. "nsys-sqlite"
    def recognise(file: InputFile) -> bool         # from file.head (64 KiB) or the folder's listing; cheap
    def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile

``read`` raises ProfileError, with the remedy, for what is of its format but not a profile. What no reader
recognises is named by ``not_a_profile``, with what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from sampling.errors import ProfileError
from sampling.profile.file_state import content_sha256, disk_state
from sampling.profile.profile import KernelTable, Profile
from sampling.profile.workload import Workload
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, open_input

#: The modules of the readers, in the order in which they are asked.
MODULES = (
    "sampling.readers.launch_parquet",
    "sampling.readers.rocm.database",
    "sampling.readers.nsys.sqlite",
    "sampling.readers.nsys.directory",
    "sampling.readers.kineto.trace",
    "sampling.readers.nsys.csv_trace",
    "sampling.readers.pipit_csv",
    "sampling.readers.rocm.json_trace",
    "sampling.readers.rocm.csv_trace",
    "sampling.readers.nvprof.trace",
    "sampling.readers.accel_sim.stats",
    "sampling.readers.nvbit.counts",
)


class Reader(Protocol):
    """What every module of this package offers."""

    FORMAT: str

    def recognise(self, file: InputFile) -> bool:
        """Return whether the content is of this format."""

    def read(self, file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
        """Return the profile."""


def reader_of(file: InputFile) -> Reader | None:
    """Return the first reader that recognises a file or folder, None where there is none."""
    readers = (cast("Reader", import_module(name)) for name in MODULES)
    return next((reader for reader in readers if reader.recognise(file)), None)


def read_profile(paths: Sequence[str], progress: Progress | None = None) -> Profile:
    """Read one workload from one or more files; "-" is standard input, gzip is read as it is.

    Raises
    ------
    ProfileError : a file is missing, damaged, of no known format, or not a profile.
    """
    kernels = KernelTable()
    profiles = [_read_one(path, kernels, progress) for path in paths]
    return profiles[0] if len(profiles) == 1 else Workload(profiles)


def _read_one(path: str, kernels: KernelTable, progress: Progress | None) -> Profile:
    with ExitStack() as until_read:
        file = until_read.enter_context(open_input(path))
        # Taken before the first byte is read, so that a change while reading is noticed too.
        state = disk_state(file.location)
        reader = reader_of(file)
        if reader is None:
            raise _unreadable(file)
        profile = reader.read(file, kernels, progress)
        if file.lasting:
            profile.files = (replace(profile.files[0], state=state),)
        else:
            profile.files = (replace(profile.files[0], sha256=content_sha256(file.location)),)
        return profile


def _unreadable(file: InputFile) -> ProfileError:
    # Many regular expressions, which no profile needs.
    from sampling.readers.not_a_profile import file_error, folder_error

    return folder_error(file, _is_profile) if file.is_directory else file_error(file)


def _is_profile(path: Path) -> bool:
    if not (path.is_file() or path.is_dir()):
        return False
    try:
        with open_input(str(path)) as file:
            return reader_of(file) is not None
    except ProfileError:
        return False
