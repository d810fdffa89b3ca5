"""Reader of PyTorch profiler traces (Kineto's Chrome trace JSON), gzip or not.

JSON events become Python objects, piece by piece, and every piece becomes columns at once: this is the one
format where a launch costs Python steps. Times are microseconds in the file; whole ones and fractions become
exact nanoseconds, but a start counted from 1970 (1.6e15 us, PyTorch 2.2 and 2.3) has the resolution of
float64, 250 ns. Durations do not suffer from that.

The ranges a program names are its annotations (`record_function`, ProfilerStep#N) on the CPU's side. PyTorch
1.8 lists them among the operators, where only those that PyTorch itself names are recognised, by their #.
"""

from __future__ import annotations

import gc
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from operator import attrgetter
from types import GenericAlias
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.named_ranges import NO_CALL, RangeEvents, RangeSource, runs_of
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.readers.input_file import InputFile, place_on_disk

FORMAT = "kineto"

_BLOCK_BYTES = 1 << 22
_PIECE_BYTES = 1 << 18
# Where white space between two events is longer than this, the text is not split there.
_OVERLAP_BYTES = 1 << 10
_LARGEST_MICROSECONDS = 9e15
_LARGEST_DIMENSION = (1 << 32) - 1
_LARGEST_RANK = (1 << 63) - 1
_LABEL_RANGE = 1 << 31

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LIST_OF_EVENTS = re.compile(rb'\[\s*\{.*"ph"\s*:', re.DOTALL)
_EVENTS_OPEN = re.compile(rb'\A\s*\[|"traceEvents"\s*:\s*\[')
_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"\\]+)"\s*:')
_LAST_DIGITS = re.compile(r"(\d+)\D*\Z")
# What PyTorch writes although JSON has it not: infinities (kineto issue 105), single backslashes of Windows
# paths (pytorch issue 98432), control characters and broken UTF-8 in the names of Python functions (pytorch
# issues 130622, 121219).
_NOT_A_NUMBER = re.compile(rb":\s*-?(?:inf|nan|infinity)\b", re.IGNORECASE)
_BACKSLASH = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
_CONTROLS_TO_SPACES = bytes(32 if byte < 32 and byte not in b"\t\n\r" else byte for byte in range(256))


