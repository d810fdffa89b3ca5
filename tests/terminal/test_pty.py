"""The program in a terminal of its own."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Kernelpoint, kernelpoint
from tests.terminal.pseudo_terminal import ENTERED, LEFT, MOST_STARTUP_BYTES, PROJECT, Terminal
from tui.terminal.printable import data_for_terminal

MOST_BYTES_A_KEY = 16 * 1024
MOST_BYTES_TO_OPEN = 40 * 1024
MOUSE_ON = re.compile(rb"\x1b\[\?(1000|1002|1003|1005|1006|1015|1016)h")
MOUSE_OFF = re.compile(rb"\x1b\[\?(1000|1002|1003|1005|1006|1015|1016)l")
COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")

# A second, and what a loaded machine needs.
LONGEST_LEAVING_SECONDS = 3

# By the signal; or by force, where a write to the terminal that has gone does not return.
HUNG_UP = {-signal.SIGHUP, 128 + signal.SIGHUP}


def test_start_look_and_quit(resnet: str) -> None:
    terminal = Terminal(resnet)
    terminal.read_until(b"explicit_convolve")
    terminal.read_until(b"Command")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert len(terminal.output) < MOST_STARTUP_BYTES
    assert set(MOUSE_ON.findall(terminal.output)) == set(MOUSE_OFF.findall(terminal.output)) != set()
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 1
    assert re.fullmatch(
        r"joint, epsilon 0\.05: \d+ of 5,600 launches, [\d.]+x expected\n"
        r"kernelpoint sample \S+resnet50-like\.sqlite --method joint -o plan\.json",
        terminal.after,
    )


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        # A terminal that has no Unicode.
        ((), {"NO_COLOR": "1", "COLUMNS": "47", "LINES": "99", "TERM": "linux"}),
        (("--color", "never", "--no-mouse", "--ascii"), {}),
    ],
)
def test_no_colour_no_mouse_or_no_unicode_is_written_where_none_is_wanted(
    gpt: str, arguments: tuple[str, ...], environ: dict[str, str]
) -> None:
    terminal = Terminal(gpt, *arguments, **environ)
    terminal.read_until(b"Command")
    terminal.press(b"j")
    terminal.read_until(b"#2 volta")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert terminal.output.isascii()
    assert COLOUR.findall(terminal.output) == []
    assert (MOUSE_ON.findall(terminal.output) == []) == ("--no-mouse" in arguments)
    # The window is as large as it is, whatever the environment says.
    rows = {int(row) for row in re.findall(rb"\x1b\[([0-9]+);[0-9]+H", terminal.output)}
    assert max(rows) == 24


@pytest.mark.parametrize(
    ("content", "arguments", "code"), [("no profile", (), 3), ("", ("--launches", "x"), 2)]
)
def test_failures_are_one_line_after_the_terminal_is_restored(
    tmp_path: Path, content: str, arguments: tuple[str, ...], code: int
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(content)
    terminal = Terminal(str(file), *arguments)
    assert terminal.leave() == code
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT)
    assert terminal.after.count("\n") == 0
    assert terminal.after.startswith("kernelpoint: error: ")


CRASHING = """
import sys
from tui.app import planning
from tui.app import groups
def broken(*_):
    local_secret = "in a local variable"
    raise RuntimeError("a defect")
{place} = broken
from tui import cli
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        pytest.param("planning.load_draft", b"", id="worker"),
        pytest.param("groups.GroupsScreen.action_sort", b"s", id="key"),
    ],
)
def test_a_crash_is_one_line_and_a_log_file(resnet: str, tmp_path: Path, place: str, keys: bytes) -> None:
    script = tmp_path / "crashing.py"
    script.write_text(CRASHING.format(place=place))
    terminal = Terminal(resnet, program=(str(script),), TMPDIR=str(tmp_path))
    if keys:
        terminal.read_until(b"Command")
        terminal.press(keys)
    assert terminal.leave() == 1
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 1
    found = re.fullmatch(
        r"kernelpoint: error: internal error: RuntimeError: a defect; .* (\S+\.log)", terminal.after
    )
    assert found
    log = Path(found[1]).read_text()
    assert "in broken" in log
    assert b"local_secret" not in terminal.output


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """A profile that is never read to its end: nobody writes to this pipe."""
    pipe = tmp_path / "endless.json"
    os.mkfifo(pipe)
    return str(pipe)


IGNORING_HANGUPS = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from tui import cli
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("own", "reading"), [(True, False), (False, True)], ids=["signalled, shown", "no signal, reading"]
)
def test_a_dropped_connection_ends_the_program(
    resnet: str, endless: str, tmp_path: Path, own: bool, reading: bool
) -> None:
    terminal = Terminal(endless if reading else resnet, own=own, TMPDIR=str(tmp_path))
    terminal.read_until(b"Reading endless.json" if reading else b"Command")
    assert terminal.hang_up() in HUNG_UP
    assert [path.name for path in tmp_path.iterdir()] == ["endless.json"], (
        "neither a crash log nor a part of a file"
    )


