"""The engine's parameters, said as the flags of the options."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import sampling
import tui.options.look  # noqa: F401 - its options have the flags that are meant
from sampling.errors import OptionError, PlanFileError, ProfileError
from sampling.plan.findings import Finding
from sampling.strata.target import Target
from sampling.text import Wording, joined_texts
from tui.options.command_line import error_text, findings_with_flags, flags_of_parameters, with_flags
from tui.registry import COMMANDS

HOSTILE = "`epsilon` {epsilon} `kernel=x` {0} --set"


def test_a_caught_error_names_the_parameter_and_the_program_its_flag() -> None:
    with pytest.raises(OptionError) as caught:
        Target(epsilon=5.0)
    assert str(caught.value) == "`epsilon` is a fraction between 0 and 1, not 5; did you mean 0.05?"
    assert error_text(caught.value) == "--epsilon is a fraction between 0 and 1, not 5; did you mean 0.05?"


def test_what_a_user_has_typed_or_a_file_holds_is_no_parameter() -> None:
    error = OptionError(Wording("`kernel={!r}`: none has it", HOSTILE), remedy="`epsilon` of " + HOSTILE)
    assert error_text(error) == f"--kernel {HOSTILE!r}: none has it; `epsilon` of {HOSTILE}"
    assert str(error) == f"`kernel={HOSTILE!r}`: none has it; `epsilon` of {HOSTILE}"


def test_the_remedy_and_a_path_stay_apart() -> None:
    error = ProfileError("is empty", path="`epsilon`", row=3, remedy=Wording("see `group_by=name`"))
    assert error_text(error) == "`epsilon`, row 3: is empty; see --group-by name"


def test_an_error_in_an_error_is_said_with_its_flags() -> None:
    inner = OptionError(Wording("`seed` is 0 or more, not {}", -1))
    error = PlanFileError(Wording("a plan with bad options ({})", inner.text), path="plan.json")
    assert error_text(error) == "plan.json: a plan with bad options (--seed is 0 or more, not -1)"


def test_findings_have_their_flags_in_backticks() -> None:
    finding = Finding("code", "note", "few words", "of `epsilon`", Wording("group by `group_by=name`"))
    (shown,) = findings_with_flags([finding])
    assert (shown.message, shown.remedy) == ("of `epsilon`", "group by `--group-by name`")


def test_other_errors_are_said_as_they_are() -> None:
    assert error_text(ValueError("`epsilon`")) == "`epsilon`"


def test_a_copy_is_the_same_wording() -> None:
    text = joined_texts("; ", ["{}", Wording("`seed` {}", HOSTILE)])
    assert with_flags(copy.deepcopy(text)) == f"{{}}; --seed {HOSTILE}"


def test_a_parameter_has_one_flag() -> None:
    words: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for option in fields(command.options):
            if not option.metadata.get("argument") and option.metadata["parameter"] is None:
                long = next(flag for flag in option.metadata["flags"] if flag.startswith("--"))
                words.setdefault(option.name, set()).add(long)
    assert {name for name, flags in words.items() if len(flags) > 1} == set()


def _templates() -> Iterator[str]:
    """Yield the templates of all wordings of the engine; what is filled in by an f-string is a name."""
    for path in Path(sampling.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Wording":
                yield from (
                    part.value
                    for part in ast.walk(node.args[0])
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )


def test_the_parameters_of_all_wordings_have_a_flag() -> None:
    before = set(flags_of_parameters())
    # Options are imported for the command that is named.
    assert all(command.options for command in COMMANDS.values())
    assert before <= set(flags_of_parameters())
    named = {name for text in _templates() for name in re.findall(r"`([a-z_]+)(?:=[^`]*)?`", text)}
    assert len(named) > 12
    assert named <= set(flags_of_parameters())
