"""rocprofv3's JSON decoded into typed records, with only the fields that are used.

Imported only once a recording is being read, since it imports msgspec. The long lists stay text until they
are decoded piece by piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from sampling.errors import ProfileError
from sampling.readers.rocm.recording import COLUMNS, Recording, device_of

_PIECE_BYTES = 1 << 20
# Between two records of a list: an object within a record follows its key, within a string the quote would be
# escaped. Only lists within a record, which none has that is known, would have it too.
_BOUNDARY = re.compile(rb"\}\s*(,)\s*\{\s*\"")
#: What to do about a file that is not usable.
AGAIN = "copy the file again, or record it again with `rocprofv3 --kernel-trace --output-format json`"

Whole = Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)]
Size = Annotated[int, msgspec.Meta(ge=0, le=(1 << 32) - 1)]
Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]


class Handle(msgspec.Struct, gc=False):
    """The number of an agent or a queue."""

    handle: Whole = 0


class Correlation(msgspec.Struct, gc=False):
    """What ties a dispatch to the call that made it."""

    internal: Whole = -1


class Axes(msgspec.Struct, gc=False):
    """A grid in work-items, or a work-group."""

    x: Size
    y: Size
    z: Size


class DispatchInfo(msgspec.Struct, gc=False):
    """What was dispatched where."""

    agent_id: Handle
    queue_id: Handle
    kernel_id: Whole
    dispatch_id: Whole
    workgroup_size: Axes
    grid_size: Axes


class Dispatch(msgspec.Struct, gc=False):
    """A launch; times are nanoseconds."""

    start_timestamp: Whole
    end_timestamp: Whole
    dispatch_info: DispatchInfo
    correlation_id: Correlation = msgspec.field(default_factory=Correlation)


class Call(msgspec.Struct, gc=False):
    """A call of the program, or a range that it named."""

    start_timestamp: Whole
    end_timestamp: Whole
    correlation_id: Correlation


class Agent(msgspec.Struct):
    """A CPU or GPU; its type is 2 for a GPU."""

    id: Handle
    type: int = 0
    logical_node_type_id: Number = 0
    product_name: Any = None
    cu_count: Any = None
    mem_banks: Any = None


class KernelSymbol(msgspec.Struct):
    """A kernel of the program."""

    kernel_id: int
    kernel_name: str = ""
    formatted_kernel_name: str = ""


class Text(msgspec.Struct):
    """The text of a range, by its correlation number."""

    key: int
    value: str


class Strings(msgspec.Struct):
    """What texts the recording holds of the program's."""

    marker_api: list[Text] = []


_NOTHING = msgspec.Raw(b"[]")


class Records(msgspec.Struct):
    """The lists of what happened, not decoded yet."""

    kernel_dispatch: msgspec.Raw = _NOTHING
    hip_api: msgspec.Raw = _NOTHING
    hsa_api: msgspec.Raw = _NOTHING
    marker_api: msgspec.Raw = _NOTHING


class Metadata(msgspec.Struct):
    """Of the process only its number; commands and hosts are not read."""

    pid: Whole = 0


class Process(msgspec.Struct):
    """One process."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    agents: list[Agent] = []
    kernel_symbols: list[KernelSymbol] = []
    strings: Strings = msgspec.field(default_factory=Strings)
    buffer_records: Records = msgspec.field(default_factory=Records)


class Document(msgspec.Struct, rename={"recordings": "rocprofiler-sdk-tool"}):
    """The whole file."""

    recordings: list[Process]


_GPU = 2
# In the order of COLUMNS, but for the process.
_OF_DISPATCH: tuple[Callable[[Dispatch], int], ...] = (
    lambda each: each.start_timestamp,
    lambda each: each.end_timestamp,
    lambda each: each.correlation_id.internal,
    lambda each: each.dispatch_info.dispatch_id,
    lambda each: each.dispatch_info.agent_id.handle,
    lambda each: each.dispatch_info.queue_id.handle,
    lambda each: each.dispatch_info.kernel_id,
    lambda each: each.dispatch_info.grid_size.x,
    lambda each: each.dispatch_info.grid_size.y,
    lambda each: each.dispatch_info.grid_size.z,
    lambda each: each.dispatch_info.workgroup_size.x,
    lambda each: each.dispatch_info.workgroup_size.y,
    lambda each: each.dispatch_info.workgroup_size.z,
)

Record = TypeVar("Record", Dispatch, Call)


def recordings(text: bytearray, path: str) -> Iterator[Recording]:
    """Yield what was recorded of each process.

    Raises
    ------
    ProfileError : it is no JSON, is cut short, or a field is not what it is in rocprofv3's.
    """
    try:
        document = msgspec.json.decode(text, type=Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProfileError(
            f"rocprofv3 JSON that is cut short or damaged ({error})", path=path, remedy=AGAIN
        ) from error
    names = [name for name in COLUMNS if name != "process"]
    for process in document.recordings:
        pid, lists = process.metadata.pid, process.buffer_records
        columns = [np.zeros((len(names), 0), dtype=np.int64)]
        columns += [
            np.stack([np.fromiter(map(of, piece), np.int64, len(piece)) for of in _OF_DISPATCH])
            for piece in _records(lists.kernel_dispatch, Dispatch, path)
        ]
        launches = dict(zip(names, np.concatenate(columns, axis=1), strict=True))
        launches["process"] = np.full(len(launches["start"]), pid, dtype=np.int64)
        calls = [
            (each.correlation_id.internal, each.start_timestamp)
            for raw in (lists.hip_api, lists.hsa_api)
            for piece in _records(raw, Call, path)
            for each in piece
        ]
        numbers, start_ns = np.array(calls, dtype=np.int64).reshape(-1, 2).T
        texts = {each.key: each.value for each in process.strings.marker_api}
        yield Recording(
            launches=launches,
            calls=numbers,
            call_start_ns=start_ns,
            symbols={
                each.kernel_id: (each.formatted_kernel_name, each.kernel_name)
                for each in process.kernel_symbols
            },
            agents={
                each.id.handle: device_of(
                    each.logical_node_type_id,
                    each.product_name,
                    {"cu_count": each.cu_count, "mem_banks": each.mem_banks},
                )
                for each in process.agents
                if each.type == _GPU
            },
            markers=[
                (pid, named, each.start_timestamp, each.end_timestamp)
                for piece in _records(lists.marker_api, Call, path)
                for each in piece
                if (named := texts.get(each.correlation_id.internal))
                and each.end_timestamp > each.start_timestamp
            ],
        )


def _records(raw: msgspec.Raw, kind: type[Record], path: str) -> Iterator[list[Record]]:
    """Yield the records of a list in pieces, so that never all of them are Python objects.

    Raises
    ------
    ProfileError : a field is missing or not what it is in rocprofv3's; ``row`` is the record's number.
    """
    decoder = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
    text = memoryview(raw)
    done = start = 0
    while start < len(text):
        found = _BOUNDARY.search(text, start + _PIECE_BYTES)
        stop = len(text) if found is None else found.start(1)
        opening = b"" if start == 0 else b"["
        closing = b"" if found is None else b"]"
        try:
            piece = decoder.decode(b"".join((opening, text[start:stop], closing)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message, _, place = str(error).partition(" - at `$[")
            number, _, field = place.rstrip("`").partition("]")
            raise ProfileError(
                f"a record of rocprofv3's that is not usable ({message})",
                path=path,
                row=done + 1 + int(number) if number.isdigit() else None,
                column=field.lstrip(".") or None,
                remedy=AGAIN,
            ) from error
        yield piece
        done += len(piece)
        start = stop + 1
