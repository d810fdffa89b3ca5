"""What a command reads is never written over: every option that names a file, of every command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sampling.plan_file import read_overrides
from sampling.split_tree import Verdict
from tui.app.overrides_file import options_with_overrides
from tui.app.state import Session
from tui.input_files import FeatureFile, is_read, reading, reads_of
from tui.options import SampleOptions
from tui.registry import COMMANDS

Kernelpoint = Callable[..., Any]

# Options that are any text, and name no file to read. A new one belongs here or is an `InputFile`.
NO_FILES = {
    *("output", "device", "process", "include", "exclude", "launches", "time", "range"),
    *("group_epsilon", "set", "method", "methods", "kernel", "filter", "epsilons", "node", "to"),
    *("ctas_per_sm", "instructions", "ctas"),
    *("simulated", "rule", "benchmark", "name", "ipc", "mpki", "target", "factor", "size", "capacity"),
}
# Their `source` is one of a few words, as the parser or the reader checks.
CHOSEN = {"project": {"source"}}


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
        *("profiles", "plan", "logs", "files", "file", "traces", "features", "overrides", "mpki_from")
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


def test_a_table_of_a_recording_that_is_a_folder_is_kept(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """What else lies in the folder is not read, and may be written anew."""
    table, plan = tmp_path / "CUPTI_ACTIVITY_KIND_KERNEL.parquet", tmp_path / "plan.json"
    pq.write_table(pa.table({"start": [0], "end": [9]}), table)
    plan.write_text("{}")
    before = table.read_bytes()
    assert "is what the command reads" in kernelpoint("sample", tmp_path, "-o", table).failed(2)
    assert "is what the command reads" not in kernelpoint("sample", tmp_path, "-o", plan).err
    assert table.read_bytes() == before


def test_the_sample_of_demo_is_kept(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(resnet)
    before = resnet.read_bytes()
    assert "is what the command reads" in kernelpoint("demo", "-o", link).failed(2)
    assert resnet.read_bytes() == before


def test_an_export_keeps_its_plan_even_when_forced(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    assert kernelpoint("export", plan_file, "--to", "csv", "-o", tmp_path / "first").code == 0
    (product,) = (tmp_path / "first").iterdir()
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
    shutil.copy(resnet, tmp_path / "copy")
    assert kernelpoint("groups", resnet, "--format", "csv", "-o", tmp_path / "copy").code == 0
    assert (tmp_path / "copy").read_bytes() == target.read_bytes()


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
    assert read_overrides(second) == session.overrides


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
