"""Commands on recorded profiles: what they say of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Kernelpoint = Callable[..., Any]
REDRAWN = ("expected_speedup", "repeats", "error_mean", "error_p95", "error_max", "within_epsilon")
JSON = ("--repeats", "20", "--format", "json")
COUNTED = ("--format", "json")


def test_real_files_that_are_no_profiles_are_3(kernelpoint: Kernelpoint, shared_data: Path) -> None:
    files = sorted((shared_data / "not-a-profile").iterdir())
    assert files
    for path in files:
        said = kernelpoint("sample", path).failed(3)
        assert str(path) in said
        assert ";" in said, "no remedy"


def test_real_files_are_summed_up(kernelpoint: Kernelpoint, shared_data: Path) -> None:
    for name, launches in (
        ("nsys-sqlite/a40-a100-cutlass-nsys2023.2.sqlite", 6),
        ("nsys-parquetdir", 24),
        ("nsys-csv/p2000-sort-gputrace-nsys2020.4.csv", 1700),
        ("kineto/mi250-minitoy-no-grid.json.gz", 14),
        ("nsys-sqlite/a100-nerf-nsys2021.5.sqlite", 1106),
        ("rocm/mi100-mixbench-timestamps.csv", 167),
        ("rocm/mi300x-gemm-rocprofv3.db", 151),
    ):
        run = kernelpoint("summary", shared_data / name, *COUNTED)
        assert run.code == 0, run.err
        assert run.results["launches"] == launches
        codes = [finding["code"] for finding in run.results["findings"]]
        assert run.json["warnings"] == codes


def test_a_kernel_of_two_gpus_is_looked_at_once(kernelpoint: Kernelpoint, shared_data: Path) -> None:
    path = shared_data / "nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite"
    rows, apart = (kernelpoint("groups", path, *words, *COUNTED).results for words in ((), ("--each-rank",)))
    assert (len(rows), len(apart)) == (48, 96)
    assert "flash_fwd_kernel" in rows[0]["key"]
    assert rows[0]["total_duration_ns"] == sum(row["total_duration_ns"] for row in apart[:2])
    timeline = kernelpoint("timeline", path, "-k", "#3", *COUNTED).results
    histogram = kernelpoint("histogram", path, "-k", "#3", *COUNTED).results
    assert timeline["key"] == histogram["key"] == rows[2]["key"]
    assert (
        sum(part["launches"] for part in timeline["bins"]) == sum(histogram["counts"]) == rows[2]["launches"]
    )


def test_two_files_of_one_launch_list(kernelpoint: Kernelpoint, shared_data: Path, tmp_path: Path) -> None:
    """The SQLite export and the CSV of one run, whose processes have other numbers: the same figures."""
    sqlite = shared_data / "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite"
    csv = shared_data / "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv"
    path = tmp_path / "gaussian.json"
    assert kernelpoint("sample", sqlite, "--method", "root", "-o", path).code == 0
    own, other = (kernelpoint("judge", path, profile, *JSON) for profile in (sqlite, csv))
    assert other.results["aligned_by"] == "names"
    assert "process 11357 device 0 of the plan is process 0 device 0 here" in other.err
    for name in ("error", *REDRAWN):
        assert other.results[name] == pytest.approx(own.results[name]), name


def test_one_model_on_two_vendors_gpus(kernelpoint: Kernelpoint, shared_data: Path, tmp_path: Path) -> None:
    h100, mi300x = (shared_data / "kineto" / f"{gpu}-qwen1.5-inference.json.gz" for gpu in ("h100", "mi300x"))
    path = tmp_path / "qwen.json"
    assert kernelpoint("sample", h100, "--method", "root", "-o", path).code == 0
    said = kernelpoint("judge", path, mi300x).failed(1)
    assert "has 1,516 launches here, 1,465 in the plan's recording; launch 0 is 'void" in said
    said = kernelpoint("judge", path, mi300x, "--align", "order").failed(1)
    assert "has 1,516 launches here, 1,465 in the plan's recording; record" in said


@pytest.mark.parametrize(
    ("file", "scaling", "method", "means"),
    [
        ("strong", "strong", "additive", (0.0223, 0.0243, 0.0296)),
        ("strong", "strong", "published", (0.0235, 0.0324, 0.0403)),
        ("weak", "weak", "additive", (0.0174, 0.0114, 0.0165)),
        ("weak", "weak", "published", (0.0176, 0.0127, 0.0208)),
        ("mcm", "chiplet", "published", (0.0197,)),
    ],
)
def test_the_public_benchmarks(
    kernelpoint: Kernelpoint,
    shared_data: Path,
    file: str,
    scaling: str,
    method: str,
    means: tuple[float, ...],
) -> None:
    path = shared_data / "scale-model" / f"{file}.csv"
    results = kernelpoint("scale", "validate", path, "--scaling", scaling, "--format", "json").results
    assert [score["mean"] for score in results[method].values()] == pytest.approx(means, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("cold-0", "COLD 91,519 cycles: launches began with empty caches;"),
        ("warm-0", "COLD 88,993 cycles: launches began with only 1 launch before each;"),
    ],
)
def test_plans_that_a_simulator_ran_are_read_though_options_have_changed_since(
    kernelpoint: Kernelpoint, runs: Path, name: str, first: str
) -> None:
    folder = runs / f"sel-torch-32-{name}"
    assert kernelpoint("estimate", folder / "plan.json", folder / "run.log.gz").out.startswith(first)
