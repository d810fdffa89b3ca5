"""Words where there is one of something, and where a folder cannot be one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Kernelpoint = Callable[..., Any]


@pytest.fixture
def one_odd(tmp_path: Path) -> Path:
    """Four launches, one of them without a grid, one without a duration, one of communication."""
    path = tmp_path / "odd.parquet"
    shapes = {
        name: [2, 2, 2, None] for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
    }
    names = ["gemm", "relu", "ncclDevKernel_AllReduce", "unknown"]
    pq.write_table(pa.table({"name": names, "duration_ns": [5000, 0, 700, 900], **shapes}), path)
    return path


def test_findings_about_one_launch(kernelpoint: Kernelpoint, one_odd: Path) -> None:
    run = kernelpoint("info", one_odd, "--format", "json")
    said = {finding["code"]: finding["message"] for finding in run.results["findings"]}
    assert said["no-grid"].startswith("1 launch (25.0 %) has no grid and block")
    assert said["zero-durations"].startswith("1 launch (25.0 %) has duration 0")
    assert "1 launch (25.0 %) has duration 0" in said["zero-durations"]
    assert said["communication-kernels"].startswith("1 launch is collective communication")
    assert "it waits for other GPUs" in said["communication-kernels"]


def test_one_draw(kernelpoint: Kernelpoint, resnet: Path, plan_file: Path) -> None:
    sample, judge = (
        kernelpoint("sample", resnet, "--judge", "1", "--details").out,
        kernelpoint("judge", plan_file, resnet, "--repeats", "1").out,
    )
    assert "\n1 draw: mean error" in sample
    assert "\nDrawn anew, such a plan is " in judge
    assert "of them are within" not in judge
    assert "\n2 draws: mean error" in kernelpoint("sample", resnet, "--judge", "2", "--details").out
