"""What no reader recognises: say what it is, why there is nothing to sample in it, and what to do.

The sorts of files stand in ``refusal_kinds``, asked in turn. The content decides; a suffix is only asked
where the bytes say nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.refusal_kinds import FILE_KINDS, READABLE

_MOST_ENTRIES_TRIED = 64


def refusal(file: InputFile) -> ProfileError:
    """Return the error that names what the file is, as far as its content shows."""
    if file.is_directory:
        return _folder_refusal(file)
    kind = next(kind for kind in FILE_KINDS if kind.fits(file))
    words = {
        "path": "REPORT" if file.path == "-" else shlex.quote(file.path),
        "detail": kind.detail(file) or "",
    }
    return ProfileError(kind.sentence.format(**words), path=file.path, remedy=kind.remedy.format(**words))


def _folder_refusal(file: InputFile) -> ProfileError:
    """Return the error for a folder that is no export: what it lacks, and what in it could be given."""
    with file.damage_reported():
        entries = sorted(file.location.iterdir())
    if not entries:
        return ProfileError("an empty folder", path=file.path, remedy=READABLE)
    if any(entry.name.startswith("kernelslist") for entry in entries):
        return ProfileError(
            "a folder of Accel-Sim traces: they have no durations",
            path=file.path,
            remedy="give the profile of the program",
        )
    return ProfileError(
        "a folder, but not an nsys export: it has no table CUPTI_ACTIVITY_KIND_KERNEL as Parquet or Arrow",
        path=file.path,
        remedy=_way_out(entries),
    )


def _way_out(entries: Sequence[Path]) -> str:
    """Return what to do about a folder: give a profile in it, export a report in it, or something else."""
    profile = next(filter(_is_profile, entries[:_MOST_ENTRIES_TRIED]), None)
    if profile is not None:
        return f"give a profile in it, such as {shlex.quote(str(profile))}"
    report = next((entry for entry in entries if entry.suffix in {".nsys-rep", ".qdrep"}), None)
    if report is not None:
        return f"export a report in it with `nsys export --type sqlite {shlex.quote(str(report))}`"
    return READABLE


def _is_profile(path: Path) -> bool:
    # Imported here because the readers import this module.
    from sampling.readers.registry import readers

    if not (path.is_file() or path.is_dir()):
        return False
    try:
        with open_input(str(path)) as inner:
            return any(reader.recognise(inner) for reader in readers())
    except ProfileError:
        return False
