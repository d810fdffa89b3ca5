"""`scale predict --run`: from what a simulator printed on two GPUs to a larger one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Kernelpoint
from tests.sampling.readers.test_simulator_log import BANNER, block

#: Name, blocks, and cycles at 8, 16 and 32 SMs, which are 100 + 50 a wave, and of a kernel of one block.
LAUNCHES = [
    ("_Z3bigPf", 128, (900, 500, 300)),
    ("_Z3onePf", 1, (40, 40, 40)),
    ("_Z3bigPf", 128, (900, 500, 300)),
]


def log_of(place: int, launches: list[tuple[str, int, tuple[int, ...]]] = LAUNCHES) -> str:
    text = BANNER
    for number, (name, blocks, cycles) in enumerate(launches, start=1):
        text += f"-kernel name = {name}\n-kernel id = {number}\n"
        text += f"-grid dim = ({blocks},1,1)\n-block dim = (32,1,1)\n"
        text += block(name, str(number), cycles[place], 1000 * blocks)
    return text


@pytest.fixture
def logs(tmp_path: Path) -> dict[int, Path]:
    paths = {size: tmp_path / f"{size}.log" for size in (8, 16, 32)}
    for place, path in enumerate(paths.values()):
        path.write_text(log_of(place))
    return paths


def test_two_logs_give_a_larger_gpu_launch_by_launch(kernelpoint: Kernelpoint, logs: dict[int, Path]) -> None:
    words = [word for size, path in logs.items() for word in ("--run", f"{size}={path}")]
    run = kernelpoint("scale", "predict", *words, "--target", "32,128", "--kernels", "--format", "json")
    assert run.code == 0, run.err
    near, far = run.results["predictions"]
    assert (near["cycles"], near["measured"], near["error"]) == (640, 640, 0)
    assert (near["low"], near["high"]) == (pytest.approx(576), pytest.approx(704))
    assert near["ipc"] == pytest.approx(257_000 / 640)
    # From 16 and 32: one wave of 128 SMs is 150, and the one block stays; two doublings further.
    assert (far["from"], far["cycles"], far["scale_error"]) == ([16, 32], 340, pytest.approx(0.2))
    assert [(row["kernel"], row["launches"], row["limit"]) for row in run.results["kernels"]] == [
        ("_Z3bigPf", 2, "its waves get fewer"),
        ("_Z3onePf", 1, "too few thread blocks"),
    ]
    shown = kernelpoint("scale", "predict", *words, "--target", "32").out
    assert shown.startswith("32 SMs: 640 cycles, 576 to 704, launch by launch from 8 and 16 SMs")
    assert "--kernels gives a row" in shown


def test_the_drawn_launches_of_a_plan_are_enough(
    kernelpoint: Kernelpoint, logs: dict[int, Path], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", logs[8], "--judge", "0", "-o", plan).code == 0
    words = ["--run", f"8={logs[8]}", "--run", f"16={logs[16]}", "--target", "32"]
    run = kernelpoint("scale", "predict", "--plan", plan, *words, "--format", "json")
    assert run.code == 0, run.err
    (found,) = run.results["predictions"]
    assert found["cycles"] == pytest.approx(640)
    assert found["sampling_error"] is not None
    assert found["low"] <= 576.1
    assert found["high"] >= 703.9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "8={8}", "--run", "16={16}"), "--target 32,64,128"),
        (("--run", "8={8}", "--target", "32"), "there is one; give --run SIZE=LOG"),
        (("--run", "8={8}", "--run", "8={16}", "--target", "32"), "two runs are of 8 SMs"),
        (("--run", "x={8}", "--target", "32"), "is not SIZE=LOG"),
        (("--run", "{8}", "--target", "32"), "prints no configuration, so its number of SMs is not known"),
        (("{8}",), "give it as --run SIZE=LOG"),
    ],
)
def test_what_is_missing_is_named(
    kernelpoint: Kernelpoint, logs: dict[int, Path], words: tuple[str, ...], said: str
) -> None:
    filled = [word.replace("{8}", str(logs[8])).replace("{16}", str(logs[16])) for word in words]
    run = kernelpoint("scale", "predict", *filled)
    assert run.code == 2
    assert said in run.err


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (LAUNCHES[:2], "its launches are not those of the other run (2 launches and 3)"),
        ([*LAUNCHES[:2], ("_Z5otherPf", 128, (1, 1, 1))], "launch 2 is _Z5otherPf (128, 1, 1), and _Z3bigPf"),
        ([*LAUNCHES[:2], ("_Z3bigPf", 64, (1, 1, 1))], "launch 2 is _Z3bigPf (64, 1, 1), and _Z3bigPf (128"),
    ],
)
def test_runs_of_other_launches_are_refused(
    kernelpoint: Kernelpoint,
    logs: dict[int, Path],
    other: list[tuple[str, int, tuple[int, ...]]],
    said: str,
) -> None:
    logs[16].write_text(log_of(1, other))
    run = kernelpoint(
        "scale", "predict", "--run", f"8={logs[8]}", "--run", f"16={logs[16]}", "--target", "32"
    )
    assert run.code == 3
    assert said in run.err
