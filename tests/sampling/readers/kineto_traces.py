"""Kineto traces made event by event, for readers' tests."""

from __future__ import annotations

from typing import Any

from sampling.profile.profile import Profile
from tests.sampling.readers.launches_told import Json, column


def kernel(correlation: int = 1, **changes: Any) -> Json:
    """Return a kernel event as Kineto writes it; arguments given by name replace or drop (None) a field."""
    event: Json = {
        "ph": "X",
        "cat": "kernel",
        "name": "void gemm<float>(float*, int)",
        "pid": 0,
        "tid": 7,
        "ts": 1000,
        "dur": 5,
        "args": {
            "device": 0,
            "stream": 7,
            "correlation": correlation,
            "grid": [4, 2, 1],
            "block": [128, 1, 1],
            "blocks per SM": 0.5,
        },
    }
    for name, value in changes.items():
        place = event["args"] if name in event["args"] else event
        place[name] = value
        if value is None:
            del place[name]
    return event


def call(correlation: int, ts: Any, name: str = "cudaLaunchKernel", **arguments: Any) -> Json:
    return {
        "ph": "X",
        "cat": arguments.pop("cat", "cuda_runtime"),
        "name": name,
        "pid": 4711,
        "tid": "4711",
        "ts": ts,
        "dur": 2,
        "args": {"cbid": 211, "correlation": correlation, **arguments},
    }


def trace(*events: Json, **top: Any) -> Json:
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": list(events), "traceName": "t", **top}


def annotation(name: str | None, ts: Any, dur: Any, **changes: Any) -> Json:
    return {"ph": "X", "cat": "user_annotation", "name": name, "ts": ts, "dur": dur, "pid": 1, **changes}


def operator(name: str, ts: Any, dur: Any, **changes: Any) -> Json:
    """Return an operator on the thread of `call`; arguments by their names in the file."""
    args = {key: changes.pop(key) for key in [key for key in changes if key[0].isupper()]}
    event = {"ph": "X", "cat": "cpu_op", "name": name, "ts": ts, "dur": dur, "pid": 4711, "tid": 4711}
    return {**event, "args": args, **changes}


def operators(profile: Profile) -> list[str]:
    """Return the operators in launch order."""
    codes = profile.load(["operator"])["operator"].tolist()
    texts, signatures = profile.kernels.operators()
    assert [int(signatures[code]) for code in codes] == column(profile, "signature")
    return [texts[code] for code in codes]
