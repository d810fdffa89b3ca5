"""What a profile says of its launches, as plain Python, for readers' tests."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Column, Dimensions, Profile
from sampling.readers.registry import read_profile


class Told(NamedTuple):
    """One launch as a profile gives it."""

    process: int
    device: int
    name: str
    start_ns: int
    duration_ns: int
    stream: int
    grid: Dimensions | None
    block: Dimensions | None


def told(profile: Profile) -> list[Told]:
    """Return the launches in id order; streams are 0 where there are none."""
    launches = []
    wanted: tuple[Column, ...] = ("signature", "start_ns", "duration_ns", "stream")
    for part in profile.parts:
        table = part.load([column for column in wanted if column in profile.columns])
        sequence = profile.sequences[part.sequence]
        columns = [table[c].tolist() if c in table else [0] * part.launches for c in wanted]
        for code, *numbers in zip(*columns, strict=True):
            kernel = profile.kernels.signature(code)
            name = profile.kernels.names.full(kernel.name)
            place = (sequence.process, sequence.device, name)
            launches.append(Told(*place, *numbers, kernel.grid, kernel.block))
    return launches


def by_the_csv_module(path: Path) -> list[Told]:
    """Return what `nsys stats` printed of the launches, in API order, as the csv module reads it."""
    lines = path.read_text().splitlines()
    first = next(place for place, line in enumerate(lines) if "GrdX" in line or "GridXYZ" in line)
    found = []
    for row in csv.DictReader(lines[first:]):
        if "GridXYZ" in row:
            sizes = [tuple(map(int, row[size].split())) for size in ("GridXYZ", "BlockXYZ")]
            place = (int(row["PID"]), int(row["DevId"]))
            times = (int(row["Kernel Start (ns)"]), int(row["Kernel Dur (ns)"]))
            order, name, stream = int(row["API Start (ns)"]), row["Kernel Name"], 0
        elif row["GrdX"] not in {"", "None", None}:
            sizes = [tuple(int(row[f"{size}{axis}"]) for axis in "XYZ") for size in ("Grd", "Blk")]
            place = (0, int(row["Device"].split("(")[-1].strip(")")))
            in_seconds = "Start(sec)" in row
            start = Decimal(row["Start(sec)"]) * 10**9 if in_seconds else Decimal(row["Start (ns)"])
            times = (int(start), int(row["Duration(nsec)" if in_seconds else "Duration (ns)"]))
            order, name, stream = int(row["CorrId"]), row["Name"], int(row["Strm"])
        else:
            continue
        found.append((place, order, Told(*place, name, *times, stream, *sizes)))  # type: ignore[arg-type]
    return [launch for *_, launch in sorted(found, key=lambda each: (*each[:2], each[2].start_ns))]


def read(path: Path) -> Profile:
    """Read one file, whatever its format."""
    return read_profile([str(path)])


def refusal_of(path: Path) -> ProfileError:
    """Return the error with which a file is refused; it says what to do."""
    with pytest.raises(ProfileError) as caught:
        read(path)
    assert caught.value.remedy
    return caught.value
