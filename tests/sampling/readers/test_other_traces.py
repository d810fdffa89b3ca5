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
from tests.sampling.readers.tool_traces import complete, named

NPU_KERNEL = {"args": {"Task Type": "AI_CORE", "Stream Id": 2}}
PADDLE: list[Json] = [
    complete("gemm[0.012 ms]", cat="Kernel", args={"correlation id": 5, "grid": [1, 1, 1]}),
    complete("cudaLaunchKernel[9 us]", cat="CudaRuntime", args={"correlation id": 5}),
]

OTHERS: dict[str, tuple[Any, str, str]] = {
    "paddle": (
        {"schemaVersion": "1.0.1", "deviceProperties": [], "traceEvents": PADDLE},
        "Paddle",
        "1 kernel is in",
    ),
    "ascend": (
        [named("process", "Ascend Hardware", 1), complete("MatMul", **NPU_KERNEL)],
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
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(document))
    error = refusal_of(path)
    assert name in error.message
    assert reason in error.message
    assert ("nsys" in str(error.remedy)) != (name in {"Ascend NPU", "autograd profiler"})
    with open_input(str(path)) as file:
        assert registry.find_reader(file) is None


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
