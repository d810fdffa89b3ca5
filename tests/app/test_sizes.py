"""Every view in windows of every size: nothing fails, nothing is cut off, all of it comes back."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from tests.app.driving import App, Running, opened, resized, screen_text, strips_of, wait_for
from tui.app.actions import ACTIONS
from tui.app.views import VIEWS, View

ODD_SIZES = [(1, 1), (20, 6), (300, 4), (60, 15), (200, 60)]
OVER_A_VIEW = {"?": "help", "f": "the findings", "ctrl+p": "the palette"}


def is_idle(app: App) -> bool:
    """Whether nothing is computed."""
    return app.session.doing is None and all(worker.is_finished for worker in app.workers)


async def check_size(app: App, pilot: Running, width: int, height: int) -> None:
    """Make the window another size, and look at what is drawn in it."""
    await resized(app, pilot, width, height)
    strips = strips_of(app)
    assert len(strips) == height
    assert {strip.cell_length for strip in strips} == {width}
    assert all(strip.text.isascii() for strip in strips)
    assert app.screen.max_scroll_x == 0, "nothing stands beside the window"


def cut_off(app: App) -> list[Widget]:
    """The widgets that reach out of the window at its right."""
    width = app.size.width
    return [
        widget
        for widget in app.screen.walk_children(Widget)
        if widget.display and widget.region.right > width
    ]


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
async def test_a_view_survives_every_size_and_looks_as_before(small: str, view: View) -> None:
    titles = {action.title for action in ACTIONS}
    async with opened(small, view=view.name, ascii_only=True) as (app, pilot):
        await wait_for(pilot, lambda: is_idle(app), "all is computed")
        # In a large window all is computed, such as what makes the plan faster.
        for size in ((160, 40), (81, 25), (80, 24)):
            await check_size(app, pilot, *size)
            await wait_for(pilot, lambda: is_idle(app), "all is drawn")
        before = screen_text(app)
        for size in ODD_SIZES:
            await check_size(app, pilot, *size)
            assert size[0] < 60 or cut_off(app) == []
        for width in (60, 47):
            await check_size(app, pilot, width, 15)
            await wait_for(pilot, lambda: screen_text(app).split()[-1] in titles, f"whole words in {width}")
        await check_size(app, pilot, 80, 24)
        await wait_for(pilot, lambda: is_idle(app) and screen_text(app) == before, f"all is back:\n{before}")


async def test_so_does_what_stands_over_a_view(small: str) -> None:
    async with opened(small, ascii_only=True) as (app, pilot):
        view = app.screen
        for key, what in OVER_A_VIEW.items():
            await pilot.press(key)
            await wait_for(pilot, lambda: app.screen is not view, what)
            for size in ((20, 6), (60, 15), (80, 24)):
                await check_size(app, pilot, *size)
            await pilot.press("escape")
            await wait_for(pilot, lambda: app.screen is view, "the view again")
