"""View 5 under a pilot: typing in its table, its panes, its files, and what it copies.

What it shows of a table is tested without an app, in `tests/scale/test_scale_sheet.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from scalemodel.measurements import MpkiUnit, Scaling
from tests.app.driving import SIZES, App, Running, drawn, opened, printed, resized, screen_text, wait_for
from tests.terminal.pseudo_terminal import MOST_STARTUP_BYTES, Terminal
from tui.app.groups import GroupsScreen
from tui.app.scale import CellInput, ScaleScreen, ScaleTable, ScaleWords
from tui.app.view import HelpScreen
from tui.app.widgets import Chart
from tui.options.files import sample_scale_question
from tui.scale.sheet import OpenTables, Role, SheetRow, made_up_tables


@asynccontextmanager
async def scale(
    size: tuple[int, int] = (80, 24), path: str | None = None, **given: Any
) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 5, its table drawn."""
    async with opened(path, size, view="Scale model", **given) as (app, pilot):
        await wait_for(pilot, lambda: "[5] " in screen_text(app), "the table has its title")
        await wait_for(pilot, lambda: "[f] " in screen_text(app), "so have the words")
        yield app, pilot


def tables(app: App) -> OpenTables:
    return app.session.scale or made_up_tables()


def table(app: App) -> ScaleTable:
    return app.screen.query_one(ScaleTable)


def place(app: App) -> tuple[int, int]:
    """The row and the column of the cursor."""
    return table(app).cursor, table(app).column


def chart(app: App) -> Chart:
    return app.screen.query_one(Chart)


def rows(app: App) -> list[tuple[str, str, str, str]]:
    return [(row.size, row.ipc, row.mpki, row.f_mem) for row in tables(app).sheet.rows]


async def settled(app: App, pilot: Running, row: int, cell: int, text: str) -> None:
    """Wait until a cell holds a text and no field is open."""
    await wait_for(pilot, lambda: rows(app)[row][cell] == text, f"row {row} has {text}: {rows(app)}")
    await wait_for(pilot, lambda: not isinstance(app.focused, CellInput), "no field is open")


async def shows(app: App, pilot: Running, text: str, description: str = "") -> None:
    """Wait until a text is on the screen."""
    await wait_for(pilot, lambda: text in screen_text(app), description or text)


# -- panes and sizes --------------------------------------------------------------------------------------


async def test_every_size_shows_what_it_has_room_for() -> None:
    async with scale() as (app, pilot):
        for size in SIZES:
            await resized(app, pilot, *size)
            await shows(app, pilot, "[N] empty, [o] open")
            text = screen_text(app)
            for part in ("[5] Made-up numbers, no real GPU", "  16   199", "simulated", "784.2"):
                assert part in text
            assert "cliff 64 to 128 SMs" in text
            assert "[f] In words: super-linear" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert not app.screen.query_one("#plan").display
            if size[1] > 15:
                assert "371.1 to 422.6" in text
                assert "the working set comes to fit" in text
                assert "░" in text
        await pilot.press("1")
        assert isinstance(app.screen, ScaleScreen)
        await pilot.press("escape")
        await wait_for(pilot, lambda: app.focused is table(app), "the digit began a cell, which is left")
        await wide_panes_stand_side_by_side(app, pilot)
        await tab_goes_through_panes_that_have_no_room(app, pilot)


async def wide_panes_stand_side_by_side(app: App, pilot: Running) -> None:
    regions = {
        name: app.screen.query_one(f"#scale-{name}-pane").region for name in ("table", "chart", "words")
    }
    assert regions["table"].y == regions["chart"].y
    assert regions["chart"].x > regions["table"].right
    assert regions["words"].x == regions["table"].x
    assert regions["words"].y == regions["table"].bottom
    assert regions["chart"].height == 58
    await resized(app, pilot, 200, 15)
    await wait_for(pilot, lambda: chart(app).size.height == 12, "a chart beside the others still")
    assert "the working set" in screen_text(app)
    await resized(app, pilot, 80, 24)
    await wait_for(pilot, lambda: chart(app).size.width == 80, "a narrower chart")
    assert "784.2" in screen_text(app)


