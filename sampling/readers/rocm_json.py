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
from msgspec import DecodeError, Meta, Raw, defstruct, field
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

# What is decoded of each record: the name, type and default of its fields. Times are nanoseconds.
_Whole = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
_Size = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
_DeviceNumber = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
_Handle = defstruct("_Handle", [("handle", _Whole, 0)], gc=False)
_Correlation = defstruct("_Correlation", [("internal", _Whole, -1)], gc=False)
_Axes = defstruct("_Axes", [(axis, _Size) for axis in "xyz"], gc=False)
_INFO = {"agent_id": _Handle, "queue_id": _Handle, "kernel_id": _Whole, "dispatch_id": _Whole}
_Info = defstruct("_Info", [*_INFO.items(), ("workgroup_size", _Axes), ("grid_size", _Axes)], gc=False)
_TIMED = (
    ("start_timestamp", _Whole),
    ("end_timestamp", _Whole),
    ("correlation_id", _Correlation, field(default_factory=_Correlation)),
)
_Call = defstruct("_Call", _TIMED, gc=False)
_Dispatch = defstruct("_Dispatch", [("dispatch_info", _Info), *_TIMED], gc=False)
_Agent = defstruct(
    "_Agent",
    [
        *(("id", _Handle), ("type", int, 0), ("logical_node_type_id", _DeviceNumber, 0)),
        *((name, Any, None) for name in ("product_name", "cu_count", "mem_banks")),
    ],
)
_NAMES = ("kernel_name", str, ""), ("formatted_kernel_name", str, "")
_Symbol = defstruct("_Symbol", [("kernel_id", int), *_NAMES])
_Text = defstruct("_Text", [("key", int), ("value", str)])
_Strings = defstruct("_Strings", [("marker_api", list[_Text], [])])  # type: ignore[valid-type]
_Metadata = defstruct("_Metadata", [("pid", _Whole, 0)])
_LISTS = ("kernel_dispatch", "hip_api", "hsa_api", "marker_api")
_Lists = defstruct("_Lists", [(name, Raw, Raw(b"[]")) for name in _LISTS])
_Process = defstruct(
    "_Process",
    [
        ("metadata", _Metadata, field(default_factory=_Metadata)),
        ("agents", list[_Agent], []),  # type: ignore[valid-type]
        ("kernel_symbols", list[_Symbol], []),  # type: ignore[valid-type]
        ("strings", _Strings, field(default_factory=_Strings)),
        ("buffer_records", _Lists, field(default_factory=_Lists)),
    ],
)
_Document = defstruct(
    "_Document",
    [("processes", list[_Process])],  # type: ignore[valid-type]
    rename={"processes": "rocprofiler-sdk-tool"},
)
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
        document: Any = Decoder(_Document).decode(memoryview(text)[text.startswith(_BYTE_ORDER_MARK) * 3 :])
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"rocprofv3 JSON that is cut short or damaged ({error})"
        raise ProfileError(message, path=file.path, remedy=_AGAIN) from error
    recordings = (_recording(process, file.path) for process in document.processes)
    return profile_of(recordings, file, kernels, FORMAT)


def _recording(process: Any, path: str) -> Recording:
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
