"""View 3 under a pilot: what its tests share."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widget import Widget

from sampling.splitting.tree import Overrides
from tests.app.driving import App, Running, draft_in, drawn, opened, planned, printed, screen_text, wait_for
from tui.app import plan_details, planning
from tui.app.option_form import OptionField, OptionForm, OptionInput
from tui.app.plan import PlanScreen
from tui.app.plan_details import PlanDetails, PlanPane
from tui.app.state import Session
from tui.app.widgets import Chart
from tui.options.plan import SampleOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.profile import finding_blocks


@asynccontextmanager
async def running(
    path: str, size: tuple[int, int] = (80, 24), **given: Any
) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 3, its plan drawn, judged and traded."""
    async with opened(path, size, view="Plan", **given) as (app, pilot):
        await settled(app, pilot)
        yield app, pilot


async def settled(app: App, pilot: Running) -> None:
    """Wait until all is known that is asked for."""
    await planned(pilot, app)
    await wait_for(pilot, lambda: screen_of(app).details is not None, "the plan is drawn")
    await wait_for(
        pilot, lambda: details_of(app).draft is app.session.draft and is_done(app), "all is computed"
    )


def is_done(app: App) -> bool:
    screen = screen_of(app)
    return details_of(app).is_judged and not screen.is_working


def screen_of(app: App) -> PlanScreen:
    (screen,) = (each for each in app.screen_stack if isinstance(each, PlanScreen))
    return screen


def details_of(app: App) -> PlanDetails:
    details = screen_of(app).details
    assert details is not None
    return details


def details_without_app(profile: str, overrides: Overrides | None = None, **options: Any) -> PlanDetails:
    """The drawn and judged plan of these options."""
    asked = SampleOptions(profiles=(profile,), **options)
    draft = planning.load_draft(asked, overrides or {}, lambda *_: None)
    session = Session(asked, draft=draft, overrides=overrides or {})
    (details,) = plan_details.judged(plan_details.drawn(session, draft, None), lambda *_: None)
    return details


def content_of(app: App, pane: PlanPane) -> Widget:
    return screen_of(app).content(pane)


def form_of(app: App) -> OptionForm:
    return app.screen.query_one(OptionForm)


def chart_text(app: App) -> str:
    return drawn(app.screen.query_one(Chart))


async def go_to(pilot: Running, app: App, name: str) -> OptionField:
    """Move the cursor of the form to an option."""
    form_of(app).go_to(name)
    await pilot.pause()
    return form_of(app).field


async def retype(pilot: Running, app: App, name: str, text: str) -> None:
    """Type another value and take it."""
    await go_to(pilot, app, name)
    await pilot.press("enter")
    await wait_for(pilot, lambda: isinstance(app.focused, OptionInput), "a field to type in")
    await pilot.press("ctrl+a", "ctrl+k", *text, "enter")


def gated(
    monkeypatch: pytest.MonkeyPatch, points: int
) -> tuple[threading.Semaphore, list[float], Callable[[], None]]:
    """Let only so many points of a trade-off be computed; more by releasing the semaphore."""
    gate, begun, real = threading.Semaphore(points), [], plan_details.trade_off

    def slowly(
        counts: Any, method: Any, target: Any, seed: Any, epsilons: Any, **given: Any
    ) -> Iterator[Any]:
        progress = given["progress"]
        for epsilon in epsilons:
            begun.append(epsilon)
            while not gate.acquire(timeout=0.01):
                progress(0, 1, "waiting")
            yield from real(counts, method, target, seed, [epsilon], **given)

    monkeypatch.setattr(plan_details, "trade_off", slowly)
    return gate, begun, lambda: gate.release(100)


async def focus_on(pilot: Running, app: App, pane: PlanPane) -> None:
    """Bring a pane up and give it the focus."""
    while not (pane is PlanPane.FIGURES or screen_of(app).is_in_sight(pane)):
        await pilot.press("t")
        await pilot.pause()
    await settled(app, pilot)
    if pane is not PlanPane.FIGURES:
        content_of(app, pane).focus()
        await wait_for(pilot, lambda: screen_of(app).focused_pane is pane, "the pane has the focus")


async def check_round_trip(pilot: Running, app: App, width: int) -> str:
    """What is copied is what the copied command prints; return that command."""
    await pilot.press("Y")
    await wait_for(pilot, lambda: app.clipboard.startswith("kernelpoint "), "the command is copied")
    command = app.clipboard
    await pilot.press("y")
    await wait_for(pilot, lambda: app.clipboard != command, "the text is copied")
    assert app.clipboard == printed(command, width, Path.cwd())
    return command


def pane_rows(app: App, pane: PlanPane) -> list[str]:
    """What a pane shows below its title."""
    region = content_of(app, pane).region
    rows = screen_text(app).splitlines()[region.y : region.bottom]
    return [row[region.x : region.right].rstrip() for row in rows]


def shows_findings(app: App) -> bool:
    """Whether the pane of findings has them from the first on, in the words of `sample`."""
    rows, width = pane_rows(app, PlanPane.FINDINGS), content_of(app, PlanPane.FINDINGS).size.width
    words = canvas_text(finding_blocks(draft_in(app)), Canvas(width, color=False)).splitlines()
    seen = min(len(rows), len(words))
    return seen > 0 and [row[:width].rstrip() for row in rows[:seen]] == words[:seen]