async def tab_goes_through_panes_that_have_no_room(app: App, pilot: Running) -> None:
    await resized(app, pilot, 60, 15)
    await wait_for(pilot, lambda: table(app).size.height == 9, "a table of nine rows")
    assert "■ simulated" not in screen_text(app)
    await pilot.press("tab")
    await shows(app, pilot, "■ simulated", "the chart with its legend")
    assert "  16   199" not in screen_text(app)
    await pilot.press("tab")
    await shows(app, pilot, "Rule additive", "the words")
    assert max(map(len, screen_text(app).splitlines())) <= 60
    await pilot.press("tab")
    await shows(app, pilot, "  16   199", "the table again")
    await pilot.press("f")
    await shows(app, pilot, "Rule additive", "f goes to the words")
    await pilot.press("shift+tab")
    await shows(app, pilot, "■ simulated", "and back to the chart")


async def test_the_words_say_whether_there_is_more_and_the_palette_runs_an_action() -> None:
    async with scale() as (app, pilot):
        await shows(app, pilot, "j more", "a hint")
        await pilot.press("f", *"jjjjjj")
        await wait_for(pilot, lambda: "j more" not in screen_text(app), "the end")
        pane = app.screen.query_one(ScaleWords)
        assert pane.scroll_y == pane.max_scroll_y > 0
        await pilot.press("ctrl+p")
        await shows(app, pilot, "Search for", "the palette opens")
        await wait_for(pilot, lambda: isinstance(app.focused, Input), "its field takes the keys")
        await pilot.press(*"interval")
        await shows(app, pilot, "intervals of 80", "the palette lists it")
        await pilot.press("enter")
        await shows(app, pilot, "[i] 95 %", "another level")


# -- typing -----------------------------------------------------------------------------------------------


async def test_cells_are_typed_in() -> None:
    async with scale() as (app, pilot):
        await escape_leaves_a_cell_as_it_was_and_every_key_is_text(app, pilot)
        await the_cursor_stays_in_the_table(app, pilot)
        await a_digit_begins_a_cell_and_enter_takes_it(app, pilot)
        await shift_tab_and_the_arrows_take_a_cell_too(app, pilot)
        await tab_in_the_last_cell_takes_it_and_types_no_more(app, pilot)
        await tab_takes_a_cell_and_goes_on_in_the_next(app, pilot)


async def escape_leaves_a_cell_as_it_was_and_every_key_is_text(app: App, pilot: Running) -> None:
    await pilot.press("enter", *"1q5?nD")
    assert app.screen.query_one(Input).value == "1q5?nD"
    await pilot.press("escape")
    await wait_for(pilot, lambda: app.focused is table(app), "back in the table")
    assert rows(app)[0][0] == "8"
    assert app.session.scale is None
    await pilot.press("enter", "enter")
    await wait_for(pilot, lambda: app.focused is table(app), "taken unchanged")
    assert app.session.scale is None


async def the_cursor_stays_in_the_table(app: App, pilot: Running) -> None:
    await pilot.press("g")
    for keys, cursor in (
        (["k", "h"], (0, 0)),
        (["down", "right", "j", "l"], (2, 2)),
        (["G", "j"], (4, 2)),
        (["l", "l", "l"], (4, 3)),
        (["g"], (0, 3)),
        (["end"], (4, 3)),
        (["home", "left", "up"], (0, 2)),
    ):
        await pilot.press(*keys)
        assert place(app) == cursor, keys


async def a_digit_begins_a_cell_and_enter_takes_it(app: App, pilot: Running) -> None:
    before = drawn(chart(app))
    await pilot.press("h", "h", "j", "l", *"120.5")
    assert rows(app)[1][1] == "199"
    await pilot.press("enter")
    await settled(app, pilot, 1, 1, "120.5")
    await wait_for(pilot, lambda: drawn(chart(app)) != before, "another chart")
    assert app.focused is table(app)
    assert place(app) == (1, 1)
    # c = C = 120.5/100/2 < 1: eff / (1 + M (1/c - 1)) T.
    wanted = 120.5 / 16 * 32 / (1 + 1 * (200 / 120.5 - 1))
    await shows(app, pilot, f"{wanted:.4g}", "the new prediction")
    assert "sub-linear" in screen_text(app) or "super-linear" in screen_text(app)
    assert "[5] Sizes, from made-up numbers" in screen_text(app)


