"""Names made to steer a terminal: of kernels, files and benchmarks, on the screen and in text."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from tests.app.driving import (
    App,
    Running,
    is_drawn,
    opened,
    printed_by,
    screen_text,
    strips_of,
    view_of,
    wait_for,
)
from tests.cli.test_hostile_inputs import SECRET, nsys
from tests.drawing import in_ascii
from tests.terminal.pseudo_terminal import PROJECT, Terminal
from tui import cli
from tui.app.app import PrintableFilter
from tui.app.views import VIEWS

KERNELS = (
    "ends\x1b[2J",
    "\x1b]52;c;aGFja2VkIQ==\x07pwn",
    "c1\x9b2J\u202eturned\u2066",
    "two\nrows\x7f",
    "\u0627\u0644\u0639\u0631\u0628",
    "[red]brackets[/red] ' \" and quotes",
    "核函数_矩阵乘法_二十个字的名字_很长很长的名字<float>",
    "long" * 400,
)
LABELS = (r"ends\x1b", r"\x1b]52;c;")
FILE = "e\x1b]52;c;aGFja2VkIQ==\x07x \x1b[31mred.parquet"
SHEET = """benchmark,size,ipc,mpki
"b\x1b]52;c;aGFja2VkIQ==\x07 \u0627\x1b[2J",8,10.0,5.0
"b\x1b]52;c;aGFja2VkIQ==\x07 \u0627\x1b[2J",16,19.0,5.0
"b\x1b]52;c;aGFja2VkIQ==\x07 \u0627\x1b[2J",32,,5.0
"""

# Of the names' sequences, what no program of ours writes by itself.
STEERING = (
    b"\x1b]52;c;aGFja2VkIQ==",
    b"ends\x1b",
    b"\x1b[31mred",
    "\x9b".encode(),
    "\u202e".encode(),
    b"\x7f",
)


def check_bytes(output: bytes) -> None:
    for sequence in STEERING:
        assert sequence not in output, output[max(output.index(sequence) - 200, 0) :][:400]


@pytest.fixture
def named(tmp_path: Path) -> str:
    """A profile of these kernels, the first of them the longest."""
    names = [name for name in KERNELS for _ in range(30)]
    durations_ns = [
        2 ** (len(KERNELS) - place // 30) * (1_000 + 137 * place % 900) for place in range(len(names))
    ]
    path = tmp_path / FILE
    pq.write_table(pa.table({"name": names, "duration_ns": pa.array(durations_ns, pa.int64())}), path)
    return str(path)


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A table of sizes of such a benchmark, in such a file."""
    path = tmp_path / FILE.replace(".parquet", ".csv")
    path.write_text(SHEET, encoding="utf-8")
    return str(path)


def words_in_shell(commands: list[str]) -> list[list[str]]:
    """The arguments of copied command lines, as the shell reads them that they are pasted in."""
    script = "\n".join(["kernelpoint() { printf '%s\\0' \"$@\" $'\\n'; }", *commands])
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True, timeout=60)
    lines = done.stdout.split("\0\n\0")
    return [line.split("\0") for line in lines if line]


def test_no_view_lets_a_name_steer_the_terminal(named: str) -> None:
    terminal = Terminal(named)
    terminal.read_until(b"Command")
    for keys in (b"Y", b"2", b"3", b"4", b"6", b"f"):
        terminal.press(keys)
        terminal.settle()
    terminal.press(b"qq")
    assert terminal.leave() == 0
    check_bytes(terminal.output)
    assert r"$'" in terminal.after


@pytest.mark.parametrize("ascii_only", [False, True], ids=["unicode", "ascii"])
async def test_every_row_is_as_wide_as_the_screen_and_copies_are_what_the_command_prints(
    named: str, tmp_path: Path, ascii_only: bool
) -> None:
    copies: list[tuple[str, str]] = []
    async with opened(named, ascii_only=ascii_only) as (app, pilot):
        for view in VIEWS:
            await app.action_view(view.name)
            await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
            has_groups = view.name in {"Groups", "Split tree"}
            for group in range(len(KERNELS)) if has_groups else (0,):
                app.change(selected=group)
                await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
                if has_groups:
                    await wait_for(pilot, lambda: f"] #{group + 1} " in screen_text(app), "its title")  # noqa: B023
                if has_groups and group < len(LABELS):
                    await wait_for(pilot, lambda: has_title(app, group), LABELS[group])  # noqa: B023
                check_rows(app)
            if view.name == "Groups":
                copies.append(await copied(app, pilot))
                await pilot.press("tab")
            elif view.name == "Plan":
                await pilot.press("tab", "t", "t")
                await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
            if view.name in {"Groups", "Split tree", "Plan"}:
                copies.append(await copied(app, pilot))
    words = words_in_shell([command for _, command in copies])
    assert len(words) == len(copies) == 4
    for (text, command), arguments in zip(copies, words, strict=True):
        assert command.isprintable()
        assert command.isascii() or not ascii_only
        assert printed_by(arguments, 80, tmp_path) == text
        check_bytes(text.encode())
        assert text.isascii() or not ascii_only


