"""nsys SQLite exports of eight versions, recorded by others."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Device
from tests.sampling.readers.test_nsys_sqlite import (
    api_order_by_plain_sql,
    by_plain_sql,
    durations,
    ranges_by_plain_sql,
    ranges_told,
    read,
    read_row_by_row,
    told_of,
)


@pytest.fixture(params=["from pages", "row by row"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "row by row":
        read_row_by_row(monkeypatch)


REAL = {
    "p2000-sort-nsys2020.4": (1700, 6, 162093740, "api-start", 0),
    "rtx6000-dbquery-nsys2020": (12, 2, 6128761, "api-start", 0),
    "a100-nerf-nsys2021.5": (1106, 116, 67790352, "api-start", 0),
    "rtx3090-gaussian-nsys2022.4": (8190, 2, 2808273137, "api-start", 0),
    "a40-a100-cutlass-nsys2023.2": (6, 1, 162000609, "api-start", 0),
    "cuda-graphs-nsys2023.4": (24, 2, 3775788, "api-start", 0),
    "h100x2-training-overlap-nsys2026.2": (4010, 27, 535200650, "correlation", 24),
    "h100x2-transformer-nsys2026.2": (3442, 41, 44829522, "correlation", 1810),
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.usefixtures("both_ways")
def test_exports_agree_with_plain_sql(name: str, shared_data: Path) -> None:
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    launches, names, total_ns, order, api_rows_missing = REAL[name]
    profile = read(path)
    assert told_of(profile) == by_plain_sql(path)
    assert told_of(profile)[:3] == (launches, names, total_ns)
    assert profile.facts.launch_order == order
    assert profile.facts.api_rows_missing == api_rows_missing


@pytest.mark.parametrize("name", [name for name, facts in REAL.items() if facts[3] == "api-start"])
def test_exports_stand_in_api_order(name: str, shared_data: Path) -> None:
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    assert durations(read(path)) == api_order_by_plain_sql(path)


def test_gpus_of_exports(shared_data: Path) -> None:
    folder = shared_data / "nsys-sqlite"
    assert read(folder / "p2000-sort-nsys2020.4.sqlite").facts.devices == (
        Device(0, "Quadro P2000", 8, 5057 << 20),
    )
    # Its table lists two A40 and two A100; CUDA's device 0 is not the one with id 3 that comes first.
    assert read(folder / "a40-a100-cutlass-nsys2023.2.sqlite").facts.devices == (
        Device(0, "NVIDIA A100-PCIE-40GB", 108, 42505273344),
    )
    assert read(folder / "h100x2-transformer-nsys2026.2.sqlite").facts.devices == ()


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        (
            "not-a-profile/nsys-api-rows-but-no-kernels",
            ["no kernel launches", "Installed CUDA driver version"],
        ),
        ("not-a-profile/nsys-six-tables", ["no CUDA tables at all: CUDA was not traced, or"]),
        (
            "turn4/cases/nsys-driver-too-new-2025.1",
            ["driver version (13.3) is not supported", "version 12.9"],
        ),
        (
            "turn4/cases/nsys-no-cuda-events-2025.3",
            ["CUDA was traced", "CUDA profiling might have not been started correctly.", "No CUDA events"],
        ),
    ],
)
def test_exports_without_kernels(name: str, reasons: list[str], shared_data: Path) -> None:
    with pytest.raises(ProfileError) as caught:
        read(shared_data / f"{name}.sqlite")
    assert [reason for reason in reasons if reason not in str(caught.value)] == []
    assert "nsys profile --trace=cuda" in str(caught.value.remedy)
    assert ("a newer Nsight Systems" in str(caught.value.remedy)) == ("driver version" in str(caught.value))


#: In two, each a second of a longer run, calls still waited for the GPU when it ended.
LAUNCH_CALLS = {
    "nsys-sqlite/p2000-sort-nsys2020.4": 1700,
    "nsys-sqlite/rtx6000-dbquery-nsys2020": 12,
    "nsys-sqlite/a100-nerf-nsys2021.5": 1106,
    "nsys-sqlite/rtx3090-gaussian-nsys2022.4": 8190,
    "nsys-sqlite/a40-a100-cutlass-nsys2023.2": 6,
    "nsys-sqlite/cuda-graphs-nsys2023.4": 0,
    "nsys-sqlite/h100x2-training-overlap-nsys2026.2": 4006,
    "nsys-sqlite/h100x2-transformer-nsys2026.2": 3346,
    "turn4/files/nsys-openacc-rtx3080": 1934,
    "turn4/files/nsys-openmp-t4-2023.3": 50,
    "turn4/files/nsys-rtx4060-2025.3": 91,
}


@pytest.mark.parametrize("name", LAUNCH_CALLS)
def test_no_kernel_is_missing_and_no_row_left_out(name: str, shared_data: Path) -> None:
    facts = read(shared_data / f"{name}.sqlite").facts
    assert (facts.launch_calls, facts.calls_without_kernel) == (LAUNCH_CALLS[name], 0)
    assert facts.rows_left_out == 0


def test_kernels_that_were_cut_from_an_export_are_missed(shared_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.sqlite"
    shutil.copy(shared_data / "turn4" / "files" / "nsys-rtx4060-2025.3.sqlite", path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid > 60")
    facts = read(path).facts
    assert (facts.launch_calls, facts.calls_without_kernel) == (91, 31)


def test_launches_of_graphs_have_the_operators_of_their_capture(shared_data: Path) -> None:
    """Half of the graphs are made by hand and half captured; their replays are all named alike."""
    profile = read(shared_data / "nsys-sqlite" / "cuda-graphs-nsys2023.4.sqlite")
    codes = profile.load(("operator",))["operator"].tolist()
    texts = profile.kernels.operators()[0]
    assert [texts[code] for code in codes] == ["cudaGraphCreate"] * 12 + ["cudaStreamBeginCapture"] * 12


RANGES = [
    ("a100-nerf-nsys2021.5", "cublas", 107, 143),
    ("cuda-graphs-nsys2023.4", "cudaGraph", 6, 48),
    ("h100x2-training-overlap-nsys2026.2", "aten::linear", 335, 335),
    ("h100x2-training-overlap-nsys2026.2", "nccl", 128, 128),
    ("h100x2-transformer-nsys2026.2", "aten::linear", 132, 244),
]


@pytest.mark.parametrize(("name", "text", "ranges", "launches"), RANGES)
@pytest.mark.usefixtures("both_ways")
def test_ranges_agree_with_plain_sql(
    name: str, text: str, ranges: int, launches: int, shared_data: Path
) -> None:
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    found = ranges_told(read(path), text)
    assert found == ranges_by_plain_sql(path, f"{text}%")
    assert (len(found), sum(count for *_, count in found)) == (ranges, launches)
