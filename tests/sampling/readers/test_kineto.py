"""The Kineto reader: what it accepts, what it makes of it, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kineto_file import Style

from sampling.errors import NotApplicableError, ProfileError
from sampling.profile.profile import Device, KernelTable, LaunchSequence, Profile
from sampling.profile.times import NO_START
from sampling.readers import kineto, trace_text
from sampling.readers.input_file import open_input
from sampling.readers.trace_text import trace_pieces
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from tests import small_recordings
from tests.sampling.readers.kineto_traces import annotation, call, kernel, operator, operators, trace
from tests.sampling.readers.launches_told import (
    Json,
    annotations_told,
    column,
    events_of,
    launches_by_plain_json,
    launches_in_annotations,
    names,
    ranges,
    shapes,
    told_of,
)
from tui.text.labels import KernelLabels


def read(path: Path) -> Profile:
    """Read a trace."""
    with open_input(str(path)) as file:
        assert kineto.recognise(file)
        return kineto.read(file, KernelTable(), None)


@pytest.fixture
def reading(tmp_path: Path) -> Any:
    """Write a document (or its raw bytes) and read it."""

    def write_and_read(document: Any) -> Profile:
        path = tmp_path / "trace.json"
        path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        return read(path)

    return write_and_read


# --- one launch -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", ["kernel", "Kernel"])
def test_a_kernel_event_is_a_launch(reading: Any, category: str) -> None:
    profile = reading(trace(kernel(cat=category)))
    assert profile.format == "kineto"
    assert profile.launches == profile.files[0].launches == 1
    assert names(profile) == ["void gemm<float>(float*, int)"]
    assert shapes(profile) == [((4, 2, 1), (128, 1, 1))]
    assert column(profile, "start_ns") == [1_000_000]
    assert column(profile, "duration_ns") == [5_000]
    assert column(profile, "stream") == [7]


@pytest.mark.parametrize("category", ["gpu_memcpy", "gpu_memset", "cpu_op", "Memset", "kernels", None])
def test_other_events_are_not_launches(reading: Any, category: str | None) -> None:
    assert reading(trace(kernel(), kernel(2, cat=category))).launches == 1


@pytest.mark.parametrize(
    ("written", "nanoseconds"),
    [
        (5, 5_000),
        (0, 0),
        (18.112, 18_112),
        (0.0004, 0),
        (0.0006, 1),
        ("5", 5_000),
        ("18.112", 18_112),
        (1606910596288085, 1_606_910_596_288_085_000),
        (1606910596288085.25, 1_606_910_596_288_085_250),
    ],
)
def test_microseconds_become_nanoseconds(reading: Any, written: Any, nanoseconds: int) -> None:
    profile = reading(trace(kernel(ts=written, dur=written)))
    assert column(profile, "start_ns") == column(profile, "duration_ns") == [nanoseconds]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"pid": 3, "tid": 20}, (0, 7)),
        ({"pid": 3, "device": None}, (3, 7)),
        ({"tid": 20, "stream": None}, (0, 20)),
        ({"pid": "", "tid": "", "device": None, "stream": None}, (0, 0)),
        ({"pid": 2, "tid": 9, "args": None}, (2, 9)),
    ],
)
def test_device_and_stream_are_arguments_else_process_and_thread(
    reading: Any, changes: Json, place: tuple[int, int]
) -> None:
    profile = reading(trace(kernel(**changes)))
    assert (profile.sequences[0].device, column(profile, "stream")[0]) == place


# --- AMD: the grid stands on the call ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hipLaunchKernel", "hipModuleLaunchKernel", "hipLaunchCooperativeKernel"])
def test_a_grid_missing_on_the_kernel_is_taken_from_its_call(reading: Any, name: str) -> None:
    document = trace(
        kernel(1, grid=None, block=None), call(1, 900, name, grid=[608, 2, 1], block=[256, 1, 1])
    )
    assert shapes(reading(document)) == [((608, 2, 1), (256, 1, 1))]


@pytest.mark.parametrize("name", ["hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel"])
@pytest.mark.parametrize("on_kernel", [True, False])
def test_a_call_that_counts_work_items_gives_blocks(reading: Any, name: str, on_kernel: bool) -> None:
    shape = {"grid": [17_921, 8, 1], "block": [256, 4, 1]}
    launch = kernel(1, **(shape if on_kernel else {"grid": None, "block": None}))
    assert shapes(reading(trace(call(1, 900, name, **shape), launch))) == [((71, 2, 1), (256, 4, 1))]


# --- order and sequences -----------------------------------------------------------------------------------


def test_launches_stand_in_the_order_of_their_calls(reading: Any) -> None:
    events = [
        kernel(1, name="second", ts=50),
        kernel(2, name="first", ts=60),
        call(2, 10.5),
        call(1, 11, cat="cuda_driver"),
    ]
    profile = reading(trace(*events))
    assert names(profile) == ["first", "second"]
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == ("api-start", 0)


@st.composite
def shuffled(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    size = draw(st.integers(1, 12))
    numbers = draw(st.lists(st.integers(0, 99), min_size=size, max_size=size, unique=True))
    events = [
        kernel(
            number,
            ts=number * 3,
            dur=draw(st.integers(0, 9)),
            device=draw(st.integers(0, 1)),
            name=f"k{number % 4}",
        )
        for number in numbers
    ]
    events += [call(number, number * 2) for number in numbers if draw(st.booleans())]
    return events, draw(st.permutations(events))


@given(events=shuffled())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_events_in_the_file_does_not_matter(
    events: tuple[list[Json], list[Json]], reading: Any
) -> None:
    one, other = (reading(trace(*order)) for order in events)
    assert one.sequences == other.sequences
    assert one.facts == other.facts
    for name in ("duration_ns", "start_ns", "stream"):
        assert column(one, name) == column(other, name)
    assert (names(one), shapes(one)) == (names(other), shapes(other))


# --- the recording -----------------------------------------------------------------------------------------

A100 = {"id": 0, "name": "A100", "numSms": 108, "totalGlobalMem": 42505273344, "warpSize": 32}


@pytest.mark.parametrize(
    ("library", "told"),
    [({}, ""), ({"cupti_version": 22}, " (CUPTI 22)"), ({"roctracer_version": 4.1}, " (roctracer 4.1)")],
)
def test_the_recording_is_described(reading: Any, library: Json, told: str) -> None:
    described = [A100, {**A100, "id": 1}, {"id": 2}]
    launches = [kernel(1, device=1), kernel(2, device=2), kernel(3, device=1)]
    top = {"deviceProperties": described, "distributedInfo": {"backend": "nccl", "rank": 3}, **library}
    profile = reading(trace(*launches, **top))
    assert profile.sequences == (LaunchSequence(3, 1, 2, 0), LaunchSequence(3, 2, 1, 2))
    assert profile.facts.devices == (Device(1, "A100", 108, 42505273344), Device(2, ""))
    assert profile.facts.product == f"PyTorch profiler{told}"


# --- the text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", [b"", b"\n\n  ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_white_space_and_byte_order_mark_do_not_matter(
    reading: Any, prefix: bytes, indent: int | None
) -> None:
    assert reading(prefix + json.dumps(trace(kernel(), kernel(2)), indent=indent).encode()).launches == 2


def large_trace(events: int) -> Json:
    filler = {
        "ph": "X",
        "cat": "cpu_op",
        "name": 'tricky }, {"ph": "X" \\',
        "args": {"text": "}, {", "list": [{"cat": 1}, {"cat": 2}]},
    }
    launches = [kernel(number, ts=number, name=f"k{number % 3} }}, {{") for number in range(events)]
    return trace(*[event for launch in launches for event in (launch, filler)], distributedInfo={"rank": 2})


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("as_list", [False, True])
def test_a_large_trace_is_read_piece_by_piece(
    reading: Any, indent: int | None, as_list: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_text, "_PIECE_BYTES", 1 << 16)
    document = large_trace(2_000)
    text = json.dumps(document["traceEvents"] if as_list else document, indent=indent).encode()
    assert len(list(trace_pieces([text]))) > 2
    profile = reading(text)
    assert profile.launches == 2_000
    assert column(profile, "start_ns") == [number * 1_000 for number in range(2_000)]
    assert profile.sequences[0].process == (0 if as_list else 2)


@pytest.mark.parametrize(
    "flaw",
    [
        b'{"ph": "X", "cat": "gpu_memcpy", "args": {"memory bandwidth (GB/s)": inf}}',
        b'{"ph": "X", "cat": "kernel2", "args": {"est. achieved occupancy %": -nan}}',
        b'{"ph": "X", "cat": "kernel2", "args": {"x": NaN, "y": Infinity}}',
        b'{"ph": "X", "cat": "python_function", "name": "torch\\cuda\\__init__.py(219): \\"_lazy_init\\""}',
        b'{"ph": "X", "cat": "python_function", "name": "config.py(0): \x01\x1f"}',
        b'{"ph": "X", "cat": "python_function", "name": "\xff\xfe"}',
    ],
)
def test_flaws_that_pytorch_writes_do_no_harm(reading: Any, flaw: bytes) -> None:
    launch = json.dumps(kernel(name='a "quoted" \\ name')).encode()
    profile = reading(b'{"schemaVersion": 1, "traceEvents": [%b, %b]}' % (flaw, launch))
    assert names(profile) == ['a "quoted" \\ name']


@pytest.mark.parametrize("levels", [50, 2_000, 200_000])
@pytest.mark.parametrize("place", ['"stream": 7', '"deviceProperties": []', '"traceName": "t"'])
def test_how_deep_a_value_lies_does_not_matter(reading: Any, place: str, levels: int) -> None:
    """Decoders give up at a depth that differs from Python to Python, and nothing that is read lies there."""
    text = json.dumps(trace(kernel(1), kernel(2)))
    assert place in text
    nested = '{"a":' * (levels // 2) + "[" * (levels // 2) + "]" * (levels // 2) + "}" * (levels // 2)
    profile = reading(text.replace(place, f"{place.partition(':')[0]}: {nested}").encode())
    assert column(profile, "duration_ns") == [5_000, 5_000]


# --- launches that can be none, and calls that launched nothing ---------------------------------------------


@pytest.mark.parametrize("launches", [1, 1_500])
@pytest.mark.parametrize(
    ("changes", "column_name"),
    [
        ({"dur": None}, "dur"),
        ({"dur": "long"}, "dur"),
        ({"dur": -1}, "dur"),
    ],
)
def test_a_kernel_event_that_can_be_no_launch_is_left_out(
    reading: Any, launches: int, changes: Json, column_name: str
) -> None:
    events = large_trace(launches)["traceEvents"]
    called = call(7_777, 10**6)
    profile = reading(trace(*events, called, kernel(7_777, **changes), kernel(7_778)))
    facts = profile.facts
    assert (profile.launches, facts.rows_left_out) == (launches + 1, 1)
    assert f"row {2 * launches + 2:,}, column {column_name}: " in str(facts.first_left_out)
    assert (facts.launch_calls, facts.calls_without_kernel) == (1, 0), "its kernel was recorded"


def test_a_trace_of_too_many_of_them_is_refused_with_the_first(reading: Any) -> None:
    wrong = [kernel(number, dur=-5) for number in range(11)]
    with pytest.raises(ProfileError, match="no usable 'dur', the first of 11 rows") as refused:
        reading(trace(kernel(99), *wrong))
    assert (refused.value.row, refused.value.column) == (2, "dur")
    with pytest.raises(ProfileError, match="no usable 'dur'"):
        reading(trace(wrong[0]))


@pytest.mark.parametrize("changes", [{"name": ""}, {"name": None}, {"ts": None}, {"ts": 0}])
def test_a_launch_without_a_name_or_a_time_is_one(reading: Any, changes: Json) -> None:
    profile = reading(trace(kernel(1), kernel(2, **changes)))
    assert (profile.launches, profile.facts.rows_left_out) == (2, 0)
    assert ("(no name)" in names(profile)) == ("name" in changes)


LAUNCHING = [
    "cudaLaunchKernel",
    "cudaLaunchKernelExC_v11060",
    "cuLaunchKernelEx",
    "cudaLaunchCooperativeKernel",
]
LAUNCHING += [
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipModuleLaunchCooperativeKernel",
    "cudaLaunch_v3020",
]
OTHER_CALLS = [
    "cudaMemcpyAsync",
    "hipMemsetAsync",
    "cudaLaunchHostFunc",
    "cudaGraphLaunch",
    "cudaStreamIsCapturing",
]


@pytest.mark.parametrize("name", LAUNCHING)
def test_calls_that_launch_a_kernel_and_have_none_are_counted(reading: Any, name: str) -> None:
    calls = [call(number, number, name) for number in range(5)]
    others = [call(10 + number, number, other) for number, other in enumerate(OTHER_CALLS)]
    facts = reading(trace(kernel(1), *calls, kernel(4), *others, kernel(14, cat="gpu_memcpy"))).facts
    assert (facts.launch_calls, facts.calls_without_kernel, facts.hidden_graph_replays) == (5, 3, 1)
    # A kernel without a number may be any call's.
    unnumbered = [kernel(correlation=None) for _ in range(2)]  # type: ignore[arg-type]
    assert reading(trace(kernel(1), *calls, *unnumbered)).facts.calls_without_kernel == 2


@pytest.mark.parametrize("ts", [None, 0, 1e300, 10**400, "soon"])
def test_a_launch_without_a_start_stands_where_it_was_called_or_written(reading: Any, ts: Any) -> None:
    times = [1.6e15, 1.6e15 + 20, ts, 1.6e15 + 10]
    calls = [call(number, 1.6e15 - 10 + number) for number in range(1, 5)]
    called = reading(trace(*calls, *(kernel(row, ts=each, dur=row) for row, each in enumerate(times, 1))))
    alone = reading(trace(*(kernel(-1, ts=each, dur=row) for row, each in enumerate(times, 1))))
    for profile, durations_us, order in (
        (called, [1, 2, 3, 4], "api-start"),
        (alone, [1, 4, 2, 3], "gpu-start"),
    ):
        told = profile.load(("duration_ns", "start_ns"))
        assert profile.facts.launch_order == order
        assert told["duration_ns"].tolist() == [1000 * each for each in durations_us]
        assert (told["start_ns"] == NO_START).tolist() == [each == 3 for each in durations_us]
        assert profile.facts.without_start == 1


# --- annotations -------------------------------------------------------------------------------------------


def test_annotations_hold_the_launches_whose_calls_began_in_them(reading: Any) -> None:
    events = [
        annotation("step 2", 20.5, 10),
        *(kernel(number, ts=500 - number) for number in range(5)),
        *(call(number, 10 * number + 0.5, tid=number) for number in range(5)),
        annotation("step 1", 0, 20.5),
        annotation("empty", 41, 9),
        annotation("step on the GPU", 0, 999, cat="gpu_user_annotation"),
        annotation("step of an operator", 0, 999, cat="cpu_op"),
        annotation("step without a time", None, 5),
        annotation("step without an end", 0, None),
        annotation("step of another form", 0, 999, ph="i"),
        annotation(None, 0, 999),
        annotation("", 0, 999),
    ]
    profile = reading(trace(*events))
    assert ranges(profile, "step") == [("step 1", 0, 0, 2), ("step 2", 0, 2, 3)]
    assert ranges(profile, "empty") == []
    assert profile.range_names(9) == ("step 1", "step 2")


def test_old_traces_have_the_annotations_of_pytorch_among_the_operators(reading: Any) -> None:
    named = ("ProfilerStep#5", "aten::add", "Optimizer.step#SGD.step")
    operators = [annotation(name, 0, 9, cat="Operator") for name in named]
    profile = reading(trace(kernel(), call(1, 1), *operators))
    assert [text for text, *_ in ranges(profile, "")] == ["ProfilerStep#5", "Optimizer.step#SGD.step"]


# --- small recordings in every style -----------------------------------------------------------------------

WHOLE = [(style, 0, "api-start") for style in ("today", "old", "amd")]
CUT = [(style, 40, "correlation") for style in ("today", "old", "amd")]


@pytest.mark.parametrize(("style", "calls_lost", "order"), [*WHOLE, *CUT])
def test_small_traces_are_read_whole(style: Style, calls_lost: int, order: str, tmp_path: Path) -> None:
    path = small_recordings.kineto(tmp_path, style, calls_lost=calls_lost)
    profile = read(path)
    recording = small_recordings.batches()
    assert profile.launches == len(recording.launches)
    assert sum(column(profile, "duration_ns")) == sum(each.times.duration_ns for each in recording.launches)
    # Among the last 40 activities is the copy of the result.
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == (order, max(0, calls_lost - 1))
    assert told_of(profile) == launches_by_plain_json(events_of(path), order)


@pytest.mark.parametrize("style", ["today", "old", "amd"])
def test_small_annotations_hold_what_a_plain_reading_counts(style: Style, tmp_path: Path) -> None:
    path = small_recordings.kineto(tmp_path, style)
    profile = read(path)
    assert annotations_told(profile) == launches_in_annotations(events_of(path))
    steps = ranges(profile, "ProfilerStep#")
    assert len(steps) == 2
    assert all(before[3] == after[2] for before, after in pairwise(steps)), "steps follow each other"
    assert (steps[0][2], steps[-1][3]) == (0, profile.launches)


def test_without_correlation_numbers_the_gpu_start_orders(reading: Any) -> None:
    events = [kernel(1, name="last", ts=2), kernel(correlation=None, name="first", ts=1)]  # type: ignore[arg-type]
    profile = reading(trace(*events))
    assert names(profile) == ["first", "last"]
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == ("gpu-start", 2)


def test_kernels_of_one_graph_launch_stand_in_gpu_order(reading: Any) -> None:
    nodes = [kernel(5, name=name, ts=ts) for name, ts in (("c", 30), ("a", 10), ("b", 20))]
    profile = reading(trace(*nodes, call(5, 1, "cudaGraphLaunch")))
    assert names(profile) == ["a", "b", "c"]
    assert profile.facts.hidden_graph_replays == 0


# --- operators ---------------------------------------------------------------------------------------------


def test_the_outermost_operator_of_aten_is_that_of_the_launch_else_the_innermost(reading: Any) -> None:
    events = [
        operator("autograd::engine::evaluate_function: F", 0, 100),
        operator("FBackward", 10, 80),
        operator("aten::linear", 20, 20, **{"Input Dims": [[4, 8], [2, 8], []]}),
        operator("aten::mm", 22, 10, **{"Input Dims": [[4, 8], [8, 2]]}),
        operator("aten::copy_", 200, 10),
        operator("aten::to", 200, 20),
        operator("of another thread", 300, 10, tid=1),
        *(kernel(number, ts=500 + number) for number in range(8)),
        *(call(number, ts) for number, ts in enumerate((5, 15, 25, 40, 90, 205, 305))),
    ]
    of_the_engine = "autograd::engine::evaluate_function: F"
    expected = [of_the_engine, "FBackward", "aten::linear [[4, 8], [2, 8]]", "FBackward", of_the_engine]
    # One ends where another begins: its last nanosecond is outside. A launch without a call has no operator.
    by_start = reading(trace(*events))
    assert by_start.facts.api_rows_missing == 1
    assert operators(by_start) == [*expected, "aten::to", "", ""]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "aten::add"),
        ({"Input Dims": [], "Input type": []}, "aten::add"),
        ({"Input Dims": [[], []], "Input type": ["Scalar", "Scalar"]}, "aten::add"),
        (
            {"Input Dims": [[2, 3], [3], []], "Input type": ["c10::Half", "c10::Half", "Scalar"]},
            "aten::add [[2, 3], [3]] Half",
        ),
        (
            {"Input Dims": [[2], [3]], "Input type": ["float", "long int"]},
            "aten::add [[2], [3]] float long int",
        ),
        ({"Input Dims": [[[2], [3]], []], "Input type": ["TensorList", ""]}, "aten::add [[[2], [3]]]"),
        ({"Input Dims": [[2]], "Input type": []}, "aten::add [[2]]"),
        ({"Input dims": [[2], []], "Input type": []}, "aten::add [[2]]"),
        ({"Input Dims": "none", "Input type": 5}, "aten::add"),
    ],
)
def test_an_operator_has_the_shapes_and_types_of_its_tensors(
    reading: Any, arguments: Json, text: str
) -> None:
    profile = reading(trace(kernel(), call(1, 5), operator("aten::add", 0, 9, **arguments)))
    assert operators(profile) == [text]


def test_old_annotations_among_the_operators_are_none(reading: Any) -> None:
    old = [operator(name, 0, 9, cat="Operator") for name in ("ProfilerStep#5", "aten::add")]
    assert operators(reading(trace(kernel(), call(1, 5), *old))) == ["aten::add"]
    assert operators(reading(trace(kernel(), call(1, 5), old[0]))) == [""]


@given(st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_operators_are_those_that_a_plain_search_finds(reading: Any, random: Any) -> None:
    """Nested spans of some threads, and calls anywhere, against a search of all spans."""
    spans: list[tuple[str, int, int, int]] = []

    def nest(thread: int, low: int, high: int, depth: int) -> None:
        while low < high and depth < 5:
            start = random.randint(low, high)
            stop = random.randint(start, high)
            if spans and (start, stop) == (low, high):
                return  # which of two equal spans is the outer one cannot be told
            spans.append((random.choice(["aten::f", "g::h", "i"]) + str(len(spans)), thread, start, stop))
            nest(thread, start, stop, depth + 1)
            low = stop + 1

    for thread in range(3):
        nest(thread, 0, 60, 0)
    times = sorted(random.choices(range(70), k=30))
    threads = [random.randrange(4) for _ in times]
    events = [operator(name, start, stop - start, tid=thread) for name, thread, start, stop in spans]
    random.shuffle(events)
    calls = [call(number, ts) | {"tid": threads[number]} for number, ts in enumerate(times)]
    # Kernels of other names each: none of these is an iteration that comes again.
    launched = [kernel(number, name=f"k{number}", ts=100 + number) for number in range(30)]
    profile = reading(trace(*events, *launched, *calls))
    expected = []
    for ts, thread in zip(times, threads, strict=True):
        # Spans are in the order in which they were nested: outer ones first.
        inside = [name for name, of, start, stop in spans if of == thread and start <= ts < stop]
        aten = [name for name in inside if name.startswith("aten::")]
        expected.append(aten[0] if aten else inside[-1] if inside else "")
    assert operators(profile) == expected


KERNELS = (("gemm", 10), ("split", 20), ("gemm", 40), ("gemm", 80), ("split", 160))


def test_groups_are_of_operators_and_of_kernels_without_one(reading: Any) -> None:
    mm, add = ({"Input Dims": [[size, 4], [4, size]]} for size in (8, 2))
    events = [
        operator("aten::mm", 0, 10, **mm),
        operator("aten::mm", 20, 10, **mm),
        operator("aten::mm", 40, 10, **add),
        *(call(number, ts) for number, ts in enumerate((1, 2, 21, 41, 60))),
        *(kernel(number, name=name, ts=100 + number, dur=dur) for number, (name, dur) in enumerate(KERNELS)),
    ]
    profile = reading(trace(*events))
    everywhere = Grouping(GroupBy.OPERATOR, pool_devices=True)
    counts = count_durations(profile, everywhere)
    found = {group.key: int(ns) for group, ns in zip(counts.groups, counts.group_duration_ns, strict=True)}
    large, small = "aten::mm [[8, 4], [4, 8]]", "aten::mm [[2, 4], [4, 2]]"
    assert found == {large: 70_000, small: 80_000, "split": 160_000}
    assert counts.names == 2
    # Filters of names are of kernels, whatever the groups are.
    kept = count_durations(profile, everywhere, Region(include=("gemm",)))
    assert [(group.key, int(ns)) for group, ns in zip(kept.groups, kept.group_duration_ns, strict=True)] == [
        (small, 80_000),
        (large, 50_000),
    ]
    labels = KernelLabels(counts.groups, {})
    assert {labels.label(row, None) for row in range(3)} == {"mm 8x4,4x8", "mm 2x4,4x2", "split"}


STEP = [("aten::mm", "a"), ("aten::add", "b"), ("aten::sub", "b"), ("", "c")]


@given(
    st.lists(st.sampled_from(STEP), min_size=8, max_size=14),
    st.lists(st.lists(st.sampled_from(STEP), max_size=2), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["aten::add", "aten::sub"])), max_size=1),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_launches_before_operators_were_recorded_have_those_of_a_later_iteration(
    tmp_path: Path,
    step: list[tuple[str, str]],
    between: list[list[tuple[str, str]]],
    changed: list[tuple[int, str]],
) -> None:
    """What begins an iteration late is told by all iterations that are whole, if they tell the same."""
    later = [("aten::mm", "first")]
    for others in between:
        later += [*others, *step]
    for at, text in changed:
        later[at % len(later)] = (text, later[at % len(later)][1])
    launches = [*(("", kernel) for _, kernel in step), *later]
    issued = [(text, kernel, 5) for text, kernel in launches]
    found = operators(read(small_recordings.kineto_of_operators(tmp_path / "late.json", issued)))

    def written(texts: Sequence[tuple[str, str]]) -> list[str]:
        return [text and f"{text} [[8, 4]] float" for text, _ in texts]

    kernels, told = [kernel for _, kernel in launches], list[list[str]]()
    at = len(step)
    while at <= len(launches) - len(step):
        again = kernels[at : at + len(step)] == kernels[: len(step)]
        told += [written(launches[at : at + len(step)])] if again else []
        at += len(step) if again else 1
    is_told = len(step) >= 10 and bool(told) and all(each == told[0] for each in told)
    assert found[: len(step)] == (told[0] if is_told else [""] * len(step))
    assert found[len(step) :] == written(later)


def test_no_operators_are_refused_where_groups_are_to_be_of_them(reading: Any) -> None:
    with pytest.raises(NotApplicableError, match=r"names no operator .* group by `group_by=name`, or record"):
        count_durations(reading(trace(kernel(), call(1, 5))), Grouping(GroupBy.OPERATOR))