def recognise(file: InputFile) -> bool:
    """Return whether the head is a Kineto trace: an object with its keys, or a bare list of trace events."""
    head = file.head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if head.startswith(b"["):
        return _LIST_OF_EVENTS.match(head) is not None
    if not head.startswith(b"{"):
        return False
    # The events may begin beyond the head, after metadata of the user's.
    described = b'"deviceProperties"' in head or b'"distributedInfo"' in head
    return b'"traceEvents"' in head or (b'"schemaVersion"' in head and described)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of a trace.

    Launches are in the order of the API calls that issued them where every launch has its call, else of
    their correlation numbers, else of their start on the GPU.

    Raises
    ------
    ProfileError : the JSON is damaged, a kernel event is not usable, or there is no kernel event.
    """
    seen = _Columns(file.path)
    document: Any = None
    for piece in trace_pieces(_blocks(file, progress)):
        events, document = _decode(piece, file.path, seen.events)
        seen.add(events)
    if not seen.parts["launches"]:
        raise _without_kernels(seen)
    name, start_ns, duration_ns, device, stream, correlation, *codes = seen.joined("launches", 8)
    call, call_ns = seen.joined("calls", 2)
    # Of several calls with one number the earliest counts.
    by_start = np.argsort(call_ns, kind="stable")
    call, call_ns = call[by_start], call_ns[by_start]
    place = _places_of(correlation, call)
    order = start_ns
    launch_order: LaunchOrder = "gpu-start"
    if (place >= 0).all():
        order, launch_order = call_ns[place], "api-start"
    elif (correlation >= 0).all():
        order, launch_order = correlation, "correlation"
    api_start_ns = None
    if seen.parts["annotations"] and len(call):
        api_start_ns = np.where(place >= 0, call_ns[place], NO_CALL)
    grid, block = _grids_and_blocks(seen, correlation, *codes)
    # The rank of a distributed run tells its processes apart.
    rank = document.distributedInfo.get("rank") if isinstance(document.distributedInfo, dict) else None
    is_rank = isinstance(rank, int) and 0 <= rank <= _LARGEST_RANK
    process = np.full(len(name), rank if is_rank else 0, dtype=np.int64)
    libraries = {"CUPTI": document.cupti_version, "roctracer": document.roctracer_version}
    told = [f" ({name} {known})" for name, known in libraries.items() if isinstance(known, int | float | str)]
    builder = LaunchTableBuilder(file.path, kernels)
    builder.append(
        LaunchColumns(
            name=kernels.names.intern(list(seen.names))[name],
            duration_ns=duration_ns,
            order=order,
            process=process,
            device=device,
            grid=tuple(grid),
            block=tuple(block),
            start_ns=start_ns,
            stream=stream,
            api_start_ns=api_start_ns,
        )
    )
    (graph_launch,) = seen.joined("graphs", 1)
    facts = RecordingFacts(
        devices=_devices(document, set(np.unique(device).tolist())),
        launch_order=launch_order,
        api_rows_missing=int(np.count_nonzero(place < 0)),
        hidden_graph_replays=int(np.count_nonzero(_places_of(graph_launch, correlation) < 0)),
        product="".join(["PyTorch profiler", *told[:1]]),
    )

    def ranges(sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None) -> RangeSource:
        text, start_ns, end_ns = seen.joined("annotations", 3)
        of_process = np.full(len(text), sequences[0].process)
        return runs_of(
            RangeEvents(tuple(seen.texts), text, of_process, start_ns, end_ns), sequences, api_start_ns
        )

    profile_file = ProfileFile(file.path, file.location, len(name))
    return builder.finish(format_name=FORMAT, file=profile_file, facts=facts, ranges=ranges)


# --- the text in pieces ------------------------------------------------------------------------------------


def _blocks(file: InputFile, progress: Progress | None) -> Iterator[bytes]:
    """Yield the decompressed bytes, reporting progress; a thread decompresses the next ones meanwhile."""
    total = file.location.stat().st_size
    with file.open() as stream, ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(stream.read, _BLOCK_BYTES)
        while block := ahead.result():
            place = place_on_disk(stream)
            ahead = reader.submit(stream.read, _BLOCK_BYTES)
            if progress is not None:
                progress(place, total, "reading")
            yield block


def trace_pieces(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Yield a trace in pieces of whole events, so that a file of gigabytes is never in memory whole.

    Where an event ends is seen without parsing: ``}, {"ph":`` stands between two events and nowhere else. It
    cannot stand inside a string, where its quote, not escaped and followed by a letter, would end the string
    with no comma or bracket after it. The key is the first one of the file's first event.

    A piece is a JSON list of events, the last one the whole document without the events of earlier pieces;
    how many bytes it has before its first event; and how many bytes later in the file its events are.
    """
    opening, rest = b"", b""
    between: re.Pattern[bytes] | None = None
    done_bytes = searched = 0
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
            yield b"[" + rest[start : found.start() + 1] + b"]", 1, len(opening) + done_bytes - 1
            done_bytes += found.end("comma") - start
            start, searched = found.end("comma"), _PIECE_BYTES
        rest = rest[start:]
        searched = max(_PIECE_BYTES, len(rest) - _OVERLAP_BYTES)
    yield opening + rest, len(opening), done_bytes


# --- JSON as typed events ----------------------------------------------------------------------------------


