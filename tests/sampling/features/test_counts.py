"""NVBit's instruction counts and basic-block vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, read_features

BANNER = "------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\n"


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], FeatureRows]:
    """Read a text as a file of features."""

    def read_text(text: str) -> FeatureRows:
        path = tmp_path / "log"
        path.write_text(text)
        return read_features(str(path))

    return read_text


def line(number: int, name: str, blocks: int, instructions: int) -> str:
    """Return a line of instr_count."""
    return (
        f"kernel {number} - {name} - #thread-blocks {blocks},  kernel instructions {instructions}, "
        f"total instructions {instructions * 2}\n"
    )


def test_counts_are_found_among_the_programs_own_output(read: Callable[[str], FeatureRows]) -> None:
    text = (
        BANNER + "step 1\n" + line(0, "_Z1fPf", 64, 1000) + "done... " + line(1, "void g<a - b>(int)", 1, 5)
    )
    rows = read(text + "bye")
    assert rows.format == "nvbit-instr-count"
    assert rows.names == ("_Z1fPf", "void g<a - b>(int)")
    assert rows.features.metrics["instructions"].tolist() == [1000, 5]
    assert rows.features.units == {"instructions": "inst"}
    assert rows.thread_blocks is not None
    assert rows.thread_blocks.tolist() == [64, 1]
    assert rows.line.tolist() == [3, 4]
    assert rows.id is None
    assert rows.notes == ()


def test_launches_that_were_not_counted_have_no_value(read: Callable[[str], FeatureRows]) -> None:
    rows = read(line(0, "f", 1, 0) + line(1, "f", 1, 7))
    np.testing.assert_array_equal(rows.features.metrics["instructions"], [np.nan, 7])
    assert any("not instrumented" in note for note in rows.notes)


def test_a_negative_count_is_one_that_overflowed(read: Callable[[str], FeatureRows]) -> None:
    rows = read(line(0, "f", 1, 5) + line(1, "f", 1, -2147483000) + line(2, "f", 1, -7))
    np.testing.assert_array_equal(rows.features.metrics["instructions"], [5, np.nan, np.nan])
    assert rows.notes == (
        "2 launches were beyond the bits of the counter, which overflowed: no value is known",
    )
    assert len(read(line(0, "f", 1, -1))) == 1


def test_the_log_of_two_runs_is_refused(read: Callable[[str], FeatureRows]) -> None:
    with pytest.raises(ProfileError, match="row 3: kernel 0 follows kernel 1"):
        read(line(0, "f", 1, 1) + line(1, "f", 1, 1) + line(0, "f", 1, 1))


def vectors(*launches: tuple[str, int, list[int]], comma: str = ",") -> str:
    """Return a file of basic-block vectors; a launch is (name, warps, counts)."""
    text = "Warp ID,Basic Block Counts\n"
    for number, (name, warps, counts) in enumerate(launches):
        text += f"Kernel{number},{len(counts)},{warps},{name}\n{','.join(map(str, counts))}{comma}\n"
    return text


def test_vectors_are_ragged_and_keep_their_warps(read: Callable[[str], FeatureRows]) -> None:
    rows = read(vectors(("_Z1fv", 8, [1, 2, 3]), ("_Z1gv", 4, [10]), ("_Z1fv", 16, [4, 5])))
    assert rows.format == "basic-block-vectors"
    assert rows.names == ("_Z1fv", "_Z1gv")
    assert rows.name is not None
    assert rows.name.tolist() == [0, 1, 0]
    blocks = rows.features.block_vectors
    assert blocks is not None
    assert blocks.offsets.tolist() == [0, 3, 4, 6]
    assert blocks.counts.tolist() == [1, 2, 3, 10, 4, 5]
    assert blocks.warps.tolist() == [8, 4, 16]
    assert rows.line.tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Warp ID,Basic Block Counts\n", "without a single launch"),
        (vectors(("f", 1, [1, 2])).replace("Kernel0,2", "Kernel0,3"), "row 2: not the 3 counts"),
        (vectors(("f", 1, [1, 2])) + "Kernel1,2,1,f\n", "row 4: not the 2 counts"),
        (vectors(("f", 1, [1, 2])) + "3,4,\n", "row 4: counts without a launch"),
        (vectors(("f", 1, [1, 2])) + "oops\n", "row 4: 'oops' is neither"),
        (vectors(("f", 1, [1, 2])) + "Kernel1,1,1,f\nKernel2,1,1,f\n1,\n2,\n", "row 4: not the 1 counts"),
    ],
)
def test_a_damaged_file_of_vectors_is_refused(
    read: Callable[[str], FeatureRows], text: str, message: str
) -> None:
    with pytest.raises(ProfileError, match=message):
        read(text)


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