async def shift_tab_and_the_arrows_take_a_cell_too(app: App, pilot: Running) -> None:
    await pilot.press("g", "7", "shift+tab", "9", "down")
    await wait_for(pilot, lambda: rows(app)[0][:2] == ("9", "7"), f"both: {rows(app)}")
    assert place(app) == (1, 0)
    await pilot.press("9", "up")
    await wait_for(pilot, lambda: rows(app)[1][0] == "9", "a size")
    assert place(app) == (0, 0)


async def tab_in_the_last_cell_takes_it_and_types_no_more(app: App, pilot: Running) -> None:
    await pilot.press("G", "l", "l", "l", ".", "3", "tab")
    await wait_for(pilot, lambda: rows(app)[4][3] == ".3", "taken")
    assert app.focused is table(app)


async def tab_takes_a_cell_and_goes_on_in_the_next(app: App, pilot: Running) -> None:
    await pilot.press("N")
    await wait_for(pilot, lambda: rows(app) == [("", "", "", "")] * 4, "an empty table")
    await shows(app, pilot, "[5] Sizes, as typed")
    await pilot.press("8", "tab", "9", "tab", "6", "tab", "tab")
    await pilot.press("1", "6", "tab", "1", "8", "tab", "6", "tab", ".", "4", "tab")
    await pilot.press("3", "2", "tab", "tab", "0", "enter")
    wanted = [("8", "9", "6", ""), ("16", "18", "6", ".4"), ("32", "", "0", ""), ("", "", "", "")]
    await wait_for(pilot, lambda: rows(app) == wanted, f"three rows: {rows(app)}")
    await shows(app, pilot, " 60  ", "a prediction")
    assert "cliff 16 to 32 SMs" in screen_text(app)
    await pilot.press("u")
    await wait_for(pilot, lambda: rows(app)[2][2] == "", "undone")


async def test_what_is_wrong_is_marked_and_said_and_nothing_is_copied() -> None:
    async with scale() as (app, pilot):
        await pilot.press("j", "l", "l", "l", *"45", "enter")
        await shows(app, pilot, " 45!", "a mark")
        assert "row 2, size 16, f_mem: f_mem is a fraction from 0 to below 1, not 45" in screen_text(app)
        assert "1 wrong cell" in screen_text(app)
        for key, said in (
            ("y", "nothing here to copy"),
            ("w", "nothing here to write"),
            ("Y", "no prediction"),
        ):
            await pilot.press(key)
            await shows(app, pilot, said)
        assert app.clipboard == ""
        assert list(Path.cwd().iterdir()) == []
        await pilot.press("g", "h", "enter", "x", "enter")
        await shows(app, pilot, "2 wrong cells", "another one")
        assert "row 1, size 8, MPKI: 'x' is not a number" in screen_text(app), "that of the cursor"
        await pilot.press("j", "l")
        await shows(app, pilot, "row 2, size 16, f_mem: f_mem", "that of the cursor")
        await pilot.press("u", "u")
        await shows(app, pilot, "784.2", "all is well")


async def test_rows_are_added_removed_and_brought_back() -> None:
    async with scale() as (app, pilot):

        def sizes() -> list[str]:
            return [row[0] for row in rows(app)]

        await pilot.press("j", "n", *"24", "enter")
        await wait_for(pilot, lambda: sizes() == ["8", "16", "24", "32", "64", "128"], "24")
        await shows(app, pilot, "  24", "in the table")
        assert place(app) == (2, 0)
        await pilot.press("D")
        await wait_for(pilot, lambda: len(rows(app)) == 5, "24 is gone")
        await pilot.press("delete")
        await wait_for(pilot, lambda: sizes() == ["8", "16", "64", "128"], "32 is gone")
        await pilot.press("l", "l", "backspace")
        await settled(app, pilot, 2, 2, "")
        await pilot.press("u", "u", "u", "u", "u")
        await wait_for(pilot, lambda: len(rows(app)) == 5, "as it was")
        assert tables(app) == made_up_tables()
        await pilot.press("u")
        await shows(app, pilot, "nothing was edited", "no more")
        for _ in range(5):
            await pilot.press("D")
        await shows(app, pilot, "n adds a row", "words for no row")
        await pilot.press("D", "enter", "8", "backspace", "m")
        assert rows(app) == []
        await pilot.press("n")
        await wait_for(pilot, lambda: rows(app) == [("", "", "", "")], "a blank one")
        await pilot.press("m")
        assert tables(app).sheet.rows == (SheetRow(),)


