"""Kineto's JSON decoded into typed events, with only the few fields that are used.

Imported only once a trace is being read, since it imports msgspec.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from sampling.errors import ProfileError
from sampling.readers.kineto.pieces import TracePiece

#: A kernel's grid or block is a list of three; other events use these names for values of any type.
_Dimensions = tuple[Any, ...] | dict[str, Any] | str | float | bool | None


class Arguments(msgspec.Struct, gc=False):
    """What is read of an event's ``args``."""

    device: Any = None
    stream: Any = None
    correlation: Any = None
    grid: _Dimensions = None
    block: _Dimensions = None


class Event(msgspec.Struct, gc=False):
    """What is read of one trace event. ``ts`` and ``dur`` are microseconds."""

    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None
    dur: Any = None
    pid: Any = None
    tid: Any = None
    args: Arguments | None = None


class Document(
    msgspec.Struct,
    rename={
        "trace_events": "traceEvents",
        "device_properties": "deviceProperties",
        "distributed_info": "distributedInfo",
    },
):
    """What is read of the trace besides its events; never metadata, which may hold a user's environment."""

    trace_events: list[Event] | None = None
    device_properties: Any = None
    distributed_info: Any = None
    cupti_version: Any = None
    roctracer_version: Any = None


_EVENTS = msgspec.json.Decoder(list[Event])
_DOCUMENT = msgspec.json.Decoder(Document)

_BYTE = re.compile(r"\(byte (\d+)\)")
_INDEX = re.compile(r"\[(\d+)\]")
# What PyTorch writes although JSON has it not: infinities (kineto issue 105), single backslashes of Windows
# paths (pytorch issue 98432), control characters and broken UTF-8 in the names of Python functions (pytorch
# issues 130622, 121219).
_NOT_A_NUMBER = re.compile(rb":\s*-?(?:inf|nan|infinity)\b", re.IGNORECASE)
_BACKSLASH = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
_CONTROLS_TO_SPACES = bytes(32 if byte < 32 and byte not in b"\t\n\r" else byte for byte in range(256))


def decode(piece: TracePiece, path: str, events_before: int) -> tuple[list[Event], Document]:
    """Return the events of a piece, and the rest of the document if the piece is the last.

    Raises
    ------
    ProfileError : the text is not JSON, is cut short, or not a trace.
    """
    with _collection_paused():
        try:
            return _decoded(piece.text)
        except RecursionError as error:
            raise _damage(error, piece, path, events_before) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            try:
                return _decoded(_mended(piece.text))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise _damage(error, piece, path, events_before) from error


def _decoded(text: bytes) -> tuple[list[Event], Document]:
    if text.lstrip().startswith(b"["):
        return _EVENTS.decode(text), Document()
    document = _DOCUMENT.decode(text)
    return document.trace_events or [], document


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Keep Python from searching a growing heap for cycles: decoded events have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _mended(text: bytes) -> bytes:
    """Return the text with what PyTorch writes against the rules of JSON made valid."""
    text = text.decode("utf-8", errors="replace").encode().translate(_CONTROLS_TO_SPACES)
    text = _NOT_A_NUMBER.sub(b": null", text)
    return _BACKSLASH.sub(lambda found: found[1] or rb"\\", text)


def _damage(error: Exception, piece: TracePiece, path: str, events_before: int) -> ProfileError:
    """Return what is wrong with a text that cannot be decoded, and where."""
    reason = str(error)
    at = _BYTE.search(reason)
    index = _INDEX.search(reason)
    row = events_before + int(index[1]) + 1 if index else None
    if at is not None:
        reason = _BYTE.sub(f"(byte {piece.byte_in_file(int(at[1]))})", reason)
    if isinstance(error, RecursionError):
        reason = "its values are nested too deeply"
    if "truncated" in reason:
        end = piece.byte_in_file(len(piece.text))
        reason = f"the JSON text breaks off at its end, byte {end}"
    return ProfileError(
        f"a Kineto trace that cannot be read: {reason}",
        path=path,
        row=row,
        remedy="copy or record the file again",
    )
