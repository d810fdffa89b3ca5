"""rocprofv3's JSON (`rocprofv3 --output-format json`): a recording for each process.

The text is in memory whole. Its long lists are decoded in pieces, each of which becomes columns at once. Only
the fields that are used are decoded: commands and hosts are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
from msgspec import DecodeError, Meta, Raw, Struct, field
from msgspec.json import Decoder

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile, place_on_disk
from sampling.readers.rocm_database import COLUMNS, Recording, device_of, profile_of

FORMAT = "rocprofv3-json"

_BLOCK_BYTES = 1 << 22
_RECORDS_AT_ONCE = 1 << 13
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')
_AGAIN = "copy the file again, or record it again with `rocprofv3 --kernel-trace --output-format json`"
_GPU = 2

_Whole = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
_Size = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
_DeviceNumber = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]


class _Handle(Struct, gc=False):
    handle: _Whole = 0


class _Correlation(Struct, gc=False):
    internal: _Whole = -1


class _Axes(Struct, gc=False):
    x: _Size
    y: _Size
    z: _Size


class _DispatchInfo(Struct, gc=False):
    agent_id: _Handle
    queue_id: _Handle
    kernel_id: _Whole
    dispatch_id: _Whole
    workgroup_size: _Axes
    grid_size: _Axes


class _Call(Struct, gc=False):
    start_timestamp: _Whole  # nanoseconds
    end_timestamp: _Whole
    correlation_id: _Correlation = field(default_factory=_Correlation)


class _Dispatch(_Call, gc=False, kw_only=True):
    dispatch_info: _DispatchInfo


class _Agent(Struct):
    id: _Handle
    type: int = 0
    logical_node_type_id: _DeviceNumber = 0
    product_name: Any = ""
    cu_count: Any = None
    mem_banks: Any = None


class _Symbol(Struct):
    kernel_id: int
    kernel_name: str = ""
    formatted_kernel_name: str = ""


class _Text(Struct):
    key: int
    value: str


class _Strings(Struct):
    marker_api: list[_Text] = []


class _Metadata(Struct):
    pid: _Whole = 0


class _Lists(Struct):
    kernel_dispatch: Raw = Raw(b"[]")
    hip_api: Raw = Raw(b"[]")
    hsa_api: Raw = Raw(b"[]")
    marker_api: Raw = Raw(b"[]")


class _Process(Struct):
    metadata: _Metadata = field(default_factory=_Metadata)
    agents: list[_Agent] = []
    kernel_symbols: list[_Symbol] = []
    strings: _Strings = field(default_factory=_Strings)
    buffer_records: _Lists = field(default_factory=_Lists)


class _Document(Struct, rename={"processes": "rocprofiler-sdk-tool"}):
    processes: list[_Process]


# Where a dispatch has each of COLUMNS; its process stands elsewhere.
_PATHS = (
    *("start_timestamp", "end_timestamp", "correlation_id.internal", "dispatch_info.dispatch_id", ""),
    *("dispatch_info.agent_id.handle", "dispatch_info.queue_id.handle", "dispatch_info.kernel_id"),
    *(f"dispatch_info.{size}.{axis}" for size in ("grid_size", "workgroup_size") for axis in "xyz"),
)


def recognise(file: InputFile) -> bool:
    """Return whether the file opens as rocprofv3's JSON does."""
    return _OPENING.match(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises ProfileError: the JSON is damaged, a record is not usable, or there is no dispatch.
    """
    total = file.location.stat().st_size
    text = bytearray()
    with file.open() as stream:
        for block in iter(partial(stream.read, _BLOCK_BYTES), b""):
            text += block
            if progress is not None:
                progress(place_on_disk(stream), total, f"reading {file.path}")
    try:
        document = Decoder(_Document).decode(memoryview(text)[text.startswith(_BYTE_ORDER_MARK) * 3 :])
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"rocprofv3 JSON that is cut short or damaged ({error})"
        raise ProfileError(message, path=file.path, remedy=_AGAIN) from error
    recordings = (_recording(process, file.path) for process in document.processes)
    return profile_of(recordings, file, kernels, FORMAT)


def _recording(process: _Process, path: str) -> Recording:
    """Return what was recorded of one process."""
    pid, lists = process.metadata.pid, process.buffer_records
    fields = [attrgetter(path) if path else None for path in _PATHS]
    columns = [np.zeros((len(COLUMNS), 0), dtype=np.int64)]
    for piece in _records(lists.kernel_dispatch, _Dispatch, path):
        columns.append(np.full((len(COLUMNS), len(piece)), pid, dtype=np.int64))
        for column, value in zip(columns[-1], fields, strict=True):
            if value is not None:
                column[:] = np.fromiter(map(value, piece), np.int64, len(piece))
    calls = [
        (each.correlation_id.internal, each.start_timestamp)
        for raw in (lists.hip_api, lists.hsa_api)
        for piece in _records(raw, _Call, path)
        for each in piece
    ]
    texts = {each.key: each.value for each in process.strings.marker_api}
    return Recording(
        launches=dict(zip(COLUMNS, np.concatenate(columns, axis=1), strict=True)),
        calls=np.array(calls, dtype=np.int64).reshape(-1, 2).T,
        symbols={
            each.kernel_id: (each.formatted_kernel_name, each.kernel_name) for each in process.kernel_symbols
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
            (pid, text, each.start_timestamp, each.end_timestamp)
            for piece in _records(lists.marker_api, _Call, path)
            for each in piece
            if (text := texts.get(each.correlation_id.internal)) and each.end_timestamp > each.start_timestamp
        ],
    )


def _records(raw: Raw, kind: Any, path: str) -> Iterator[list[Any]]:
    """Yield the records of a list in pieces, so that never all of them are Python objects."""
    decoder, start = Decoder(list[kind]), 0
    try:
        records = Decoder(list[Raw]).decode(raw)
        for start in range(0, len(records), _RECORDS_AT_ONCE):
            yield decoder.decode(b"[" + b",".join(records[start : start + _RECORDS_AT_ONCE]) + b"]")
    except (DecodeError, UnicodeDecodeError) as error:
        message, _, place = str(error).partition(" - at `$[")
        number, _, column = place.rstrip("`").partition("]")
        raise ProfileError(
            f"a record of rocprofv3's that is not usable ({message})",
            path=path,
            row=start + 1 + int(number) if number.isdigit() else None,
            column=column.lstrip(".") or None,
            remedy=_AGAIN,
        ) from error
