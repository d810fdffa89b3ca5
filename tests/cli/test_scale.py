"""`scale predict`, `validate`, `derive` and `mrc`: what is asked, what is answered, and how it is told."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]

PROJECT = Path(__file__).resolve().parents[2]

# dct of the paper: the numbers of its artifact.
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


def points(results: Any) -> dict[tuple[str, int], float | None]:
    return {(row["method"], row["target"]): row["ipc"] for row in results["predictions"]}


def said(run: Run) -> str:
    """The text with its lines joined."""
    assert run.code == 0, run.err
    return " ".join(run.out.split())


def test_a_family_alone_is_its_help_and_2(kernelpoint: Kernelpoint) -> None:
    run = kernelpoint("scale")
    assert run.code == 2
    assert run.err == ""
    for word in ("Usage", "predict", "validate", "derive", "mrc"):
        assert word in run.out
    assert kernelpoint("scale", "--help").code == 0


def test_help_imports_no_heavy_package() -> None:
    code = (
        "import sys\nfrom tui import cli\n"
        "assert cli.run(['scale', 'predict', '--help']) == 0\n"
        "print(sorted({'numpy', 'pandas', 'textual', 'pyarrow'} & sys.modules.keys()), file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=PROJECT, check=True)
    assert run.stderr.decode() == "[]\n"


def test_the_cliff_of_dct(kernelpoint: Kernelpoint) -> None:
    """Additive: eff (1 + M (1 - 1/C)), and 1/(1 - f_mem) at the cliff."""
    results = kernelpoint(*DCT, "--f-mem", "0.52", "--format", "json").results
    assert results["cliff"]["smaller"] == 64
    assert results["cliff"]["larger"] == 128
    gain = 1 - 1 / (226.4 / 112.7 / 2)
    efficiency = 226.4 / 16
    wanted = {32: 1 + gain, 64: 1 + 3 * gain, 128: (1 + 6 * gain) / 0.48}
    for row in results["predictions"]:
        assert row["method"] == "additive"
        assert row["ipc"] == pytest.approx(efficiency * wanted[row["target"]] * row["target"])
        assert row["low"] < row["ipc"] < row["high"]
    assert [row["region"] for row in results["predictions"]] == ["trend", "trend", "at the cliff"]
    first = results["predictions"][0]
    assert math.log(first["high"] / first["ipc"]) == pytest.approx(0.065)
    assert results["classification"]["scaling"] == "super-linear"


def test_options_a_toml_and_words_one_after_the_other_ask_the_same(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path = tmp_path / "dct.toml"
    path.write_text(TOML)
    wanted = points(kernelpoint(*DCT, "--f-mem", "0.52", "--format", "json").results)
    words = ("--ipc", "8=112.7", "16=226.4", "--mpki", "8=6.17", "16=6.18", "32=6.16", "64=5.52", "128=0.1")
    repeated = ("--ipc", "8=112.7", "--ipc", "16=226.4", *MPKI, "-t", "32", "-t", "64,128")
    for line in (
        ("scale", "predict", path),
        ("scale", "predict", *words, "--target", "32,64,128", "--f-mem", "0.52"),
        ("scale", "predict", *repeated, "--f-mem", "0.52"),
    ):
        assert points(kernelpoint(*line, "--format", "json").results) == wanted
    piped = kernelpoint("scale", "predict", "-", "--format", "json", stdin=TOML.encode())
    assert points(piped.results) == wanted


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
    three = said(kernelpoint("scale", "predict", "--ipc", "8=10,16=20,32=42", "--target", "64"))
    assert "8, 16 and 32 SMs simulated" in three
    assert "from how well each model is predicted by those before it: additive 4.9 %" in three
    baseline = said(kernelpoint(*DCT, "--rule", "linear"))
    assert "Low to high" not in baseline


def test_a_table_predicts_all_benchmarks_beside_what_was_measured(
    kernelpoint: Kernelpoint, table: Path
) -> None:
    one, two = kernelpoint("scale", "predict", table, "--format", "json").results
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
    results = kernelpoint("scale", "validate", table, "--format", "json").results
    assert list(results)[:2] == ["additive", "published"]
    assert len(results) == 7
    score = results["additive"]["32"]
    errors = {"one": 36.1 / 40, "two": 400 / 0.6 / 700}
    # C of the first is 0.95: 19/16 / (1 + 1/0.95 - 1) of each SM.
    assert score["mean"] == pytest.approx(sum(1 - ratio for ratio in errors.values()) / 2)
    assert score["worst"] == "one"
    assert score["n"] == 2
    assert score["within_interval"] == 0.5
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


def test_derive_never_overwrites_its_target(kernelpoint: Kernelpoint, tmp_path: Path, target: Path) -> None:
    inside = tmp_path / "64-SMs" / "target.toml"
    inside.parent.mkdir()
    inside.write_bytes(target.read_bytes())
    run = kernelpoint("scale", "derive", inside, "--factor", "2", "-o", tmp_path, "--force")
    assert "would overwrite" in run.failed(2)
    assert inside.read_bytes() == target.read_bytes()


def test_sizes_that_divide_are_taken_where_the_papers_do_not(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path = tmp_path / "qv100.toml"
    path.write_text("[gpu]\nsms = 80\nllc_mib = 6\nllc_slices = 64\nmemory_controllers = 32\n")
    words = ("scale", "derive", path, "--format", "json")
    assert [model["size"] for model in kernelpoint(*words).results] == [10, 20]
    assert "the sizes are 5, 10, 20, 40 and 80" in kernelpoint(*words, "--size", "8").failed(2)


def test_options_that_the_simulator_rejects_are_named(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    target, log = tmp_path / "gpgpusim.config", tmp_path / "run.log"
    options = {
        "-gpgpu_n_clusters": "16",
        "-gpgpu_n_cores_per_cluster": "1",
        "-gpgpu_n_mem": "4",
        "-gpgpu_n_sub_partition_per_mchannel": "2",
        "-gpgpu_cache:dl2": "S:32:128:24,L:B:m:L:P",
        "-network_mode": "2",
    }
    text = "".join(f"{name} {value}\n" for name, value in options.items())
    log.write_text(text)
    target.write_text(f"{text}-smem_latency 30\n-of_tomorrow 1\n")
    words = ("scale", "derive", target, "--factor", "2", "--format", "json")
    (note,) = kernelpoint(*words).results[0]["notes"]
    assert note["code"] == "options-rejected"
    assert "GPGPU-Sim 4.2 does not know -smem_latency, and stops" in note["sentence"]
    (note,) = kernelpoint(*words, "--simulator-log", log).results[0]["notes"]
    assert "does not know -smem_latency and -of_tomorrow" in note["sentence"]
    empty = tmp_path / "empty.log"
    empty.write_text("nothing\n")
    assert "prints no configuration" in kernelpoint(*words, "--simulator-log", empty).failed(2)


def test_mrc_counts_misses_at_each_capacity(kernelpoint: Kernelpoint, trace: Path) -> None:
    """Lines that come round in turn all miss until the cache holds them all."""
    words = ("scale", "mrc", trace, "--capacity", "512KiB,1MiB,2097152", "--instructions", "24576")
    results = kernelpoint(*words, "--format", "json").results
    assert results["capacity_bytes"] == [2**19, 2**20, 2**21]
    assert results["mpki"] == pytest.approx([1000, 1000 / 3, 1000 / 3])
    assert results["low"] == results["mpki"] == results["high"]
    assert results["unit"] == "thread"
    text = said(kernelpoint(*words))
    assert "The largest fall is between 512 KiB and 1 MiB, by 66.7 %" in text
    assert "per thousand thread instructions, all counted" in text


def test_a_curve_feeds_a_prediction(kernelpoint: Kernelpoint, trace: Path, tmp_path: Path) -> None:
    """As a file and through a pipe; the cliff is where the trace comes to fit."""
    words = ("scale", "mrc", trace, "--capacity", "8=256KiB", "16=512KiB", "32=1MiB", "--mpki-unit", "warp")
    curve = kernelpoint(*words, "--instructions", "24576", "--format", "csv")
    path = tmp_path / "curve.csv"
    path.write_bytes(curve.stdout)
    asked = ("scale", "predict", "--ipc", "8=10,16=20", "-t", "32", "--f-mem", "0.5", "--format", "json")
    results = kernelpoint(*asked, "--mpki-from", path).results
    assert results["cliff"]["larger"] == 32
    assert results["mpki_unit"] == "warp"
    assert results["predictions"][0]["ipc"] == pytest.approx(80)
    assert kernelpoint(*asked, "--mpki-from", "-", stdin=curve.stdout).results == results
    assert "warp" in kernelpoint(*asked, "--mpki-from", path, "--mpki-unit", "thread").failed(2)


def test_a_curve_from_a_trace_needs_a_steeper_cliff(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    path.write_text("size,mpki\n16,9\n32,4\n")
    asked = ("scale", "predict", "--ipc", "8=10,16=20", "-t", "32", "--format", "json")
    assert kernelpoint(*asked, "--mpki-from", path).results["cliff"] is None
    typed = (*asked, "--mpki", "16=9,32=4")
    assert kernelpoint(*typed).results["cliff"] is not None
    assert kernelpoint(*typed, "--modelled-curve").results["cliff"] is None
    assert kernelpoint(*asked, "--mpki-from", path, "--scaling", "weak").code == 0


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


USAGE: dict[str, tuple[str, ...]] = {
    "predict": ("nothing to predict from", "--ipc"),
    "predict TABLE --ipc 8=1": ("a file and --ipc",),
    "predict --ipc 8=1 --target 16": ("one size", "two sizes"),
    "predict --ipc 8=1,16=2": ("no target",),
    "predict --ipc 8=1,16 --target 32": ("--ipc 16", "SIZE=VALUE"),
    "predict --ipc 8=1,16=x --target 32": ("--ipc 16=x", "SIZE=VALUE"),
    "predict --ipc 8=1,8=2 --target 32": ("twice",),
    "predict --ipc 8=1,16=2 --target 4": ("below the largest",),
    "predict --ipc 8=1,16=2 --target many": ("--target many", "whole numbers"),
    "predict --ipc 8=1,16=2 --target 32 --f-mem 52": ("--f-mem", "0.52"),
    "predict --ipc 8=1,16=2 --target 32 --confidence 90": ("confidence", "0.9"),
    "predict --ipc 8=1,16=2 --target 32 --rule aditive": ("aditive", "'additive'"),
    "predict --ipc 8=-1,16=2 --target 32": ("above 0",),
    "predict --ipc 8=1,16=2 --target 32 --scaling weak --f-mem 0.5": ("no cliff",),
    "predict --ipc 8=1,16=2 --target 32 --benchmark one": ("--benchmark",),
    "predict 16=2 --target 32": ("16=2", "option"),
    "predict TABLE --benchmark three": ("three", "one, two"),
    "predict TABLE --f-mem 0.5": ("--f-mem", "--benchmark"),
    "predict TABLE --rul all": ("--rul", "--rule"),
    "predict - -": ("once",),
    "validate": ("FILE", "kernelpoint scale validate --help"),
    "validate TABLE --simulated 8": ("two sizes",),
    "validate TABLE --rule nothing": ("nothing", "additive"),
    "derive TARGET --factor 3": ("3", "128 SMs", "2, 4, 8 and 16"),
    "derive TARGET --factor 0": ("1 or more",),
    "derive TARGET --factor 2 --size 8": ("one of the two",),
    "derive TARGET --size 7": ("7 SMs", "8, 16, 32"),
    "derive TARGET -o TABLE": ("is a file", "folder"),
    "derive TARGET --factor 2,4 -o -": ("2 files", "-o"),
    "mrc TRACE --exact --rate 0.1": ("--exact and --rate",),
    "mrc TRACE --rate 2": ("rate",),
    "mrc TRACE --capacity 2MB": ("2MB", "2MiB"),
    "mrc TRACE --capacity 8=1MiB,2MiB": ("size",),
    "mrc TRACE --capacity 8=1MiB,8=2MiB": ("size 8", "two capacities"),
    "mrc TRACE --capacity 64": ("line", "128"),
    "mrc TRACE --line-bytes 100": ("power of two",),
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


# What cannot be printed is quoted as bash knows it, and `shlex` does not.


def test_the_help_tells_the_keys_of_each_toml(kernelpoint: Kernelpoint) -> None:
    predict, derive = (said(kernelpoint("scale", each, "--help")) for each in ("predict", "derive"))
    for key in ("[ipc]", "[mpki]", "f_mem", "simulated", "targets", "scaling", "mpki_unit"):
        assert key in predict
    for key in ("[gpu]", "sms", "llc_mib", "llc_slices", "memory_controllers"):
        assert key in derive


def test_the_samples_are_predicted_validated_and_derived(
    kernelpoint: Kernelpoint, sample_data: Path, tmp_path: Path
) -> None:
    table, question = sample_data / "scale-model-example.csv", sample_data / "scale-model-example.toml"
    asked = kernelpoint("scale", "predict", question, "--format", "json").results
    assert [row["region"] for row in asked["predictions"]] == ["trend", "trend", "at the cliff"]
    cliff = kernelpoint("scale", "predict", table, "--benchmark", "made-up cliff", "--format", "json").results
    assert points(cliff) == points(asked)
    both = kernelpoint(
        "scale", "validate", table, "--rule", "additive,logarithmic", "--format", "json"
    ).results
    assert both["additive"]["128"]["within_interval"] == 1
    assert both["logarithmic"]["128"]["mean"] > 4 * both["additive"]["128"]["mean"]
    every = kernelpoint("scale", "predict", table, "--format", "json").results
    classes = [each["classification"]["scaling"] for each in every]
    assert classes == ["linear", "sub-linear", "super-linear"]
    derived = kernelpoint(
        "scale", "derive", sample_data / "scale-model-target.toml", "--format", "json"
    ).results
    assert [(row["size"], row["memory_controllers"]) for row in derived] == [(8, 1), (16, 2)]
    readme = (sample_data / "README.md").read_text()
    for path in sample_data.glob("scale-model-*"):
        assert f"| `{path.name}`" in readme
