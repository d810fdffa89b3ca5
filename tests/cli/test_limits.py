"""What would take minutes or gigabytes is refused, before it is begun and in one line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.conftest import BENCHMARKS, Kernelpoint
from tui.terminal import tty

_DEEP = "a." * 100_000 + "a"


@pytest.mark.parametrize(
    "text", [f"[{_DEEP}]\n", f"{_DEEP} = 1\n", f"[ipc]\n8 = 1\n[[{_DEEP}]]\n", "# comment\n" * 200_000]
)
@pytest.mark.parametrize("words", [("predict",), ("derive", "--factor", "2")])
def test_a_toml_beyond_what_a_person_writes(
    kernelpoint: Kernelpoint, tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    began = time.process_time()
    said = kernelpoint("scale", words[0], path, *words[1:]).failed(3)
    assert time.process_time() - began < 5
    assert len(said) < 300
    assert "deep.toml" in said


def test_a_long_word_of_no_key_is_searched_in_no_time(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(f'name = "{"a" * 10_000}"\n[ipc]\n8 = 100\n16 = 199\n')
    began = time.process_time()
    assert kernelpoint("scale", "predict", path, "-t", "32", "--format", "json").code == 0
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "words",
    [
        ("trade-off",),
        ("histogram",),
        ("compare", "--scatter"),
        ("scale", "predict"),
        ("project",),
    ],
)
def test_a_chart_is_no_larger_than_can_be_drawn(
    kernelpoint: Kernelpoint, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(BENCHMARKS)
    for flag, most in (("--width", "10,000"), ("--height", "1,000")):
        said = kernelpoint(*words, path, flag, "100000").failed(2)
        assert f"{flag} is at most {most}, not 100000" in said
        help_text = kernelpoint(*(word for word in words if word != "--scatter"), "--help", COLUMNS="200").out
        assert f"At most {most}." in help_text


def test_the_width_of_the_environment_has_the_same_limit() -> None:
    assert tty.width({"COLUMNS": "100000000"}, None) == 10_000
    assert tty.width({"COLUMNS": "9" * 5_000}, None) == 10_000
    assert tty.width({"COLUMNS": "120"}, None) == 120


@pytest.mark.parametrize("method", ["sieve", "first-instructions"])
def test_a_metric_of_any_magnitude_is_no_warning_of_a_library(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, method: str
) -> None:
    path = tmp_path / "counts.csv"
    rows = [f"{number},{('1e308', '-1e308', '5')[number % 3]}" for number in range(5_600)]
    path.write_text("\n".join(["id,instructions", *rows]) + "\n")
    # Tests turn warnings into errors.
    said = kernelpoint("sample", resnet, "--method", method, "--features", path)
    assert "RuntimeWarning" not in said.err
    assert "internal error" not in said.err
    assert "values beyond 1e+100 count as none: instructions" in said.err
    # A method that needs the number of every launch says that it lacks some.
    assert said.code == 1
