"""Where filters leave launches out, the header and every copied pane say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import small_recordings
from tests.app.driving import opened, printed, view_of, wait_for
from tui.app.frame.wording import workload_lines
from tui.app.plan.screen import PlanScreen
from tui.app.split_tree.screen import SplitTreeScreen
from tui.options.commands import OpenOptions

FILTERED = OpenOptions(min_duration=5000, exclude=("gemm",))
VIEWS_OF_A_PROFILE = ("Groups", "Split tree", "Plan")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(small_recordings.nsys_sqlite(tmp_path_factory.mktemp("small"), "2023.4"))


def is_ready(screen: object) -> bool:
    if isinstance(screen, PlanScreen):
        return screen.details is not None and not screen.is_working
    return not isinstance(screen, SplitTreeScreen) or screen.looked_at is not None


async def test_the_copied_text_and_the_copied_command_say_the_same(small: str, tmp_path: Path) -> None:
    copies: dict[str, tuple[str, str]] = {}
    async with opened(small, options=FILTERED) as (app, pilot):
        for name in VIEWS_OF_A_PROFILE:
            await app.action_view(name)
            screen = view_of(app)
            await wait_for(pilot, lambda: is_ready(screen), "all is there")  # noqa: B023
            copies[name] = screen.pane_text().text, screen.command()
        await app.action_view("Scale model")
        assert "Selection" not in view_of(app).pane_text().text
        assert app.session.study is not None
        header = workload_lines(app.session, app.session.study)
    for name, (text, command) in copies.items():
        assert text.startswith("Selection: "), name
        assert printed(command, 80, tmp_path) == text, name
    assert "of 168 launches by --exclude gemm --min-duration 5000 (leaves out" in header[0]
    assert header[-1] == "part of small-2023.4.sqlite"
    assert [len(form) for form in header] == sorted(map(len, header), reverse=True)
