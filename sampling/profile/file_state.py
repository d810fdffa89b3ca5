"""Whether a profile's files still hold what was read: a plan knows its profile by the hash of its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from sampling.errors import ProfileError
from sampling.profile.profile import DiskState, ProfileFile


def disk_state(location: Path) -> DiskState:
    """Return the state of a file, or of each file of a folder, without reading it.

    A file that was written again since has another state.
    """
    files = [path for path in location.iterdir() if path.is_file()] if location.is_dir() else [location]
    found = [(path.name, path.stat()) for path in files]
    return frozenset((name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in found)


def content_sha256(location: Path) -> str:
    """Return the SHA-256 of a file's bytes; of a folder, that of its files' hashes and names."""
    if not location.is_dir():
        with location.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    files = sorted(path for path in location.iterdir() if path.is_file())
    listing = "".join(f"{content_sha256(path)}  {path.name}\n" for path in files)
    return hashlib.sha256(listing.encode()).hexdigest()


def refuse_changed(files: Iterable[ProfileFile]) -> None:
    """Refuse files that were written again since they were read; a file that was deleted passes.

    Raises
    ------
    ProfileError : one of them was.
    """
    for file in files:
        if file.state is not None and file.location.exists():
            _refuse_if_changed(file)


def sha256_as_read(file: ProfileFile) -> str:
    """Return the SHA-256 of what was read: of the bytes on disk, which must still be the same.

    Raises
    ------
    ProfileError : the file was written again since.
    OSError : it was deleted.
    """
    if file.sha256 is not None:
        return file.sha256
    digest = content_sha256(file.location)
    # Checked after the hash, which may take long: a file that is the same now was the same when hashed.
    _refuse_if_changed(file)
    return digest


def _refuse_if_changed(file: ProfileFile) -> None:
    if file.state is not None and not file.state <= disk_state(file.location):
        raise ProfileError(
            "has changed on disk since it was read",
            path=file.path,
            remedy="open it again for a plan of what it holds now",
        )
