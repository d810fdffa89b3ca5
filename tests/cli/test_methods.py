"""`methods` says of every option what is taken; every method runs by the commands of the samples' README."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from sampling.errors import OptionError
from sampling.methods.options import about_options
from sampling.methods.registry import method_named, method_names, method_options
from tests.cli.conftest import JSON, Kernelpoint, Run, results

OPTIONS = [
    (name, about) for name in method_names() for about in about_options(method_named(name).options_type)
]
BY_METRICS = {"pks", "two-level", "sieve", "tbpoint", "embedding", "first-instructions"}


def test_every_option_is_explained(kernelpoint: Kernelpoint) -> None:
    shown = " ".join(kernelpoint("methods").out.split())
    assert len(OPTIONS) > 20
    for row in results(kernelpoint, "methods"):
        assert [about["name"] for about in row["about_options"]] == list(row["options"])
        for about in row["about_options"]:
            assert about["default"] == row["options"][about["name"]]
            assert len(about["meaning"].split()) >= 3
            assert f"{row['name']}.{about['name']}=" in shown
            assert about["meaning"] in shown
    assert "root.variant=exact [exact, script, paper]" in shown
    assert "root.k_max=2 [2 to 8]" in shown
    assert "random.launches=none [1 or more, or none]" in shown


def inside_and_outside(values: str, *, whole: bool) -> Iterator[tuple[float, bool]]:
    """Numbers at the ends of a span in words, and whether they belong to it."""
    for pattern, belongs, outward in (
        (r"(\S+) (?:to|or more)", True, -1),
        (r"above (\S+)", False, -1),
        (r"(?:\d to|at most) (\S+)", True, 1),
        (r"below (\S+)", False, 1),
    ):
        if found := re.search(pattern, values.replace(",", "")):
            end = float(found[1])
            yield end, belongs
            yield (end + outward if whole else math.nextafter(end, outward * math.inf)), False
            yield (end - outward if whole else math.nextafter(end, -outward * math.inf)), True


@pytest.mark.parametrize(("method", "about"), OPTIONS, ids=lambda part: str(getattr(part, "name", part)))
def test_what_is_told_is_what_is_taken(method: str, about: Any) -> None:
    def taken(value: object) -> object:
        return getattr(method_options(method, (f"{method}.{about.name}={value}",)), about.name)

    kind = str(
        next(each.type for each in fields(method_named(method).options_type) if each.name == about.name)
    )
    numbers = (
        [] if about.choices or "str" in kind else list(inside_and_outside(about.values, whole="int" in kind))
    )
    assert bool(about.choices) or "str" in kind or len(numbers) >= 3
    inside: list[object] = [*about.choices]
    outside: list[object] = ["no-such-choice"] if about.choices else []
    for number, belongs in numbers:
        (inside if belongs else outside).append(int(number) if "int" in kind else number)
    assert [taken(value) for value in inside] == inside
    for choice in about.choices:
        assert f"{choice}:" in about.meaning or choice == "naive-bayes"
    if about.values.endswith(", or none"):
        assert taken("none") is None
    else:
        outside.append("none")
    for value in outside:
        with pytest.raises(OptionError, match=re.escape(f"{method}.{about.name}")):
            taken(value)


@pytest.fixture(scope="module")
def shown(kernelpoint: Kernelpoint, sample_data: Path) -> Callable[..., Run]:
    """Run a command of the README where it is meant to be run, with some words added."""
    text = (sample_data / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("    kernelpoint ")]
    # Those of scale-model prediction have tests of their own.
    commands = {words[1]: words[1:] for words in lines if words[1] != "scale"}
    assert list(commands) == ["compare", "sample", "project"]

    def run(command: str, *words: str) -> Run:
        with chdir(sample_data.parent):
            return kernelpoint(*commands[command], *words)

    return run


def test_every_method_runs_with_all_features(shown: Callable[..., Run]) -> None:
    compared = shown("compare", "--repeats", "1", *JSON)
    assert compared.code == 0
    assert [row["method"] for row in compared.results] == list(method_names())
    for row in compared.results:
        assert row["applicable"]
        assert 1 <= row["samples"] < 5600
        assert row["speedup"] > 1
    ncu, blocks = (line for line in compared.err.splitlines() if "rows joined by" in line)
    assert "(ncu-raw): 5,600 of 5,600 rows joined by name, grid, block, occurrence" in ncu
    assert "(basic-block-vectors): 5,600 of 5,600 rows joined by name, occurrence" in blocks
    details = shown("sample", "--judge", "0", *JSON).results["details"]
    assert (details["launches_in_detail"], details["share_matched_exactly"]) == (560, 0.9)


@pytest.mark.parametrize(
    ("features", "lacking"),
    [((), {*BY_METRICS, "photon"}), (("ncu-raw",), {"photon"}), (("blocks",), BY_METRICS)],
)
def test_each_file_is_needed_by_some(
    kernelpoint: Kernelpoint, resnet: Path, sample_data: Path, features: tuple[str, ...], lacking: set[str]
) -> None:
    given = [
        word for name in features for word in ("--features", sample_data / f"resnet50-like-{name}.csv.gz")
    ]
    picking = ",".join(sorted({*BY_METRICS, "photon", "single-iteration"}))
    rows = results(kernelpoint, "compare", resnet, *given, "--methods", picking, "--repeats", "1")
    assert {row["method"] for row in rows if not row["applicable"]} == lacking
    assert all("--features" in row["reason"] for row in rows if not row["applicable"])


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
