"""Traces of bare addresses: one a line as text, or 64-bit or 32-bit integers.

Text: one address a line, decimal, or hexadecimal after ``0x``; ``#`` starts a comment, empty lines are left
out. Binary: little-endian unsigned integers of one width and nothing else. Each address is one access of one
byte.
"""

from __future__ import annotations

import re

import numpy as np

from scalemodel.errors import InputError, Place
from scalemodel.traces.accesses import AddressArray, AddressTrace, lines_of
from scalemodel.traces.trace_file import TraceFile
from scalemodel.traces.words import address_numbers, split_lines

_COMMENT = re.compile(rb"#[^\n]*")
_ADDRESS_LINE = re.compile(rb"\s*(0[xX][0-9a-fA-F]+|[0-9]+)\s*")


def recognises(head: bytes) -> bool:
    """Return whether the first line that is no comment and not empty is an address."""
    for line in head.split(b"\n"):
        if bare := _COMMENT.sub(b"", line).strip():
            return _ADDRESS_LINE.fullmatch(bare) is not None
    return False


def read_text(file: TraceFile, line_bytes: int) -> AddressTrace:
    """Read addresses, one a line.

    Raises
    ------
    InputError : a line is not one address of at most 64 bits.
    """
    lines: list[AddressArray] = []
    rows_before = 0
    for piece in file.line_pieces():
        text = _COMMENT.sub(b"", piece) if b"#" in piece else piece
        found = split_lines(text)
        words = found.words[found.first[:-1]]
        address, is_address = address_numbers(words)
        is_address &= np.diff(found.first) == 1
        if not is_address.all():
            wrong = int(np.argmin(is_address))
            what = f"{words.word(wrong)!r} is not" if np.diff(found.first)[wrong] == 1 else "the line is not"
            raise InputError(
                f"{what} an address of at most 64 bits",
                Place(file.path, rows_before + int(found.row[wrong]) + 1),
                remedy="write one address a line, decimal (at most 19 digits) or hexadecimal after 0x",
            )
        lines.append(lines_of(address, line_bytes))
        rows_before += found.rows
    return AddressTrace(np.concatenate([np.zeros(0, dtype=np.uint64), *lines]), line_bytes)


def read_binary(file: TraceFile, line_bytes: int, address_bytes: int) -> AddressTrace:
    """Read little-endian unsigned integers.

    Parameters
    ----------
    address_bytes : of each, 8 or 4.

    Raises
    ------
    InputError : the bytes are no whole number of integers.
    """
    content = b"".join(file.pieces())
    if len(content) % address_bytes:
        raise InputError(
            f"its bytes, {len(content):,}, are no whole number of {address_bytes}-byte addresses",
            Place(file.path),
            remedy=f"write little-endian unsigned {8 * address_bytes}-bit integers, nothing else",
        )
    address = np.frombuffer(content, dtype=f"<u{address_bytes}").astype(np.uint64, copy=False)
    return AddressTrace(lines_of(address, line_bytes), line_bytes)
