"""Traces of JAX, Proton, ONNX Runtime and unitrace: made of launches, and read as these."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.readers import cache, trace_text, xla_trace
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from tests.sampling.readers.kineto_traces import call, kernel, operator, operators, trace
from tests.sampling.readers.launches_told import read, refusal_of, shapes, told
from tests.sampling.readers.tool_traces import (
    Launched,
    begun_and_ended,
    complete,
    expected,
    named,
    newest_proton,
    onnx_runtime,
    proton,
    text_of,
    unitrace,
    xla,
)

SIZES = st.tuples(*[st.integers(1, 1 << 20)] * 3)
#: Launches whose times are whole microseconds, as ONNX Runtime has them, one after the other.
LAUNCHES = st.lists(
    st.builds(
        Launched,
        st.sampled_from(["gemm", 'void f<int>(int*, "x")', "relu [clone 1]", "Ω"]),
        st.just(0),
        st.integers(0, 90).map(lambda duration: 1000 * duration),
        st.integers(0, 3),
        st.just(0),
        SIZES,
        SIZES,
        st.sampled_from(["dot.3", "fusion", "layer/attention"]),
    ),
    min_size=1,
    max_size=12,
).map(lambda launches: [launch._replace(start_ns=100_000 * place) for place, launch in enumerate(launches)])
TRACES: dict[str, tuple[str, Callable[[list[Launched]], list[Any]]]] = {
    "xla": ("xla", lambda launches: [xla(launches)]),
    "xla on amd": ("xla", lambda launches: [xla(launches, on_amd=True)]),
    "proton": ("proton", proton),
    "proton in ns": ("proton", lambda launches: proton(launches, in_ns=True)),
    "newest proton": ("proton", newest_proton),
    "onnx": ("onnxruntime", lambda launches: [onnx_runtime(launches)]),
    "onnx on amd": ("onnxruntime", lambda launches: [onnx_runtime(launches, on_amd=True)]),
    "unitrace": ("unitrace", lambda launches: [unitrace(launches)]),
}
TWO = [
    Launched("gemm", 1_000_500, 50_250, operator="dot.3"),
    Launched("relu", 1_100_500, 7_125, stream=9, grid=(64, 1, 1), operator="fusion"),
]


@pytest.mark.parametrize("tool", TRACES)
@given(
    launches=LAUNCHES,
    piece_bytes=st.sampled_from([1, 500, 1 << 20]),
    block_bytes=st.sampled_from([7, 1 << 22]),
)
@settings(max_examples=40)
def test_a_trace_is_read_as_the_launches_that_it_was_made_of(
    tool: str,
    launches: list[Launched],
    piece_bytes: int,
    block_bytes: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    format_name, written = TRACES[tool]
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    path.write_text(text_of(written(launches)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_text, "_PIECE_BYTES", piece_bytes)
        patch.setattr(trace_text, "_BLOCK_BYTES", block_bytes)
        profile = read(path)
    wanted = expected(launches)
    if "proton" in tool:
        wanted = [each._replace(grid=None, block=None) for each in wanted]
    found = told(profile)
    if tool in {"onnx on amd", "unitrace"}:
        # Streams are numbered as they come.
        numbers = list(dict.fromkeys(launch.stream for launch in launches))
        wanted = [each._replace(stream=numbers.index(each.stream)) for each in wanted]
    assert profile.format == format_name
    assert found == wanted
    if tool not in {"unitrace", "newest proton"}:
        assert operators(profile) == [launch.operator for launch in launches]


@pytest.mark.parametrize("tool", TRACES)
def test_a_beginning_and_an_end_are_an_event(tool: str, tmp_path: Path) -> None:
    launches = [launch._replace(start_ns=1000 * place, duration_ns=1000) for place, launch in enumerate(TWO)]
    documents = TRACES[tool][1](launches)
    whole, halves = tmp_path / "whole.json", tmp_path / "halves.json"
    whole.write_text(text_of(documents))
    halves.write_text(text_of(map(begun_and_ended, documents)))
    assert told(read(halves)) == told(read(whole))


def test_a_beginning_and_an_end_are_an_event_of_kineto_too(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    inner, outer = kernel(2, ts=1200.5, dur=2.25), kernel(1, ts=1200, dur=5, name="outer")
    halves = begun_and_ended([call(1, 990), outer, call(2, 995)])
    # An event that begins within another one of its thread ends before it.
    begun, end = begun_and_ended([inner])
    halves[3:3] = [begun, end]
    path.write_text(json.dumps(trace(*halves, {"ph": "E", "ts": 9, "pid": 5, "tid": 5})))
    assert [each[2:5] for each in told(read(path))] == [
        ("outer", 1_200_000, 5000),
        (inner["name"], 1_200_500, 2250),
    ]
    document = trace(*halves, *begun_and_ended([kernel(3)])[:1])
    path.write_text(json.dumps(document))
    facts = read(path).facts
    assert (facts.rows_left_out, facts.first_left_out) == (1, "a kernel event begins (ph B) and does not end")


def test_operators_and_copies_of_kineto_may_be_halves_too(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    begun, end = begun_and_ended([operator("aten::mm", 900, 99)])
    inside = [call(1, 990), kernel(1)]
    rest = [call(5, 2000), {**kernel(5), "cat": "gpu_memcpy"}]
    answers = []
    for events in (
        [operator("aten::mm", 900, 99), *inside, *rest],
        [begun, *begun_and_ended(inside), end, *begun_and_ended(rest)],
    ):
        path.write_text(json.dumps(trace(*events)))
        profile = read(path)
        assert profile.activity is not None
        answers.append((operators(profile), told(profile), profile.activity.copies.tolist()))
    assert answers[0] == answers[1]
    assert (answers[0][0], len(answers[0][2][0])) == (["aten::mm"], 1)


def test_what_the_profiler_of_xla_tells_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "host.trace.json"
    document = xla([*TWO, TWO[0]._replace(device=3, start_ns=5_000_000)])
    again = [event for event in document["traceEvents"] if "kernel_details" in event.get("args", {})]
    document["traceEvents"] += [
        {**again[0], "tid": 9},
        # A place that says not what it is.
        {**again[0], "pid": 77, "tid": 77},
        complete("graph:5", pid=1, tid=57, args={"cuda_graph_exec_id": "5"}),
    ]
    path.write_text(json.dumps(document))
    profile = read(path)
    places = [(each.device, each.name) for each in told(profile)]
    assert places == [(0, "gemm"), (0, "relu"), (3, "gemm"), (77, "gemm")]
    assert (profile.facts.hidden_graph_replays, profile.facts.launch_order) == (1, "correlation")


@pytest.mark.parametrize(
    "details", ["", "regs:32 grid:0,1,1 block:1,1,1", "grid:4 block:2", f"grid:{'9' * 12},1,1"]
)
def test_details_without_sizes_are_a_kernel_without_them(details: str, tmp_path: Path) -> None:
    path = tmp_path / "host.trace.json"
    document = xla(TWO[:1])
    for event in document["traceEvents"]:
        if "kernel_details" in event.get("args", {}):
            event["args"] = {"kernel_details": details, "tf_op": "MatMul:MatMul"}
            event["name"] = "_Zgemm.kd"
    path.write_text(json.dumps(document))
    profile = read(path)
    assert [each.name for each in told(profile)] == ["_Zgemm"]
    assert shapes(profile)[0][0] is None
    assert (operators(profile), profile.facts.launch_order) == (["MatMul:MatMul"], "gpu-start")


def test_launches_of_xla_are_in_the_order_of_their_calls(tmp_path: Path) -> None:
    path = tmp_path / "host.trace.json"
    late = [TWO[0]._replace(start_ns=9_000_000), TWO[1]]
    path.write_text(json.dumps(xla(late)))
    assert [each.name for each in told(read(path))] == ["gemm", "relu"]
    path.write_text(text_of(proton(late)))
    assert [each.name for each in told(read(path))] == ["relu", "gemm"]


@pytest.mark.parametrize("more", [0, 1])
def test_a_trace_that_its_profiler_cut_is_told(
    more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "host.trace.json"
    document = xla(TWO)
    events = sum(event.get("ph") == "X" for event in document["traceEvents"])
    limited = replace(xla_trace._DIALECT, most_events=(events + more,))
    monkeypatch.setattr(xla_trace, "read", limited.read)
    path.write_text(json.dumps(document))
    notes = read(path).notes
    assert (len(notes), "the most that the profiler writes" in "".join(notes)) == (1 - more, not more)


@pytest.mark.parametrize("name", ["perfetto_trace.json.gz", "again.trace.json.gz"])
def test_the_copy_of_a_trace_in_its_folder_is_left_out(name: str, tmp_path: Path) -> None:
    run = tmp_path / "plugins" / "profile" / "2026_04_18"
    run.mkdir(parents=True)
    content = gzip.compress(json.dumps(xla(TWO)).encode())
    (run / "host.xplane.pb").write_bytes(b"\n\x7f\x12\x0d/device:GPU:0\x1a\x04\0\0\0\0")
    (run / name).write_bytes(content)
    assert read(tmp_path).launches == 2
    (run / "host.trace.json.gz").write_bytes(content)
    is_copy = name.startswith("perfetto")
    profile = read(tmp_path)
    assert profile.launches == (2 if is_copy else 4)
    assert (name in profile.notes[0], "host.xplane.pb" in profile.notes[0]) == (is_copy, True)


@pytest.mark.parametrize("written", ["whole", "fraction"])
def test_a_fraction_anywhere_says_that_proton_wrote_microseconds(written: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.chrome_trace"
    event = {"cat": "kernel", "args": {"call_stack": ["ROOT", "k"]}, "name": "k", "ph": "X", "tid": 3}
    starts = [0, 9 if written == "whole" else 9.5]
    events = [{**event, "ts": start, "dur": 4} for start in starts]
    path.write_text(json.dumps({"displayTimeUnit": "us", "traceEvents": events}))
    unit = 1 if written == "whole" else 1000
    assert [each[3:5] for each in told(read(path))] == [(0, 4 * unit), (starts[1] * unit, 4 * unit)]


@pytest.mark.parametrize("stack", [b'["ROOT", "\xff\xe2(", "k"]', b'["ROOT", 5, "k"]'])
def test_a_call_stack_that_is_none_is_no_operator(stack: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.chrome_trace"
    path.write_text(json.dumps({"displayTimeUnit": "us", "traceEvents": proton(TWO)[0]["traceEvents"]}))
    path.write_bytes(path.read_bytes().replace(b'["ROOT", "dot.3", "gemm"]', stack))
    profile = read(path)
    assert (profile.launches, "operator" in profile.columns) == (1, False)


def test_tiles_of_unitrace_are_launches_and_calls_are_none(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    names = [
        "Tile #0: f[SIMD_ANY {1; 2; 3} {4; 5; 6}]",
        "f(int)",
        "Tile #1: zeCommandListAppendBarrier",
        "clEnqueueX",
    ]
    events = [complete(name, cat="gpu_op", ts=10 * place) for place, name in enumerate(names)]
    path.write_text(json.dumps({"traceEvents": events}))
    profile = read(path)
    assert [each.name for each in told(profile)] == ["f", "f(int)"]
    assert shapes(profile) == [((1, 2, 3), (4, 5, 6)), (None, None)]


def test_copies_and_failures_of_onnx_runtime_are_no_launches(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = onnx_runtime(TWO)
    old = {"stream": "7", "grid_x": "-1", "grid_y": "-1", "grid_z": "-1"}
    names = ["MemcpyDeviceToHost", "Memset (Device)", "Memset", "not_available_due_to_cupti_error"]
    events += [{"cat": "Kernel", **complete(name, args=old)} for name in names]
    events.append({"cat": "Kernel", **complete("Memory_efficient_attention", args=old, ts=9000)})
    path.write_text(json.dumps(events))
    profile = read(path)
    assert [each.name for each in told(profile)] == ["gemm", "relu", "Memory_efficient_attention"]
    assert shapes(profile)[2] == (None, None)


# --- what is damaged, or of no kernel -----------------------------------------------------------------------

INSIDE = {"call_stack": ["ROOT", "k"], "Init Time (ns)": 5, "Post Final Time (ns)": 9}
WITHOUT: dict[str, tuple[Any, str, str]] = {
    "xla on a TPU": (
        {"traceEvents": [named("process", "/device:TPU:0", 1), complete("fusion")]},
        "XLA of 2 events",
        "jax.profiler",
    ),
    "proton in kernels": (
        {"traceEvents": [complete("load", cat="gemm", args=INSIDE)]},
        "Proton of 1 events",
        "data=",
    ),
    "onnx on a CPU": ([{"cat": "Session", **complete("load", args={})}], "ONNX Runtime of 1", "CUDA or ROCm"),
    "unitrace of calls": (
        {"traceEvents": [complete("zeX", cat="gpu_op")]},
        "unitrace of 1",
        "--chrome-kernel-logging",
    ),
}


@pytest.mark.parametrize("case", WITHOUT)
def test_a_trace_without_a_kernel_is_refused_with_what_helps(case: str, tmp_path: Path) -> None:
    document, message, remedy = WITHOUT[case]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(document))
    error = refusal_of(path)
    assert (message in error.message, remedy in str(error.remedy)) == (True, True)
    assert "without a GPU kernel" in error.message


@pytest.mark.parametrize("tool", TRACES)
def test_a_kernel_without_a_duration_is_left_out_and_told(tool: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    documents = TRACES[tool][1]([*TWO, TWO[1]._replace(start_ns=3_000_000, name="bad")])
    events = [
        event
        for document in documents
        for event in (document if isinstance(document, list) else document["traceEvents"])
    ]
    bad = next(event for event in events if str(event.get("name")).startswith("bad"))
    for wrong in (-1, None, "soon", 1e300):
        bad["dur"] = wrong
        path.write_text(text_of(documents))
        profile = read(path)
        row = events.index(bad) + 1
        told_left_out = f"row {row}, column dur: a kernel event has no usable 'dur'"
        assert (profile.launches, profile.facts.first_left_out) == (2, told_left_out)
    for event in events:
        event["dur"] = -5
    path.write_text(text_of(documents))
    assert "usable 'dur', the first of 3 rows" in refusal_of(path).message


@pytest.mark.parametrize("tool", TRACES)
def test_what_is_whole_of_a_trace_that_is_cut_short_is_read(tool: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    launches = [TWO[0]._replace(start_ns=1_000_000 * place) for place in range(20)]
    text = text_of(TRACES[tool][1](launches))
    path.write_text(text[: len(text) * 3 // 4])
    error = refusal_of(path)
    assert ("cannot be read beyond its first" in error.message, "partial" in str(error.remedy)) == (
        True,
        True,
    )
    profile = read_profile([str(path)], options=ReadOptions(partial=True))
    assert 5 < profile.launches < 20
    assert "cut short or damaged, read up to its event" in profile.notes[0]


def test_what_is_kept_of_a_trace_is_the_same_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LEAST_BYTES", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(xla(TWO)))
    read_profile([str(path)], cache=True)
    monkeypatch.setattr(xla_trace, "read", pytest.fail)
    profile = read_profile([str(path)], cache=True)
    assert (told(profile), operators(profile)) == (expected(TWO), ["dot.3", "fusion"])
