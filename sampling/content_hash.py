"""What a file holds, as a hash: so that a plan knows its profile again."""

from __future__ import annotations

import hashlib
from pathlib import Path


def content_sha256(location: Path) -> str:
    """Return the SHA-256 of a file's bytes; of a folder, that of its files' hashes and names."""
    if not location.is_dir():
        with location.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    files = sorted(path for path in location.iterdir() if path.is_file())
    listing = "".join(f"{content_sha256(path)}  {path.name}\n" for path in files)
    return hashlib.sha256(listing.encode()).hexdigest()
