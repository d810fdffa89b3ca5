"""A plan for rocprofv3: which kernels and which of their launches each run takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import Step
from sampling.simulators.rocprofv3 import filters, kernel_pattern
from tests.sampling.simulators.conftest import Write, launch, plan_of, program, shell, stratum


def iterations_of(text: str) -> set[int]:
    """What rocprofv3 takes a range for: parts between brackets, commas and blanks, N or A-B."""
    numbers: set[int] = set()
    for part in re.split(r"[\[\], ]+", text.strip("[], ")):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def single_size_plan() -> PlanFile:
    key = "f(int) <<<8x1x1, 128x1x1>>> process 0 device 0"
    launches = [
        launch(ordinal, occurrence, "f(int)") for ordinal, occurrence in ((7, 0), (9, 2), (10, 3), (15, 8))
    ]
    return plan_of(stratum(key, 9, 100, 10, launches), method="root")


def test_iterations_count_from_1(written: Write, tmp_path: Path) -> None:
    files = written(single_size_plan(), "rocprofv3")
    rocprof = program(tmp_path / "rocprofv3", 'for word in "$@"; do echo "$word"; done')
    ran = shell(tmp_path / "out" / "run.sh", "prog", "x y", ROCPROFV3=rocprof, RESULTS=tmp_path / "r")
    words = ran.stdout.splitlines()
    assert words[:-1] == [
        *("--pmc", "SQ_WAVES", "-d", str(tmp_path / "r"), "-o", "kernel-1"),
        *("--kernel-include-regex", r"^f.int.(\.kd| .clone.*)?$"),
        *("--kernel-iteration-range", "[1],[3-4],[9]", "--", "prog", "x y"),
    ]
    assert iterations_of(words[9]) == {1, 3, 4, 9}
    assert "\n7,1,0," in files["manifest.csv"]
    assert "it is not known" not in files["README.txt"]


@pytest.mark.parametrize("name", ["f(int)", "f(int) [clone .kd]", "f(int).kd", "ns::g<4>(float*)"])
def test_a_kernel_is_found_with_and_without_its_suffix(name: str) -> None:
    pattern = re.compile(kernel_pattern(name))
    plain = name.removesuffix(".kd").removesuffix(" [clone .kd]")
    assert all(pattern.search(plain + suffix) for suffix in ("", ".kd", " [clone .kd]"))
    assert not pattern.search(f"x{plain}")
    assert not pattern.search(f"{plain}x")


def test_a_kernel_of_which_a_launch_is_not_known_is_measured_whole() -> None:
    steps = tuple(
        Step(place, place, launch(place, 0, name), 0) for place, name in enumerate(("f", "g", "f", "_Z1hv"))
    )
    runs = filters(steps, {0: 1, 1: 4, 3: 2})
    assert runs == [
        r"--kernel-include-regex '^f(\.kd| .clone.*)?$'",
        r"--kernel-include-regex '^g(\.kd| .clone.*)?$' --kernel-iteration-range '[4]'",
        r"--mangled-kernels --kernel-include-regex '^_Z1hv(\.kd| .clone.*)?$' --kernel-iteration-range '[2]'",
    ]


def test_without_the_profile_it_is_said_what_is_not_known(ten: PlanFile, written: Write) -> None:
    files = written(ten, "rocprofv3")
    assert "Of 5 of the 5 launches it is not known" in files["README.txt"]
    assert "--kernel-iteration-range" not in files["run.sh"]
    assert "\n5,,2,1.0,0,,1,1," in files["manifest.csv"]
