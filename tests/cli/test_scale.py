"""`scale`: what is asked, what is answered and how it is told, and what opens the app."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import JSON, Kernelpoint, Run, results
from tui import cli
from tui.app import running
from tui.app.scale import ScaleScreen
from tui.app.state import Session
from tui.terminal import tty as terminal

# dct of the paper: the numbers of its artifact.
TWO = ("--ipc", "8=100,16=190")
IPC = ("--ipc", "8=112.7,16=226.4")
MPKI = ("--mpki", "8=6.17,16=6.18,32=6.16,64=5.52,128=0.10")
DCT = ("scale", "predict", *IPC, *MPKI, "--target", "32,64,128")
TOML = """\
name = "dct"
f_mem = 0.52
targets = [32, 64, 128]
[ipc]
8 = 112.7
16 = 226.4
[mpki]
8 = 6.17
16 = 6.18
32 = 6.16
64 = 5.52
128 = 0.10
"""
TABLE = """\
benchmark,size,ipc,mpki,f_mem
one,8,10,,
one,16,19,,
one,32,40,,
two,8,100,9,0.4
two,16,200,9,0.4
two,32,700,1,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The paper's target GPU; its lines end as on Windows."""
    path = tmp_path / "target.toml"
    text = "[gpu]\nsms = 128\nllc_mib = 34 # shared\nllc_slices = 32\nmemory_controllers = 16\n"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """8192 lines, 1 MiB, three times over."""
    path = tmp_path / "trace.txt"
    path.write_text("".join(f"{128 * (access % 8192):#x}\n" for access in range(3 * 8192)))
    return path


def points(found: Any) -> dict[tuple[str, int], float | None]:
    return {(row["method"], row["target"]): row["ipc"] for row in found["predictions"]}


def said(run: Run) -> str:
    """The text with its lines joined."""
    assert run.code == 0, run.err
    return " ".join(run.out.split())


def predicted(kernelpoint: Kernelpoint, *words: object) -> str:
    return said(kernelpoint("scale", "predict", *words))


