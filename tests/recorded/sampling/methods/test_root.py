"""ROOT on profiles recorded by others, against a recursion typed from the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from tests.sampling.methods.test_root import VARIANTS, check_against_the_paper


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("epsilon", [0.05, 0.01])
@pytest.mark.parametrize(
    "name",
    [
        "kineto/v100-resnet50-training.json.gz",  # a clock of 1 us: many costs tie
        "kineto/mi300x-qwen1.5-inference.json.gz",
        "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
        "nsys-csv/cloverleaf_gpu_trace.csv",
    ],
)
def test_root_is_what_the_paper_says(name: str, epsilon: float, variant: str, shared_data: Path) -> None:
    profile = read_profile([str(shared_data / name)])
    check_against_the_paper(count_durations(profile, Grouping(GroupBy.NAME)), epsilon, variant)
