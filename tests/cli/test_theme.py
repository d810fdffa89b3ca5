"""`--theme`: a wrong name is refused with those there are, a shell completes it, the app opens in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tui import cli
from tui.app import running
from tui.options.choices import Theme
from tui.terminal import tty


def test_a_wrong_name_is_refused_in_a_line_with_the_names_there_are(
    resnet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["open", str(resnet), "--theme", "nrod"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(f"'{theme}'" in line for theme in Theme)
    assert line.endswith("did you mean 'nord'?")
    assert cli.run([str(resnet), "--theme", "zzz"]) == 2
    assert capsys.readouterr().err.endswith("try `kernelpoint open --help`\n")


@pytest.mark.parametrize("words", [("open",), ("demo",), ("scale", "open")])
def test_a_shell_completes_the_name(words: tuple[str, ...]) -> None:
    typed = " ".join(("kernelpoint", *words, "--theme", "rose"))
    environ = {
        **os.environ,
        "_KERNELPOINT_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) + 2),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tui"], env=environ, capture_output=True, text=True, check=False, timeout=20
    )
    assert done.stdout.split() == ["rose-pine", "rose-pine-dawn", "rose-pine-moon"]


@pytest.mark.parametrize("words", [(), ("open",), ("demo",), ("scale", "open")])
def test_the_app_opens_in_the_theme(
    words: tuple[str, ...], resnet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    monkeypatch.setattr(tty, "is_interactive", lambda: True)
    monkeypatch.setattr(running, "run_app", lambda _, **how: opened.append(how.get("theme")))
    profile = () if words[:1] in {("demo",), ("scale",)} else (str(resnet),)
    assert cli.run([*words, *profile, "--theme", "gruvbox"]) == 0
    assert cli.run([*words, *profile]) == 0
    assert opened == [Theme.GRUVBOX, Theme.TERMINAL]
