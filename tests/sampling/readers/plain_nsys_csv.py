"""What the CSV of `nsys stats` holds by the csv module, and what is read of it."""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_csv
from sampling.readers.input_file import open_input


def read(path: Path) -> Profile:
    """Read a report."""
    with open_input(str(path)) as file:
        assert nsys_csv.recognise(file)
        return nsys_csv.read(file, KernelTable(), None)


def launches(profile: Profile) -> list[dict[str, Any]]:
    """Return the launches in id order, every column and the names behind the codes."""
    rows = []
    for part in profile.parts:
        batch = part.load(sorted(profile.columns))
        sequence = profile.sequences[part.sequence]
        for index in range(part.launches):
            signature = profile.kernels.signature(int(batch["signature"][index]))
            row: dict[str, Any] = {column: int(batch[column][index]) for column in profile.columns}
            assert signature.name == row.pop("name")
            del row["signature"]
            row |= {"name": profile.kernels.names.full(signature.name)}
            row |= {"grid": signature.grid, "block": signature.block}
            rows.append(row | {"place": (sequence.process, sequence.device)})
    return rows


def rows_by_the_csv_module(path: Path, name: str, duration: str) -> list[dict[str, str]]:
    """Return the rows of the report below the header that has these columns."""
    lines = path.read_text().splitlines()
    first = next(
        i for i, line in enumerate(lines) if name in line and duration in line and line.count(",") > 9
    )
    return [row for row in csv.DictReader(lines[first:]) if row[name]]


def gpu_trace_told(profile: Profile) -> list[tuple[Any, ...]]:
    """Return name, duration, grid, block and stream of every launch in id order."""
    return [
        (row["name"], row["duration_ns"], *row["grid"], *row["block"], row["stream"])
        for row in launches(profile)
    ]


def gpu_trace_by_the_csv_module(path: Path) -> list[tuple[Any, ...]]:
    """Return what `gpu_trace_told` tells, by device and correlation number."""
    duration = "Duration(nsec)" if "Duration(nsec)" in path.read_text() else "Duration (ns)"
    rows = rows_by_the_csv_module(path, "Name", duration)
    kernels = [row for row in rows if row["GrdX"] not in {"", "None"}]
    kernels.sort(key=lambda row: (int(row["Device"].split("(")[-1].strip(")")), int(row["CorrId"])))
    axes = ("GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ")
    return [
        (row["Name"], int(row[duration]), *(int(row[axis]) for axis in axes), int(row["Strm"]))
        for row in kernels
    ]


def execution_trace_told(profile: Profile) -> list[tuple[Any, ...]]:
    """Return name, duration, start, grid and block of every launch in id order."""
    return [
        (row["name"], row["duration_ns"], row["start_ns"], list(row["grid"]), list(row["block"]))
        for row in launches(profile)
    ]


def execution_trace_by_the_csv_module(path: Path) -> list[tuple[Any, ...]]:
    """Return what `execution_trace_told` tells, in the order of the rows."""
    return [
        (
            row["Kernel Name"],
            int(row["Kernel Dur (ns)"]),
            int(row["Kernel Start (ns)"]),
            [int(number) for number in row["GridXYZ"].split()],
            [int(number) for number in row["BlockXYZ"].split()],
        )
        for row in rows_by_the_csv_module(path, "Kernel Name", "Kernel Dur (ns)")
    ]


def shapes_told(profile: Profile) -> Counter[tuple[Any, ...]]:
    """Return how many launches have each name, grid, block and duration."""
    return Counter(
        (row["name"], *row["grid"], *row["block"], row["duration_ns"]) for row in launches(profile)
    )


def shapes_by_plain_sql(path: Path) -> Counter[tuple[Any, ...]]:
    """Return the same of a SQLite export."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return Counter(
            connection.execute(
                "SELECT value, gridX, gridY, gridZ, blockX, blockY, blockZ, end - start "
                "FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON demangledName = id"
            ).fetchall()
        )
