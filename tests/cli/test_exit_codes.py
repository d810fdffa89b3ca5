"""Every failure has its code and is one line that says what, where and what to do."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]

READING = (
    *("open", "summary", "info", "groups", "histogram", "tree"),
    *("sample", "trade-off", "compare", "convert"),
)

USAGE: dict[str, tuple[str, str]] = {
    "summary PROFILE --nonsense": ("--nonsense", "kernelpoint summary --help"),
    "summary PROFILE --formt csv": ("--formt", "--format"),
    "summary PROFILE --format xml": ("xml", "markdown"),
    "PROFILE --epsilon x": ("--epsilon", "kernelpoint open --help"),
    "--nonsense": ("--nonsense", "kernelpoint --help"),
    "summary": ("PROFILE", "kernelpoint summary --help"),
    "judge": ("PLAN", "kernelpoint judge --help"),
    "summary PROFILE --epsilon 5": ("fraction", "0.05"),
    "sample PROFILE --epsilon 1": ("fraction", "0.01"),
    "groups PROFILE --epsilon 0": ("--epsilon", "fraction"),
    "groups PROFILE --epsilon nan": ("--epsilon", "fraction"),
    "tree PROFILE --epsilon -0.1": ("--epsilon", "fraction"),
    "compare PROFILE --confidence 95": ("--confidence", "0.95"),
    "judge PLAN PROFILE --fail-above 5": ("--fail-above", "0.05"),
    "judge PLAN PROFILE --fail-above -1": ("--fail-above", "fraction"),
    "summary PROFILE --seed -1": ("--seed", "0 or more"),
    "sample PROFILE --judge -1": ("--judge", "0 or more"),
    "compare PROFILE --repeats 0": ("--repeats", "1 or more"),
    "judge PLAN PROFILE --repeats 0": ("--repeats", "1 or more"),
    "groups PROFILE --top 0": ("--top", "1 or more"),
    "groups PROFILE --sort size": ("--sort", "launches"),
    "histogram PROFILE --width 0": ("--width", "1 or more"),
    "histogram PROFILE --height -3": ("--height", "1 or more"),
    "tree PROFILE --max-depth -1": ("--max-depth", "0 or more"),
    "tree PROFILE --method random": ("random", "root"),
    "tree PROFILE --kernel #0": ("#0", "#34"),
    "tree PROFILE --kernel #35": ("#35", "#34"),
    "histogram PROFILE --kernel AMPERE": ("AMPERE", "kernelpoint groups"),
    "sample PROFILE --method rot": ("rot", "'root'"),
    "tree PROFILE --method stm": ("stm", "'stem'"),
    "compare PROFILE --methods root,allegr": ("allegr", "'allegro'"),
    "sample PROFILE --set root.varant=script": ("varant", "'variant'"),
    "sample PROFILE --set rot.variant=script": ("rot", "'root'"),
    "sample PROFILE --set root.variant=scrip": ("scrip", "script"),
    "sample PROFILE --set root.variant": ("root.variant", "METHOD.NAME=VALUE"),
    "sample PROFILE --set stem.floor=many --method stem": ("many", "int"),
    "summary PROFILE --device x": ("--device", "numbers"),
    "summary PROFILE --process 1,x": ("--process", "numbers"),
    "summary PROFILE --launches 5": ("--launches", "A:B"),
    "summary PROFILE --launches a:b": ("--launches", "A:B"),
    "summary PROFILE --launches -5:7": ("--launches", "A:B"),
    "summary PROFILE --include [": ("'['", "regular expression"),
    "summary - -": ("standard input", "once"),
    "convert PROFILE": ("-o", "parquet"),
    "export PLAN --to cvs": ("cvs", "csv"),
    "open PROFILE --app": ("--app", "ssh -t"),
    "demo --app": ("--app", "ssh -t"),
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_2(kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, line: str) -> None:
    places = {"PROFILE": resnet, "PLAN": plan_file}
    said = kernelpoint(*(places.get(word, word) for word in line.split())).failed(2)
    for part in USAGE[line]:
        assert part in said


def test_without_arguments_it_is_the_first_steps_and_2(kernelpoint: Kernelpoint) -> None:
    run = kernelpoint()
    assert run.code == 2
    lines = run.out.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("kernelpoint ") and len(line) <= 80 for line in lines)
    assert run.err == ""


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("sample", "--help"), ("--version",)])
def test_help_and_version_are_0(kernelpoint: Kernelpoint, words: Sequence[str]) -> None:
    run = kernelpoint(*words)
    assert run.code == 0
    assert run.err == ""
    assert run.out


@pytest.mark.parametrize("command", READING)
def test_a_missing_file_is_3(kernelpoint: Kernelpoint, tmp_path: Path, command: str) -> None:
    words = ("-o", tmp_path / "out") if command == "convert" else ()
    said = kernelpoint(command, tmp_path / "missing.sqlite", *words).failed(3)
    assert "missing.sqlite: no such file" in said


UNREADABLE: dict[str, bytes] = {
    "empty": b"",
    "rubbish": bytes(range(256)) * 20,
    "text": b"hello, this is no profile\n" * 3,
    "json": b'{"hello": 1}',
    "csv": b"a,b,c\n1,2,3\n",
    "html": b"<!doctype html><html></html>",
    "empty gzip": gzip.compress(b"", mtime=0),
    "cut gzip": gzip.compress(bytes(range(256)) * 400, mtime=0)[:200],
    "sqlite head alone": b"SQLite format 3\x00" + bytes(84),
    "parquet magic alone": b"PAR1PAR1",
    "zip": b"PK\x03\x04" + bytes(60),
}


@pytest.mark.parametrize("content", UNREADABLE)
def test_what_is_no_profile_is_3(kernelpoint: Kernelpoint, tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(UNREADABLE[content])
    assert f"{path}: " in kernelpoint("summary", path).failed(3)
    assert "error: -: " in kernelpoint("summary", "-", stdin=UNREADABLE[content]).failed(3)


def test_a_folder_is_3(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    assert str(tmp_path) in kernelpoint("summary", tmp_path).failed(3)


def test_a_good_file_does_not_hide_a_bad_one(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    (tmp_path / "bad").touch()
    assert str(tmp_path / "bad") in kernelpoint("summary", resnet, tmp_path / "bad").failed(3)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"kind": "plan"}', '{"kind": "plan", "schema": 1}', "{"]
)
@pytest.mark.parametrize("command", ["judge", "export"])
def test_what_is_no_plan_is_3(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, command: str, content: str
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content)
    words = (command, path, resnet) if command == "judge" else (command, path)
    assert str(path) in kernelpoint(*words).failed(3)


@pytest.mark.parametrize("content", ["", "{}", '{"overrides": [{"key": "x"}]}', '{"overrides": [3]}'])
def test_what_is_no_overrides_file_is_3(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "overrides.json"
    path.write_text(content)
    assert str(path) in kernelpoint("sample", resnet, "--overrides", path).failed(3)


FILTERS = {
    "--device 3": "--device 3",
    "--process 1,2": "--process 1,2",
    "--include nothing": "--include 'nothing'",
    "--exclude .": "--exclude '.'",
    "--launches 5600:": "--launches 5600:",
    "--launches 10:10": "--launches 10:10",
    "--include volta --exclude sgemm --exclude cudnn": "--exclude 'cudnn'",
    "--launches 100:200 --device 9": "--device 9",
}


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("command", ["summary", "sample", "compare", "convert"])
def test_filters_that_leave_nothing_are_4_and_named(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, command: str, filters: str
) -> None:
    words = ("-o", tmp_path / "out.parquet") if command == "convert" else ()
    assert FILTERS[filters] in kernelpoint(command, resnet, *filters.split(), *words).failed(4)
    assert not any(tmp_path.iterdir())


def test_a_check_that_fails_is_4_after_the_results(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path
) -> None:
    words = ("judge", plan_file, resnet, "--format", "json")
    error = kernelpoint(*words).results["error"]
    assert kernelpoint(*words, "--fail-above", error * 1.01).code == 0
    run = kernelpoint(*words, "--fail-above", error * 0.99)
    assert run.code == 4
    assert run.results["error"] == error
    assert run.err.count("\n") == 1
    assert re.fullmatch(r"kernelpoint: error: the plan's error is [\d.]+ %, above [\d.]+ %\n", run.err)


def test_a_plan_of_another_profile_is_1(kernelpoint: Kernelpoint, gpt2: Path, plan_file: Path) -> None:
    said = kernelpoint("judge", plan_file, gpt2).failed(1)
    assert "5,600" in said
    assert "13,920" in said


def test_a_plan_whose_launch_is_another_kernel_is_1(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, tmp_path: Path
) -> None:
    plan = json.loads(plan_file.read_text())
    plan["strata"][3]["launches"][0]["name"] = "another"
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    launch = plan["strata"][3]["launches"][0]["id"]
    assert f"launch {launch} " in kernelpoint("judge", path, resnet).failed(1)


def test_what_no_one_foresaw_is_1_and_keeps_its_traceback_in_a_file(
    kernelpoint: Kernelpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken\non two lines")

    monkeypatch.setattr("tui.text.methods.method_names", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = kernelpoint("methods", "--format", "table", "-q")
    assert run.code == 1
    assert run.err.count("\n") == 1
    assert "internal error: RuntimeError: broken on two lines" in run.err
    (log,) = tmp_path.iterdir()
    assert str(log) in run.err
    assert "Traceback" in log.read_text()
