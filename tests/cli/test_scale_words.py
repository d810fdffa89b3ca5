"""What `scale` says of its intervals, of what it leaves out, and of options that change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Kernelpoint = Callable[..., Any]

TWO = ("--ipc", "8=100,16=190")
INTERVAL = "is an interval meant to hold"


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


# -- what is left out, and what is not used -----------------------------------------------------------------


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


# -- a curve with an error, traces, targets ----------------------------------------------------------------


def test_a_decimal_comma_is_named(kernelpoint: Kernelpoint) -> None:
    error = kernelpoint("scale", "predict", "--ipc", "8=100,5", "-t", "32").failed(2)
    assert "for a decimal comma write a point: 8=100.5" in error
