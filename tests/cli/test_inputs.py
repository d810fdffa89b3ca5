"""Where profiles come from: names, standard input, gzip, several files; and what the first word means."""

from __future__ import annotations

import gzip
import os
import shlex
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]

COUNTED = ("--format", "json")


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_first_word_that_is_no_command_is_a_profile(kernelpoint: Kernelpoint, resnet: Path) -> None:
    short, long = kernelpoint(resnet), kernelpoint("open", resnet)
    assert short.code == 0
    assert short.out == long.out == kernelpoint("summary", resnet).out
    assert "ssh -t" in short.err


def test_options_may_follow_or_precede_the_profile(kernelpoint: Kernelpoint, resnet: Path) -> None:
    after = kernelpoint(resnet, "--epsilon", "0.01", *COUNTED)
    before = kernelpoint("--epsilon", "0.01", *COUNTED, resnet)
    assert after.results == before.results
    assert after.results["plan"]["epsilon"] == 0.01


def test_demo_is_the_summary_of_the_bundled_sample(kernelpoint: Kernelpoint, resnet: Path) -> None:
    run = kernelpoint("demo", *COUNTED)
    shown = kernelpoint("summary", resnet, *COUNTED)
    assert run.results == shown.results
    assert "ssh -t" in run.err


def test_a_file_named_as_a_command_is_given_with_its_folder(
    kernelpoint: Kernelpoint, resnet: Path, in_folder: Path
) -> None:
    shutil.copy(resnet, in_folder / "info")
    assert kernelpoint("./info", *COUNTED).json["command"] == "summary"
    assert kernelpoint("info", "./info", *COUNTED).json["command"] == "info"
    assert "PROFILE" in kernelpoint("info").failed(2)


@pytest.mark.parametrize(
    ("word", "meant"), [("summry", "summary"), ("group", "groups"), ("Sample", "sample")]
)
def test_a_misspelt_command_is_hinted_at(
    kernelpoint: Kernelpoint, in_folder: Path, word: str, meant: str
) -> None:
    said = kernelpoint(word, "profile.sqlite").failed(3)
    assert word in said
    assert f"kernelpoint {meant}" in said


def test_a_file_named_nearly_as_a_command_is_read(
    kernelpoint: Kernelpoint, resnet: Path, in_folder: Path
) -> None:
    shutil.copy(resnet, in_folder / "group")
    assert kernelpoint("group").code == 0


def test_a_profile_may_come_from_standard_input(
    kernelpoint: Kernelpoint, resnet: Path, resnet_csv: Path, gpt2: Path
) -> None:
    for path in (resnet, resnet_csv, gpt2):
        piped = kernelpoint("groups", "-", *COUNTED, stdin=path.read_bytes())
        assert piped.code == 0, piped.err
        assert piped.results == kernelpoint("groups", path, *COUNTED).results


def test_a_profile_from_standard_input_can_be_planned(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    piped = kernelpoint("sample", "-", "-o", "-", stdin=resnet.read_bytes()).json
    plan = kernelpoint("sample", resnet, "-o", "-").json
    assert piped["strata"] == plan["strata"]
    assert [file["sha256"] for file in piped["profile"]["files"]] == [
        file["sha256"] for file in plan["profile"]["files"]
    ]


def test_gzip_is_read_as_it_is_whatever_its_name(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "no suffix at all"
    path.write_bytes(gzip.compress(resnet.read_bytes(), mtime=0))
    plain = kernelpoint("groups", resnet, *COUNTED)
    assert kernelpoint("groups", path, *COUNTED).results == plain.results
    assert kernelpoint("groups", "-", *COUNTED, stdin=path.read_bytes()).results == plain.results


def test_the_name_of_a_file_says_nothing(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    path = tmp_path / "launches.csv"
    shutil.copy(resnet, path)
    assert kernelpoint("info", path, *COUNTED).results["format"] == "nsys-sqlite"


def test_several_files_are_one_workload_kept_apart(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    first, second, both = (
        kernelpoint("info", *files, *COUNTED).results for files in ([resnet], [gpt2], [resnet, gpt2])
    )
    for name in ("launches", "total_duration_ns", "kernel_groups", "streams"):
        assert both[name] == first[name] + second[name]
    assert both["processes"] == 2
    twice = kernelpoint("info", resnet, resnet, *COUNTED).results
    assert twice["kernel_groups"] == 2 * first["kernel_groups"]
    pooled = kernelpoint("info", resnet, resnet, "--pool-devices", *COUNTED).results
    assert pooled["kernel_groups"] == first["kernel_groups"]


def test_ids_run_through_the_files_in_the_order_given(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    words = ("sample", "--format", "jsonl", "--judge", "0")
    alone = kernelpoint(*words, gpt2).jsonl
    behind = kernelpoint(*words, resnet, gpt2, "--launches", "5600:").jsonl
    assert [row["id"] - 5600 for row in behind] == [row["id"] for row in alone]
    assert [row["ordinal"] for row in behind] == [row["ordinal"] for row in alone]


def test_what_next_names_the_files_given_ready_for_a_shell(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "it's a profile.sqlite"
    shutil.copy(resnet, path)
    for line in kernelpoint("summary", path, *COUNTED).results["next"]:
        words = shlex.split(line)
        assert words[0] == "kernelpoint"
        assert str(path) in words
        words = [str(tmp_path / "plan.json") if word == "plan.json" else word for word in words]
        assert kernelpoint(*words[1:]).code == 0


def test_what_next_keeps_the_launches_and_the_target_but_not_the_form(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    chosen = ["--launches", "100:900", "--epsilon", "0.1", "--exclude", "sgemm|volta", "--seed", "7"]
    run = kernelpoint("summary", resnet, *chosen, "--quiet", "--ascii", *COUNTED)
    for line in run.results["next"]:
        words = shlex.split(line)
        for flag, value in pairwise(chosen):
            assert not flag.startswith("--") or words[words.index(flag) + 1] == value
        assert not {"--quiet", "--ascii", "--format"} & set(words)


def test_an_unreadable_file_is_3(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    path = tmp_path / "secret.sqlite"
    shutil.copy(resnet, path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert str(path) in kernelpoint("summary", path).failed(3)
