"""What is kept where things go wrong: decisions at a crash or a signal, words and folders on a full disk."""

from __future__ import annotations

import errno
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from sampling.plan.plan_file import read_overrides
from tests.app.driving import is_drawn, opened, planned, screen_text, wait_for
from tests.terminal.pseudo_terminal import Terminal

CRASHING = """
import sys
from tui.app import groups
def broken(*_):
    raise RuntimeError("a defect")
groups.GroupsScreen.action_sort = broken
from tui import cli
sys.exit(cli.run(sys.argv[1:]))
"""


def decided(gpt: str, *program: str, own: bool = False) -> Terminal:
    """The app after one split decision, in view 1."""
    terminal = Terminal(gpt, program=program or ("-m", "tui"), own=own)
    terminal.read_until(b"Command")
    terminal.press(b"2")
    terminal.read_until(b"split at")
    terminal.press(b"+")
    terminal.read_until(b"1 split of yours")
    terminal.settle()
    terminal.press(b"1")
    terminal.settle()
    return terminal


def decisions_in(file: Path) -> int:
    return sum(map(len, read_overrides(str(file)).overrides.values()))


def test_a_crash_keeps_the_decisions_and_says_where(gpt: str, tmp_path: Path) -> None:
    script = tmp_path / "crashing.py"
    script.write_text(CRASHING)
    terminal = decided(gpt, str(script))
    terminal.press(b"s")
    assert terminal.leave() == 1
    found = re.fullmatch(
        r"kernelpoint: error: internal error: RuntimeError: a defect; your split decisions are in "
        r"(kernelpoint-overrides-\w+\.json); the traceback is in \S+\.log",
        terminal.after,
    )
    assert found, terminal.after
    assert decisions_in(tmp_path / found[1]) == 1


def test_so_does_a_signal(gpt: str, tmp_path: Path) -> None:
    terminal = decided(gpt)
    terminal.send(signal.SIGTERM)
    assert terminal.leave() == -signal.SIGTERM
    found = re.fullmatch(r"kernelpoint: your split decisions are in (\S+\.json)", terminal.after)
    assert found, terminal.after
    assert decisions_in(tmp_path / found[1]) == 1


def test_so_does_a_dropped_connection(gpt: str, tmp_path: Path) -> None:
    terminal = decided(gpt, own=True)
    assert terminal.hang_up() in {-signal.SIGHUP, 128 + signal.SIGHUP}
    (file,) = tmp_path.glob("kernelpoint-overrides-*.json")
    assert decisions_in(file) == 1


def full(*_: Any, **__: Any) -> int:
    """What the system says of a full disk: no name."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def test_a_full_disk_is_said_with_the_file_and_leaves_nothing(
    gpt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gpt, (200, 40)) as (app, pilot):
        for view, keys, broken, name in (
            ("Groups", "w", "write_text", "kernelpoint-groups.txt"),
            ("Plan", "S enter", "write_text", "plan.json"),
            ("Plan", "e enter enter", "write_bytes", "accel-sim-export/"),
        ):
            await app.action_view(view)
            await planned(pilot, app)
            await wait_for(pilot, lambda: is_drawn(app), "all is drawn")
            app.clear_notifications()
            with monkeypatch.context() as at_this_disk:
                at_this_disk.setattr(Path, broken, full)
                await pilot.press(*keys.split())
                await wait_for(pilot, lambda: "No space left on device" in screen_text(app), "why not")
            assert f"not written: {tmp_path}/{name}" in screen_text(app)
            assert list(tmp_path.iterdir()) == []
            # Another place is asked for.
            await pilot.press("escape")


async def test_a_folder_that_cannot_be_made_is_said_like_a_file(
    gpt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(self: Path, *_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    async with opened(gpt, (200, 40), view="Plan") as (app, pilot):
        await planned(pilot, app)
        monkeypatch.setattr(Path, "mkdir", read_only)
        await pilot.press("e", "enter", "enter")
        words = f"not written: {tmp_path / 'accel-sim-export'}: cannot be written (Read-only file system)"
        await wait_for(pilot, lambda: words in screen_text(app), "the whole path and why")
