"""Ended by a signal: one line and a code from the first moment on, and nothing half-made stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT, environment
from tui.output import files as temporary

# Sends the signal when a module is looked for, or when the results are written.
_ENDED = """
import importlib.abc, os, signal, sys

class Sender(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            {module_code}

sys.meta_path.insert(0, Sender())
sys.argv = ["kernelpoint", *sys.argv[1:]]
from tui.cli import main
main()
"""
_WRITING = """
import os, signal, sys
from pathlib import Path

whole = Path.write_text

def write_text(self, *words, **more):
    done = whole(self, *words, **more)
    if self.name.startswith("."):
        {code}
    return done

Path.write_text = write_text
from tui.cli import main
main()
"""


def run(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env=environment(),
        timeout=120,
        check=False,
        preexec_fn=_as_in_the_foreground,
    )


def _as_in_the_foreground() -> None:
    # A shell in the background leaves SIGINT ignored, nohup SIGHUP, and Python would keep them so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def sent(name: str) -> str:
    return f"os.kill(os.getpid(), signal.{name})"


@pytest.mark.parametrize("module", ["tui.program", "sampling.errors", "typer", "tui.parser", "tui.registry"])
def test_an_interruption_while_the_program_is_imported(module: str, resnet: Path) -> None:
    ended = run(_ENDED.format(module=module, module_code=sent("SIGINT")), "info", resnet)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kernelpoint: interrupted\n")


@pytest.mark.parametrize("module", ["numpy", "tui.text.info"])
def test_an_interruption_of_an_import_that_is_turned_into_another_error(module: str, resnet: Path) -> None:
    swallowed = f"try: {sent('SIGINT')}\n            except KeyboardInterrupt: raise ImportError('broken')"
    ended = run(_ENDED.format(module=module, module_code=swallowed), "info", resnet)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kernelpoint: interrupted\n")


def test_an_interruption_that_a_finalizer_swallows_ends_the_program_all_the_same(
    resnet: Path, tmp_path: Path
) -> None:
    class_code = f"type('Held', (), {{'__del__': lambda _: {sent('SIGINT')}}})()"
    ended = run(_WRITING.format(code=class_code), "sample", resnet, "-o", tmp_path / "plan.json")
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (130, "kernelpoint: interrupted")
    assert "Traceback" not in ended.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"plan.json"}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_another_signal_leaves_nothing_half_made(name: str, resnet: Path, tmp_path: Path) -> None:
    """The program dies by the signal, as if nobody had listened: a shell says 143 and 129."""
    ended = run(_WRITING.format(code=sent(name)), "sample", resnet, "-o", tmp_path / "plan.json")
    # Where undoing takes long it is ended by force, with the code that a shell gives such a death.
    assert ended.returncode in {-getattr(signal, name), 128 + getattr(signal, name)}
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_start(resnet: Path, tmp_path: Path) -> None:
    killed = run(_WRITING.format(code=sent("SIGKILL")), "sample", resnet, "-o", tmp_path / "plan.json")
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    _, number, machine, _ = left.name.rsplit("-", 3)
    # In use, elsewhere, or somebody else's: none of these is surely stale.
    kept = {
        f".kernelpoint-{os.getpid()}-{machine}-00000000",
        f".kernelpoint-1-{machine}-00000000",
        f".kernelpoint-{number}-{'f' * 12}-00000000",
        f".kernelpoint-{number}-{'0' * 12}-00000000",
        f".kernelpoint-{number}-{machine}-00000000.bak",
        ".plan.json.ab12cd34",
    }
    for name in kept:
        (tmp_path / name).write_text("not to be removed")
    done = run("from tui.cli import main; main()", "sample", resnet, "-o", tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", *kept}


def test_where_nothing_says_which_machine_it_is_nothing_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "_machine", lambda: "0" * 12)
    left = tmp_path / f".kernelpoint-4194305-{'0' * 12}-00000000"
    left.touch()
    with temporary.temporary_file(tmp_path) as made:
        assert made.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [left]
