"""Remedies of findings applied with a key: the options that the command line would have, and back."""

from __future__ import annotations

from dataclasses import replace

from tests.app.driving import App, Running, opened, planned, screen_text, study_in, wait_for
from tui.app.frame.page import FindingsScreen
from tui.app.state import remedy_keys


def _is_page(app: App) -> bool:
    return isinstance(app.screen, FindingsScreen)


async def _page(app: App, pilot: Running) -> None:
    await pilot.press("f")
    await wait_for(pilot, lambda: _is_page(app) and "Findings" in screen_text(app), "the page")


async def test_a_key_applies_a_remedy_and_u_takes_it_back(resnet: str) -> None:
    async with opened(resnet, (120, 40)) as (app, pilot):
        before, study = app.session.options, study_in(app)
        finding = remedy_keys(study.findings)["a"]
        assert finding.code == "iterations"
        ids = finding.changes[0].value
        await _page(app, pilot)
        await wait_for(
            pilot, lambda: f"\n    [a] sets --launches {ids}\n" in screen_text(app), "what it does"
        )
        assert "a apply, esc back" in screen_text(app)
        await pilot.press("b")
        assert _is_page(app), "no finding has that key"
        await pilot.press("a")
        await planned(pilot, app)
        assert app.session.options == replace(before, launches=ids)
        assert study_in(app).counts.launches == 56
        await wait_for(pilot, lambda: "u takes it back" in screen_text(app), "what was done")
        await _page(app, pilot)
        await wait_for(pilot, lambda: "u undo, esc back" in screen_text(app), "that it can be undone")
        await pilot.press("u")
        await planned(pilot, app)
        assert app.session.options == before
        assert study_in(app).counts.launches == study.counts.launches
        await _page(app, pilot)
        await pilot.press("u")
        await wait_for(pilot, lambda: "no change of the plan's" in screen_text(app), "there is no other")
