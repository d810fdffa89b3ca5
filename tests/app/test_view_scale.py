"""View 5 under a pilot: a number changed in its table, the editor, its panes, its files, and what it copies.

What it shows of a question is tested without an app, in `tests/scale/test_scale_questions.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.app.driving import SIZES, App, Running, drawn, opened, printed, resized, screen_text, wait_for
from tests.terminal.pseudo_terminal import MOST_STARTUP_BYTES, Terminal
from tui.app.groups import GroupsScreen
from tui.app.scale import CellInput, ScaleScreen, ScaleTable, ScaleWords
from tui.app.view import HelpScreen
from tui.app.widgets import Chart
from tui.options.files import sample_scale_question
from tui.scale.questions import OpenQuestions, made_up_questions


@asynccontextmanager
async def scale(
    size: tuple[int, int] = (80, 24), path: str | None = None, **given: Any
) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 5, its table drawn."""
    async with opened(path, size, view="Scale model", **given) as (app, pilot):
        await wait_for(pilot, lambda: "[5] " in screen_text(app), "the table has its title")
        await wait_for(
            pilot,
            lambda: "[tab] In words" in screen_text(app) or "[tab] What is" in screen_text(app),
            "so have the words",
        )
        yield app, pilot


def questions(app: App) -> OpenQuestions:
    return app.session.scale or made_up_questions()


def ipc(app: App) -> dict[int, float]:
    return dict(questions(app).shown.measurements.ipc)


def table(app: App) -> ScaleTable:
    return app.screen.query_one(ScaleTable)


def chart(app: App) -> Chart:
    return app.screen.query_one(Chart)


async def shows(app: App, pilot: Running, text: str, description: str = "") -> None:
    """Wait until a text is on the screen."""
    await wait_for(pilot, lambda: text in screen_text(app), description or text)


async def focused(app: App, pilot: Running) -> None:
    """Wait until the table has the focus, and no cell is typed in."""
    await wait_for(pilot, lambda: app.focused is table(app), "back in the table")


# -- panes and sizes --------------------------------------------------------------------------------------


async def test_every_size_shows_what_it_has_room_for() -> None:
    async with scale() as (app, pilot):
        for size in SIZES:
            await resized(app, pilot, *size)
            await shows(app, pilot, "[E] edit, [o] open")
            text = screen_text(app)
            for part in ("[5] Made-up numbers, no real GPU", "  16  199", "simulated", "784.2"):
                assert part in text
            assert "cliff 64 to 128 SMs" in text
            assert "[tab] In words: super-linear" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert not app.screen.query_one("#plan").display
            if size[1] > 15:
                assert "371.1 to 422.6" in text
                assert "the working set comes to fit" in text
                assert "░" in text
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
    assert "  16  199" not in screen_text(app)
    await pilot.press("tab")
    await shows(app, pilot, "Rule additive", "the words")
    assert max(map(len, screen_text(app).splitlines())) <= 60
    await pilot.press("tab")
    await shows(app, pilot, "  16  199", "the table again")
    await pilot.press("shift+tab")
    await shows(app, pilot, "Rule additive", "and back to the words")


async def test_the_words_say_whether_there_is_more_and_the_palette_runs_an_action() -> None:
    async with scale() as (app, pilot):
        await shows(app, pilot, "j more", "a hint")
        await pilot.press("tab", "tab", *"jjjjjj")
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


# -- a number is changed ----------------------------------------------------------------------------------


async def test_a_number_is_changed_where_the_cursor_is() -> None:
    async with scale() as (app, pilot):
        await the_cursor_stays_among_the_numbers(app, pilot)
        await escape_leaves_a_number_as_it_was_and_every_key_is_text(app, pilot)
        before = drawn(chart(app))
        await pilot.press("g", "h", "h", "h", "j", "l", "enter", *"120.5", "enter")
        await wait_for(pilot, lambda: ipc(app) == {8: 100, 16: 120.5}, "another IPC")
        await wait_for(pilot, lambda: drawn(chart(app)) != before, "another chart")
        await focused(app, pilot)
        assert (table(app).cursor, table(app).column) == (1, 1)
        # c = C = 120.5/100/2 < 1: eff / (1 + M (1/c - 1)) T.
        await shows(app, pilot, f"{120.5 / 16 * 32 / (1 + 1 * (200 / 120.5 - 1)):.4g}", "the new prediction")
        await shows(app, pilot, "[5] Sizes, from made-up numbers")
        await what_is_wrong_is_said_and_the_field_stays(app, pilot)


