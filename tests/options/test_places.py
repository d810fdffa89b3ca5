"""Paths as they are typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tui.options.files import completed, home_expanded, last_completed


def test_home_is_written_as_in_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of-one")
    assert home_expanded("~/plan.json") == Path("/home/of-one/plan.json")
    assert home_expanded("here/~x") == Path("here/~x")


def test_the_home_of_nobody_stays_as_it_is_typed() -> None:
    assert home_expanded("~nobody-of-this-name/plan.json") == Path("~nobody-of-this-name/plan.json")


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, the home folder too, with files of some names."""
    (tmp_path / "of one run").mkdir()
    for name in ("plan.json", "plan-2.json", ".hidden", "of one run/a b.csv"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


PATHS = [
    ("pl", "plan"),
    ("plan-", "plan-2.json"),
    ("plan-2.json", "plan-2.json"),
    ("nothing", "nothing"),
    ("", ""),
    (".", ".hidden"),
    ("o", "of one run/"),
    ("of one run/", "of one run/a b.csv"),
    ("~", "~/"),
    ("~/plan.", "~/plan.json"),
    ("no such/folder", "no such/folder"),
    ("a\0", "a\0"),
]
WORDS = [
    ("x.csv plan-", "x.csv plan-2.json"),
    ("x.csv ", "x.csv "),
    ("x.csv of", "x.csv 'of one run/'"),
    ("'of one run/'", "'of one run/a b.csv'"),
    ("x 'of on", "x 'of one run/'"),
    ('"of one run/a', "'of one run/a b.csv'"),
    ("of\\ o", "'of one run/'"),
    ("~/o", "~/'of one run/'"),
    ("a.sqlite=plan-", "a.sqlite=plan-2.json"),
    ("'", "'"),
]


@pytest.mark.parametrize(
    ("complete", "text", "wanted"),
    [*((completed, *case) for case in PATHS), *((last_completed, *case) for case in WORDS)],
)
def test_a_path_is_completed_as_far_as_the_names_agree(
    named: Path, complete: Callable[[str], tuple[str, list[str]]], text: str, wanted: str
) -> None:
    assert complete(text)[0] == wanted


def test_the_names_that_a_path_may_go_on_with(named: Path) -> None:
    assert completed(f"{named}/p") == (f"{named}/plan", ["plan-2.json", "plan.json"])
    assert last_completed("x plan")[1] == ["plan-2.json", "plan.json"]
