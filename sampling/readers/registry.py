"""Readers of profiles: one module or folder a format. The content says which it is, never the suffix.

A new format is one new module and one line in ``MODULES``. A reader module has::

    FORMAT: str                                    # e.g. "nsys-sqlite"
    def recognise(file: InputFile) -> bool         # from file.head (64 KiB) or the folder's listing; cheap
    def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile

A reader of tables, whose columns may have any names, also has::

    def has_columns(file: InputFile) -> bool       # whether those of a launch are there, by file.columns

``read`` raises ProfileError, with the remedy, for what is of its format but not a profile. What no reader
recognises is named by ``not_a_profile``, with what to do. A folder that is no export is the profiles in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from sampling.errors import OptionError
from sampling.profile.file_state import content_sha256, disk_state
from sampling.profile.profile import KernelTable, Profile
from sampling.profile.workload import Workload
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, open_input
from sampling.text import Wording

if TYPE_CHECKING:
    from sampling.readers.tables.column_map import ColumnMap

#: The modules of the readers, in the order in which they are asked.
MODULES = (
    "sampling.readers.launch_parquet",
    "sampling.readers.rocm.database",
    "sampling.readers.nsys.sqlite",
    "sampling.readers.nsys.directory",
    "sampling.readers.nsys.report",
    "sampling.readers.kineto",
    "sampling.readers.nsys.csv_trace",
    "sampling.readers.pipit_csv",
    "sampling.readers.rocm.json_trace",
    "sampling.readers.rocm.csv_trace",
    "sampling.readers.nvprof",
    "sampling.readers.accel_sim",
    "sampling.readers.nvbit",
    "sampling.readers.simulator_log",
    "sampling.readers.tables.csv_table",
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


def read_profile(
    paths: Sequence[str],
    progress: Progress | None = None,
    columns: ColumnMap | None = None,
    *,
    needs_table: bool = True,
) -> Profile:
    """Read one workload from one or more files; "-" is standard input, gzip is read as it is.

    Parameters
    ----------
    columns : which columns of a table hold what, for the files that are tables.
    needs_table : whether columns are refused where no file is a table.

    Raises
    ------
    ProfileError : a file is missing, damaged, of no known format, or not a profile.
    OptionError : there are columns and no file is a table.
    """
    kernels = KernelTable()
    profiles: list[Profile] = []
    notes: list[str] = []
    for path in paths:
        several, left_out = _profiles_of(path, columns, progress)
        profiles += [_read_one(each, kernels, columns, progress) for each in several]
        notes += left_out
    notes += [note for each in profiles for note in each.notes]
    profile = profiles[0] if len(profiles) == 1 else Workload(profiles)
    profile.notes = tuple(notes)
    profile.named_columns = next((each.named_columns for each in profiles if each.named_columns), None)
    if columns is not None and needs_table:
        refuse_unused_columns([profile])
    return profile


def refuse_unused_columns(profiles: Sequence[Profile]) -> None:
    """Refuse columns that the user named, where none of the profiles is a table.

    Raises
    ------
    OptionError : none is.
    """
    if not any(profile.named_columns for profile in profiles):
        named = ", ".join(f"{profile.files[0].path} ({profile.format})" for profile in profiles)
        raise OptionError(
            Wording("`columns` is for CSV and Parquet tables, and here is none: {}", named),
            remedy="leave it out: the columns of this format are known",
        )


def _profiles_of(
    path: str, columns: ColumnMap | None, progress: Progress | None
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the path itself, or what is to be read of a folder of profiles, with a note on what is not."""
    if not Path(path).is_dir():
        return [path], []
    from sampling.readers.profile_folder import profiles_in

    with open_input(path) as folder, folder.damage_reported():
        if reader_of(folder) is not None:
            return [path], []
        return profiles_in(folder, columns, reader_of, progress)


def _read_one(
    path: str, kernels: KernelTable, columns: ColumnMap | None, progress: Progress | None
) -> Profile:
    with ExitStack() as until_read:
        file = replace(until_read.enter_context(open_input(path)), columns=columns)
        # Taken before the first byte is read, so that a change while reading is noticed too.
        state = disk_state(file.location)
        reader = reader_of(file)
        if reader is None:
            # Many regular expressions, which no profile needs.
            from sampling.readers.not_a_profile import file_error

            raise file_error(file)
        profile = reader.read(file, kernels, progress)
        if columns is not None and hasattr(reader, "has_columns"):
            profile.named_columns = str(columns)
        if file.lasting:
            profile.files = (replace(profile.files[0], state=state),)
        else:
            profile.files = (replace(profile.files[0], sha256=content_sha256(file.location)),)
        return profile
