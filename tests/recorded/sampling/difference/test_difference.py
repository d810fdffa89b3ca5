"""Recorded programs compared with themselves, with another capture, and with the same on another GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.difference import Difference, Durations, ProfilePart, difference_between, mean_ratios
from sampling.readers.registry import read_profile

Arrange = Callable[[np.ndarray], np.ndarray]

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
    assert {each: status.count(each) for each in status} == {"both": 33, "appeared": 13, "vanished": 12}
    shares = {by.value: pair for by, pair in found.matched_share.items()}
    assert shares["name"] == pytest.approx((0.139, 0.115), abs=5e-4)
    assert shares["operator"] == pytest.approx((0.601, 0.611), abs=5e-4)
    assert sum(found.causes.values()) == found.total_after_ns - found.total_before_ns
    assert int(found.change_ns.sum()) == found.total_after_ns - found.total_before_ns


def groups_of(path: Path) -> list[np.ndarray]:
    """The durations of every kernel group of 20 launches or more that has a spread, in launch order."""
    profile = read_profile([str(path)])
    launches = profile.load(("signature", "duration_ns"))
    sequence = np.concatenate([np.full(part.launches, part.sequence) for part in profile.parts])
    group = sequence * len(profile.kernels) + launches["signature"]
    order = np.argsort(group, kind="stable")
    parts = np.split(launches["duration_ns"][order], np.flatnonzero(np.diff(group[order])) + 1)
    return [part for part in parts if len(part) >= 20 and part.std() > 0]


def halves_held(groups: list[np.ndarray], arrange: Arrange) -> np.ndarray:
    """Whether the 95 % interval of the second half of each group over its first half holds 1."""

    def side(kernels: list[np.ndarray]) -> Durations:
        launches, total_ns = (np.array([of(each) for each in kernels]) for of in (len, np.sum))
        variance = np.array([each.var() / each.mean() ** 2 if each.any() else 0.0 for each in kernels])
        return Durations(launches, total_ns, variance)

    arranged = [arrange(group) for group in groups]
    before, after = (
        side(
            [half[which] for half in ((each[: len(each) // 2], each[len(each) // 2 :]) for each in arranged)]
        )
        for which in (0, 1)
    )
    found = mean_ratios(before, after, 0.95)
    known = ~np.isnan(found.low)
    return np.asarray(((found.low <= 1) & (found.high >= 1))[known])


def test_how_often_the_interval_holds_in_real_runs(shared_data: Path) -> None:
    """The figures of docs/methods.md, 12 Difference: launches of a real run are not independent."""
    rng = np.random.default_rng(0)
    groups = [group for name in RECORDED for group in groups_of(shared_data / name)]
    in_order = halves_held(groups, lambda group: group)
    assert len(in_order) == 570
    assert in_order.mean() == pytest.approx(0.939, abs=5e-4)
    assert halves_held(groups, rng.permutation).mean() >= 0.96
    drifting = groups_of(shared_data / "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite")
    assert not halves_held(drifting, lambda group: group).any()
