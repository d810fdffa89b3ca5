"""A trace of events in JSON as text: cut into pieces of whole events and decoded, with its flaws.

Profilers write text that is not JSON: infinities, single backslashes, quotation marks inside names. What is
wrong in one event costs that event alone, and of a text that is cut short what is whole is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from msgspec import DecodeError, Struct, json

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.readers.input_file import COPY_AGAIN, WHOLE, InputFile, decoded

_BLOCK_BYTES = 1 << 22
_PIECE_BYTES = 1 << 20
# Where white space between two events is longer than this, the text is not split there.
_OVERLAP_BYTES = 1 << 10

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LIST = re.compile(rb"\s*\[")
_EVENTS_OPEN = re.compile(rb'\A\s*\[|"traceEvents"\s*:\s*\[')
_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"\\]+)"\s*:')
# Where keys are sorted, an event begins with the first of these that it has.
_FIRST_OF_SORTED = (b"args", b"bp", b"cat")
# What PyTorch writes although JSON has it not: infinities (kineto issue 105), single backslashes of Windows
# paths (pytorch issue 98432), control characters and broken UTF-8 in the names of Python functions (pytorch
# issues 130622, 121219).
_NOT_A_NUMBER = re.compile(rb":\s*-?(?:inf|nan|infinity)\b", re.IGNORECASE)
_BACKSLASH = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
# A zero is no character of a name, but damage.
_CONTROLS_TO_SPACES = bytes(32 if byte < 32 and byte not in b"\0\t\n\r" else byte for byte in range(256))
# A name with quotation marks in it ends where another key of an event follows.
_NAME = re.compile(
    rb'("name"\s*:\s*")(.*?)("\s*(?:\}\s*\Z|,\s*"(?:ph|cat|pid|tid|ts|dur|args)"\s*:))', re.DOTALL
)
_QUOTE = re.compile(rb'(\\.)|"', re.DOTALL)
_KEYS = [re.compile(rb'"%b"\s*:' % key) for key in (b"ph", b"pid", b"ts")]
_LIST_CLOSES = re.compile(rb"\}\s*(\])")
_BEGUN_EVENT = re.compile(rb'\}\s*(,\s*(?:\{\s*(?:"[^"]*"?\s*)?)?)\Z')
# More places where the list of events may end are not looked at, and what is longer is no event.
_MOST_ENDS = 32
_LONGEST_EVENT_BYTES = 1 << 22
# A string may be cut short.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{}]', re.DOTALL)
_FAILURES = (DecodeError, UnicodeDecodeError)


class Unread(NamedTuple):
    """An event that cannot be decoded."""

    place: int  #: among the events of its piece
    text: bytes
    reason: str

    @property
    def is_one(self) -> bool:
        """Whether its text is that of one event, so that nothing else is lost with it."""
        return b"\0" not in self.text and all(len(key.findall(self.text)) == 1 for key in _KEYS)


class Decoded(NamedTuple):
    """A piece of a trace: its events, an empty one where one is unread."""

    document: Any
    events: list[Any]
    unread: tuple[Unread, ...] = ()
    cut_short: str | None = None  #: why the text ends before the trace does


class TraceBlocks:
    """The decompressed bytes of a trace, block by block; of damaged gzip data those before the damage."""

    def __init__(self, file: InputFile, progress: Progress | None = None) -> None:
        self._file = replace(file, partial=True, progress=progress)
        self.damage: str | None = None  #: what is wrong with the gzip data, once all is read

    def __iter__(self) -> Iterator[bytes]:
        """Yield the blocks; a second thread would wait for the lock that decoding holds."""
        with self._file.open() as stream:
            while block := stream.read(_BLOCK_BYTES):
                yield block
            self.damage = stream.raw.damage  # type: ignore[attr-defined]


def read_at_once(
    file: InputFile, decode: Callable[[Any], Any], subject: str, progress: Progress | None
) -> tuple[Any, str | None]:
    """Return a JSON text as a function decodes it, and why it is not whole, None where it is.

    Its flaws are mended; where it is not whole its lists end with the last element that is.

    Raises ProfileError: it is not whole and `partial` is not set, or too little of it is there.
    """
    blocks, text = TraceBlocks(file, progress), bytearray()
    for block in blocks:
        text += block
    del text[: len(BYTE_ORDER_MARK) * text.startswith(BYTE_ORDER_MARK)]
    document, reason = _document_or_reason(decode, text)
    if reason is not None:
        mended = _mended(text)
        document, reason = _document_or_reason(decode, mended)
    damage = blocks.damage or reason
    if damage is not None and file.partial and reason is not None:
        document, reason = _document_or_reason(decode, _closed(mended))
    if damage is not None and (not file.partial or reason is not None):
        message, remedy = f"{subject} that is cut short or damaged ({damage})", COPY_AGAIN
        raise ProfileError(message, path=file.path, remedy=remedy if file.partial else WHOLE)
    return document, damage


def _document_or_reason(decode: Callable[[Any], Any], text: bytes | bytearray) -> tuple[Any, str | None]:
    try:
        return decoded(decode, memoryview(text)), None
    except _FAILURES as error:
        return None, _reason(error)


def _closed(text: bytes) -> bytes:
    """Return a JSON text up to the last whole element of a list, an object or a list, and closed there."""
    ends, stop, rest = bytearray(), 0, b""
    for token in _TOKEN.finditer(text):
        if token[0] in b"[{":
            ends += b"]" if token[0] == b"[" else b"}"
        elif token[0] in b"]}" and ends:
            ends.pop()
            if ends.endswith(b"]"):
                stop, rest = token.end(), bytes(ends)
    return text[:stop] + rest[::-1]


def trace_pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a trace in pieces of whole events, so that a file of gigabytes is never in memory whole.

    Where an event ends is seen without parsing: ``}, {"ph":`` stands between two events and nowhere else. It
    cannot stand inside a string, where its quote, not escaped and followed by a letter, would end the string
    with no comma or bracket after it. The key is the first one of the file's first event, or another where
    they are sorted.

    A piece is a JSON list of events, the last one the whole document without the events of earlier pieces.
    """
    opening, rest = b"", b""
    between: re.Pattern[bytes] | None = None
    searched = 0
    for block in blocks:
        rest += block
        if between is None:
            rest = rest.removeprefix(BYTE_ORDER_MARK)
            opened = _EVENTS_OPEN.search(rest, searched)
            between = None if opened is None else _between(rest, opened.end())
            if opened is None or between is None:
                searched = max(0, len(rest) - _OVERLAP_BYTES)
                continue
            opening, rest, searched = rest[: opened.end()], rest[opened.end() :], _PIECE_BYTES
        start = 0
        while (separator := between.search(rest, start + searched)) is not None:
            yield b"[" + rest[start : separator.start() + 1] + b"]"
            start, searched = separator.end("comma"), _PIECE_BYTES
        rest = rest[start:]
        searched = max(_PIECE_BYTES, len(rest) - _OVERLAP_BYTES)
    yield opening + rest


