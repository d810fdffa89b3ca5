"""What was read of a large file, and its reduction, kept in the user's cache folder for the next time.

A kept profile is one file: a sign, a checksum of all that follows, and what `cached_profile` makes of the
profile, whose columns are mapped into memory, not copied. It is found by the path, the state and the ends of
what was read, and by the state of the readers' own files. It is written under a temporary name and renamed
once it is whole, whoever else does so at the same time; what is damaged, another user's, or cannot be written
is as if it were not there.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from secrets import token_hex

import numpy as np
from msgspec import MsgspecError

from sampling.errors import ProfileError, SamplingError
from sampling.parallel import Progress, Workers, ordered_map, processes_for
from sampling.profile.identity import disk_state, hash_beside, sha256_as_read
from sampling.profile.launch_table import with_kernels
from sampling.profile.profile import DiskState, KernelTable, Profile, ProfileFile, Reduced
from sampling.readers.cached_profile import NotDataError, padded, profile_from, profile_sections
from sampling.readers.input_file import InputFile, ReadOptions, open_input
from sampling.readers.table import PARQUET
from sampling.reduction.duration_counts import reduce_parts
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
#: What a folder's mode lets other users do: anything, and change what is in it.
_ALL_OTHERS, OTHERS_WRITE = 0o077, 0o022
_OURS = "launches-"
_UNFINISHED = f"{_OURS}unfinished-"
_END_BYTES = 1 << 16
# A sign, a checksum of what follows it, and how long the header of the profile is.
_SIGN, _CHECKSUM_BYTES = b"kernelpoint launches", 16
_HEAD = struct.Struct(f"<{len(_SIGN)}s{_CHECKSUM_BYTES}sQ")
# What reading raises of what `_store` did not write.
_NOT_WRITTEN_HERE = (ValueError, TypeError, LookupError, RecursionError, struct.error, MsgspecError)
_CHECKED_FROM, _BLOCK_BYTES = len(_SIGN) + _CHECKSUM_BYTES, 4 << 20


def user_cache() -> Path:
    """Return this program's folder in $XDG_CACHE_HOME, or in ~/.cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative one is invalid and is to be ignored, says the XDG base directory specification.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "kernelpoint"


def least_cached_bytes(
    paths: Sequence[str], reader: Callable[..., Profile], options: ReadOptions, progress: Progress | None
) -> int:
    """Return of how many bytes on a file is kept: of several that are large together, whatever its size.

    What is not kept yet of these is read by as many processes as there are processors and memory for, and
    found there then. A file at which one of them fails is read again by who asks for it, and says why.
    """
    # A pipe can be read only once.
    if len(paths) == 1 or not all(Path(path).is_file() or Path(path).is_dir() for path in paths):
        return LEAST_BYTES
    # Most folders of profiles are so small that none of them need be opened to know it.
    on_disk = sum(state.size_bytes for path in paths for state in disk_state(Path(path)))
    if on_disk * _INFLATED < TOGETHER_BYTES:
        return LEAST_BYTES
    together, waiting = 0, {}
    for path in paths:
        with open_input(path, options) as file:
            state = disk_state(file.location)
            together += (size := _cacheable_bytes(file, state))
            if size and not _is_cached(_name(file, state)):
                waiting[path] = size
    if together < TOGETHER_BYTES:
        return LEAST_BYTES
    processes = processes_for(_MEMORY_OF_A_BYTE * max(waiting.values(), default=0))
    if processes > 1 and sum(waiting.values()) >= TOGETHER_BYTES:
        are_kept = Workers(processes=processes).map(partial(_cache_file, reader, options), [*waiting])
        with suppress(BrokenExecutor, SamplingError):
            for count, is_cached in enumerate(are_kept, 1):
                if not is_cached:
                    break
                if progress is not None:
                    progress(count, len(waiting), f"reading {len(waiting)} files")
    return 0


def _cache_file(reader: Callable[..., Profile], options: ReadOptions, path: str) -> bool:
    """Read a file into the cache; return whether it is there then."""
    reader(path, KernelTable(), options, None, cache_from_bytes=0)
    with open_input(path, options) as file:
        return _is_cached(_name(file, disk_state(file.location)))


def through_cache(
    file: InputFile,
    kernels: KernelTable,
    reader: Callable[[InputFile, KernelTable], Profile],
    least_bytes: int,
) -> Profile:
    """Return the profile of a file as it was kept; else read it, and keep it if it is large."""
    state = disk_state(file.location)
    if (size := _cacheable_bytes(file, state)) < least_bytes or not size:
        return reader(file, kernels)
    name = _name(file, state)
    if (profile_cached := _load(name)) is not None:
        return with_kernels(profile_cached, kernels)
    recorded = ProfileFile(file.path, file.location, 0, state=state)
    # Begun beside reading: a plan names its file by it.
    hash_beside([recorded])
    # What is read later, when it is asked for, is found from any folder.
    profile = reader(replace(file, location=file.location.absolute()), KernelTable())
    with suppress(OSError, ProfileError, NotDataError):
        profile.files = (replace(profile.files[0], sha256=sha256_as_read(recorded)),)
        # All questions begin with these.
        reduction = reduce_parts(profile, "signature", profile.parts)
        profile.reduced = Reduced(reduction, device_times(profile, profile.parts))
        _store(profile, name)
    return with_kernels(profile, kernels)


