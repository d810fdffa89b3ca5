"""Events of a trace as columns, piece by piece: what the readers of all tools' traces share.

JSON events become Python objects, piece by piece, and every piece becomes columns at once: traces are the
formats where a launch costs Python steps. Times are microseconds in most files and become exact nanoseconds.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import RowsLeftOut
from sampling.readers.input_file import COPY_AGAIN, WHOLE, InputFile, damage_note
from sampling.readers.trace_text import PieceDecoder, TraceBlocks, Unread, trace_pieces
from sampling.text import Wording, counted

_LARGEST_MICROSECONDS = 9e15
_LABEL_RANGE = 1 << 31
_LAST_NUMBER = re.compile(r"([0-9]{1,9})\s*\Z")


class TraceSubject(NamedTuple):
    """What a trace is called in messages, how an event of a kernel is told in its text, and what helps."""

    name: str  #: "a Kineto (Chrome) trace"
    kernel: re.Pattern[bytes]
    without_kernels: str  #: what to do about one without a kernel
    damaged: Wording | str = WHOLE  #: what to do about one that is not whole


class Halves:
    """The events of a trace that are written as a beginning (ph B) and an end (ph E), and have begun."""

    def __init__(self) -> None:
        self.begun: dict[tuple[str, str], list[Any]] = {}

    def ended(self, event: Any) -> Any | None:
        """Return the whole event of an end, by the last that began on its thread; None of all others."""
        begun = self.begun.setdefault((str(event.pid), str(event.tid)), [])
        if event.ph == "B":
            begun.append(event)
        elif event.ph == "E" and begun:
            whole = begun.pop()
            start_us, end_us = numbers([whole, event], "ts").tolist()
            whole.dur = end_us - start_us
            return whole
        return None

    def whole(self, events: Iterable[Any]) -> Iterator[Any]:
        """Yield the events of a piece that have a duration, or that end in it."""
        for event in events:
            if event.ph == "X":
                yield event
            elif event.ph in {"B", "E"} and (joined := self.ended(event)) is not None:
                yield joined


class TraceEvents(ABC):
    """What has been read of a trace so far; a tool's own columns are in a class of its own above this."""

    def __init__(self, subject: TraceSubject, left_out: RowsLeftOut) -> None:
        self.count = 0
        self.subject = subject
        self.left_out = left_out
        #: Events that cannot be read and are of no kernel, and the first of them
        self.unread = 0
        self.first_unread = ""
        self.halves = Halves()

    def add(self, events: Sequence[Any], unread: Sequence[Unread]) -> None:
        """Add the events of a piece, of which some cannot be read."""
        self.add_columns(events)
        for flawed in unread:
            row = self.count + flawed.place + 1
            if self.subject.kernel.search(flawed.text):
                self.left_out.add(1, f"a kernel event cannot be read: {flawed.reason}", row=row)
            else:
                self.unread += 1
                self.first_unread = self.first_unread or f"event {row:,}: {flawed.reason}"
        self.count += len(events)

    @abstractmethod
    def add_columns(self, events: Sequence[Any]) -> None:
        """Add the events of a piece to columns."""

    @abstractmethod
    def is_kernel(self, event: Any) -> bool:
        """Return whether an event is of a kernel."""

    def end(self) -> None:
        """Leave out the kernels that began and have no end, once all events are added."""
        begun = sum(self.is_kernel(event) for events in self.halves.begun.values() for event in events)
        if begun:
            self.left_out.add(begun, "a kernel event begins (ph B) and does not end")

    def lasting(self, kernels: Sequence[Any], duration: FloatArray, events: Sequence[Any]) -> BoolArray:
        """Return (n,) which kernels, of all events of a piece, have a duration; the others are left out."""
        good = is_time(duration) & (duration >= 0)
        if not good.all():
            wrong = kernels[int(np.argmin(good))]
            # One that began in an earlier piece is told by the place of its end.
            row = self.count + 1 + next((place for place, event in enumerate(events) if event is wrong), 0)
            message = "a kernel event has no usable 'dur'"
            self.left_out.add(int(np.count_nonzero(~good)), message, row=row, column="dur")
        return good

    def note(self, path: str) -> str | None:
        """Return what to say of the events that cannot be read, None where there is none."""
        if not self.unread:
            return None
        message = counted(self.unread, "event that is no launch is", "events that are no launches are")
        return f"{path}: {message} left out, damaged; the first is {self.first_unread}"

    def without_kernels(self, file: InputFile, *, is_cut: bool) -> ProfileError:
        """Return the error for a trace without a kernel, or cut before its first."""
        name = self.subject.name
        if is_cut:
            message = f"{name} that is cut short or damaged before its first GPU kernel"
            return ProfileError(message, path=file.path, remedy=COPY_AGAIN)
        message = f"{name} of {self.count:,} events without a GPU kernel among them"
        return ProfileError(message, path=file.path, remedy=self.subject.without_kernels)


