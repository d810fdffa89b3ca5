"""What was read of a large file, kept in the user's cache folder for the next time.

A kept profile is one file: some numbers, the pickled profile and the bytes of its columns, which are mapped
into memory, not copied. It is found by the path, the state and the ends of what was read, and by the state of
the readers' own files. It is written under a temporary name and renamed once it is whole, whoever else does
so at the same time; what is damaged or cannot be written is as if it were not there.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from sampling.errors import ProfileError
from sampling.profile.identity import disk_state, hash_beside, sha256_as_read
from sampling.profile.launch_table import with_kernels
from sampling.profile.profile import DiskState, KernelTable, Profile, ProfileFile
from sampling.readers.input_file import InputFile
from sampling.readers.table import PARQUET

#: What is smaller is read as fast as it is found; of what is compressed eight bytes come from one.
LEAST_BYTES = 32 << 20
_INFLATED = 8
#: Of all that is kept; what was not used for longest goes first.
MOST_BYTES = 10_000_000_000
_OURS = "launches-"
_UNFINISHED = f"{_OURS}unfinished-"
_END_BYTES = 1 << 16
_ALIGNED = 64


def user_cache() -> Path:
    """Return this program's folder in $XDG_CACHE_HOME, or in ~/.cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative one is invalid and is to be ignored, says the XDG base directory specification.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "kernelpoint"


def through_cache(
    file: InputFile,
    kernels: KernelTable,
    read: Callable[[InputFile, KernelTable], Profile],
    least_bytes: int,
) -> Profile:
    """Return the profile of a file as it was kept; else read it, and keep it if it is large."""
    state = disk_state(file.location)
    size = sum(each[2] for each in state) * (_INFLATED if file.compressed else 1)
    # Parquet is read piece by piece, and nothing of it held.
    if not file.lasting or size < least_bytes or file.head.startswith(PARQUET):
        return read(file, kernels)
    place = user_cache() / f"{_OURS}{_key(file, state)}"
    if (kept := _kept(place)) is not None:
        return with_kernels(kept, kernels)
    known = ProfileFile(file.path, file.location, 0, state=state)
    # Begun beside reading: a plan names its file by it.
    hash_beside([known])
    # What is read later, when it is asked for, is found from any folder.
    profile = read(replace(file, location=file.location.absolute()), KernelTable())
    with suppress(OSError, ProfileError):
        profile.files = (replace(profile.files[0], sha256=sha256_as_read(known)),)
        _keep(profile, place)
    return with_kernels(profile, kernels)


def _key(file: InputFile, state: DiskState) -> str:
    """Return what a kept profile is found by."""
    described = [file.path, os.fspath(file.location.absolute()), str(file.columns), *sorted(state)]
    # Other readers may read something else: their own files stand for the program's version.
    readers = Path(__file__).parent
    for folder in (readers, readers.parent / "profile"):
        described += sorted(disk_state(folder))
    key = hashlib.sha256(repr(described).encode("utf-8", "surrogateescape"))
    files = sorted(file.location.iterdir()) if file.is_directory else [file.location]
    for path in filter(Path.is_file, files):
        with path.open("rb") as stream:
            key.update(stream.read(_END_BYTES))
            stream.seek(-min(_END_BYTES, path.stat().st_size), os.SEEK_END)
            key.update(stream.read())
    return key.hexdigest()[:32]


def _kept(place: Path) -> Profile | None:
    """Return what is kept, None where nothing is or it is damaged."""
    try:
        # Unpickled is only what the user's own program wrote.
        if place.stat().st_uid != os.getuid():
            return None
        words = np.memmap(place, dtype=np.int64, mode="r")
        if words[1:].sum() != words[0]:
            return None
        sections = int(words[1])
        sizes = words[2 : 2 + sections].tolist()
        begins = np.cumsum([_padded(8 * (2 + sections)), *map(_padded, sizes)]).tolist()
        mapped = words.view(np.uint8).data
        pickled, *buffers = (mapped[begin : begin + size] for begin, size in zip(begins, sizes, strict=False))
        profile = pickle.loads(pickled, buffers=buffers)  # noqa: S301 - see above
        os.utime(place)
    except Exception:  # whatever a damaged file makes of a pickle
        return None
    return profile if isinstance(profile, Profile) else None


def _keep(profile: Profile, place: Path) -> None:
    """Write a profile: the sum of all that follows, the number of sections, their sizes, and these."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(profile, protocol=5, buffer_callback=buffers.append)
    sections = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    head = np.array([0, len(sections), *(section.nbytes for section in sections)], dtype=np.int64)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkstemp(dir=place.parent, prefix=_UNFINISHED)[1])
    try:
        with unfinished.open("wb") as stream:
            for section in (head.data.cast("B"), *sections):
                stream.write(section)
                stream.write(bytes(_padded(section.nbytes) - section.nbytes))
        words = np.memmap(unfinished, dtype=np.int64, mode="r+")
        words[0] = words[1:].sum()
        del words
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
    _make_room(place.parent)


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _make_room(folder: Path) -> None:
    """Delete what was not used for longest until the rest is within the limit."""
    found = [(path.stat(), path) for path in folder.iterdir() if path.name.startswith(_OURS)]
    room = MOST_BYTES
    for status, path in sorted(found, key=lambda each: -each[0].st_mtime_ns):
        room -= status.st_size
        if room < 0:
            path.unlink(missing_ok=True)
