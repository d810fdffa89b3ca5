"""Real logs of GPGPU-Sim and Accel-Sim against the tables that were made of them with other tools."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sampling.api import read_profile
from sampling.errors import ProfileError


@pytest.mark.parametrize(
    "name", ["torch-4", "torch-8", "torch-16", "torch-32", "torch-64", "heat-8", "heat-16", "heat-32"]
)
def test_a_log_is_the_table_made_of_it(runs: Path, name: str) -> None:
    with (runs / f"{name}.table.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    profile = read_profile(str(runs / name / "run.log.gz"))
    batch = profile.parts[0].load(("duration_ns", "signature"))
    assert batch["duration_ns"].tolist() == [int(row["duration_ns"]) for row in rows]
    executed = profile.parts[0].metrics(("instructions",))["instructions"]
    assert executed.tolist() == [float(row["instructions"]) for row in rows]
    shapes = [profile.kernels.signature(code) for code in batch["signature"].tolist()]
    assert [shape.grid for shape in shapes] == [
        tuple(int(row[f"grid_{axis}"]) for axis in "xyz") for row in rows
    ]


def test_a_fork_that_prints_counts_of_its_own_is_read(shared_data: Path) -> None:
    path = shared_data / "turn4" / "cases" / "accelsim-own-line.out"
    if not path.exists():
        pytest.skip("the cases (shared/data/turn4 beside the project) are not here")
    profile = read_profile(str(path))
    assert profile.load(("duration_ns",))["duration_ns"].tolist() == [38_790]
    assert profile.parts[0].metrics(("instructions",))["instructions"].tolist() == [95_092_736]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("solver-32/run.log.gz", "launches 59 and 60 are printed as one"),
        ("concurrent/l2_lat_4stream_tip.log.gz", "kernels ran concurrently"),
        ("trace-8-maxcta/run.log.gz", "-gpgpu_max_completed_cta 40 ended it"),
    ],
)
def test_logs_whose_counts_are_of_no_whole_launch_are_refused(runs: Path, name: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        read_profile(str(runs / name))