@cache
def _decoders() -> tuple[Any, Any, Any]:
    """Return what decodes a list of events, what decodes a document, and the arguments of an event without.

    ``ts`` and ``dur`` are microseconds. A kernel's grid or block is a list of three; other events use these
    names for values of any type. Nothing else is decoded: metadata may hold a user's environment.
    """
    import msgspec

    def struct(*fields: str, **others: Any) -> Any:
        kinds = {**dict.fromkeys(fields, Any), **others}
        return msgspec.defstruct("Read", [(name, kind, None) for name, kind in kinds.items()], gc=False)

    size = tuple[Any, ...] | dict[str, Any] | str | float | bool | None
    arguments = struct("device", "stream", "correlation", grid=size, block=size)
    texts = dict.fromkeys(("ph", "cat", "name"), str | None)
    event = struct("ts", "dur", "pid", "tid", args=arguments | None, **texts)
    events = GenericAlias(list, (event,))
    described = ("deviceProperties", "distributedInfo", "cupti_version", "roctracer_version")
    document = struct(*described, traceEvents=events | None)
    return msgspec.json.Decoder(events), msgspec.json.Decoder(document), arguments()


def _decode(piece: tuple[bytes, int, int], path: str, events_before: int) -> tuple[list[Any], Any]:
    """Return the events of a piece, and the document, whose other fields the last piece has.

    Raises
    ------
    ProfileError : the text is not JSON, is cut short, or not a trace.
    """
    from msgspec import DecodeError

    text = piece[0]
    as_list, as_document, _ = _decoders()
    is_list = text.lstrip().startswith(b"[")
    was_enabled = gc.isenabled()
    # Keeps Python from searching a growing heap for cycles: decoded events have none.
    gc.disable()
    try:
        try:
            found = (as_list if is_list else as_document).decode(text)
        except (DecodeError, UnicodeDecodeError, RecursionError) as error:
            try:
                found = (as_list if is_list else as_document).decode(_mended(text))
            except (DecodeError, UnicodeDecodeError, RecursionError):
                raise _undecodable(error, piece, path, events_before) from error
    finally:
        if was_enabled:
            gc.enable()
    return (found, as_document.decode(b"{}")) if is_list else (found.traceEvents or [], found)


def _undecodable(
    error: Exception, piece: tuple[bytes, int, int], path: str, events_before: int
) -> ProfileError:
    text, opening_bytes, skipped_bytes = piece

    def in_file(place: int) -> int:
        return place if place < opening_bytes else place + skipped_bytes

    reason = "its values are nested too deeply" if isinstance(error, RecursionError) else str(error)
    reason = re.sub(r"\(byte (\d+)\)", lambda found: f"(byte {in_file(int(found[1]))})", reason)
    if "truncated" in reason:
        reason = f"the JSON text breaks off at its end, byte {in_file(len(text))}"
    index = re.search(r"\[(\d+)\]", reason)
    return ProfileError(
        f"a Kineto trace that cannot be read: {reason}",
        path=path,
        row=events_before + int(index[1]) + 1 if index else None,
        remedy="copy or record the file again",
    )


def _mended(text: bytes) -> bytes:
    """Return the text with what PyTorch writes against the rules of JSON made valid."""
    text = text.decode("utf-8", errors="replace").encode().translate(_CONTROLS_TO_SPACES)
    return _BACKSLASH.sub(lambda found: found[1] or rb"\\", _NOT_A_NUMBER.sub(b": null", text))


# --- events as columns -------------------------------------------------------------------------------------


