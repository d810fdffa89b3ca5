"""What is given and makes no difference is said, by `compare` as by the commands that plan once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Kernelpoint = Callable[..., Any]
FEW = ("--repeats", "2")


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """An instruction count for every launch of the resnet sample, by launch id."""
    path = tmp_path / "counts.csv"
    path.write_text("id,instructions\n" + "".join(f"{index},{index % 7 + 1}\n" for index in range(5600)))
    return path


def unused(run: Any) -> list[str]:
    """The notes that say so."""
    assert run.code == 0, run.err
    return [line.removeprefix("kernelpoint: ") for line in run.err.splitlines() if "not used" in line]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "root.k_max=3"), "--set root.k_max=3: not used by joint"),
        (("--mean", "geometric"), "--mean: it sums up several workloads, and there is one; not used"),
        (("--number-locale", "de_DE"), "--number-locale: there are no files of --features; not used"),
        (("--width", "60"), "--width: of the chart of --scatter; not used"),
        (("--width", "60", "--height", "9"), "--width, --height: of the chart of --scatter; not used"),
        (("--scatter", "--format", "json"), "--scatter: --format json draws nothing; not used"),
        (
            ("--scatter", "--format", "csv", "--width", "60"),
            "--scatter, --width: --format csv draws nothing; not used",
        ),
    ],
)
def test_compare_says_what_it_does_not_use(
    kernelpoint: Kernelpoint, resnet: Path, words: tuple[str, ...], said: str
) -> None:
    asked = ("compare", resnet, "--methods", "joint", *FEW, *words)
    assert unused(kernelpoint(*asked)) == [said]
    assert unused(kernelpoint(*asked, "--quiet")) == []


def test_compare_says_that_no_method_looks_at_features(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path
) -> None:
    asked = ("compare", resnet, *FEW, "--features", counts)
    said = "--features: joint, root look at durations alone; not used"
    assert unused(kernelpoint(*asked, "--methods", "joint,root")) == [said]
    said = "--features: joint looks at durations alone; not used"
    assert unused(kernelpoint(*asked, "--methods", "joint")) == [said]
    asked_of_sample = ("sample", resnet, "--judge", "0", "--features", counts)
    assert unused(kernelpoint(*asked_of_sample)) == []
    told = "kernelpoint: --cost: root does not plan by it; it is told what its plan costs"
    assert told in kernelpoint(*asked_of_sample, "--cost", "instructions", "-m", "root").err
    assert unused(kernelpoint(*asked, "--methods", "joint,sieve")) == []


def test_what_one_of_the_methods_uses_is_used(kernelpoint: Kernelpoint, resnet: Path, gpt2: Path) -> None:
    asked = ("compare", resnet, *FEW, "--set", "root.k_max=3", "--group-epsilon", "0.1")
    assert unused(kernelpoint(*asked, "--methods", "joint,root")) == []
    assert unused(kernelpoint(*asked, "--methods", "stem,root")) == [
        "--group-epsilon: for the method joint alone; not used"
    ]
    assert unused(kernelpoint(*asked, "--methods", "joint,stem")) == [
        "--set root.k_max=3: not used by any of joint, stem"
    ]
    several = ("compare", resnet, gpt2, "--methods", "root", *FEW, "--mean", "geometric")
    assert unused(kernelpoint(*several)) == []
    assert unused(kernelpoint(*several, "--one-workload")) == [
        "--mean: it sums up several workloads, and there is one; not used"
    ]
    assert (
        unused(kernelpoint("compare", resnet, "--methods", "root", *FEW, "--scatter", "--width", "60")) == []
    )


@pytest.mark.parametrize("command", [("sample", "--judge", "0", "--method"), ("compare", *FEW, "--methods")])
def test_a_method_that_random_is_like_is_used(
    kernelpoint: Kernelpoint, resnet: Path, command: tuple[str, ...]
) -> None:
    words = (*command, "random", resnet, "--set", "root.k_max=3", "--min-samples", "3")
    like_root, like_joint = (("--set", f"random.like={method}") for method in ("root", "joint"))
    of_joint, of_root = (
        "--min-samples: for the method joint alone; not used",
        "--set root.k_max=3: not used by random",
    )
    assert unused(kernelpoint(*words)) == [of_joint, of_root]
    assert unused(kernelpoint(*words, *like_root)) == [of_joint]
    assert unused(kernelpoint(*words, *like_joint)) == [of_root]


def test_a_chart_that_is_not_drawn_is_not_spoken_of(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("compare", resnet, "--methods", "joint,sieve", *FEW, "--scatter")
    assert "not in the chart" in kernelpoint(*words).err
    assert "not in the chart" not in kernelpoint(*words, "--format", "json").err