def check_rows(app: App) -> None:
    """Each row has as many cells as the screen, and nothing in it steers the terminal."""
    for strip in strips_of(app):
        text = "".join(segment.text for segment in strip)
        assert cell_len(text) == app.size.width, text
        assert not any(unicodedata.category(mark) in {"Cc", "Cf"} for mark in text), text
        assert text.isascii() or not app.session.ascii_only


async def copied(app: App, pilot: Running) -> tuple[str, str]:
    """What `y` and then `Y` copy."""
    app.copy_to_clipboard("")
    await pilot.press("y")
    await wait_for(pilot, lambda: bool(app.clipboard), "copied")
    text = app.clipboard
    await pilot.press("Y")
    await wait_for(pilot, lambda: app.clipboard.startswith("kernelpoint "), "copied")
    return text, app.clipboard


def has_title(app: App, group: int) -> bool:
    """Whether a pane's title names the group, and is filled to its end."""
    rule = "-" if app.session.ascii_only else "\u2500"
    rows = [row for row in screen_text(app).splitlines() if row.startswith(rule) and f"#{group + 1} " in row]
    return any(LABELS[group] in row and row.endswith(rule) for row in rows)


async def test_no_view_shows_what_a_profile_stores_of_the_user(tmp_path: Path) -> None:
    async with opened(str(nsys(tmp_path))) as (app, _):
        assert SECRET not in screen_text(app)
        assert SECRET not in view_of(app).pane_text().text


async def test_a_benchmark_is_copied_as_it_is_printed(table: str, tmp_path: Path) -> None:
    from tui.scale.questions import open_questions, questions_from

    scale = questions_from(open_questions([table]))
    async with opened(None, view="Scale model", scale=scale, ascii_only=True) as (app, pilot):
        await wait_for(pilot, lambda: r"b\x1b]52;c;" in screen_text(app), "the title names it")
        check_rows(app)
        text, command = view_of(app).pane_text().text, view_of(app).command()
    (arguments,) = words_in_shell([command])
    assert printed_by(arguments, 80, tmp_path) == text
    assert text.isascii()


COMMANDS = ("groups", "summary", "info", "tree", "histogram", "sample", "sample --list strata", "compare")


def run_here(*arguments: str) -> tuple[int, bytes]:
    """The exit code of a command, and all that it writes."""
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
    with redirect_stdout(written), redirect_stderr(written):
        code = cli.run(list(arguments))
    return code, written.buffer.getvalue()


@pytest.mark.parametrize(
    "command", [*COMMANDS, "groups --format markdown", "groups --format json", "no such"]
)
def test_no_command_lets_a_name_steer_the_terminal(named: str, command: str) -> None:
    code, written = run_here(*command.split(), named)
    assert (code == 0) is (command != "no such"), written
    check_bytes(written)
    assert b"\x1b" not in written


def test_ascii_is_ascii_on_stderr_too(named: str) -> None:
    code, written = run_here("tree", named, "--ascii", "--kernel", "\u0627\u0644")
    assert code == 0
    assert written.isascii()
    assert rb"\u0627\u0644\u0639" in written
    # What is said of the whole program.
    missing = subprocess.run(
        [sys.executable, "-m", "tui", "info", "\u0627.sqlite", "--ascii"],
        check=False,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        timeout=60,
    )
    assert rb"\u0627.sqlite" in missing.stderr
    assert missing.stderr.isascii()
    code, written = run_here("groups", named, "--filter", "\x1b[2J no \x9bsuch")
    assert code == 4
    check_bytes(written)
    assert b"\x1b" not in written


def test_what_a_widget_forgets_is_taken_out_before_the_terminal() -> None:
    segments = [Segment("a\x1b[2Jb\u00a0"), Segment("\u6838\u202e\u00e9")]
    shown = PrintableFilter().apply(segments, Color(0, 0, 0))
    assert [segment.text for segment in shown] == ["a[2Jb ", "\u6838\u00e9"]
    shown = in_ascii(True, PrintableFilter().apply, segments, Color(0, 0, 0))
    assert [segment.text for segment in shown] == ["a[2Jb ", "???"]
    assert sum(each.cell_length for each in shown) == sum(each.cell_length for each in segments)
    harmless = [Segment("\u6838")]
    assert PrintableFilter().apply(harmless, Color(0, 0, 0)) is harmless