def test_a_connection_that_takes_no_more_output_ends_a_program_that_ignores_hangups(gpt: str) -> None:
    terminal = Terminal(gpt, program=("-c", IGNORING_HANGUPS), own=True)
    terminal.read_until(b"Command")
    # Unread, this fills the terminal's buffer and the queue before it: the program waits to write.
    for _ in range(100):
        terminal.press(b"jkx")
        terminal.resize(79, 24)
        terminal.resize(80, 24)
    assert terminal.hang_up() in HUNG_UP


@pytest.mark.parametrize(("number", "reading"), [(signal.SIGTERM, True), (signal.SIGINT, False)])
def test_a_signal_ends_the_program_and_gives_the_terminal_back(
    resnet: str, endless: str, number: signal.Signals, reading: bool
) -> None:
    terminal = Terminal(endless if reading else resnet)
    terminal.read_until(b"Reading endless.json" if reading else b"Command")
    terminal.send(number)
    assert terminal.leave() == -number
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 1
    assert terminal.after == ""


def test_reading_can_be_left_while_it_hears_nothing(endless: str) -> None:
    terminal = Terminal(endless)
    terminal.read_until(b"q quit")
    for size in ((1, 1), (10, 3), (80, 24)):
        before = len(terminal.output)
        terminal.resize(*size)
        terminal.read_until(b"\x1b[", after=before)
    terminal.read_until(b"q quit", after=before)
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert terminal.after == ""


def test_ctrl_c_ends_the_reading_as_it_ends_a_command(endless: str, tmp_path: Path) -> None:
    terminal = Terminal(endless, TMPDIR=str(tmp_path))
    terminal.read_until(b"ctrl+c interrupt")
    begun = time.monotonic()
    terminal.press(b"\x03")
    assert terminal.leave() == 130
    assert time.monotonic() - begun < LONGEST_LEAVING_SECONDS
    assert terminal.after == "kernelpoint: interrupted"
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["endless.json"]


def test_ctrl_z_gives_the_terminal_back_until_the_program_goes_on(resnet: str) -> None:
    terminal = Terminal(resnet)
    terminal.read_until(b"Command")
    # As it was, then of another size.
    for size in ((80, 24), (100, 30)):
        # What is still to be painted would be painted afterwards in any case.
        before = terminal.settle()
        terminal.press(b"\x1a")
        terminal.read_until(LEFT, after=before)
        terminal.wait_for_state("T")
        assert termios.tcgetattr(terminal.slave) == terminal.modes
        before = terminal.settle()
        terminal.resize(*size)
        terminal.send(signal.SIGCONT)
        terminal.read_until(b"Command", after=before)
        terminal.settle()
        painted = {int(row) for row in re.findall(rb"\x1b\[([0-9]+);1H", terminal.output[before:])}
        assert painted == set(range(1, size[1] + 1)), "every row: the terminal shows nothing of it by then"
    terminal.press(b"\x03")
    # It is written in pieces, as the keys below it are cut; and cells that are as they were not at all.
    terminal.read_until(b"qui", after=before)
    terminal.press(b"\x11")
    assert terminal.leave() == 0
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 3


def test_a_key_takes_few_bytes_and_nothing_is_written_without_one(gpt: str) -> None:
    terminal = Terminal(gpt)
    terminal.read_until(b"Command")
    before = terminal.settle()
    # To leave a search lists all groups again.
    opening = {b"?", b"/", b"\x1b", b"2"}
    for key in (b"j", b"s", b"?", b"q", b"/", b"a", b"\x1b", b"2"):
        terminal.press(key)
        # A cursor that blinks in a field would never let it settle.
        after = terminal.settle()
        assert after - before < (MOST_BYTES_TO_OPEN if key in opening else MOST_BYTES_A_KEY), key
        before = after
    terminal.press(b"q")
    assert terminal.leave() == 0


def imported_with(*modules: str) -> set[str]:
    """Every module that importing these brings, in a process of its own."""
    names = f"import sys; import {', '.join(modules)}; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", names], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_the_first_paint_waits_for_neither_engine_nor_numpy_nor_views() -> None:
    imported = imported_with("tui.commands.opening", "tui.app.running")
    assert "textual.app" in imported
    assert not imported & {"numpy", "sampling.plan.draft", "tui.engine.drafts", "tui.app.view"}


def test_words_and_walks_bring_no_textual() -> None:
    assert "textual" not in imported_with("tui.app.plan_details", "tui.program")


