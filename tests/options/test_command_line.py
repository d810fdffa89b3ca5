"""Options as a command line, and back; a change as what is typed."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.plan.findings import Change
from sampling.plan.request import PlanRequest
from sampling.reduction import GroupBy
from tui import cli, parser
from tui.options.choices import ColorMode, GroupSort, OutputFormat, TimelineBy
from tui.options.command_line import change_text, changed, command_line, options_of
from tui.options.look import GroupsOptions, HistogramOptions, OpenOptions, TimelineOptions
from tui.options.plan import SampleOptions
from tui.registry import COMMANDS


def parsed(line: str) -> Any:
    """The options that the command line's command is run with."""
    program, command, *words = shlex.split(line)
    assert program == "kernelpoint"
    caught: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        run = COMMANDS[command].run
        patch.setattr(f"{run.__module__}.{run.__name__}", caught.append)
        # No file is written, so any name will do.
        patch.setattr(parser, "check_places", lambda _: None)
        assert cli.run([command, *words]) == 0
    return caught[0]


# What cannot be printed is quoted as bash knows it, and `shlex` does not.
TEXT = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=12)
# Of a folder that is there, like "/", every file is an input, which no output may replace.
FILE = TEXT.filter(lambda name: not Path(name).is_dir())
REQUESTS = st.builds(
    PlanRequest,
    seed=st.integers(0, 2**40),
    group_by=st.sampled_from(GroupBy),
    pool_devices=st.booleans(),
    device=st.lists(st.integers(0, 7).map(str), max_size=2).map(tuple),
    include=st.lists(TEXT, max_size=2).map(tuple),
    exclude=st.lists(TEXT, max_size=2).map(tuple),
    launches=st.none() | st.just("-5:9") | st.just("5:"),
    min_duration=st.none() | st.integers(1, 2**40),
    columns=st.none() | TEXT | st.just("name=Kernel Name,duration_ns='a, b':us"),
    epsilon=st.floats(0.001, 0.9),
    confidence=st.floats(0.5, 0.999),
    group_epsilon=st.none() | st.floats(1e-9, 1, exclude_max=True),
    min_samples=st.integers(1, 2**53),
    noise_floor=st.floats(0, 1, exclude_max=True),
    pool=st.booleans(),
    set=st.lists(TEXT, max_size=2).map(tuple),
    method=TEXT,
    number_locale=st.sampled_from(["C", "de_DE"]),
    cost=st.none() | TEXT,
)
SAMPLE_OPTIONS = st.builds(
    SampleOptions,
    format=st.sampled_from(OutputFormat),
    output=st.none() | TEXT,
    quiet=st.booleans(),
    color=st.sampled_from(ColorMode),
    request=REQUESTS,
    profiles=st.lists(FILE, min_size=1, max_size=3).map(tuple),
    judge=st.integers(0, 500),
    binding=st.booleans(),
    slowdown=st.none() | st.floats(1, 1e9),
    budget=st.none() | st.sampled_from(["24h", "1.5d", "90m"]),
)


@given(SAMPLE_OPTIONS)
def test_the_line_gives_the_options_back(options: SampleOptions) -> None:
    assert parsed(command_line("sample", options)) == options


@given(SAMPLE_OPTIONS)
def test_the_line_is_ascii_where_that_is_asked_for(options: SampleOptions) -> None:
    assert command_line("sample", replace(options, ascii=True)).isascii()


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("groups", GroupsOptions(profiles=("a b.sqlite", "it's"), sort=GroupSort.COV, top=3)),
        ("timeline", TimelineOptions(profiles=("-",), kernel="#3", by=TimelineBy.TIME, bins=9)),
        ("histogram", HistogramOptions(profiles=("-",), kernel="#3", log=True, width=60)),
        (
            "open",
            OpenOptions(profiles=("-odd.csv",), no_mouse=True, request=PlanRequest(include=("-x", "$HOME"))),
        ),
    ],
)
def test_other_commands_too(command: str, options: Any) -> None:
    assert parsed(command_line(command, options)) == options


def test_only_what_differs_from_the_defaults_is_written() -> None:
    options = SampleOptions(profiles=("run.sqlite",), output="plan.json")
    assert command_line("sample", options) == "kernelpoint sample run.sqlite -o plan.json"
    named = command_line("sample", options, always=("method",))
    assert named == f"kernelpoint sample run.sqlite --method {options.request.method} -o plan.json"


@pytest.mark.parametrize(
    ("slowdown", "typed"),
    [
        (1e6, "1e6"),
        (20.0, "20"),
        (2.5e12, "2.5e12"),
        (1234567.0, "1234567.0"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_numbers_are_written_as_a_person_types_them(slowdown: float, typed: str) -> None:
    line = command_line("sample", SampleOptions(profiles=("run.csv",), slowdown=slowdown))
    assert line.endswith(f"--slowdown {typed}")


def test_words_are_quoted_for_a_shell() -> None:
    options = HistogramOptions(profiles=("my run.sqlite",), kernel="#1")
    assert command_line("histogram", options) == "kernelpoint histogram 'my run.sqlite' --kernel '#1'"


def test_options_of_another_command_keep_what_both_take() -> None:
    opened = OpenOptions(
        profiles=("a",), no_mouse=True, request=PlanRequest(epsilon=0.1, exclude=("communication",))
    )
    sampled = options_of(SampleOptions, opened, output="plan.json")
    assert sampled == SampleOptions(
        profiles=("a",), output="plan.json", request=PlanRequest(epsilon=0.1, exclude=("communication",))
    )
    assert "no_mouse" not in {option.name for option in fields(sampled)}


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_shell_takes_what_cannot_be_printed(ascii_only: bool) -> None:
    names = ("a\x1b]52;c;x\x071'\\\\9.csv", "two\nrows", "\u0627\u202e $HOME", "plain")
    line = command_line("groups", GroupsOptions(profiles=names, ascii=ascii_only))
    assert line.isprintable()
    assert line.isascii() or not ascii_only
    script = f"kernelpoint() {{ shift; printf '%s\\0' \"$@\"; }}; {line}"
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, timeout=20)
    assert tuple(done.stdout.decode().split("\0"))[: len(names)] == names


OPTIONS = SampleOptions(profiles=("run.sqlite",), request=PlanRequest(device=("0", "1"), exclude=("sort",)))


@pytest.mark.parametrize(
    ("change", "typed", "after"),
    [
        (Change("devices", "0"), "--device 0", {"device": ("0",)}),
        (Change("processes", "5,7"), "--process 5,7", {"process": ("5,7",)}),
        (Change("launches", "62:"), "--launches 62:", {"launches": "62:"}),
        (
            Change("exclude", "communication"),
            "--exclude communication",
            {"exclude": ("sort", "communication")},
        ),
        (Change("group_by", "name"), "--group-by name", {"group_by": GroupBy.NAME}),
        (Change("pool_devices"), "--pool-devices", {"pool_devices": True}),
        (Change("method", "stem"), "--method stem", {"method": "stem"}),
    ],
)
def test_a_change_is_what_is_typed(change: Change, typed: str, after: dict[str, object]) -> None:
    made = changed(OPTIONS, [change])
    assert change_text([change]) == typed
    assert {name: getattr(made.request, name) for name in after} == after
    words = command_line("sample", made)
    assert shlex.split(typed)[0] in shlex.split(words)


def test_several_changes() -> None:
    both = [Change("devices", "0"), Change("processes", "5")]
    assert change_text(both) == "--device 0 --process 5"
    made = changed(OPTIONS, both)
    assert (made.request.device, made.request.process, made.request.exclude) == (("0",), ("5",), ("sort",))
