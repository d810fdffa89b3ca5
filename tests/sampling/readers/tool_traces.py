"""Traces as tools other than PyTorch's profiler write them, made of launches; and these by plain JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from sampling.profile.profile import Dimensions
from tests.sampling.readers.launches_told import Json, Told


class Launched(NamedTuple):
    """A launch to write: times in nanoseconds, the stream small."""

    name: str
    start_ns: int
    duration_ns: int
    stream: int = 7
    device: int = 0
    grid: Dimensions = (4, 2, 1)
    block: Dimensions = (128, 1, 1)
    operator: str = ""


def complete(name: str, **more: Any) -> Json:
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 5, "dur": 2, **more}


def named(kind: str, name: str, pid: int, tid: int | None = None) -> Json:
    place = {"pid": pid} if tid is None else {"pid": pid, "tid": tid}
    return {"ph": "M", "name": f"{kind}_name", **place, "args": {"name": name}}


def _microseconds(launch: Launched) -> Json:
    return {"ts": launch.start_ns / 1000, "dur": launch.duration_ns / 1000}


def _sizes(launch: Launched, on_amd: bool) -> str:
    grid, block = (",".join(map(str, size)) for size in (launch.grid, launch.block))
    sizes = f"grid:{grid} block:{block}"
    if on_amd:
        return f" {sizes} private_mem:0 group_mem:64 occ_pct:0"
    return f"regs:32 static_shared:0 dynamic_shared:0 {sizes} occ_pct:100"


def xla(launches: Sequence[Launched], *, on_amd: bool = False) -> Json:
    """Return what XLA's profiler writes: tracks first, each kernel also among derived events."""
    streams = sorted({(launch.device, launch.stream) for launch in launches})
    events: list[Json] = [
        *(
            named("process", f"/device:GPU:{device}", device + 1)
            for device in sorted({device for device, _ in streams})
        ),
        *(
            named("thread", f"Stream #{stream}(Kernel)", device + 1, stream + 50)
            for device, stream in streams
        ),
        *(named("thread", "XLA Ops", device + 1, 9) for device, _ in streams),
        named("process", "/host:CPU", 701),
    ]
    for number, launch in enumerate(launches):
        call = {"correlation_id": str(number), "hlo_op": launch.operator}
        place = {"pid": launch.device + 1, "tid": launch.stream + 50}
        details = {**call, "kernel_details": _sizes(launch, on_amd)}
        events += [
            complete("cuLaunchKernel", pid=701, tid=3, args=call),
            complete(launch.name, **{**place, **_microseconds(launch)}, args=details),
            complete(launch.operator, pid=launch.device + 1, tid=9, args={"long_name": "x"}),
            complete("MemcpyH2D", **place, args={"memcpy_details": "kind:H2D size:64"}),
        ]
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": [*events, {}]}


def proton(launches: Sequence[Launched], *, in_ns: bool = False) -> list[Json]:
    """Return the documents of Proton, one a stream."""
    documents = []
    for stream in sorted({launch.stream for launch in launches}):
        events = [
            {
                "args": {"call_stack": ["ROOT", *launch.operator.split("/"), launch.name]},
                "cat": "kernel",
                "dur": launch.duration_ns if in_ns else launch.duration_ns / 1000,
                "name": launch.name,
                "ph": "X",
                "tid": stream,
                "ts": launch.start_ns if in_ns else launch.start_ns / 1000,
            }
            for launch in launches
            if launch.stream == stream
        ]
        documents.append({"displayTimeUnit": "us", "traceEvents": events})
    return documents


