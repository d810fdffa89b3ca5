"""rocprofv3's JSON (`rocprofv3 --output-format json`): a recording for each process.

Launches are in the order of the API calls where every launch has its call, else of their dispatch numbers.
The text is in memory whole, its records become columns piece by piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, place_on_disk
from sampling.readers.rocm.devices import device_of, distinct_devices
from sampling.readers.rocm.kernels import bare_name, work_groups
from sampling.readers.rocm.markers import Marker, ranges_of
from sampling.readers.rocm.order import call_order

if TYPE_CHECKING:
    from sampling.readers.rocm.json_records import Dispatch, Recording

FORMAT = "rocprofv3-json"

_BLOCK_BYTES = 1 << 22
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')
_GPU = 2
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COLUMNS: dict[str, Callable[[Dispatch], int]] = {
    "start": lambda each: each.start_timestamp,
    "end": lambda each: each.end_timestamp,
    "call": lambda each: each.correlation_id.internal,
    "dispatch": lambda each: each.dispatch_info.dispatch_id,
    "agent": lambda each: each.dispatch_info.agent_id.handle,
    "queue": lambda each: each.dispatch_info.queue_id.handle,
    "kernel": lambda each: each.dispatch_info.kernel_id,
    "items_x": lambda each: each.dispatch_info.grid_size.x,
    "items_y": lambda each: each.dispatch_info.grid_size.y,
    "items_z": lambda each: each.dispatch_info.grid_size.z,
    "group_x": lambda each: each.dispatch_info.workgroup_size.x,
    "group_y": lambda each: each.dispatch_info.workgroup_size.y,
    "group_z": lambda each: each.dispatch_info.workgroup_size.z,
}


def recognise(file: InputFile) -> bool:
    """Return whether the file opens as rocprofv3's JSON does."""
    return _OPENING.match(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises
    ------
    ProfileError : the JSON is damaged, a record is not usable, or there is no dispatch.
    """
    from sampling.readers.rocm.json_records import decoded

    document = decoded(_text(file, progress), file.path)
    builder = LaunchTableBuilder(file.path, kernels)
    processes = [_Process(each, file.path, kernels) for each in document.recordings]
    launches = sum(each.add_to(builder) for each in processes)
    if launches == 0:
        raise ProfileError(
            "rocprofv3 JSON without a kernel dispatch",
            path=file.path,
            remedy="record the program with `rocprofv3 --kernel-trace`",
        )
    kinds = {each.kind for each in processes}
    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, launches),
        facts=RecordingFacts(
            devices=distinct_devices(pair for each in processes for pair in each.devices),
            launch_order="correlation" if "correlation" in kinds else "api-start",
            api_rows_missing=sum(each.calls_missing for each in processes),
            product="rocprofv3",
        ),
        ranges=partial(ranges_of, [marker for each in processes for marker in each.markers()]),
    )


def _text(file: InputFile, progress: Progress | None) -> bytearray:
    total = file.location.stat().st_size
    text = bytearray()
    with file.open() as stream:
        for block in iter(partial(stream.read, _BLOCK_BYTES), b""):
            text += block
            if progress is not None:
                progress(place_on_disk(stream), total, f"reading {file.path}")
    if text.startswith(_BYTE_ORDER_MARK):
        del text[: len(_BYTE_ORDER_MARK)]
    return text


class _Process:
    """The recording of one process.

    Attributes
    ----------
    kind : what its launches are ordered by, once they are added; None where there are none.
    calls_missing : its launches without an API call where others have one.
    devices : (process, GPU) pairs that its launches ran on.
    """

    def __init__(self, recording: Recording, path: str, kernels: KernelTable) -> None:
        self.kind: LaunchOrder | None = None
        self.calls_missing = 0
        self.devices: list[tuple[int, Device]] = []
        self._recording = recording
        self._path = path
        self._kernels = kernels

    def add_to(self, builder: LaunchTableBuilder) -> int:
        """Add the launches; return how many there are."""
        column = self._columns()
        launches = len(column["start"])
        if launches == 0:
            return 0
        order = call_order(column["call"], column["dispatch"], *self._calls())
        self.kind, self.calls_missing = order.kind, order.calls_missing
        block = [column[f"group_{axis}"] for axis in "xyz"]
        builder.append(
            LaunchColumns(
                name=self._names(column["kernel"]),
                duration_ns=column["end"] - column["start"],
                order=order.order,
                process=np.full(launches, self._recording.metadata.pid, dtype=np.int64),
                device=self._devices(column["agent"]),
                grid=work_groups([column[f"items_{axis}"] for axis in "xyz"], block),
                block=block,
                start_ns=column["start"],
                stream=column["queue"],
                api_start_ns=order.api_start_ns,
            )
        )
        return launches

    def markers(self) -> Iterator[Marker]:
        """Yield the ranges that the program named; marks of an instant are none."""
        from sampling.readers.rocm.json_records import Call, records

        texts = {each.key: each.value for each in self._recording.strings.marker_api}
        pid = self._recording.metadata.pid
        for piece in records(self._recording.buffer_records.marker_api, Call, self._path):
            for each in piece:
                text = texts.get(each.correlation_id.internal)
                if text and each.end_timestamp > each.start_timestamp:
                    yield pid, text, each.start_timestamp, each.end_timestamp

    def _columns(self) -> dict[str, IntArray]:
        from sampling.readers.rocm.json_records import Dispatch, records

        parts: list[dict[str, IntArray]] = [{name: np.zeros(0, dtype=np.int64) for name in _COLUMNS}]
        lists = self._recording.buffer_records
        parts += [
            {name: _integers(map(of, piece), len(piece)) for name, of in _COLUMNS.items()}
            for piece in records(lists.kernel_dispatch, Dispatch, self._path)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}

    def _calls(self) -> tuple[IntArray, IntArray]:
        """Return (c,) the numbers of the API calls that were recorded, and when they began."""
        from sampling.readers.rocm.json_records import Call, records

        lists = self._recording.buffer_records
        pieces = [
            piece for calls in (lists.hip_api, lists.hsa_api) for piece in records(calls, Call, self._path)
        ]
        found = [(each.correlation_id.internal, each.start_timestamp) for piece in pieces for each in piece]
        number, start_ns = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return number, start_ns

    def _names(self, kernel: IntArray) -> AnyIntArray:
        """Return (n,) name codes."""
        symbols = {each.kernel_id: each for each in self._recording.kernel_symbols}
        ids, rows = np.unique(kernel, return_inverse=True)
        found = [symbols.get(each) for each in ids.tolist()]
        names = [bare_name(each.formatted_kernel_name or each.kernel_name) if each else "" for each in found]
        if "" in names:
            raise self._error("a dispatch has no kernel name", int(np.argmax(rows == names.index(""))))
        mangled = [
            bare_name(each.kernel_name) if each and each.kernel_name.startswith("_Z") else None
            for each in found
        ]
        return self._kernels.names.intern(names, mangled=mangled)[rows]

    def _devices(self, agent: IntArray) -> IntArray:
        """Return (n,) the number HIP gives the GPU of each launch, and note which GPUs these are."""
        gpus = {each.id.handle: each for each in self._recording.agents if each.type == _GPU}
        handles, rows = np.unique(agent, return_inverse=True)
        unknown = [handle not in gpus for handle in handles.tolist()]
        if any(unknown):
            row = int(np.argmax(np.array(unknown)[rows]))
            raise self._error("a dispatch went to a GPU that is not among the agents", row)
        used = [gpus[handle] for handle in handles.tolist()]
        self.devices = [
            (
                self._recording.metadata.pid,
                device_of(
                    each.logical_node_type_id,
                    each.product_name,
                    {"cu_count": each.cu_count, "mem_banks": each.mem_banks},
                ),
            )
            for each in used
        ]
        return np.array([each.logical_node_type_id for each in used], dtype=np.int64)[rows]

    def _error(self, message: str, row: int | None = None) -> ProfileError:
        return ProfileError(
            message,
            path=self._path,
            row=None if row is None else row + 1,
            remedy="record it again with `rocprofv3 --kernel-trace --output-format json`",
        )


def _integers(values: Iterator[int], count: int) -> IntArray:
    return np.fromiter(values, dtype=np.int64, count=count)
