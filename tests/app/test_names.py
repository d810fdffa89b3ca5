"""Names as people give them: brackets, quotes, glyphs of two cells, control characters."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from tests.app.driving import App, is_drawn, opened, printed, screen_text, strips_of, view_of, wait_for
from tests.cli.test_privacy import SECRET, nsys
from tui.app.views import VIEWS

KERNELS = (
    "[red]brackets[/red] ' \" and quotes",
    "steers\x1b[31m\x07 the\nterminal\tor so",
    "核函数_矩阵乘法_二十个字的名字_很长很长的名字<float>",
    "long" * 400,
)
FILE = "模型 [bold]的 'q\".parquet"


@pytest.fixture
def named(tmp_path: Path) -> str:
    """A profile of these kernels, each with launches of many durations."""
    names = [name for name in KERNELS for _ in range(30)]
    durations_ns = [100 + 137 * place % 9_000 for place in range(len(names))]
    path = tmp_path / FILE
    pq.write_table(pa.table({"name": names, "duration_ns": pa.array(durations_ns, pa.int64())}), path)
    return str(path)


def check_rows(app: App) -> None:
    """Each row has as many cells as the screen, and nothing in it steers the terminal."""
    for strip in strips_of(app):
        text = "".join(segment.text for segment in strip)
        assert cell_len(text) == app.size.width, text
        assert not any(unicodedata.category(character) == "Cc" for character in text), text


async def test_any_name_has_its_place_on_the_screen_and_a_shell_takes_it(named: str, tmp_path: Path) -> None:
    copies: list[tuple[str, str]] = []
    async with opened(named) as (app, pilot):
        for view in VIEWS:
            await app.action_view(view.name)
            await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
            if view.name in {"Groups", "Split tree", "Plan"}:
                copies.append((view_of(app).pane_text().text, view_of(app).command()))
            for group in range(len(KERNELS)):
                app.change(selected=group)
                await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
                if view.name in {"Groups", "Split tree"}:
                    title = f"] #{group + 1} "
                    await wait_for(pilot, lambda: title in screen_text(app), "the group is shown")  # noqa: B023
                check_rows(app)
                await pilot.press("t" if view.name == "Plan" else "tab")
            await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
            check_rows(app)
    for text, command in copies:
        assert printed(command, 80, tmp_path) == text


async def test_no_view_shows_what_a_profile_stores_of_the_user(tmp_path: Path) -> None:
    async with opened(str(nsys(tmp_path))) as (app, pilot):
        await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
        assert SECRET not in screen_text(app)
        assert SECRET not in view_of(app).pane_text().text