def _cacheable_bytes(file: InputFile, state: DiskState) -> int:
    """Return how many bytes are read of a file, compressed ones inflated; 0 where none of it is ever kept."""
    # Parquet is read piece by piece, and nothing of it held; of a list of traces most stands in other files.
    not_whole = (PARQUET, b"kernel-", b"MemcpyHtoD,")
    if not file.lasting or file.head.startswith(not_whole) or not may_be_used():
        return 0
    return sum(part.size_bytes for part in state) * (_INFLATED if file.compressed else 1)


def _name(file: InputFile, state: DiskState) -> str:
    """Return what a profile is kept under."""
    described = [file.path, os.fspath(file.location.resolve()), str(file.columns), *sorted(state)]
    described += [str(file.partial), str(file.keep_overlong), str(file.profile_cycles), file.number_locale]
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
    return f"{_OURS}{key.hexdigest()[:32]}"


def may_be_used(barred: int = _ALL_OTHERS) -> bool:
    """Return whether this program's folder is the user's own, and no mode of it barred, or is not there."""
    try:
        return _is_own(user_cache().lstat(), barred)
    except OSError:
        return True


def _is_own(status: os.stat_result, barred: int) -> bool:
    is_folder = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_folder and not status.st_mode & barred


@contextmanager
def _own_folder() -> Iterator[int]:
    """Open this program's folder; OSError where it is not there, or not the user's alone.

    What lies in it is opened by this descriptor: another folder that takes its place meanwhile is not used.
    """
    folder = os.open(user_cache(), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not _is_own(os.fstat(folder), _ALL_OTHERS):
            raise PermissionError
        yield folder
    finally:
        os.close(folder)


@contextmanager
def _entry(name: str) -> Iterator[int]:
    """Open what is kept under a name; OSError where nothing is, or no file of the user's own."""
    # Neither are links followed, nor is a pipe waited for.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with _own_folder() as folder:
        entry = os.open(name, flags, dir_fd=folder)
    try:
        status = os.fstat(entry)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError
        yield entry
    finally:
        os.close(entry)


def _is_cached(name: str) -> bool:
    try:
        with _entry(name):
            return True
    except OSError:
        return False


def _load(name: str) -> Profile | None:
    """Return what is kept, None where nothing is or it is damaged."""
    try:
        with _entry(name) as entry:
            mapped = memoryview(mmap(entry, 0, access=ACCESS_READ))
            sign, checksum, header_bytes = _HEAD.unpack(mapped[: _HEAD.size])
            if sign != _SIGN or checksum != _checksum(mapped):
                return None
            header = bytes(mapped[_HEAD.size : _HEAD.size + header_bytes])
            begin = padded(_HEAD.size + header_bytes)
            profile = profile_from(header, np.frombuffer(mapped[begin:], dtype=np.uint8))
            with suppress(OSError):
                os.utime(entry)
    except (*_NOT_WRITTEN_HERE, OSError, ProfileError):
        return None
    return profile


def _store(profile: Profile, name: str) -> None:
    """Write a profile; OSError where that cannot be."""
    header, arrays = profile_sections(profile)
    sections: list[bytes | memoryview] = [header, *arrays]
    user_cache().mkdir(mode=0o700, parents=True, exist_ok=True)
    with _own_folder() as folder:
        unfinished = f"{_UNFINISHED}{token_hex(8)}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            with os.fdopen(os.open(unfinished, flags, 0o600, dir_fd=folder), "w+b") as stream:
                stream.write(_HEAD.pack(_SIGN, b"", len(header)))
                for section in sections:
                    stream.write(section)
                    stream.write(bytes(padded(stream.tell()) - stream.tell()))
                stream.flush()
                checksum = _checksum(memoryview(mmap(stream.fileno(), 0, access=ACCESS_READ)))
                stream.seek(0)
                stream.write(_HEAD.pack(_SIGN, checksum, len(header)))
            os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(unfinished, dir_fd=folder)
        _make_room(folder)


def _checksum(content: memoryview) -> bytes:
    """Return a checksum of all bytes in their order, but of those in which it stands itself.

    CRC-32 of block by block reads memory as fast as threads can, and these few are hashed.
    """
    begins = range(_CHECKED_FROM, len(content), _BLOCK_BYTES)
    sums = ordered_map(zlib.crc32, [content[begin : begin + _BLOCK_BYTES] for begin in begins])
    return hashlib.blake2b(
        b"".join(checksum.to_bytes(4) for checksum in sums), digest_size=_CHECKSUM_BYTES
    ).digest()


def _make_room(folder: int) -> None:
    """Delete what was not used for longest until the rest is within the limit."""
    with os.scandir(folder) as entries:
        files = [
            entry
            for entry in entries
            if entry.name.startswith(_OURS) and entry.is_file(follow_symlinks=False)
        ]
        files_by_time = [(entry.stat(follow_symlinks=False), entry.name) for entry in files]
    room = MOST_BYTES
    for status, name in sorted(files_by_time, key=lambda pair: -pair[0].st_mtime_ns):
        room -= status.st_size
        if room < 0:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
