"""Traces as Accel-Sim 2.0 packs them, ``.tracez``, as the text that they were packed from.

Little-endian: the head's lines and a zero byte; u32 size of a zstd dictionary, u32 instructions a chunk, the
dictionary; for each warp u32 instructions, u32 chunks, and of each chunk u32 size and its zstd of lines. The
last u64 of the file is the place of the index: u32 thread blocks, for each 11 u32 (x y z of the block, of its
cluster, and of its place there, its rank there, its warps), and for each warp u32 instructions, u32 chunks,
u64 place, and u32 instructions of each chunk. Written from the public parser, not tried on a real file.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

_FORMAT_SIGN = b"#traces format"
# A chunk has some dozen lines; a damaged size is larger.
_MOST_CHUNK_BYTES = 64 << 20
_LONGEST_HEAD_BYTES = 1 << 16


def is_packed_trace(head: bytes) -> bool:
    """Return whether a file that starts like this is a packed trace."""
    text, zero, _ = head.partition(b"\0")
    return bool(zero) and text.startswith(b"-") and _FORMAT_SIGN in text


class _Block(NamedTuple):
    """A thread block, as the index has it."""

    block: tuple[int, int, int]
    #: Of its cluster, and of its place there.
    cluster: tuple[int, int, int]
    cta: tuple[int, int, int]
    rank: int
    #: Where each of its warps stands in the file, and the instructions of its chunks.
    warps: list[tuple[int, tuple[int, ...]]]

    def lines(self) -> list[str]:
        """Return the lines that stand before its warps in the text."""
        lines = ["", "thread block = {},{},{}".format(*self.block)]
        if any((*self.cluster, *self.cta, self.rank)):
            lines.append("cluster id = {},{},{}".format(*self.cluster))
            lines += ["cluster cta = {},{},{}".format(*self.cta), f"cluster rank = {self.rank}"]
        return lines


class PackedTrace(io.RawIOBase):
    """The text of a packed trace, read warp by warp; EOFError where it is cut short or damaged."""

    #: As that of other streams here: nothing is left out in silence.
    damage = None

    def __init__(self, packed: IO[bytes]) -> None:
        super().__init__()
        self._packed, self._waiting = packed, memoryview(b"")
        self._text = self._pieces()

    def instructions(self) -> int:
        """Return how many the index counts, in all warps; EOFError where it is damaged."""
        return sum(sum(chunks) for block in self._index() for _, chunks in block.warps)

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes into a buffer and return how many; 0 at the end."""
        while not self._waiting:
            piece = next(self._text, None)
            if piece is None:
                return 0
            self._waiting = memoryview(piece)
        count = min(len(buffer), len(self._waiting))
        buffer[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count

    def close(self) -> None:
        """Close the packed file too."""
        if not self.closed:
            self._packed.close()
        super().close()

    def _pieces(self) -> Iterator[bytes]:
        head = self._packed.read(_LONGEST_HEAD_BYTES)
        size = head.find(b"\0")
        if size < 0:
            raise EOFError("its head has no end")
        yield head[:size] if head[:size].endswith(b"\n") else head[:size] + b"\n"
        self._packed.seek(size + 1)
        dictionary_bytes, _ = self._numbers("<II")
        inflate = _inflater(self._exactly(dictionary_bytes, "its dictionary"))
        for block in self._index():
            yield ("\n".join(["#BEGIN_TB", *block.lines()]) + "\n").encode()
            for warp, (place, instructions) in enumerate(block.warps):
                yield f"\nwarp = {warp}\ninsts = {sum(instructions)}\n".encode()
                self._packed.seek(place)
                if self._numbers("<II") != (sum(instructions), len(instructions)):
                    raise EOFError("a warp is not where the index has it")
                for lines in instructions:
                    (chunk_bytes,) = self._numbers("<I")
                    text = inflate(self._exactly(chunk_bytes, "a chunk"))
                    text = text if text.endswith(b"\n") else text + b"\n"
                    if text.count(b"\n") != lines:
                        raise EOFError(f"a chunk has other than the {lines:,} instructions of the index")
                    yield text
            yield b"\n#END_TB\n\n"

    def _index(self) -> list[_Block]:
        """Return the thread blocks that the end of the file lists."""
        file_bytes = self._packed.seek(-8, os.SEEK_END) + 8
        (place,) = self._numbers("<Q")
        if place >= file_bytes - 8:
            raise EOFError("its index is missing")
        self._packed.seek(place)
        table = io.BytesIO(self._exactly(file_bytes - 8 - place, "its index"))

        def numbers(form: str) -> tuple[int, ...]:
            content = table.read(struct.calcsize(form))
            if len(content) < struct.calcsize(form):
                raise EOFError("its index ends early")
            return struct.unpack(form, content)

        blocks = []
        for _ in range(*numbers("<I")):
            x, y, z, cluster_x, cluster_y, cluster_z, cta_x, cta_y, cta_z, rank, warps = numbers("<11I")
            places = []
            for _ in range(warps):
                instructions, chunks, warp_place = numbers("<IIQ")
                of_chunks = numbers(f"<{chunks}I") if chunks <= instructions else ()
                if sum(of_chunks) != instructions:
                    raise EOFError("its index contradicts itself")
                places.append((warp_place, of_chunks))
            cluster, cta = (cluster_x, cluster_y, cluster_z), (cta_x, cta_y, cta_z)
            blocks.append(_Block((x, y, z), cluster, cta, rank, places))
        return blocks

    def _numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack(form, self._exactly(struct.calcsize(form), "it"))

    def _exactly(self, size: int, subject: str) -> bytes:
        if size > _MOST_CHUNK_BYTES and subject == "a chunk":
            raise EOFError(f"a chunk of {size:,} bytes")
        content = self._packed.read(size)
        if len(content) < size:
            raise EOFError(f"{subject} ends early")
        return content


def _inflater(dictionary: bytes) -> Callable[[bytes], bytes]:
    """Return what inflates a chunk."""
    import zstandard

    words = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    inflate = zstandard.ZstdDecompressor(dict_data=words)

    def inflated(chunk: bytes) -> bytes:
        try:
            return inflate.decompress(chunk, max_output_size=_MOST_CHUNK_BYTES)
        except zstandard.ZstdError as error:
            raise EOFError(f"a chunk does not inflate: {error}") from error

    return inflated
