"""Kineto traces of NVIDIA's and AMD's GPUs, recorded by others."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from tests.sampling.readers.kineto_traces import operators
from tests.sampling.readers.launches_told import (
    Json,
    annotations_told,
    column,
    events_of,
    launches_by_plain_json,
    launches_in_annotations,
    names,
    ranges,
    read,
    shapes,
    told_of,
)

REAL = {
    "a100-recommendation-training.json.gz": (8_568, 170, 446_813, "api-start", 0),
    "h100-qwen1.5-inference.json.gz": (1_465, 26, 45_432.698, "correlation", 436),
    "mi250-minitoy-no-grid.json.gz": (14, 12, 110.881, "api-start", 0),
    "mi300x-qwen1.5-inference.json.gz": (1_516, 28, 43_062.042, "correlation", 463),
    "tiny-capital-K-category.json.gz": (4, 4, 30, "api-start", 0),
    "v100-resnet50-training.json.gz": (9_538, 63, 635_237, "correlation", 736),
    "v100x2-training-unsorted.json.gz": (19_370, 49, 977_859, "api-start", 0),
}
STEPS = {
    "a100-recommendation-training.json.gz": [1_428] * 6,
    "h100-qwen1.5-inference.json.gz": [1_029],
    "mi300x-qwen1.5-inference.json.gz": [1_053],
    "v100-resnet50-training.json.gz": [1_467] * 6,
    "v100x2-training-unsorted.json.gz": [3_874] * 5,
}
Recorded = Callable[[str], tuple[Profile, list[Json]]]


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Recorded:
    """Return a trace as it is read, and its events that these tests ask for: parsing them takes seconds."""

    @cache
    def both(name: str) -> tuple[Profile, list[Json]]:
        path = shared_data / "kineto" / name
        asked_for = {
            "kernel",
            "Kernel",
            "Runtime",
            "cuda_runtime",
            "cuda_driver",
            "user_annotation",
            "Operator",
        }
        return read(path), [event for event in events_of(path) if event.get("cat") in asked_for]

    return both


@pytest.mark.parametrize("name", REAL)
def test_traces_are_read_whole(recorded: Recorded, name: str) -> None:
    launches, distinct, total_us, order, missing = REAL[name]
    profile, events = recorded(name)
    assert profile.launches == launches
    assert len(profile.kernels.names) == distinct
    assert sum(column(profile, "duration_ns")) == round(total_us * 1000)
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == (order, missing)
    # All launches have the device of the first.
    expected = launches_by_plain_json(events, order)
    assert told_of(profile) == [(*launch, expected[0][3]) for *launch, _ in expected]


def test_nvidia_grids_are_those_of_the_kernels(recorded: Recorded) -> None:
    profile, events = recorded("h100-qwen1.5-inference.json.gz")
    kernels = [event["args"] for event in events if event["cat"] == "kernel"]
    kernels.sort(key=lambda arguments: arguments["correlation"])
    expected = [(tuple(arguments["grid"]), tuple(arguments["block"])) for arguments in kernels]
    assert shapes(profile) == expected


def test_amd_grids_come_from_the_calls(recorded: Recorded) -> None:
    assert all(grid is not None for grid, _ in shapes(recorded("mi250-minitoy-no-grid.json.gz")[0]))
    known = [
        shape for shape in shapes(recorded("mi300x-qwen1.5-inference.json.gz")[0]) if shape[0] is not None
    ]
    assert len(known) == 1_516 - 463
    # The GEMM launched with 71,680 work-items in groups of 256.
    assert ((280, 1, 1), (256, 1, 1)) in known


# Launches, their total in ns, calls that launch a kernel, those without one, ranks, rows left out
LATER = {
    "files/vllm-decode-graph-mi300x.json.gz": (425, 10_674_517, 4, 0, 0, 0),
    "files/sglang-decode-mi300x.json.gz": (555, 9_765_437, 11, 0, 0, 0),
    "files/mi210-gpu-only.json.gz": (562, 5_343_422, 562, 0, 0, 0),
    "files/torch-compile-triton-mi300x.json.gz": (12, 12_549_021, 12, 0, 0, 0),
    "files/hta-trace_filter_sampled_rank-0.json.gz": (1_154, 606_519_000, 1_154, 0, 0, 0),
    "files/hta-trace_filter_sampled_rank-1.json.gz": (1_104, 651_026_000, 1_104, 0, 0, 0),
    "files/switch-moe-a100.json.gz": (494, 11_950_000, 494, 0, 0, 0),
    "cases/sglang-capture-bs32.json.gz": (2, 11_015, 546, 544, 0, 0),
    "cases/dropped-at-start.json": (30, 1_590_000, 50, 20, 0, 0),
    "cases/merged-ranks.json": (60, 2_430_000, 60, 0, 2, 0),
    "cases/negative-dur.json": (4, 200_000, 5, 0, 0, 1),
    "cases/empty-name.json": (65, 5_346_250, 65, 0, 0, 0),
    "cases/quote-in-name.json": (6, 318_000, 6, 0, 0, 0),
    "cases/ts0.json": (20, 900_000, 20, 0, 0, 0),
}


@pytest.mark.parametrize("name", LATER)
def test_later_traces_are_read_whole(shared_data: Path, name: str) -> None:
    profile = read(shared_data / "turn4" / name)
    facts = profile.facts
    counts = (facts.launch_calls, facts.calls_without_kernel, facts.merged_ranks, facts.rows_left_out)
    assert (profile.launches, sum(column(profile, "duration_ns")), *counts) == LATER[name]


@pytest.mark.parametrize("name", REAL)
def test_every_call_that_launches_a_kernel_has_one(recorded: Recorded, name: str) -> None:
    profile, events = recorded(name)
    launching = [event for event in events if "LaunchKernel" in event["name"]]
    assert profile.facts.launch_calls == len(launching) > 0
    assert profile.facts.calls_without_kernel == profile.facts.merged_ranks == 0


def test_ranks_that_are_merged_are_read_as_apart(shared_data: Path, tmp_path: Path) -> None:
    """Two of 128 ranks, as SGLang would merge them: what each has is what its own file has."""
    merged, apart = [], []
    for rank in (0, 1):
        path = shared_data / "turn4" / "files" / f"hta-trace_filter_sampled_rank-{rank}.json.gz"
        apart.append(read(path))
        merged += [{**event, "pid": f"[TP{rank:02d}] {event.get('pid')}"} for event in events_of(path)]
    path = tmp_path / "merged.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": merged}).encode(), 1))
    profile = read(path)
    assert [each.owner for each in profile.sequences] == ["rank 0", "rank 1"]
    for table in (names, shapes, operators, lambda each: column(each, "duration_ns")):
        assert table(profile) == [each for own in apart for each in table(own)]
    for sequence, own in enumerate(apart):
        found = [(text, *at) for text, of, *at in ranges(profile, "") if of == sequence]
        assert found == [(text, *at) for text, _, *at in ranges(own, "")]


def test_a_trace_of_the_cpu_alone_is_refused(shared_data: Path) -> None:
    with pytest.raises(ProfileError, match="30 events without a GPU kernel"):
        read(shared_data / "not-a-profile" / "kineto-cpu-only.json.gz")


@pytest.mark.parametrize("name", STEPS)
def test_annotations_hold_what_a_plain_reading_counts(recorded: Recorded, name: str) -> None:
    profile, events = recorded(name)
    assert annotations_told(profile) == launches_in_annotations(events)
    steps = ranges(profile, "ProfilerStep#")
    assert [stop - first for _, _, first, stop in steps] == STEPS[name]
    assert all(before[3] == after[2] for before, after in pairwise(steps)), "steps follow each other"
    assert steps[-1][3] == profile.launches


@pytest.mark.parametrize(
    ("name", "share", "distinct"),
    [
        ("a100-recommendation-training.json.gz", 0.983, 496),
        ("h100-qwen1.5-inference.json.gz", 1.0, 33),
        ("mi250-minitoy-no-grid.json.gz", 1.0, 11),
        ("mi300x-qwen1.5-inference.json.gz", 1.0, 33),
        ("tiny-capital-K-category.json.gz", 0.0, 0),
        ("v100-resnet50-training.json.gz", 0.973, 195),
        ("v100x2-training-unsorted.json.gz", 1.0, 26),
    ],
)
def test_launches_have_the_operators_that_issued_them(
    recorded: Recorded, name: str, share: float, distinct: int
) -> None:
    """Of others the calls came before the recording of operators began, and no later iteration tells them."""
    profile, _ = recorded(name)
    operator, duration_ns = profile.load(("operator", "duration_ns")).values()
    texts = np.array(profile.kernels.operators()[0])[operator]
    assert float(duration_ns[texts != ""].sum() / duration_ns.sum()) == pytest.approx(share, abs=5e-4)
    assert len(set(texts[texts != ""])) == distinct
