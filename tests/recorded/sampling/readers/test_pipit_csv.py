"""The GPU trace that comes with pipit."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.sampling.readers.launches_told import read, told


def test_every_launch_is_one_of_the_rows(shared_data: Path) -> None:
    path = shared_data / "nsys-csv" / "cloverleaf_gpu_trace.csv"
    with path.open(newline="") as stream:
        events = [row for row in csv.DictReader(stream) if row["type"] == "kernel"]
    entered = [row for row in events if row["Event Type"] == "Enter"]
    left = [row for row in events if row["Event Type"] == "Leave"]
    found = [(launch.name, launch.start_ns, launch.duration_ns) for launch in told(read(path))]
    assert len(found) == len(entered) == 1312
    assert found == sorted(
        (
            (
                row["Name"],
                int(row["Timestamp (ns)"]),
                int(row["_matching_timestamp"]) - int(row["Timestamp (ns)"]),
            )
            for row in entered
        ),
        key=lambda launch: launch[1],
    )
    total = sum(int(row["Timestamp (ns)"]) for row in left) - sum(
        int(row["Timestamp (ns)"]) for row in entered
    )
    assert sum(duration for *_, duration in found) == total
