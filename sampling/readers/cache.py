"""What was read of a large file, and its reduction, kept in the user's cache folder for the next time.

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
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sampling.errors import ProfileError, SamplingError
from sampling.parallel import Progress, Workers, processes_for
from sampling.profile.identity import disk_state, hash_beside, sha256_as_read
from sampling.profile.launch_table import with_kernels
from sampling.profile.profile import DiskState, KernelTable, Profile, ProfileFile
from sampling.readers.input_file import InputFile, ReadOptions, open_input
from sampling.readers.table import PARQUET
from sampling.reduction.duration_counts import reduced_parts
from sampling.reduction.timeline import device_times

#: What is smaller is read as fast as it is found; of what is compressed eight bytes come from one.
LEAST_BYTES = 32 << 20
#: Several files of so much together are large, and reading them is worth the start of other processes.
TOGETHER_BYTES = 512 << 20
_INFLATED = 8
# A trace of a million launches takes 1.7 bytes of memory for each that is inflated, a database 1.0.
_MEMORY_OF_A_BYTE = 2
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


def least_kept(
    paths: Sequence[str],
    read: Callable[..., Profile],
    options: ReadOptions,
    progress: Progress | None,
) -> int:
    """Return of how many bytes on a file is kept: of several that are large together, whatever its size.

    What is not kept yet of these is read by as many processes as there are processors and memory for, and
    found there then. A file at which one of them fails is read again by who asks for it, and says why.
    """
    # A pipe can be read only once.
    if len(paths) == 1 or not all(Path(path).is_file() or Path(path).is_dir() for path in paths):
        return LEAST_BYTES
    # Most folders of profiles are so small that none of them need be opened to know it.
    on_disk = sum(each[2] for path in paths for each in disk_state(Path(path)))
    if on_disk * _INFLATED < TOGETHER_BYTES:
        return LEAST_BYTES
    together, waiting = 0, {}
    for path in paths:
        with open_input(path, options) as file:
            state = disk_state(file.location)
            together += (size := _bytes_kept(file, state))
            if size and not _place(file, state).exists():
                waiting[path] = size
    if together < TOGETHER_BYTES:
        return LEAST_BYTES
    processes = processes_for(_MEMORY_OF_A_BYTE * max(waiting.values(), default=0))
    if processes > 1 and sum(waiting.values()) >= TOGETHER_BYTES:
        are_kept = Workers(processes=processes).map(partial(_keep_one, read, options), [*waiting])
        with suppress(BrokenExecutor, SamplingError):
            for done, kept in enumerate(are_kept, 1):
                if not kept:
                    break
                if progress is not None:
                    progress(done, len(waiting), f"reading {len(waiting)} files")
    return 0


def _keep_one(read: Callable[..., Profile], options: ReadOptions, path: str) -> bool:
    """Read a file into the cache; return whether it is there then."""
    read(path, KernelTable(), options, None, kept_from=0)
    with open_input(path, options) as file:
        return _place(file, disk_state(file.location)).exists()


def through_cache(
    file: InputFile,
    kernels: KernelTable,
    read: Callable[[InputFile, KernelTable], Profile],
    least_bytes: int,
) -> Profile:
    """Return the profile of a file as it was kept; else read it, and keep it if it is large."""
    state = disk_state(file.location)
    if (size := _bytes_kept(file, state)) < least_bytes or not size:
        return read(file, kernels)
    place = _place(file, state)
    if (kept := _kept(place)) is not None:
        return with_kernels(kept, kernels)
    known = ProfileFile(file.path, file.location, 0, state=state)
    # Begun beside reading: a plan names its file by it.
    hash_beside([known])
    # What is read later, when it is asked for, is found from any folder.
    profile = read(replace(file, location=file.location.absolute()), KernelTable())
    with suppress(OSError, ProfileError):
        profile.files = (replace(profile.files[0], sha256=sha256_as_read(known)),)
        # All questions begin with these.
        profile.found = {
            "reduction": reduced_parts(profile, "signature", profile.parts),
            "device times": device_times(profile, profile.parts),
        }
        _keep(profile, place)
    return with_kernels(profile, kernels)


def _bytes_kept(file: InputFile, state: DiskState) -> int:
    """Return how many bytes are read of a file, compressed ones inflated; 0 where none of it is ever kept."""
    # Parquet is read piece by piece, and nothing of it held.
    if not file.lasting or file.head.startswith(PARQUET):
        return 0
    return sum(each[2] for each in state) * (_INFLATED if file.compressed else 1)


def _place(file: InputFile, state: DiskState) -> Path:
    """Return where a profile is kept."""
    described = [file.path, os.fspath(file.location.absolute()), str(file.columns), *sorted(state)]
    described += [str(file.partial), str(file.keep_overlong)]
    # Other readers may find something else: their own files stand for the program's version.
    readers = Path(__file__).parent
    for folder in (readers, readers.parent / "profile", readers.parent / "reduction"):
        described += sorted(disk_state(folder))
    key = hashlib.sha256(repr(described).encode("utf-8", "surrogateescape"))
    files = sorted(file.location.iterdir()) if file.is_directory else [file.location]
    for path in filter(Path.is_file, files):
        with path.open("rb") as stream:
            key.update(stream.read(_END_BYTES))
            stream.seek(-min(_END_BYTES, path.stat().st_size), os.SEEK_END)
            key.update(stream.read())
    return user_cache() / f"{_OURS}{key.hexdigest()[:32]}"


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
