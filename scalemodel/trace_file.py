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
                stream = cast("IO[bytes]", lzma.LZMAFile(stream))  # noqa: SIM115
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
_HEX_DIGITS = 16
# Any number of so many decimal digits fits 64 bits.
_DECIMAL_DIGITS = 19
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


def hex_numbers(words: Words) -> tuple[AddressArray, BoolArray]:
    """Return the value of each word of hexadecimal digits, ``0x`` before or not, and whether it is one."""
    second = words.text[np.minimum(words.start + 1, words.text.size - 1)] | 0x20
    has_prefix = (words.text[words.start] == ord("0")) & (second == ord("x"))
    has_prefix &= words.end - words.start >= 2
    return _numbers(Words(words.text, words.start + 2 * has_prefix, words.end), 16, _HEX_DIGITS)


def decimal_numbers(words: Words) -> tuple[AddressArray, BoolArray]:
    """Return the value of each word of decimal digits, at most 19, and whether it is one."""
    return _numbers(words, 10, _DECIMAL_DIGITS)


def signed_numbers(words: Words) -> tuple[IntArray, BoolArray]:
    """Return the value of each word of decimal digits, a minus before them or not, and whether it is one."""
    is_negative = words.text[words.start] == ord("-")
    value, is_number = decimal_numbers(Words(words.text, words.start + is_negative, words.end))
    is_number &= value < 1 << 63
    signed = value.view(np.int64)
    return np.where(is_negative, -signed, signed), is_number


def base_names(words: Words) -> AddressArray:
    """Return the first 8 bytes of each word up to its first dot, as one number; see ``name_code``."""
    code = np.zeros(words.start.size, dtype=np.uint64)
    going = np.ones(words.start.size, dtype=np.bool_)
    for place in range(8):
        at = words.start + place
        letter = words.text[np.minimum(at, words.text.size - 1)]
        going &= (at < words.end) & (letter != ord("."))
        code |= np.where(going, letter, 0).astype(np.uint64) << np.uint64(8 * place)
    return code


def name_code(name: str) -> int:
    """Return what ``base_names`` makes of this name."""
    return int.from_bytes(name.encode()[:8], "little")


def _numbers(words: Words, base: int, most_digits: int) -> tuple[AddressArray, BoolArray]:
    """Return the values of words of at most so many digits, and which words are that."""
    length = words.end - words.start
    is_number = (length > 0) & (length <= most_digits)
    value = np.zeros(words.start.size, dtype=np.uint64)
    # From the first digit on: in step `place`, the words that are longer than that have one more.
    for place in range(int(length.max(initial=0, where=is_number))):
        has_more = length > place
        digit = _DIGIT_VALUE[words.text[np.where(has_more, words.start + place, 0)]]
        is_number &= ~has_more | (digit < base)
        value = np.where(has_more, value * np.uint64(base) + digit, value)
    return value, is_number
