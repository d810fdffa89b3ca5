"""A terminal that is the same everywhere: fixtures for the tests of the app and of the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import Terminal

_SETTINGS = (
    "NO_COLOR",
    "FORCE_COLOR",
    "COLORTERM",
    "LC_ALL",
    "LC_CTYPE",
    "COLUMNS",
    "LINES",
    "SSH_CONNECTION",
)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Fix what the app asks the environment for; what it writes lands in a folder of the test's own."""
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def no_program_outlives_its_test() -> Iterator[None]:
    """A program left running would fail whichever test is next."""
    yield
    Terminal.end_all()


@pytest.fixture
def resnet(sample_data: Path) -> str:
    """A small profile: 5,600 launches in 34 kernel groups."""
    return str(sample_data / "resnet50-like.sqlite")


@pytest.fixture
def gpt(sample_data: Path) -> str:
    """Another one, with clusters in its largest kernel groups."""
    return str(sample_data / "gpt2-like.json.gz")