def _between(text: bytes, place: int) -> re.Pattern[bytes] | None:
    """Return what stands between two events where the first begins at a place; None: none begins there."""
    key = _FIRST_KEY.match(text, place)
    if key is None:
        return None
    keys = b"|".join(_FIRST_OF_SORTED) if key[1] in _FIRST_OF_SORTED else re.escape(key[1])
    return re.compile(rb'\}\s*(?P<comma>,)\s*\{\s*"(?:' + keys + rb')"\s*:')


class PieceDecoder:
    """Decodes the pieces of a trace as a document whose ``events`` are of one type."""

    def __init__(self, document: type[Struct], event: type[Struct]) -> None:
        self._document, self._event = json.Decoder(document), json.Decoder(event)
        self._no_document, self._no_event = document(), event()

    def decode(self, piece: bytes) -> Decoded:
        """Return what a piece holds."""
        try:
            document = self._decoded(piece)
        except _FAILURES as error:
            return self._by_event(piece, _reason(error))
        return Decoded(document, document.events or [])

    def _decoded(self, text: bytes) -> Any:
        if _LIST.match(text):
            text = b'{"traceEvents":%b}' % text
        try:
            return decoded(self._document.decode, text)
        except (DecodeError, UnicodeDecodeError):
            return decoded(self._document.decode, _mended(text))

    def _by_event(self, piece: bytes, reason: str) -> Decoded:
        """Return the events of a piece that is not JSON as a whole, one by one."""
        opened = _EVENTS_OPEN.search(piece)
        between = None if opened is None else _between(piece, opened.end())
        if opened is None or between is None:
            return Decoded(self._no_document, [], (), reason)
        opening, start = piece[: opened.end()], opened.end()
        events: list[Any] = []
        unread: list[Unread] = []
        for separator in between.finditer(piece, start):
            self._add(piece[start : separator.start() + 1], events, unread)
            start = separator.end("comma")
        last = piece[start:]
        if len(last) > _LONGEST_EVENT_BYTES:
            return Decoded(self._no_document, events, tuple(unread), reason)
        # What follows the list stands behind the last event, which may hold the end of a list itself.
        ends = [
            closing.start(1)
            for closing, _ in zip(_LIST_CLOSES.finditer(last), range(_MOST_ENDS), strict=False)
        ]
        for end in ends:
            try:
                document = self._decoded(opening + last[end:])
            except _FAILURES:
                continue
            self._add(last[:end], events, unread)
            return Decoded(document, events, tuple(unread))
        # The last one may be whole, and what is cut short is what follows it.
        beginning = _BEGUN_EVENT.search(last)
        for end in [*ends, len(last) if beginning is None else beginning.start(1)]:
            event = self._decode_event(last[:end])
            if not isinstance(event, str):
                events.append(event)
                break
            reason = event
        try:
            document = self._decoded(opening + (b"]" if _LIST.match(opening) else b"]}"))
        except _FAILURES:
            document = self._no_document
        return Decoded(document, events, tuple(unread), reason)

    def _add(self, text: bytes, events: list[Any], unread: list[Unread]) -> None:
        """Add the event of a text, or an empty one and why it is unread."""
        event = self._decode_event(text)
        if isinstance(event, str):
            unread.append(Unread(len(events), text, event))
            event = self._no_event
        events.append(event)

    def _decode_event(self, text: bytes) -> Any:
        """Return the event of a text, or why it cannot be decoded."""
        reason = ""
        for mend in _MENDS[: None if len(text) <= _LONGEST_EVENT_BYTES else 1]:
            try:
                return decoded(self._event.decode, mend(text))
            except _FAILURES as error:
                reason = reason or _reason(error)
        return reason


def _reason(error: Exception) -> str:
    # A place within the piece says nothing of the file.
    return re.sub(r" \(byte \d+\)", "", str(error))


def _mended(text: bytes | bytearray) -> bytes:
    text = text.decode("utf-8", errors="replace").encode().translate(_CONTROLS_TO_SPACES)
    return _BACKSLASH.sub(lambda escape: escape[1] or rb"\\", _NOT_A_NUMBER.sub(b": null", text))


def _with_quotes_escaped(text: bytes) -> bytes:
    """Return an event with the quotation marks inside its name escaped."""
    text = _mended(text)
    name = _NAME.match(text, text.find(b'"name"'))
    if name is None:
        return text
    escaped = _QUOTE.sub(lambda quote: quote[1] or rb"\"", name[2])
    return text[: name.start(2)] + escaped + text[name.end(2) :]


_MENDS: tuple[Callable[[bytes], bytes], ...] = (bytes, _mended, _with_quotes_escaped)
