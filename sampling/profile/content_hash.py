"""What a file holds, as a hash: so that a plan knows its profile again."""

from __future__ import annotations

import hashlib
from collections.abc import Set as AbstractSet
from pathlib import Path

#: (name, inode, bytes, ns of the last change) of a file, or of each file of a folder.
DiskState = AbstractSet[tuple[str, int, int, int]]


def disk_state(location: Path) -> DiskState:
    """Return what tells without reading it whether a file, or one of a folder's, was written anew."""
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
