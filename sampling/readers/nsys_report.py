"""Reports of Nsight Systems (`.nsys-rep`, `.qdrep`), exported by `nsys` itself where it is installed.

The export lies in the user's cache folder and is found there again for as long as the report is unchanged. It
is written under a temporary name and renamed once it is whole, whoever else makes it at the same time.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.identity import disk_state
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_sqlite
from sampling.readers.cache import OTHERS_WRITE, may_be_used, user_cache
from sampling.readers.input_file import HEAD_BYTES, InputFile

FORMAT = "nsys-report"
LONGEST_EXPORT_SECONDS = 3600.0

_ASKED_EVERY_SECONDS = 0.05
_MOST_QUOTED = 300
_UNFINISHED = "unfinished-"


def recognise(file: InputFile) -> bool:
    """Return whether this is a report."""
    return file.head.startswith(b"NVIDIA Tegra Profiler Report")


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the profile of the report's export; None where neither that nor nsys is there.

    Raises ProfileError: nsys fails; the cache cannot be written to; the report has no kernel launches.
    """
    is_lasting = file.lasting and not file.compressed
    export = _cached_export(file.location)
    if not is_lasting or not may_be_used(OTHERS_WRITE) or export.is_symlink() or not export.is_file():
        nsys = shutil.which("nsys")
        if nsys is None:
            return None
        if not is_lasting:
            message = "a report of Nsight Systems that is compressed or comes from a pipe"
            remedy = "give the report as a file of its own, for nsys to export"
            raise ProfileError(message, path=file.path, remedy=remedy)
        export = new_export(nsys, file.path, file.location, progress)
    with replace(file, location=export).damage_reported(), export.open("rb") as stream:
        # Messages call it by the report's name.
        exported = replace(file, location=export, head=stream.read(HEAD_BYTES))
    profile = nsys_sqlite.read(exported, kernels, progress)
    profile.format = FORMAT
    profile.files = tuple(replace(entry, location=file.location) for entry in profile.files)
    return profile


def _cached_export(report: Path) -> Path:
    """Return where the export of a report, as it is now, is kept: in $XDG_CACHE_HOME or ~/.cache."""
    report = report.resolve()
    place = os.fsencode(report)
    digest = hashlib.sha256(place + repr(disk_state(report)).encode("utf-8", "surrogateescape")).hexdigest()
    return user_cache() / f"{hashlib.sha256(place).hexdigest()[:16]}-{digest}.sqlite"


def new_export(nsys: str, path: str, report: Path, progress: Progress | None) -> Path:
    """Return the SQLite export of a report, called ``path`` in messages, made now and kept in the cache.

    Raises ProfileError: the program ``nsys`` fails, takes too long or writes nothing; the cache cannot be
    written to.
    """
    export = _cached_export(report)
    folder = export.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not may_be_used(OTHERS_WRITE):
            problem = f"its export cannot be kept in {folder}: a link, or a folder that others can write to"
            remedy = (
                f"`chmod 700 {shlex.quote(str(folder))}` if it is yours, or set XDG_CACHE_HOME to another"
            )
            raise ProfileError(problem, path=path, remedy=remedy)
        # What is left unfinished for longer than an export takes is of a program that was killed.
        for left in folder.glob(f"{_UNFINISHED}*"):
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > 2 * LONGEST_EXPORT_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=folder) as unfinished:
            new_export = Path(unfinished) / "export.sqlite"
            _run(nsys, path, report.resolve(), new_export, progress)
            for older in folder.glob(f"{export.name.partition('-')[0]}-*.sqlite"):
                if older != export:
                    older.unlink(missing_ok=True)
            new_export.replace(export)
    except OSError as error:
        message = f"its export cannot be made in {folder} ({error.strerror or error})"
        remedy = "set XDG_CACHE_HOME to a folder that can be written to, with room for the export"
        raise ProfileError(message, path=path, remedy=remedy) from error
    return export


def _run(nsys: str, path: str, report: Path, export: Path, progress: Progress | None) -> None:
    """Have the program write an export; it is ended with all that it started where that fails."""
    command = [nsys, "export", "--type", "sqlite", "--output", str(export), str(report)]
    until, code = time.monotonic() + LONGEST_EXPORT_SECONDS, None
    with tempfile.TemporaryFile() as output:
        # No shell, and the path is absolute.
        program = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            while code is None and time.monotonic() < until:
                with suppress(subprocess.TimeoutExpired):
                    code = program.wait(_ASKED_EVERY_SECONDS)
                # By this the work can be cancelled, too.
                if progress is not None:
                    progress(0, 0, f"exporting {path} with nsys")
        finally:
            if program.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)
                program.wait()
        if code == 0 and export.is_file() and export.stat().st_size:
            return
        output.seek(0)
        # A progress bar is written over itself: what counts is the end of each line.
        lines = output.read().decode("utf-8", "replace").split("\n")
        words = " ".join(filter(None, (line.rpartition("\r")[2].strip() for line in lines)))[-_MOST_QUOTED:]
    message = "has not ended in time" if code is None else f"fails with exit code {code}"
    message = message if code != 0 else "wrote nothing"
    raise ProfileError(
        f"a report that could not be exported: `nsys export` {message}" + (f": {words}" if words else ""),
        path=path,
        remedy=f"try `nsys export --type sqlite {shlex.quote(str(report))}` with the nsys that recorded it, "
        "or a later one, and give the .sqlite file",
    )
