"""View 4 under a pilot: methods as they come, cancelled, sorted, taken, and copied."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.methods.registry import method_names
from sampling.plan.comparison import Comparison, MethodComparison
from sampling.splitting.tree import Verdict
from tests.app.driving import (
    SIZES,
    App,
    Running,
    assert_golden,
    colours,
    drawn,
    opened,
    planned,
    printed,
    resized,
    screen_text,
    strips_of,
    study_in,
    view_of,
    wait_for,
)
from tests.terminal.pseudo_terminal import PATIENCE_SECONDS
from tui.app import planning
from tui.app.app import KernelPointApp
from tui.app.compare import comparing, presenter
from tui.app.compare.comparing import THREAD, ComparisonEnded, MethodCompared, MethodProgress
from tui.app.compare.panes import CompareTable, CompareWords
from tui.app.compare.presenter import (
    CompareSort,
    Ending,
    Findings,
    asked_of,
    compare_lines,
    sorted_rows,
    what_to_say,
)
from tui.app.compare.screen import CompareScreen
from tui.app.frame.chart import Chart
from tui.app.running import session_of
from tui.app.state import Session
from tui.charts.grid import SELECTED
from tui.engine.studies import grouping_of
from tui.options.commands import OpenOptions, SampleOptions
from tui.text.comparison import comparison_row

RANDOM = ("joint", "root", "stem", "allegro", "random")


def table_of(app: App) -> CompareTable:
    return app.screen.query_one(CompareTable)


def chart_of(app: App) -> Chart:
    return app.screen.query_one(Chart)


def words_of(app: App) -> str:
    return app.screen.query_one(CompareWords).text


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
    """A comparison that waits in one method, telling where it stands or not, until the gate is opened."""

    def __init__(self, comparison: MethodComparison, progress: Any, method: str, *, silent: bool) -> None:
        self._comparison, self._progress, self._method, self._silent = comparison, progress, method, silent
        self.reports = comparison.reports

    gate = threading.Event()
    reached = threading.Event()
    left = threading.Event()

    def compare(self, method: str, grouping: Any) -> Comparison:
        if method == self._method and not self.gate.is_set():
            self.reached.set()
            try:
                while not self.gate.wait(timeout=0.01):
                    if not self._silent:
                        self._progress(45, 100, "cutting kernels")
            finally:
                self.left.set()
        return self._comparison.compare(method, grouping)


@pytest.fixture
def stalling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., type[Stalling]]]:
    """Make comparisons wait in a method."""
    real = comparing.comparison_of

    class Fresh(Stalling):
        gate, reached, left = threading.Event(), threading.Event(), threading.Event()

    def stall(method: str, *, silent: bool = False) -> type[Stalling]:
        def comparison_of(profile: Any, paths: Any, options: Any, progress: Any) -> Stalling:
            return Fresh(real(profile, paths, options, progress), progress, method, silent=silent)

        monkeypatch.setattr(comparing, "comparison_of", comparison_of)
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
            assert table_of(app).methods == list(method_names())
            assert "A joint" in text
            assert "64.5x" in text
            assert "F pks needs metrics of every launch" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert "[tab] Speedup against error" in text
            assert ("mean error over speedup" in text) == (size[1] > 20 or size[0] == 160)
            panes = [app.screen.query_one(f"#{name}-pane").region for name in ("methods", "scatter")]
            assert (panes[0].y == panes[1].y) == (size[0] >= 140), "side by side where it is wide"
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


async def test_it_looks_as_it_did(gpt: str) -> None:
    async with opened(gpt, view="Compare") as (app, pilot):
        await compared(pilot, app)
        assert_golden("compare-80x24.txt", screen_text(app) + "\n")


async def test_an_ascii_screen_is_ascii(resnet: str, stalling: Callable[..., type[Stalling]]) -> None:
    stalled = stalling("stem")
    async with opened(resnet, (60, 15), view="Compare", ascii_only=True) as (app, pilot):
        await wait_for(pilot, lambda: "cutting kernels, 45 %" in screen_text(app), "where it stands")
        assert screen_text(app).isascii()
        stalled.gate.set()
        await compared(pilot, app)
        for size in ((60, 15), (80, 24)):
            await resized(app, pilot, *size)
            for keys in ([], ["tab"], ["tab", "G"], ["s"], ["?"]):
                await pilot.press(*keys)
                await pilot.pause()
                assert screen_text(app).isascii(), (keys, screen_text(app))
            await pilot.press("escape")


async def test_rows_come_one_by_one_and_cancelling_keeps_them(
    resnet: str, stalling: Callable[..., type[Stalling]]
) -> None:
    stalled = stalling("stem")
    async with opened(resnet, view="Compare") as (app, pilot):
        await wait_for(pilot, lambda: "C stem: cutting kernels, 45 %" in screen_text(app), "how far it is")
        assert "2 of 13, [c] cancel" in screen_text(app)
        assert table_of(app).methods == ["joint", "root", "stem"]
        assert {"A", "B"} <= set(drawn(chart_of(app)))
        await pilot.press("c")
        assert table_of(app).methods == ["joint", "root"]
        assert "cancelled after 2 of 13, [r] anew" in screen_text(app)
        await wait_for(pilot, stalled.left.is_set, "the thread stops by itself")
        stalled.gate.set()
        await pilot.press("r")
        await compared(pilot, app)
        assert table_of(app).methods == list(method_names())


async def test_a_method_that_says_nothing_keeps_nobody_waiting(
    resnet: str, stalling: Callable[..., type[Stalling]]
) -> None:
    stalled = stalling("allegro", silent=True)
    async with opened(resnet, view="Compare") as (app, pilot):
        await wait_for(pilot, stalled.reached.is_set, "it is under way")
        await wait_for(pilot, lambda: "D allegro: designing" in screen_text(app), "and said to be")
        await pilot.press("escape")
        assert "cancelled after 3 of 13" in screen_text(app)
        assert not stalled.left.is_set()
        await pilot.press("enter")
        await pilot.press("j", "enter")
        await planned(pilot, app)
        assert app.session.options.method == "root", "the user goes on meanwhile"
        stalled.gate.set()
        await wait_for(pilot, stalled.left.is_set, "it ends")
        await pilot.pause()
        assert table_of(app).methods == ["joint", "root", "stem"], "what it found is dropped"


async def test_leaving_the_app_waits_for_no_method(
    resnet: str, stalling: Callable[..., type[Stalling]]
) -> None:
    stalled = stalling("root", silent=True)
    async with opened(resnet, view="Compare") as (app, pilot):
        await wait_for(pilot, stalled.reached.is_set, "it is under way")
        await pilot.press("q")
    assert app.return_code == 0
    (thread,) = [each for each in threading.enumerate() if each.name == THREAD]
    assert thread.daemon, "Python waits for other threads as it ends"
    stalled.gate.set()
    thread.join(timeout=PATIENCE_SECONDS)
    assert not thread.is_alive()


async def test_a_large_workload_is_compared_when_asked_for(
    resnet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presenter, "MOST_LAUNCHES_UNASKED", 5_599)
    async with opened(resnet, view="Compare") as (app, pilot):
        text = screen_text(app)
        assert "[r] starts" in text
        assert "r compares 13 methods on 5,600 launches" in text
        assert "no method is compared yet" in text
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.findings is None
        await pilot.press("j", "s", "c", "enter")
        await pilot.press("r")
        await compared(pilot, app)
        monkeypatch.setattr(presenter, "MOST_LAUNCHES_UNASKED", 5_600)
        assert presenter.is_compared_unasked(study_in(app))


async def test_a_feature_file_that_cannot_be_read_is_said_and_what_needs_none_stays(
    resnet: str, tmp_path: Path
) -> None:
    options = OpenOptions(features=("missing.csv",))
    async with opened(resnet, view="Compare", options=options) as (app, pilot):
        await wait_for(pilot, lambda: "failed after 5 of 13, [r] anew" in screen_text(app), "that it failed")
        assert words_of(app).startswith("missing.csv: ")
        assert words_of(app)[:40] in screen_text(app)
        assert table_of(app).methods == list(RANDOM)
        text, command = await copied(app, pilot)
    assert "--methods joint,root,stem,allegro,random" in command
    assert printed(command, 80, tmp_path) == text


async def test_a_defect_ends_the_app(resnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> MethodComparison:
        raise RuntimeError("a defect")

    monkeypatch.setattr(comparing, "comparison_of", broken)
    async with opened(resnet, view="Groups") as (app, pilot):
        await pilot.press("4")
        await wait_for(pilot, lambda: app.failure is not None, "the app leaves")
    assert str(app.failure) == "a defect"
    assert app.return_code == 1


async def test_the_cursor_marks_the_point_and_says_what_the_method_is(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        assert words_of(app).startswith("joint: this project")
        plain_text = drawn(chart_of(app))
        for keys, letter in (([], "A"), (["j"], "B"), (["down", "j"], "D"), (["k"], "C"), (["g"], "A")):
            await pilot.press(*keys)
            grid = chart_of(app).grid
            assert grid.glyph[grid.style == SELECTED].tolist() == [letter, letter]
            assert drawn(chart_of(app)) == plain_text
        assert "joint 64.5x, 0.4 %" in screen_text(app)
        await pilot.press("G")
        assert table_of(app).highlighted == "embedding"
        assert words_of(app).startswith("embedding needs a vector of every launch")
        assert not np.isin(chart_of(app).grid.style, SELECTED).any()
        await wait_for(pilot, lambda: "\nM embedding" in screen_text(app), "the last row is in sight")
        await pilot.press("pageup")
        assert table_of(app).highlighted != "embedding"
        await pilot.press("pageup", "pageup", "pageup")
        assert table_of(app).highlighted == "joint"


async def test_a_click_puts_the_cursor_there_and_what_is_stale_changes_nothing(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        assert (await copied(app, pilot))[1] == f"kernelpoint compare {resnet}"
        await pilot.click(CompareTable, offset=(4, 3))
        assert table_of(app).highlighted == "stem"
        await pilot.click(CompareTable, offset=(4, 0))
        assert table_of(app).highlighted == "stem"
        before = screen_text(app)
        screen = app.screen
        screen.post_message(MethodProgress(0, "pks", "grouping"))
        screen.post_message(MethodCompared(0, {"method": "pks", "applicable": False}, ()))
        screen.post_message(ComparisonEnded(0))
        # Of the run that has ended: nothing more can come.
        screen.post_message(MethodProgress(1, "pks", "grouping"))
        await pilot.pause()
        assert screen_text(app) == before
    assert MethodProgress(1, "a", "").can_replace(MethodProgress(1, "a", ""))
    assert not MethodProgress(1, "a", "").can_replace(ComparisonEnded(1))


async def test_s_sorts_and_what_does_not_apply_stays_last(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        last = list(method_names()[5:])
        for heading, first in (
            (" by speedup", ["random", "root", "joint", "stem", "allegro"]),
            (" by mean error", ["stem", "allegro", "joint", "root", "random"]),
            (" by drawn", ["random", "root", "joint", "stem", "allegro"]),
            ("", list(RANDOM)),
        ):
            await pilot.press("s")
            assert f"[4] Methods{heading} ─" in screen_text(app)
            assert table_of(app).methods == first + last
        assert table_of(app).highlighted == "joint", "the cursor stays on its method"


async def test_the_method_under_the_cursor_becomes_the_plans(resnet: str) -> None:
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        for key in ("enter", "p"):
            await pilot.press("g", key)
            await wait_for(pilot, lambda: "the plan is by joint already" in screen_text(app), "nothing to do")
            await pilot.press("j", key)
            await planned(pilot, app)
            assert app.session.options.method == "root"
            await wait_for(pilot, lambda: "root, epsilon 0.05: 49 of 5,600" in screen_text(app), "its plan")
            assert "draws each, [r] again" in screen_text(app), "another method makes no comparison stale"
            await pilot.press("j", "j", "j", "j", key)
            await wait_for(pilot, lambda: "Plan unchanged: pks needs metrics" in screen_text(app), "why not")
            assert app.session.options.method == "root"
            await pilot.press("g", key)
            await planned(pilot, app)
            assert app.session.options.method == "joint"


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
    return replace(app.session.options, **changes)


@pytest.mark.parametrize(("sizes", "ascii_only"), [([(80, 24), (200, 60)], False), ([(60, 15)], True)])
async def test_the_copied_command_prints_what_is_copied(
    gpt: str, tmp_path: Path, sizes: list[tuple[int, int]], ascii_only: bool
) -> None:
    options = OpenOptions(ascii=ascii_only, epsilon=0.03, seed=7)
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
            assert "not applicable:" in table
            assert "--methods random," in of_table, "in the order of the table"
            assert max(map(len, table.splitlines())) <= size[0]
            assert table.isascii() or not ascii_only
            assert printed(of_table, size[0], tmp_path) == table
            assert printed(of_scatter, 132, tmp_path) == scatter, "the scatter has its own size"


async def test_a_cancelled_comparison_is_copied_as_far_as_it_came(
    resnet: str, tmp_path: Path, stalling: Callable[..., type[Stalling]]
) -> None:
    stalling("stem")
    async with opened(resnet, view="Compare") as (app, pilot):
        assert view_of(app).pane_text().text == "" or table_of(app).methods
        await wait_for(pilot, lambda: "C stem: " in screen_text(app), "two are done")
        text, command = await copied(app, pilot)
        await pilot.press("c")
        assert (text, command) == await copied(app, pilot)
    assert command == f"kernelpoint compare {resnet} --methods joint,root"
    assert printed(command, 80, tmp_path) == text


async def test_several_files_are_one_workload(resnet: str, gpt: str, tmp_path: Path) -> None:
    app = KernelPointApp(session_of((resnet, gpt), OpenOptions()), view="Compare")
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: isinstance(app.screen, CompareScreen), "the view")
        await compared(pilot, app)
        text, command = await copied(app, pilot)
    assert "--one-workload" in command
    assert printed(command, 80, tmp_path) == text


async def test_no_color_means_none_and_the_cursor_is_still_seen(
    resnet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(resnet, view="Compare") as (app, pilot):
        await compared(pilot, app)
        assert colours(app) == set()
        rows = [
            "".join(part.text for part in strip if part.style and part.style.reverse)
            for strip in strips_of(app)
        ]
        assert any(row.startswith("A joint") for row in rows), "the row"
        assert sum(row == "A" for row in rows) == 2, "the point, and its entry in the legend"


# Without an app


def row(method: str, **figures: Any) -> dict[str, Any]:
    names = ("strata", "samples", "speedup", "bound", "group_bound")
    errors = ("error_mean", "error_p95", "error_max", "within_epsilon")
    known = dict.fromkeys((*names, *errors), 0.5) | {"strata": 3, "samples": 10, "speedup": 20.0}
    return {"method": method, "applicable": True, "reason": None} | known | figures


def test_rows_are_sorted_by_each_figure() -> None:
    rows = [
        row("joint", speedup=5.0, samples=9, error_mean=0.2),
        {"method": "pks", "applicable": False, "reason": "no"},
        row("root", speedup=7.0, samples=9, error_mean=0.1),
        row("stem", speedup=7.0, samples=3, error_mean=0.3),
    ]
    expected = {
        CompareSort.METHOD: ["joint", "root", "stem", "pks"],
        CompareSort.SPEEDUP: ["root", "stem", "joint", "pks"],
        CompareSort.ERROR: ["root", "joint", "stem", "pks"],
        CompareSort.DRAWN: ["stem", "joint", "root", "pks"],
    }
    assert {sort: [each["method"] for each in sorted_rows(rows, sort)] for sort in CompareSort} == expected


@pytest.mark.parametrize("width", [0, 1, 5, 20, 40, 60, 80, 200])
def test_lines_are_no_wider_than_asked(width: int) -> None:
    rows = [row("first-instructions"), {"method": "pks", "applicable": False, "reason": "pks needs much"}]
    heading, lines = compare_lines(rows, ("sieve", "cutting kernels, 3 %"), width, ascii_only=True)
    assert len(heading) <= width
    assert all(len(line.text) <= max(width - 2, 0) for line in lines)
    assert [line.symbol for line in lines] == ["K", "F", "H"]
    if width == 200:
        assert lines[1].text == "pks needs much"
        assert lines[2].text == "sieve: cutting kernels, 3 %"


def test_a_reason_that_does_not_name_its_method_is_given_its_name() -> None:
    rows = [{"method": "pks", "applicable": False, "reason": "too many launches"}]
    assert compare_lines(rows, None, 80, ascii_only=True)[1][0].text == "pks: too many launches"


async def test_methods_out_of_sight_are_counted(gpt: str) -> None:
    async with opened(gpt, (80, 24), view="Compare") as (app, pilot):
        await wait_for(
            pilot, lambda: "[r] again; 6 below" in screen_text(app), "seven of thirteen are in sight"
        )
        await pilot.resize_terminal(200, 60)
        await wait_for(pilot, lambda: "[r] again ─" in screen_text(app), "all are")


def known_of(profile: str, methods: tuple[str, ...], **options: Any) -> tuple[Findings, Session]:
    """What is known once these methods are compared."""
    asked = SampleOptions(profiles=(profile,), **options)
    study = planning.load_study(asked, {}, lambda *_: None)
    session = Session(asked, study=study)
    wanted = asked_of(session)
    comparison = comparing.comparison_of(study.profile, wanted.profiles, wanted, lambda *_: None)
    rows = [
        comparison_row(profile, comparison.compare(method, grouping_of(wanted, method))) for method in methods
    ]
    return Findings(wanted, methods, rows=tuple(rows), ending=Ending.DONE), session


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, "draws at least 2 a stratum and allows for noise in simulation (min-samples, noise-floor)"),
        ({"noise_floor": 0.0}, "draws at least 2 a stratum (min-samples)"),
        ({"min_samples": 1, "noise_floor": 0.3}, "allows for noise in simulation (noise-floor)"),
        ({"min_samples": 1, "noise_floor": 0.0}, None),
    ],
)
def test_where_root_is_faster_joint_says_why(
    resnet: str, options: dict[str, Any], wanted: str | None
) -> None:
    known, session = known_of(resnet, ("joint", "root"), epsilon=0.05, **options)
    joint, root = known.rows
    after = "" if wanted is None else f"; unlike root it {wanted}"
    assert what_to_say(known, joint, session) == f"joint: this project, on Allegro and STEM+ROOT{after}"
    assert what_to_say(known, root, session) == "root: STEM+ROOT, section IV", "root says nothing"


def test_where_joint_is_faster_there_is_nothing_to_explain(gpt: str) -> None:
    known, session = known_of(gpt, ("joint", "root"))
    assert what_to_say(known, known.rows[0], session) == "joint: this project, on Allegro and STEM+ROOT"


def test_your_split_decisions_are_said_to_be_left_out(gpt: str) -> None:
    known, session = known_of(gpt, ("joint", "root"))
    assert session.study is not None
    decided = replace(session, overrides={session.study.counts.groups[0].key: {"": Verdict.SPLIT}})
    joint, root = known.rows
    assert "here without your 1 split decision" in what_to_say(known, joint, decided)
    assert "split decision" not in what_to_say(known, root, decided)
