"""Joint on profiles recorded by others: the coverage of its draws, and ROOT as the yardstick."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.strata.target import Target
from tests.sampling.methods.joint.test_joint import (
    costs_no_more_than_root,
    covered,
    keeps_what_root_promises,
    sampled_times_as_the_group_bound_loosens,
)

REAL = (
    "kineto/v100-resnet50-training.json.gz",
    "kineto/a100-recommendation-training.json.gz",
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite",
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
    "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
)
ALSO_REAL = (
    "kineto/v100x2-training-unsorted.json.gz",
    "kineto/h100-qwen1.5-inference.json.gz",
    "kineto/mi300x-qwen1.5-inference.json.gz",
    "nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite",
    "nsys-sqlite/p2000-sort-nsys2020.4.sqlite",
    "nsys-csv/cloverleaf_gpu_trace.csv",
)


@pytest.mark.parametrize("name", REAL)
def test_coverage_over_a_thousand_draws(name: str, reduced: Callable[[str, GroupBy], DurationCounts]) -> None:
    assert covered(reduced(name, GroupBy.NAME), Target()) >= 0.929


@pytest.mark.parametrize("name", [*REAL, ALSO_REAL[0]])
@pytest.mark.parametrize("by", [GroupBy.NAME, GroupBy.LAUNCH])
def test_a_looser_group_bound_costs_no_more(
    name: str, by: GroupBy, reduced: Callable[[str, GroupBy], DurationCounts]
) -> None:
    times = sampled_times_as_the_group_bound_loosens(reduced(name, by))
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("name", [*REAL, *ALSO_REAL])
@pytest.mark.parametrize("by", [GroupBy.NAME, GroupBy.LAUNCH])
@pytest.mark.parametrize("epsilon", [0.05, 0.01])
def test_never_more_sampled_time_than_root(
    name: str, by: GroupBy, epsilon: float, reduced: Callable[[str, GroupBy], DurationCounts]
) -> None:
    assert costs_no_more_than_root(reduced(name, by), epsilon)
    assert keeps_what_root_promises(reduced(name, by), epsilon)
