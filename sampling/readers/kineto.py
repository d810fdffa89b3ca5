"""Reader of PyTorch profiler traces (Kineto's Chrome trace JSON), gzip or not.

JSON events become Python objects, piece by piece, and every piece becomes columns at once: this is the one
format where a launch costs Python steps. Times are microseconds in the file and become exact nanoseconds, but
a start counted from 1970 (1.6e15 us, PyTorch 2.2 and 2.3) has the resolution of float64, 250 ns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
from msgspec import DecodeError, Meta, Raw, Struct, field, json
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import (
    NO_CALL,
    FoundOperators,
    LaunchColumns,
    LaunchTableBuilder,
    runs_of,
)
from sampling.profile.named_ranges import ATEN, RangeSource, enclosing
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.profile.times import NO_START
from sampling.readers.input_file import InputFile

FORMAT = "kineto"

_BLOCK_BYTES = 1 << 22
_PIECE_BYTES = 1 << 20
# Where white space between two events is longer than this, the text is not split there.
_OVERLAP_BYTES = 1 << 10
_LARGEST_MICROSECONDS = 9e15
_LARGEST_RANK = (1 << 63) - 1
_LABEL_RANGE = 1 << 31

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LIST_OF_EVENTS = re.compile(rb'\[\s*\{.*"ph"\s*:', re.DOTALL)
_LIST = re.compile(rb"\s*\[")
_EVENTS_OPEN = re.compile(rb'\A\s*\[|"traceEvents"\s*:\s*\[')
_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"\\]+)"\s*:')
# What PyTorch writes although JSON has it not: infinities (kineto issue 105), single backslashes of Windows
# paths (pytorch issue 98432), control characters and broken UTF-8 in the names of Python functions (pytorch
# issues 130622, 121219).
_NOT_A_NUMBER = re.compile(rb":\s*-?(?:inf|nan|infinity)\b", re.IGNORECASE)
_BACKSLASH = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
_CONTROLS_TO_SPACES = bytes(32 if byte < 32 and byte not in b"\t\n\r" else byte for byte in range(256))

# These take the grid in work-items, every other call takes blocks; the profiler records what it was given.
_CALLS_IN_WORK_ITEMS = ("hipExtModule", "hipHccModule")


def recognise(file: InputFile) -> bool:
    """Return whether the head is a Kineto trace: an object with its keys, or a bare list of trace events."""
    head = file.head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if head.startswith(b"["):
        return _LIST_OF_EVENTS.match(head) is not None
    # The events may begin beyond the head, after metadata of the user's.
    described = b'"deviceProperties"' in head or b'"distributedInfo"' in head
    return head.startswith(b"{") and (b'"traceEvents"' in head or (b'"schemaVersion"' in head and described))


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of a trace.

    They are in the order of the API calls that issued them where every launch has its call, else of their
    correlation numbers, else of their start on the GPU.

    Raises ProfileError: the JSON is damaged, a kernel event is not usable, or there is no kernel event.
    """
    seen, trace = _Columns(file.path), _Trace()
    for piece in trace_pieces(_blocks(file, progress)):
        try:
            trace = _decoded(piece)
        except (DecodeError, UnicodeDecodeError, RecursionError) as error:
            # A place within the piece says nothing of the file.
            reason = re.sub(r" \(byte \d+\)", "", str(error))
            raise ProfileError(
                f"a Kineto trace that cannot be read beyond its first {seen.events} events: {reason}",
                path=file.path,
                remedy="copy or record the file again",
            ) from error
        seen.add(trace.events or ())
    if not seen.launches:
        raise ProfileError(
            f"a Kineto (Chrome) trace of {seen.events} events without a GPU kernel among them",
            path=file.path,
            remedy="record with `activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`, no other "
            "profiler attached and permission to read GPU activity",
        )
    launches = (np.concatenate(column) for column in zip(*seen.launches, strict=True))
    name, start_ns, duration_ns, device, stream, correlation, grid, block = launches
    calls = [np.concatenate(column) for column in zip(*seen.calls, strict=True)]
    # Of several calls with one number the earliest counts; the last stands for those that are not there.
    by_start = np.argsort(calls[1], kind="stable")
    call, call_start_ns, call_name, call_grid, call_block = (column[by_start] for column in calls)
    place = _places_of(correlation, call)
    order = start_ns
    launch_order: LaunchOrder = "gpu-start"
    if (place >= 0).all():
        order, launch_order = call_start_ns[place], "api-start"
    elif (correlation >= 0).all():
        order, launch_order = correlation, "correlation"
    # On AMD grid and block stand on the call alone, and some calls count the grid in work-items.
    sizes = np.array([_size(text) for text in seen.sizes], dtype=np.int64)
    lacks_size = ~sizes[grid].any(axis=1)
    grids = sizes[np.where(lacks_size, call_grid[place], grid)]
    blocks = sizes[np.where(lacks_size, call_block[place], block)]
    names = list(seen.call_names)
    in_items = np.array([name.startswith(_CALLS_IN_WORK_ITEMS) for name in names])[call_name[place]]
    grids[in_items] = -(-grids[in_items] // np.maximum(blocks[in_items], 1))
    is_graph = np.array(["GraphLaunch" in name for name in names])[call_name]
    # The rank of a distributed run tells its processes apart.
    distributed = trace.distributed if isinstance(trace.distributed, dict) else {}
    rank, world_size = distributed.get("rank"), distributed.get("world_size")
    is_rank = isinstance(rank, int) and 0 <= rank <= _LARGEST_RANK
    builder = LaunchTableBuilder(file.path, kernels, keep_overlong=file.keep_overlong)
    builder.append(
        LaunchColumns(
            name=kernels.names.intern(list(seen.names))[name],
            duration_ns=duration_ns,
            order=order,
            process=np.full(len(name), rank if is_rank else 0, dtype=np.int64),
            device=device,
            grid=tuple(grids.T),
            block=tuple(blocks.T),
            start_ns=start_ns,
            stream=stream,
            api_start_ns=call_start_ns[place] if len(call) > 1 else None,
        )
    )
    libraries = {"CUPTI": trace.cupti_version, "roctracer": trace.roctracer_version}
    told = [f" ({name} {known})" for name, known in libraries.items() if isinstance(known, int | float | str)]
    facts = RecordingFacts(
        devices=_devices(trace.devices, set(np.unique(device).tolist())),
        launch_order=launch_order,
        api_rows_missing=int(np.count_nonzero(place < 0)),
        hidden_graph_replays=int(np.count_nonzero(_places_of(call[is_graph], correlation) < 0)),
        product="".join(["PyTorch profiler", *told[:1]]),
        rank=rank if is_rank else None,
        world_size=world_size if isinstance(world_size, int) else None,
    )

    def ranges(sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None) -> RangeSource:
        text, start_ns, end_ns = (np.concatenate(column) for column in zip(*seen.annotations, strict=True))
        process = np.full(len(text), sequences[0].process)
        events = np.stack([text, process, start_ns, end_ns])
        return runs_of(tuple(seen.texts), events, sequences, api_start_ns)

    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(name)),
        facts=facts,
        ranges=ranges,
        operators=partial(_operators, replace(file, progress=None), correlation),
    )


