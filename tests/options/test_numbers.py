"""Numbers that are typed in per cent: every option says what is meant instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from tests.cli.conftest import kernelpoint
from tui.options.field import NumberKind, why_no_number
from tui.registry import COMMANDS

__all__ = ["kernelpoint"]

NUMBERS = sorted(
    {
        (command, option.metadata["flags"][0], option.metadata["kind"])
        for command in COMMANDS
        for option in fields(COMMANDS[command].options)
        if float in {(hint := get_type_hints(COMMANDS[command].options)[option.name]), *get_args(hint)}
    }
)
SAID = {
    NumberKind.FRACTION: "fractions are meant, not per cent: 0.05",
    NumberKind.PERCENT: "per cent are meant without their sign: 5",
    NumberKind.OTHER: "'5%' is no number",
}


@pytest.mark.parametrize(("command", "flag", "kind"), NUMBERS)
def test_per_cent_is_told_what_to_type(
    kernelpoint: Callable[..., Any], tmp_path: Path, command: str, flag: str, kind: NumberKind
) -> None:
    if not any(each[1] == flag for each in NUMBERS[: NUMBERS.index((command, flag, kind))]):
        assert SAID[kind] in kernelpoint(*command.split(), tmp_path / "x", flag, "5%").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("sample", "--group-epsilon", "25%"),
            "--group-epsilon 25%: fractions are meant, not per cent: 0.25",
        ),
        (("sample", "--group-epsilon", "x"), "--group-epsilon x: a fraction or none is meant"),
        (("trade-off", "--epsilons", "1%,5%"), "--epsilons 1%,5%: fractions are meant, not per cent: 0.01"),
        (("trade-off", "--epsilons", "0.01,x"), "fractions by commas are meant"),
    ],
)
def test_fractions_that_are_text_have_the_same_hint(
    kernelpoint: Callable[..., Any], sample_data: Path, words: tuple[str, ...], said: str
) -> None:
    profile = sample_data / "resnet50-like-gpu-trace.csv"
    assert said in kernelpoint(words[0], profile, "--method", "random", *words[1:]).failed(2)


def test_the_published_stability_is_in_per_cent() -> None:
    assert [each[2] for each in NUMBERS if each[1] == "--stability"] == [NumberKind.PERCENT]
    assert why_no_number("1e%x") == "'1e%x' is no number"
