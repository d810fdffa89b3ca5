"""A training run on a P100 that nvprof recorded, with a unit in every cell."""

from __future__ import annotations

import gzip
import re
from decimal import Decimal
from pathlib import Path

from tests.sampling.readers.launches_told import Told, read, told

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def nanoseconds(cell: str) -> int:
    number = cell.rstrip("nums")
    return int((Decimal(number) * UNITS[cell.removeprefix(number)]).to_integral_value())


def test_every_kernel_is_a_launch_in_the_order_of_the_calls(shared_data: Path) -> None:
    path = shared_data / "nvprof" / "p100-deepspeech-training.txt.gz"
    expected = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = re.match(r" *([\d.]+\w+) +([\d.]+\w+) +\((\d+) (\d+) (\d+)\) +\((\d+) (\d+) (\d+)\) ", line)
            if row is None:
                continue
            stream, name = re.split(" +", line[line.index("Tesla P100-PCIE") :].rstrip("\n"), maxsplit=4)[3:]
            name, number = name.removesuffix("]").rsplit(" [", 1)
            sizes = tuple(map(int, row.groups()[2:]))
            expected.append(
                (
                    int(number),
                    Told(0, 0, name, *map(nanoseconds, row.groups()[:2]), int(stream), sizes[:3], sizes[3:]),  # type: ignore[arg-type]
                )
            )
    profile = read(path)
    launches = told(profile)
    assert launches == [launch for _, launch in sorted(expected)]
    assert len(launches) == 224_916
    assert profile.facts.launch_order == "correlation"