def test_a_question_is_asked_by_options_a_toml_or_a_row_of_a_table(
    kernelpoint: Kernelpoint, sample_data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "dct.toml"
    path.write_text(TOML)
    wanted = points(results(kernelpoint, *DCT, "--f-mem", "0.52"))
    words = ("--ipc", "8=112.7", "16=226.4", "--mpki", "8=6.17", "16=6.18", "32=6.16", "64=5.52", "128=0.1")
    repeated = ("--ipc", "8=112.7", "--ipc", "16=226.4", *MPKI, "-t", "32", "-t", "64,128", "--f-mem", "0.52")
    for line in ((path,), (*words, "--target", "32,64,128", "--f-mem", "0.52"), repeated):
        assert points(results(kernelpoint, "scale", "predict", *line)) == wanted
    piped = kernelpoint("scale", "predict", "-", *JSON, stdin=TOML.encode())
    assert points(piped.results) == wanted
    table, question = sample_data / "scale-model-example.csv", sample_data / "scale-model-example.toml"
    asked = results(kernelpoint, "scale", "predict", question)
    assert points(results(kernelpoint, "scale", "predict", table, "--benchmark", "made-up cliff")) == points(
        asked
    )
    every = results(kernelpoint, "scale", "predict", table)
    classes = [each["classification"]["scaling"] for each in every]
    assert classes == ["linear", "sub-linear", "super-linear"]
    readme = (sample_data / "README.md").read_text()
    assert all(f"| `{path.name}`" in readme for path in sample_data.glob("scale-model-*"))


def test_the_text_says_rule_interval_class_and_what_a_cliff_gains(kernelpoint: Kernelpoint) -> None:
    text = said(kernelpoint(*DCT, "--f-mem", "0.52", "--confidence", "0.8"))
    for part in (
        "strong scaling, 8 and 16 SMs simulated",
        "super-linear: the working set comes to fit the last-level cache between 64 and 128 SMs",
        "At the cliff IPC gains 2.08x, 1/(1 - f_mem) of f_mem 0.52",
        "Rule additive: this project",
        "Low to high is an interval meant to hold 80 % of the targets",
        "of 44 targets of 16 of them it holds 42",
    ):
        assert part in text
    three = predicted(kernelpoint, "--ipc", "8=10,16=20,32=42", "--target", "64")
    assert "8, 16 and 32 SMs simulated" in three
    assert "from how well each model is predicted by those before it: additive 4.9 %" in three
    assert "Low to high" not in said(kernelpoint(*DCT, "--rule", "linear"))


def test_what_is_no_interval_is_said_not_to_be(kernelpoint: Kernelpoint) -> None:
    between = ("--ipc", "8=100,16=200,32=800", "--mpki", "8=10,16=10,32=2,64=2", "--target", "64")
    text = predicted(kernelpoint, *between)
    assert "Low to high is twice as wide as the interval of 90 %" in text
    assert "is an interval meant to hold" not in text
    found = results(kernelpoint, "scale", "predict", *between)
    assert (found["correction"], found["back_cast"]) == (1, {})
    assert {row["bounds"] for row in found["predictions"]} == {"interval not calibrated"}
    bracket = (*TWO, "--mpki", "16=9,32=9,128=1", "--target", "64")
    known = "a bracket, no interval: nothing of what the cliff gains, or all of it, widened either way as an "
    assert f"{known}interval of 90 % is." in predicted(kernelpoint, *bracket, "--f-mem", "0.5")
    assert "a bracket, no interval: what the cliff gains at least and at most." in predicted(
        kernelpoint, *bracket
    )
    back_cast = ("--ipc", "8=100,16=190,32=370", "--target", "64", "--rule", "published,linear")
    text = predicted(kernelpoint, *back_cast)
    assert "predicted by those before it: published " in text
    assert "linear" not in text.split("predicted by those before it")[1].partition(". Of ")[0]


def test_a_table_predicts_all_benchmarks_beside_what_was_measured(
    kernelpoint: Kernelpoint, table: Path
) -> None:
    one, two = kernelpoint("scale", "predict", table, *JSON).results
    assert (one["benchmark"], two["benchmark"]) == ("one", "two")
    (row,) = two["predictions"]
    assert row["measured"] == 700
    assert row["error"] == pytest.approx(row["ipc"] / 700 - 1)
    assert row["ipc"] == pytest.approx(400 / 0.6)
    rows = kernelpoint("scale", "predict", table, "--format", "csv").csv
    assert [(each["benchmark"], each["target"]) for each in rows] == [("one", "32"), ("two", "32")]
    text = said(kernelpoint("scale", "predict", table))
    assert "two 32 additive 666.7" in text
    assert "--benchmark NAME draws one of them" in text


def test_validate_has_a_score_for_each_rule_and_target(kernelpoint: Kernelpoint, table: Path) -> None:
    found = results(kernelpoint, "scale", "validate", table)
    assert list(found)[:2] == ["additive", "published"]
    assert len(found) == 7
    score = found["additive"]["32"]
    assert (score["worst"], score["n"], score["within_interval"]) == ("one", 2, 0.5)
    rows = kernelpoint("scale", "validate", table, "--rule", "additive", "--format", "jsonl").jsonl
    assert rows == [{"method": "additive", "target": 32, **score}]


def test_derive_writes_one_folder_a_scale_model(
    kernelpoint: Kernelpoint, target: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    run = kernelpoint("scale", "derive", target, "-o", folder)
    assert run.code == 0, run.err
    small = (folder / "8-SMs" / "target.toml").read_bytes()
    assert small == (
        b"[gpu]\r\nsms = 8\r\nllc_mib = 2.125 # shared\r\nllc_slices = 2\r\nmemory_controllers = 1\r\n"
    )
    assert sorted(path.parent.name for path in folder.rglob("*.toml")) == ["16-SMs", "8-SMs"]
    assert str(folder / "16-SMs" / "target.toml") in run.out
    assert "llc_mib 34 2.125" in said(run)
    again = ("scale", "derive", target, "--factor", "16", "-o", folder)
    assert "--force" in kernelpoint(*again).failed(2)
    assert kernelpoint(*again, "--force").code == 0


def test_mrc_counts_misses_at_each_capacity(kernelpoint: Kernelpoint, trace: Path) -> None:
    """Lines that come round in turn all miss until the cache holds them all."""
    words = ("scale", "mrc", trace, "--capacity", "512KiB,1MiB,2097152", "--instructions", "24576")
    found = results(kernelpoint, *words)
    assert found["capacity_bytes"] == [2**19, 2**20, 2**21]
    assert found["mpki"] == pytest.approx([1000, 1000 / 3, 1000 / 3])
    assert found["low"] == found["mpki"] == found["high"]
    assert found["unit"] == "thread"
    text = said(kernelpoint(*words))
    assert "The largest fall is between 512 KiB and 1 MiB, by 66.7 %" in text
    assert "per thousand thread instructions, all counted" in text


def test_a_curve_feeds_a_prediction(kernelpoint: Kernelpoint, trace: Path, tmp_path: Path) -> None:
    """As a file and through a pipe; the cliff is where the trace comes to fit."""
    words = ("scale", "mrc", trace, "--capacity", "8=256KiB", "16=512KiB", "32=1MiB", "--mpki-unit", "warp")
    curve = kernelpoint(*words, "--instructions", "24576", "--format", "csv")
    path = tmp_path / "curve.csv"
    path.write_bytes(curve.stdout)
    asked = ("scale", "predict", "--ipc", "8=10,16=20", "-t", "32", "--f-mem", "0.5", *JSON)
    results = kernelpoint(*asked, "--mpki-from", path).results
    assert results["cliff"]["larger"] == 32
    assert results["mpki_unit"] == "warp"
    assert results["predictions"][0]["ipc"] == pytest.approx(80)
    assert kernelpoint(*asked, "--mpki-from", "-", stdin=curve.stdout).results == results
    assert "warp" in kernelpoint(*asked, "--mpki-from", path, "--mpki-unit", "thread").failed(2)


@pytest.mark.parametrize(
    ("column", "code", "said"), [("", 0, "not known"), (",128", 2, "lines of 128 bytes"), (",32", 0, None)]
)
def test_a_curve_of_other_lines_is_not_mixed_with_measured_mpki(
    kernelpoint: Kernelpoint, tmp_path: Path, column: str, code: int, said: str | None
) -> None:
    """A simulator counts sectors of 32 bytes, a curve lines of 128 unless asked for others."""
    path, question = tmp_path / "curve.csv", tmp_path / "question.toml"
    header = "size,mpki" + (",line_bytes" if column else "")
    path.write_text(f"{header}\n16,9{column}\n32,8.9{column}\n")
    question.write_text("targets = [32]\n[ipc]\n8 = 10\n16 = 20\n[mpki]\n8 = 9\n")
    asked = ("scale", "predict", "--ipc", "8=10,16=20", "-t", "32", "--mpki-from", path)
    for words in ((*asked, "--mpki", "8=9"), ("scale", "predict", question, "--mpki-from", path)):
        mixed = kernelpoint(*words)
        assert mixed.code == code
        assert ("sectors of 32 bytes" in mixed.err) is (said is not None)
        assert said is None or said in mixed.err
    assert "sectors" not in kernelpoint(*asked).err, "all MPKI are of one curve"


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("predict", *TWO, "-t", "32", "--assume-f-mem"), "--assume-f-mem is not used, as there is no cliff"),
        (
            ("predict", *TWO, "--mpki", "16=9,32=1", "-t", "32", "--assume-f-mem", "--f-mem", "0.5"),
            "--assume-f-mem is not used, as f_mem is known",
        ),
        (
            ("predict", *TWO, "-t", "32", "--mpki-unit", "warp"),
            "--mpki-unit is not used, as there is no MPKI",
        ),
        (("mrc", "TRACE", "--confidence", "0.9"), "--confidence is not used"),
    ],
)
def test_options_that_change_nothing(
    kernelpoint: Kernelpoint, tmp_path: Path, words: tuple[str, ...], note: str
) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("0x80\n0x100\n")
    run = kernelpoint("scale", *(trace if word == "TRACE" else word for word in words))
    assert run.code == 0
    assert note in run.err
    assert "not used" not in kernelpoint("scale", *words[:1], "--help").err


