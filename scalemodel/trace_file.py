"""A trace as its readers see it: its bytes in whole lines, the words and numbers in them, and its accesses.

Gzip, xz, or neither; many lines at once, without a Python step a line.
"""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scalemodel.arrays import BoolArray, IntArray
from scalemodel.errors import InputError, Place

AddressArray = NDArray[np.uint64]

_GZIP_MAGIC, _XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
_HEAD_BYTES = 1 << 16
# Small enough that what is made of a piece stays near the processor.
PIECE_BYTES = 1 << 20


class TraceFile(NamedTuple):
    """An open trace."""

    #: As the user gave it ("-" for standard input); for messages.
    path: str
    #: Its first 64 KiB or less, decompressed; and its bytes from the first on, decompressed.
    head: bytes
    stream: IO[bytes]

    def line_pieces(self) -> Iterator[bytes]:
        """Yield the bytes in pieces of whole lines, about a MiB each; only the last may lack a line end."""
        rest: list[bytes] = []
        with damage_reported(self.path):
            while piece := self.stream.read(PIECE_BYTES):
                end = piece.rfind(b"\n") + 1
                if end:
                    yield b"".join([*rest, piece[:end]])
                    rest.clear()
                rest.append(piece[end:])
        if last := b"".join(rest):
            yield last


@contextmanager
def open_trace(path: str) -> Iterator[TraceFile]:
    """Open one trace; "-" is standard input; raise InputError if it does not exist or cannot be read."""
    with ExitStack() as opened:
        with damage_reported(path):
            stream: IO[bytes] = sys.stdin.buffer
            if path != "-":
                stream = opened.enter_context(Path(path).open("rb"))
            if not stream.seekable():
                # A pipe is kept: it cannot be read from the start again.
                stream = io.BytesIO(stream.read())
            first = stream.read(len(_XZ_MAGIC))
            stream.seek(0)
            if first.startswith(_GZIP_MAGIC):
                stream = cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
            elif first.startswith(_XZ_MAGIC):
                stream = lzma.open(stream)  # noqa: SIM115
            head = stream.read(_HEAD_BYTES)
            stream.seek(0)
        yield TraceFile(path, head, stream)


@contextmanager
def damage_reported(path: str) -> Iterator[None]:
    """Turn what decompression and the file system raise into this engine's error."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        what = f"the compressed data is cut short or damaged ({error})"
        raise InputError(what, Place(path), remedy="copy or record the file again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, Place(path), remedy="check the path") from error


# -- accesses to cache lines ------------------------------------------------------------------------------


class AddressTrace(NamedTuple):
    """The accesses of a program, in order."""

    #: (n,) the cache line of each access: its address over ``line_bytes``.
    line: AddressArray
    line_bytes: int
    #: Executed while it was recorded; None where nothing says it.
    thread_instructions: int | None = None
    warp_instructions: int | None = None


def lines_of(address: AddressArray, line_bytes: int) -> AddressArray:
    """Return the lines the addresses lie in."""
    return address >> np.uint64(line_bytes.bit_length() - 1)


def lines_touched(
    address: AddressArray, size: AddressArray, line_bytes: int
) -> tuple[AddressArray, IntArray]:
    """Return every line that each access touches, ascending, and the index of its access.

    Sizes, in bytes, are 1 or more and do not reach beyond the last address.
    """
    first = lines_of(address, line_bytes)
    more = (lines_of(address + (size - np.uint64(1)), line_bytes) - first).view(np.int64)
    access = np.arange(first.size)
    if not more.any():
        return first, access
    access = np.repeat(access, more + 1)
    start = np.cumsum(more + 1) - more - 1
    return first[access] + (np.arange(access.size) - start[access]).astype(np.uint64), access


# -- words and numbers ------------------------------------------------------------------------------------

ByteArray = NDArray[np.uint8]

_NOT_A_DIGIT = 255
# Any number of so many digits of a base fits 64 bits.
_MOST_DIGITS = {10: 19, 16: 16}
_DIGIT_VALUE = np.full(256, _NOT_A_DIGIT, dtype=np.uint8)
for _digit in "0123456789abcdefABCDEF":
    _DIGIT_VALUE[ord(_digit)] = int(_digit, 16)


@dataclass(frozen=True, slots=True)
class Words:
    """Some words of a text."""

    text: ByteArray
    start: IntArray
    end: IntArray

    def __getitem__(self, which: IntArray | BoolArray) -> Words:
        return Words(self.text, self.start[which], self.end[which])

    def letters(self, count: int) -> ByteArray:
        """Return the (n, count) first bytes of the words, 0 after their ends."""
        place = self.start[:, None] + np.arange(count)
        return np.where(place < self.end[:, None], self.text[np.minimum(place, self.text.size - 1)], 0)

    def word(self, number: int) -> str:
        """Return one word, for messages."""
        return self.text[self.start[number] : self.end[number]].tobytes().decode("utf-8", "replace")


class Lines(NamedTuple):
    """The words of a text line by line."""

    words: Words
    #: (l + 1,) of each line that is not blank its first word, and the number of words.
    first: IntArray
    #: (l,) the row of each of these lines, from 0; and how many line ends the text has.
    row: IntArray
    rows: int


def split_lines(text: bytes) -> Lines:
    """Split a text into lines, and these into words apart by blanks."""
    content = np.frombuffer(text, dtype=np.uint8)
    inside = np.zeros(content.size + 2, dtype=np.bool_)
    np.greater(content, ord(" "), out=inside[1:-1])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    words = Words(content, edges[::2], edges[1::2])
    line_ends = np.flatnonzero(content == ord("\n"))
    row_of_word = np.searchsorted(line_ends, words.start)
    first = np.flatnonzero(np.diff(row_of_word, prepend=-1) != 0)
    return Lines(words, np.append(first, words.start.size), row_of_word[first], line_ends.size)


def numbers(words: Words, base: int, *, is_signed: bool = False) -> tuple[AddressArray, BoolArray]:
    """Return the value of each word of digits, modulo 2^64, and whether it is one.

    Hexadecimal digits, of a base of 16, may follow ``0x``; decimal ones, if signed, a minus.
    """
    head = words.letters(2)
    is_negative = (head[:, 0] == ord("-")) & is_signed
    has_prefix = (head[:, 0] == ord("0")) & (head[:, 1] | 0x20 == ord("x")) & (base == 16)
    start = words.start + is_negative + 2 * has_prefix
    length = words.end - start
    is_number = (length > 0) & (length <= _MOST_DIGITS[base])
    value = np.zeros(start.size, dtype=np.uint64)
    # From the first digit on: in step `place`, the words that are longer than that have one more.
    for place in range(int(length.max(initial=0, where=is_number))):
        has_more = length > place
        digit = _DIGIT_VALUE[words.text[np.where(has_more, start + place, 0)]]
        is_number &= ~has_more | (digit < base)
        value = np.where(has_more, value * np.uint64(base) + digit, value)
    is_number &= (value < 1 << 63) | (not is_signed)
    return np.where(is_negative, np.negative(value), value), is_number
