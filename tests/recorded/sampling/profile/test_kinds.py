"""Kinds of kernels on the names of real profiles: frameworks' work is known, whoever made the GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sampling
from sampling.profile.names import OTHER, shares_by_kind

#: Profiles of deep learning, with the largest share of what is of no kind: sorts, poolings.
FRAMEWORKS = {
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite": 0.01,
    "nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite": 0.01,
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite": 0.02,
    "kineto/v100-resnet50-training.json.gz": 0.02,
    "kineto/v100x2-training-unsorted.json.gz": 0.02,
    "kineto/a100-recommendation-training.json.gz": 0.10,
    "kineto/h100-qwen1.5-inference.json.gz": 0.01,
    "kineto/mi300x-qwen1.5-inference.json.gz": 0.01,
    "nvprof/p100-deepspeech-training.txt.gz": 0.02,
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_hardly_any_time_of_a_framework_is_of_no_kind(shared_data: Path, name: str) -> None:
    profile = sampling.read_profile(shared_data / name)
    launches = profile.load(("name", "duration_ns"))
    time_ns = np.bincount(launches["name"], weights=launches["duration_ns"])
    names = [profile.kernels.names.full(code) for code in range(len(time_ns))]
    shares = shares_by_kind(names, time_ns.tolist())
    assert sum(shares.values()) == pytest.approx(1)
    assert shares.get(OTHER, 0.0) <= FRAMEWORKS[name], shares
