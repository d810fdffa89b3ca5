"""A short fingerprint of a profile's launches in order, to recognise another recording of the same program.

Each sequence has one digest of the names, grids and blocks of its launches in their order: enough to tell
whether another recording has the same launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sampling.parallel import ordered_map
from sampling.profile.profile import KernelTable, Profile
from sampling.progress import Progress

HashArray = NDArray[np.uint64]

# How many multipliers there are, however long a sequence is.
PIECE_LAUNCHES = 1 << 20
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class SequenceFingerprint:
    """The launches of one sequence, as a plan file keeps them; the digest has 16 hexadecimal digits."""

    process: int
    device: int
    launches: int
    digest: str


def fingerprints(profile: Profile, progress: Progress | None = None) -> tuple[SequenceFingerprint, ...]:
    """Return the fingerprint of every sequence of a profile, in id order; one pass over the signatures.

    The digest is the sum of hash(launch j) * multiplier(j) modulo 2^64: a multilinear hash. The multipliers
    are odd, so that a single launch that differs is always noticed; several cancel each other with a chance
    of about 2^-58. j is counted within pieces of `PIECE_LAUNCHES`, and each piece after the first has a
    multiplier of its own.
    """
    digests = np.zeros(len(profile.sequences), dtype=np.uint64)
    longest = max((sequence.launches for sequence in profile.sequences), default=0)
    multipliers = _multipliers(min(PIECE_LAUNCHES, longest))
    hashes = signature_hashes(profile.kernels)
    tables = ordered_map(lambda part: part.load(("signature",)), profile.parts)
    for done, (part, table) in enumerate(zip(profile.parts, tables, strict=True)):
        if len(hashes) < len(profile.kernels):
            hashes = signature_hashes(profile.kernels, hashes)
        launch_hash = hashes.take(table["signature"])
        start = part.first_id - profile.sequences[part.sequence].first_id
        for first, last in _pieces(start, start + part.launches, PIECE_LAUNCHES):
            run = launch_hash[first - start : last - start]
            piece, place = divmod(first, PIECE_LAUNCHES)
            added = np.dot(run, multipliers[place : place + len(run)])
            # Arrays of one number, as numpy warns where single numbers overflow.
            of_sequence = digests[part.sequence : part.sequence + 1]
            of_sequence += added * multipliers[piece : piece + 1] if piece else added
        if progress is not None:
            progress(done + 1, len(profile.parts), "comparing launches")
    return tuple(
        SequenceFingerprint(sequence.process, sequence.device, sequence.launches, f"{digest:016x}")
        for sequence, digest in zip(profile.sequences, digests.tolist(), strict=True)
    )


def signature_hashes(kernels: KernelTable, known: HashArray | None = None) -> HashArray:
    """Return (signatures,) a hash of the name, grid and block of every signature so far.

    It is the same on every machine and in every run: BLAKE2b of the name, the dimensions mixed in.

    Parameters
    ----------
    known : what an earlier call gave for this table; only signatures added since are hashed.
    """
    before = np.zeros(0, dtype=np.uint64) if known is None else known
    rows = kernels.signature_rows()[len(before) :]
    names, place = np.unique(rows[:, 0], return_inverse=True)
    added = np.array([_text_hash(kernels.names.full(code)) for code in names.tolist()], dtype=np.uint64)[
        place
    ]
    for dimension in rows[:, 1:].T:
        added = _mixed(added + dimension.astype(np.uint64) * _GOLDEN)
    return np.concatenate([before, added])


def _pieces(first: int, stop: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield the run of ordinals ``first:stop`` cut at the multiples of a length."""
    while first < stop:
        end = min(stop, (first // length + 1) * length)
        yield first, end
        first = end


def _multipliers(count: int) -> HashArray:
    return _mixed(np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN) | np.uint64(1)


def _text_hash(text: str) -> int:
    # A name cut within a character reads as a lone surrogate, which is hashed like any other.
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mixed(values: HashArray) -> HashArray:
    """Return values whose bits all depend on all bits of the given ones: the finaliser of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
