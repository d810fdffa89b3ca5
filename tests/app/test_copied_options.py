"""What `kernelpoint open` was given for its own output is not of the commands that are copied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.driving import opened, planned, printed, view_of, wait_for
from tui.app.compare import CompareScreen
from tui.app.difference import DifferenceScreen
from tui.app.plan.screen import PlanScreen
from tui.app.split_tree import SplitTreeScreen
from tui.app.views import VIEWS
from tui.options.choices import ColorMode, OutputFormat
from tui.options.look import OpenOptions

GIVEN = OpenOptions(format=OutputFormat.JSON, output="somewhere.txt", color=ColorMode.ALWAYS)


def is_ready(screen: object) -> bool:
    """Whether there is something to copy."""
    if isinstance(screen, PlanScreen):
        return screen.details is not None and not screen.is_working
    if isinstance(screen, SplitTreeScreen):
        return screen.looked_at is not None
    if isinstance(screen, CompareScreen):
        return screen.findings is not None and screen.findings.ending is not None
    if isinstance(screen, DifferenceScreen):
        return screen.is_settled
    return True


async def test_the_copied_command_prints_the_copied_text(gpt: str, tmp_path: Path) -> None:
    copies: dict[str, tuple[str, str]] = {}
    async with opened(gpt, options=GIVEN, before="@:1000") as (app, pilot):
        for view in VIEWS:
            await app.action_view(view.name)
            screen = view_of(app)
            await wait_for(pilot, lambda: is_ready(screen), "all is there")  # noqa: B023
            await pilot.press("tab")
            copies[view.name] = screen.pane_text().text, screen.command()
    for view_name, (text, command) in copies.items():
        assert printed(command, 80, tmp_path) == text, view_name


async def test_a_tree_that_lags_behind_the_session_is_copied_as_it_stands(
    gpt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gpt, view="Split tree") as (app, pilot):
        screen = view_of(app)
        await wait_for(pilot, lambda: is_ready(screen), "the tree is there")
        monkeypatch.setattr(SplitTreeScreen, "_make_changes", lambda *_: None)
        app.plan(replace(app.session.options, epsilon=0.002, seed=3))
        await planned(pilot, app)
        text, command = screen.pane_text().text, screen.command()
    assert "--epsilon" not in command
    assert printed(command, 80, tmp_path) == text
