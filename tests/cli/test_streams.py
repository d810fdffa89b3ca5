"""What goes to stdout, to stderr and to files."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]
CommandLines = dict[str, Sequence[object]]

SHOWING = ("summary", "info", "groups", "histogram", "tree", "compare", "judge", "methods")
SILENT = (
    "summary",
    "info",
    "groups",
    "histogram",
    "tree",
    "sample",
    "trade-off",
    "judge",
    "methods",
    "convert",
)


@pytest.mark.parametrize("command", SILENT)
def test_says_nothing_on_stderr_without_a_reason(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    assert kernelpoint(*command_lines[command]).err == ""


def test_compare_says_nothing_on_stderr_but_of_methods_that_do(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    asked = ("compare", resnet, "--repeats", "5", "--methods")
    assert kernelpoint(*asked, "joint,root,stem,allegro,pks").err == ""
    assert all(
        line.startswith("kernelpoint: random: ") for line in kernelpoint(*asked, "random").err.splitlines()
    )


NOTED = {
    "open": ("open",),
    "demo": ("demo",),
    "unused options": ("tree", "--group-epsilon", "0.2", "--min-samples", "2", "--noise-floor", "0.1"),
    "several kernels": ("histogram", "--kernel", "volta"),
    "plan written": ("sample", "-o"),
}


@pytest.mark.parametrize("what", NOTED)
def test_notes_are_for_stderr_and_quiet_silences_them(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, what: str
) -> None:
    words: list[object] = [*NOTED[what]]
    words += [tmp_path / "plan.json"] if words[-1] == "-o" else []
    words += [] if what == "demo" else [resnet]
    loud, quiet = kernelpoint(*words), kernelpoint(*words, "--quiet")
    assert loud.code == quiet.code == 0
    assert loud.out == quiet.out
    assert loud.err.startswith("kernelpoint: ")
    assert loud.err.count("\n") == 1
    assert quiet.err == ""


def test_quiet_does_not_silence_errors(kernelpoint: Kernelpoint) -> None:
    kernelpoint("summary", "missing.sqlite", "--quiet").failed(3)


def test_unused_options_are_named(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("tree", resnet, "--method", "root", "--group-epsilon", "0.2", "--no-pool")
    note = kernelpoint(*words, "--noise-floor", "0.1").err
    assert "--group-epsilon, --no-pool: for the method joint alone; not used" in note
    assert "--min-samples" not in note
    assert "--noise-floor" not in note, "every bound of the simulated total looks at it"
    picks = ("--method", "single-iteration", "--set", "single-iteration.first=0")
    ends = ("--set", "single-iteration.last=55", "--set", "single-iteration.iterations=100")
    note = kernelpoint("sample", resnet, *picks, *ends, "--noise-floor", "0.1").err
    assert "--noise-floor: for methods that draw at random; not used" in note


@pytest.mark.parametrize("form", ["table", "json", "csv"])
@pytest.mark.parametrize("command", SHOWING)
def test_output_redirects_the_results(
    kernelpoint: Kernelpoint, command_lines: CommandLines, tmp_path: Path, command: str, form: str
) -> None:
    target = tmp_path / "results"
    words = (*command_lines[command], "--format", form)
    run = kernelpoint(*words, "-o", target)
    assert (run.code, run.out) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    written = target.read_bytes()
    if command == "compare":  # its seconds differ from run to run
        assert written.startswith(kernelpoint(*words).stdout[:60])
    else:
        assert written == kernelpoint(*words).stdout == kernelpoint(*words, "-o", "-").stdout


def test_sample_names_the_plan_and_still_shows_the_results(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    target = tmp_path / "plan.json"
    run = kernelpoint("sample", resnet, "-o", target, "--format", "json")
    assert run.results == kernelpoint("sample", resnet, "--format", "json").results
    assert json.loads(target.read_text())["kind"] == "plan"
    assert str(target) in run.err


def test_sample_to_stdout_moves_the_results_to_stderr(kernelpoint: Kernelpoint, resnet: Path) -> None:
    run = kernelpoint("sample", resnet, "-o", "-", "--format", "json")
    assert run.json["kind"] == "plan"
    assert json.loads(run.err)["command"] == "sample"


def test_convert_to_stdout_moves_the_results_to_stderr(kernelpoint: Kernelpoint, resnet: Path) -> None:
    run = kernelpoint("convert", resnet, "-o", "-", "--format", "json")
    assert run.stdout.startswith(b"PAR1")
    assert run.stdout.endswith(b"PAR1")
    assert json.loads(run.err)["results"] == {"launches": 5600, "bytes": len(run.stdout)}


def test_convert_says_what_it_wrote(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    target = tmp_path / "launches.parquet"
    run = kernelpoint("convert", resnet, "-o", target, "--format", "json")
    assert run.results == {"launches": 5600, "bytes": target.stat().st_size}


def test_export_names_a_folder(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    drawn = sum(len(stratum["launches"]) for stratum in json.loads(plan_file.read_text())["strata"])
    run = kernelpoint("export", plan_file, "--to", "csv", "-o", folder, "--format", "json")
    assert run.results["files"] == [str(folder / name) for name in ("launches.csv", "plan.json")]
    assert run.results["launches"] == drawn
    assert "count from 0" in run.err
    shown = kernelpoint("export", plan_file, "--to", "csv", "-o", "-")
    assert shown.stdout == (folder / "launches.csv").read_bytes()
    strata = [row["stratum"] for row in shown.csv]
    assert len(set(strata[: len(set(strata))])) == len(set(strata)), "first one of each stratum"


def test_export_overwrites_only_when_told(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "launches.csv"
    target.write_text("mine")
    words = ("export", plan_file, "-o", tmp_path)
    assert "--force" in kernelpoint(*words).failed(2)
    assert target.read_text() == "mine"
    assert kernelpoint(*words, "--force").code == 0
    assert target.read_text() != "mine"


WRITING = {
    "summary": ("summary",),
    "sample": ("sample", "--judge", "0", "--force"),
    "convert": ("convert", "--force"),
}


@pytest.mark.parametrize("command", WRITING)
def test_a_failure_leaves_the_old_file_and_nothing_else(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, command: str
) -> None:
    target = tmp_path / "result"
    target.write_text("old")
    kernelpoint(*WRITING[command], resnet, "-o", target, "--include", "no such kernel").failed(4)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


@pytest.mark.parametrize("command", WRITING)
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(
    kernelpoint: Kernelpoint,
    resnet: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    target = tmp_path / "result"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert "No space left" in kernelpoint(*WRITING[command], resnet, "-o", target).err
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


@pytest.mark.parametrize("command", WRITING)
def test_an_existing_file_is_replaced_whole(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, command: str
) -> None:
    target = tmp_path / "result"
    target.write_text("old")
    with target.open() as reader:
        assert kernelpoint(*WRITING[command], resnet, "-o", target).code == 0
        assert reader.read() == "old"  # another file took its name
    assert "old" not in target.read_bytes().decode(errors="replace")[:10]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask


def test_a_link_is_followed(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    assert kernelpoint("methods", "-o", link).code == 0
    assert link.is_symlink()
    assert "root" in target.read_text()


def test_a_pipe_is_written_to_and_never_replaced(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert kernelpoint("methods", "--format", "csv", "-o", pipe).code == 0
    reader.join(120)
    assert received == [kernelpoint("methods", "--format", "csv").stdout]
    assert pipe.is_fifo()


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("where", ["a folder", "in no folder", "below a file", "in a system folder"])
def test_what_cannot_be_written_is_one_line(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, command: str, where: str
) -> None:
    (tmp_path / "file").touch()
    target = {
        "a folder": tmp_path,
        "in no folder": tmp_path / "none" / "result",
        "below a file": tmp_path / "file" / "result",
        "in a system folder": Path("/proc/result"),  # not even root can write there
    }[where]
    run = kernelpoint(*WRITING[command], resnet, "-o", target)
    line = run.failed(1)
    assert str(target) in line or str(target.parent) in line
    assert ".result." not in line
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
