"""The app in this process, in a terminal that is the same everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.settled_terminal import gpt, no_program_outlives_its_test, plain_terminal, resnet
from tests.terminal.pseudo_terminal import PATIENCE_SECONDS
from tui.app.compare.comparing import THREAD

__all__ = ["gpt", "no_program_outlives_its_test", "plain_terminal", "resnet"]


@pytest.fixture(autouse=True)
def no_comparison_outlives_its_test() -> Iterator[None]:
    """A method that nobody waits for any more may still be under way when the app has gone."""
    yield
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(PATIENCE_SECONDS)
