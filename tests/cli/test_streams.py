"""What goes to stdout, to stderr and to files."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import JSON, Kernelpoint

CommandLines = dict[str, Sequence[object]]


SHOWING = ("summary", "info", "groups", "histogram", "tree", "compare", "judge", "methods")
SILENT = (*SHOWING, "sample", "trade-off", "convert")


@pytest.mark.parametrize("command", SILENT)
def test_says_nothing_on_stderr_without_a_reason(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    few = ("--methods", "joint,root,stem") if command == "compare" else ()
    assert kernelpoint(*command_lines[command], *few).err == ""


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


@pytest.mark.parametrize("form", ["table", "csv"])
@pytest.mark.parametrize("command", sorted({*SHOWING} - {"compare"}))
def test_output_redirects_the_results(
    kernelpoint: Kernelpoint, command_lines: CommandLines, tmp_path: Path, command: str, form: str
) -> None:
    target = tmp_path / "results"
    words = (*command_lines[command], "--format", form)
    run = kernelpoint(*words, "-o", target)
    assert (run.code, run.out) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    assert target.read_bytes() == kernelpoint(*words).stdout == kernelpoint(*words, "-o", "-").stdout


def test_a_product_on_stdout_moves_the_results_to_stderr(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    target = tmp_path / "plan.json"
    named, piped = (kernelpoint("sample", resnet, "-o", place, *JSON) for place in (target, "-"))
    assert named.results == kernelpoint("sample", resnet, *JSON).results
    assert str(target) in named.err
    assert json.loads(target.read_text()) == piped.json
    assert json.loads(piped.err)["results"] == named.results
    run = kernelpoint("convert", resnet, "-o", "-", *JSON)
    assert (run.stdout[:4], run.stdout[-4:]) == (b"PAR1", b"PAR1")
    assert json.loads(run.err)["results"] == {"launches": 5600, "bytes": len(run.stdout)}


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