USAGE: dict[str, tuple[str, ...]] = {
    "predict": ("nothing to predict from", "--ipc"),
    "predict TABLE --ipc 8=1": ("a file and --ipc",),
    "predict --ipc 8=1,16=2": ("no target",),
    "predict --ipc 8=1,16=x --target 32": ("--ipc 16=x", "SIZE=VALUE"),
    "predict --ipc 8=1,8=2 --target 32": ("twice",),
    "predict --ipc 8=1,16=2 --target many": ("--target many", "whole numbers"),
    "predict --ipc 8=1,16=2 --target 32 --f-mem 52": ("--f-mem", "0.52"),
    "predict --ipc 8=1,16=2 --target 32 --confidence 90": ("confidence", "0.9"),
    "predict --ipc 8=1,16=2 --target 32 --rule aditive": ("aditive", "'additive'"),
    "predict --ipc 8=1,16=2 --target 32 --benchmark one": ("--benchmark",),
    "predict 16=2 --target 32": ("16=2", "option"),
    "predict TABLE --f-mem 0.5": ("--f-mem", "--benchmark"),
    "predict TABLE --rul all": ("--rul", "--rule"),
    "predict - -": ("once",),
    "predct": ("predct", "'predict'", "kernelpoint scale --help"),
    "TABLE --benchmrk x": ("--benchmrk", "--benchmark", "kernelpoint scale open --help"),
    "TABLE --rule all": ("--rule", "kernelpoint scale open --help"),
    "--quiet predict TABLE": ("--quiet", "kernelpoint scale predict --quiet"),
    "validate": ("FILE", "kernelpoint scale validate --help"),
    "validate TABLE --rule nothing": ("nothing", "additive"),
    "derive TARGET --factor 3": ("3", "128 SMs", "2, 4, 8 and 16"),
    "derive TARGET -o TABLE": ("is a file", "folder"),
    "derive TARGET --factor 2,4 -o -": ("2 files", "-o"),
    "predict --ipc 8=100,5 -t 32": ("for a decimal comma write a point: 8=100.5",),
    "mrc TRACE --exact --rate 0.1": ("--exact and --rate",),
    "mrc TRACE --capacity 2MB": ("2MB", "2MiB"),
    "mrc TRACE --capacity 8=1MiB,2MiB": ("size",),
    "mrc TRACE --instructions 0": ("--instructions", "1 or more"),
    "forecast": ("forecast", "kernelpoint scale --help"),
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_2(
    kernelpoint: Kernelpoint, table: Path, target: Path, trace: Path, line: str
) -> None:
    places = {"TABLE": table, "TARGET": target, "TRACE": trace}
    error = kernelpoint("scale", *(places.get(word, word) for word in line.split())).failed(2)
    for part in USAGE[line]:
        assert part in error


@pytest.mark.parametrize("line", ["TABLE", "TABLE -b made-up\\ cliff --format json", "--ascii TABLE"])
def test_open_without_a_terminal_predicts_and_says_how_to_open_the_app(
    kernelpoint: Kernelpoint, sample_data: Path, line: str
) -> None:
    example = sample_data / "scale-model-example.csv"
    words = [example if word == "TABLE" else word for word in shlex.split(line)]
    predicted = kernelpoint("scale", "predict", *words)
    for opening in (("scale",), ("scale", "open")):
        run = kernelpoint(*opening, *words)
        assert (run.code, run.out) == (0, predicted.out)
        assert run.err == "kernelpoint: no terminal, so this is the prediction; `ssh -t` opens the app\n"
        assert kernelpoint(*opening, *words, "--quiet").err == ""


def test_without_a_terminal_and_a_file_there_is_nothing_to_do(kernelpoint: Kernelpoint) -> None:
    family = kernelpoint("scale")
    assert (family.code, family.err) == (2, "")
    assert all(word in family.out for word in ("Usage", "predict", "validate", "derive", "mrc", "open"))
    assert kernelpoint("scale", "--help").out == kernelpoint("scale", "-h").out
    assert "no file" in kernelpoint("scale", "open").failed(2)
    for flag in ("--quiet", "--app"):
        assert "ssh -t" in kernelpoint("scale", flag).failed(2)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Session, bool, str]]:
    """What the app is opened with, in a terminal that a person can see and steer."""
    calls: list[tuple[Session, bool, str]] = []

    def run_app(session: Session, *, mouse: bool, view: str, **_: object) -> None:
        calls.append((session, mouse, view))

    monkeypatch.setattr(terminal, "is_interactive", lambda: True)
    monkeypatch.setattr(running, "run_app", run_app)
    return calls