async def the_cursor_stays_among_the_numbers(app: App, pilot: Running) -> None:
    for keys, cell in (
        (["k", "h"], (0, 0)),
        (["down", "right", "j", "l"], (2, 2)),
        (["G", "j"], (4, 2)),
        (["l", "l", "l"], (4, 3)),
        (["g"], (0, 3)),
        (["end"], (4, 3)),
        (["home", "left", "up"], (0, 2)),
    ):
        await pilot.press(*keys)
        assert (table(app).cursor, table(app).column) == cell, keys


async def escape_leaves_a_number_as_it_was_and_every_key_is_text(app: App, pilot: Running) -> None:
    await pilot.press("home", "h", "enter")
    # The field covers the whole number behind it, whose end would read as another one.
    await shows(app, pilot, "   8  100               simulated", "the field of an IPC")
    await pilot.press("escape", "enter", *"1q5?nE")
    assert app.screen.query_one(Input).value == "1q5?nE"
    await pilot.press("escape")
    await focused(app, pilot)
    await pilot.press("enter", "enter")
    await focused(app, pilot)
    assert app.session.scale is None, "nothing was changed"


async def what_is_wrong_is_said_and_the_field_stays(app: App, pilot: Running) -> None:
    await pilot.press("l", "l", "enter", *"45", "enter")
    await shows(app, pilot, "! at size 16 f_mem is a fraction from 0 to below 1, not 45", "why it is refused")
    assert isinstance(app.focused, CellInput), "it can be corrected"
    assert questions(app).shown.measurements.f_mem == {16: 0.45}
    await pilot.press("escape")
    await shows(app, pilot, "[r] additive", "how it is asked again")


async def test_a_mouse_moves_the_cursor_and_leaving_a_field_forgets_it() -> None:
    async with scale() as (app, pilot):
        await pilot.click(ScaleTable, offset=(7, 2))
        assert (table(app).cursor, table(app).column) == (1, 1)
        await pilot.press("enter", "7")
        await pilot.click(Chart)
        await wait_for(pilot, lambda: app.focused is chart(app), "the chart has the focus")
        assert not app.screen.query(CellInput)
        assert app.session.scale is None


async def test_how_it_is_predicted_changes_by_a_key() -> None:
    async with scale((120, 40)) as (app, pilot):
        for key, text in (
            ("r", "[r] published"),
            ("i", "[i] 95 %"),
            ("a", "[a] f_mem assumed"),
            ("a", "[a] f_mem as known"),
        ):
            await pilot.press(key)
            await shows(app, pilot, text)
        await pilot.press(*"rrrrrr")
        await shows(app, pilot, "IPC per SM: all rules, 95 %")
        assert "G logarithmic" in screen_text(app)
        await pilot.press("b")
        await shows(app, pilot, "one benchmark alone", "no other")