def newest_proton(launches: Sequence[Launched]) -> list[Json]:
    """Return the one document of newer versions: scopes of the host and of graphs before the kernels."""
    stack = {"call_stack": ["ROOT", "step"]}
    scope: Json = {"args": stack, "cat": "scope", "name": "step", "tid": "cpu thread 5"}
    events = [{**scope, "dur": 9.5, "ph": "X", "ts": 0.0}]
    events += [{**scope, "tid": "Graph: Stream 0", "ph": half, "ts": 1.5} for half in "BE"]
    for launch in launches:
        place = {"tid": f"Stream: {launch.stream}", "ts": launch.start_ns / 1000}
        events += [
            {"cat": "kernel", "dur": launch.duration_ns / 1000, "name": launch.name, "ph": "X", **place},
            {"bp": "e", "cat": "flow", "id": 0, "name": "launch->kernel", "ph": "f", **place},
            {"cat": "kernel", "dur": 1.5, "name": "<metric>", "ph": "X", **place},
        ]
    return [{"displayTimeUnit": "us", "traceEvents": events}]


def onnx_runtime(launches: Sequence[Launched], *, on_amd: bool = False) -> list[Json]:
    """Return the list of ONNX Runtime, whose times are whole microseconds."""
    events: list[Json] = [{"cat": "Session", **complete("model_loading_uri", args={})}]
    for launch in launches:
        stream = hex(0x55D0C800 + 64 * launch.stream) if on_amd else str(launch.stream)
        sizes = {
            f"{unit}_{axis}": str(value)
            for unit, size in (("grid", launch.grid), ("block", launch.block))
            for axis, value in zip("xyz", size, strict=True)
        }
        times = {"ts": launch.start_ns // 1000, "dur": launch.duration_ns // 1000, "pid": -1, "tid": -1}
        copy = "hipMemcpyAsync" if on_amd else "MemcpyHostToDevice"
        events += [
            {"cat": "Node", **complete("MatMul_kernel_time", args={"op_name": launch.operator})},
            {
                "cat": "Kernel",
                **complete(launch.name, **times),
                "args": {"stream": stream, **sizes, "op_name": launch.operator},
            },
            {"cat": "Kernel", **complete(copy, **times), "args": {"stream": stream, "src": "", "dst": ""}},
        ]
    return events


def unitrace(launches: Sequence[Launched]) -> Json:
    """Return what unitrace writes: places count down from 2**32, what they are called stands last."""
    top, events = 2**32 - 1, list[Json]()
    for number, launch in enumerate(launches):
        grid, block = ("; ".join(map(str, size)) for size in (launch.grid, launch.block))
        place = {"pid": top - launch.device, "tid": top - launch.stream, "cat": "gpu_op"}
        events += [
            complete("zeCommandListAppendLaunchKernel", cat="cpu_op", id=number),
            complete(
                f"{launch.name}[SIMD32 {{{grid}}} {{{block}}}]",
                **{**place, **_microseconds(launch)},
                args={"id": str(number)},
            ),
            complete("zeCommandListAppendMemoryCopy(M2D)[64]", **place, args={"id": str(number)}),
        ]
    return {"traceEvents": [*events, named("process", "DEVICE<node>0:3a:0:0 #0", top)]}


def begun_and_ended(document: Any) -> Any:
    """Return a trace whose events have a beginning and an end in place of a duration."""
    if isinstance(document, dict):
        return {**document, "traceEvents": begun_and_ended(document["traceEvents"])}
    halves: list[Json] = []
    for event in document:
        if event.get("ph") != "X":
            halves.append(event)
            continue
        begun = {**{key: value for key, value in event.items() if key != "dur"}, "ph": "B"}
        end = {"ph": "E", "ts": event["ts"] + event["dur"]}
        halves += [begun, {**end, **{key: event[key] for key in ("pid", "tid") if key in event}}]
    return halves


def text_of(documents: Iterable[Any]) -> str:
    return "\n".join(map(json.dumps, documents)) + "\n"


def expected(launches: Sequence[Launched], order: Callable[[Launched], Any] | None = None) -> list[Told]:
    """Return the launches as a profile tells them, by their place among themselves or some order."""
    placed = launches if order is None else sorted(launches, key=order)
    return [
        Told(0, each.device, each.name, each.start_ns, each.duration_ns, each.stream, each.grid, each.block)
        for each in sorted(placed, key=lambda launch: launch.device)
    ]
