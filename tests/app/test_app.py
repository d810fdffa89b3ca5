"""The app under a pilot: what a person sees and does in view 1."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.plan.draft import Draft
from sampling.plan.findings import Finding
from sampling.plan.request import PlanRequest
from tests.app.driving import SIZES, App, Running, draft_in, drawn, opened, resized, screen_text, wait_for
from tests.drawing import in_ascii
from tui.app import groups, planning, wording
from tui.app.app import KernelPointApp
from tui.app.groups import GroupsScreen, GroupTable
from tui.app.planning import load_draft
from tui.app.running import open_session
from tui.app.view import HelpScreen
from tui.app.widgets import Chart
from tui.options.choices import GroupSort
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions
from tui.text.groups import list_groups


@asynccontextmanager
async def running(
    path: str, size: tuple[int, int] = (80, 24), **given: Any
) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 1, its profile loaded and drawn."""
    async with opened(path, size, **given) as (app, pilot):
        await wait_for(pilot, lambda: bool(app.screen.query(GroupTable)), "its table is there")
        await wait_for(pilot, lambda: table_of(app).row_count > 0, "rows are in the table")
        await wait_for(pilot, lambda: "0 " in drawn(chart_of(app)), "the histogram is drawn")
        yield app, pilot


def table_of(app: App) -> GroupTable:
    return app.screen.query_one(GroupTable)


def chart_of(app: App) -> Chart:
    return app.screen.query_one(Chart)


def ranks(app: App) -> list[int]:
    return [group + 1 for group in table_of(app).keys]


async def test_groups_stand_in_rank_order_with_findings_key_and_plan_in_sight(resnet: str) -> None:
    key_rows = {(60, 15): 1, (80, 24): 1, (120, 40): 3, (200, 60): 4}
    async with running(resnet) as (app, pilot):
        key, wrapped = draft_in(app).counts.groups[0].key, app.screen.query_one("#group-key")
        samples = draft_in(app).design.strata.samples.sum()
        for size in SIZES:
            await resized(app, pilot, *size)
            await wait_for(pilot, lambda size=size: wrapped.size.height == key_rows[size], "the key's rows")  # type: ignore[misc]
            text = screen_text(app)
            assert ranks(app) == list(range(1, 35))
            assert table_of(app).row_count == 34
            assert "[1] Kernel groups by total" in text
            assert "#1 explicit_convolve_sgemm" in text
            assert re.search(r"\[f\] (1 note|i )", text.splitlines()[1])
            assert f"{samples} of 5,600" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert "Quit" in text.splitlines()[-1]
            shown = "".join(wrapped.render_line(row).text for row in range(wrapped.size.height)).rstrip()
            assert shown.startswith("void explicit_convolve_sg")
            assert shown == key if wrapped.size.height > 1 else shown.endswith("<<<98x1x1, 32x32x1>>>")
            assert shown[:25] in text


async def test_keys_move_the_cursor(resnet: str) -> None:
    async with running(resnet) as (app, pilot):
        for keys, row in (
            (["G"], 33),
            (["g"], 0),
            (["down", "down"], 2),
            (["up"], 1),
            (["end"], 33),
            (["home"], 0),
        ):
            await pilot.press(*keys)
            await wait_for(pilot, lambda row=row: app.session.selected == row, f"row {row} after {keys}")  # type: ignore[misc]
        await pilot.press("pagedown")
        await wait_for(pilot, lambda: (app.session.selected or 0) > 3, "a page further")


async def test_the_filter_narrows_the_table_and_escape_opens_it(resnet: str) -> None:
    async with running(resnet) as (app, pilot):
        await pilot.press("/", *"SGEMM")
        await wait_for(pilot, lambda: ranks(app) == [1, 6, 10, 11, 12, 13, 17], "the groups of sgemm")
        assert '"SGEMM": 7 of 34' in screen_text(app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: app.focused is table_of(app), "back in the table, filter kept")
        assert len(ranks(app)) == 7
        await pilot.press("j")
        await wait_for(pilot, lambda: app.session.selected == 5, "the second group listed")
        await pilot.press("escape")
        await wait_for(pilot, lambda: len(ranks(app)) == 34, "all groups")
        assert table_of(app).key == 5


