"""Paths as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.options.places import home_expanded


def test_home_is_written_as_in_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of-one")
    assert home_expanded("~/plan.json") == Path("/home/of-one/plan.json")
    assert home_expanded("here/~x") == Path("here/~x")


def test_the_home_of_nobody_stays_as_it_is_typed() -> None:
    assert home_expanded("~nobody-of-this-name/plan.json") == Path("~nobody-of-this-name/plan.json")
