"""Reports of Nsight Systems (`.nsys-rep`, `.qdrep`), exported by `nsys` itself where it is installed.

The export lies in the user's cache folder and is found there again for as long as the report is unchanged. It
is written under a temporary name and renamed once it is whole, so what is found under its own name is whole,
whoever else makes it at the same time. The program is ended with all that it started if this one is told to
stop, or if it takes too long; so what is left unfinished for longer is of one that was killed.
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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_sqlite
from sampling.readers.input_file import HEAD_BYTES, InputFile, is_binary

FORMAT = "nsys-report"
LONGEST_EXPORT_SECONDS = 3600.0

_MAGIC = b"NVIDIA Tegra Profiler Report"
_ASKED_EVERY_SECONDS = 0.05
_MOST_QUOTED = 300
_UNFINISHED = "unfinished-"


def recognise(file: InputFile) -> bool:
    """Return whether this is a report."""
    is_named_so = file.path.casefold().endswith((".nsys-rep", ".qdrep"))
    return file.head.startswith(_MAGIC) or (is_named_so and is_binary(file))


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the profile of the report's export; its file is the report.

    Raises ProfileError: there is neither a program nsys nor an export in the cache; the program fails; the
    cache cannot be written to; the report has no kernel launches.
    """
    is_lasting = file.lasting and not file.compressed
    kept = cache_folder() / _names(file.location.resolve())[1] if is_lasting else None
    nsys = shutil.which("nsys")
    if kept is not None and kept.is_file():
        export = kept
    elif nsys is None:
        return None
    elif kept is None:
        raise ProfileError(
            "a report of Nsight Systems that is compressed or comes from a pipe",
            path=file.path,
            remedy="give the report as a file of its own, for nsys to export",
        )
    else:
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
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative one is invalid and is to be ignored, says the XDG base directory specification.
    return (Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()) / "kernelpoint"


def new_export(nsys: str, path: str, report: Path, progress: Progress | None) -> Path:
    """Return the SQLite export of a report, made now and kept in the cache.

    ``nsys`` is the program; the report lies at ``report``, and is called ``path`` in messages.

    Raises ProfileError: the program fails, takes too long or writes nothing; the cache cannot be written
    to.
    """
    same_report, export = _names(report.resolve())
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
            f"its export cannot be kept in {folder} ({error.strerror or error})",
            path=path,
            remedy="set XDG_CACHE_HOME to a folder that can be written to, with room for the export",
        ) from error
    return folder / export


def _names(report: Path) -> tuple[str, str]:
    """Return what the exports of one report begin with, and the name of that of its present state."""
    state = report.stat()
    place = os.fsencode(report)
    now = hashlib.sha256(b"%s\0%d\0%d" % (place, state.st_size, state.st_mtime_ns)).hexdigest()
    same_report = hashlib.sha256(place).hexdigest()[:16]
    return same_report, f"{same_report}-{now}.sqlite"


def _run(nsys: str, path: str, report: Path, made: Path, progress: Progress | None) -> None:
    """Have the program write an export."""
    command = [nsys, "export", "--type", "sqlite", "--output", str(made), str(report)]
    with tempfile.TemporaryFile() as said, ThreadPoolExecutor(1) as starter:
        # Started by another thread: an interruption of this one cannot lose the program before it has a name.
        starting = starter.submit(_started, command, said)
        try:
            code = _waited_for(starting.result(), path, progress)
            how = f"exit code {code}" if (code or 0) > 0 else f"signal {-(code or 0)}"
            # The first that is so.
            outcomes = (
                (code is None, f"`nsys export` has not ended after {LONGEST_EXPORT_SECONDS / 3600:g} h"),
                (code != 0, f"`nsys export` fails with {how}"),
                (not made.is_file() or made.stat().st_size == 0, "`nsys export` wrote nothing"),
            )
            what = next((f"{text}{_words(said)}" for is_so, text in outcomes if is_so), "")
        except OSError as error:
            what = f"{nsys} does not run ({error.strerror or error})"
        finally:
            if starting.exception() is None and (program := starting.result()).poll() is None:
                # With all that it started.
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)
                program.wait()
    if what:
        by_hand = f"`nsys export --type sqlite {shlex.quote(str(report))}`"
        raise ProfileError(
            f"a report that could not be exported: {what}",
            path=path,
            remedy=f"try {by_hand} with the nsys that recorded it, or a later one, and give the .sqlite file",
        )


def _started(command: Sequence[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - no shell, and the path is absolute
        command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
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
    said.seek(0, os.SEEK_END)
    said.seek(max(0, said.tell() - 4 * _MOST_QUOTED))
    # A progress bar is written over itself: what counts is the end of each line.
    lines = [line.rpartition("\r")[2].strip() for line in said.read().decode("utf-8", "replace").split("\n")]
    words = " ".join(filter(None, lines))
    return f": {words[-_MOST_QUOTED:]}" if words else ""