def test_groups_are_listed_in_every_order(gpt: str) -> None:
    draft = load_draft(SampleOptions(profiles=(gpt,)), {}, lambda *_: None)
    of = draft.groups
    assert of.clusters is not None
    assert of.samples is not None
    # A group that is pooled has no strata and no launches of its own, and comes last.
    for values, sort in (
        (of.launches, GroupSort.LAUNCHES),
        (of.mean_ns, GroupSort.MEAN),
        (of.cov, GroupSort.COV),
        (np.where(of.pooled, 0, of.clusters), GroupSort.STRATA),
        (np.where(of.pooled, 0, of.samples), GroupSort.DRAWN),
    ):
        listed = [float(values[group]) for group in list_groups(draft, sort).groups]
        assert listed == sorted(listed, reverse=True)
    names = [draft.counts.groups[group].name for group in list_groups(draft, GroupSort.NAME).groups]
    assert names == sorted(names)
    pooled = set(np.flatnonzero(of.pooled).tolist())
    assert pooled
    for sort, reverse in product((GroupSort.STRATA, GroupSort.DRAWN), (False, True)):
        assert set(list_groups(draft, sort, reverse=reverse).groups[-len(pooled) :]) == pooled


def test_a_key_is_shortened_in_its_name_first(resnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = load_draft(SampleOptions(profiles=(resnet,)), {}, lambda *_: None)
    key = draft.counts.groups[0].key
    assert in_ascii(True, groups.group_key, draft, 0, 1000) == key
    for cells in (20, 30, 60, 80):
        short = in_ascii(True, groups.group_key, draft, 0, cells)
        assert len(short) == cells
        assert "..." in short
        assert short.endswith("<<<98x1x1, 32x32x1>>>") == (cells >= 60)
    monkeypatch.setattr(Draft, "sequences", draft.sequences * 2)
    assert in_ascii(True, groups.group_key, draft, 0, 80).endswith(">>> process 4242 device 0")


FINDING = Finding(
    "odd-clock",
    "warning",
    "clock ran [backwards]",
    "The clock ran [backwards] " + "for a while " * 80,
    "Look at it",
)


async def test_f_shows_every_finding_in_full(resnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = planning.load_draft
    monkeypatch.setattr(planning, "load_draft", lambda *given: replace(read(*given), findings=(FINDING,)))
    async with running(resnet) as (app, pilot):
        for size, closing in (((80, 24), "escape"), ((80, 24), "f"), ((60, 15), "q")):
            await resized(app, pilot, *size)
            assert "[f] 1 warning" in screen_text(app).splitlines()[1]
            await pilot.press("f")
            await wait_for(pilot, lambda: "odd-clock: The clock ran [backwards]" in screen_text(app), "words")
            assert max(map(len, screen_text(app).splitlines())) <= size[0]
            if size[1] == 15:
                await wait_for(
                    pilot, lambda: "j more, ? help, esc back" in screen_text(app), "a hint at more"
                )
                await pilot.press("G")
                await wait_for(pilot, lambda: "j more" not in screen_text(app), "the end")
            await wait_for(pilot, lambda: "Remedy: Look at it." in screen_text(app), "the remedy")
            await pilot.press(closing)
            await wait_for(pilot, lambda: isinstance(app.screen, GroupsScreen), "the view again")


async def test_help_lists_every_key_of_the_view_and_goes_away(resnet: str) -> None:
    async with running(resnet, (80, 44)) as (app, pilot):
        for opening, closing in (("?", "escape"), ("f1", "q"), ("?", "?")):
            await pilot.press(opening)
            await wait_for(pilot, lambda: isinstance(app.screen, HelpScreen), "help opens")
            await wait_for(pilot, lambda: "Help: Groups" in screen_text(app), "help is drawn")
            text = screen_text(app)
            for action in chain.from_iterable(GroupsScreen.SCOPES):
                assert f"{action.display:<9} {action.description}" in text
            assert "simulates" in text, "all of it has room"
            await pilot.press(closing)
            await wait_for(pilot, lambda: isinstance(app.screen, GroupsScreen), "the view again")


async def test_copy_write_and_command_follow_the_focus(resnet: str, tmp_path: Path) -> None:
    async with running(resnet, options=OpenOptions(profiles=(resnet,), request=PlanRequest(epsilon=0.1))) as (
        app,
        pilot,
    ):
        await pilot.press("y", "w")
        file = tmp_path / "kernelpoint-groups.txt"
        await wait_for(pilot, file.exists, "a file of the table")
        assert app.clipboard == file.read_text()
        assert app.clipboard.count("\n") == 37
        await pilot.press("w")
        await wait_for(pilot, (tmp_path / "kernelpoint-groups-2.txt").exists, "nothing is overwritten")
        await pilot.press("s", "Y")
        assert app.clipboard == f"kernelpoint groups {resnet} --epsilon 0.1 --sort launches --plan"
        await pilot.press("s", "s", "s", "s", "s", "s", "tab", "x", "y")
        await wait_for(
            pilot, lambda: app.clipboard.startswith("#1 explicit_convolve"), "the label, the chart"
        )
        width, height = chart_of(app).size
        assert max(map(len, app.clipboard.splitlines())) <= width
        await pilot.press("Y")
        assert app.clipboard == (
            f"kernelpoint histogram {resnet} --epsilon 0.1 --kernel '#1' --log "
            f"--width {width} --height {height}"
        )


async def test_a_view_asked_for_while_reading_opens_once_all_is_read(
    resnet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    load_draft = planning.load_draft

    def waiting(*given: Any) -> Draft:
        go_on.wait(20)
        return load_draft(*given)

    monkeypatch.setattr(planning, "load_draft", waiting)
    app = KernelPointApp(open_session((resnet,), OpenOptions()))
    async with app.run_test() as pilot:
        await wait_for(pilot, lambda: "Reading" in screen_text(app), "the profile is read")
        await pilot.press("3")
        go_on.set()
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "view 3 opens")


async def test_reading_can_be_left(resnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("escape", "q"):
        cancelled = threading.Event()

        def never_ends(*asked: Any, cancelled: Any = cancelled) -> Draft:
            progress = asked[2]
            try:
                while True:
                    progress(1, 4, "reading on and on")
            finally:
                cancelled.set()

        monkeypatch.setattr(planning, "load_draft", never_ends)
        app = KernelPointApp(open_session((resnet,), OpenOptions()))
        async with app.run_test() as pilot:
            await wait_for(pilot, lambda app=app: "25 %" in screen_text(app), "progress")  # type: ignore[misc]
            assert "reading on and on" in screen_text(app)
            await pilot.press(key)
        assert await asyncio.to_thread(cancelled.wait, 20)
        assert (app.return_code, app.failure, wording.farewell(app.session)) == (0, None, None)


async def test_a_file_that_is_no_profile_ends_the_app_with_its_error(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no profile")
    app = KernelPointApp(open_session((str(file),), OpenOptions()))
    async with app.run_test() as pilot:
        await wait_for(pilot, lambda: app.failure is not None, "the failure arrives")
    assert isinstance(app.failure, ProfileError)
    assert app.return_code == 1


async def test_ctrl_c_says_how_to_quit_from_where_one_is(resnet: str) -> None:
    async with running(resnet) as (app, pilot):
        await pilot.press("/", "a", "ctrl+c")
        await wait_for(
            pilot, lambda: "esc leaves the field, then q quits" in screen_text(app), "q is text there"
        )
        await pilot.press("escape")
        await wait_for(pilot, lambda: app.focused is table_of(app), "back in the table")
        app.clear_notifications()
        await pilot.press("ctrl+c")
        await wait_for(pilot, lambda: "q quits" in screen_text(app), "here it does")
        assert "esc leaves" not in screen_text(app)
