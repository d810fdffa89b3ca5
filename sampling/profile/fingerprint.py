"""A short fingerprint of a profile's launches in order, to recognise another recording of the same program.

Each sequence has one digest of the names, grids and blocks of its launches in their order: enough to tell
whether another recording has the same launches. Earlier plan files cut a sequence into up to 256 blocks of
equal length with a digest each, which also tell in which block the first difference lies; these still count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.parallel import ordered_map
from sampling.profile.profile import KernelTable, Profile
from sampling.progress import Progress

HashArray = NDArray[np.uint64]

# How many multipliers there are, however long a sequence is. No block of an earlier plan file is longer: it
# would be of a sequence of more than 2^28 launches.
PIECE_LAUNCHES = 1 << 20
_DIGEST_BYTES = 8
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class SequenceFingerprint:
    """The launches of one sequence, as a plan file keeps them.

    Attributes
    ----------
    process, device, launches : of the sequence.
    block_launches : the length of a block, the last one may be shorter; of one block, all launches.
    digests : (blocks,) one for each block.
    """

    process: int
    device: int
    launches: int
    block_launches: int
    digests: HashArray

    def as_json(self) -> dict[str, Any]:
        """Return a fingerprint of one block for a plan file; the digest has 16 hexadecimal digits."""
        (digest,) = self.digests.tolist()
        return {
            "process": self.process,
            "device": self.device,
            "launches": self.launches,
            "digest": f"{digest:016x}",
        }

    @staticmethod
    def from_json(row: Mapping[str, Any]) -> SequenceFingerprint:
        """Return the fingerprint that ``as_json`` gave, or one of several blocks of an earlier plan file.

        Raises
        ------
        ValueError : something is missing, or the digests are not those of the blocks.
        """
        try:
            launches = int(row["launches"])
            block_launches = launches if "digest" in row else int(row["block_launches"])
            written = bytes.fromhex(row["digest"] if "digest" in row else row["digests"])
        except KeyError as error:
            raise ValueError(f"sequences: {error}") from error
        if (
            launches < 1
            or block_launches < 1
            or len(written) != _DIGEST_BYTES * -(-launches // block_launches)
        ):
            raise ValueError("sequences: their digests are not those of their launches")
        digests = np.frombuffer(written, dtype=">u8").astype(np.uint64)
        return SequenceFingerprint(int(row["process"]), int(row["device"]), launches, block_launches, digests)


def fingerprints(profile: Profile) -> tuple[SequenceFingerprint, ...]:
    """Return the fingerprint of every sequence of a profile, in id order; one pass over the signatures."""
    lengths = [sequence.launches for sequence in profile.sequences]
    digests = block_digests(profile, lengths, lengths)
    return tuple(
        SequenceFingerprint(sequence.process, sequence.device, sequence.launches, sequence.launches, digest)
        for sequence, digest in zip(profile.sequences, digests, strict=True)
    )


def block_digests(
    profile: Profile,
    block_launches: Sequence[int],
    launches: Sequence[int],
    progress: Progress | None = None,
) -> tuple[HashArray, ...]:
    """Return (blocks,) digests of the first ``launches[i]`` launches of each sequence i.

    The digest of a block is the sum of hash(launch j) * multiplier(j) modulo 2^64, j counted within it: a
    multilinear hash. The multipliers are odd, so that a single launch that differs is always noticed; several
    cancel each other with a chance of about 2^-58. A block of more than `PIECE_LAUNCHES` is summed in pieces
    of so many: j is counted within its piece, and each piece after the first has a multiplier of its own.

    Parameters
    ----------
    block_launches : the length of the blocks of each sequence.
    launches : at most as many as the sequence has.
    """
    digests = tuple(
        np.zeros(-(-count // length), dtype=np.uint64)
        for count, length in zip(launches, block_launches, strict=True)
    )
    multipliers = _multipliers(min(PIECE_LAUNCHES, max(map(min, block_launches, launches))))
    hashes = signature_hashes(profile.kernels)
    first_ids = [sequence.first_id for sequence in profile.sequences]
    parts = [
        part for part in profile.parts if part.first_id - first_ids[part.sequence] < launches[part.sequence]
    ]
    tables = ordered_map(lambda part: part.load(("signature",)), parts)
    for done, (part, table) in enumerate(zip(parts, tables, strict=True)):
        if len(hashes) < len(profile.kernels):
            hashes = signature_hashes(profile.kernels, hashes)
        start = part.first_id - first_ids[part.sequence]
        stop = min(start + part.launches, launches[part.sequence])
        launch_hash = hashes.take(table["signature"][: stop - start])
        length, of_blocks = block_launches[part.sequence], digests[part.sequence]
        for first, last in _parts(start, stop, min(length, PIECE_LAUNCHES)):
            run = launch_hash[first - start : last - start]
            piece, place = divmod(first % length, PIECE_LAUNCHES)
            added = np.dot(run, multipliers[place : place + len(run)])
            # Arrays of one number, as numpy warns where single numbers overflow.
            of_block = of_blocks[first // length : first // length + 1]
            of_block += added * multipliers[piece : piece + 1] if piece else added
        if progress is not None:
            progress(done + 1, len(parts), "comparing launches")
    return digests


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


def _parts(first: int, stop: int, length: int) -> Iterator[tuple[int, int]]:
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
