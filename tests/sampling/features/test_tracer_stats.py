"""Accel-Sim's stats.csv as features of a profile that has durations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.features.reading import read_features

HEADER = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
)


def test_rows_are_launches_with_name_and_shape(tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_text(
        HEADER
        + "kernel-1.trace, _Z1aPf, 4, 2, 1, 8, 128, 1, 1, 128, 100,100\n"
        + "kernel-2.trace, _Z1bPf, 1, 1, 1, 1, 32, 2, 1, 64, 0,0\n"
        + "kernel-4.trace, _Z1aPf, 4, 2, 1, 8, 128, 1, 1, 128, -7,-7\n"
    )
    rows = read_features(str(path))
    assert rows.format == "accel-sim-stats"
    assert rows.names == ("_Z1aPf", "_Z1bPf")
    assert rows.name is not None
    assert rows.name.tolist() == [0, 1, 0]
    assert rows.grid is not None
    assert rows.block is not None
    assert rows.grid.tolist() == [[4, 2, 1], [1, 1, 1], [4, 2, 1]]
    assert rows.block.tolist() == [[128, 1, 1], [32, 2, 1], [128, 1, 1]]
    assert rows.launch_number is not None
    assert rows.launch_number.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(rows.features.metrics["instructions"], [100, np.nan, np.nan])
    assert [note.split(":")[0] for note in rows.notes] == [
        "1 of 4 kernels up to the last has no line",
        "1 launch was not traced (0 instructions)",
        "1 launch was beyond the 32 bits in which total_insts is printed",
    ]
    path.write_text(path.read_text() + "kernel-1.trace, _Z1aPf, 4, 2, 1, 8, 128, 1, 1, 128, 9,9\n")
    with pytest.raises(ProfileError, match="several contexts or runs") as caught:
        read_features(str(path))
    assert caught.value.row == 5
