"""What is decided about the terminal."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys

import pytest

from tui.terminal.tty import ascii_only, is_interactive, is_terminal, use_color, width


class FakeStream:
    def __init__(self, *, tty: bool) -> None:
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")


TTY, PIPE = FakeStream(tty=True), FakeStream(tty=False)


@pytest.mark.parametrize(
    ("flag", "environ", "encoding", "expected"),
    [
        (False, {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, "utf-8", False),
        (True, {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, "utf-8", True),
        (False, {"TERM": "linux", "LANG": "en_US.UTF-8"}, "utf-8", True),
        (False, {"TERM": "dumb"}, "utf-8", True),
        (False, {"TERM": "vt100"}, "utf-8", True),
        (False, {"LANG": "C"}, "utf-8", True),
        (False, {"LANG": "de_DE.ISO-8859-1"}, "utf-8", True),
        (False, {"LANG": "de_DE.utf8"}, "utf-8", False),
        (False, {"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, "utf-8", False),
        (False, {"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, "utf-8", True),
        (False, {"LANG": "C", "LC_ALL": "C.UTF-8"}, "utf-8", False),
        (False, {"LC_CTYPE": "UTF-8"}, "utf-8", False),
        (False, {}, "utf-8", False),
        (False, {}, None, False),
        (False, {}, "ascii", True),
        (False, {"LANG": "en_US.UTF-8"}, "latin-1", True),
        (False, {}, "no such encoding", True),
    ],
)
def test_ascii_only(flag: bool, environ: dict[str, str], encoding: str | None, expected: bool) -> None:
    assert ascii_only(flag, environ, encoding) is expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({"LANG": "C"}, True), ({"LC_ALL": "C"}, True), ({}, False), ({"LANG": "C.UTF-8"}, False)],
)
def test_ascii_only_sees_the_locale_that_python_hides(environ: dict[str, str], expected: bool) -> None:
    """Python puts UTF-8 in the place of the C locale, also into the environment (PEP 538)."""
    code = "import os; from tui.terminal.tty import ascii_only; print(ascii_only(False, os.environ, 'utf-8'))"
    clean = {name: value for name, value in os.environ.items() if name not in {"LC_ALL", "LC_CTYPE", "LANG"}}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str(expected)


@pytest.mark.parametrize(
    ("mode", "stream", "environ", "expected"),
    [
        ("auto", TTY, {"TERM": "xterm"}, True),
        ("auto", TTY, {}, True),
        ("auto", PIPE, {"TERM": "xterm"}, False),
        ("auto", None, {"TERM": "xterm"}, False),
        ("auto", TTY, {"TERM": "dumb"}, False),
        ("auto", TTY, {"NO_COLOR": "1"}, False),
        ("auto", TTY, {"NO_COLOR": ""}, True),
        ("auto", PIPE, {"FORCE_COLOR": "1"}, True),
        ("auto", PIPE, {"FORCE_COLOR": "0"}, False),
        ("auto", PIPE, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", PIPE, {"NO_COLOR": "1"}, True),
        ("never", TTY, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_use_color(mode: str, stream: FakeStream | None, environ: dict[str, str], expected: bool) -> None:
    assert use_color(mode, stream, environ) is expected


@pytest.mark.parametrize(
    ("environ", "columns"),
    [
        ({"COLUMNS": "132"}, 132),
        ({"COLUMNS": "0"}, 100),
        ({"COLUMNS": "-5"}, 100),
        ({"COLUMNS": "wide"}, 100),
        ({}, 100),
    ],
)
@pytest.mark.parametrize("stream", [None, PIPE, io.StringIO()])
def test_width_without_a_terminal(environ: dict[str, str], columns: int, stream: FakeStream | None) -> None:
    assert width(environ, stream) == columns


def test_width_of_a_terminal() -> None:
    termios = pytest.importorskip("termios")
    leader, follower = pty.openpty()
    with open(follower, "w") as stream, open(leader, "wb"):  # noqa: PTH123
        termios.tcsetwinsize(follower, (30, 97))
        assert width({}, stream) == 97
        assert width({"COLUMNS": "60"}, stream) == 60
        termios.tcsetwinsize(follower, (0, 0))
        assert width({}, stream) == 100


def test_a_closed_or_absent_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(closed)
    assert not is_terminal(None)
    assert width({}, closed) == 100


@pytest.mark.parametrize("piped", [None, "stdin", "stdout", "stderr"])
def test_a_person_is_there_only_if_all_streams_are_terminals(
    piped: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, PIPE if name == piped else TTY)
    assert is_interactive() is (piped is None)