# -- the editor, files, profiles, help ---------------------------------------------------------------------


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An editor that writes what stands in a file in place of the question, and notes what it was given."""
    script = tmp_path / "editor.sh"
    script.write_text(f'cp "$2" {tmp_path}/given && cp "$1" "$2"\n')
    monkeypatch.setenv("VISUAL", f"sh {script} {tmp_path}/new.toml")

    @contextmanager
    def suspend(_: App) -> Iterator[None]:
        yield

    monkeypatch.setattr(App, "suspend", suspend)
    return tmp_path


async def test_the_question_is_edited_as_a_toml_and_saved(editor: Path) -> None:
    async with scale((120, 40)) as (app, pilot):
        await pilot.press("E")
        await shows(app, pilot, "nothing is changed", "no new text, as the editor failed")
        (editor / "new.toml").write_text("[ipc]\n8 = 1\n")
        await pilot.press("E")
        await shows(
            app, pilot, "question.toml, key ipc: an IPC at one size alone shows no trend; correct it there"
        )
        assert app.session.scale is None
        assert (editor / "given").read_text() == made_up_questions().shown.question.toml()
        (editor / "new.toml").write_text(
            'name = "mine"\nscaling = "weak"\ntargets = [40]\n[ipc]\n8 = 1\n16 = 2\n'
        )
        await pilot.press("ctrl+e")
        await shows(app, pilot, "weak scaling", "the edited question")
        assert (editor / "given").read_text() == "[ipc]\n8 = 1\n", "it went on with what could not be read"
        assert "no cliff" in screen_text(app)
        assert questions(app).shown.question.targets == (40,)
        await pilot.press("S", "enter")
        await shows(app, pilot, "written to question.toml", "saved")
        assert Path("question.toml").read_text() == questions(app).shown.question.toml()
        await pilot.press("S", "enter")
        await shows(app, pilot, "! not written: question.toml exists", "nothing is replaced unasked")


def test_the_editor_has_the_terminal_and_the_view_comes_back(tmp_path: Path) -> None:
    script = tmp_path / "editor.sh"
    script.write_text("sed -i 's/^16 = 199.*/16 = 190/' \"$1\"; echo the editor was here\n")
    terminal = Terminal("scale", EDITOR=f"sh {script}", VISUAL="")
    terminal.read_until(b"no real GPU")
    terminal.read_until(b"Command")
    terminal.press(b"E")
    terminal.read_until(b"the editor was here")
    terminal.read_until(b"from made-up numbers")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert "--ipc 8=100,16=190 " in terminal.after


async def test_without_a_terminal_to_leave_the_editor_is_refused_in_words() -> None:
    async with scale() as (app, pilot):
        await pilot.press("E")
        await shows(app, pilot, "this terminal cannot be left for an editor")


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
        await focused(app, pilot)
        await pilot.press("r", "o", *"a.csv", "enter")
        await shows(app, pilot, "a.csv: made-up linear", "read")
        assert "[b] 1 of 3" in screen_text(app)
        assert questions(app).rule == "published"
        await pilot.press("l", "enter", "backspace", "enter", "b")
        await shows(app, pilot, "made-up congested", "the second")
        await pilot.press("b", "b")
        await shows(app, pilot, "made-up linear, edited", "the first, still edited")
        await pilot.press("o")
        assert field.value == "a.csv"
        await pilot.press("ctrl+u", *"c.csv", "enter")
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
        await focused(app, pilot)


async def test_what_cannot_be_predicted_is_said_and_nothing_is_copied(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("benchmark,size,ipc\none,8,1\none,16,2\n")
    async with scale() as (app, pilot):
        await pilot.press("o", *"two.csv", "enter")
        await shows(app, pilot, "no target is given", "why")
        for key, said in (
            ("y", "nothing here to copy"),
            ("w", "nothing here to write"),
            ("Y", "no prediction"),
        ):
            await pilot.press(key)
            await shows(app, pilot, said)
        assert app.clipboard == ""
        assert [path.name for path in Path.cwd().iterdir()] == ["two.csv"]


async def test_digits_are_views_and_help_tells_every_key(gpt: str) -> None:
    async with scale(path=gpt) as (app, pilot):
        assert app.screen.query_one("#plan").display
        await pilot.press("enter", *"12", "enter")
        await wait_for(pilot, lambda: questions(app).shown.question.sizes[0] == 12, "a size")
        await pilot.press("1")
        await wait_for(pilot, lambda: isinstance(app.screen, GroupsScreen), "the groups")
        await pilot.press("5")
        await wait_for(pilot, lambda: isinstance(app.screen, ScaleScreen), "back")
        await shows(app, pilot, "  12", "as it was left")
    async with scale((80, 60)) as (app, pilot):
        assert screen_text(app).splitlines()[0].split("  ") == [" 5 Scale model", "8 Speedups"]
        await pilot.press("1", "?")
        await wait_for(pilot, lambda: isinstance(app.screen, HelpScreen), "help opens")
        await shows(app, pilot, "Help: Scale model", "help is drawn")
        for action in chain.from_iterable(ScaleScreen.SCOPES):
            assert f"{action.display:<9} {action.description}" in screen_text(app)
        assert "  views     5 Scale model, 8 Speedups\n" in screen_text(app), "none that needs a profile"


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


async def test_the_copied_command_prints_what_is_copied(tmp_path: Path) -> None:
    async with scale((60, 15), ascii_only=True) as (app, pilot):
        for pane in range(3):
            text, command = await copied(app, pilot)
            assert ("--width" in command) == (pane == 1)
            assert text.startswith("made-up cliff: strong scaling")
            assert str(sample_scale_question()) in command
            assert printed(command + " --ascii", 60, tmp_path) == text
            await pilot.press("tab")
