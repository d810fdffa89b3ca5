"""View 1's copied command prints what its pane's copied text is, run for real."""

from __future__ import annotations

from pathlib import Path

from tests.app.driving import App, Running, drawn, opened, printed, wait_for
from tui.app.frame.panes import Chart
from tui.options.look import OpenOptions


async def copied(app: App, pilot: Running) -> tuple[str, str]:
    """What `y` and then `Y` copy."""
    await pilot.press("y")
    text = app.clipboard
    await pilot.press("Y")
    return text, app.clipboard


async def filtered(app: App, pilot: Running, text: str) -> None:
    """Type a filter and leave the field."""
    await pilot.press("slash", *text, "enter")
    await wait_for(pilot, lambda: app.session.search == text, f"groups of {text!r}")


async def test_the_table_as_filtered_and_sorted(gpt: str, tmp_path: Path) -> None:
    options = OpenOptions(method="root", epsilon=0.02, ascii=True)
    async with opened(gpt, ascii_only=options.ascii, options=options) as (app, pilot):
        await filtered(app, pilot, "SGEMM")
        await pilot.press("s", "s")
        text, command = await copied(app, pilot)
    assert "--filter SGEMM" in command
    assert 1 < text.count("\n") < 20
    assert printed(command, 80, tmp_path) == text


async def test_the_histogram_as_large_as_it_is_drawn(gpt: str, tmp_path: Path) -> None:
    size, ascii_only = (60, 15), True
    async with opened(gpt, size, ascii_only=ascii_only, options=OpenOptions(ascii=ascii_only)) as (
        app,
        pilot,
    ):
        await pilot.press("j", "x", "tab")
        chart = app.screen.query_one(Chart)
        assert app.focused is chart
        await wait_for(pilot, lambda: app.session.selected == 1, "the second group")
        text, command = await copied(app, pilot)
        assert "--kernel '#2' --log" in command
        assert text.startswith("#2 ")
        # The key in a line, then what the pane shows.
        await wait_for(
            pilot, lambda: text.partition("\n")[2] == drawn(chart) + "\n", "the chart of that group"
        )
    assert text.isascii()
    # The terminal may be of another width: the chart's size is named.
    assert printed(command, 132, tmp_path) == text