# --- the text in pieces ------------------------------------------------------------------------------------


def _blocks(file: InputFile, progress: Progress | None) -> Iterator[bytes]:
    """Yield the decompressed bytes; a second thread would wait for the lock that decoding holds."""
    with replace(file, progress=progress).open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            yield block


def trace_pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a trace in pieces of whole events, so that a file of gigabytes is never in memory whole.

    Where an event ends is seen without parsing: ``}, {"ph":`` stands between two events and nowhere else. It
    cannot stand inside a string, where its quote, not escaped and followed by a letter, would end the string
    with no comma or bracket after it. The key is the first one of the file's first event.

    A piece is a JSON list of events, the last one the whole document without the events of earlier pieces.
    """
    opening, rest = b"", b""
    between: re.Pattern[bytes] | None = None
    searched = 0
    for block in blocks:
        rest += block
        if between is None:
            rest = rest.removeprefix(_BYTE_ORDER_MARK)
            opened = _EVENTS_OPEN.search(rest, searched)
            key = None if opened is None else _FIRST_KEY.match(rest, opened.end())
            if opened is None or key is None:
                searched = max(0, len(rest) - _OVERLAP_BYTES)
                continue
            between = re.compile(rb'\}\s*(?P<comma>,)\s*\{\s*"' + re.escape(key[1]) + rb'"\s*:')
            opening, rest, searched = rest[: opened.end()], rest[opened.end() :], _PIECE_BYTES
        start = 0
        while (found := between.search(rest, start + searched)) is not None:
            yield b"[" + rest[start : found.start() + 1] + b"]"
            start, searched = found.end("comma"), _PIECE_BYTES
        rest = rest[start:]
        searched = max(_PIECE_BYTES, len(rest) - _OVERLAP_BYTES)
    yield opening + rest


# --- JSON as typed events ----------------------------------------------------------------------------------

_NO_SIZE = Raw(b"null")
_Count = Annotated[int, Meta(ge=0, lt=1 << 32)]


class _Arguments(Struct, gc=False):
    device: Any = None
    stream: Any = None
    correlation: Any = None
    grid: Raw = _NO_SIZE
    block: Raw = _NO_SIZE


class _Event(Struct, gc=False):
    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None  #: microseconds, as ``dur``
    dur: Any = None
    pid: Any = None
    tid: Any = None
    args: _Arguments | None = None


class _Trace(Struct, gc=False):
    """What is read of a document; its metadata may hold a user's environment."""

    events: list[_Event] | None = field(default=None, name="traceEvents")
    devices: Any = field(default=None, name="deviceProperties")
    distributed: Any = field(default=None, name="distributedInfo")
    cupti_version: Any = None
    roctracer_version: Any = None


_DECODER = json.Decoder(_Trace)
_SIZE_DECODER = json.Decoder(tuple[_Count, _Count, _Count])
_NO_ARGUMENTS = _Arguments()


def _decoded(text: bytes, decoder: json.Decoder[Any] = _DECODER) -> Any:
    """Return a piece as a document, a `_Trace` or what else the decoder gives.

    Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError: it is not JSON, cut short or no trace.
    """
    if _LIST.match(text):
        text = b'{"traceEvents":%b}' % text
    try:
        return decoder.decode(text)
    except (DecodeError, UnicodeDecodeError):
        text = text.decode("utf-8", errors="replace").encode().translate(_CONTROLS_TO_SPACES)
        text = _NOT_A_NUMBER.sub(b": null", text)
        return decoder.decode(_BACKSLASH.sub(lambda escape: escape[1] or rb"\\", text))


# --- events as columns -------------------------------------------------------------------------------------


class _Columns:
    """What has been read of a trace so far: a tuple of columns (k,) for each piece that has any.

    Names, texts of annotations, grids and blocks are codes. -1 is the correlation number of what has none.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.events = 0
        #: Name, start and duration in ns, device, stream, correlation number, grid, block
        self.launches: list[tuple[NDArray[Any], ...]] = []
        #: Correlation number, start in ns, name, grid, block of those that have the first two, and of none
        self.calls: list[tuple[NDArray[Any], ...]] = [tuple(np.array([[-1], [NO_CALL], [0], [0], [0]]))]
        #: Text, start and end in ns
        self.annotations: list[tuple[NDArray[Any], ...]] = [tuple(np.zeros((3, 0), dtype=np.int64))]
        self.names: dict[Any, int] = {}
        self.call_names: dict[Any, int] = {"": 0}
        self.texts: dict[Any, int] = {}
        self.sizes: dict[Any, int] = {bytes(_NO_SIZE): 0}

    def add(self, events: Sequence[_Event]) -> None:
        """Add the events of a piece.

        Raises ProfileError: a kernel has no name or duration, or a negative duration.
        """
        of_category = defaultdict[str | None, list[_Event]](list)
        for event in events:
            if event.ph == "X":
                of_category[event.cat].append(event)

        def chosen(is_wanted: Callable[[str], bool]) -> tuple[list[_Event], list[_Arguments]]:
            found = [
                event for name, each in of_category.items() if name and is_wanted(name) for event in each
            ]
            return found, [event.args or _NO_ARGUMENTS for event in found]

        kernels, arguments = chosen(lambda category: category.lower() == "kernel")
        if kernels:
            start_us, duration_us = _numbers(kernels, "ts"), _numbers(kernels, "dur")
            is_timed = _is_time(start_us)
            for column, is_good in (
                ("name", np.array([bool(event.name) for event in kernels])),
                ("dur", _is_time(duration_us) & (duration_us >= 0)),
            ):
                if not is_good.all():
                    wrong = kernels[int(np.argmin(is_good))]
                    raise ProfileError(
                        f"a kernel event has no usable {column!r}",
                        path=self.path,
                        row=self.events + 1 + next(row for row, event in enumerate(events) if event is wrong),
                        column=column,
                        remedy="record the trace again",
                    )
            self.launches.append(
                (
                    _codes([event.name for event in kernels], self.names),
                    np.where(is_timed, _nanoseconds(np.where(is_timed, start_us, 0)), NO_START),
                    _nanoseconds(duration_us),
                    _labels(arguments, "device", kernels, "pid"),
                    _labels(arguments, "stream", kernels, "tid"),
                    *self._numbered(arguments),
                )
            )
        calls, arguments = chosen(lambda category: category.lower().endswith(("runtime", "driver")))
        if calls:
            correlation, *sizes = self._numbered(arguments)
            start_us = _numbers(calls, "ts")
            usable = (correlation >= 0) & _is_time(start_us)
            name = _codes([event.name or "" for event in calls], self.call_names)
            start_ns = _nanoseconds(np.where(usable, start_us, 0))
            self.calls.append(tuple(column[usable] for column in (correlation, start_ns, name, *sizes)))
        # PyTorch 1.8 lists annotations among the operators; those that it names itself have a #.
        is_old = "Operator" in of_category
        annotations, _ = chosen(("Operator" if is_old else "user_annotation").__eq__)
        named = [event for event in annotations if event.name and (not is_old or "#" in event.name)]
        if named:
            start_us, duration_us = _numbers(named, "ts"), _numbers(named, "dur")
            usable = _is_time(start_us) & _is_time(duration_us)
            start_ns, duration_ns = _nanoseconds(start_us[usable]), _nanoseconds(duration_us[usable])
            text = _codes([event.name for event in named], self.texts)[usable]
            self.annotations.append((text, start_ns, start_ns + duration_ns))
        self.events += len(events)

    def _numbered(self, arguments: Sequence[_Arguments]) -> list[NDArray[Any]]:
        """Return correlation numbers and the codes of grids and blocks."""
        number = _numbers(arguments, "correlation")
        columns: list[NDArray[Any]] = [np.where(_is_time(number), number, -1).astype(np.int64)]
        for size in ("grid", "block"):
            written = list(map(attrgetter(size), arguments))
            # Most calls have none, which is seen fastest so.
            has_any = written[0] is not _NO_SIZE or written.count(_NO_SIZE) < len(written)
            columns.append(
                _codes(list(map(bytes, written)), self.sizes)
                if has_any
                else np.zeros(len(written), dtype=np.int32)
            )
        return columns


def _codes(values: Sequence[object], codes: dict[Any, int]) -> NDArray[np.int32]:
    """Return (n,) the code of every value; new ones are added."""
    distinct = dict.fromkeys(values)
    for value in distinct:
        codes.setdefault(value, len(codes))
    if len(distinct) == 1:
        return np.full(len(values), codes[values[0]], dtype=np.int32)
    return np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))


def _numbers(owners: Sequence[Any], field: str) -> FloatArray:
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


def _is_time(microseconds: FloatArray) -> BoolArray:
    return np.abs(microseconds) < _LARGEST_MICROSECONDS


def _nanoseconds(microseconds: FloatArray) -> IntArray:
    """Return whole nanoseconds; the whole microseconds are scaled as integers, so a date costs no digits."""
    whole = np.floor(microseconds)
    return whole.astype(np.int64) * 1000 + np.rint((microseconds - whole) * 1000.0).astype(np.int64)


def _labels(arguments: Sequence[_Arguments], field: str, events: Sequence[_Event], otherwise: str) -> Any:
    """Return (n,) int32 device or stream numbers: the argument, else what the event says itself, else 0."""
    values = _numbers(arguments, field)
    unknown = ~np.isfinite(values)
    if unknown.any():
        others = _numbers(events, otherwise)[unknown]
        values[unknown] = np.where(np.isfinite(others), others, 0)
    return np.fmod(values, _LABEL_RANGE).astype(np.int32)


def _size(text: bytes) -> tuple[int, int, int]:
    """Return a grid or block from its JSON; zeros for what is none, as other events use the names too."""
    try:
        return _SIZE_DECODER.decode(text)
    except DecodeError:
        return 0, 0, 0


def _places_of(wanted: IntArray, known: IntArray) -> IntArray:
    """Return where each wanted number >= 0 first occurs among the known, -1 where it does not."""
    order = np.argsort(known, kind="stable")
    position = np.searchsorted(known, wanted, sorter=order)
    place = order[np.minimum(position, len(known) - 1)]
    return np.where((known[place] == wanted) & (wanted >= 0), place, -1)


def _devices(described: Any, launching: set[int]) -> tuple[Device, ...]:
    """Return the described GPUs that launched kernels.

    If one is described and one launched they are the same, whatever their numbers: AMD numbers the CPUs too.
    """
    devices = []
    for each in described if isinstance(described, list) else ():
        if isinstance(each, dict) and isinstance(each.get("id"), int):
            counts = (each.get("numSms"), each.get("totalGlobalMem"))
            known = (count if isinstance(count, int) else None for count in counts)
            devices.append(Device(each["id"], str(each.get("name", "")), *known))
    if len(devices) == len(launching) == 1:
        return (replace(devices[0], device=min(launching)),)
    return tuple(device for device in devices if device.device in launching)


# --- operators ---------------------------------------------------------------------------------------------


class _HostArguments(Struct, gc=False):
    correlation: Any = None
    dims: Raw = field(default=_NO_SIZE, name="Input Dims")
    old_dims: Raw = field(default=_NO_SIZE, name="Input dims")
    types: Raw = field(default=_NO_SIZE, name="Input type")


class _HostEvent(Struct, gc=False):
    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None
    dur: Any = None
    pid: Any = None
    tid: Any = None
    args: _HostArguments | None = None


class _HostTrace(Struct):
    events: list[_HostEvent] | None = field(default=None, name="traceEvents")


_HOST_DECODER = json.Decoder(_HostTrace)
_NO_HOST_ARGUMENTS = _HostArguments()


def _operators(file: InputFile, correlation: IntArray) -> FoundOperators:
    """Return the texts of operators and which one issued each launch, by its correlation number (n,).

    The file is read once more: few ask, and what the operators' columns need would slow reading by a tenth.
    """
    threads: dict[Any, int] = {}
    texts: dict[Any, int] = {}
    operators = [np.zeros((4, 0), dtype=np.int64)]
    calls = [np.zeros((3, 0), dtype=np.int64)]
    with file.damage_reported():
        for piece in trace_pieces(_blocks(file, None)):
            events = [event for event in _decoded(piece, _HOST_DECODER).events or () if event.ph == "X"]
            known = [event for event in events if event.cat in {"cpu_op", "Operator"} and event.name]
            # What PyTorch 1.8 lists among the operators with a # is an annotation.
            known = [event for event in known if event.cat == "cpu_op" or "#" not in str(event.name)]
            arguments = [event.args or _NO_HOST_ARGUMENTS for event in known]
            places = _host_places(known, threads)
            end_ns = places[1] + _nanoseconds(np.nan_to_num(_numbers(known, "dur")))
            written = [
                (event.name, bytes(each.dims), bytes(each.old_dims), bytes(each.types))
                for event, each in zip(known, arguments, strict=True)
            ]
            operators.append(np.stack([*places, end_ns, _codes(written, texts)]) if known else operators[0])
            issuing = [event for event in events if (event.cat or "").lower().endswith(("runtime", "driver"))]
            number = _numbers([event.args or _NO_HOST_ARGUMENTS for event in issuing], "correlation")
            number = np.where(_is_time(number), number, -1)
            calls.append(np.stack([*_host_places(issuing, threads), number.astype(np.int64)]))
    thread, start_ns, end_ns, text = np.concatenate(operators, axis=1)
    call_thread, call_ns, call = np.concatenate(calls, axis=1)
    # Of several calls with one number the earliest counts.
    by_start = np.argsort(call_ns, kind="stable")
    call_thread, call_ns, call = call_thread[by_start], call_ns[by_start], call[by_start]
    names = [name for name, *_ in texts]
    is_aten = np.array([name.startswith(ATEN) for name in names], dtype=np.bool_)
    operator_of_call = np.zeros(len(call), dtype=np.int64)
    for each in range(len(threads)):
        own, begun = np.flatnonzero(thread == each), np.flatnonzero(call_thread == each)
        own = own[np.lexsort((-end_ns[own], start_ns[own]))]
        aten = own[is_aten[text[own]]]
        # An operator that no other of ATen holds begins when all of them before it have ended.
        before = np.maximum.accumulate(end_ns[aten])
        aten = aten[np.append(True, start_ns[aten][1:] >= before[:-1])] if len(aten) else aten
        for rows in (own, aten):
            inside = _innermost(start_ns[rows], end_ns[rows], call_ns[begun])
            held = inside >= 0
            operator_of_call[begun[held]] = text[rows[inside[held]]] + 1
    place = _places_of(correlation, call) if len(call) else np.full(len(correlation), -1)
    found = np.where(place >= 0, np.append(operator_of_call, 0)[place], 0)
    return ("", *(_operator_text(*written) for written in texts)), found


def _host_places(events: Sequence[_HostEvent], threads: dict[Any, int]) -> tuple[IntArray, IntArray]:
    """Return (n,) the number of each event's thread and its start in ns, far away where it has none."""
    start_us = _numbers(events, "ts")
    usable = _is_time(start_us)
    start_ns = np.where(usable, _nanoseconds(np.where(usable, start_us, 0)), NO_CALL)
    thread = [threads.setdefault((str(event.pid), str(event.tid)), len(threads)) for event in events]
    return np.array(thread, dtype=np.int64), start_ns


def _innermost(start_ns: IntArray, end_ns: IntArray, time_ns: IntArray) -> IntArray:
    """Return (m,) which of the nested spans (k,), in the order they begin, holds each time; -1 for none."""
    place = np.searchsorted(start_ns, time_ns, side="right") - 1
    above = enclosing(end_ns)
    going = np.flatnonzero(place >= 0)
    while len(going := going[end_ns[place[going]] <= time_ns[going]]):
        place[going] = above[place[going]]
        going = going[place[going] >= 0]
    return place


def _operator_text(name: str, dims: bytes, old_dims: bytes, types: bytes) -> str:
    """Return an operator with the shapes and types of its tensors: ``aten::mm [[8, 4], [4, 2]] BFloat16``.

    Scalars have no shape, and are left out with their types.
    """
    known, kinds = (json.decode(text) for text in (old_dims if dims == bytes(_NO_SIZE) else dims, types))
    if not isinstance(known, list):
        return name
    kinds = kinds if isinstance(kinds, list) and len(kinds) == len(known) else [""] * len(known)
    kinds = [str(kind).removeprefix("c10::") for kind in kinds]
    tensors = [(shape, kind) for shape, kind in zip(known, kinds, strict=True) if shape]
    if not tensors:
        return name
    distinct = dict.fromkeys(kind for _, kind in tensors if kind not in {"", "TensorList", "GenericList"})
    return " ".join([name, str([shape for shape, _ in tensors]), *distinct])
