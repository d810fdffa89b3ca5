"""The real program in a real terminal: bytes out, keys in, and the terminal as it was afterwards."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
MOST_STARTUP_BYTES = 64 * 1024
ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """The program on a pseudo-terminal of 80x24."""

    def __init__(self, *arguments: str, program: tuple[str, ...] = ("-m", "tui"), **environ: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self._slave = slave
        self.output = b""
        self._process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | {"PYTHONPATH": str(PROJECT)} | environ,
        )

    def read_until(self, wanted: bytes) -> None:
        """Collect what the program writes, up to the bytes wanted."""
        while wanted not in self.output:
            self._read(f"{wanted!r} in {self.output[-2000:]!r}")

    def _read(self, missing: str) -> bool:
        ready, _, _ = select.select([self._master], [], [], 30)
        assert ready, f"silent for 30 seconds; missing: {missing}"
        try:
            chunk = os.read(self._master, 65536)
        except OSError:
            return False
        self.output += chunk
        return bool(chunk)

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._master, keys)

    def leave(self) -> int:
        """Wait for the program's end and return its exit code."""
        modes = None
        while True:
            ready, _, _ = select.select([self._master], [], [], 0.05)
            if ready:
                self._read("the end")
            elif self._process.poll() is not None:
                modes = termios.tcgetattr(self._slave)
                break
        os.close(self._slave)
        os.close(self._master)
        assert modes == self.modes, "the terminal's modes are as before"
        return self._process.returncode

    @property
    def after(self) -> str:
        """What is written once the app has given the screen back."""
        rest = self.output.rpartition(LEFT)[2].decode()
        return re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07]*\x07", "", rest).replace("\r", "").strip()


def test_start_look_and_quit(resnet: str) -> None:
    terminal = Terminal(resnet)
    terminal.read_until(b"explicit_convolve")
    terminal.read_until(b"Command")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert len(terminal.output) < MOST_STARTUP_BYTES
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 1
    assert re.fullmatch(
        r"joint, epsilon 0\.05: \d+ of 5,600 launches, [\d.]+x   "
        r"kernelpoint sample \S+resnet50-like\.sqlite --method joint -o plan\.json",
        terminal.after,
    )


@pytest.mark.parametrize(
    ("arguments", "environ"), [((), {"NO_COLOR": "1"}), (("--color", "never"), {}), (("--ascii",), {})]
)
def test_no_colour_or_no_unicode_is_written_where_none_is_wanted(
    gpt: str, arguments: tuple[str, ...], environ: dict[str, str]
) -> None:
    terminal = Terminal(gpt, *arguments, **environ)
    terminal.read_until(b"Command")
    terminal.press(b"j")
    terminal.read_until(b"#2 volta")
    terminal.press(b"q")
    assert terminal.leave() == 0
    if "--ascii" in arguments:
        assert terminal.output.isascii()
    else:
        colours = re.findall(
            rb"\x1b\[(?:[0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m", terminal.output
        )
        assert colours == []


def test_a_terminal_without_unicode_gets_ascii(gpt: str) -> None:
    terminal = Terminal(gpt, TERM="linux")
    terminal.read_until(b"Command")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert terminal.output.isascii()


@pytest.mark.parametrize(
    ("content", "arguments", "code"),
    [("no profile", (), 3), (None, (), 3), ("", ("--launches", "x"), 2)],
)
def test_failures_are_one_line_after_the_terminal_is_restored(
    tmp_path: Path, content: str | None, arguments: tuple[str, ...], code: int
) -> None:
    file = tmp_path / "notes.txt"
    if content is not None:
        file.write_text(content)
    terminal = Terminal(str(file), *arguments)
    assert terminal.leave() == code
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT)
    assert terminal.after.count("\n") == 0
    assert terminal.after.startswith("kernelpoint: error: ")


def test_filters_that_leave_nothing(resnet: str) -> None:
    terminal = Terminal(resnet, "--include", "no such kernel")
    assert terminal.leave() == 4
    assert terminal.after.startswith("kernelpoint: error: ")


CRASHING = """
import sys
from tui.app.screens import groups
def broken(*_):
    local_secret = "in a local variable"
    raise RuntimeError("a defect")
groups.draw_group = broken
from tui import cli
sys.exit(cli.run(sys.argv[1:]))
"""


def test_a_crash_is_one_line_and_a_log_file(resnet: str, tmp_path: Path) -> None:
    script = tmp_path / "crashing.py"
    script.write_text(CRASHING)
    terminal = Terminal(resnet, program=(str(script),), TMPDIR=str(tmp_path))
    assert terminal.leave() == 1
    assert terminal.output.count(ENTERED) == terminal.output.count(LEFT) == 1
    found = re.fullmatch(
        r"kernelpoint: error: internal error: RuntimeError: a defect; .* (\S+\.log)", terminal.after
    )
    assert found
    log = Path(found[1]).read_text()
    assert "in broken" in log
    assert b"local_secret" not in terminal.output
