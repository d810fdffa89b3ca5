"""What an nsys export says besides its launches: its GPUs, its recorder, and why it has no launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sampling.errors import ProfileError
from sampling.profile.profile import Device
from sampling.readers.nsys.tables import GRAPH_TRACE, KERNEL, RUNTIME, NsysTables
from sampling.text import counted

_Record = Mapping[str, object]


def export_product(tables: NsysTables) -> str | None:
    """Return the exporter's name and version, e.g. "NVIDIA Nsight Systems 2023.4.4.54"."""
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        parts = [tables.setting(table, f"EXPORT_PRODUCT_{part}") for part in ("NAME", "VERSION")]
        if any(parts):
            return " ".join(part for part in parts if part)
    return None


def described_devices(tables: NsysTables, places: Sequence[tuple[int, int]]) -> tuple[Device, ...]:
    """Return the GPUs that launched kernels, as far as the export describes them.

    Parameters
    ----------
    places : (PID, device) pairs.
    """
    gpus = _Gpus(tables)
    found = [(process, gpus.device(process, device)) for process, device in places]
    known = [(process, device) for process, device in found if device is not None]
    distinct = tuple(dict.fromkeys(device for _, device in known))
    if len({device.device for device in distinct}) == len(distinct):
        return distinct
    return tuple(replace(device, process=process) for process, device in known)


class _Gpus:
    """The GPU tables of the export: one of 2020, or two that belong together from 2024 on."""

    def __init__(self, tables: NsysTables) -> None:
        self._cuda_gpus = tables.records(
            "TARGET_INFO_CUDA_GPU", ("deviceId", "pid", "name", "numMultiprocessors", "globalMemorySize")
        )
        self._gpus = tables.records(
            "TARGET_INFO_GPU", ("id", "deviceId", "cuDevice", "name", "smCount", "totalMemory")
        )
        self._numbering = tables.records("TARGET_INFO_CUDA_DEVICE", ("pid", "cudaId", "gpuId"))

    def device(self, process: int, device: int) -> Device | None:
        """Return the GPU that a process calls by a device number, None where the export does not say."""
        gpu = next(self._candidates(process, device), None)
        if gpu is None or not isinstance(gpu["name"], str):
            return None
        return Device(
            device=device,
            name=gpu["name"],
            sm_count=_positive(gpu.get("smCount", gpu.get("numMultiprocessors"))),
            memory_bytes=_memory_bytes(gpu),
        )

    def _candidates(self, process: int, device: int) -> Iterator[_Record]:
        """Yield the records that fit, the surest first.

        CUDA_VISIBLE_DEVICES renumbers the GPUs of a process, so a numbering by process comes first.
        """
        yield from _where(self._cuda_gpus, deviceId=device, pid=process)
        yield from _where(self._cuda_gpus, deviceId=device)
        for number in _where(self._numbering, pid=process, cudaId=device):
            yield from _where(self._gpus, id=number["gpuId"])
        yield from _where(self._gpus, cuDevice=device)
        yield from _where(self._gpus, id=device)
        yield from _where(self._gpus, deviceId=device)


def _where(records: Sequence[_Record], **values: object) -> Iterator[_Record]:
    return (record for record in records if all(record[key] == value for key, value in values.items()))


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _memory_bytes(gpu: _Record) -> int | None:
    if (memory_bytes := _positive(gpu.get("totalMemory"))) is not None:
        return memory_bytes
    # The table of 2020 counts in MiB.
    memory_mib = _positive(gpu.get("globalMemorySize"))
    return None if memory_mib is None else memory_mib << 20


def without_kernels(tables: NsysTables) -> ProfileError:
    """Return the error for an nsys export without kernel launches: why it has none, and what to do."""
    replays = tables.row_count(GRAPH_TRACE) or _graph_launches_traced_whole(tables)
    if replays:
        return ProfileError(
            "this nsys export was recorded with graph-level tracing: "
            f"it holds {counted(replays, 'graph replay')} but none of the kernels inside",
            path=tables.path,
            remedy="record again with `nsys profile --trace=cuda --cuda-graph-trace=node ...`",
        )
    calls = tables.row_count(RUNTIME)
    if calls:
        return ProfileError(
            f"this nsys export has {counted(calls, 'CUDA API call')} but no kernel launches: "
            "kernels were not recorded",
            path=tables.path,
            remedy="check that the profiled range launches kernels and record again with "
            "`nsys profile --trace=cuda ...`; if there are still none, set CuptiUseRawGpuTimestamps=false "
            "in the config.ini of nsys",
        )
    if any(name.startswith("CUPTI_ACTIVITY_KIND_") for name in tables.names):
        return ProfileError(
            f"this nsys export has CUDA tables but no kernel launches ({KERNEL} is missing or empty)",
            path=tables.path,
            remedy="check that the profiled range launches kernels, and export the report without `--tables`",
        )
    return ProfileError(
        "this nsys export has no CUDA tables at all: CUDA was not traced",
        path=tables.path,
        remedy="record again with `nsys profile --trace=cuda ...`",
    )


def _graph_launches_traced_whole(tables: NsysTables) -> int:
    """Return the number of cudaGraphLaunch calls where graphs were traced as a whole, else 0."""
    if tables.setting("META_DATA_CAPTURE", "CUDA_GRAPH_TRACE_OPTIONS:MODE") != "Graph":
        return 0
    if not tables.has(RUNTIME, "nameId"):
        return 0
    calls: dict[int, int] = {}
    for (names,) in tables.integers(RUNTIME, ["nameId"]):
        for name, count in zip(*np.unique(names, return_counts=True), strict=True):
            calls[int(name)] = calls.get(int(name), 0) + int(count)
    texts = tables.strings([name for name in calls if name >= 0])
    launch = ("cudaGraphLaunch", "cuGraphLaunch")
    return sum(calls[name] for name, text in texts.items() if text.startswith(launch))
