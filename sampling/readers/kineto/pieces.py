"""The text of a Kineto trace in pieces of whole events, so that a file of gigabytes is never in memory whole.

Where an event ends is seen without parsing: ``}, {"ph":`` stands between two events and nowhere else. It
cannot stand inside a string, where its quote, not escaped and followed by a letter, would end the string with
no comma or bracket after it. The key is the first one of the file's first event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_PIECE_BYTES = 1 << 18
_EVENTS_OPEN = re.compile(rb'\A\s*\[|"traceEvents"\s*:\s*\[')
_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"\\]+)"\s*:')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Where white space between two events is longer than this, the text is not split there.
_OVERLAP_BYTES = 1 << 10


@dataclass(frozen=True, slots=True)
class TracePiece:
    """Some consecutive events, as a JSON text of their own.

    Attributes
    ----------
    text : a JSON list of events; in the last piece the whole document without the events of earlier pieces.
    opening_bytes : the bytes at the beginning of ``text`` from before its first event.
    skipped_bytes : how many bytes later in the file than in ``text`` its events are.
    """

    text: bytes
    opening_bytes: int
    skipped_bytes: int

    def byte_in_file(self, offset: int) -> int:
        """Return where in the decompressed file, after a byte order mark, a byte of the text is."""
        return offset if offset < self.opening_bytes else offset + self.skipped_bytes


def trace_pieces(blocks: Iterable[bytes]) -> Iterator[TracePiece]:
    """Yield the trace piece by piece; a single one where its events cannot be told apart.

    Parameters
    ----------
    blocks : the decompressed bytes of the file in order.
    """
    source = iter(blocks)
    opening, rest = _up_to_first_event(source)
    done_bytes = 0
    boundary = _boundary(rest)
    search_from = _PIECE_BYTES
    while True:
        start = 0
        while boundary is not None and (found := boundary.search(rest, start + search_from)) is not None:
            events = memoryview(rest)[start : found.start() + 1]
            yield TracePiece(b"".join((b"[", events, b"]")), len(b"["), len(opening) + done_bytes - len(b"["))
            done_bytes += found.end("comma") - start
            start = found.end("comma")
            search_from = _PIECE_BYTES
        search_from = max(_PIECE_BYTES, len(rest) - start - _OVERLAP_BYTES)
        block = next(source, None)
        rest = rest[start:] + (block or b"")
        if block is None:
            yield TracePiece(opening + rest, len(opening), done_bytes)
            return


def _up_to_first_event(source: Iterator[bytes]) -> tuple[bytes, bytes]:
    """Return the text until the list of events is open, and what has been read after it."""
    text = b""
    searched = 0
    for block in source:
        text = (text + block).removeprefix(_BYTE_ORDER_MARK)
        opened = _EVENTS_OPEN.search(text, searched)
        if opened is not None and _FIRST_KEY.match(text, opened.end()) is not None:
            return text[: opened.end()], text[opened.end() :]
        searched = max(0, len(text) - _OVERLAP_BYTES)
    return b"", text


def _boundary(rest: bytes) -> re.Pattern[bytes] | None:
    """Return the pattern between two events, from how the first one opens."""
    first = _FIRST_KEY.match(rest)
    if first is None:
        return None
    return re.compile(rb'\}\s*(?P<comma>,)\s*\{\s*"' + re.escape(first[1]) + rb'"\s*:')
