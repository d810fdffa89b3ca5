"""What a profile says of its launches, as plain Python, for readers' tests."""

from __future__ import annotations

import csv
import gzip
import json
from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

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


# --- column by column, and of Kineto traces as plain JSON ---------------------------------------------------

Json = dict[str, Any]
_API = {"Runtime", "cuda_runtime", "cuda_driver"}
_KERNELS = {"kernel", "Kernel"}


def column(profile: Profile, name: Column) -> list[int]:
    """Return a column in launch order."""
    return profile.load([name])[name].tolist()


def names(profile: Profile) -> list[str]:
    """Return the names in launch order."""
    return [profile.kernels.names.full(code) for code in column(profile, "name")]


def shapes(profile: Profile) -> list[tuple[Any, Any]]:
    """Return grid and block in launch order."""
    signatures = [profile.kernels.signature(code) for code in column(profile, "signature")]
    return [(signature.grid, signature.block) for signature in signatures]


def ranges(profile: Profile, text: str) -> list[tuple[str, int, int, int]]:
    """Return name, sequence, first and stop ordinal of the ranges of a name."""
    found = profile.named_ranges(text)
    assert found is not None
    return [(each.text, each.sequence, each.first_ordinal, each.stop_ordinal) for each in found]


def events_of(path: Path) -> list[Json]:
    """Return the complete events of a trace."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    events = document if isinstance(document, list) else document["traceEvents"]
    return [event for event in events if event["ph"] == "X"]


def told_of(profile: Profile) -> list[tuple[str, int, int, int]]:
    """Return name, duration, start and device of every launch."""
    assert len(profile.sequences) == 1
    times = (column(profile, "duration_ns"), column(profile, "start_ns"))
    devices = [profile.sequences[0].device] * profile.launches
    return list(zip(names(profile), *times, devices, strict=True))


def launches_by_plain_json(events: Sequence[Json], order: str) -> list[tuple[str, int, int, int]]:
    """Return what `told_of` tells, by start of the API call or by correlation number."""
    called = {event["args"]["correlation"]: event["ts"] for event in events if event.get("cat") in _API}

    def place(event: Json) -> tuple[float, float]:
        number = event["args"]["correlation"]
        return (called[number] if order == "api-start" else number), event["ts"]

    return [
        (event["name"], round(event["dur"] * 1000), round(event["ts"] * 1000), event["args"]["device"])
        for event in sorted((event for event in events if event.get("cat") in _KERNELS), key=place)
    ]


def annotations_told(profile: Profile) -> dict[str, list[int]]:
    """Return for every annotation, by name, how many launches it has, ascending."""
    found: dict[str, list[int]] = {}
    for text, _, first, stop in ranges(profile, ""):
        found.setdefault(text, []).append(stop - first)
    return {text: sorted(counts) for text, counts in found.items()}


def launches_in_annotations(events: Sequence[Json]) -> dict[str, list[int]]:
    """Return what `annotations_told` tells: how many launches were called in each annotation."""
    called = {event["args"]["correlation"]: event["ts"] for event in events if event.get("cat") in _API}
    kernels = [event for event in events if event.get("cat") in _KERNELS]
    times = sorted(called[number] for event in kernels if (number := event["args"]["correlation"]) in called)
    found: dict[str, list[int]] = {}
    for event in events:
        is_old = event.get("cat") == "Operator" and "#" in event["name"]
        if is_old or event.get("cat") == "user_annotation":
            until = event["ts"] + event["dur"]
            launches = bisect_left(times, until) - bisect_left(times, event["ts"])
            if launches:
                found.setdefault(event["name"], []).append(launches)
    return {text: sorted(counts) for text, counts in found.items()}
