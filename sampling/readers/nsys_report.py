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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_sqlite
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
    export = cache_folder() / _names(file.location)[1]
    if not is_lasting or not export.is_file():
        nsys = shutil.which("nsys")
        if nsys is None:
            return None
        if not is_lasting:
            raise ProfileError(
                "a report of Nsight Systems that is compressed or comes from a pipe",
                path=file.path,
                remedy="give the report as a file of its own, for nsys to export",
            )
        export = new_export(nsys, file.path, file.location, progress)
    with replace(file, location=export).damage_reported(), export.open("rb") as stream:
        # Messages call it by the report's name.
        exported = replace(file, location=export, head=stream.read(HEAD_BYTES))
    profile = nsys_sqlite.read(exported, kernels, progress)
    profile.format = FORMAT
    profile.files = tuple(replace(each, location=file.location) for each in profile.files)
    return profile


def cache_folder() -> Path:
    """Return where exports are kept: in $XDG_CACHE_HOME, which is ~/.cache where it is not set."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative one is invalid and is to be ignored, says the XDG base directory specification.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "kernelpoint"


def _names(report: Path) -> tuple[str, str]:
    """Return what the exports of one report begin with, and the name of that of its present state."""
    report = report.resolve()
    state, place = report.stat(), os.fsencode(report)
    now = hashlib.sha256(b"%s\0%d\0%d" % (place, state.st_size, state.st_mtime_ns)).hexdigest()
    same_report = hashlib.sha256(place).hexdigest()[:16]
    return same_report, f"{same_report}-{now}.sqlite"


def new_export(nsys: str, path: str, report: Path, progress: Progress | None) -> Path:
    """Return the SQLite export of a report, called ``path`` in messages, made now and kept in the cache.

    Raises ProfileError: the program ``nsys`` fails, takes too long or writes nothing; the cache cannot be
    written to.
    """
    same_report, export = _names(report)
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What is left unfinished for longer than an export takes is of a program that was killed.
        for left in folder.glob(f"{_UNFINISHED}*"):
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > 2 * LONGEST_EXPORT_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=folder) as unfinished:
            made = Path(unfinished) / "export.sqlite"
            _run(nsys, path, report.resolve(), made, progress)
            for older in folder.glob(f"{same_report}-*.sqlite"):
                if older.name != export:
                    older.unlink(missing_ok=True)
            made.replace(folder / export)
    except OSError as error:
        raise ProfileError(
            f"its export cannot be made in {folder} ({error.strerror or error})",
            path=path,
            remedy="set XDG_CACHE_HOME to a folder that can be written to, with room for the export",
        ) from error
    return folder / export


def _run(nsys: str, path: str, report: Path, made: Path, progress: Progress | None) -> None:
    """Have the program write an export; it is ended with all that it started where that fails."""
    command = [nsys, "export", "--type", "sqlite", "--output", str(made), str(report)]

    def started() -> subprocess.Popen[bytes]:
        # No shell, and the path is absolute.
        return subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )

    with tempfile.TemporaryFile() as said, ThreadPoolExecutor(1) as starter:
        # By another thread: an interruption of this one cannot lose the program before it has a name.
        starting = starter.submit(started)
        try:
            code = _waited_for(starting.result(), path, progress)
        finally:
            if (program := starting.result()).poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)
                program.wait()
        if code == 0 and made.is_file() and made.stat().st_size:
            return
        if code is None:
            what = f"has not ended after {LONGEST_EXPORT_SECONDS / 3600:g} h"
        elif code == 0:
            what = "wrote nothing"
        else:
            what = f"fails with exit code {code}" if code > 0 else f"fails with signal {-code}"
        what += _words(said)
    by_hand = f"`nsys export --type sqlite {shlex.quote(str(report))}`"
    raise ProfileError(
        f"a report that could not be exported: `nsys export` {what}",
        path=path,
        remedy=f"try {by_hand} with the nsys that recorded it, or a later one, and give the .sqlite file",
    )


def _waited_for(program: subprocess.Popen[bytes], path: str, progress: Progress | None) -> int | None:
    """Return the program's exit code; None where it takes too long."""
    until = time.monotonic() + LONGEST_EXPORT_SECONDS
    while time.monotonic() < until:
        with suppress(subprocess.TimeoutExpired):
            return program.wait(_ASKED_EVERY_SECONDS)
        # By this the work can be cancelled, too.
        if progress is not None:
            progress(0, 0, f"exporting {path} with nsys")
    return None


def _words(said: IO[bytes]) -> str:
    """Return the end of what the program said, to follow a message."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - 4 * _MOST_QUOTED))
    # A progress bar is written over itself: what counts is the end of each line.
    lines = [line.rpartition("\r")[2].strip() for line in said.read().decode("utf-8", "replace").split("\n")]
    words = " ".join(filter(None, lines))
    return f": {words[-_MOST_QUOTED:]}" if words else ""
