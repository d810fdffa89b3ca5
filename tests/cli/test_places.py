"""What goes to stdout, to stderr and to files: where may be written, what is kept and what is replaced."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sampling.plan import request
from tests.cli.conftest import JSON, Kernelpoint
from tui.options.files import check_file, reading, why_not_written
from tui.registry import COMMANDS
from tui.report.pictures import svg_text

# What writes a product, with the kind of it, on a profile or a plan that is not there: nothing may be read.
WRITES = {
    "sample": ("sample", "missing", "-o"),
    "top-up": ("estimate", "missing", "missing", "--target", "0.1", "--top-up"),
    "convert": ("convert", "missing", "-o"),
    "report": ("report", "missing", "-o"),
    "figure": ("speedup", "missing", "a=missing", "b=missing", "--svg"),
    "results": ("groups", "missing", "-o"),
}
# The same, where the place is an argument.
BASELINE = ("baseline", "save")

FOLDERS = {
    "export": ("export", "missing", "-o"),
    "pictures": ("report", "missing", "--svg"),
    "models": ("scale", "derive", "missing", "-o"),
}


@pytest.fixture(scope="module")
def products(kernelpoint: Kernelpoint, resnet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of each that is written, and of each that is not."""
    folder = tmp_path_factory.mktemp("products")
    quick = ("--method", "random", "--judge", "0")
    assert kernelpoint("sample", resnet, *quick, "-o", folder / "plan.json").code == 0
    assert kernelpoint("convert", resnet, "-o", folder / "own.parquet").code == 0
    for name in ("own.html", "own.md"):
        assert kernelpoint("report", resnet, *quick, "--charts", "0", "-o", folder / name).code == 0
    plan = json.loads((folder / "plan.json").read_text())
    plan["topped_up"] = {"rounds": 1, "target": 0.02}
    (folder / "larger.json").write_text(json.dumps(plan))
    (folder / "decisions.json").write_text('{"kind": "overrides", "overrides": []}')
    (folder / "cut.json").write_bytes((folder / "plan.json").read_bytes()[:2000])
    (folder / "other.html").write_text("<!DOCTYPE html><p>KernelPoint is what my thesis is about")
    (folder / "other.md").write_text("# My thesis")
    (folder / "other.svg").write_text("<svg><desc>KernelPoint is what my thesis is about</desc></svg>")
    (folder / "own.svg").write_text(svg_text("", "", "", []))
    (folder / "other.parquet").write_bytes(b"PAR1 of somebody else's PAR1")
    (folder / "empty").touch()
    (folder / "baseline.json").write_text('{"schema":1,"kind":"baseline","grouping":{}}')
    return folder


def said_of(kernelpoint: Kernelpoint, *words: object) -> str:
    """What a command that cannot read what it is given says: of the place, or of that."""
    run = kernelpoint(*words)
    assert run.code in {1, 2, 3}
    said: str = run.failed(run.code)
    return said


