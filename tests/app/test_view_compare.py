"""View 4 under a pilot: methods as they come, cancelled, sorted, taken, and copied."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from sampling.methods.registry import method_names
from sampling.plan.comparison import Comparison, MethodComparison
from sampling.plan.request import PlanRequest
from tests.app.driving import (
    SIZES,
    App,
    Running,
    colours,
    drawn,
    opened,
    planned,
    printed,
    resized,
    screen_text,
    view_of,
    wait_for,
)
from tui.app import compare, planning
from tui.app.compare import (
    CANNOT_RUN,
    CompareScreen,
    Findings,
    comparison_options,
    what_to_say,
)
from tui.app.state import Session
from tui.app.widgets import Chart, Note, Table
from tui.charts.grid import SELECTED
from tui.options.choices import CompareSort
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions
from tui.text.methods import blocks, promises

#: Those that run without features; by launch, stem and allegro come to one plan.
RUN = {"joint", "root", "stem", "random", "single-iteration", "layers"}
LACKING = ("pks", "two-level", "sieve", "photon", "tbpoint", "first-instructions", "embedding")


def table_of(app: App) -> Table[str]:
    return app.screen.query_one(Table)


def best_first(app: App) -> list[str]:
    """The methods in the order of the table."""
    asked, rows = view_of(app).findings.options, view_of(app).findings.rows
    promise = promises(rows, asked.request.epsilon, asked.request.confidence)
    return [each.methods[0] for each in blocks(rows, CompareSort.BEST, promise).can_run]


def chart_of(app: App) -> Chart:
    return app.screen.query_one(Chart)


def words_of(app: App) -> str:
    return app.screen.query_one("#method-words", Note).text


async def compared(pilot: Running, app: App) -> None:
    """Wait for the last method."""
    await wait_for(pilot, lambda: "draws each, [r] again" in screen_text(app), "all methods are compared")


async def copied(app: App, pilot: Running) -> tuple[str, str]:
    """What `y` and then `Y` copy."""
    await pilot.press("y")
    text = app.clipboard
    await pilot.press("Y")
    return text, app.clipboard


class Stalling:
    """A comparison that waits in one method, telling where it stands, until the gate is opened."""

    def __init__(self, comparison: MethodComparison, progress: Any, method: str) -> None:
        self._comparison, self._progress, self._method = comparison, progress, method
        self.reports = comparison.reports

    gate = threading.Event()
    reached = threading.Event()
    left = threading.Event()

    def compare(self, method: str) -> Comparison:
        if method == self._method and not self.gate.is_set():
            self.reached.set()
            try:
                while not self.gate.wait(timeout=0.01):
                    self._progress(45, 100, "cutting kernels")
            finally:
                self.left.set()
        return self._comparison.compare(method)


@pytest.fixture
def stalling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., type[Stalling]]]:
    """Make comparisons wait in a method."""
    real = compare.comparison_of

    class Fresh(Stalling):
        gate, reached, left = threading.Event(), threading.Event(), threading.Event()

    def stall(method: str) -> type[Stalling]:
        def comparison_of(profile: Any, paths: Any, options: Any, progress: Any) -> Stalling:
            return Fresh(real(profile, paths, options, progress), progress, method)

        monkeypatch.setattr(compare, "comparison_of", comparison_of)
        return Fresh

    yield stall
    Fresh.gate.set()


async def test_a_small_workload_is_compared_at_once_by_all_methods_at_every_size(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        assert colours(app) >= {"blue", "yellow"}
        for size in (*SIZES, (160, 15)):
            await resized(app, pilot, *size)
            text = screen_text(app)
            assert table_of(app).keys == [*best_first(app), CANNOT_RUN]
            assert set(table_of(app).keys) == {*RUN, CANNOT_RUN}
            assert "A joint" in text
            assert "C stem, allegro" in text
            assert "  [e] cannot run: pks, two-level, sieve" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert "[tab] Speedup against error" in text
            assert ("mean error over speedup" in text) == (size[1] > 20 or size[0] == 160)
            panes = [app.screen.query_one(f"#{name}-pane").region for name in ("methods", "scatter")]
            is_wide = size[0] >= 140 and size[1] < 36
            assert (panes[0].y == panes[1].y) == is_wide, "side by side where it is wide and not high"
            assert panes[0].height == panes[1].height > 5 or size[0] != 160, "however few its rows"
        # Where rows are few, tab goes to the scatter.
        await resized(app, pilot, 60, 15)
        assert "mean error over speedup" not in screen_text(app)
        await pilot.press("tab")
        await wait_for(pilot, lambda: "mean error over speedup" in screen_text(app), "the scatter")
        assert chart_of(app).size.height >= 6
        assert "A joint" in screen_text(app), "its legend"
        await pilot.press("tab")
        await wait_for(pilot, lambda: "drawn" in screen_text(app), "the table again")


async def test_rows_come_one_by_one_and_cancelling_keeps_them(
    resnet: str, stalling: Callable[..., type[Stalling]]
) -> None:
    stalled = stalling("stem")
    async with opened(resnet, view="Compare") as (app, pilot):
        await wait_for(pilot, lambda: "C stem: cutting kernels, 45 %" in screen_text(app), "how far it is")
        assert "2 of 14, [c] cancel" in screen_text(app)
        assert sorted(table_of(app).keys[:2]) == ["joint", "root"]
        assert table_of(app).keys[2:] == ["stem"]
        assert {"A", "B"} <= set(drawn(chart_of(app)))
        await pilot.press("c")
        assert sorted(table_of(app).keys) == ["joint", "root"]
        assert "cancelled after 2 of 14, [r] anew" in screen_text(app)
        await wait_for(pilot, stalled.left.is_set, "the thread stops by itself")
        stalled.gate.set()
        await pilot.press("r")
        await compared(pilot, app)
        assert set(table_of(app).keys) == {*RUN, CANNOT_RUN}


async def test_a_large_workload_is_compared_when_asked_for(
    resnet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "MOST_LAUNCHES_UNASKED", 5_599)
    async with opened(resnet, view="Compare") as (app, pilot):
        text = screen_text(app)
        assert "[r] starts" in text
        assert "r compares 14 methods on 5,600 launches" in text
        assert "no method is compared yet" in text
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.findings is None
        await pilot.press("j", "s", "c", "enter")
        await pilot.press("r")
        await compared(pilot, app)


async def test_a_feature_file_that_cannot_be_read_is_said_and_what_needs_none_stays(
    resnet: str, tmp_path: Path
) -> None:
    features = tmp_path / "features.csv"
    features.write_text("no features\n")
    options = OpenOptions(request=PlanRequest(features=(str(features),)))
    async with opened(resnet, view="Compare", options=options) as (app, pilot):
        await wait_for(pilot, lambda: "failed after 5 of 14, [r] anew" in screen_text(app), "that it failed")
        assert words_of(app).startswith(f"{features}: ")
        assert words_of(app)[:40] in screen_text(app)
        assert set(table_of(app).keys) == RUN - {"single-iteration", "layers"}
        text, command = await copied(app, pilot)
    assert "--methods joint,root,stem,allegro,random" in command
    assert printed(command, 80, tmp_path) == text


async def test_a_defect_ends_the_app(resnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> MethodComparison:
        raise RuntimeError("a defect")

    monkeypatch.setattr(compare, "comparison_of", broken)
    async with opened(resnet, view="Groups") as (app, pilot):
        await pilot.press("4")
        await wait_for(pilot, lambda: app.failure is not None, "the app leaves")
    assert str(app.failure) == "a defect"
    assert app.return_code == 1


async def test_the_cursor_marks_the_point_and_says_what_the_method_is(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        # The cursor stays on the method that it is on, wherever that goes as others come.
        assert words_of(app).startswith("joint: this project")
        plain_text = drawn(chart_of(app))
        letters = dict(zip(method_names(), "ABCDEFGHIJKLMN", strict=True))
        order = best_first(app)
        for keys, at in ((["g"], 0), (["j"], 1), (["down", "j"], 3), (["k"], 2), (["g"], 0)):
            await pilot.press(*keys)
            grid = chart_of(app).grid
            assert table_of(app).key == order[at]
            assert words_of(app).startswith(f"{order[at]}: ")
            marked = grid.glyph[grid.style == SELECTED].tolist()
            assert marked.count(letters[order[at]]) >= 2, "the point, and its entry in the legend"
            assert drawn(chart_of(app)) == plain_text
        await pilot.press("G")
        assert table_of(app).key == CANNOT_RUN
        assert words_of(app) == f"[e] cannot run: {', '.join(LACKING)}"
        assert not np.isin(chart_of(app).grid.style, SELECTED).any()
        await pilot.press("pageup")
        await pilot.press("pageup", "pageup", "pageup")
        assert table_of(app).key == order[0]


async def test_e_says_why_each_method_that_cannot_run_cannot(resnet: str, tmp_path: Path) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        names_only, command = await copied(app, pilot)
        assert "--reasons" not in command
        assert "needs metrics of every launch" not in names_only
        await pilot.press("G", "e")
        assert table_of(app).keys == [*best_first(app), *LACKING]
        assert table_of(app).key == LACKING[0], "the cursor is on the first of them"
        assert "F pks needs metrics of every launch" in screen_text(app)
        assert words_of(app).startswith("pks needs metrics of every launch")
        assert "--features" in words_of(app)
        text, command = await copied(app, pilot)
        assert "- pks needs metrics of every launch" in text
        assert "--reasons" in command
        assert printed(command, 80, tmp_path) == text
        await pilot.press("G")
        assert words_of(app).startswith("embedding needs a vector of every launch")
        await wait_for(pilot, lambda: "\nM embedding" in screen_text(app), "the last row is in sight")
        await pilot.press("e")
        assert table_of(app).key == CANNOT_RUN
        await pilot.press("enter")
        await pilot.pause()
        assert app.session.request.method == "joint", "there is no method to take"


async def test_the_method_under_the_cursor_becomes_the_plans(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)

        async def take(method: str, key: str) -> None:
            await pilot.press("g", *["j"] * table_of(app).keys.index(method), key)

        for key in ("enter", "p"):
            await take("joint", key)
            await wait_for(pilot, lambda: "the plan is by joint already" in screen_text(app), "nothing to do")
            await take("root", key)
            await planned(pilot, app)
            assert app.session.request.method == "root"
            await wait_for(pilot, lambda: "49 of 5,600 launches by root, " in screen_text(app), "its plan")
            await wait_for(pilot, lambda: "by root now, not joint; u " in screen_text(app), "what was done")
            assert "draws each, [r] again" in screen_text(app), "another method makes no comparison stale"
            await pilot.press("e")
            await take("pks", key)
            await wait_for(pilot, lambda: "Plan unchanged: pks needs metrics" in screen_text(app), "why not")
            assert app.session.request.method == "root"
            await pilot.press("e", "u")
            await wait_for(pilot, lambda: "is by joint again" in screen_text(app), "it is taken back")
            assert app.session.request.method == "joint"


async def test_other_options_make_it_stale_and_r_compares_by_them(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        text = view_of(app).pane_text().text
        app.plan(options=changed(app, epsilon=0.01))
        await wait_for(
            pilot, lambda: "of the plan before; [r] compares anew" in screen_text(app), "that it is stale"
        )
        await planned(pilot, app)
        assert view_of(app).pane_text().text == text
        assert "--epsilon" not in view_of(app).command(), "the command is of what is shown"
        await pilot.press("r")
        await compared(pilot, app)
        assert view_of(app).pane_text().text != text
        assert "--epsilon 0.01" in view_of(app).command()


def changed(app: App, **changes: Any) -> SampleOptions:
    return app.session.options.with_request(**changes)


async def test_the_copied_command_prints_what_is_copied(gpt: str, tmp_path: Path) -> None:
    sizes, ascii_only = [(80, 24), (60, 15)], True
    options = OpenOptions(ascii=ascii_only, request=PlanRequest(epsilon=0.03, seed=7))
    async with opened(gpt, sizes[0], view="Compare", options=options, ascii_only=ascii_only) as (app, pilot):
        await compared(pilot, app)
        await pilot.press("s")
        for size in sizes:
            await resized(app, pilot, *size)
            table, of_table = await copied(app, pilot)
            await pilot.press("tab")
            await wait_for(pilot, lambda: "mean error over speedup" in screen_text(app), "the scatter")
            shown = drawn(chart_of(app))
            scatter, of_scatter = await copied(app, pilot)
            await pilot.press("tab")
            assert scatter == shown + "\n"
            assert "\n\ncannot run: pks, two-level," in table
            assert "--sort speedup" in of_table, "in the order of the table"
            assert max(map(len, table.splitlines())) <= size[0]
            assert table.isascii()
            assert printed(of_table, size[0], tmp_path) == table
            assert printed(of_scatter, 132, tmp_path) == scatter, "the scatter has its own size"


# Without an app


def known_of(profile: str, methods: tuple[str, ...]) -> tuple[Findings, Session]:
    """What is known once these methods are compared."""
    asked = SampleOptions(profiles=(profile,))
    draft = planning.load_draft(asked, {}, lambda *_: None)
    session = Session(asked, draft=draft)
    wanted = comparison_options(session)
    comparison = compare.comparison_of(draft.profile, wanted.profiles, wanted, lambda *_: None)
    rows = [comparison.compare(method).record(profile, None) for method in methods]
    return Findings(wanted, methods, rows=tuple(rows), ending="done"), session


def test_what_a_plan_does_not_promise_is_said(resnet: str) -> None:
    known, session = known_of(resnet, ("stem", "allegro"))
    stem = structs.replace(known.rows[0], promised_error=0.07)
    said = what_to_say(replace(known, rows=(stem, known.rows[1])), stem, session)
    assert said.endswith("promises the simulated total within 7.0 %, not within the 5.0 % asked for")
    kept = what_to_say(known, structs.replace(stem, promised_error=0.05), session)
    assert "promises the simulated" not in kept
