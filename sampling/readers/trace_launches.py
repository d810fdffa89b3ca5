"""Launches of the traces of tools other than PyTorch's profiler, each of which says in a `Dialect` how.

An event of a kernel is a launch; where its name, grid, place and operator stand differs. Each distinct text
that holds them is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from msgspec import Raw, Struct, field

from sampling.arrays import FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.launch_table import (
    NO_NAME,
    FoundOperators,
    LaunchColumns,
    LaunchTableBuilder,
    RowsLeftOut,
)
from sampling.profile.profile import (
    Dimensions,
    KernelTable,
    LaunchOrder,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.profile.times import NO_START
from sampling.readers.input_file import InputFile
from sampling.readers.other_traces import is_trace
from sampling.readers.trace_events import (
    TraceEvents,
    TraceSubject,
    codes,
    is_time,
    nanoseconds,
    numbers,
    read_events,
)
from sampling.readers.trace_text import PieceDecoder, TraceBlocks

Key = int | float | str | None
#: What a trace calls its processes, under (process, None), and their threads.
Titles = Mapping[tuple[Key, Key], str]
NO_SIZE: Dimensions = (0, 0, 0)
_NO_STACK = Raw(b"[]")
_LARGEST_SIZE = 1 << 32


class Arguments(Struct, gc=False):
    """The arguments of an event that any of the tools writes."""

    name: Key = None
    stream: Key = None
    correlation_id: Key = None
    kernel_details: Key = None
    hlo_op: Key = None
    tf_op: Key = None
    cuda_graph_exec_id: Key = None
    op_name: Key = None
    dst: Key = None
    grid_x: Key = None
    grid_y: Key = None
    grid_z: Key = None
    block_x: Key = None
    block_y: Key = None
    block_z: Key = None
    call_stack: Raw = _NO_STACK


class Event(Struct, gc=False):
    """What is read of an event."""

    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None
    dur: Any = None
    pid: Key = None
    tid: Key = None
    args: Arguments = field(default_factory=Arguments)


class _Trace(Struct, gc=False):
    events: list[Event] | None = field(default=None, name="traceEvents")


_DECODER = PieceDecoder(_Trace, Event)


class Kernel(NamedTuple):
    """What the texts of an event say of its kernel; zeros where a grid or block is not told."""

    name: str
    grid: Dimensions = NO_SIZE
    block: Dimensions = NO_SIZE


class Place(NamedTuple):
    """Where a launch ran."""

    process: Key
    thread: Key
    stream: Key


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a tool writes launches: a reader, as `sampling.readers.registry` has them.

    Attributes
    ----------
    format, product : what the format is called, and who writes it.
    sign : what in a head no other tool writes.
    is_kernel : whether an event is of a kernel.
    texts : what tells the kernel of such an event: `kernel` makes it of these texts.
    place : labels of the device and the stream of a place, by what the trace calls it; None: it is not read.
    operator : the text of what issued it, as ``operator_name`` shows it.
    in_nanoseconds : whether times are, where none in the file has a fraction; else they are microseconds.
    most_events : how many events the tool writes at most, in its versions.
    """

    format: str
    product: str
    sign: re.Pattern[bytes]
    subject: TraceSubject
    is_kernel: Callable[[Event], bool]
    texts: Callable[[Event], tuple[Any, ...]]
    kernel: Callable[..., Kernel]
    place: Callable[[Place, Titles], tuple[Key, Key] | None]
    operator: Callable[[Event], Any] = lambda _event: ""
    operator_name: Callable[[Any], str] = str
    in_nanoseconds: bool = False
    most_events: tuple[int, ...] = ()
    blocks: Callable[[InputFile, Progress | None], TraceBlocks] = TraceBlocks

    def recognise(self, file: InputFile) -> bool:
        """Return whether the head is a trace of events with what only this tool writes."""
        return is_trace(file) and self.sign.search(file.head) is not None

    def read(self, file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
        """Return the launches of a trace, and a note where its tool stopped writing.

        They are in the order of their correlation numbers where all have one, else of their start.

        Raises ProfileError: the JSON is damaged, too many kernel events are not usable, or there is none.
        """
        builder = LaunchTableBuilder(file.path, kernels, keep_overlong=file.keep_overlong)
        events = LaunchEvents(self, builder.left_out)
        _, notes = read_events(file, _DECODER, events, progress, self.blocks(file, progress))
        labels = [self.place(place, events.titles) for place in events.places]
        if not any(labels):
            builder.left_out.in_facts(RecordingFacts(), 0)
            raise events.without_kernels(file, is_cut=file.partial and bool(notes))
        kernel, place, operator, number = np.concatenate([coded for coded, _ in events.columns], axis=1)
        is_on_gpu = np.array([label is not None for label in labels])[place]
        kernel, place, operator, number = (part[is_on_gpu] for part in (kernel, place, operator, number))
        times = np.concatenate([times for _, times in events.columns], axis=1)[:, is_on_gpu]
        start_ns, duration_ns = map(events.times_ns, times)
        device, stream = (np.array(numbered([(label or (0, 0))[of] for label in labels])) for of in (0, 1))
        distinct = [self.kernel(*texts) for texts in events.kernels]
        grid, block = (np.array([getattr(one, of) for one in distinct], np.int64) for of in ("grid", "block"))
        launch_order: LaunchOrder = "correlation" if (number >= 0).all() else "gpu-start"
        builder.append(
            LaunchColumns(
                name=kernels.names.intern([one.name or NO_NAME for one in distinct])[kernel],
                duration_ns=duration_ns,
                order=number if launch_order == "correlation" else start_ns,
                device=device[place],
                grid=tuple(grid[kernel].T),
                block=tuple(block[kernel].T),
                start_ns=start_ns,
                stream=stream[place],
            )
        )
        texts = ("", *(self.operator_name(operator) for operator in events.operators))
        # The first text is that of what has none.
        text = np.array([place if name else 0 for place, name in enumerate(texts)])[operator + 1]
        facts = RecordingFacts(
            launch_order=launch_order, product=self.product, hidden_graph_replays=events.graph_replays
        )
        profile = builder.finish(
            format_name=self.format,
            file=ProfileFile(file.path, file.location, len(kernel)),
            facts=facts,
            operators=partial(kept_operators, texts, text) if text.any() else None,
        )
        if events.recorded in self.most_events:
            limit = f"{file.path}: has {events.recorded:,} events, the most that the profiler writes"
            notes += (f"{limit}: what came later is missing; profile fewer steps",)
        profile.notes = notes
        return profile


class LaunchEvents(TraceEvents):
    """The launches of a trace as columns; what their codes stand for."""

    def __init__(self, dialect: Dialect, left_out: RowsLeftOut) -> None:
        super().__init__(dialect.subject, left_out)
        self._dialect = dialect
        #: Of each piece (4, n) codes of kernel, place and operator, and the number of the call, -1 of none;
        #: and (2, n) start and duration in the unit of the file
        self.columns: list[tuple[IntArray, FloatArray]] = []
        self.kernels: dict[Any, int] = {}
        self.places: dict[Any, int] = {}
        self.operators: dict[Any, int] = {}
        self.titles: dict[tuple[Key, Key], str] = {}
        self.has_fractions = False
        self.recorded = 0  #: events that the program made, beside what names tracks
        self.graph_replays = 0

    def is_kernel(self, event: Event) -> bool:
        """Return whether an event is of a kernel."""
        return self._dialect.is_kernel(event)

    def add_columns(self, events: Sequence[Event]) -> None:
        """Add the kernels of a piece, and what it calls processes and threads."""
        for event in events:
            if event.ph == "M" and event.name in {"process_name", "thread_name"}:
                thread = event.tid if event.name == "thread_name" else None
                self.titles[event.pid, thread] = str(event.args.name)
        whole = [*self.halves.whole(events)]
        self.recorded += len(whole)
        self.graph_replays += sum(event.args.cuda_graph_exec_id is not None for event in whole)
        kernels = [event for event in whole if self._dialect.is_kernel(event)]
        times = np.stack([numbers(kernels, "ts"), numbers(kernels, "dur")])
        good = self.lasting(kernels, times[1], events)
        kernels = list(compress(kernels, good.tolist()))
        if not kernels:
            return
        arguments = [event.args for event in kernels]
        number = numbers(arguments, "correlation_id")
        places = [
            Place(event.pid, event.tid, args.stream) for event, args in zip(kernels, arguments, strict=True)
        ]
        coded = [
            codes(list(map(self._dialect.texts, kernels)), self.kernels),
            codes(places, self.places),
            codes(list(map(self._dialect.operator, kernels)), self.operators),
            np.where(is_time(number), number, -1),
        ]
        self.has_fractions |= any(isinstance(event.ts, float) for event in kernels)
        self.columns.append((np.stack(coded).astype(np.int64), times[:, good]))

    def times_ns(self, times: FloatArray) -> IntArray:
        """Return times in nanoseconds; `NO_START` of what is none."""
        good = is_time(times)
        usable = np.where(good, times, 0)
        in_nanoseconds = self._dialect.in_nanoseconds and not self.has_fractions
        return np.where(good, usable.astype(np.int64) if in_nanoseconds else nanoseconds(usable), NO_START)


def size(*texts: Key) -> Dimensions:
    """Return a grid or block from its texts; zeros where they are none.

    >>> size("4", 2, "1"), size("4", None, None), size("-1", "-1", "-1")
    ((4, 2, 1), (0, 0, 0), (0, 0, 0))
    """
    try:
        x, y, z = (int(text) if text is not None else 0 for text in texts)
    except (ValueError, OverflowError):
        return NO_SIZE
    return (x, y, z) if all(0 < axis < _LARGEST_SIZE for axis in (x, y, z)) else NO_SIZE


def numbered(labels: Sequence[Key]) -> list[int]:
    """Return the number of each label: its own where all have a small one, else 0, 1, 2 as they come.

    >>> numbered(["7", "13"]), numbered(["0x55d0c8", "0x55d1a0", "0x55d0c8"]), numbered([None])
    ([7, 13], [0, 1, 0], [0])
    """
    try:
        own = [int(label if label is not None else 0) for label in labels]
    except (ValueError, OverflowError):
        own = [-1]
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    is_small = all(0 <= number < 1 << 31 for number in own)
    return own if is_small else [places[label] for label in labels]


def kept_operators(texts: tuple[str, ...], text: IntArray) -> FoundOperators:
    """Return the operators that the events of kernels have themselves."""
    return texts, text.copy()


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (kept_operators,)
