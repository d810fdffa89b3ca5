"""Every failure has its code and is one line that says what, where and what to do."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import JSON, Kernelpoint

READING = (
    *("open", "summary", "info", "groups", "histogram", "tree"),
    *("sample", "trade-off", "compare", "convert"),
)
USAGE: dict[str, tuple[str, ...]] = {
    "summary PROFILE --nonsense": ("--nonsense", "kernelpoint summary --help"),
    "summary PROFILE --format xml": ("xml", "markdown", "latex"),
    "PROFILE --epsilon x": ("--epsilon x: a number is meant, as 0.05",),
    "PROFILE --group-by nmae": ("'short-name'", "did you mean 'name'?"),
    "--nonsense": ("--nonsense", "kernelpoint --help"),
    "summary": ("PROFILE", "kernelpoint summary --help"),
    "summary PROFILE --epsilon 5": ("fraction", "0.05"),
    "groups PROFILE --epsilon 0": ("--epsilon", "fraction"),
    "sample PROFILE --epsilon 5%": ("fractions are meant, not per cent: 0.05",),
    "sample PROFILE --group-epsilon abc": ("--group-epsilon",),
    "compare PROFILE --confidence 95": ("--confidence", "0.95"),
    "judge PLAN PROFILE --fail-above 5": ("--fail-above", "0.05"),
    "compare PROFILE --repeats 0": ("--repeats", "1 or more"),
    "groups PROFILE --top 0": ("--top", "1 or more"),
    "groups PROFILE --sort size": ("--sort", "launches"),
    "histogram PROFILE --width 0": ("--width", "1 or more"),
    "tree PROFILE --method random": ("random", "root"),
    "tree PROFILE --kernel #35": ("#35", "#34"),
    "histogram PROFILE --kernel AMPERE": ("AMPERE", "kernelpoint groups"),
    "sample PROFILE --method rot": ("rot", "'root'"),
    "sample PROFILE --set root.varant=script": ("varant", "'variant'"),
    "summary PROFILE --device x": ("--device", "numbers"),
    "summary PROFILE --launches 5": ("--launches", "A:B"),
    "summary PROFILE --time 1.5:3": ("--time 1.5:3: nanoseconds as A:B",),
    "summary PROFILE --include [": ("'['", "regular expression"),
    "summary - -": ("standard input", "once"),
    "convert PROFILE": ("-o", "parquet"),
    "export PLAN --to cvs": ("cvs", "csv"),
    "export PLAN --to csv --caches cold": ("--caches means nothing to csv",),
    "info PROFILE --columns nam=a": ("did you mean 'name'?",),
    "open PROFILE --app": ("--app", "ssh -t"),
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_2(kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, line: str) -> None:
    places = {"PROFILE": resnet, "PLAN": plan_file}
    said = kernelpoint(*(places.get(word, word) for word in line.split())).failed(2)
    for part in USAGE[line]:
        assert part in said


def test_without_arguments_it_is_the_first_steps_and_2(kernelpoint: Kernelpoint) -> None:
    run = kernelpoint()
    lines = run.out.splitlines()
    assert (run.code, run.err, len(lines)) == (2, "", 8)
    assert all(line.startswith("kernelpoint ") and len(line) <= 80 for line in lines)


@pytest.mark.parametrize("line", ["--help", "-h", "sample --help", "--version"])
def test_help_and_version_are_0(kernelpoint: Kernelpoint, line: str) -> None:
    run = kernelpoint(*line.split())
    assert (run.code, run.err) == (0, "")
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
    "cut gzip": gzip.compress(bytes(range(256)) * 400, mtime=0)[:200],
    "sqlite head alone": b"SQLite format 3\x00" + bytes(84),
    "parquet magic alone": b"PAR1PAR1",
    "zip": b"PK\x03\x04" + bytes(60),
    "durations that no recording lasts": f"name,duration_ns\na,{2**62}\na,{2**62}\n".encode(),
}


@pytest.mark.parametrize("content", UNREADABLE)
def test_what_is_no_profile_is_3(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(UNREADABLE[content])
    assert f"error: {path}" in kernelpoint("summary", path).failed(3)
    assert f"error: {path}" in kernelpoint("summary", resnet, path).failed(3)
    assert "error: -" in kernelpoint("summary", "-", stdin=UNREADABLE[content]).failed(3)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"kind": "plan"}', '{"kind": "plan", "schema": 1}', "{"]
)
def test_what_is_no_plan_is_3(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, content: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content)
    for words in (("judge", path, resnet), ("export", path), ("sample", resnet, "--overrides", path)):
        assert str(path) in kernelpoint(*words).failed(3)


@pytest.mark.parametrize(
    "garbled",
    [
        *({"time": "soon"}, {"time": 3}, {"range": ""}, {"launches": "5:1"}, {"method": "nope"}),
        *({"min_duration": 0}, {"min_duration": "long"}, {"group_by": "zzz"}, {"columns": "duration=a"}),
    ],
    ids=str,
)
def test_a_plan_with_garbled_options_is_3(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, tmp_path: Path, garbled: dict[str, object]
) -> None:
    plan = json.loads(plan_file.read_text())
    plan["options"] |= garbled
    path = tmp_path / "garbled.json"
    path.write_text(json.dumps(plan))
    said = kernelpoint("judge", path, resnet).failed(3)
    assert kernelpoint("export", path, "-o", tmp_path / "made").code == 3
    assert list(tmp_path.iterdir()) == [path]
    ((name, value),) = garbled.items()
    assert re.search(f"options.{name}|--{name.replace('_', '-')} |'{value}'", said), said


@pytest.mark.parametrize("decision", ['{"key": "x"}', "3", '{"key": "no", "path": "", "decision": "keep"}'])
def test_what_is_no_override_is_refused(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, decision: str
) -> None:
    path = tmp_path / "overrides.json"
    path.write_text(f'{{"overrides": [{decision}]}}')
    run = kernelpoint("sample", resnet, "--overrides", path)
    assert run.code in {2, 3}
    assert run.failed(run.code)


def test_a_check_that_fails_is_4_after_the_results(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path
) -> None:
    words = ("judge", plan_file, resnet, *JSON)
    error = kernelpoint(*words).results["error"]
    assert kernelpoint(*words, "--fail-above", error * 1.01).code == 0
    run = kernelpoint(*words, "--fail-above", error * 0.99)
    assert (run.code, run.results["error"]) == (4, error)
    assert re.fullmatch(r"kernelpoint: error: the plan's error is [\d.]+ %, above [\d.]+ %\n", run.err)


def test_a_plan_of_other_launches_is_1(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, plan_file: Path, tmp_path: Path
) -> None:
    said = kernelpoint("judge", plan_file, gpt2).failed(1)
    assert {"5,600", "13,920"} <= set(said.split())
    plan = json.loads(plan_file.read_text())
    launch = next(stratum for stratum in plan["strata"] if stratum.get("pooled"))["launches"][0]
    launch["name"] = "another"
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    assert f"launch {launch['id']} " in kernelpoint("judge", path, resnet).failed(1)


def test_what_no_one_foresaw_is_1_and_keeps_its_traceback_in_a_file(
    kernelpoint: Kernelpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken\non two lines")

    monkeypatch.setattr("sampling.methods.description.method_names", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = kernelpoint("methods", "--format", "table", "-q")
    assert (run.code, run.err.count("\n")) == (1, 1)
    assert "internal error: RuntimeError: broken on two lines" in run.err
    (log,) = tmp_path.iterdir()
    assert str(log) in run.err
    assert "Traceback" in log.read_text()
