"""What a Kineto trace holds by a plain reading of the JSON, and what is read of it."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sampling.profile.profile import Column, KernelTable, Profile
from sampling.readers import kineto
from sampling.readers.input_file import open_input

Json = dict[str, Any]
_API = {"Runtime", "cuda_runtime", "cuda_driver"}
_KERNELS = {"kernel", "Kernel"}


def read(path: Path) -> Profile:
    """Read a trace."""
    with open_input(str(path)) as file:
        assert kineto.recognise(file)
        return kineto.read(file, KernelTable(), None)


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
