"""pipit's GPU traces: an Enter row a launch, its duration from the matching Leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.sampling.readers.launches_told import Told, read, refusal_of, told

HEADER = (
    "Name,streamId,type,bytes,Trace Type,Event Type,Timestamp (ns),_matching_event,_matching_timestamp,"
    "_depth,_parent,_children"
)
ROWS = (
    '"k<int, 4>(float*)",7,kernel,,gpu_trace,Enter,2000,4,2064,0,,',
    '"k<int, 4>(float*)",7,kernel,,gpu_trace,Leave,2064,0,2000,0,,',
    "CUDA_MEMCPY_KIND_DTOH,7,CUDA_MEMCPY_KIND_DTOH,2048,gpu_trace,Enter,3000,9,3999,0,,",
    "CUDA_MEMCPY_KIND_DTOH,7,CUDA_MEMCPY_KIND_DTOH,2048,gpu_trace,Leave,3999,2,3000,0,,",
    "add,13,kernel,,gpu_trace,Enter,1000,5,1320,0,,",
    "add,13,kernel,,gpu_trace,Leave,1320,4,1000,0,,",
)


def write(folder: Path, rows: Sequence[str]) -> Path:
    path = folder / "trace.csv"
    path.write_text("\n".join((HEADER, *rows)) + "\n")
    return path


def test_entered_kernels_are_launches_in_order_of_start(tmp_path: Path) -> None:
    profile = read(write(tmp_path, ROWS))
    assert told(profile) == [
        Told(0, 0, "add", 1000, 320, 13, None, None),
        Told(0, 0, "k<int, 4>(float*)", 2000, 64, 7, None, None),
    ]
    assert (profile.format, profile.facts.launch_order) == ("pipit-csv", "gpu-start")


def test_a_kernel_that_was_never_left_is_left_out(tmp_path: Path) -> None:
    profile = read(write(tmp_path, [*ROWS, "add,13,kernel,,gpu_trace,Enter,5000,,,0,,"]))
    assert told(profile) == told(read(write(tmp_path, ROWS)))
    assert (
        profile.facts.first_left_out
        == "row 8, column _matching_timestamp: a launch has no _matching_timestamp"
    )


def test_a_row_of_other_cells_is_left_out(tmp_path: Path) -> None:
    profile = read(write(tmp_path, [*ROWS, "add,13,kernel", ROWS[0].replace("2000", "soon")]))
    assert told(profile) == told(read(write(tmp_path, ROWS)))
    assert profile.facts.rows_left_out == 2


@pytest.mark.parametrize(
    ("rows", "row", "said"),
    [
        (["add,13,kernel,,gpu_trace,Enter,5000,,,0,,"], 2, "no _matching_timestamp"),
        ([], None, "lists no kernel"),
        (ROWS[2:4], None, "lists no kernel"),
        (ROWS[1:2], None, "lists no kernel"),
    ],
)
def test_a_trace_without_whole_kernels_is_refused(
    tmp_path: Path, rows: Sequence[str], row: int | None, said: str
) -> None:
    error = refusal_of(write(tmp_path, rows))
    assert error.row == row
    assert said in str(error)
