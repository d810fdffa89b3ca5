"""A part of a file behind an at sign: named so wherever it is understood as it was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.options.look import OpenOptions, file_and_part, part_in_name, with_part


@pytest.mark.parametrize("name", ["run.csv", "run@2.csv"])
@pytest.mark.parametrize(
    ("given", "ending", "left"),
    [
        (OpenOptions(), "", OpenOptions()),
        (OpenOptions(launches="0:5"), "@0:5", OpenOptions()),
        (OpenOptions(range="step@3"), "@step@3", OpenOptions()),
        (
            OpenOptions(range="step", launches="0:5", time="0:9"),
            "@step",
            OpenOptions(launches="0:5", time="0:9"),
        ),
        # As a part it would be launch ids.
        (OpenOptions(range="0:5"), "", OpenOptions(range="0:5")),
    ],
)
def test_the_part_goes_into_the_name_and_comes_out_again(
    name: str,
    given: OpenOptions,
    ending: str,
    left: OpenOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).touch()
    named, without = part_in_name(name, given)
    assert (named, without) == (name + ending, left)
    path, part = file_and_part(named)
    assert (path, with_part(without, part)) == (name, given)


def test_a_file_that_has_the_whole_name_is_not_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("run", "run@0:5"):
        Path(name).touch()
    given = OpenOptions(launches="0:5")
    assert part_in_name("run", given) == ("run", given)
