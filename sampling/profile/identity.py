"""What a plan knows its profile by: the bytes of its files, and the launches of each sequence in order.

The SHA-256 of the files says whether they still hold what was read. A digest of the names, grids and blocks
of a sequence is enough to tell whether another recording has the same launches.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from sampling.arrays import GOLDEN_RATIO, AnyIntArray, HashArray, mixed
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import DiskState, FileState, KernelTable, Part, Profile, ProfileFile

if TYPE_CHECKING:
    from threading import Thread

# How many multipliers there are, however long a sequence is.
PIECE_LAUNCHES = 1 << 20
# Where a SQLite database counts its changes, and its write-ahead log has a number for each time it is begun.
_HEAD_BYTES = 100


def disk_state(location: Path) -> DiskState:
    """Return the state of a file, or of each file of a folder: another one once it was written again."""
    files = [path for path in location.iterdir() if path.is_file()] if location.is_dir() else [location]
    return frozenset(map(_file_state, files))


def _file_state(path: Path) -> FileState:
    try:
        status, head = _status_and_head(path)
    except PermissionError:
        status, head = path.stat(), b""
    content = [zlib.crc32(head)]
    # What other programs wrote to a database lately lies beside it, wherever the links to it are.
    for log in (f"{path.resolve()}{ending}" for ending in ("-wal", "-journal")):
        with suppress(OSError):
            of_log, head = _status_and_head(log)
            # One without content is as none: reading a database may leave one.
            if of_log.st_size:
                times = (of_log.st_mtime_ns, of_log.st_ctime_ns)
                content += [of_log.st_ino, of_log.st_size, *times, zlib.crc32(head)]
    return FileState(
        path.name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, tuple(content)
    )


def _status_and_head(path: str | Path) -> tuple[os.stat_result, bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.fstat(descriptor), os.read(descriptor, _HEAD_BYTES)
    finally:
        os.close(descriptor)


def content_sha256(location: Path) -> str:
    """Return the SHA-256 of a file's bytes; of a folder, that of its files' hashes and names."""
    if not location.is_dir():
        with location.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    files = sorted(path for path in location.iterdir() if path.is_file())
    listing = "".join(f"{content_sha256(path)}  {path.name}\n" for path in files)
    return hashlib.sha256(listing.encode()).hexdigest()


def refuse_changed(files: Iterable[ProfileFile]) -> None:
    """Raise `ProfileError` where a file was written again since it was read; one that was deleted passes."""
    for file in files:
        if file.state is None or not file.location.exists() or file.state <= disk_state(file.location):
            continue
        raise ProfileError(
            "has changed on disk since it was read",
            path=file.path,
            remedy="open it again for a plan of what it holds now",
        )


# What was begun before it was asked for: a thread, and the hash that it found, if it did.
_BEGUN: dict[ProfileFile, tuple[Thread, list[str]]] = {}


def hash_beside(files: Iterable[ProfileFile]) -> None:
    """Begin to hash the files beside other work, for a plan that will be made of them."""
    from threading import Thread

    for file in files:
        if file.sha256 is None and file not in _BEGUN:
            digests: list[str] = []
            thread = Thread(target=_hash, args=(file.location, digests), daemon=True)
            thread.start()
            _BEGUN[file] = thread, digests


def _hash(location: Path, digests: list[str]) -> None:
    # What cannot be read is told to who asks for the hash, and then reads it once more.
    with suppress(OSError):
        digests.append(content_sha256(location))


def sha256_as_read(file: ProfileFile) -> str:
    """Return the SHA-256 of what was read: of the bytes on disk, which must still be the same.

    Raises
    ------
    ProfileError : the file was written again since.
    OSError : it was deleted.
    """
    digest = file.sha256
    if (started := _BEGUN.pop(file, None)) is not None:
        thread, digests = started
        thread.join()
        digest = digests[0] if digests else None
    digest = digest or content_sha256(file.location)
    # Checked after the hash, which may take long: a file that is the same now was the same when hashed.
    refuse_changed([file])
    return digest


@dataclass(frozen=True, slots=True)
class SequenceFingerprint:
    """The launches of one sequence, as a plan file keeps them; the digest has 16 hexadecimal digits."""

    process: int
    device: int
    launches: int
    digest: str


_KNOWN: WeakKeyDictionary[Profile, tuple[SequenceFingerprint, ...]] = WeakKeyDictionary()


def fingerprints(profile: Profile, progress: Progress | None = None) -> tuple[SequenceFingerprint, ...]:
    """Return the fingerprint of every sequence of a profile, in id order; read once."""
    if profile not in _KNOWN:
        digests, parts = SequenceDigests(profile), profile.parts
        for count, (part, digest) in enumerate(zip(parts, profile.map(digests.of_all, parts), strict=True)):
            digests.add(part, digest)
            if progress is not None:
                progress(count + 1, len(parts), "comparing launches")
        digests.finish(profile)
    return _KNOWN[profile]


class SequenceDigests:
    """Adds up the digests of a profile's sequences, for who looks at all of its launches.

    A digest is the sum of hash(launch j) * multiplier(j) modulo 2^64: a multilinear hash. The multipliers
    are odd, so that a single launch that differs is always noticed; several cancel each other with a chance
    of about 2^-58. j is counted within pieces of `PIECE_LAUNCHES`, and each piece after the first has a
    multiplier of its own.
    """

    def __init__(self, profile: Profile) -> None:
        self._kernels: KernelTable | None = profile.kernels
        self._first_ids = profile.first_ids
        self._sums = np.zeros(len(profile.sequences), dtype=np.uint64)
        self._longest = min(
            PIECE_LAUNCHES, max((sequence.launches for sequence in profile.sequences), default=0)
        )
        self._hashes = signature_hashes(profile.kernels)

    def __getstate__(self) -> dict[str, object]:
        # Elsewhere all signatures are known before launches are looked at.
        return {**self.__dict__, "_kernels": None}

    def of_all(self, part: Part) -> HashArray:
        """Return (1,) the sum over a part of which all launches are meant."""
        return self.of_part(part, part.load(("signature",))["signature"])

    def of_part(self, part: Part, signature: AnyIntArray) -> HashArray:
        """Return the same, of the loaded signatures. Threads may call this at once."""
        hashes, multipliers = self._hashes, _multipliers(self._longest)
        if self._kernels is not None and len(hashes) < len(self._kernels):
            self._hashes = hashes = signature_hashes(self._kernels)
        # An array of one number, as numpy warns where single numbers overflow.
        total = np.zeros(1, dtype=np.uint64)
        ordinal = part.first_id - self._first_ids[part.sequence]
        offset = 0
        while offset < len(signature):
            piece, place = divmod(ordinal + offset, PIECE_LAUNCHES)
            run = hashes.take(signature[offset : offset + PIECE_LAUNCHES - place])
            added = np.dot(run, multipliers[place : place + len(run)])
            total += added * multipliers[piece : piece + 1] if piece else added
            offset += len(run)
        return total

    def add(self, part: Part, total: HashArray) -> None:
        """Add what `of_part` gave."""
        self._sums[part.sequence : part.sequence + 1] += total

    def finish(self, profile: Profile) -> None:
        """Keep the fingerprints of the profile, all parts being added."""
        _KNOWN[profile] = tuple(
            SequenceFingerprint(sequence.process, sequence.device, sequence.launches, f"{digest:016x}")
            for sequence, digest in zip(profile.sequences, self._sums.tolist(), strict=True)
        )


@lru_cache(maxsize=1)
def _multipliers(launches: int) -> HashArray:
    return mixed(np.arange(1, launches + 1, dtype=np.uint64) * GOLDEN_RATIO) | np.uint64(1)


def signature_hashes(kernels: KernelTable) -> HashArray:
    """Return (signatures,) a hash of the name, grid and block of every signature so far.

    It is the same on every machine and in every run: BLAKE2b of the name, the dimensions mixed in.
    """
    rows = kernels.signature_rows()
    names, place = np.unique(rows[:, 0], return_inverse=True)
    # A name cut within a character reads as a lone surrogate, which is hashed like any other.
    texts = (kernels.names.full(code).encode("utf-8", "surrogatepass") for code in names.tolist())
    digests = [int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") for text in texts]
    hashes = np.array(digests, dtype=np.uint64)[place]
    for dimension in rows[:, 1:].T:
        hashes = mixed(hashes + dimension.astype(np.uint64) * GOLDEN_RATIO)
    return hashes
