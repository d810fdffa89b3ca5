"""What `scale` says of its intervals, of what it leaves out, and of options that change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Kernelpoint = Callable[..., Any]

TWO = ("--ipc", "8=100,16=190")
INTERVAL = "is an interval meant to hold"
BEYOND = "beyond the calibrated range"


def said(run: Any) -> str:
    """The text with its lines joined, without frames."""
    assert run.code == 0, run.err
    return " ".join(run.out.replace("│", " ").split())


def predicted(kernelpoint: Kernelpoint, *words: object) -> str:
    return said(kernelpoint("scale", "predict", *words))


# -- what low to high is --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ipc", "mpki", "target"),
    [
        ("8=100,16=200,32=800", "8=10,16=10,32=2,64=2", "64"),
        ("8=100,16=400", "8=10,16=1,32=1", "32,64"),
    ],
)
def test_a_cliff_between_the_models_is_not_calibrated(
    kernelpoint: Kernelpoint, ipc: str, mpki: str, target: str
) -> None:
    words = ("--ipc", ipc, "--mpki", mpki, "--target", target)
    text = predicted(kernelpoint, *words)
    assert "Low to high is twice as wide as the interval of 90 %" in text
    assert INTERVAL not in text
    assert "predicted by those before it" not in text
    results = kernelpoint("scale", "predict", *words, "--format", "json").results
    assert (results["correction"], results["back_cast"]) == (1, {})
    assert {row["bounds"] for row in results["predictions"]} == {"interval not calibrated"}


def test_brackets_are_no_intervals(kernelpoint: Kernelpoint) -> None:
    words = ("--ipc", "8=100,16=190", "--mpki", "8=2,16=2,32=0.9", "--target")
    text = predicted(kernelpoint, *words, "32")
    assert "Low to high is a bracket, no interval" in text
    assert INTERVAL not in text
    both = predicted(kernelpoint, "--ipc", "8=100,16=190", "--mpki", "16=9,32=9,64=1", "--target", "24,32,64")
    assert "Low to high at 24 and 32 SMs is an interval meant to hold 90 %" in both
    assert "Low to high at 64 SMs is a bracket, no interval" in both


def test_a_bracket_of_a_known_f_mem_is_widened_as_an_interval_is(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    words = ("--ipc", "8=100,16=190", "--mpki", "16=9,32=9,128=1", "--target", "64")
    gains = "what the cliff gains at least and at most"
    known = "a bracket, no interval: nothing of what the cliff gains, or all of it, widened either way as an "
    assert f"{known}interval of 90 % is." in predicted(kernelpoint, *words, "--f-mem", "0.5")
    assert f"a bracket, no interval: {gains}." in predicted(kernelpoint, *words)
    path = tmp_path / "two.csv"
    rows = [f"{name},{row}" for name in "ab" for row in ("8,100,9,", "16,190,9,", "32,,9,", "128,,1,")]
    path.write_text(
        "benchmark,size,ipc,mpki,f_mem\n" + "\n".join(rows).replace("a,16,190,9,", "a,16,190,9,0.5")
    )
    both = predicted(kernelpoint, path, "--target", "64")
    assert f"{gains}, where f_mem is known widened either way as an interval of 90 % is." in both


def test_back_casts_are_of_the_rules_that_have_intervals_by_them(kernelpoint: Kernelpoint) -> None:
    words = ("--ipc", "8=100,16=190,32=370", "--target", "64", "--rule")
    text = predicted(kernelpoint, *words, "published,linear")
    assert "predicted by those before it: published " in text
    assert "linear" not in text.split("predicted by those before it")[1].partition(". Of ")[0]
    both = predicted(kernelpoint, *words, "published,additive").split("predicted by those before it")[1]
    assert "published" in (sentence := both.partition(". Of ")[0])
    assert "additive" in sentence


def test_as_simulated_is_neither(kernelpoint: Kernelpoint) -> None:
    text = predicted(kernelpoint, *TWO, "--target", "16")
    assert "Low to high" not in text


def test_baselines_have_none(kernelpoint: Kernelpoint) -> None:
    text = predicted(kernelpoint, *TWO, "--target", "32", "--rule", "linear,additive")
    assert "Low to high is an interval" in text
    assert "linear: no interval" in text


def test_three_models_have_another_interval(kernelpoint: Kernelpoint) -> None:
    words = ("--ipc", "8=100,16=190,32=350", "--target", "64", "--rule", "additive,equations")
    text = predicted(kernelpoint, *words)
    assert "from how well each model is predicted by those before it: additive" in text
    assert "Of 28 targets" in text
    assert "it holds 25 by additive and 21 by equations" in text


@pytest.mark.parametrize(
    "words",
    [
        (*TWO, "--target", "1024"),
        ("--ipc", "8=100,24=290", "--target", "64"),
        ("--ipc", "16=190,32=370", "--target", "64"),
        ("--ipc", "8=100,16=190", "--target", "32", "--scaling", "chiplet"),
        ("--ipc", "8=100,16=190,32=350", "--target", "256"),
    ],
)
def test_beyond_the_calibration_is_said(kernelpoint: Kernelpoint, words: tuple[str, ...]) -> None:
    text = predicted(kernelpoint, *words)
    assert f"additive: {BEYOND}" in text
    assert "Beyond the calibrated range," in text
    (row,) = kernelpoint("scale", "predict", *words, "--format", "json").results["predictions"]
    assert row["note"] == BEYOND


def test_within_the_calibration_nothing_is_said(kernelpoint: Kernelpoint) -> None:
    text = predicted(kernelpoint, *TWO, "--target", "32,64,128")
    assert "from 8 and 16 SMs up to 128 and from 4 and 8 chiplets to 16" in text
    assert "eyond the calibrated range" not in text


def test_rows_of_many_benchmarks_are_told_apart(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    rows = "far,8,100,\nfar,16,200,\nfar,512,,9\ncliff,8,100,9\ncliff,16,200,9\ncliff,32,,1\n"
    path.write_text(f"benchmark,size,ipc,mpki\n{rows}")
    text = predicted(kernelpoint, path)
    assert "Low to high of 1 of the 2 predictions is an interval" in text
    assert "Low to high of 1 of the 2 predictions is a bracket" in text
    lines = kernelpoint("scale", "predict", path).out.splitlines()
    assert next(line for line in lines if line.startswith("far")).endswith("beyond calibration")
    assert next(line for line in lines if line.startswith("cliff")).endswith("bracket")


def test_validate_says_what_is_beyond(kernelpoint: Kernelpoint, sample_data: Path) -> None:
    table = sample_data / "scale-model-example.csv"
    words = ("scale", "validate", table, "--rule", "additive")
    assert BEYOND not in said(kernelpoint(*words))
    assert BEYOND in said(kernelpoint(*words, "--simulated", "16,32"))


# -- what is left out, and what is not used -----------------------------------------------------------------


@pytest.mark.parametrize("command", ["predict", "validate"])
def test_what_of_a_table_is_left_out(kernelpoint: Kernelpoint, tmp_path: Path, command: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text("benchmark,size,ipc,seconds\nshort,8,1,\nlong,8,1,\nlong,16,2,\nlong,32,4,\n")
    run = kernelpoint("scale", command, path)
    assert run.code == 0
    assert "not read: column seconds" in run.err
    assert "short has an IPC at one size alone" in run.err
    assert kernelpoint("scale", command, path, "--quiet").err == ""
    short = tmp_path / "short.csv"
    short.write_text("benchmark,size,ipc\nshort,8,1\n")
    assert "one size alone" in kernelpoint("scale", command, short).failed(3)


def test_a_table_may_say_its_scaling(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = "a,8,1,weak\na,16,2,\na,32,4,\nb,8,1,strong\nb,16,2,\nb,32,4,\n"
    path.write_text(f"benchmark,size,ipc,scaling\n{rows}")
    one, two = kernelpoint("scale", "predict", path, "--format", "json").results
    assert (one["scaling"], two["scaling"]) == ("weak", "strong")
    assert "weak and strong scaling, 2 benchmarks" in said(kernelpoint("scale", "validate", path))
    assert "weak scaling, 2 benchmarks" in said(kernelpoint("scale", "validate", path, "--scaling", "weak"))


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("predict", *TWO, "-t", "32", "--assume-f-mem"), "--assume-f-mem is not used, as there is no cliff"),
        (
            ("predict", *TWO, "--mpki", "16=9,32=1", "-t", "32", "--assume-f-mem", "--f-mem", "0.5"),
            "--assume-f-mem is not used, as f_mem is known",
        ),
        (
            ("predict", *TWO, "-t", "32", "--proportional-from", "largest"),
            "--proportional-from is not used, as the rule proportional is not asked for",
        ),
        (
            ("predict", *TWO, "-t", "32", "--mpki-unit", "warp"),
            "--mpki-unit is not used, as there is no MPKI",
        ),
        (("mrc", "TRACE", "--confidence", "0.9"), "--confidence is not used"),
        (("mrc", "TRACE", "--with-local"), "--with-local is not used"),
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


@pytest.mark.parametrize(
    "words",
    [
        ("predict", *TWO, "--mpki", "16=9,32=1", "-t", "32", "--assume-f-mem"),
        ("predict", *TWO, "--mpki", "16=9,32=8", "-t", "32", "--mpki-unit", "warp"),
        ("predict", *TWO, "-t", "32", "--proportional-from", "largest", "--rule", "all"),
        ("mrc", "TRACE", "--confidence", "0.9", "--rate", "0.9"),
    ],
)
def test_options_that_change_something(
    kernelpoint: Kernelpoint, tmp_path: Path, words: tuple[str, ...]
) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("".join(f"{128 * line:#x}\n" for line in range(99)))
    run = kernelpoint("scale", *(trace if word == "TRACE" else word for word in words))
    assert run.code == 0
    assert "not used" not in run.err


# -- a curve with an error, traces, targets ----------------------------------------------------------------


def test_the_error_of_a_sampled_curve_is_heeded(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    def asked(name: str, rows: str) -> tuple[object, ...]:
        path = tmp_path / name
        path.write_text(f"size,mpki,low,high\n{rows}\n")
        return "scale", "predict", *TWO, "-t", "32", "--mpki-from", path

    wide = asked("wide.csv", "8,10,9,11\n16,10,9.5,10.5\n32,6.9,3,8")
    run = kernelpoint(*wide, "--format", "json")
    assert run.json["warnings"] == ["curve-error"]
    assert run.results["cliff"] is None
    assert "the curve's own sampling error could change this" in said(kernelpoint(*wide))
    narrow = asked("narrow.csv", "8,10,,\n16,10,9.5,10.5\n32,6.9,6.8,7")
    assert kernelpoint(*narrow, "--format", "json").json["warnings"] == []
    for number, bounds in enumerate(("7,8", "1,x", "-1,8")):
        wrong = asked(f"{number}.csv", f"16,10,10,10\n32,6.9,{bounds}")
        assert ";" in kernelpoint(*wrong).failed(3)


def test_instructions_that_the_trace_states_are_not_overruled(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path = tmp_path / "kernel-1.traceg"
    path.write_text(
        "-kernel name = a\n-accelsim tracer version = 3\n"
        "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n"
        "0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f0000000000 4\n#END_TB\n"
    )
    words = ("scale", "mrc", path, "-c", "64KiB", "--format", "json")
    assert kernelpoint(*words).results["instructions"] == 32
    assert kernelpoint(*words, "--instructions", "32").results["instructions"] == 32
    error = kernelpoint(*words, "--instructions", "1000").failed(2)
    assert "1,000 thread instructions are given, but the trace states 32; leave" in error
    assert "1 warp" not in error


def test_addresses_of_32_bits(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "addresses"
    np.array([0x80, 0x100, 0x80, 0x100], dtype="<u4").tofile(path)
    words = ("scale", "mrc", path, "-c", "64KiB", "--format", "json", "--from")
    assert kernelpoint(*words, "binary32").results["cold_misses"] == 2
    assert kernelpoint(*words, "binary").results["accesses"] == 2
    assert "64-bit little-endian" in said(kernelpoint("scale", "mrc", "--help"))


def test_one_access_is_one(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("0x80\n")
    assert "; 1 access, 1 of them" in said(kernelpoint("scale", "mrc", path))


def test_larger_measured_sizes_are_targets(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "question.toml"
    path.write_text("simulated = [8, 16]\n[ipc]\n8 = 100\n16 = 190\n32 = 360\n")
    typed = ("--ipc", "8=100,16=190,32=360", "--simulated", "8,16")
    for words in ((path,), typed):
        (row,) = kernelpoint("scale", "predict", *words, "--format", "json").results["predictions"]
        assert (row["target"], row["measured"]) == (32, 360)
    assert "no target" in kernelpoint("scale", "predict", *typed[:2]).failed(2)


def test_a_decimal_comma_is_named(kernelpoint: Kernelpoint) -> None:
    error = kernelpoint("scale", "predict", "--ipc", "8=100,5", "-t", "32").failed(2)
    assert "for a decimal comma write a point: 8=100.5" in error


def test_the_help_says_what_the_class_goes_by(kernelpoint: Kernelpoint) -> None:
    assert "linear within 2 % of IPC per size for each doubling" in said(
        kernelpoint("scale", "predict", "--help")
    )
    assert "[per_sm]" in said(kernelpoint("scale", "derive", "--help"))
