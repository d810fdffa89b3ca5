"""What is typed: flags in messages, numbers, parts of files, and paths."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import sampling
import tui.options.look  # noqa: F401 - its options have the flags that are meant
from sampling.errors import OptionError, PlanFileError, ProfileError
from sampling.plan import request
from sampling.plan.findings import Finding
from sampling.plan.request import PlanRequest
from sampling.text import NumberKind, Wording, joined_texts, why_no_number
from tests.cli.conftest import kernelpoint
from tui.options.command_line import error_text, findings_with_flags, flags_of_parameters, with_flags
from tui.options.files import completed, home_expanded, last_completed
from tui.options.look import OpenOptions, file_and_part, part_in_name, with_part
from tui.registry import COMMANDS

HOSTILE = "`epsilon` {epsilon} `kernel=x` {0} --set"


def test_options_are_frozen_and_given_by_their_names() -> None:
    options = OpenOptions(profiles=("a",), request=PlanRequest(seed=3))
    assert (
        options == OpenOptions(profiles=("a",), request=PlanRequest(seed=3)) != OpenOptions(profiles=("a",))
    )
    assert len({options, copy.copy(options)}) == 1
    with pytest.raises(AttributeError, match="request of OpenOptions is frozen"):
        options.request = PlanRequest()  # type: ignore[misc]
    with pytest.raises(TypeError, match="OpenOptions has no speed"):
        OpenOptions(speed=1)  # type: ignore[call-arg]


def test_a_caught_error_names_the_parameter_and_the_program_its_flag() -> None:
    with pytest.raises(OptionError) as caught:
        PlanRequest(epsilon=5.0)
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
    words: dict[str, set[str]] = {name: {request.flags(name)[0]} for name in request.NAMES}
    for command in COMMANDS.values():
        for option in fields(command.options):
            if option.metadata.get("flags") and option.metadata["parameter"] is None:
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


__all__ = ["kernelpoint"]

NUMBERS = sorted(
    {
        *(
            (command, option.metadata["flags"][0], option.metadata["kind"])
            for command in COMMANDS
            for option in fields(COMMANDS[command].options)
            if float in {(hint := get_type_hints(COMMANDS[command].options)[option.name]), *get_args(hint)}
        ),
        *(
            (command, request.flags(name)[0], NumberKind.FRACTION)
            for command in COMMANDS
            for name in COMMANDS[command].options.request_names
            if float in {(kind := request.value_type(name)), *get_args(kind)}
        ),
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
        (("sample", "--group-epsilon", "x"), "--group-epsilon x: a number is meant, as 0.25, or none"),
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


@pytest.mark.parametrize("name", ["run.csv", "run@2.csv"])
@pytest.mark.parametrize(
    ("given", "ending", "left"),
    [
        (OpenOptions(), "", OpenOptions()),
        (OpenOptions(request=PlanRequest(launches="0:5")), "@0:5", OpenOptions()),
        (OpenOptions(request=PlanRequest(range="step@3")), "@step@3", OpenOptions()),
        (
            OpenOptions(request=PlanRequest(range="step", launches="0:5", time="0:9")),
            "@step",
            OpenOptions(request=PlanRequest(launches="0:5", time="0:9")),
        ),
        # As a part it would be launch ids.
        (OpenOptions(request=PlanRequest(range="0:5")), "", OpenOptions(request=PlanRequest(range="0:5"))),
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
    given = OpenOptions(request=PlanRequest(launches="0:5"))
    assert part_in_name("run", given) == ("run", given)


def test_home_is_written_as_in_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of-one")
    assert home_expanded("~/plan.json") == Path("/home/of-one/plan.json")
    assert home_expanded("here/~x") == Path("here/~x")
    # The home of nobody stays as it is typed.
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
    *(("pl", "plan"), ("plan-", "plan-2.json"), ("plan-2.json", "plan-2.json"), ("~/plan.", "~/plan.json")),
    *(("", ""), (".", ".hidden"), ("o", "of one run/"), ("of one run/", "of one run/a b.csv")),
    *((name, name) for name in ("nothing", "no such/folder", "a\0")),
]
WORDS = [
    *(("x.csv plan-", "x.csv plan-2.json"), ("x.csv ", "x.csv "), ("x.csv of", "x.csv of\\ one\\ run/")),
    *(("of\\ one\\ run/", "of\\ one\\ run/a\\ b.csv"), ("~/o", "~/of\\ one\\ run/")),
    ("a.sqlite=plan-", "a.sqlite=plan-2.json"),
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
