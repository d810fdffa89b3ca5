"""rocprofv3's JSON (`rocprofv3 --output-format json`): a recording for each process.

The text is in memory whole. Its long lists stay text until they are decoded piece by piece, and each piece
becomes columns at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile, place_on_disk
from sampling.readers.rocm.recording import COLUMNS, Recording, device_of, profile_of

FORMAT = "rocprofv3-json"

_BLOCK_BYTES = 1 << 22
_PIECE_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')
# Between two records of a list: an object within a record follows its key, within a string the quote would be
# escaped. Only lists within a record, which none has that is known, would have it too.
_BOUNDARY = re.compile(rb"\}\s*(,)\s*\{\s*\"")
_AGAIN = "copy the file again, or record it again with `rocprofv3 --kernel-trace --output-format json`"
_GPU = 2
# Where a dispatch has each of COLUMNS; its process stands elsewhere.
_PATHS = (
    *("start_timestamp", "end_timestamp", "correlation_id.internal", "dispatch_info.dispatch_id", ""),
    *("dispatch_info.agent_id.handle", "dispatch_info.queue_id.handle", "dispatch_info.kernel_id"),
    *(f"dispatch_info.{size}.{axis}" for size in ("grid_size", "workgroup_size") for axis in "xyz"),
)
_FIELDS = [attrgetter(path) if path else None for path in _PATHS]


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
    if text.startswith(_BYTE_ORDER_MARK):
        del text[: len(_BYTE_ORDER_MARK)]
    return profile_of(_recordings(text, file.path), file, kernels, format_name=FORMAT, remedy=_AGAIN)


@cache
def _decoders() -> tuple[Any, Any, Any]:
    """Return what decodes a document, a list of dispatches, and one of calls or ranges.

    Only the fields that are used are decoded; commands and hosts are not read. Times are nanoseconds, grids
    are in work-items.
    """
    from typing import Annotated

    from msgspec import Meta, Raw, defstruct, field
    from msgspec.json import Decoder

    whole = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
    size = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
    number = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]

    def struct(**fields: Any) -> Any:
        """Of a type a field, or of (type, default); a struct's own default is made anew each time."""
        made = [
            (name, kind[0], field(default_factory=kind[0]) if kind[1] is None else kind[1])
            if isinstance(kind, tuple)
            else (name, kind)
            for name, kind in fields.items()
        ]
        return defstruct("Read", made, gc=False, rename={"recordings": "rocprofiler-sdk-tool"})

    handle = struct(handle=(whole, 0))
    correlation = struct(internal=(whole, -1))
    axes = struct(x=size, y=size, z=size)
    info = struct(
        agent_id=handle,
        queue_id=handle,
        kernel_id=whole,
        dispatch_id=whole,
        workgroup_size=axes,
        grid_size=axes,
    )
    times = {"start_timestamp": whole, "end_timestamp": whole}
    dispatch = struct(**times, dispatch_info=info, correlation_id=(correlation, None))
    call = struct(**times, correlation_id=correlation)
    unknown = dict.fromkeys(("product_name", "cu_count", "mem_banks"), (object, 0))
    agent = struct(id=handle, type=(int, 0), logical_node_type_id=(number, 0), **unknown)
    symbol = struct(kernel_id=int, kernel_name=(str, ""), formatted_kernel_name=(str, ""))
    text = struct(key=int, value=str)
    lists = dict.fromkeys(("kernel_dispatch", "hip_api", "hsa_api", "marker_api"), (Raw, Raw(b"[]")))
    process = struct(
        metadata=(struct(pid=(whole, 0)), None),
        agents=(list[agent], []),  # type: ignore[valid-type]
        kernel_symbols=(list[symbol], []),  # type: ignore[valid-type]
        strings=(struct(marker_api=(list[text], [])), None),  # type: ignore[valid-type]
        buffer_records=(struct(**lists), None),
    )
    document = struct(recordings=list[process])  # type: ignore[valid-type]
    return Decoder(document), Decoder(list[dispatch]), Decoder(list[call])  # type: ignore[valid-type]


def _recordings(text: bytearray, path: str) -> Iterator[Recording]:
    """Yield what was recorded of each process."""
    from msgspec import DecodeError

    as_document, as_dispatches, as_calls = _decoders()
    try:
        document = as_document.decode(text)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"rocprofv3 JSON that is cut short or damaged ({error})"
        raise ProfileError(message, path=path, remedy=_AGAIN) from error
    for process in document.recordings:
        pid, lists = process.metadata.pid, process.buffer_records
        columns = [np.zeros((len(COLUMNS), 0), dtype=np.int64)]
        for piece in _records(lists.kernel_dispatch, as_dispatches, path):
            columns.append(np.full((len(COLUMNS), len(piece)), pid, dtype=np.int64))
            for column, field in zip(columns[-1], _FIELDS, strict=True):
                if field is not None:
                    column[:] = np.fromiter(map(field, piece), np.int64, len(piece))
        calls = [
            (each.correlation_id.internal, each.start_timestamp)
            for raw in (lists.hip_api, lists.hsa_api)
            for piece in _records(raw, as_calls, path)
            for each in piece
        ]
        numbers, start_ns = np.array(calls, dtype=np.int64).reshape(-1, 2).T
        texts = {each.key: each.value for each in process.strings.marker_api}
        yield Recording(
            launches=dict(zip(COLUMNS, np.concatenate(columns, axis=1), strict=True)),
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
                for piece in _records(lists.marker_api, as_calls, path)
                for each in piece
                if (named := texts.get(each.correlation_id.internal))
                and each.end_timestamp > each.start_timestamp
            ],
        )


def _records(raw: Any, decoder: Any, path: str) -> Iterator[list[Any]]:
    """Yield the records of a list in pieces, so that never all of them are Python objects."""
    from msgspec import DecodeError

    text = memoryview(raw)
    done = start = 0
    while start < len(text):
        found = _BOUNDARY.search(text, start + _PIECE_BYTES)
        stop = len(text) if found is None else found.start(1)
        opening = b"" if start == 0 else b"["
        closing = b"" if found is None else b"]"
        try:
            piece = decoder.decode(b"".join((opening, text[start:stop], closing)))
        except (DecodeError, UnicodeDecodeError) as error:
            message, _, place = str(error).partition(" - at `$[")
            number, _, field = place.rstrip("`").partition("]")
            raise ProfileError(
                f"a record of rocprofv3's that is not usable ({message})",
                path=path,
                row=done + 1 + int(number) if number.isdigit() else None,
                column=field.lstrip(".") or None,
                remedy=_AGAIN,
            ) from error
        yield piece
        done += len(piece)
        start = stop + 1
