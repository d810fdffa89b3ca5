"""Data keep every character in files and pipes; on a terminal none of them steers it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Kernelpoint, kernelpoint
from tests.terminal.pseudo_terminal import Terminal
from tui.terminal.printable import data_for_terminal

__all__ = ["kernelpoint"]

NAME = "=cmd()|' /C calc'!A0 \x1b[31mred\x9b2J \u202etxt.exe \x07\u200b\U000e0041 end"
HOSTILE = "\x1b\x9b\x07\u202e\u200b\U000e0041"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["Start (ns)", "Duration (ns)", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Name"]
        )
        writer.writerows([[1000 * at, 100 + at % 7, 1, 1, 1, 32, 1, 1, NAME] for at in range(40)])
    return path


@pytest.mark.parametrize("form", ["json", "table"])
def test_nothing_steers_the_terminal(hostile: Path, form: str) -> None:
    terminal = Terminal("groups", str(hostile), "--format", form, "--color", "never", "-q")
    assert terminal.leave() == 0
    shown = terminal.output.decode()
    assert [mark for mark in HOSTILE if mark in shown] == []
    # A table that the terminal's width is too small for has a label in place of the key.
    assert ("=cmd" if form == "table" else "=cmd()") in shown
    if form == "json":
        assert json.loads(shown)["results"][0]["name"] == NAME


def test_nor_does_a_product_on_stdout(hostile: Path, tmp_path: Path, kernelpoint: Kernelpoint) -> None:
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", hostile, "-o", plan).code == 0
    terminal = Terminal("export", str(plan), "--to", "csv", "-o", "-", "-q")
    assert terminal.leave() == 0
    shown = terminal.output.decode()
    assert [mark for mark in HOSTILE if mark in shown] == []
    assert "=cmd()" in shown


def test_a_pipe_and_a_file_get_what_there_is(hostile: Path, tmp_path: Path, kernelpoint: Kernelpoint) -> None:
    rows = kernelpoint("groups", hostile, "--format", "csv").out
    assert next(csv.DictReader(io.StringIO(rows)))["name"] == NAME
    assert kernelpoint("groups", hostile, "--format", "jsonl").jsonl[0]["name"] == NAME
    kernelpoint("groups", hostile, "--format", "csv", "-o", tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == rows


def test_json_for_a_terminal_is_the_same_json() -> None:
    text = json.dumps([NAME, "plain\tü 中\n"], ensure_ascii=False, indent=1) + "\n"
    shown = data_for_terminal(text)
    assert json.loads(shown) == json.loads(text)
    assert data_for_terminal("a,b\r\n1\t2\n") == "a,b\r\n1\t2\n"
    assert data_for_terminal("1\r2\n") == "1\\u000d2\n"
