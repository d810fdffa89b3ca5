"""Why devices of recordings made by others are idle, held against plain loops over json and sqlite3."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.api import read_profile
from sampling.reduction.idle import copy_direction, why_idle
from sampling.reduction.timeline import device_times
from tests import plain_idle

KINETO = [
    *("a100-recommendation-training", "h100-qwen1.5-inference", "mi250-minitoy-no-grid"),
    *("mi300x-qwen1.5-inference", "tiny-capital-K-category", "v100-resnet50-training"),
    "v100x2-training-unsorted",
]
NSYS = [
    *("a100-nerf-nsys2021.5", "a40-a100-cutlass-nsys2023.2", "cuda-graphs-nsys2023.4"),
    *("h100x2-training-overlap-nsys2026.2", "h100x2-transformer-nsys2026.2", "p2000-sort-nsys2020.4"),
    *("rtx3090-gaussian-nsys2022.4", "rtx6000-dbquery-nsys2020"),
]
FILES = [
    *(("kineto", f"kineto/{name}.json.gz") for name in KINETO),
    *(("nsys", f"nsys-sqlite/{name}.sqlite") for name in NSYS),
    ("rocpd", "rocm/mi300x-gemm-rocprofv3.db"),
    ("execution", "nsys-csv/a100-nerf-cuda_kern_exec_trace-nsys2023.4.csv"),
]


@pytest.mark.parametrize(("kind", "name"), FILES, ids=[name for _, name in FILES])
def test_causes_and_copies_are_those_of_plain_loops(kind: str, name: str, shared_data: Path) -> None:
    path = shared_data / name
    events = getattr(plain_idle, kind)(path)
    profile = read_profile(str(path))
    devices, copies = why_idle(profile, profile.parts, device_times(profile, profile.parts))
    places = sorted({kernel[:2] for kernel in events.kernels})
    assert [sequence.device for sequence in devices] == [device for _, device in places]
    overlapped_ns = 0
    for place, idle in zip(places, devices.values(), strict=True):
        plain = plain_idle.why(events, *place)
        long_ns = max(sum(plain.causes.values()), 1)
        assert (idle.idle_ns, idle.share) == (plain.idle, pytest.approx(plain.idle / plain.span))
        assert idle.causes == pytest.approx({cause: ns / long_ns for cause, ns in plain.causes.items()})
        assert idle.causes is None or sum(idle.causes.values()) == pytest.approx(1)
        assert idle.short == pytest.approx(plain.short / max(plain.idle, 1))
        assert idle.synchronising == pytest.approx(plain.synchronising / long_ns)
        assert idle.copying == pytest.approx(plain.copying / long_ns)
        assert [gap.duration_ns for gap in idle.gaps] == sorted((ns for ns, _ in plain.gaps), reverse=True)[
            :5
        ]
        overlapped_ns += plain.overlapped
    # An execution trace has none of them.
    assert (copies is None) == (kind == "execution")
    copies = copies or []
    assert sum(copy.overlapped_ns for copy in copies) == overlapped_ns
    by_direction: dict[str, list[int]] = {}
    for text, figures in plain_idle.copied(events).items():
        of = by_direction.setdefault(copy_direction(text), [0, 0, 0])
        of[:] = [left + right for left, right in zip(of, figures, strict=True)]
    assert {copy.direction: [copy.count, copy.bytes, copy.duration_ns] for copy in copies} == by_direction


@pytest.mark.parametrize(
    ("name", "share", "of_idle"),
    [
        ("h100-qwen1.5", 0.085, {"host": 0.37, "turnaround": 0.41, "unknown": 0.17, "copy": 0}),
        ("mi300x-qwen1.5", 0.085, {"host": 0.89, "dependency": 0.10, "copy": 0}),
    ],
)
def test_the_same_model_idles_for_other_reasons_on_two_gpus(
    name: str, share: float, of_idle: dict[str, float], shared_data: Path
) -> None:
    """Read independently before this was written."""
    profile = read_profile(str(shared_data / "kineto" / f"{name}-inference.json.gz"))
    devices, _ = why_idle(profile, profile.parts, device_times(profile, profile.parts))
    (idle,) = devices.values()
    assert idle.share == pytest.approx(share, abs=0.0006)
    for cause, expected in of_idle.items():
        assert idle.share_of(cause) == pytest.approx(expected, abs=0.005)
    if name.startswith("h100"):
        assert idle.short == pytest.approx(0.05, abs=0.005)
