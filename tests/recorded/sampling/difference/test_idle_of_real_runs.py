"""Why the GPU idles less between recordings of others, held against plain loops over json and sqlite3."""

from __future__ import annotations

import gzip
import json
import statistics
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest

from sampling.difference.basis import difference_between
from sampling.difference.comparison import Basis
from sampling.difference.recordings import ProfilePart
from sampling.readers.registry import read_profile
from sampling.reduction.idle import IDLE_PARTS
from tests import plain_idle

PARTS = ("idle", *IDLE_PARTS)


def of_steps(path: Path) -> dict[str, float]:
    """The mean of a step of a trace of one GPU, by causes, from its first kernel to that of the next.

    A kernel is of the step in which it was launched; of one step alone it is what lies before its last.
    """
    document: Any = json.loads(gzip.decompress(path.read_bytes()))
    document = document["traceEvents"] if isinstance(document, dict) else document
    steps = sorted(
        (plain_idle.nanoseconds(event["ts"]), plain_idle.nanoseconds(event["ts"] + event["dur"]))
        for event in document
        if "ProfilerStep" in str(event.get("name")) and "gpu" not in event["cat"]
    )
    events = plain_idle.kineto(path)
    launched = {call.number: call.start for call in events.calls if "Launch" in call.name}
    begins: dict[int, list[int]] = {}
    for kernel in events.kernels:
        at = bisect_right(steps, (launched.get(kernel.number, 0), 1 << 62)) - 1
        if at >= 0 and launched.get(kernel.number, 0) < steps[at][1]:
            begins.setdefault(at, []).append(kernel.start)
    edges = [min(starts) for _, starts in sorted(begins.items())]
    (place,) = {kernel[:2] for kernel in events.kernels}
    spans = plain_idle.why(events, *place).spans
    edges += [] if len(edges) > 1 else [spans[-1][1] + 1]
    sums = {name: [0] * (len(edges) - 1) for name in PARTS}
    for begin, end, cause, waited in spans:
        at = bisect_right(edges, begin) - 1
        if 0 <= at < len(edges) - 1:
            for name, ns in (("idle", end - begin), (cause, end - begin), ("synchronising", waited)):
                sums[name][at] += ns
    return {name: statistics.fmean(column) for name, column in sums.items()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h100-qwen1.5-inference", "mi300x-qwen1.5-inference"),
        ("v100-resnet50-training", "a100-recommendation-training"),
        ("v100-resnet50-training", "h100-qwen1.5-inference"),
    ],
)
def test_idle_time_of_steps_by_cause(shared_data: Path, before: str, after: str) -> None:
    paths = [shared_data / "kineto" / f"{name}.json.gz" for name in (before, after)]
    found = difference_between(*(ProfilePart(read_profile([str(path)])) for path in paths))
    idle = found.per_iteration.idle
    assert idle is not None
    assert found.basis is Basis.ITERATIONS
    plain = [of_steps(path) for path in paths]
    for name in PARTS:
        change = getattr(idle, f"{name}_ns")
        assert [change.before, change.after] == pytest.approx([side[name] for side in plain]), name


@pytest.mark.parametrize("name", ["h100x2-training-overlap-nsys2026.2", "rtx3090-gaussian-nsys2022.4"])
def test_idle_time_of_runs_by_cause(shared_data: Path, name: str) -> None:
    """As recorded, against another program: of two devices it is that of one, on average."""
    paths = [shared_data / "nsys-sqlite" / f"{each}.sqlite" for each in (name, "p2000-sort-nsys2020.4")]
    found = difference_between(
        *(ProfilePart(read_profile([str(path)])) for path in paths), as_recorded=True
    ).per_iteration.idle
    assert found is not None
    for path, side in zip(paths, ("before", "after"), strict=True):
        events = plain_idle.nsys(path)
        devices = [plain_idle.why(events, *place) for place in {kernel[:2] for kernel in events.kernels}]
        for cause in plain_idle.CAUSES:
            expected = statistics.fmean(device.causes[cause] for device in devices)
            assert getattr(getattr(found, f"{cause}_ns"), side) == pytest.approx(expected)
        assert found.idle_ns.ratio is not None
        assert getattr(found.idle_ns, side) == pytest.approx(statistics.fmean(each.idle for each in devices))
        waited = statistics.fmean(device.synchronising for device in devices)
        assert getattr(found.synchronising_ns, side) == pytest.approx(waited)
