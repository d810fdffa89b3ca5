"""`scale open`, and `scale` without a word of its own: the app, or what `scale predict` prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tui import cli
from tui.app import running
from tui.app.scale import ScaleScreen
from tui.app.state import Session
from tui.terminal import tty as terminal

Run = Any
Kernelpoint = Callable[..., Run]


@pytest.fixture
def table(sample_data: Path) -> Path:
    return sample_data / "scale-model-example.csv"


@pytest.mark.parametrize(
    "words",
    [
        ("TABLE",),
        ("TABLE", "--benchmark", "made-up cliff"),
        ("TABLE", "-b", "made-up cliff", "--format", "json"),
        ("TABLE", "--format", "csv", "--ascii"),
        ("--ascii", "TABLE"),
    ],
)
def test_without_a_terminal_it_predicts_and_says_how_to_open_the_app(
    kernelpoint: Kernelpoint, table: Path, words: tuple[str, ...]
) -> None:
    placed = [table if word == "TABLE" else word for word in words]
    predicted = kernelpoint("scale", "predict", *placed)
    for opening in (("scale",), ("scale", "open")):
        run = kernelpoint(*opening, *placed)
        assert run.code == predicted.code == 0
        assert run.out == predicted.out
        assert run.err == "kernelpoint: no terminal, so this is the prediction; `ssh -t` opens the app\n"
        assert kernelpoint(*opening, *placed, "--quiet").err == ""


def test_several_files_and_standard_input_are_read(
    kernelpoint: Kernelpoint, table: Path, sample_data: Path
) -> None:
    question = sample_data / "scale-model-example.toml"
    both = kernelpoint("scale", table, question, "--format", "json").results
    assert [each["benchmark"] for each in both][2:] == ["made-up cliff", "made-up cliff"]
    piped = kernelpoint("scale", "-", "--format", "json", stdin=question.read_bytes())
    assert piped.results == kernelpoint("scale", "predict", question, "--format", "json").results


def test_without_a_terminal_and_a_file_there_is_nothing_to_do(kernelpoint: Kernelpoint) -> None:
    family = kernelpoint("scale")
    assert (family.code, family.err) == (2, "")
    assert "open" in family.out
    assert "no file" in kernelpoint("scale", "open").failed(2)
    assert "ssh -t" in kernelpoint("scale", "--quiet").failed(2)
    assert "ssh -t" in kernelpoint("scale", "--app").failed(2)
    assert kernelpoint("scale", "--help").out == kernelpoint("scale", "-h").out
    assert "Usage" in kernelpoint("scale", "open", "--help").out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("predct",), ("predct", "'predict'", "kernelpoint scale --help")),
        (("valdate", "x.csv"), ("valdate", "'validate'")),
        (("nothing",), ("nothing", "kernelpoint scale --help")),
        (("TABLE", "--benchmrk", "x"), ("--benchmrk", "--benchmark", "kernelpoint scale open --help")),
        (("TABLE", "--rule", "all"), ("--rule", "kernelpoint scale open --help")),
        (("--quiet", "predict", "TABLE"), ("--quiet", "kernelpoint scale predict --quiet")),
        (("TABLE", "--benchmark", "x"), ("no benchmark 'x'", "made-up linear")),
    ],
)
def test_usage_errors_are_2(
    kernelpoint: Kernelpoint, table: Path, words: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    error = kernelpoint("scale", *(table if word == "TABLE" else word for word in words)).failed(2)
    for part in parts:
        assert part in error


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Session, bool, str]]:
    """What the app is opened with, in a terminal that a person can see and steer."""
    calls: list[tuple[Session, bool, str]] = []

    def run_app(session: Session, *, mouse: bool, view: str, **_: object) -> None:
        calls.append((session, mouse, view))

    monkeypatch.setattr(terminal, "is_interactive", lambda: True)
    monkeypatch.setattr(running, "run_app", run_app)
    return calls


def test_in_a_terminal_the_app_opens_without_a_profile(
    opened: list[tuple[Session, bool, str]], table: Path
) -> None:
    assert cli.run(["scale"]) == 0
    assert cli.run(["scale", str(table), "--no-mouse", "--ascii", "--color", "never"]) == 0
    assert cli.run(["scale", "open", "-b", "made-up cliff", str(table)]) == 0
    (bare, mouse, view), (read, no_mouse, _), (one, _, _) = opened
    assert (bare.profiles, bare.scale, mouse, view) == ((), None, True, ScaleScreen.NAME)
    assert not no_mouse
    assert read.ascii_only
    assert read.options.color.value == "never"
    assert read.scale is not None
    assert [sheet.name for sheet in read.scale.sheets] == [
        "made-up linear",
        "made-up congested",
        "made-up cliff",
    ]
    assert one.scale is not None
    assert [sheet.name for sheet in one.scale.sheets] == ["made-up cliff"]


def test_in_a_terminal_what_cannot_be_read_is_said_before_the_app(
    opened: list[tuple[Session, bool, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["scale", "missing.csv"]) == 3
    assert "missing.csv: cannot be read" in capsys.readouterr().err
    assert cli.run(["scale", "predct"]) == 2
    assert opened == []