def test_in_a_terminal_the_app_opens_without_a_profile(
    opened: list[tuple[Session, bool, str]], sample_data: Path
) -> None:
    example = sample_data / "scale-model-example.csv"
    assert cli.run(["scale"]) == 0
    assert cli.run(["scale", str(example), "--no-mouse", "--ascii", "--color", "never"]) == 0
    assert cli.run(["scale", "open", "-b", "made-up cliff", str(example)]) == 0
    (bare, mouse, view), (read, no_mouse, _), (one, _, _) = opened
    assert (bare.profiles, bare.scale, mouse, view) == ((), None, True, ScaleScreen.NAME)
    assert not no_mouse
    assert read.ascii_only
    assert read.options.color.value == "never"
    assert read.scale is not None
    assert [sheet.name for sheet in read.scale.sheets] == [
        "made-up linear",
        "made-up congested",
        "made-up cliff",
    ]
    assert one.scale is not None
    assert [sheet.name for sheet in one.scale.sheets] == ["made-up cliff"]


def test_in_a_terminal_what_cannot_be_read_is_said_before_the_app(
    opened: list[tuple[Session, bool, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["scale", "missing.csv"]) == 3
    assert "missing.csv: cannot be read" in capsys.readouterr().err
    assert cli.run(["scale", "predct"]) == 2
    assert opened == []
