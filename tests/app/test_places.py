"""Where nothing can be written, another place is asked for before anything is lost."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from sampling.plan.request import PlanRequest
from sampling.splitting.tree import Verdict
from tests.app.driving import App, Running, draft_in, opened, planned, printed, screen_text, wait_for
from tests.app.plan_driving import form_of, running
from tui.app import plan_details, wording
from tui.app import planning as overrides_file
from tui.app import view as page
from tui.app.option_form import OptionForm
from tui.options import files as places
from tui.options.look import OpenOptions

ROOT = OpenOptions(request=PlanRequest(method="root"))


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A small profile, away from the current folder."""
    folder = tmp_path / "profiles"
    folder.mkdir()
    rows = [f"k{each % 3},{(1 + each % 3) * 100_000 + each * 7919 % 9_973}" for each in range(900)]
    (folder / "table.csv").write_text("\n".join(["name,duration_ns", *rows, ""]))
    return str(folder / "table.csv")


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder takes no file, whoever runs the tests; returns the home folder, which does."""
    here, home = Path.cwd(), tmp_path / "home"
    home.mkdir()
    written = overrides_file.write_text

    def refused(path: Path) -> None:
        if path.absolute().parent == here:
            raise PermissionError(EACCES, "Permission denied", str(path))

    def write_text(text: str, path: Path) -> None:
        refused(path)
        written(text, path)

    def access(path: Any, mode: int) -> bool:
        return Path(path).absolute() != here and real_access(path, mode)

    real_access = os.access
    monkeypatch.setattr(overrides_file, "write_text", write_text)
    monkeypatch.setattr(plan_details, "write_text", write_text)
    monkeypatch.setattr(page, "write_text", write_text)
    monkeypatch.setattr(places.os, "access", access)
    monkeypatch.setenv("HOME", str(home))
    return home


def words_of(app: App) -> str:
    return " ".join(screen_text(app).split())


async def decide(pilot: Running, app: App) -> None:
    app.decide({draft_in(app).counts.groups[0].key: {"": Verdict.KEEP}}, "root")
    await planned(pilot, app)


async def typed(pilot: Running, text: str | Sequence[str]) -> None:
    await pilot.press("ctrl+a", "ctrl+k", *text, "enter")


async def test_a_place_that_takes_no_file_is_refused_and_stays_to_be_edited(
    table: str, read_only: Path
) -> None:
    async with running(table, options=ROOT) as (app, pilot):
        await pilot.press("S")
        await wait_for(pilot, lambda: "Save the plan" in words_of(app), "it asks")
        assert "File: plan.json" in screen_text(app)
        await typed(pilot, "plan.json")
        await wait_for(pilot, lambda: "plan.json: Permission denied" in words_of(app), "not here")
        await typed(pilot, "~/mine.json")
        await wait_for(pilot, (read_only / "mine.json").exists, "it is there")
        await wait_for(pilot, lambda: app.focused is form_of(app), "the prompt is gone")


async def test_where_the_folder_takes_no_file_that_is_said_and_decisions_are_kept(
    table: str, read_only: Path
) -> None:
    async with opened(table, options=ROOT) as (app, pilot):
        await pilot.press("w")
        await wait_for(pilot, lambda: "not written: " in words_of(app), "the pane's text is not")
        await decide(pilot, app)
        await pilot.press("Y")
        await wait_for(pilot, lambda: "split decisions are not written" in words_of(app), "nor are they")
        assert app.clipboard == ""
        kept = overrides_file.kept_decisions(app.session)
        assert kept.startswith(f"your split decisions are in {read_only}")


async def test_quitting_writes_no_file_and_says_what_was_not_saved(table: str, tmp_path: Path) -> None:
    before = set(tmp_path.rglob("*"))
    async with opened(table, options=ROOT) as (app, pilot):
        await decide(pilot, app)
        await pilot.press("q")
        await wait_for(pilot, lambda: app.return_code == 0, "it is left")
    said = wording.farewell(app.session)
    assert said is not None
    words, command = said.split("\n")
    assert words.endswith("; 1 split decision of yours was not saved (S and Y do), and not in the command")
    assert "--overrides" not in command
    assert set(tmp_path.rglob("*")) == before


async def test_the_line_at_quitting_is_a_command_that_makes_the_same_plan(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder; with 'marks'"
    folder.mkdir()
    monkeypatch.chdir(folder)
    named = folder / "t ab$le.csv"
    named.write_text(Path(table).read_text())
    options = OpenOptions(
        slowdown=1e6, request=PlanRequest(method="root", epsilon=0.02, exclude=("k[0]", "no 'such"), seed=4)
    )
    async with running(named.name, options=options) as (app, pilot):
        await decide(pilot, app)
        await pilot.press("S")
        await typed(pilot, "saved.json")
        await wait_for(pilot, Path("saved.json").exists, "it is saved")
        await pilot.press("q")
    said = wording.farewell(app.session)
    assert said is not None
    words, line = said.split("\n")
    assert words.startswith("root")
    assert shlex.split(line)[:2] == ["kernelpoint", "sample"]
    assert "--overrides saved.json" in line
    printed(line, 80, folder)
    ours, theirs = (json.loads(Path(name).read_text()) for name in ("saved.json", "plan.json"))
    assert ours["strata"] == theirs["strata"]
    assert ours["overrides"] == theirs["overrides"]
    assert ours["overrides"]


async def test_tab_completes_every_path_and_leaves_no_field(table: str) -> None:
    Path("sub folder").mkdir()
    Path("sub folder/plan-a.json").touch()
    fields = (
        ("3", "S", "sub folder/plan-a.json"),
        ("3", "e", "sub folder/plan-a.json"),
        ("3", "o", r"sub\ folder/plan-a.json"),
        ("5", "o", r"sub\ folder/plan-a.json"),
        ("7", "o", "sub folder/plan-a.json"),
        ("8", "o", r"sub\ folder/plan-a.json"),
        ("1", "F", r"sub\ folder/plan-a.json"),
    )
    async with running(table, options=ROOT) as (app, pilot):
        for view, key, wanted in fields:
            await pilot.press(view, key)
            if key == "F":
                app.screen.query_one(OptionForm).go_to("features")
                await pilot.press("enter")
            await wait_for(pilot, lambda: isinstance(app.focused, Input), "it asks")
            field = app.focused
            assert isinstance(field, Input)
            await pilot.press("ctrl+a", "ctrl+k", "s", "tab", "tab", "tab")
            assert (field.value, app.focused) == (wanted, field), key
            await pilot.press("ctrl+a", "ctrl+k", "z", "tab")
            assert (field.value, app.focused) == ("z", field), key
            await pilot.press("escape", "escape")
