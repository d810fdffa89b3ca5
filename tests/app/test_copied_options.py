"""What `kernelpoint open` was given for its own output is not of the commands that are copied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.driving import opened, planned, printed, view_of, wait_for
from tui.app.compare.screen import CompareScreen
from tui.app.plan.screen import PlanScreen
from tui.app.split_tree.screen import SplitTreeScreen
from tui.app.views import VIEWS
from tui.options.choices import ColorMode, OutputFormat
from tui.options.commands import OpenOptions

GIVEN = {
    "a data format": OpenOptions(format=OutputFormat.JSON),
    "a file": OpenOptions(output="somewhere.txt"),
    "colour in pipes": OpenOptions(color=ColorMode.ALWAYS),
}


def is_ready(screen: object) -> bool:
    """Whether there is something to copy."""
    if isinstance(screen, PlanScreen):
        return screen.details is not None and not screen.is_working
    if isinstance(screen, SplitTreeScreen):
        return screen.looked_at is not None
    if isinstance(screen, CompareScreen):
        return screen.findings is not None and screen.findings.ending is not None
    return True


@pytest.mark.parametrize("options", GIVEN.values(), ids=list(GIVEN))
@pytest.mark.parametrize("view", [view.name for view in VIEWS])
async def test_the_copied_command_prints_the_copied_text(
    gpt: str, tmp_path: Path, view: str, options: OpenOptions
) -> None:
    async with opened(gpt, view=view, options=options) as (app, pilot):
        screen = view_of(app)
        await wait_for(pilot, lambda: is_ready(screen), "all is there")
        await pilot.press("tab")
        text, command = screen.pane_text().text, screen.command()
    assert printed(command, 80, tmp_path) == text


async def test_a_tree_that_lags_behind_the_session_is_copied_as_it_stands(
    gpt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gpt, view="Split tree") as (app, pilot):
        screen = view_of(app)
        await wait_for(pilot, lambda: is_ready(screen), "the tree is there")
        monkeypatch.setattr(SplitTreeScreen, "_make_changes", lambda _: None)
        app.plan(replace(app.session.options, epsilon=0.002, seed=3))
        await planned(pilot, app)
        text, command = screen.pane_text().text, screen.command()
    assert "--epsilon" not in command
    assert printed(command, 80, tmp_path) == text