@pytest.mark.parametrize(
    ("command", "name", "refusal"),
    [
        *(("sample", name, None) for name in ("plan.json", "empty", "new.json")),
        *(("sample", name, "exists and is no plan") for name in ("own.md", "decisions.json", "cut.json")),
        *((command, "larger.json", "is a plan that was topped up") for command in ("sample", "results")),
        ("top-up", "larger.json", "is a plan that was topped up"),
        ("top-up", "plan.json", None),
        ("top-up", "other.md", "exists and is no plan"),
        ("convert", "own.parquet", None),
        ("convert", "other.parquet", "exists and is no Parquet profile"),
        ("convert", "plan.json", "is a plan"),
        *(("report", name, None) for name in ("own.html", "own.md", "new.md")),
        *(("report", name, "exists and is no report") for name in ("other.html", "other.md")),
        *(("figure", name, None) for name in ("own.svg", "new.svg", "empty")),
        ("figure", "other.svg", "exists and is no picture of kernelpoint's"),
        *(("results", name, None) for name in ("other.md", "own.html", "empty")),
        ("results", "decisions.json", "what is written is text, not JSON"),
        ("results", "plan.json", "is a plan"),
        ("results", "own.parquet", "exists and is no text"),
    ],
)
def test_only_its_own_kind_is_replaced_unasked(
    kernelpoint: Kernelpoint, products: Path, command: str, name: str, refusal: str | None
) -> None:
    """A report whose suffix is of none is refused in any case, so those are asked of reports alone."""
    words = (*WRITES[command], products / name)
    forced = said_of(kernelpoint, *words, "--force")
    assert str(products) not in forced, "the place is right, and what is to be read is missing"
    asked = said_of(kernelpoint, *words)
    if refusal is None:
        assert asked == forced
    else:
        flag = WRITES[command][-1]
        assert re.search(f"{re.escape(f'{flag} {products / name}')}:? {refusal}", asked)
        assert re.search("; give (another name|--format json), or --force to ", asked)


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("baseline.json", None),
        ("new.json", None),
        ("plan.json", "is a plan"),
        ("decisions.json", "exists and is no baseline"),
        ("new.csv", ": what is written is JSON, not CSV; give {folder}/new.json"),
    ],
)
def test_a_baseline_replaces_baselines_alone(
    kernelpoint: Kernelpoint, products: Path, name: str, refusal: str | None
) -> None:
    words = (*BASELINE, place := products / name, "missing")
    said = said_of(kernelpoint, *words)
    if refusal is None:
        assert "missing: no such file" in said
    else:
        assert f"error: {place} {refusal}".replace(" :", ":").format(folder=products) in said
        assert "missing: no such file" in said_of(kernelpoint, *words, "--force")


def test_a_plan_that_was_topped_up_is_kept_unless_forced(
    kernelpoint: Kernelpoint, resnet: Path, products: Path, tmp_path: Path
) -> None:
    words = ("sample", resnet, "--method", "random", "--judge", "0", "-o", path := tmp_path / "plan.json")
    shutil.copy(products / "larger.json", path)
    assert "was topped up" in kernelpoint(*words).failed(2)
    assert path.read_bytes() == (products / "larger.json").read_bytes()
    assert kernelpoint(*words, "--force").code == 0
    assert "topped_up" not in json.loads(path.read_text())


@pytest.mark.parametrize("command", [*WRITES, *FOLDERS])
@pytest.mark.parametrize("place", ["no/where.md", "folder.md", "loop.md", "loop.md/x.md", "n" * 300 + ".md"])
def test_a_bad_place_is_refused_before_anything_is_read(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str, place: str
) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    said = said_of(kernelpoint, *(WRITES | FOLDERS)[command], tmp_path / place)
    if command in FOLDERS and place in {"no/where.md", "folder.md"}:
        assert str(tmp_path) not in said, "a folder is made, and may be there"
    else:
        assert str(tmp_path) in said


@pytest.mark.parametrize("command", COMMANDS)
def test_the_place_is_the_first_thing_that_is_looked_at(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str
) -> None:
    given = [field for field in fields(COMMANDS[command].options) if field.metadata.get("argument")]
    words = (*command.split(), *("missing" for _ in given), "-o", tmp_path / ("n" * 300))
    assert "cannot be written (File name too long)" in kernelpoint(*words).failed(2)


