"""Recorded programs compared with themselves, with another capture, and with the same on another GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.halves import PARTS, by_iterations, by_launches, groups_of, parted
from sampling.difference import recordings
from sampling.difference.baseline import baseline_text, make_baseline, read_baseline
from sampling.difference.basis import difference_between
from sampling.difference.comparison import Basis, Difference
from sampling.difference.recordings import ProfilePart
from sampling.readers.registry import read_profile
from sampling.reduction.grouping import Grouping
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
    assert (found.basis, found.is_same_work) == (Basis.PAIRED, True) or "h100" in one
    assert found.per_iteration.kernel_ns.ratio == 1
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
    assert found.per_iteration.kernel_ns.ratio == pytest.approx(0.776, abs=5e-4)


def test_one_model_on_two_vendors_gpus(shared_data: Path) -> None:
    """Both recordings hold one step, and launches of the one before it, which do not count."""
    h100, mi300x = (shared_data / "kineto" / f"{gpu}-qwen1.5-inference.json.gz" for gpu in ("h100", "mi300x"))
    found = compared(h100, mi300x)
    assert found.basis is Basis.ITERATIONS
    facts = [side.facts for side in found.recordings]
    assert [side and (side.iterations, side.launches_ahead) for side in facts] == [(1, 436), (1, 463)]
    status = [kernel.status for kernel in found.kernels]
    assert {each: status.count(each) for each in status} == {"both": 32}
    shares = {by.value: pair for by, pair in found.matched_share.items()}
    assert shares["operator"] == pytest.approx((0.85, 0.88), abs=0.05)
    assert sum(found.causes.values()) == int(found.change_ns.sum())


def test_the_steps_of_a_real_run(shared_data: Path) -> None:
    """Half a step stands before six whole ones; a step is as long as the program says."""
    path = shared_data / "kineto" / "v100-resnet50-training.json.gz"
    here = ProfilePart(read_profile([str(path)]))
    found = difference_between(here, here)
    facts, per = found.recordings[0].facts, found.per_iteration
    assert facts is not None
    assert (facts.name, facts.iterations, facts.launches_ahead) == ("ProfilerStep#*", 6, 736)
    assert per.kernel_ns.before == pytest.approx(99.26e6, rel=1e-4)
    assert per.elapsed_ns is not None
    assert per.elapsed_ns.before == pytest.approx(213.8e6, rel=1e-3)
    assert per.busy is not None
    assert per.busy.before == pytest.approx(0.486, abs=1e-3)


@pytest.mark.parametrize("name", RECORDED)
def test_a_baseline_of_a_real_run_compares_as_it_does(shared_data: Path, tmp_path: Path, name: str) -> None:
    here = ProfilePart(read_profile([str(shared_data / name)]))
    there = ProfilePart(here.profile, Region(launches=(here.profile.launches // 3, None)))
    path = tmp_path / "baseline.json"
    path.write_text(baseline_text(make_baseline(here, Grouping())))
    assert path.stat().st_size < 1_000_000
    expected = difference_between(here, there).summary("A", "B")
    assert difference_between(read_baseline(str(path)), there).summary("A", "B") == expected


@pytest.mark.parametrize("name", RECORDED)
def test_how_often_the_interval_holds_in_real_runs(
    shared_data: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures of docs/methods.md, 12 Difference: launches of a run follow each other, and drift."""
    monkeypatch.setattr(recordings, "MOST_STRETCHES", 10_000)
    profile = read_profile([str(shared_data / name)])
    launches = [held for held, _ in by_launches(parted(groups_of(profile), PARTS["halves"]))]
    assert np.mean(launches) >= 0.94
    if (halves := by_iterations(ProfilePart(profile).recording(Grouping()))) is not None:
        assert np.mean([held for held, _ in halves[0]]) >= 0.94
        assert all(held for held, _ in halves[1])


def test_a_gate_does_not_fail_between_halves_of_a_run(shared_data: Path) -> None:
    """What the interval holds is no growth: the gaussian's launches take less and less time."""
    path = shared_data / "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite"
    profile = read_profile([str(path)])
    # One launch less: else the halves would be the same work, pair by pair.
    later, earlier = (ProfilePart(profile, Region(launches=half)) for half in ((4096, None), (0, 4095)))
    found = difference_between(later, earlier)
    assert found.basis is Basis.ITERATIONS
    change = found.per_iteration.kernel_ns
    assert change.ratio is not None
    assert change.ratio > 1.15
    assert not change.is_above(0.05)
    assert found.confidence == 0.95
    assert not (found.ratios.low > 1.05).any()