class _Columns:
    """What has been read of a trace so far: by table one tuple of (k,) columns a piece.

    Launches: name, start and duration in ns, device, stream, correlation, grid, block. Calls: correlation and
    start in ns of those that have both. Shapes: correlation, grid, block and whether that is in work-items,
    of calls that record a grid (AMD). Graphs: correlation of calls that launch one. Annotations: name, start
    and end in ns. Names, texts of annotations, grids and blocks are codes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.events = 0
        self.parts: defaultdict[str, list[tuple[NDArray[Any], ...]]] = defaultdict(list)
        self.call_names: Counter[str] = Counter()
        self.names: dict[Any, int] = {}
        self.texts: dict[Any, int] = {}
        self.sizes: dict[Any, int] = {None: 0}

    def joined(self, table: str, columns: int) -> list[NDArray[Any]]:
        """Return the columns of a table."""
        none = (np.zeros(0, dtype=np.int64),) * columns
        return [np.concatenate(column) for column in zip(*(self.parts[table] or [none]), strict=True)]

    def add(self, events: Sequence[Any]) -> None:
        """Add the events of a piece.

        Raises
        ------
        ProfileError : a kernel has no name, start or duration, or a negative duration.
        """
        categories = {category for category in map(attrgetter("cat"), events) if category is not None}

        def chosen(is_wanted: Callable[[str], bool]) -> list[Any]:
            wanted = {category for category in categories if is_wanted(category)}
            return [event for event in events if event.cat in wanted and event.ph == "X"] if wanted else []

        if kernels := chosen(lambda category: category.lower() == "kernel"):
            self._add_launches(kernels, events)
        if calls := chosen(lambda category: category.lower().endswith(("runtime", "driver"))):
            self._add_calls(calls)
        is_old = "Operator" in categories
        annotations = chosen("Operator".__eq__ if is_old else lambda c: c.lower() == "user_annotation")
        named = [event for event in annotations if event.name and (not is_old or "#" in event.name)]
        if named:
            start_us, duration_us = _numbers(named, "ts"), _numbers(named, "dur")
            usable = _is_time(start_us) & _is_time(duration_us)
            start_ns = _nanoseconds(start_us[usable])
            text = _codes([event.name for event in named], self.texts)[usable].astype(np.int64)
            self.parts["annotations"].append((text, start_ns, start_ns + _nanoseconds(duration_us[usable])))
        self.events += len(events)

    def _add_launches(self, kernels: Sequence[Any], events: Sequence[Any]) -> None:
        arguments = _arguments(kernels)
        names = [event.name or "" for event in kernels]
        start_us, duration_us = _numbers(kernels, "ts"), _numbers(kernels, "dur")
        for column, is_good, complaint in (
            ("name", np.array(list(map(bool, names))), "is missing"),
            ("ts", _is_time(start_us), "is not a time in microseconds"),
            ("dur", _is_time(duration_us), "is not a time in microseconds"),
            ("dur", duration_us >= 0, "is negative"),
        ):
            if not is_good.all():
                wrong = kernels[int(np.argmin(is_good))]
                raise ProfileError(
                    f"a kernel event whose {column!r} {complaint}",
                    path=self.path,
                    row=self.events + 1 + next(row for row, event in enumerate(events) if event is wrong),
                    column=column,
                    remedy="record the trace again",
                )
        self.parts["launches"].append(
            (
                _codes(names, self.names),
                _nanoseconds(start_us),
                _nanoseconds(duration_us),
                _labels(arguments, "device", kernels, "pid"),
                _labels(arguments, "stream", kernels, "tid"),
                _correlations(arguments),
                _codes([each.grid for each in arguments], self.sizes),
                _codes([each.block for each in arguments], self.sizes),
            )
        )

    def _add_calls(self, calls: Sequence[Any]) -> None:
        arguments = _arguments(calls)
        names = [event.name or "" for event in calls]
        correlation, start_us = _correlations(arguments), _numbers(calls, "ts")
        usable = (correlation >= 0) & _is_time(start_us)
        self.parts["calls"].append((correlation[usable], _nanoseconds(start_us[usable])))
        self.call_names.update(names)
        with_grid = [row for row, each in enumerate(arguments) if each.grid is not None]
        if with_grid:
            # These two take the global size in work-items, every other call takes blocks; the profiler
            # records what the call was given.
            items = [names[row].startswith(("hipExtModule", "hipHccModule")) for row in with_grid]
            grid = _codes([arguments[row].grid for row in with_grid], self.sizes)
            block = _codes([arguments[row].block for row in with_grid], self.sizes)
            self.parts["shapes"].append((correlation[with_grid], grid, block, np.array(items)))
        graphs = [row for row, name in enumerate(names) if "GraphLaunch" in name]
        if graphs:
            self.parts["graphs"].append((correlation[graphs][correlation[graphs] >= 0],))


def _arguments(events: Sequence[Any]) -> list[Any]:
    *_, none = _decoders()
    return [event.args or none for event in events]


def _codes(values: Sequence[object], codes: dict[Any, int]) -> NDArray[np.int32]:
    """Return (n,) the code of every value; new ones are added."""
    try:
        new = dict.fromkeys(values)
    except TypeError:  # something that has no hash, so it is no triple of counts either
        return _codes([value if _is_three_counts(value) else None for value in values], codes)
    for value in new:
        codes.setdefault(value, len(codes))
    return np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))


def _is_three_counts(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 3
        and all(isinstance(count, int) and 0 <= count <= _LARGEST_DIMENSION for count in value)
    )


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


def _labels(arguments: Sequence[Any], field: str, events: Sequence[Any], otherwise: str) -> NDArray[np.int32]:
    """Return device or stream numbers: the argument, else the digits that ``otherwise`` ends with, else 0."""
    values = _numbers(arguments, field)
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        digits = _LAST_DIGITS.search(str(getattr(events[row], otherwise)))
        values[row] = int(digits[1]) if digits else 0
    return np.fmod(values, _LABEL_RANGE).astype(np.int32)


def _correlations(arguments: Sequence[Any]) -> IntArray:
    """Return correlation numbers, -1 where there is none."""
    values = _numbers(arguments, "correlation")
    return np.where(_is_time(values), values, -1).astype(np.int64)


# --- columns as launches -----------------------------------------------------------------------------------


def _places_of(wanted: IntArray, known: IntArray) -> IntArray:
    """Return where each wanted number >= 0 first occurs among the known, -1 where it does not."""
    if len(known) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    position = np.searchsorted(known, wanted, sorter=order)
    place = order[np.minimum(position, len(known) - 1)]
    return np.where((known[place] == wanted) & (wanted >= 0), place, -1)


def _grids_and_blocks(
    seen: _Columns, correlation: IntArray, grid: AnyIntArray, block: AnyIntArray
) -> tuple[IntArray, IntArray]:
    """Return (3, n) grids in blocks and (3, n) blocks, from the launch or else from its call, else zeros."""
    known = [size if _is_three_counts(size) else (0, 0, 0) for size in seen.sizes]
    sizes = np.array(known, dtype=np.int64).T
    call, call_grid, call_block, call_in_items = seen.joined("shapes", 4)
    place = _places_of(correlation, call)
    rows = np.flatnonzero(place >= 0)
    of_call = place[rows]
    lacking = ~sizes[:, grid[rows]].any(axis=0)
    grid[rows] = np.where(lacking, call_grid[of_call], grid[rows])
    block[rows] = np.where(lacking, call_block[of_call], block[rows])
    grids, blocks = sizes[:, grid], sizes[:, block]
    in_items = rows[call_in_items[of_call].astype(np.bool_)]
    grids[:, in_items] = -(-grids[:, in_items] // np.maximum(blocks[:, in_items], 1))
    return grids, blocks


def _devices(document: Any, launching: set[int]) -> tuple[Device, ...]:
    """Return the described GPUs that launched kernels.

    If one GPU is described and one launched, they are the same, whatever their numbers: AMD numbers the CPUs
    too.
    """
    described = document.deviceProperties if isinstance(document.deviceProperties, list) else []
    devices = []
    for each in described:
        if isinstance(each, dict) and isinstance(each.get("id"), int):
            counts = (each.get("numSms"), each.get("totalGlobalMem"))
            known = (count if isinstance(count, int) else None for count in counts)
            devices.append(Device(each["id"], str(each.get("name", "")), *known))
    if len(devices) == len(launching) == 1:
        return (replace(devices[0], device=min(launching)),)
    return tuple(device for device in devices if device.device in launching)


def _without_kernels(seen: _Columns) -> ProfileError:
    """Return why a trace without kernel events has none."""
    what = f"a Kineto (Chrome) trace of {seen.events} events without a GPU kernel among them"
    remedy = "record with `activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`"
    launched = sum(calls for name, calls in seen.call_names.items() if "Launch" in name)
    if launched:
        what += f": {launched} launches were called but the GPU's side was not recorded"
        remedy = (
            "record again with no other profiler attached and with permission to read GPU activity "
            "(CUPTI on NVIDIA, roctracer on AMD)"
        )
    return ProfileError(what, path=seen.path, remedy=remedy)