def read_events(
    file: InputFile,
    decoder: PieceDecoder,
    events: TraceEvents,
    progress: Progress | None,
    blocks: TraceBlocks | None = None,
) -> tuple[Any, tuple[str, ...]]:
    """Add the events of a trace to columns; return its document and what to say of how it was read.

    Raises ProfileError: it is not whole and `partial` is not set, or more than single events are damaged.
    """
    document, damage = None, None
    notes = []
    blocks = TraceBlocks(file, progress) if blocks is None else blocks
    for piece in trace_pieces(blocks):
        content = decoder.decode(piece)
        document, damage = content.document, content.cut_short
        if lost := next((unread for unread in content.unread if not unread.is_one), None):
            place = events.count + lost.place
            if not file.partial:
                raise _not_read_beyond(file, events.subject, place, lost.reason)
            notes.append(f"{file.path}: damaged at its event {place + 1:,}, where others may be lost")
        events.add(content.events, content.unread)
    events.end()
    damage = blocks.damage or damage
    if damage is not None:
        if not file.partial:
            raise _not_read_beyond(file, events.subject, events.count, damage)
        notes.append(damage_note(file, "event", events.count))
    note = events.note(file.path)
    return document, tuple(notes if note is None else [*notes, note])


def _not_read_beyond(file: InputFile, subject: TraceSubject, events: int, reason: str) -> ProfileError:
    message = f"{subject.name} that cannot be read beyond its first {events:,} events: {reason}"
    return ProfileError(message, path=file.path, remedy=subject.damaged)


def codes(values: Sequence[object], table: dict[Any, int]) -> NDArray[np.int32]:
    """Return (n,) the code of every value; new ones are added."""
    distinct = dict.fromkeys(values)
    for value in distinct:
        table.setdefault(value, len(table))
    if len(distinct) == 1:
        return np.full(len(values), table[values[0]], dtype=np.int32)
    return np.fromiter(map(table.__getitem__, values), dtype=np.int32, count=len(values))


def numbers(owners: Sequence[Any], field: str) -> FloatArray:
    """Return (n,) the field as a number, whether written as integer, fraction or text; else NaN.

    Whole microseconds are exact in float64 for 285 years.
    """

    def number(value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            return np.nan

    get = attrgetter(field)
    try:
        return np.fromiter(map(get, owners), dtype=np.float64, count=len(owners))
    except (TypeError, ValueError, OverflowError):
        return np.array([number(get(owner)) for owner in owners])


def is_time(microseconds: FloatArray) -> BoolArray:
    """Return which numbers are times, or numbers of calls, that int64 holds as nanoseconds."""
    return np.abs(microseconds) < _LARGEST_MICROSECONDS


def nanoseconds(microseconds: FloatArray) -> IntArray:
    """Return whole nanoseconds; the whole microseconds are scaled as integers, so a date costs no digits."""
    integers = np.floor(microseconds)
    return integers.astype(np.int64) * 1000 + np.rint((microseconds - integers) * 1000.0).astype(np.int64)


def labels(arguments: Sequence[Any], field: str, events: Sequence[Any], otherwise: str) -> Any:
    """Return (n,) int32 device or stream numbers: the argument, else what the event says itself, else 0.

    The number may end a text, such as the process ``[TP01] 3`` of one of several ranks.
    """
    values = numbers(arguments, field)
    unknown = ~np.isfinite(values)
    if unknown.any():
        substitutes = numbers(events, otherwise)
        for row in np.flatnonzero(unknown & ~np.isfinite(substitutes)).tolist():
            match = _LAST_NUMBER.search(str(getattr(events[row], otherwise)))
            substitutes[row] = int(match[1]) if match else 0
        values[unknown] = substitutes[unknown]
    return np.fmod(values, _LABEL_RANGE).astype(np.int32)