def test_keys_in_one_packet_are_taken_in_their_order(gpt: str) -> None:
    terminal = Terminal(gpt)
    terminal.read_until(b"Command")
    terminal.press(b"3j\r\x7f1\r" + b"j\r\x7f\x7f\x7f\x7f0.9\r" + b"q")
    assert terminal.leave() == 0
    assert " --epsilon 0.01 --confidence 0.9 --method joint -o plan.json" in terminal.after


def test_what_follows_the_key_that_opens_a_field_goes_there(gpt: str) -> None:
    terminal = Terminal(gpt)
    terminal.read_until(b"Command")
    terminal.press(b"/gemm\rjjY")
    terminal.read_until(b"\x1b]52;")
    terminal.read_until(b"\x07")
    copied = base64.b64decode(terminal.output.rpartition(b"\x1b]52;c;")[2].partition(b"\x07")[0]).decode()
    assert copied.endswith("gpt2-like.json.gz --filter gemm --plan")
    terminal.press(b"q")
    assert terminal.leave() == 0


WHY = "kernelpoint: TERM={} has no full screen, so this is the {}; to open the app, set TERM to what"


def test_the_summary_is_printed_instead_and_a_line_says_why(gpt: str) -> None:
    terminal = Terminal(gpt, "--method", "root", TERM="unknown")
    assert terminal.leave() == 0
    assert ENTERED not in terminal.output
    shown = terminal.output.decode()
    assert WHY.format("unknown", "summary") in shown
    assert shown.count("kernelpoint: ") == 1
    assert "13,920 launches" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("open", "--app", "{}"), "--app: TERM=dumb has no full screen; set TERM to what the terminal is"),
        (
            ("scale", "open"),
            "TERM=dumb has no full screen, and no file to predict from; give one, or set TERM",
        ),
    ],
)
def test_where_nothing_can_be_printed_instead_it_is_an_error_of_usage(
    gpt: str, words: tuple[str, ...], said: str
) -> None:
    terminal = Terminal(*(word.replace("{}", gpt) for word in words), TERM="dumb")
    assert terminal.leave() == 2
    assert ENTERED not in terminal.output
    assert said in terminal.output.decode()


__all__ = ["kernelpoint"]

NAME = "=cmd()|' /C calc'!A0 \x1b[31mred\x9b2J \u202etxt.exe \x07\u200b\U000e0041 end"
HOSTILE = "\x1b\x9b\x07\u202e\u200b\U000e0041"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["Start (ns)", "Duration (ns)", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Name"]
        )
        writer.writerows([[1000 * at, 100 + at % 7, 1, 1, 1, 32, 1, 1, NAME] for at in range(40)])
    return path


@pytest.mark.parametrize("form", ["json", "table"])
def test_nothing_steers_the_terminal(hostile: Path, form: str) -> None:
    terminal = Terminal("groups", str(hostile), "--format", form, "--color", "never", "-q")
    assert terminal.leave() == 0
    shown = terminal.output.decode()
    assert [mark for mark in HOSTILE if mark in shown] == []
    # A table that the terminal's width is too small for has a label in place of the key.
    assert ("=cmd" if form == "table" else "=cmd()") in shown
    if form == "json":
        assert json.loads(shown)["results"][0]["name"] == NAME


def test_nor_does_a_product_on_stdout(hostile: Path, tmp_path: Path, kernelpoint: Kernelpoint) -> None:
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", hostile, "-o", plan).code == 0
    terminal = Terminal("export", str(plan), "--to", "csv", "-o", "-", "-q")
    assert terminal.leave() == 0
    shown = terminal.output.decode()
    assert [mark for mark in HOSTILE if mark in shown] == []
    assert "=cmd()" in shown


def test_a_pipe_and_a_file_get_what_there_is(hostile: Path, tmp_path: Path, kernelpoint: Kernelpoint) -> None:
    rows = kernelpoint("groups", hostile, "--format", "csv").out
    assert next(csv.DictReader(io.StringIO(rows)))["name"] == NAME
    assert kernelpoint("groups", hostile, "--format", "jsonl").jsonl[0]["name"] == NAME
    kernelpoint("groups", hostile, "--format", "csv", "-o", tmp_path / "rows.csv")
    in_file = (tmp_path / "rows.csv").read_text()
    assert in_file.replace("'=cmd", "=cmd") == rows, "an apostrophe apart, for spreadsheets"


def test_json_for_a_terminal_is_the_same_json() -> None:
    text = json.dumps([NAME, "plain\tü 中\n"], ensure_ascii=False, indent=1) + "\n"
    shown = data_for_terminal(text)
    assert json.loads(shown) == json.loads(text)
    assert data_for_terminal("a,b\r\n1\t2\n") == "a,b\r\n1\t2\n"
    assert data_for_terminal("1\r2\n") == "1\\u000d2\n"
