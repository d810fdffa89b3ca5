"""`groups --filter`: which groups are listed, their ranks, and what is cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Kernelpoint = Callable[..., Any]


def rows_of(kernelpoint: Kernelpoint, *words: object) -> list[dict[str, Any]]:
    run = kernelpoint("groups", *words, "--format", "json")
    assert run.code == 0, run.err
    rows: list[dict[str, Any]] = run.results
    return rows


@pytest.mark.parametrize("text", ["sgemm", "SGEMM", "SgEmM", "<<<49x4x1"])
def test_a_filter_keeps_the_groups_whose_key_contains_it_in_any_case(
    kernelpoint: Kernelpoint, resnet: Path, text: str
) -> None:
    everything = rows_of(kernelpoint, resnet)
    expected = [row for row in everything if text.casefold() in row["key"].casefold()]
    assert 0 < len(expected) < len(everything)
    assert rows_of(kernelpoint, resnet, "--filter", text) == expected, "ranks are those of the whole profile"


def test_filter_then_sort_then_top(kernelpoint: Kernelpoint, resnet: Path) -> None:
    filtered = rows_of(kernelpoint, resnet, "--filter", "sgemm")
    longest = sorted(filtered, key=lambda row: -row["mean_ns"])
    assert longest != filtered
    words = ("--filter", "sgemm", "--sort", "mean", "--top", "2")
    assert rows_of(kernelpoint, resnet, *words) == longest[:2]


def test_a_filter_that_fits_nothing_leaves_nothing(kernelpoint: Kernelpoint, resnet: Path) -> None:
    said = kernelpoint("groups", resnet, "--filter", "no such kernel").failed(4)
    assert "'no such kernel'" in said


def test_an_empty_filter_filters_nothing(kernelpoint: Kernelpoint, resnet: Path) -> None:
    assert rows_of(kernelpoint, resnet, "--filter", "") == rows_of(kernelpoint, resnet)
