"""`info` on a part of a profile: devices, streams, busy time and span are of the launches that are kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Kernelpoint = Callable[..., Any]
Launch = tuple[str, int, int, int, int]

NAMES = ("gemm", "relu", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)")


def launches() -> list[Launch]:
    """(name, start, duration, stream, device); collectives have a stream, and some a device, of their own."""
    draw = random.Random(4)
    rows = []
    for number in range(300):
        name = NAMES[number % 3]
        device = 2 if number % 30 == 2 else number % 2
        stream = 9 if name is NAMES[2] else 7 + number % 2
        rows.append((name, 100 * number + draw.randrange(60), draw.randrange(20, 400), stream, device))
    return rows


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parts") / "launches.csv"
    rows = "".join(f'"{row[0]}",{",".join(map(str, row[1:]))}\n' for row in launches())
    path.write_text("name,start_ns,duration_ns,stream,device\n" + rows)
    return path


def busy_ns(rows: list[Launch]) -> int:
    """The nanoseconds at which one of them runs, counted one by one."""
    return len({at for _, start, duration, _, _ in rows for at in range(start, start + duration)})


@pytest.mark.parametrize(
    ("words", "is_kept"),
    [
        ((), lambda row: row[0] in NAMES),
        (("--exclude", "communication"), lambda row: not row[0].startswith("nccl")),
        (
            ("--include", "gemm|relu", "--min-duration", "150"),
            lambda row: row[0] in NAMES[:2] and row[2] >= 150,
        ),
        (("--min-duration", "150"), lambda row: row[2] >= 150),
        (("--include", "nccl", "--device", "0,2"), lambda row: row[0].startswith("nccl") and row[4] != 1),
        (
            ("--include", "relu", "--min-duration", "100", "--group-by", "name"),
            lambda row: row[0] == "relu" and row[2] >= 100,
        ),
    ],
)
def test_figures_are_of_what_is_kept(
    kernelpoint: Kernelpoint, profile: Path, words: tuple[str, ...], is_kept: Callable[[Launch], bool]
) -> None:
    rows = [row for row in launches() if is_kept(row)]
    found = kernelpoint("info", profile, *words, "--format", "json").results
    assert found["launches"] == len(rows)
    assert found["streams"] == len({(row[3], row[4]) for row in rows})
    assert found["span_ns"] == max(row[1] + row[2] for row in rows) - min(row[1] for row in rows)
    devices = sorted({row[4] for row in rows})
    assert [each["device"] for each in found["devices"]] == devices
    for each in found["devices"]:
        here = [row for row in rows if row[4] == each["device"]]
        assert each["launches"] == len(here)
        assert each["kernel_ns"] == sum(row[2] for row in here)
        assert each["busy_ns"] == busy_ns(here)
        assert each["overlap_share"] == pytest.approx(1 - busy_ns(here) / each["kernel_ns"])
