"""The timestamps that Omniperf kept of a run on an MI100."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.sampling.readers.launches_told import Told, read, told


def test_every_dispatch_is_a_launch(shared_data: Path) -> None:
    path = shared_data / "rocm" / "mi100-mixbench-timestamps.csv"
    with path.open(newline="") as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: int(row["Dispatch_ID"]))
    profile = read(path)
    assert told(profile) == [
        Told(
            int(row["pid"]),
            int(row["GPU_ID"]),
            row["Kernel_Name"].removesuffix(" [clone .kd]").removesuffix(".kd"),
            int(row["Start_Timestamp"]),
            int(row["End_Timestamp"]) - int(row["Start_Timestamp"]),
            int(row["queue-id"]),
            (-(-int(row["grd"]) // int(row["Workgroup_Size"])), 1, 1),
            (int(row["Workgroup_Size"]), 1, 1),
        )
        for row in rows
    ]
    assert (profile.launches, sum(launch.duration_ns for launch in told(profile))) == (167, 66_010_632)
