"""The app as its other tests run it."""

from __future__ import annotations

from tests.settled_terminal import no_program_outlives_its_test, plain_terminal

__all__ = ["no_program_outlives_its_test", "plain_terminal"]