async def test_what_is_asked_changes_by_a_key() -> None:
    async with scale((120, 40)) as (app, pilot):
        for key, text in (
            ("r", "[r] published"),
            ("i", "[i] 95 %"),
            ("a", "[a] f_mem assumed"),
            ("t", "[t] per warp"),
            ("s", "[s] weak"),
        ):
            await pilot.press(key)
            await shows(app, pilot, text)
        assert "no cliff" in screen_text(app)
        assert tables(app).sheet.scaling is Scaling.WEAK
        assert tables(app).sheet.mpki_unit is MpkiUnit.WARP
        assert (tables(app).rule, tables(app).confidence) == ("published", 0.95)
        await pilot.press("u", "u")
        await shows(app, pilot, "[s] strong", "edits are undone")
        assert "[i] 95 %" in screen_text(app), "what is asked is no edit"
        await pilot.press(*"rrrrrr")
        await shows(app, pilot, "Chart: all rules, 95 %")
        assert "G logarithmic" in screen_text(app)
        await a_peak_is_asked_for(app, pilot)
        await m_marks_what_a_row_is(app, pilot)


async def a_peak_is_asked_for(app: App, pilot: Running) -> None:
    await pilot.press("p", *"2", "enter")
    await shows(app, pilot, "above the peak of 2", "why there is none")
    await pilot.press("p", "x", "enter")
    await shows(app, pilot, "peak: 'x' is not a number")
    await pilot.press("p", *"64", "enter")
    await shows(app, pilot, "[p] peak 64", "a peak")
    assert app.focused is table(app)
    await pilot.press("p", "q", "escape")
    await wait_for(pilot, lambda: app.focused is table(app), "left")
    assert tables(app).sheet.peak == "64"


async def m_marks_what_a_row_is(app: App, pilot: Running) -> None:
    await pilot.press("j", "j", "m")
    await shows(app, pilot, " curve", "a point of the curve")
    assert tables(app).sheet.rows[2].role is Role.CURVE
    await pilot.press("m", "l", *"395", "enter", "m", "m")
    await wait_for(pilot, lambda: tables(app).sheet.rows[2].role is Role.CURVE, "around")
    await pilot.press("m", "m")
    await shows(app, pilot, "measured", "a target that was simulated too")
    assert "error" in screen_text(app).splitlines()[2]


async def test_a_mouse_moves_the_cursor_and_leaving_a_field_takes_it() -> None:
    async with scale() as (app, pilot):
        await pilot.click(ScaleTable, offset=(9, 2))
        assert place(app) == (1, 1)
        await pilot.press("7")
        await pilot.click(Chart)
        await settled(app, pilot, 1, 1, "7")
        assert app.focused is chart(app)


# -- files, profiles, help --------------------------------------------------------------------------------


