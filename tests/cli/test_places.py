"""Where a command may write, and over what: checked before anything is read."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tui.options import files as places
from tui.options.files import check_file
from tui.registry import COMMANDS

Kernelpoint = Callable[..., Any]

# What writes a product, with the kind of it, on a profile or a plan that is not there: nothing may be read.
WRITES = {
    "sample": ("sample", "missing", "-o"),
    "top-up": ("estimate", "missing", "missing", "--target", "0.1", "--top-up"),
    "convert": ("convert", "missing", "-o"),
    "report": ("report", "missing", "-o"),
    "results": ("groups", "missing", "-o"),
}
FOLDERS = {
    "export": ("export", "missing", "-o"),
    "pictures": ("report", "missing", "--svg"),
    "models": ("scale", "derive", "missing", "-o"),
}


@pytest.fixture(scope="module")
def products(kernelpoint: Kernelpoint, resnet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of each that is written, and of each that is not."""
    folder = tmp_path_factory.mktemp("products")
    quick = ("--method", "random", "--judge", "0")
    assert kernelpoint("sample", resnet, *quick, "-o", folder / "plan.json").code == 0
    assert kernelpoint("convert", resnet, "-o", folder / "own.parquet").code == 0
    for name in ("own.html", "own.md"):
        assert kernelpoint("report", resnet, *quick, "--charts", "0", "-o", folder / name).code == 0
    plan = json.loads((folder / "plan.json").read_text())
    plan["topped_up"] = {"rounds": 1, "target": 0.02}
    (folder / "larger.json").write_text(json.dumps(plan))
    (folder / "decisions.json").write_text('{"kind": "overrides", "overrides": []}')
    (folder / "cut.json").write_bytes((folder / "plan.json").read_bytes()[:2000])
    (folder / "other.html").write_text("<!DOCTYPE html><p>KernelPoint is what my thesis is about")
    (folder / "other.md").write_text("# My thesis")
    (folder / "other.parquet").write_bytes(b"PAR1 of somebody else's PAR1")
    (folder / "empty").touch()
    return folder


def said_of(kernelpoint: Kernelpoint, *words: object) -> str:
    """What a command that cannot read what it is given says: of the place, or of that."""
    run = kernelpoint(*words)
    assert run.code in {1, 2, 3}
    said: str = run.failed(run.code)
    return said


@pytest.mark.parametrize(
    ("command", "name", "refusal"),
    [
        *(("sample", name, None) for name in ("plan.json", "empty", "new.json")),
        *(("sample", name, "exists and is no plan") for name in ("own.md", "decisions.json", "cut.json")),
        *((command, "larger.json", "is a plan that was topped up") for command in ("sample", "results")),
        ("top-up", "larger.json", "is a plan that was topped up"),
        ("top-up", "plan.json", None),
        ("top-up", "other.md", "exists and is no plan"),
        ("convert", "own.parquet", None),
        ("convert", "other.parquet", "exists and is no Parquet profile"),
        ("convert", "plan.json", "is a plan"),
        *(("report", name, None) for name in ("own.html", "own.md", "new.md")),
        *(("report", name, "exists and is no report") for name in ("other.html", "other.md")),
        *(("results", name, None) for name in ("other.md", "own.html", "empty", "decisions.json")),
        ("results", "plan.json", "is a plan"),
        ("results", "own.parquet", "exists and is no text"),
    ],
)
def test_only_its_own_kind_is_replaced_unasked(
    kernelpoint: Kernelpoint, products: Path, command: str, name: str, refusal: str | None
) -> None:
    """A report whose suffix is of none is refused in any case, so those are asked of reports alone."""
    words = (*WRITES[command], products / name)
    forced = said_of(kernelpoint, *words, "--force")
    assert str(products) not in forced, "the place is right, and what is to be read is missing"
    asked = said_of(kernelpoint, *words)
    if refusal is None:
        assert asked == forced
    else:
        flag = WRITES[command][-1]
        assert f"{flag} {products / name} {refusal}" in asked
        assert "give another name, or --force to replace it" in asked


