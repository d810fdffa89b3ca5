"""The program in a terminal of its own."""

from __future__ import annotations

from tests.settled_terminal import gpt, no_program_outlives_its_test, plain_terminal, resnet

__all__ = ["gpt", "no_program_outlives_its_test", "plain_terminal", "resnet"]