async def test_a_file_is_opened_and_its_benchmarks_follow_each_other(
    sample_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes((sample_data / "scale-model-example.csv").read_bytes())
    (tmp_path / "c.csv").write_text("benchmark,size,ipc\nshort,8,1\nlong,8,1\nlong,16,2\nlong,32,4\n")
    async with scale() as (app, pilot):
        await what_is_no_file_is_said(app, pilot)
        await pilot.press("o", *"b.csv", "enter")
        await shows(app, pilot, "b.csv: no such file or folder", "words")
        field = app.screen.query_one("#file", Input)
        assert app.focused is field, "its name can be corrected"
        await pilot.press("home", "delete", "escape")
        await wait_for(pilot, lambda: app.focused is table(app), "left")
        assert app.session.scale is None
        await pilot.press("b")
        await shows(app, pilot, "one benchmark alone", "no other")
        await pilot.press("r", "o", *"a.csv", "enter")
        await shows(app, pilot, "a.csv: made-up linear", "read")
        assert "[b] 1 of 3" in screen_text(app)
        assert tables(app).rule == "published"
        await pilot.press("l", "7", "enter", "b")
        await shows(app, pilot, "made-up congested", "the second")
        await pilot.press("b", "b")
        await shows(app, pilot, "made-up linear, edited", "the first, still edited")
        assert rows(app)[0][1] == "7"
        await pilot.press("o")
        assert field.value == "a.csv"
        await pilot.press("escape", "u", "u")
        await shows(app, pilot, "Made-up numbers", "as before the file")
        await pilot.press("o", *"c.csv", "enter")
        await shows(app, pilot, "c.csv: long", "read")
        await shows(app, pilot, "left out: c.csv, row 2", "what of it is left out is said")


async def what_is_no_file_is_said(app: App, pilot: Running) -> None:
    Path("runs").mkdir()
    for answer in ("", "-", "runs"):
        await pilot.press("o", *answer, "enter")
        wanted = "runs: no log" if answer == "runs" else "name of a CSV"
        await shows(app, pilot, wanted)
        assert app.session.scale is None
        await pilot.press("escape")
        await wait_for(pilot, lambda: app.focused is table(app), "left")


async def test_with_a_profile_digits_are_views_and_enter_edits(gpt: str) -> None:
    async with scale(path=gpt) as (app, pilot):
        assert app.screen.query_one("#plan").display
        for size in ((60, 15), (80, 24)):
            await resized(app, pilot, *size)
            await shows(app, pilot, "1 Group")
            assert "0-9" not in screen_text(app)
        await pilot.press("enter", *"12", "enter")
        await settled(app, pilot, 0, 0, "12")
        await pilot.press("8")
        assert not isinstance(app.focused, CellInput)
        await pilot.press("1")
        await wait_for(pilot, lambda: isinstance(app.screen, GroupsScreen), "the groups")
        await pilot.press("5")
        await wait_for(pilot, lambda: isinstance(app.screen, ScaleScreen), "back")
        await shows(app, pilot, "  12", "as it was left")


async def test_without_a_profile_digits_are_typed_and_help_tells_every_key() -> None:
    async with scale() as (app, pilot):
        for size in ((60, 15), (80, 24)):
            await resized(app, pilot, *size)
            await shows(app, pilot, "0-9 Type", "that they are")
            await pilot.press("7")
            assert app.screen.query_one(Input).value == "7"
            await wait_for(pilot, lambda: "0-9 Type" not in screen_text(app), "they are text now, as all is")
            await pilot.press("8", "escape")
            await shows(app, pilot, "0-9 Type", "again")
        await resized(app, pilot, 80, 60)
        assert screen_text(app).splitlines()[0].strip() == "5 Scale model"
        await pilot.press("?")
        await wait_for(pilot, lambda: isinstance(app.screen, HelpScreen), "help opens")
        await shows(app, pilot, "Help: Scale model", "help is drawn")
        for action in chain.from_iterable(ScaleScreen.SCOPES):
            assert f"{action.display:<9} {action.description}" in screen_text(app)
        assert "  views     5 Scale model\n" in screen_text(app), "no view is offered that needs a profile"
        assert "0-9 .     type in the cell, where no profile is open" in screen_text(app)


def test_the_program_opens_it_without_a_profile_and_leaves_quietly() -> None:
    terminal = Terminal("scale")
    terminal.read_until(b"no real GPU")
    terminal.read_until(b"Command")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert len(terminal.output) < MOST_STARTUP_BYTES
    assert terminal.after == ""


# -- what is copied ---------------------------------------------------------------------------------------


async def copied(app: App, pilot: Running) -> tuple[str, str]:
    """What y copies, and the command that Y copies."""
    await pilot.press("y")
    await shows(app, pilot, "lines sent to the clipboard", "copied")
    text = app.clipboard
    await pilot.press("Y")
    return text, app.clipboard


@pytest.mark.parametrize(("size", "ascii_only", "panes"), [((60, 15), True, 3)])
async def test_the_copied_command_prints_what_is_copied(
    size: tuple[int, int], ascii_only: bool, panes: int, tmp_path: Path
) -> None:
    async with scale(size, ascii_only=ascii_only) as (app, pilot):
        for pane in range(panes):
            text, command = await copied(app, pilot)
            assert ("--width" in command) == (pane == 1)
            assert text.startswith("made-up cliff: strong scaling")
            assert str(sample_scale_question()) in command
            assert printed(command + (" --ascii" if ascii_only else ""), size[0], tmp_path) == text
            await pilot.press("tab")
