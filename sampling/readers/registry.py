"""Readers: one module a format. A file is recognised by its content, never by its suffix.

A new format is one new module and one line in ``_MODULES``. A reader module has::

    FORMAT: str                                    # e.g. "nsys-sqlite"
    def recognise(file: InputFile) -> bool         # from file.head (64 KiB) or the folder's listing; cheap
    def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile

``read`` raises ProfileError, with the remedy, for what is of its format but not a profile. What no reader
recognises goes to ``refusals``, which knows what it is and says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import Protocol, cast

from sampling.profile.file_state import content_sha256, disk_state
from sampling.profile.profile import KernelTable, Profile
from sampling.profile.workload import Workload
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, open_input

_MODULES = (
    "sampling.readers.launch_parquet",
    "sampling.readers.nsys.sqlite",
    "sampling.readers.nsys.directory",
    "sampling.readers.kineto.trace",
    "sampling.readers.nsys.csv_trace",
    "sampling.readers.pipit_csv",
)


class Reader(Protocol):
    """What every module of this package offers."""

    FORMAT: str

    def recognise(self, file: InputFile) -> bool:
        """Return whether the content is of this format."""

    def read(self, file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
        """Return the profile."""


def readers() -> tuple[Reader, ...]:
    """Return all readers, in the order in which they are asked."""
    return tuple(cast("Reader", import_module(name)) for name in _MODULES)


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
        # Before the first byte is read: what is written from now on is another file.
        state = disk_state(file.location)
        for reader in readers():
            if reader.recognise(file):
                profile = reader.read(file, kernels, progress)
                if file.lasting:
                    profile.files = (replace(profile.files[0], state=state),)
                else:
                    profile.files = (replace(profile.files[0], sha256=content_sha256(file.location)),)
                return profile
        from sampling.readers.refusals import refusal

        raise refusal(file)
