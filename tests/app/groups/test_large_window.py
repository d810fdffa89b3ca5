"""View 1 in large windows: three panes, of which each can be copied, and none is half empty."""

from __future__ import annotations

from pathlib import Path

from tests.app.driving import App, Running, drawn, opened, printed, screen_text, view_of, wait_for
from tui.app.group_table import GroupTable
from tui.app.groups import RunPane


def run_of(app: App) -> RunPane:
    return app.screen.query_one(RunPane)


async def is_read(app: App, pilot: Running, rank: int) -> None:
    await wait_for(pilot, lambda: f"[6] #{rank} over the run" in screen_text(app), f"the run of #{rank}")


async def test_three_panes_fill_a_large_window(gpt: str) -> None:
    size = (200, 60)
    async with opened(gpt, size) as (app, pilot):
        await is_read(app, pilot, 1)
        table, histogram, run = (
            app.screen.query_one(f"#{name}-pane").region for name in ("groups", "chart", "run")
        )
        assert table.width == size[0]
        assert histogram.width + run.width == size[0] - 2
        assert (histogram.y, histogram.height) == (run.y, run.height)
        rows = app.screen.query_one(GroupTable).row_count
        assert table.height <= rows + 3, "no blank rows but that of the field"
        blank = [row for row in screen_text(app).split("\n") if not row.strip()]
        assert len(blank) <= 2
        # The run is that of the group under the cursor, once that rests there.
        await pilot.press("j", "j")
        await is_read(app, pilot, 3)
        assert " drawn" in drawn(run_of(app).chart)


async def test_the_run_is_copied_as_timeline_prints_it(gpt: str, tmp_path: Path) -> None:
    async with opened(gpt, (160, 45)) as (app, pilot):
        await is_read(app, pilot, 1)
        await pilot.press("tab", "tab")
        assert app.focused is run_of(app).chart
        await pilot.press("y")
        text = app.clipboard
        command = view_of(app).command()
    assert command.startswith("kernelpoint timeline ")
    assert printed(command, 80, tmp_path) == text