@pytest.mark.parametrize(
    ("words", "written", "remedy"),
    [
        ("convert PROFILE -o x.csv", "Parquet, not CSV", "give -o x.parquet"),
        ("convert PROFILE -o x.PARQUET.gz", "Parquet, not gz", "give -o x.PARQUET,"),
        ("groups PROFILE -o groups.tex", "text, not LaTeX", "give --format latex"),
        ("groups PROFILE --format latex -o groups.csv", "LaTeX, not CSV", "give --format csv"),
        ("sample PROFILE -o plan.parquet", "JSON, not Parquet", "give -o plan.json"),
        ("sample PROFILE -o plan.json.gz", "JSON, not gz", "give -o plan.json,"),
        ("estimate PLAN PROFILE --target 0.1 --top-up more.csv", "JSON, not CSV", "give --top-up more.json"),
        ("speedup PLAN base=PROFILE b=x --svg x.pdf", "SVG, not pdf", "give --svg x.svg"),
        ("export PLAN -o launches.csv", "a folder, not CSV", "give -o launches,"),
        ("groups PROFILE -o groups.csv", "text, not CSV", "give --format csv"),
        ("groups PROFILE --format csv -o groups.json", "CSV, not JSON", "give --format json"),
        ("info PROFILE --format json -o info.sqlite", "JSON, not SQLite", "give -o info.json"),
    ],
)
def test_a_suffix_of_another_format_is_refused(
    kernelpoint: Kernelpoint, here: Path, resnet: Path, plan_file: Path, words: str, written: str, remedy: str
) -> None:
    places = {"PROFILE": resnet, "PLAN": plan_file}
    said = kernelpoint(*(places.get(word, word) for word in words.split())).failed(2)
    assert f": what is written is {written}; " in said
    assert remedy in said
    assert "or --force to write it there all the same" in said
    assert list(here.iterdir()) == []


def test_a_suffix_of_the_format_or_of_none_is_taken(
    kernelpoint: Kernelpoint, here: Path, resnet: Path
) -> None:
    for words in ("groups -o g.txt", "groups -o g.md", "groups --format csv -o g.csv", "convert -o x.pq"):
        command, *more = words.split()
        assert kernelpoint(command, resnet, *more).code == 0
    assert kernelpoint("convert", resnet, "-o", "x.csv", "--force").code == 0
    assert Path("x.csv").read_bytes() == Path("x.pq").read_bytes()


def test_what_is_no_file_is_written_to_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert check_file(tmp_path / "pipe") == tmp_path / "pipe"
    assert check_file(Path("/dev/null")) == Path("/dev/null")
    with socket.socket(socket.AF_UNIX) as bound:
        monkeypatch.chdir(tmp_path)
        bound.bind("socket")
        with pytest.raises(OSError, match="a disk or a socket"):
            check_file(Path("socket"))


# Options that are any text, and name no file to read. A new one belongs here or is an `InputFile`.
NO_FILES = {
    *("metric_set", "peak"),
    *(
        "output",
        "svg",
        "device",
        "process",
        "include",
        "exclude",
        "launches",
        "time",
        "range",
        "clock",
        "columns",
    ),
    *("group_epsilon", "set", "method", "methods", "kernel", "filter", "epsilons", "node", "to", "caches"),
    *("ctas_per_sm", "instructions", "ctas", "budget", "cost", "simulator", "timeout", "metrics", "ratios"),
    *("top_up", "window", "simulated", "rule", "benchmark", "ipc", "mpki", "target", "factor", "capacity"),
    *("scheduler", "rank_regex", "assume_like", "command", "clock", "baseline"),
}
# Their `source` is one of a few words, as the parser or the reader checks.
CHOSEN = {name: {"source"} for name in ("project", "estimate", "roofline", "speedup", "report")}


def text_options(command: str) -> Iterator[Any]:
    """The options and arguments of a command that take any text."""
    options = COMMANDS[command].options
    hints = get_type_hints(options)
    for option in fields(options):
        if hints[option.name] is str or str in get_args(hints[option.name]):
            yield option
    for name in options.request_names:
        kind = request.value_type(name)
        if kind is str or str in get_args(kind):
            about = {"flags": request.flags(name), "reads": request.option(name).reads}
            yield SimpleNamespace(name=name, metadata=about)


INPUTS = [
    (command, option)
    for command in COMMANDS
    for option in text_options(command)
    if option.metadata["reads"] is not None
]


def words_naming(command: str, option: Any, path: object) -> Sequence[object]:
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
    for option in text_options(command):
        assert (option.name in known) != (option.metadata["reads"] is not None), option.name


