"""`--features PROFILE=FILE`: which profile it means, and what is said where it means none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sampling.errors import OptionError
from tui.engine.studies import feature_file, workload_features

Kernelpoint = Callable[..., Any]
SIEVE = ("--method", "sieve", "--judge", "0", "--format", "json")


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """An instruction count for every launch of the resnet sample, by launch id."""
    path = tmp_path / "counts.csv"
    path.write_text("id,instructions\n" + "".join(f"{index},{index % 7 + 1}\n" for index in range(5600)))
    return path


def test_the_only_profile_may_be_named(kernelpoint: Kernelpoint, resnet: Path, counts: Path) -> None:
    alone, named = (
        kernelpoint("sample", resnet, *SIEVE, "--features", text) for text in (counts, f"{resnet}={counts}")
    )
    assert alone.code == 0
    assert named.results == alone.results


def test_an_equals_sign_may_be_part_of_a_name(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path, tmp_path: Path
) -> None:
    odd_profile, odd_counts = tmp_path / "a=b.sqlite", tmp_path / "c=d.csv"
    shutil.copy(resnet, odd_profile)
    shutil.copy(counts, odd_counts)
    for profile, text in ((resnet, odd_counts), (odd_profile, f"{odd_profile}={odd_counts}")):
        run = kernelpoint("sample", profile, *SIEVE, "--features", text)
        assert run.code == 0, run.err
    assert feature_file("a=b=c", ["a", "a=b"]) == ("a=b", "c")


@pytest.mark.parametrize("command", ["sample", "summary", "compare"])
def test_a_profile_that_is_not_given_is_said(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path, command: str
) -> None:
    said = kernelpoint(command, resnet, "--features", f"zzz.parquet={counts}").failed(2)
    assert "no profile zzz.parquet is given" in said
    assert str(resnet) in said


def test_one_workload_of_several_has_ids_of_the_whole(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, counts: Path
) -> None:
    for words in (("sample",), ("compare", "--one-workload")):
        said = kernelpoint(*words, resnet, gpt2, "--features", f"{gpt2}={counts}").failed(2)
        assert "the 2 profiles are one workload here" in said
        assert "give FILE alone" in said
    with pytest.raises(OptionError):
        workload_features(["a=x"], ["a", "b"])
    assert workload_features(["a=x", "y"], ["a"]) == ("x", "y")


@pytest.mark.parametrize("command", ["sample", "compare"])
def test_the_help_shows_the_form(kernelpoint: Kernelpoint, command: str) -> None:
    assert "[PROFILE=]FILE" in kernelpoint(command, "--help", COLUMNS="120").out
