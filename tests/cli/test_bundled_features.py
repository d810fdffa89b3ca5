"""The bundled features and interval log: every method runs from a clone, by the commands their README gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]

PUBLISHED = (
    *("joint", "root", "stem", "allegro", "random", "pks", "two-level", "sieve", "photon", "tbpoint"),
    *("first-instructions", "single-iteration"),
)
ITERATION = tuple(
    word
    for setting in ("first=56", "last=111", "iterations=100")
    for word in ("--set", f"single-iteration.{setting}")
)
JSON = ("--format", "json")


@pytest.fixture(scope="session")
def features(sample_data: Path) -> tuple[str, ...]:
    """What the other tools say of the launches of the resnet sample."""
    names = ("resnet50-like-ncu-raw.csv.gz", "resnet50-like-blocks.csv.gz")
    return tuple(word for name in names for word in ("--features", str(sample_data / name)))


@pytest.fixture(scope="session")
def compared(kernelpoint: Kernelpoint, resnet: Path, features: tuple[str, ...]) -> Run:
    """All methods on the resnet sample with all features."""
    return kernelpoint("compare", resnet, *features, *ITERATION, "--repeats", "5", *JSON)


def readme_commands(sample_data: Path) -> list[list[str]]:
    """Return the indented commands of the README, lines that go on joined."""
    text = (sample_data / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    kernelpoint ")]


def test_every_method_is_applicable(compared: Run) -> None:
    assert compared.code == 0
    assert [row["method"] for row in compared.results] == list(PUBLISHED)
    assert [row["method"] for row in compared.results if not row["applicable"]] == []
    for row in compared.results:
        assert 1 <= row["samples"] < 5600
        assert row["speedup"] > 1


def test_no_method_is_left_out_of_this_file(kernelpoint: Kernelpoint) -> None:
    named = {row["name"] for row in kernelpoint("methods", *JSON).results}
    assert named == set(PUBLISHED)


def test_all_rows_of_both_files_are_joined(compared: Run) -> None:
    ncu, blocks = (line for line in compared.err.splitlines() if "rows joined by" in line)
    assert "(ncu-raw): 5600 of 5600 rows joined by name, grid, block, occurrence" in ncu
    assert "12 of 16 kernel names were found under another spelling" in ncu
    assert "(basic-block-vectors): 5600 of 5600 rows joined by name, occurrence" in blocks
    for line in (ncu, blocks):
        assert "0 of 5600 launches have none" in line


def test_without_the_features_those_who_need_them_say_so(
    kernelpoint: Kernelpoint, resnet: Path, features: tuple[str, ...]
) -> None:
    def lacking(*words: str) -> set[str]:
        rows = kernelpoint("compare", resnet, *words, "--repeats", "1", *JSON).results
        return {row["method"] for row in rows if not row["applicable"]}

    by_metrics = {"pks", "two-level", "sieve", "tbpoint", "first-instructions"}
    ncu, blocks = features[:2], features[2:]
    assert lacking(*ITERATION) == by_metrics | {"photon"}
    assert lacking(*ncu) == {"photon", "single-iteration"}
    assert lacking(*blocks) == by_metrics | {"single-iteration"}


def test_two_level_profiling_sees_metrics_of_the_first_launches_alone(
    kernelpoint: Kernelpoint, resnet: Path, features: tuple[str, ...]
) -> None:
    words = ("--method", "two-level", "--set", "two-level.launches=560", *features[:2])
    results = kernelpoint("sample", resnet, *words, "--judge", "0", *JSON).results
    details = results["plan"]["details"]
    assert details["launches_in_detail"] == 560
    assert details["share_matched_exactly"] == 0.9


def test_the_log_projects_one_kernel_of_each_kind(kernelpoint: Kernelpoint, sample_data: Path) -> None:
    run = kernelpoint("project", sample_data / "gemm-intervals.log.gz", *JSON)
    assert run.json["warnings"] == []
    settles, never, cut = run.results
    assert [row["stopped"] for row in run.results] == [True, False, True]
    assert settles["error"] < 0.02 < 3 < settles["speedup"]
    assert settles["total_cycles_from"] == "simulator"
    assert "never steady" in never["reason"]
    assert (cut["total_cycles"], cut["projected_by"], cut["cycles_logged"]) == (None, "ctas", 24_000)


def test_the_readmes_commands_run(
    kernelpoint: Kernelpoint, sample_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sample_data.parent)
    commands = readme_commands(sample_data)
    assert [words[0] for words in commands] == ["compare", "sample", "project"]
    assert {word for word in commands[0] if word.endswith(".csv.gz")} == {
        "sample_data/resnet50-like-ncu-raw.csv.gz",
        "sample_data/resnet50-like-blocks.csv.gz",
    }
    for words in commands:
        fewer_draws = ("--repeats", "1") if words[0] == "compare" else ()
        run = kernelpoint(*words, *fewer_draws)
        assert run.code == 0, run.err
        assert "not applicable" not in run.out
