"""Reports of Nsight Systems (`.nsys-rep`, `.qdrep`), exported by `nsys` itself where it is installed.

The export lies in a cache and is found there again for as long as the report is unchanged.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.progress import Progress
from sampling.readers.file_content import all_of, has_suffix, is_binary, starts_with
from sampling.readers.input_file import HEAD_BYTES, InputFile
from sampling.readers.nsys import sqlite
from sampling.readers.nsys.report_export import kept_export, new_export

FORMAT = "nsys-report"

_MAGIC = b"NVIDIA Tegra Profiler Report"
_is_report_by_name = all_of(is_binary, has_suffix(".nsys-rep", ".qdrep"))


def recognise(file: InputFile) -> bool:
    """Return whether this is a report."""
    return starts_with(_MAGIC)(file) or _is_report_by_name(file)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the profile of the report's export; its file is the report.

    Raises
    ------
    ProfileError : there is neither a program nsys nor an export in the cache; the program fails; the cache
        cannot be written to; the report has no kernel launches.
    """
    is_lasting = file.lasting and not file.compressed
    export = kept_export(file.location) if is_lasting else None
    nsys = shutil.which("nsys")
    if export is None and nsys is None:
        # Many regular expressions, which no profile needs.
        from sampling.readers.not_a_profile import file_error

        raise file_error(file)
    if not is_lasting:
        raise ProfileError(
            "a report of Nsight Systems that is compressed or comes from a pipe",
            path=file.path,
            remedy="give the report as a file of its own, for nsys to export",
        )
    if export is None:
        export = new_export(str(nsys), file.path, file.location, progress)
    profile = sqlite.read(_exported(file, export), kernels, progress)
    profile.format = FORMAT
    profile.files = tuple(replace(each, location=file.location) for each in profile.files)
    return profile


def _exported(file: InputFile, export: Path) -> InputFile:
    """Return the export as an input that messages call by the report's name."""
    with replace(file, location=export).damage_reported(), export.open("rb") as stream:
        return replace(file, location=export, head=stream.read(HEAD_BYTES))
