"""Recorded programs compared with themselves, with another capture, and with the same on another GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.halves import PARTS, by_blocks, groups_of, parted
from sampling.difference import Difference, ProfilePart, difference_between
from sampling.readers.registry import read_profile
from sampling.reduction.region import Region

RECORDED = (
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
    "nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite",
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite",
    "nsys-sqlite/p2000-sort-nsys2020.4.sqlite",
    "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
    "kineto/a100-recommendation-training.json.gz",
    "kineto/h100-qwen1.5-inference.json.gz",
    "kineto/mi300x-qwen1.5-inference.json.gz",
    "kineto/v100-resnet50-training.json.gz",
    "kineto/v100x2-training-unsorted.json.gz",
)


def compared(before: Path, after: Path) -> Difference:
    """Two files kernel by kernel."""
    return difference_between(*(ProfilePart(read_profile([str(path)])) for path in (before, after)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
            "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv",
        ),
        (
            "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite",
            "nsys-csv/derived-h100-cuda_gpu_trace-greenctx.csv",
        ),
    ],
)
def test_two_exports_of_one_run_are_the_same(shared_data: Path, one: str, other: str) -> None:
    """Their processes have other numbers."""
    found = compared(shared_data / one, shared_data / other)
    assert found.without_places
    assert found.ratio == 1
    assert not found.change_ns.any()
    assert {(kernel.status, kernel.matched_by) for kernel in found.kernels} == {("both", "launch")}
    assert not ((found.ratios.low > 1) | (found.ratios.high < 1)).any()


def test_one_program_on_two_sizes_of_a_gpu(runs: Path) -> None:
    """The same launches on 8 and 16 SMs: all kernels are found again, and none takes longer."""
    found = compared(runs / "solver-8.gpu-trace.csv", runs / "solver-16.gpu-trace.csv")
    assert {kernel.status for kernel in found.kernels} == {"both"}
    assert found.before.launches.tolist() == found.after.launches.tolist()
    assert found.kernels[0].grid == (4, 16, 1)
    assert found.ratios.high[0] < 0.7
    assert found.ratio == pytest.approx(0.776, abs=5e-4)


def test_one_model_on_two_vendors_gpus(shared_data: Path) -> None:
    h100, mi300x = (shared_data / "kineto" / f"{gpu}-qwen1.5-inference.json.gz" for gpu in ("h100", "mi300x"))
    found = compared(h100, mi300x)
    status = [kernel.status for kernel in found.kernels]
    assert {each: status.count(each) for each in status} == {"both": 32}
    shares = {by.value: pair for by, pair in found.matched_share.items()}
    assert shares["name"] == pytest.approx((0.139, 0.115), abs=5e-4)
    assert shares["operator"] == pytest.approx((0.861, 0.885), abs=5e-4)
    assert sum(found.causes.values()) == found.total_after_ns - found.total_before_ns
    assert int(found.change_ns.sum()) == found.total_after_ns - found.total_before_ns


def test_how_often_the_interval_holds_in_real_runs(shared_data: Path) -> None:
    """The figures of docs/methods.md, 12 Difference: launches of a run follow each other, and drift."""
    groups = {name: groups_of(str(shared_data / name)) for name in RECORDED}
    held = {
        name: [is_held for is_held, _ in by_blocks(parted(each, PARTS["halves"]))]
        for name, each in groups.items()
    }
    together = [is_held for each in held.values() for is_held in each]
    assert len(together) == 570
    assert np.mean(together) == pytest.approx(0.989, abs=5e-4)
    nerf = "nsys-sqlite/a100-nerf-nsys2021.5.sqlite"
    assert {name for name, each in held.items() if np.mean(each) < 0.95} == {nerf}
    rng = np.random.default_rng(0)
    mixed = (rng.permutation(group) for each in groups.values() for group in each)
    assert np.mean([is_held for is_held, _ in by_blocks(parted(mixed, PARTS["halves"]))]) >= 0.95


def test_a_gate_does_not_fail_between_halves_of_a_run(shared_data: Path) -> None:
    """What the interval holds is no growth: the gaussian's launches take less and less time."""
    path = shared_data / "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite"
    profile = read_profile([str(path)])
    later, earlier = (ProfilePart(profile, Region(launches=half)) for half in ((4095, None), (0, 4095)))
    found = difference_between(later, earlier)
    assert found.ratio is not None
    assert found.ratio > 1.15
    assert not found.is_above(0.05)
    assert found.confidence == 0.95
    assert not (found.ratios.low > 1.05).any()
