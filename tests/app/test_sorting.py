"""Sorting by keys, and clicks: the order, the mark of its direction, the same in a command."""

from __future__ import annotations

from pathlib import Path

from tests.app.driving import (
    opened,
    printed,
    screen_text,
    view_of,
    wait_for,
)
from tests.drawing import in_ascii
from tui.app.frame.panes import Chart, marked
from tui.app.group_table import GroupTable
from tui.terminal.printable import Column


def test_the_first_head_that_is_there_has_the_mark_and_keeps_its_width() -> None:
    columns = [Column("share", ["1 %"]), Column("kernel group   ", ["k"], to_right=False)]

    def heads(*names: str, falls: bool, ascii_only: bool) -> list[str]:
        return [each.heading for each in in_ascii(ascii_only, marked, columns, names, falls=falls)]

    assert heads("total", "share", falls=True, ascii_only=False) == ["share↓", "kernel group   "]
    assert heads("share", falls=False, ascii_only=True) == ["share^", "kernel group   "]
    assert heads("kernel group", falls=True, ascii_only=True) == ["share", "kernel groupv  "]
    assert heads("mean", falls=True, ascii_only=True) == ["share", "kernel group   "]


async def test_groups_by_the_reverse_key_and_the_next_column(gpt: str, tmp_path: Path) -> None:
    async with opened(gpt) as (app, pilot):
        table = app.screen.query_one(GroupTable)
        assert " total↓" in screen_text(app)
        await pilot.press("R")
        await wait_for(pilot, lambda: "by total, smallest first" in screen_text(app), "it is said")
        await wait_for(pilot, lambda: " total↑" in screen_text(app), "and marked")
        assert table.listed.groups == tuple(reversed(range(22)))
        assert (table.highlighted, app.session.selected) == (21, 21), "at the top"
        view = view_of(app)
        text, command = view.pane_text().text, view.command()
        await pilot.press("s")
        await wait_for(pilot, lambda: "by launches ─" in screen_text(app), "the next column, largest first")
    assert "--reverse" in command
    assert printed(command, 80, tmp_path) == text


async def test_a_key_in_a_title_is_pressed_by_a_click_on_it_or_its_words(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        row = next(y for y, text in enumerate(screen_text(app).splitlines()) if "[x] linear" in text)
        for now, wanted in (("[x] linear", "[x] log"), ("[x] log", "[x] linear")):
            x = screen_text(app).splitlines()[row].index(now) + len(now) - 1
            await pilot.click(offset=(x, row))
            await wait_for(pilot, lambda: wanted in screen_text(app), wanted)  # noqa: B023
        await pilot.click(offset=(2, row))
        await wait_for(pilot, lambda: isinstance(app.focused, Chart), "the name goes to its chart")


async def test_tabs_take_clicks(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        for name in ("Timeline", "Plan", "Groups"):
            x = screen_text(app).splitlines()[0].index(name)
            await pilot.click("HeaderLine", offset=(x, 0))
            await wait_for(pilot, lambda: name == view_of(app).NAME, name)  # noqa: B023
            await wait_for(pilot, lambda: bool(app.screen.query("#plan")), "its panes")
        await pilot.press("escape")
        await wait_for(pilot, lambda: view_of(app).NAME == "Plan", "back as from a key")