@pytest.mark.parametrize(("command", "option"), INPUTS, ids=lambda part: getattr(part, "name", part))
def test_no_command_writes_over_what_it_reads(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str, option: Any
) -> None:
    own, link, hard = (tmp_path / name for name in ("of=own", "link", "hard"))
    own.write_text("recorded once")
    link.symlink_to(own)
    hard.hardlink_to(own)
    for target in (own, link, hard, tmp_path / "." / own.name):
        said = kernelpoint(*words_naming(command, option, own), "-o", target).failed(2)
        assert f"-o {target} is what the command reads; give another file" in said
    named = [link, f"missing={own}"] if option.name == "features" else [link]
    for name in named:
        said = kernelpoint(*words_naming(command, option, name), "-o", own).failed(2)
        assert "is what the command reads" in said
    assert own.read_text() == "recorded once"


#: Read after, or only beside, something else that is there.
LATER = {
    "config",
    "instructions_from",
    "manifests",
    "traces",
    "results",
    "mpki_from",
    "simulator_log",
}


def with_files(command: str, option: Any, named: object, files: dict[str, object]) -> list[object]:
    """A command line in which this option names a file, and all other arguments name what is there."""
    words: list[object] = command.split()
    for each in fields(COMMANDS[command].options):
        if each.name == option.name:
            words += [named] if each.metadata.get("argument") else [each.metadata["flags"][0], named]
        elif each.metadata.get("argument") and each.metadata["required"]:
            words.append(files.get(each.name, files["profiles"]))
    if option.name in COMMANDS[command].options.request_names:
        words += [option.metadata["flags"][0], named]
    more = {
        "groups": ("--plan",),
        "run": ("--simulator", "true {list}"),
        "convert": ("-o", "x.parquet"),
        "report": ("-o", "x.html"),
        "scale derive": ("--factor", "4"),
        "scale mrc": ("--capacity", "8=1KiB"),
    }
    return [*words, *more.get(command, ())]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (command, option)
        for command, option in INPUTS
        if option.name not in LATER
        and (command, option.name) not in {("report", "plan"), ("scale predict", "plan")}
    ],
    ids=lambda part: getattr(part, "name", part),
)
@pytest.mark.parametrize("named", ["/nosuch/p.json", "/dev/zero"])
def test_a_file_that_is_not_there_and_a_device_are_the_same_everywhere(
    kernelpoint: Kernelpoint,
    here: Path,
    resnet: Path,
    plan_file: Path,
    command: str,
    option: Any,
    named: str,
) -> None:
    files: dict[str, object] = {"profiles": resnet, "plan": plan_file, "trace": resnet, "results": resnet}
    files["baseline"] = "x.json"
    said = kernelpoint(*with_files(command, option, named, files)).failed(3)
    what = (
        "no such file or folder; check the path" if "nosuch" in named else "a device, which has no end; give"
    )
    assert f"error: {named}: {what}" in said


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
    (outside := tmp_path / "hard").hardlink_to(recording / "notes.txt")
    before = {path: path.read_bytes() for path in recording.iterdir() if path.exists()}
    names = ("plan.json", "STRINGS.arrow", "elsewhere", "sub/plan.json", "../rec-too/plan.json")
    for target in (*before, *(recording / name for name in names), outside):
        for command in ("sample", "groups"):
            assert "is in the folder" in kernelpoint(command, recording, "-o", target).failed(2)
    monkeypatch.chdir(recording)
    assert "is in the folder" in kernelpoint("groups", ".", "-o", "groups.txt").failed(2)
    assert kernelpoint("groups", ".", "-o", "-").code == 0
    assert kernelpoint("sample", ".", "-o", "../plan.json").code == 0
    run = kernelpoint("export", "../plan.json", "--to", "csv", "-o", "out")
    assert run.code == 0, "the folder is not read by this one"
    assert {path: path.read_bytes() for path in recording.iterdir() if path in before} == before


