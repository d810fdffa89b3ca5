"""Real runs of four sizes: the larger ones from the two before, launch by launch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.api import read_profile
from sampling.arrays import FloatArray, IntArray
from scalemodel.waves import predict_by_waves


def launches_of(path: Path) -> tuple[IntArray, FloatArray]:
    profile = read_profile(str(path / "run.log.gz"))
    batch = profile.read(profile.spans[0], ("duration_ns", "signature"))
    grids = profile.kernels.signature_rows()[batch["signature"]][:, 1:4]
    return grids.prod(axis=1), batch["duration_ns"].astype(np.float64)


@pytest.mark.parametrize(
    ("program", "sizes", "target"),
    [
        ("torch", (4, 8), 16),
        ("torch", (4, 8), 32),
        ("torch", (8, 16), 32),
        ("torch", (8, 16), 64),
        ("torch", (16, 32), 64),
        ("heat", (8, 16), 32),
    ],
)
def test_totals_are_within_the_interval(
    runs: Path, program: str, sizes: tuple[int, int], target: int
) -> None:
    (ctas, smaller), (_, larger) = (launches_of(runs / f"{program}-{size}") for size in sizes)
    found = predict_by_waves(ctas, smaller, larger, sizes, target)
    truth = launches_of(runs / f"{program}-{target}")[1].sum()
    assert found.half_width is not None
    assert abs(found.cycles.sum() / truth - 1) < min(found.half_width, 0.055)
