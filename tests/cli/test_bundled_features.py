"""The bundled features and interval log: every method runs from a clone, by the commands of their README."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]

METHODS = (
    *("joint", "root", "stem", "allegro", "random", "pks", "two-level", "sieve", "photon", "tbpoint"),
    *("first-instructions", "single-iteration", "embedding"),
)
BY_METRICS = {"pks", "two-level", "sieve", "tbpoint", "embedding", "first-instructions"}
JSON = ("--format", "json")


@pytest.fixture(scope="session")
def commands(sample_data: Path) -> dict[str, list[str]]:
    """The commands that the README shows, without the program's name, lines that go on joined."""
    text = (sample_data / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.startswith("    kernelpoint ")]
    # Those of scale-model prediction have tests of their own.
    return {words[1]: words[1:] for words in map(shlex.split, lines) if words[1] != "scale"}


@pytest.fixture(scope="session")
def shown(kernelpoint: Kernelpoint, sample_data: Path, commands: dict[str, list[str]]) -> Callable[..., Run]:
    """Run a command of the README where it is meant to be run, with some words added."""

    def run(command: str, *words: str) -> Run:
        with chdir(sample_data.parent):
            return kernelpoint(*commands[command], *words)

    return run


@pytest.fixture(scope="session")
def compared(shown: Callable[..., Run]) -> Run:
    """All methods on the resnet sample with all features."""
    return shown("compare", "--repeats", "1", *JSON)


def test_every_method_is_applicable(compared: Run) -> None:
    assert compared.code == 0
    assert [row["method"] for row in compared.results] == list(METHODS)
    assert [row["method"] for row in compared.results if not row["applicable"]] == []
    for row in compared.results:
        assert 1 <= row["samples"] < 5600
        assert row["speedup"] > 1


def test_no_method_is_forgotten_here(kernelpoint: Kernelpoint) -> None:
    assert {row["name"] for row in kernelpoint("methods", *JSON).results} == set(METHODS)


def test_all_rows_of_both_files_are_joined(compared: Run) -> None:
    ncu, blocks = (line for line in compared.err.splitlines() if "rows joined by" in line)
    assert "(ncu-raw): 5,600 of 5,600 rows joined by name, grid, block, occurrence" in ncu
    assert "12 of 16 kernel names were found under another spelling" in ncu
    assert "(basic-block-vectors): 5,600 of 5,600 rows joined by name, occurrence" in blocks
    for line in (ncu, blocks):
        assert "0 of 5,600 launches have none" in line


@pytest.mark.parametrize(
    ("features", "lacking"),
    [
        ((), {*BY_METRICS, "photon"}),
        (("resnet50-like-ncu-raw.csv.gz",), {"photon"}),
        (("resnet50-like-blocks.csv.gz",), BY_METRICS),
    ],
)
def test_each_file_is_needed_by_some(
    kernelpoint: Kernelpoint, resnet: Path, sample_data: Path, features: tuple[str, ...], lacking: set[str]
) -> None:
    given = [word for name in features for word in ("--features", str(sample_data / name))]
    picking = ",".join(METHODS[5:])
    rows = kernelpoint("compare", resnet, *given, "--methods", picking, "--repeats", "1", *JSON).results
    assert {row["method"] for row in rows if not row["applicable"]} == lacking


def test_two_level_profiling_sees_metrics_of_the_first_launches_alone(shown: Callable[..., Run]) -> None:
    details = shown("sample", "--judge", "0", *JSON).results["details"]
    assert details["launches_in_detail"] == 560
    assert details["share_matched_exactly"] == 0.9


def test_the_log_projects_one_kernel_of_each_kind(shown: Callable[..., Run]) -> None:
    run = shown("project", *JSON)
    assert run.json["warnings"] == ["cut-short"]
    settles, never, cut = run.results
    assert [row["stopped"] for row in run.results] == [True, False, True]
    assert settles["error"] < 0.02
    assert settles["speedup"] > 3
    assert settles["total_cycles_from"] == "simulator"
    assert "never steady" in never["reason"]
    assert "reaching" in cut["cut_short"] or "broke it off" in cut["cut_short"]
    assert (cut["total_cycles"], cut["projected_by"], cut["cycles_logged"]) == (None, "ctas", 24_000)


def test_these_are_all_commands_of_the_readme(commands: dict[str, list[str]]) -> None:
    assert list(commands) == ["compare", "sample", "project"]
