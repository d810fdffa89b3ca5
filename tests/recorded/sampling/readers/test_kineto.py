"""Kineto traces of NVIDIA's and AMD's GPUs, recorded by others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from tests.sampling.readers.launches_told import (
    Json,
    annotations_told,
    column,
    events_of,
    launches_by_plain_json,
    launches_in_annotations,
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
