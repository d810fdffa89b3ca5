"""The row on the profile in every view, and that no view misses the row it takes."""

from __future__ import annotations

from tests.app.driving import opened, resized, screen_text, wait_for
from tui.app.frame.line import Line
from tui.app.views import VIEWS


async def test_every_view_says_what_the_profile_holds(resnet: str) -> None:
    async with opened(resnet) as (app, pilot):
        first = screen_text(app).splitlines()[1]
        assert first.startswith("V100-like: 5,600 launches")
        assert "80 %" in first
        assert "[f] i loop" in first
        for view in VIEWS:
            await app.action_view(view.name)
            title = f"[{view.key}]"
            await wait_for(pilot, lambda: title in screen_text(app), view.name)  # noqa: B023
            await wait_for(pilot, lambda: "q Quit" in screen_text(app).splitlines()[-1], "its keys")
            rows = screen_text(app).splitlines()
            assert rows[1] == first
            assert "of 5,600" in rows[-2]
        await resized(app, pilot, 60, 15)
        await wait_for(
            pilot,
            lambda: screen_text(app).splitlines()[1].startswith("5,600 launches"),
            "shorter",
        )


async def test_without_a_profile_there_is_no_such_row() -> None:
    async with opened(None, view="Scale model") as (app, pilot):
        assert not app.screen.query_one("#profile", Line).display
        assert "[5]" in screen_text(app).splitlines()[1]
        await resized(app, pilot, 60, 15)
        assert "[5]" in screen_text(app).splitlines()[1]
