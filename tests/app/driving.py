"""The app under a pilot: what the tests of all views need."""

from __future__ import annotations

import asyncio
import io
import os
import re
import shlex
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, chdir, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot
from textual.strip import Strip

from sampling.plan.draft import Draft
from tests.terminal.pseudo_terminal import PATIENCE_SECONDS
from tui import cli
from tui.app.app import KernelPointApp
from tui.app.difference import DifferenceScreen
from tui.app.groups import TableColumns
from tui.app.plan import PlanScreen
from tui.app.running import open_session
from tui.app.speedups import SpeedupsScreen
from tui.app.split_tree import SplitTreeScreen
from tui.app.timeline import TimelineScreen
from tui.app.view import ViewScreen
from tui.app.views import FIRST_VIEW, VIEWS
from tui.app.widgets import Chart
from tui.charts.grid import plain
from tui.options.look import OpenOptions
from tui.options.shared import MethodOptions

GOLDEN = Path(__file__).parent / "golden"
SIZES = [(80, 24), (120, 40), (60, 15), (200, 60)]
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 0.2

App = KernelPointApp
Running = Pilot[None]


async def wait_for(pilot: Running, predicate: Callable[[], bool], description: str) -> None:
    """Let the app work until something holds."""
    give_up, pause = time.monotonic() + PATIENCE_SECONDS, _FIRST_PAUSE_SECONDS
    app: Any = pilot.app
    while not predicate():
        assert app.failure is None, f"the app ended before {description}: {app.failure!r}"
        assert time.monotonic() < give_up, f"never: {description}\n{screen_text(app)}"
        # Most predicates render the screen: asked too often, they take the time of what they wait for.
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)


def drawn(chart: Chart) -> str:
    """A chart without colour."""
    return plain(chart.grid)


def strips_of(app: Any) -> list[Strip]:
    """The rows of the screen; Textual has no public name for them."""
    strips: list[Strip] = app.screen._compositor.render_strips()
    return strips


def screen_text(app: Any) -> str:
    """The screen as text, without blanks at the ends of rows."""
    return "\n".join(strip.text.rstrip() for strip in strips_of(app))


def draft_in(app: App) -> Draft:
    """The draft that the app shows."""
    assert app.session.draft is not None
    return app.session.draft


@asynccontextmanager
async def opened(
    path: str | None,
    size: tuple[int, int] = (80, 24),
    *,
    view: str = FIRST_VIEW,
    ascii_only: bool = False,
    options: MethodOptions | None = None,
    **changes: Any,
) -> AsyncIterator[tuple[App, Running]]:
    """The app in one of its views, its profile loaded and what the view draws at once drawn.

    `changes` are other fields of the session.
    """
    profiles = () if path is None else (path,)
    session = open_session(profiles, options or OpenOptions())
    app = KernelPointApp(replace(session, ascii_only=ascii_only, **changes), view=view)
    wanted = next(each.screen for each in VIEWS if each.name == view)
    async with app.run_test(size=size, notifications=True) as pilot:
        await wait_for(pilot, lambda: isinstance(app.screen, wanted), f"the view {view} opens")
        await wait_for(pilot, lambda: bool(app.screen.query("#plan")), "its panes are there")
        # Where something is said at once, it stands in the row of the keys.
        await wait_for(
            pilot,
            lambda: bool(app.failure or app._notifications or "q Quit" in screen_text(app)),
            "so are its keys",
        )
        await pilot.pause()
        yield app, pilot


def view_of(app: App) -> ViewScreen:
    """The view on the screen."""
    assert isinstance(app.screen, ViewScreen)
    return app.screen


def is_drawn(app: App) -> bool:
    """Whether the view shows what the session says."""
    screen = view_of(app)
    if isinstance(screen, PlanScreen):
        return screen.details is not None and not screen.is_working
    if isinstance(screen, TimelineScreen | DifferenceScreen | SpeedupsScreen):
        return screen.is_settled
    if isinstance(screen, SplitTreeScreen):
        return screen.looked_at is not None and screen.is_settled
    return True


async def planned(pilot: Running, app: App) -> None:
    """Wait for the plan of the options asked for."""
    await wait_for(pilot, lambda: app.session.doing is None, "the plan is made")


def colours(app: App) -> set[str]:
    """Every colour on the screen."""
    found = set()
    for strip in strips_of(app):
        for segment in strip:
            for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                if colour is not None and not colour.is_default:
                    found.add(colour.name)
    return found


def printed(command: str, width: int, folder: Path) -> str:
    """What a copied command line prints on stdout in a terminal of this width, but for what to type next."""
    program, *arguments = shlex.split(command)
    assert program == "kernelpoint"
    return printed_by(arguments, width, folder)


def printed_by(arguments: list[str], width: int, folder: Path) -> str:
    """What these arguments print, but for what to type next, in this process: another is slow to start."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True) for _ in range(2)
    )
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.dict(os.environ, {"COLUMNS": str(width)}),
        chdir(folder),
    ):
        code = cli.run(arguments)
    assert code == 0, err.buffer.getvalue().decode()
    return re.sub(r"(?m)^Next: .*\n", "", out.buffer.getvalue().decode())


async def resized(app: App, pilot: Running, width: int, height: int) -> None:
    """Make the window another size."""
    await pilot.resize_terminal(width, height)
    await wait_for(pilot, lambda: app.size == (width, height) == app.screen.size, "the screen follows")
    await pilot.pause()


def assert_golden(name: str, text: str) -> None:
    """The text is as it was; to accept another look, delete the golden file and run the test twice."""
    golden = GOLDEN / name
    if not golden.exists():
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
        raise AssertionError(f"{golden.name} was not there; written: look at it")
    assert text == golden.read_text(encoding="utf-8")


def row_texts(draft: Draft, group: int, columns: TableColumns) -> dict[str, str]:
    """What stands in each column of a kernel group's row in view 1, by the column's name."""
    row, texts = "".join(text for text, _ in columns.row(group)), {}
    for column in columns.columns:
        texts[column.name], row = row[: column.width], row[column.width + columns.gap :]
    return texts
