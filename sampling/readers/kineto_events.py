"""The events of PyTorch profiler traces as columns, piece by piece."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from msgspec import DecodeError, Meta, Raw, Struct, json
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.profile.launch_table import NO_CALL, NO_NAME, RowsLeftOut
from sampling.profile.times import NO_START
from sampling.readers.input_file import WHOLE
from sampling.readers.trace_events import (
    TraceEvents,
    TraceSubject,
    codes,
    is_time,
    labels,
    nanoseconds,
    numbers,
)
from sampling.text import joined_texts

_STACKS = "if it was recorded with stacks, with_stack=False leaves out the names that break JSON"
_SUBJECT = TraceSubject(
    "a Kineto (Chrome) trace",
    re.compile(rb'"cat"\s*:\s*"kernel"', re.IGNORECASE),
    "record with `activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`, no other "
    "profiler attached and permission to read GPU activity",
    joined_texts("; ", (WHOLE, _STACKS)),
)

NO_SIZE = Raw(b"null")
_Columns = TypeVar("_Columns", bound=tuple[NDArray[Any], ...])
_Count = Annotated[int, Meta(ge=0, lt=1 << 32)]


class _Arguments(Struct, gc=False):
    device: Any = None
    stream: Any = None
    correlation: Any = None
    grid: Raw = NO_SIZE
    block: Raw = NO_SIZE


class Event(Struct, gc=False):
    """What is read of an event."""

    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None  #: microseconds, as ``dur``
    dur: Any = None
    pid: int | float | str | None = None
    tid: Any = None
    args: _Arguments | None = None


class Kernels(NamedTuple):
    """Kernels, (n,) each, in the order of the file; name, grid, block and process are codes."""

    name: AnyIntArray
    start_ns: IntArray
    duration_ns: IntArray
    device: AnyIntArray
    stream: AnyIntArray
    correlation: IntArray  #: -1 of what has none
    grid: AnyIntArray
    block: AnyIntArray
    process: AnyIntArray


class Calls(NamedTuple):
    """API calls that have a correlation number and a start, (n,) each; codes as of kernels."""

    correlation: IntArray
    start_ns: IntArray
    name: AnyIntArray
    grid: AnyIntArray
    block: AnyIntArray
    process: AnyIntArray

    def take(self, rows: AnyIntArray | BoolArray) -> Calls:
        """Return some of them."""
        return Calls._make(column[rows] for column in self)


class Annotations(NamedTuple):
    """What the program named, (n,) each; text and process are codes."""

    text: AnyIntArray
    start_ns: IntArray
    end_ns: IntArray
    process: AnyIntArray


class LostKernels(NamedTuple):
    """The kernels that are left out, (n,) each; the process is a code."""

    correlation: IntArray
    process: AnyIntArray


class _CallArguments(NamedTuple):
    """What kernels and calls have in common, (n,) each; grid and block are codes."""

    correlation: IntArray
    grid: AnyIntArray
    block: AnyIntArray


def join_pieces(kind: Callable[..., _Columns], pieces: Sequence[_Columns]) -> _Columns:
    """Return the columns of pieces as those of one."""
    return kind(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


_NONE = np.zeros(0, dtype=np.int64)
#: Stands for the call of a kernel that has none
_NO_CALL = Calls(np.array([-1]), np.array([NO_CALL]), *np.zeros((4, 1), dtype=np.int64))
_SIZE_DECODER = json.Decoder(tuple[_Count, _Count, _Count])
_NO_ARGUMENTS = _Arguments()


class EventColumns(TraceEvents):
    """What has been read of a trace so far, piece by piece; and what the codes in its columns stand for."""

    def __init__(self, left_out: RowsLeftOut) -> None:
        super().__init__(_SUBJECT, left_out)
        self.kernels: list[Kernels] = []
        self.calls = [_NO_CALL]
        self.annotations = [Annotations(_NONE, _NONE, _NONE, _NONE)]
        self.lost_kernels = [LostKernels(_NONE, _NONE)]
        self.names: dict[Any, int] = {}
        self.call_names: dict[Any, int] = {"": 0}
        self.texts: dict[Any, int] = {}
        self.sizes: dict[Any, int] = {bytes(NO_SIZE): 0}
        self.processes: dict[Any, int] = {None: 0}

    def is_kernel(self, event: Event) -> bool:
        """Return whether an event is of a kernel."""
        return (event.cat or "").lower() == "kernel"

    def add_columns(self, events: Sequence[Event]) -> None:
        """Add the events of a piece to the columns of their categories."""
        of_category = defaultdict[str | None, list[Event]](list)
        # A generator would take a twentieth of the time of reading.
        for event in events:
            if event.ph == "X":
                of_category[event.cat].append(event)
            elif event.ph in {"B", "E"} and (whole := self.halves.ended(event)) is not None:
                of_category[whole.cat].append(whole)

        def chosen(is_wanted: Callable[[str], bool]) -> list[Event]:
            return [
                event
                for name, events_of_name in of_category.items()
                if name and is_wanted(name)
                for event in events_of_name
            ]

        self._add_kernels(chosen(lambda category: category.lower() == "kernel"), events)
        self._add_calls(chosen(lambda category: category.lower().endswith(("runtime", "driver"))))
        # PyTorch 1.8 lists annotations among the operators; those that it names itself have a #.
        is_old = "Operator" in of_category
        annotations = chosen(("Operator" if is_old else "user_annotation").__eq__)
        self._add_annotations([event for event in annotations if not is_old or "#" in (event.name or "")])

    def _add_kernels(self, kernels: Sequence[Event], events: Sequence[Event]) -> None:
        """Add kernels, of all events of a piece; those that can be no launch are left out."""
        if not kernels:
            return
        start_us, duration_us = numbers(kernels, "ts"), numbers(kernels, "dur")
        good = self.lasting(kernels, duration_us, events)
        if not good.all():
            bad = [event for event, is_good in zip(kernels, good.tolist(), strict=True) if not is_good]
            number = self._call_arguments([event.args or _NO_ARGUMENTS for event in bad]).correlation
            process = codes([event.pid for event in bad], self.processes)
            self.lost_kernels.append(LostKernels(number, process))
            kernels = [event for event, is_good in zip(kernels, good.tolist(), strict=True) if is_good]
            start_us, duration_us = start_us[good], duration_us[good]
        if kernels:
            arguments = [event.args or _NO_ARGUMENTS for event in kernels]
            has_start = is_time(start_us)
            self.kernels.append(
                Kernels(
                    codes([event.name or NO_NAME for event in kernels], self.names),
                    np.where(has_start, nanoseconds(np.where(has_start, start_us, 0)), NO_START),
                    nanoseconds(duration_us),
                    labels(arguments, "device", kernels, "pid"),
                    labels(arguments, "stream", kernels, "tid"),
                    *self._call_arguments(arguments),
                    process=codes([event.pid for event in kernels], self.processes),
                )
            )

    def _add_calls(self, calls: Sequence[Event]) -> None:
        if not calls:
            return
        correlation, grid, block = self._call_arguments([event.args or _NO_ARGUMENTS for event in calls])
        start_us = numbers(calls, "ts")
        usable = (correlation >= 0) & is_time(start_us)
        name = codes([event.name or "" for event in calls], self.call_names)
        process = codes([event.pid for event in calls], self.processes)
        start_ns = nanoseconds(np.where(usable, start_us, 0))
        columns = Calls(correlation, start_ns, name, grid, block, process)
        self.calls.append(columns.take(usable))

    def _add_annotations(self, annotations: Sequence[Event]) -> None:
        named = [event for event in annotations if event.name]
        if not named:
            return
        start_us, duration_us = numbers(named, "ts"), numbers(named, "dur")
        usable = is_time(start_us) & is_time(duration_us)
        start_ns, duration_ns = nanoseconds(start_us[usable]), nanoseconds(duration_us[usable])
        text = codes([event.name for event in named], self.texts)[usable]
        process = codes([event.pid for event in named], self.processes)[usable]
        self.annotations.append(Annotations(text, start_ns, start_ns + duration_ns, process))

    def _call_arguments(self, arguments: Sequence[_Arguments]) -> _CallArguments:
        number = numbers(arguments, "correlation")
        correlation = np.where(is_time(number), number, -1).astype(np.int64)
        return _CallArguments(correlation, self._sizes(arguments, "grid"), self._sizes(arguments, "block"))

    def _sizes(self, arguments: Sequence[_Arguments], field: str) -> AnyIntArray:
        """Return (n,) the codes of grids or blocks."""
        sizes = list(map(attrgetter(field), arguments))
        # Most calls have none, which is seen fastest so.
        if sizes[0] is NO_SIZE and sizes.count(NO_SIZE) == len(sizes):
            return np.zeros(len(sizes), dtype=np.int32)
        return codes(list(map(bytes, sizes)), self.sizes)


def decode_size(text: bytes) -> tuple[int, int, int]:
    """Return a grid or block from its JSON; zeros for what is none, as other events use the names too."""
    try:
        return _SIZE_DECODER.decode(text)
    except DecodeError:
        return 0, 0, 0
