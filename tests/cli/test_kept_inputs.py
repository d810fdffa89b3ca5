"""What a command reads is never written over: every option that names a file, of every command."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sampling.plan.plan_file import overrides_text, read_overrides
from sampling.reduction.group_by import GroupBy
from sampling.splitting.tree import Verdict
from tui.app.frame.wording import farewell
from tui.app.overrides_file import kept_decisions, options_with_overrides
from tui.app.plan.details import why_not_there
from tui.app.state import Session
from tui.engine.studies import study_as_asked
from tui.options.files import FeatureFile, is_read, reading, reads_of
from tui.options.plan import SampleOptions
from tui.registry import COMMANDS

Kernelpoint = Callable[..., Any]

# Options that are any text, and name no file to read. A new one belongs here or is an `InputFile`.
NO_FILES = {
    *("output", "svg", "device", "process", "include", "exclude", "launches", "time", "range", "columns"),
    *("group_epsilon", "set", "method", "methods", "kernel", "filter", "epsilons", "node", "to"),
    *(
        "ctas_per_sm",
        "instructions",
        "ctas",
        "budget",
        "cost",
        "simulator",
        "timeout",
        "metrics",
        "ratios",
        "top_up",
        "window",
    ),
    *(
        "simulated",
        "rule",
        "benchmark",
        "name",
        "ipc",
        "mpki",
        "target",
        "factor",
        "size",
        "capacity",
        "caches",
    ),
}
# Their `source` is one of a few words, as the parser or the reader checks.
CHOSEN = {"project": {"source"}, "estimate": {"source"}, "report": {"source"}}


def text_options(command: str) -> Iterator[tuple[Field[Any], Any]]:
    """The options and arguments of a command that take any text, with their types."""
    options = COMMANDS[command].options
    hints = get_type_hints(options, include_extras=True)
    plain = get_type_hints(options)
    for option in fields(options):
        hint = plain[option.name]
        if hint is str or str in get_args(hint):
            yield option, hints[option.name]


INPUTS = [
    (command, option) for command in COMMANDS for option, hint in text_options(command) if reads_of(hint)
]


def words_naming(command: str, option: Field[Any], path: object) -> Sequence[object]:
    """A command line of this command in which this option, and no other, names a file that is there."""
    words: list[object] = command.split()
    words += [
        path if each.name == option.name else "missing"
        for each in fields(COMMANDS[command].options)
        if each.metadata.get("argument") and (each.metadata["required"] or each.name == option.name)
    ]
    if not option.metadata.get("argument"):
        words += [option.metadata["flags"][0], path]
    return words


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_text_is_known_to_name_a_file_or_not(command: str) -> None:
    """Else a new one could name a file that nothing keeps."""
    known = NO_FILES | CHOSEN.get(command, set())
    for option, hint in text_options(command):
        assert (option.name in known) != (reads_of(hint) is not None), option.name


def test_inputs_are_found_in_every_command_that_has_any() -> None:
    with_none = set(COMMANDS) - {command for command, _ in INPUTS}
    assert with_none == {"methods"}
    assert {option.name for _, option in INPUTS} == {
        *(
            "profiles",
            "plan",
            "logs",
            "files",
            "file",
            "traces",
            "features",
            "overrides",
            "mpki_from",
            "simulator_log",
            "config",
        ),
        *("instructions_from", "trace", "results", "manifests", "against"),
        *("before", "after", "run"),
    }


@pytest.mark.parametrize(("command", "option"), INPUTS, ids=lambda part: getattr(part, "name", part))
def test_no_command_writes_over_what_it_reads(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str, option: Field[Any]
) -> None:
    own, link, hard = (tmp_path / name for name in ("own", "link", "hard"))
    own.write_text("recorded once")
    link.symlink_to(own)
    hard.hardlink_to(own)
    for target in (own, link, hard, tmp_path / "." / "own"):
        run = kernelpoint(*words_naming(command, option, own), "-o", target)
        assert f"-o {target} is what the command reads; give another file" in run.failed(2)
    assert "is what the command reads" in kernelpoint(*words_naming(command, option, link), "-o", own).failed(
        2
    )
    assert own.read_text() == "recorded once"


@pytest.mark.parametrize("command", [command for command, option in INPUTS if option.name == "features"])
def test_features_of_a_profile_are_kept_too(kernelpoint: Kernelpoint, tmp_path: Path, command: str) -> None:
    own = tmp_path / "of=this.csv"
    own.write_text("id,instructions\n")
    option = next(option for of, option in INPUTS if (of, option.name) == (command, "features"))
    run = kernelpoint(*words_naming(command, option, f"missing={own}"), "-o", own)
    assert "is what the command reads" in run.failed(2)
    assert own.read_text() == "id,instructions\n"


def test_each_of_several_profiles_is_kept(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.sqlite"
    shutil.copy(resnet, own)
    for order in ((resnet, own), (own, resnet)):
        assert "is what the command reads" in kernelpoint("compare", *order, "-o", own).failed(2)
    assert own.read_bytes() == resnet.read_bytes()


def test_what_standard_input_is_taken_from_is_kept(resnet: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.sqlite"
    shutil.copy(resnet, own)
    with own.open("rb") as stream:
        run = subprocess.run(
            [sys.executable, "-m", "tui", "groups", "-", "-o", own],
            stdin=stream,
            capture_output=True,
            check=False,
        )
    assert run.returncode == 2
    assert b"is what the command reads" in run.stderr
    assert own.read_bytes() == resnet.read_bytes()


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording that is a folder of tables, of two kernels of which one can be split."""
    folder = tmp_path / "rec"
    folder.mkdir()
    launch = np.arange(400)
    start = launch * 10_000
    kernels = {
        "start": start,
        "end": start + 1000 + launch % 4 * 2000,
        "demangledName": launch % 2,
        **{f"{what}{axis}": np.ones(400, dtype=np.int32) for what in ("grid", "block") for axis in "XYZ"},
    }
    pq.write_table(pa.table(kernels), folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet")
    pq.write_table(pa.table({"id": [0, 1], "value": ["gemm", "norm"]}), folder / "StringIds.parquet")
    return folder


def test_nothing_is_written_into_a_recording_that_is_a_folder(
    kernelpoint: Kernelpoint, recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its files say whether it is the recording of a plan, and a new one may be taken for a table."""
    (recording / "notes.txt").write_text("mine")
    (recording / "elsewhere").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "rec-too").symlink_to(recording)
    before = {path: path.read_bytes() for path in recording.iterdir() if path.exists()}
    names = ("plan.json", "notes.txt", "STRINGS.arrow", "elsewhere", "sub/plan.json", "../rec-too/plan.json")
    for name in (*[path.name for path in before], *names):
        for command in ("sample", "groups"):
            run = kernelpoint(command, recording, "-o", recording / name)
            assert f"-o {recording / name} is in the folder {recording}, which" in run.failed(2)
    # By a name of its own too, and from within.
    (outside := tmp_path / "hard").hardlink_to(recording / "notes.txt")
    assert "is in the folder" in kernelpoint("groups", recording, "-o", outside).failed(2)
    monkeypatch.chdir(recording)
    assert "is in the folder" in kernelpoint("groups", ".", "-o", "groups.txt").failed(2)
    assert kernelpoint("groups", ".", "-o", "-").code == 0
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", ".", "-o", plan).code == 0
    assert kernelpoint("judge", plan, ".").code == 0
    run = kernelpoint("export", plan, "--to", "csv", "-o", "out")
    assert run.code == 0, "the folder is not read by this one"
    assert {path: path.read_bytes() for path in recording.iterdir() if path in before} == before


def next_plan(kernelpoint: Kernelpoint, *words: object) -> list[str]:
    """The words of the `sample` that a summary proposes."""
    line: str = kernelpoint("summary", *words, "--format", "json", "-q", "--method", "root").results["next"][
        0
    ]
    return shlex.split(line)[1:]


def test_the_plan_that_a_summary_proposes_is_not_what_it_reads(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = next_plan(kernelpoint, resnet)
    assert first[-2:] == ["-o", "plan.json"]
    assert kernelpoint(*first).code == 0
    assert next_plan(kernelpoint, resnet, "--epsilon", "0.05")[-1] == "plan.json", "a new one in its place"
    Path("plan-2.json").write_text("mine")
    again = next_plan(kernelpoint, resnet, "--overrides", "plan.json")
    assert again[-4:] == ["--overrides", "plan.json", "-o", "plan-3.json"]
    assert kernelpoint(*again).code == 0
    assert Path("plan-2.json").read_text() == "mine"


def test_the_plan_that_a_summary_proposes_is_not_in_its_recording(
    kernelpoint: Kernelpoint, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording)
    words = next_plan(kernelpoint, ".")
    assert words[-2:] == ["-o", "../plan.json"]
    assert kernelpoint(*words).code == 0
    assert kernelpoint("judge", "../plan.json", recording).code == 0


@pytest.mark.parametrize("is_decided", [False, True])
def test_the_plan_that_the_app_proposes_is_not_what_it_reads(
    kernelpoint: Kernelpoint, recording: Path, monkeypatch: pytest.MonkeyPatch, is_decided: bool
) -> None:
    monkeypatch.chdir(recording.parent)
    options = SampleOptions(profiles=("rec",), method="root", group_by=GroupBy.NAME)
    study = study_as_asked(("rec",), options)
    overrides = {study.counts.groups[0].key: {"": Verdict.SPLIT}} if is_decided else {}
    Path("plan.json").write_text(overrides_text(overrides, "root"))
    options = replace(options, overrides="plan.json" if is_decided else None)
    session = Session(options, study=study, overrides=overrides)
    said = farewell(session)
    assert said is not None
    words = shlex.split(said.partition("\nkernelpoint ")[2])
    assert words[-1] == "plan-2.json"
    assert kernelpoint(*words).code == 0


def test_the_app_writes_nothing_into_a_recording_that_is_a_folder(
    recording: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(recording)
    before = set(recording.iterdir())
    options = SampleOptions(profiles=(".",), method="root", group_by=GroupBy.NAME)
    overrides = {"gemm": {"": Verdict.SPLIT}}
    session = Session(options, study=study_as_asked((".",), options), overrides=overrides)
    with reading(["."]):
        kept = kept_decisions(session)
        problem = why_not_there("plan.json", Path("plan.json"), is_folder=False)
    (decisions,) = home.iterdir()
    assert kept == f"your split decisions are in {decisions}"
    assert problem == "plan.json is in the folder ., which the command reads"
    assert set(recording.iterdir()) == before


def test_the_sample_of_demo_is_kept(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(resnet)
    before = resnet.read_bytes()
    assert "is what the command reads" in kernelpoint("demo", "-o", link, "--force").failed(2)
    assert resnet.read_bytes() == before


def test_an_export_keeps_its_plan_even_when_forced(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    assert kernelpoint("export", plan_file, "--to", "csv", "-o", tmp_path / "first").code == 0
    product = tmp_path / "first" / "launches.csv"
    own = tmp_path / "second" / product.name
    own.parent.mkdir()
    shutil.copy(plan_file, own)
    run = kernelpoint("export", own, "--to", "csv", "-o", own.parent, "--force")
    assert "would overwrite what the command reads" in run.failed(2)
    assert own.read_bytes() == plan_file.read_bytes()


def test_other_files_are_written_anew(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    target = tmp_path / "groups.csv"
    for _ in range(2):
        assert kernelpoint("groups", resnet, "--format", "csv", "-o", target).code == 0


def test_the_app_writes_split_decisions_over_no_file(
    resnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is named after them; one of that name that holds others was edited since."""
    monkeypatch.chdir(tmp_path)
    session = Session(SampleOptions(profiles=(str(resnet),)), overrides={"k": {"": Verdict.SPLIT}})
    first = options_with_overrides(session).overrides
    assert first is not None
    assert options_with_overrides(session).overrides == first
    Path(first).write_text('{"overrides": []}')
    second = options_with_overrides(session).overrides
    assert second is not None
    assert options_with_overrides(session).overrides == second != first
    assert Path(first).read_text() == '{"overrides": []}'
    assert read_overrides(second).overrides == session.overrides


def test_a_file_is_kept_for_as_long_as_it_is_read(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("")
    with reading([str(own), "no/such/file", "a\0b", "-"]):
        assert is_read(own)
        assert is_read(Path(os.path.relpath(own)))
        assert not is_read(tmp_path / "no such file")
        assert not is_read(tmp_path)
    assert not is_read(own)


def test_a_name_is_looked_for_behind_every_equals_sign() -> None:
    mark = reads_of(FeatureFile | None)
    assert mark is not None
    assert list(mark.paths("a=b=c.csv")) == ["a=b=c.csv", "b=c.csv", "c.csv"]
    assert reads_of(str | None) is None
