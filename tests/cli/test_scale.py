"""`scale`: what is asked, what is answered and how it is told, runs launch by launch, what opens the app."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sampling.readers.input_file import InputFile
from scalemodel import runs
from tests.cli.conftest import JSON, Kernelpoint, Run, results
from tests.sampling.readers.test_simulator_log import BANNER, block
from tui import cli
from tui.app import running
from tui.app.scale import ScaleScreen
from tui.app.state import Session
from tui.options.command_line import command_line
from tui.output.writer import Canvas
from tui.scale.questions import answer_question, farewell, made_up_questions, open_questions, questions_from
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


def test_validate_takes_a_question_too(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "dct.toml"
    path.write_text(TOML.replace("16 = 226.4\n", "16 = 226.4\n32 = 443\n", 1))
    assert results(kernelpoint, "scale", "validate", path, "--rule", "additive")["additive"]["32"]["n"] == 1


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
    ("column", "code", "said"),
    [("", 0, "unknown bytes"), (",128", 2, "lines of 128 bytes"), (",32", 0, None)],
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


USAGE: dict[str, tuple[str, ...]] = {
    "predict": ("nothing to predict from", "--ipc"),
    "predict TABLE --ipc 8=1": ("a file and --ipc",),
    "predict --ipc 8=1,16=2": ("no target",),
    "predict --ipc 8=1,16=x --target 32": ("--ipc 16=x", "SIZE=VALUE"),
    "predict --ipc 8=100,5 -t 32": ("--ipc 5", "decimal point"),
    "predict --ipc 8=1,16=2 --target many": ("--target many", "whole numbers"),
    "predict --ipc 8=1,16=2 --target 32 --confidence 90": ("confidence", "0.9"),
    "predict --ipc 8=1,16=2 --target 32 --rule aditive": ("aditive", "'additive'"),
    "predict 16=2 --target 32": ("16=2", "option"),
    "predict TABLE --f-mem 0.5": ("--f-mem", "--benchmark"),
    "predict - -": ("once",),
    "predct": ("predct", "'predict'", "kernelpoint scale --help"),
    "TABLE --rule all": ("--rule", "kernelpoint scale open --help"),
    "--quiet predict TABLE": ("--quiet", "kernelpoint scale predict --quiet"),
    "validate TABLE --rule nothing": ("nothing", "additive"),
    "derive TARGET --factor 3": ("3", "128 SMs", "2, 4, 8 and 16"),
    "derive TARGET -o TABLE": ("is a file", "folder"),
    "derive TARGET --factor 2,4 -o -": ("2 files", "-o"),
    "mrc TRACE --exact --rate 0.1": ("--exact and --rate",),
    "mrc TRACE --capacity 2MB": ("2MB", "2MiB"),
    "mrc TRACE --capacity 8=1MiB,2MiB": ("size",),
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_2(
    kernelpoint: Kernelpoint, table: Path, target: Path, trace: Path, line: str
) -> None:
    places = {"TABLE": table, "TARGET": target, "TRACE": trace}
    error = kernelpoint("scale", *(places.get(word, word) for word in line.split())).failed(2)
    for part in USAGE[line]:
        assert part in error


@pytest.mark.parametrize("line", ["TABLE --format json", "--ascii TABLE"])
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
    (bare, mouse, view), (read, no_mouse, _) = opened
    assert (bare.profiles, bare.scale, mouse, view) == ((), None, True, ScaleScreen.NAME)
    assert not no_mouse
    assert read.ascii_only
    assert read.options.color.value == "never"
    assert read.scale is not None
    assert [each.benchmark for each in read.scale.questions][1:] == ["made-up congested", "made-up cliff"]


def test_in_a_terminal_what_cannot_be_read_is_said_before_the_app(
    opened: list[tuple[Session, bool, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["scale", "missing.csv"]) == 3
    assert "missing.csv: no such file or folder; check the path" in capsys.readouterr().err
    assert cli.run(["scale", "predct"]) == 2
    assert opened == []


# -- launch by launch ---------------------------------------------------------------------------------------

#: Name, blocks, and cycles at 8, 16 and 32 SMs, which are 100 + 50 a wave, and of a kernel of one block.
LAUNCHES = [
    ("_Z3bigPf", 128, (900, 500, 300)),
    ("_Z3onePf", 1, (40, 40, 40)),
    ("_Z3bigPf", 128, (900, 500, 300)),
]


def log_of(place: int, launches: list[tuple[str, int, tuple[int, ...]]] = LAUNCHES) -> str:
    text = BANNER
    for number, (name, blocks, cycles) in enumerate(launches, start=1):
        text += f"-kernel name = {name}\n-kernel id = {number}\n"
        text += f"-grid dim = ({blocks},1,1)\n-block dim = (32,1,1)\n"
        text += block(name, str(number), cycles[place], 1000 * blocks)
    return text


@pytest.fixture
def logs(tmp_path: Path) -> dict[int, Path]:
    paths = {size: tmp_path / f"{size}.log" for size in (8, 16, 32)}
    for place, path in enumerate(paths.values()):
        path.write_text(log_of(place))
    return paths


def test_two_logs_give_a_larger_gpu_launch_by_launch(kernelpoint: Kernelpoint, logs: dict[int, Path]) -> None:
    words = [word for size, path in logs.items() for word in ("--run", f"{size}={path}")]
    run = kernelpoint("scale", "predict", *words, "--target", "32,128", "--kernels", *JSON)
    assert run.code == 0, run.err
    near, far = run.results["predictions"]
    assert (near["cycles"], near["measured"], near["error"]) == (640, 640, 0)
    assert (near["low"], near["high"]) == (pytest.approx(576), pytest.approx(704))
    assert near["ipc"] == pytest.approx(257_000 / 640)
    # From 16 and 32: one wave of 128 SMs is 150, and the one block stays; two doublings further.
    assert (far["from"], far["cycles"], far["scale_error"]) == ([16, 32], 340, pytest.approx(0.2))
    assert [(row["kernel"], row["launches"], row["limit"]) for row in run.results["kernels"]] == [
        ("_Z3bigPf", 2, "its waves get fewer"),
        ("_Z3onePf", 1, "too few thread blocks"),
    ]
    shown = kernelpoint("scale", "predict", *words, "--target", "32").out
    assert shown.startswith("32 SMs: 640 cycles, 576 to 704 (90 % sure), launch by launch from 8 and 16 SMs")
    assert [each["confidence"] for each in run.results["predictions"]] == [0.9, 0.9]
    assert "--kernels gives a row" in shown


@pytest.mark.parametrize("planned", [False, True])
def test_each_log_is_read_once(
    kernelpoint: Kernelpoint,
    logs: dict[int, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planned: bool,
) -> None:
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", logs[8], "--judge", "0", "-o", plan).code == 0
    opened: list[str] = []
    whole = InputFile.open

    def count(file: InputFile) -> Any:
        opened.append(file.path)
        return whole(file)

    monkeypatch.setattr(InputFile, "open", count)
    words = ("--run", f"8={logs[8]}", "--run", f"16={logs[16]}", "--target", "32", "--seed", "1")
    assert kernelpoint("scale", "predict", *words, *(("--plan", plan) if planned else ())).code == 0
    assert sorted(path for path in opened if path != str(plan)) == sorted(str(logs[size]) for size in (8, 16))


def test_the_drawn_launches_of_a_plan_are_enough(
    kernelpoint: Kernelpoint, logs: dict[int, Path], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", logs[8], "--judge", "0", "-o", plan).code == 0
    words = ["--run", f"8={logs[8]}", "--run", f"16={logs[16]}", "--target", "32"]
    run = kernelpoint("scale", "predict", "--plan", plan, *words, "--kernels", *JSON)
    assert run.code == 0, run.err
    (found,) = run.results["predictions"]
    assert found["cycles"] == pytest.approx(640)
    assert found["sampling_error"] is not None
    # Each stands for the launches that it was drawn for.
    assert [(row["launches"], row["cycles"]) for row in run.results["kernels"]] == [(2, 600), (1, 40)]
    assert found["low"] <= 576.1
    assert found["high"] >= 703.9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "8={8}", "--target", "32"), "there is one; give --run SIZE=LOG"),
        (("--run", "x={8}", "--target", "32"), "is not SIZE=LOG"),
        (("{8}",), "give it as --run SIZE=LOG"),
        (("--run", "8={8}", "--run", "16={16}", "--mpki", "16=9"), "--mpki is of the rules for whole runs"),
        (
            ("--run", "8={8}", "--run", "16={16}", "--target", "32", "--confidence", "0.8"),
            "--confidence 0.8: of launch by launch there is an interval at 0.9; leave it out",
        ),
        (("--run", "8={8}", "--run", "16={16}", "--rule", "linear", "--kernels"), "--kernels is of runs"),
        (("--run", "8={8}", "--rule", "linear", "--ipc", "8=1"), "--ipc or --mpki and --run are given"),
    ],
)
def test_what_is_missing_is_named(
    kernelpoint: Kernelpoint, logs: dict[int, Path], words: tuple[str, ...], said: str
) -> None:
    filled = [word.replace("{8}", str(logs[8])).replace("{16}", str(logs[16])) for word in words]
    run = kernelpoint("scale", "predict", *filled)
    assert run.code == 2
    assert said in run.err


CONFIGURATION = """
-gpgpu_n_clusters {sms} # clusters
-gpgpu_n_cores_per_cluster 1
-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0
-gpgpu_shader_registers 65536
"""


def printed_log(place: int, sms: int) -> str:
    """A log that prints its configuration, and what its schedulers waited for."""
    stalls = "Stall:100\tW0_Idle:100\tW0_Scoreboard:200\tW1:0\tW32:100\n"
    return BANNER + CONFIGURATION.format(sms=sms) + log_of(place)[len(BANNER) :] + stalls


@pytest.fixture
def printed(logs: dict[int, Path]) -> dict[int, Path]:
    for place, (size, path) in enumerate(logs.items()):
        path.write_text(printed_log(place, size))
    return logs


REFUSED = {
    "another clock: -gpgpu_clock_domains is 1000.0:1132.0": ("1132.0:1132.0", "1000.0:1132.0"),
    "other resources of an SM, a slice or a launch: -gpgpu_shader": ("registers 65536", "registers 32768"),
    "the configuration it prints has 12 SMs, not 16": ("clusters 16", "clusters 12"),
    "another program: none of its kernels": ("_Z3", "_Z4"),
    "launch 2 is _Z3bigPf (64, 1, 1), and _Z3bigPf (128": ("= 3\n-grid dim = (128", "= 3\n-grid dim = (64"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_runs_that_do_not_belong_together_are_refused_by_name(
    kernelpoint: Kernelpoint, printed: dict[int, Path], said: str
) -> None:
    old, new = REFUSED[said]
    text = printed[16].read_text()
    assert old in text
    printed[16].write_text(text.replace(old, new))
    words = ("scale", "predict", "--run", printed[8], "--run", f"16={printed[16]}", "--target", "32")
    assert said in kernelpoint(*words).failed(3)
    printed[16].write_text(text[: text.rindex("kernel_name")])
    cut = kernelpoint(*words, "--seed", "1").failed(3)
    assert "cut off: 1 of its launches begun and not ended" in cut


def test_sizes_are_read_from_the_configuration(kernelpoint: Kernelpoint, printed: dict[int, Path]) -> None:
    words = [word for path in printed.values() for word in ("--run", path)]
    found = results(kernelpoint, "scale", "predict", *words, "--target", "32")
    assert [each["size"] for each in found["runs"]] == [8, 16, 32]
    assert found["predictions"][0]["error"] == 0
    assert kernelpoint("scale", "open", *printed.values()).out.startswith("32 SMs: 640 cycles")


def test_lines_of_the_users_own_beside_known_keys_say_nothing(
    kernelpoint: Kernelpoint, printed: dict[int, Path]
) -> None:
    words = ("scale", "predict", *(word for path in printed.values() for word in ("--run", path)))
    asked = (*words, "--target", "32")
    before = results(kernelpoint, *asked)
    for path in printed.values():
        text = path.read_text().replace("gpu_sim_cycle =", "my gpu_sim_cycle = 7\ngpu_sim_cycle =")
        own = "-gpgpu_n_clusters is 999 in what follows\nnow -kernel name = none of it\n"
        path.write_text(own + text + "sum of pushing kernel 'x'\ngpu_sim_cycle = none\n")
    assert results(kernelpoint, *asked, "--seed", "0") == before


def test_a_table_is_a_run_and_a_rule_takes_the_whole(
    kernelpoint: Kernelpoint, printed: dict[int, Path], tmp_path: Path
) -> None:
    table = tmp_path / "16.csv"
    grids = ((128, 1, 1), (1, 1, 1), (128, 1, 1))
    rows = [
        f'{row},{name},"{grid}",{cycles[1]},{1000 * blocks}\n'
        for row, ((name, blocks, cycles), grid) in enumerate(zip(LAUNCHES, grids, strict=True))
    ]
    table.write_text("id,name,grid,cycles,instructions\n" + "".join(rows))
    asked = ("scale", "predict", "--run", printed[8], "--run", f"16={table}", "--target", "32")
    run = kernelpoint(*asked, *JSON)
    assert run.code == 0, run.err
    assert run.results["predictions"][0]["cycles"] == 640
    (row,) = kernelpoint(*asked, "--rule", "linear", *JSON).results["predictions"]
    # IPC of the whole: 257,000 over 1,840 and 1,040 cycles.
    assert row["ipc"] == pytest.approx(257_000 * (3 / 1040 - 2 / 1840))
    assert "a table does not say" in kernelpoint(*asked[:5], table, "--target", "32").failed(2)


def test_validate_takes_folders_of_runs(kernelpoint: Kernelpoint, printed: dict[int, Path]) -> None:
    folder = printed[8].parent
    results = kernelpoint("scale", "validate", folder, "--rule", "additive", *JSON).results
    assert list(results) == ["waves", "additive"]
    assert results["waves"]["32"]["max"] == pytest.approx(0)
    assert results["additive"]["32"]["max"] > 0.02
    assert kernelpoint("scale", "validate", folder, *JSON).json["warnings"] == []
    (folder / "alone.log").write_text(printed_log(0, 8).replace("_Z3", "_Z4"))
    again = kernelpoint("scale", "validate", folder, "--rule", "additive")
    assert "/alone.log: note: No IPC above the scale models" in again.out
    (folder / "empty").mkdir()
    assert "empty: no log of a simulator" in kernelpoint("scale", "validate", folder / "empty").failed(3)
    assert "without tables" in kernelpoint("scale", "validate", folder, "--scaling", "weak").failed(2)


def test_a_folder_of_too_many_files_is_not_searched_for_runs(
    kernelpoint: Kernelpoint, printed: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = printed[8].parent
    deeper = folder / "a" / "b" / "c"
    deeper.mkdir(parents=True)
    for name in "pqrs":
        (deeper / f"{name}.log").touch()
    before = len([*folder.iterdir()])
    monkeypatch.setattr(runs, "MOST_ENTRIES", before + 1)
    assert kernelpoint("scale", "validate", folder).code == 0, "three levels down nothing is looked for"
    (folder / "a" / "more").touch()
    said = kernelpoint("scale", "validate", folder, "--quiet").failed(3)
    assert f"and its folders have more files than {before + 1}" in said


def test_view_5_holds_runs(kernelpoint: Kernelpoint, printed: dict[int, Path]) -> None:
    questions = questions_from(open_questions([str(printed[8]), str(printed[16])]))
    answer = answer_question(questions)
    measurements, outcome = answer.measurements, answer.outcome
    assert questions.shown.question.sizes == (8, 16, 32, 64)
    assert [each.method for each in outcome.predictions] == ["waves"] * 2
    assert outcome.predictions[0].ipc == pytest.approx(257_000 / 640)
    assert measurements.simulated_sizes == (8, 16)
    assert answer.command.run == (f"8={printed[8]}", f"16={printed[16]}")
    line = shlex.split(command_line("scale predict", answer.command))
    shown = kernelpoint(*line[1:], "--width", "80").out
    assert shown == answer.text(answer.command, Canvas(80, color=False)) + "\n"
    assert farewell(questions) == f"64 SMs: IPC {257_000 / 440:.4g} by waves\n{shlex.join(line)}"
    by_rule = questions.with_next_rule()
    assert answer_question(by_rule).outcome.predictions[0].method == "additive"
    nearer = questions.with_shown(questions.shown.with_cell(64, "size", "48"))
    assert [each.target for each in answer_question(nearer).outcome.predictions] == [32, 48]
    # Other numbers are of no run.
    edited = questions.with_shown(questions.shown.with_cell(8, "ipc", "1"))
    assert edited.rule == "additive"
    assert answer_question(edited).command.ipc[0].startswith("8=1,16=")
    assert replace(made_up_questions(), chosen_rule=questions.chosen_rule).rule == "additive"
