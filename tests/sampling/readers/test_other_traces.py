"""Traces of events of other tools: each is refused by its name, and what is PyTorch's is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sampling.readers import registry
from sampling.readers.input_file import open_input
from tests.sampling.readers.kineto_traces import annotation, call, kernel, operator
from tests.sampling.readers.launches_told import Json, read, refusal_of


def complete(name: str, **more: Any) -> Json:
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 5, "dur": 2, **more}


def named_process(name: str) -> Json:
    return {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": name}}


def proton(stream: int) -> Json:
    scope = {"call_stack": ["ROOT", "gemm"]}
    events = [{**complete("gemm", cat="kernel", args=scope), "tid": stream} for _ in range(2)]
    return {"displayTimeUnit": "us", "traceEvents": events}


GPU_OP, NPU_KERNEL = {"cat": "gpu_op", "id": 0}, {"args": {"Task Type": "AI_CORE", "Stream Id": 2}}
ONNX: list[Json] = [
    complete("model_loading_uri", cat="Session", args={}),
    complete("MatMul_kernel_time", cat="Node", args={"provider": "CUDAExecutionProvider"}),
    *({"cat": "Kernel", **complete("sgemm", args={"stream": "7", "grid_x": "8"})} for _ in range(3)),
    {"cat": "Kernel", **complete("MemcpyHostToDevice", args={"stream": "7"})},
]
XLA: list[Json] = [
    named_process("/device:GPU:0"),
    *(complete("fusion.kd", args={"kernel_details": "grid:1,1,1", "hlo_op": "f"}) for _ in range(2)),
    complete("MemcpyH2D", args={"memcpy_details": "size:64"}),
    {},
]
UNITRACE: list[Json] = [
    named_process("HOST<node>"),
    complete("zeCommandListAppendLaunchKernel", cat="cpu_op", id=0),
    complete("GEMM[SIMD32 {64; 1; 1} {256; 1; 1}]", **GPU_OP),
    complete("zeCommandListAppendMemoryCopy(M2D)[64 bytes]", **GPU_OP),
]
PADDLE: list[Json] = [
    complete("gemm[0.012 ms]", cat="Kernel", args={"correlation id": 5, "grid": [1, 1, 1]}),
    complete("cudaLaunchKernel[9 us]", cat="CudaRuntime", args={"correlation id": 5}),
]
MANY_HOST_CALLS = [complete("zeEventQueryStatus", cat="cpu_op", id=each) for each in range(2_000)]

OTHERS: dict[str, tuple[Any, str, str]] = {
    "proton": (proton(0), "Proton", "2 kernels are in it"),
    "proton, a stream a line": ([proton(0), proton(7)], "Proton", "4 kernels are in it"),
    "onnx": (ONNX, "ONNX Runtime", "3 kernels are in it"),
    "onnx, no gpu": (ONNX[:2], "ONNX Runtime", "such traces are not read"),
    "xla": ({"displayTimeUnit": "ns", "traceEvents": XLA}, "XLA", "2 kernels are in it"),
    "unitrace": ({"traceEvents": UNITRACE}, "unitrace", "1 kernel is in it"),
    "unitrace, long": (
        {"traceEvents": [*UNITRACE[:1], *MANY_HOST_CALLS, *UNITRACE]},
        "unitrace",
        "1 kernel is in",
    ),
    "paddle": (
        {"schemaVersion": "1.0.1", "deviceProperties": [], "traceEvents": PADDLE},
        "Paddle",
        "1 kernel is in",
    ),
    "ascend": (
        [named_process("Ascend Hardware"), complete("MatMul", **NPU_KERNEL)],
        "Ascend NPU",
        "1 kernel is",
    ),
    "unknown": (
        {"traceEvents": [complete("k", cat="cuda")]},
        "of the categories cuda,",
        "or another known here",
    ),
    "unknown, kernels": (
        [complete("k", cat="kernel")],
        "of the categories kernel,",
        "with nothing that PyTorch's profiler",
    ),
    "autograd": ([{**complete("aten::mm"), "pid": "CUDA functions"}], "autograd profiler", "such traces are"),
    "no category": (
        {"traceEvents": [complete("main")]},
        "without categories",
        "with nothing that PyTorch's profiler",
    ),
}


@pytest.mark.parametrize("tool", OTHERS)
def test_the_trace_of_another_tool_is_refused_by_its_name(tool: str, tmp_path: Path) -> None:
    document, name, reason = OTHERS[tool]
    lines = document if "a line" in tool else [document]
    path = tmp_path / "trace.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    error = refusal_of(path)
    assert name in error.message
    assert reason in error.message
    assert ("nsys" in str(error.remedy)) != (name in {"unitrace", "Ascend NPU", "autograd profiler"})
    with open_input(str(path)) as file:
        assert registry.find_reader(file) is None


def test_unitrace_is_made_a_table_by_the_command_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "my trace.json"
    path.write_text(json.dumps({"traceEvents": UNITRACE}))
    assert f"|@csv' '{path}' > kernels.csv`" in str(refusal_of(path).remedy)


@pytest.mark.parametrize(
    "events",
    [
        [kernel()],
        [kernel(cat="Kernel")],
        [call(1, 5), complete("k", cat="kernel")],
        [annotation("step", 0, 9), complete("k", cat="kernel")],
        [operator("aten::mm", 0, 9, **{"External id": 3}), complete("k", cat="kernel")],
        [complete("aten::mm", cat="Operator"), complete("k", cat="Kernel")],
    ],
)
@pytest.mark.parametrize("as_list", [True, False])
def test_what_only_kineto_writes_is_enough(events: list[Json], as_list: bool, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events if as_list else {"traceEvents": events}))
    assert (read(path).format, read(path).launches) == ("kineto", 1)
