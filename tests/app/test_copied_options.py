"""What is copied is what its command prints, and says which launches it is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.plan.request import PlanRequest
from tests import small_recordings
from tests.app.driving import App, Running, drawn, opened, planned, printed, screen_text, view_of, wait_for
from tests.study_files import write_plans, write_study
from tui.app import split_tree
from tui.app.compare import CompareScreen
from tui.app.difference import DifferenceScreen
from tui.app.plan import PlanScreen
from tui.app.speedups import SpeedupsScreen
from tui.app.split_tree import SplitTreeScreen
from tui.app.views import VIEWS
from tui.app.widgets import Chart
from tui.app.wording import workload_lines
from tui.options.choices import ColorMode, OutputFormat
from tui.options.look import OpenOptions
from tui.options.simulate import SpeedupOptions
from tui.output.blocks import without_tones
from tui.text.profile import header_forms

GIVEN = OpenOptions(format=OutputFormat.JSON, output="somewhere.txt", color=ColorMode.ALWAYS)


def is_ready(screen: object) -> bool:
    """Whether there is something to copy."""
    if isinstance(screen, PlanScreen):
        return screen.details is not None and not screen.is_working
    if isinstance(screen, SplitTreeScreen):
        return screen.looked_at is not None
    if isinstance(screen, CompareScreen):
        return screen.findings is not None and screen.findings.ending is not None
    if isinstance(screen, DifferenceScreen):
        return screen.is_settled
    if isinstance(screen, SpeedupsScreen):
        return screen.state is not None
    return True


async def test_the_copied_command_prints_the_copied_text(gpt: str, tmp_path: Path) -> None:
    copies: dict[str, tuple[str, str]] = {}
    speedups = SpeedupOptions(plan=str(write_study(write_plans(tmp_path), tmp_path)))
    async with opened(gpt, options=GIVEN, before="@:1000", speedups=speedups) as (app, pilot):
        for view in VIEWS:
            await app.action_view(view.name)
            screen = view_of(app)
            await wait_for(pilot, lambda: is_ready(screen), "all is there")  # noqa: B023
            await pilot.press("tab")
            copies[view.name] = screen.pane_text().text, screen.command()
    for view_name, (text, command) in copies.items():
        assert printed(command, 80, tmp_path) == text, view_name


async def test_a_tree_that_lags_behind_the_session_is_copied_as_it_stands(
    gpt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gpt, view="Split tree") as (app, pilot):
        screen = view_of(app)
        await wait_for(pilot, lambda: is_ready(screen), "the tree is there")
        monkeypatch.setattr(split_tree, "start", lambda *_, **__: None)
        app.plan(app.session.options.with_request(epsilon=0.002, seed=3))
        await planned(pilot, app)
        text, command = screen.pane_text().text, screen.command()
    assert "--epsilon" not in command
    assert printed(command, 80, tmp_path) == text


FILTERED = OpenOptions(request=PlanRequest(min_duration=5000, exclude=("gemm",), method="root"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small recording, of which plans are made quickly."""
    return str(small_recordings.nsys_sqlite(tmp_path_factory.mktemp("small"), "2023.4"))


async def test_the_copied_text_and_the_copied_command_say_the_same(small: str, tmp_path: Path) -> None:
    async with opened(small, options=FILTERED) as (app, _):
        text, command = view_of(app).pane_text().text, view_of(app).command()
        assert app.session.draft is not None
        rows = screen_text(app).splitlines()
        assert rows[1].startswith("V100-like: [F] "), "at 80 columns too"
        assert "61 of 168 launches" in rows[1]
        header, names = header_forms(app.session.draft), workload_lines(app.session, app.session.draft)
        await app.action_view("Scale model")
        assert "Selection" not in view_of(app).pane_text().text
    assert text.startswith("Selection: ")
    assert printed(command, 80, tmp_path) == text
    assert "of 168 launches (--exclude gemm --min-duration 5000) (leaves out" in without_tones(header[0])
    assert names == ["part of small-2023.4.sqlite", "small-2023.4.sqlite"]


async def test_a_folder_of_tables_says_what_is_left_out_and_is_copied_as_it_was_given(tmp_path: Path) -> None:
    for rank in (1, 2):
        rows = "".join(f"kernel,{5 + row % 3}\n" for row in range(30))
        (tmp_path / f"rank{rank}.csv").write_text("Kernel Name,Dur\n" + rows)
    (tmp_path / "notes.txt").write_text("slow\n")
    columns = "name=Kernel Name,duration_ns=Dur:us"
    async with opened(
        str(tmp_path), (200, 60), options=OpenOptions(request=PlanRequest(columns=columns))
    ) as (app, pilot):
        assert "2 profiles are read as one workload; left out:" in screen_text(app)
        command = view_of(app).command()
        app.plan(app.session.options)
        await planned(pilot, app)
    assert str(tmp_path) in command
    assert f"--columns '{columns}'" in command


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
    options = OpenOptions(ascii=True, request=PlanRequest(method="root", epsilon=0.02))
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