def test_the_plan_that_is_replaced_is_named(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    words = ("sample", resnet, "--method", "random", "--judge", "0", "-o", path := tmp_path / "plan.json")
    kernelpoint(*words, "--seed", "7")
    run = kernelpoint(*words)
    was = "another: random, epsilon 0.05, seed 7, of resnet50-like.sqlite"
    assert run.err.endswith(f"kernelpoint: plan written to {path}, in place of {was}\n")
    path.write_text('{"kind": "plan"}')
    assert "in place of another, which cannot be read" in kernelpoint(*words).err


def test_a_plan_that_was_topped_up_is_replaced_when_that_is_asked_for(
    kernelpoint: Kernelpoint, resnet: Path, products: Path, tmp_path: Path
) -> None:
    own = tmp_path / "larger.json"
    own.write_bytes((products / "larger.json").read_bytes())
    words = ("sample", resnet, "--method", "random", "--judge", "0", "-o", own)
    assert "was topped up" in kernelpoint(*words).failed(2)
    assert own.read_bytes() == (products / "larger.json").read_bytes()
    assert kernelpoint(*words, "--force").code == 0
    assert "topped_up" not in json.loads(own.read_text())


@pytest.mark.parametrize("command", [*WRITES, *FOLDERS])
@pytest.mark.parametrize("place", ["no/where.md", "folder.md", "loop.md", "loop.md/x.md", "n" * 300 + ".md"])
def test_a_bad_place_is_refused_before_anything_is_read(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str, place: str
) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    said = said_of(kernelpoint, *(WRITES | FOLDERS)[command], tmp_path / place)
    if command in FOLDERS and place in {"no/where.md", "folder.md"}:
        assert str(tmp_path) not in said, "a folder is made, and may be there"
    else:
        assert str(tmp_path) in said


@pytest.mark.parametrize("command", COMMANDS)
def test_the_place_is_the_first_thing_that_is_looked_at(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str
) -> None:
    given = [field for field in fields(COMMANDS[command].options) if field.metadata.get("argument")]
    words = (*command.split(), *("missing" for _ in given), "-o", tmp_path / ("n" * 300))
    assert "cannot be written (File name too long)" in kernelpoint(*words).failed(1)


def test_the_folder_of_an_export_is_checked_where_it_is_not_named(
    kernelpoint: Kernelpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("csv-export").write_text("mine")
    assert "csv-export is a file, a folder is meant" in kernelpoint("export", "missing").failed(2)


def test_a_picture_of_somebody_elses_is_not_replaced(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    words = ("report", resnet, "--method", "random", "--judge", "0", "--charts", "0", "--svg", tmp_path)
    other = tmp_path / "over-the-run.svg"
    other.write_text("<svg/>")
    assert f"{other} exists; give another folder, or --force" in kernelpoint(*words).failed(2)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["<svg/>"]
    assert kernelpoint(*words, "--force").code == 0
    assert kernelpoint(*words, "--quiet").code == 0, "they are those of the last time"


def test_what_is_no_file_is_written_to_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert check_file(tmp_path / "pipe") == tmp_path / "pipe"
    assert check_file(Path("/dev/null")) == Path("/dev/null")
    with socket.socket(socket.AF_UNIX) as bound:
        monkeypatch.chdir(tmp_path)
        bound.bind("socket")
        with pytest.raises(OSError, match="a disk or a socket"):
            check_file(Path("socket"))


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_what_may_not_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    """Whoever runs the tests: the superuser may write anywhere."""
    own = tmp_path / "own"
    own.touch()
    monkeypatch.setattr(places.os, "access", lambda path, _: path != (own if closed == "file" else tmp_path))
    with pytest.raises(PermissionError):
        check_file(own)


@pytest.mark.parametrize("words", [*WRITES.values(), *FOLDERS.values()], ids=[*WRITES, *FOLDERS])
def test_links_that_lead_to_each_other_are_refused(
    kernelpoint: Kernelpoint, words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    error = kernelpoint(*words, tmp_path / "one").failed(1)
    assert f"{tmp_path / 'one'}: cannot be written" in error
