"""pipit's GPU traces: an Enter row a launch, its duration from the matching Leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import pipit_csv
from sampling.readers.input_file import open_input

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


def write(folder: Path, rows: Sequence[str], header: str = HEADER) -> Path:
    path = folder / "trace.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def read(path: Path) -> Profile:
    with open_input(str(path)) as file:
        assert pipit_csv.recognise(file)
        return pipit_csv.read(file, KernelTable(), None)


def launches(profile: Profile) -> list[tuple[str, int, int]]:
    """Name, start and duration of every launch, in id order."""
    return [
        (profile.kernels.names.full(int(name)), int(start), int(duration))
        for name, start, duration in zip(
            *profile.load(["name", "start_ns", "duration_ns"]).values(), strict=True
        )
    ]


def refusal_of(path: Path) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        read(path)
    return caught.value


def test_entered_kernels_are_launches_in_order_of_start(tmp_path: Path) -> None:
    profile = read(write(tmp_path, ROWS))
    assert launches(profile) == [("add", 1000, 320), ("k<int, 4>(float*)", 2000, 64)]
    assert profile.format == "pipit-csv"
    assert profile.facts.launch_order == "gpu-start"
    assert profile.kernels.signature(0).grid is None
    assert profile.load(["stream"])["stream"].tolist() == [13, 7]


def test_an_enter_without_leave_is_refused(tmp_path: Path) -> None:
    rows = [*ROWS, "add,13,kernel,,gpu_trace,Enter,5000,,,0,,"]
    error = refusal_of(write(tmp_path, rows))
    assert (error.row, error.column) == (8, "_matching_timestamp")
    assert "never left" in str(error)


@pytest.mark.parametrize("rows", [(), ROWS[2:4], ROWS[1:2]])
def test_a_trace_without_kernels_is_refused(tmp_path: Path, rows: Sequence[str]) -> None:
    assert "lists no kernel" in str(refusal_of(write(tmp_path, rows)))
