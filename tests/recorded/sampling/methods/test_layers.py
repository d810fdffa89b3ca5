"""Layers of networks recorded by others: their number is that of the model, and drawing three of them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sampling.plan.draft import draft_plan
from sampling.plan.layer_summary import summarise_layers
from sampling.plan.plan import drawn_plan
from sampling.plan.request import PlanRequest
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.layers import Layers, find_layers

QWEN, SGLANG = "kineto/h100-qwen1.5-inference.json.gz", "turn4/files/sglang-decode-mi300x.json.gz"


def layers_of(path: Path, *exclude: str) -> Layers | None:
    """Return the layers of a recording."""
    request, profile = PlanRequest(exclude=exclude), read_profile([str(path)])
    return find_layers(profile, count_durations(profile, request.grouping, request.region))


@pytest.mark.parametrize(
    ("name", "families"),
    [
        # Qwen1.5-0.5B has 24 layers, Qwen3-8B 36, on either vendor's GPU and in a graph.
        (QWEN, [(24, 24, 42, 42)]),
        ("kineto/mi300x-qwen1.5-inference.json.gz", [(24, 24, 43, 43)]),
        (SGLANG, [(36, 36, 15, 15)]),
        # Every second of 24 layers has another attention; the first begins with another norm.
        ("turn4/files/vllm-decode-graph-mi300x.json.gz", [(24, 24, 16, 18)]),
        # Eight times three layers of linear attention and one of full attention, on two streams.
        ("turn4/files/rocprofv3-prefill_kernel_trace.csv", [(8, 8, 140, 140)]),
        # Forward and backward in 49 steps.
        ("rocm/mi350x-training-rocprofv3.json.gz", [(8, 392, 28, 29), (8, 392, 55, 59)]),
        # A loop in whose iterations nothing repeats, on two GPUs.
        ("nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite", [(24, 48, 62, 62)]),
    ],
)
def test_there_are_as_many_as_the_model_has(
    shared_data: Path, name: str, families: list[tuple[int, ...]]
) -> None:
    summary = summarise_layers(layers_of(shared_data / name))
    assert [
        (of.layers, of.all_layers, of.least_launches, of.most_launches) for of in summary.families
    ] == families


@pytest.mark.parametrize(
    "name",
    [
        "kineto/a100-recommendation-training.json.gz",
        "kineto/v100-resnet50-training.json.gz",
        "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
        "turn4/files/mi210-gpu-only.json.gz",
    ],
)
def test_other_programs_have_none(shared_data: Path, name: str) -> None:
    assert layers_of(shared_data / name) is None


@pytest.mark.parametrize(("name", "worst", "coverage"), [(QWEN, 0.0066, 0.975), (SGLANG, 0.4754, 0.638)])
def test_one_layer_for_all_and_all_draws_of_three(
    shared_data: Path, name: str, worst: float, coverage: float
) -> None:
    """Where one layer is unlike the others, most draws do not have it, and do not know of it."""
    layers = layers_of(shared_data / name)
    assert layers is not None
    (family,) = summarise_layers(layers).families
    assert family.worst_error == pytest.approx(worst, abs=1e-4)
    draws = layers.time_ns[np.array(list(combinations(range(family.layers), 3)))]
    half_width = 4.3027 * draws.std(axis=1, ddof=1) * np.sqrt(1 / 3 - 1 / family.layers)
    holds = np.abs(draws.mean(axis=1) - layers.time_ns.mean()) <= half_width
    assert holds.mean() == pytest.approx(coverage, abs=0.001)
    assert family.coverage == pytest.approx(holds.mean(), abs=0.03)


@pytest.mark.parametrize("name", [QWEN, SGLANG, "turn4/files/vllm-decode-graph-mi300x.json.gz"])
def test_a_plan_of_three_layers_is_within_its_bound(shared_data: Path, name: str) -> None:
    """All layers' times are known when it is made: its bound holds where the interval of three does not."""
    draft = draft_plan(read_profile([str(shared_data / name)]), PlanRequest(layers=3))
    assert draft.design.bounds.bound is not None
    errors = [drawn_plan(draft.counts, draft.design, seed).error for seed in range(2000)]
    assert np.mean(np.array(errors) <= draft.design.bounds.bound) > 0.94