def test_not_even_force_writes_over_what_is_read(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(resnet)
    over = kernelpoint("summary", resnet, "-o", tmp_path / "link", "--force")
    assert "is what the command reads" in over.failed(2)
    own = tmp_path / "launches.csv"
    shutil.copy(plan_file, own)
    run = kernelpoint("export", own, "--to", "csv", "-o", tmp_path, "--force")
    assert "would overwrite what the command reads" in run.failed(2)
    assert own.read_bytes() == plan_file.read_bytes()


def test_a_file_is_kept_for_as_long_as_it_is_read(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("")
    with reading([str(own), "no/such/file", "a\0b", "-"]):
        assert why_not_written(own)
        assert why_not_written(Path(os.path.relpath(own)))
        assert why_not_written(tmp_path / "no such file") is None
        assert why_not_written(tmp_path) is None
    assert why_not_written(own) is None


CommandLines = dict[str, Sequence[object]]
SHOWING = ("summary", "info", "groups", "histogram", "tree", "compare", "judge", "methods")
SILENT = (*SHOWING, "sample", "trade-off", "convert")


@pytest.mark.parametrize("command", SILENT)
def test_says_nothing_on_stderr_without_a_reason(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    few = ("--methods", "joint,root,stem") if command == "compare" else ()
    assert kernelpoint(*command_lines[command], *few).err == ""


NOTED = {
    "open": ("open",),
    "demo": ("demo",),
    "unused options": ("tree", "--group-epsilon", "0.2"),
    "several kernels": ("histogram", "--kernel", "volta"),
    "plan written": ("sample", "-o"),
}


@pytest.mark.parametrize("what", NOTED)
def test_notes_are_for_stderr_and_quiet_silences_them(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, what: str
) -> None:
    words: list[object] = [*NOTED[what]]
    words += [tmp_path / "plan.json"] if words[-1] == "-o" else []
    words += [] if what == "demo" else [resnet]
    loud, quiet = kernelpoint(*words), kernelpoint(*words, "--quiet")
    assert loud.code == quiet.code == 0
    assert loud.out == quiet.out
    assert loud.err.startswith("kernelpoint: ")
    assert loud.err.count("\n") == 1
    assert quiet.err == ""


@pytest.mark.parametrize("form", ["table", "csv"])
@pytest.mark.parametrize("command", sorted({*SHOWING} - {"compare"}))
def test_output_redirects_the_results(
    kernelpoint: Kernelpoint, command_lines: CommandLines, tmp_path: Path, command: str, form: str
) -> None:
    target = tmp_path / "results"
    words = (*command_lines[command], "--format", form)
    run = kernelpoint(*words, "-o", target)
    assert (run.code, run.out) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    assert target.read_bytes() == kernelpoint(*words).stdout == kernelpoint(*words, "-o", "-").stdout


def test_a_product_on_stdout_moves_the_results_to_stderr(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    target = tmp_path / "plan.json"
    named, piped = (kernelpoint("sample", resnet, "-o", place, *JSON) for place in (target, "-"))
    assert named.results == kernelpoint("sample", resnet, *JSON).results
    assert str(target) in named.err
    assert json.loads(target.read_text()) == piped.json
    assert json.loads(piped.err)["results"] == named.results
    run = kernelpoint("convert", resnet, "-o", "-", *JSON)
    assert (run.stdout[:4], run.stdout[-4:]) == (b"PAR1", b"PAR1")
    assert json.loads(run.err)["results"] == {"launches": 5600, "bytes": len(run.stdout)}


WRITING = {
    "summary": ("summary",),
    "sample": ("sample", "--judge", "0", "--force"),
    "convert": ("convert", "--force"),
}


@pytest.mark.parametrize("command", WRITING)
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    target = tmp_path / "result"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert "No space left" in kernelpoint(*WRITING[command], resnet, "-o", target).err
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_link_is_followed(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    assert kernelpoint("methods", "-o", link).code == 0
    assert link.is_symlink()
    assert "root" in target.read_text()


def test_a_pipe_is_written_to_and_never_replaced(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert kernelpoint("methods", "--format", "csv", "-o", pipe).code == 0
    reader.join(120)
    assert received == [kernelpoint("methods", "--format", "csv").stdout]
    assert pipe.is_fifo()
