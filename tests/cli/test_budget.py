"""`sample` with a slowdown, within a budget, and what binds it: each agrees with the plan typed so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from tui.charts import quantities

Run = Any
Kernelpoint = Callable[..., Run]

FLAGS = {
    "epsilon": "--epsilon",
    "group_epsilon": "--group-epsilon",
    "min_samples": "--min-samples",
    "noise_floor": "--noise-floor",
    "kernel_spread": "--kernel-spread",
    "group_by": "--group-by",
    "method": "--method",
}

#: Two launches of every stratum of every kernel group: dear for a reason that is known.
DEAR = ("--no-pool", "--min-samples", "2")


def results(kernelpoint: Kernelpoint, *words: object) -> Any:
    run = kernelpoint(*words, "--format", "json")
    assert run.code == 0, run.err
    return run.results


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("resnet", ()),
        ("gpt2", ("--group-by", "published")),
        ("gpt2", ("--method", "root", "--epsilon", "0.01")),
    ],
)
def test_what_binds_is_what_the_flag_gives(
    kernelpoint: Kernelpoint,
    schemas: ModuleType,
    request: pytest.FixtureRequest,
    profile: str,
    words: tuple[str, ...],
) -> None:
    path = request.getfixturevalue(profile)
    run = kernelpoint("sample", path, *words, "--judge", "0", "--binding", "--format", "json")
    jsonschema.validate(run.json, schemas.envelope("sample"))
    rows = run.results["binding"]
    now = results(kernelpoint, "summary", path, *words)["plan"]["speedup"]
    typed = ["epsilon", "group_by"] if "root" in words else list(FLAGS)
    assert rows, "both profiles are dear for a reason"
    assert {row["option"] for row in rows} <= set(typed)
    for row in rows:
        given = (*words, FLAGS[row["option"]], row["to"])
        assert row["speedup"] == results(kernelpoint, "summary", path, *given)["plan"]["speedup"]
        assert row["speedup_before"] == now
        assert row["speedup"] > 1.05 * now
    assert [row["speedup"] for row in rows] == sorted((row["speedup"] for row in rows), reverse=True)


def test_what_binds_in_words(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("sample", resnet, *DEAR, "--binding")
    row, *_ = rows = results(kernelpoint, *words, "--judge", "0")["binding"]
    lines = kernelpoint(*words).out.splitlines()
    (first,) = (number for number, line in enumerate(lines) if line.startswith("Faster: "))
    said = " ".join(" ".join(lines[first : first + 5]).split()).partition("x now")[0] + "x now"
    assert said.startswith(
        f"Faster: {FLAGS[row['option']]} {row['to']} ({quantities.ratio(row['speedup'])}), --"
    )
    assert "--min-samples 1 (" in said
    assert said.endswith(f"; {row['speedup_before']:.1f}x now")
    assert said.count("x)") == len(rows)
    assert "Faster with" not in kernelpoint("sample", resnet).out
    assert results(kernelpoint, "sample", resnet, "--judge", "0")["binding"] is None


def test_where_no_option_alone_helps_that_is_said(kernelpoint: Kernelpoint, resnet: Path, gpt2: Path) -> None:
    """With a launch of each kernel there is nothing left to relax."""
    asked = "--group-by name --epsilon 0.4 --group-epsilon none --min-samples 1 --noise-floor 0"
    words: tuple[object, ...] = ("sample", resnet, *asked.split(), "--binding")
    assert results(kernelpoint, *words)["binding"] == []
    said = "\nFaster: no option alone: none, one step looser, gives 5 % more speedup\n"
    assert said in kernelpoint(*words).out
    settings = ("first=0", "last=99", "iterations=56")
    picks = [word for each in settings for word in ("--set", f"single-iteration.{each}")]
    words = ("sample", gpt2, "--method", "single-iteration", *picks, "--binding")
    assert "\nFaster: no option, for nothing is asked of single-iteration\n" in kernelpoint(*words).out
    assert results(kernelpoint, *words)["binding"] == []


def test_hours_follow_from_the_drawn_launches(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path
) -> None:
    """At a slowdown of 7.2e6 a millisecond on the GPU is two hours."""
    drawn = [
        launch["duration_ns"]
        for stratum in json.loads(plan_file.read_text())["strata"]
        for launch in stratum["launches"]
    ]
    words = ("sample", resnet, "--slowdown", "7.2e6", "--binding")
    found = results(kernelpoint, *words)
    assert found["machine_hours"] == pytest.approx(2e-6 * sum(drawn))
    assert found["longest_launch_hours"] == pytest.approx(2e-6 * max(drawn))
    assert found["epsilon"] == 0.05
    for row in found["binding"]:
        assert row["machine_hours"] == pytest.approx(2e-6 * found["total_duration_ns"] / row["speedup"])
    text = kernelpoint(*words).out
    taken = quantities.hours(found["machine_hours"])
    assert f"\nsimulated 7.2e+06 times slower: {taken} of one machine, " in text
    first = found["binding"][0]
    gives = f"({quantities.ratio(first['speedup'])}, {quantities.hours(first['machine_hours'])})"
    assert gives in " ".join(text.split())
    without = results(kernelpoint, "sample", resnet)
    assert (without["machine_hours"], without["longest_launch_hours"]) == (None, None)


def test_the_epsilon_of_a_budget_is_that_of_the_plan(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, schemas: ModuleType
) -> None:
    within, again = tmp_path / "within.json", tmp_path / "again.json"
    words = ("--slowdown", "1e6", "--budget", "1h", "-o", within, "--format", "json")
    run = kernelpoint("sample", resnet, *words)
    jsonschema.validate(run.json, schemas.envelope("sample"))
    found = run.results
    assert 0.0001 < found["epsilon"] < 0.05
    # This draw may take a little more or less than is expected.
    assert found["machine_hours"] == pytest.approx(1, rel=0.05)
    assert json.loads(within.read_text())["options"]["epsilon"] == found["epsilon"]
    assert kernelpoint("sample", resnet, "--epsilon", found["epsilon"], "-o", again).code == 0
    assert within.read_bytes() == again.read_bytes()
    text = kernelpoint("sample", resnet, *words[:4]).out
    assert f"\nepsilon {found['epsilon']:g}: the smallest that fits 1h of simulation\n" in text
    # What binds is of the plan within the budget, not of one at the default epsilon.
    bound = results(kernelpoint, "sample", resnet, *words[:4], "--binding")["binding"]
    (looser,) = (row for row in bound if row["option"] == "epsilon")
    assert (looser["from"], looser["to"]) == (found["epsilon"], 2 * found["epsilon"])


def test_a_budget_that_no_plan_fits(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    words = ("sample", resnet, *DEAR, "--slowdown", "1e6", "--budget", "30m", "-o", out)
    said = kernelpoint(*words).failed(4)
    assert "at epsilon 0.999 a plan takes 34.8m of simulation, more than --budget 30m at a slowdown" in said
    assert "; give --budget 34.8m, or --method root, or --min-samples 1, or --group-by name" in said
    assert not out.exists()
    for more in (("--budget", "34.8m"), ("--method", "root"), ("--min-samples", "1"), ("--group-by", "name")):
        assert kernelpoint(*words, *more).code == 0, more


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", "24h"), "give the seconds it takes for a second on the GPU, such as --slowdown 1e6"),
        (("--budget", "24", "--slowdown", "1e6"), "--budget is a duration above 0, not '24'"),
        (("--budget", "-1h", "--slowdown", "1e6"), "--budget is a duration above 0, not '-1h'"),
        (("--slowdown", "0.5"), "--slowdown is seconds of simulation for a second on the GPU, at least 1"),
        (("--slowdown", "nan"), "at least 1, not nan"),
        (("--budget", "1h", "--slowdown", "2", "--method", "pks"), "looks at no epsilon; give joint"),
    ],
)
def test_wrong_budgets(kernelpoint: Kernelpoint, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """They are refused before a profile is read: there is none."""
    assert said in kernelpoint("sample", tmp_path / "none.sqlite", *words).failed(2)


def test_decisions_do_not_go_with_a_budget(kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path) -> None:
    key = results(kernelpoint, "groups", gpt2)[0]["key"]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"overrides": [{"key": key, "path": "", "decision": "keep"}]}))
    words = ("--budget", "24h", "--slowdown", "1e6", "--overrides", file)
    said = kernelpoint("sample", gpt2, *words).failed(2)
    assert "find the epsilon without them, then give it as --epsilon" in said


def test_options_without_effect_are_said(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    words = ("sample", gpt2, "--slowdown", "1e6", "--binding")
    note = "--binding, --slowdown: of the plan's figures, which are not shown; not used"
    assert note in kernelpoint(*words, "--format", "csv").err
    assert note in kernelpoint(*words, "--list", "strata").err
    assert "not used" not in kernelpoint(*words).err
    within = kernelpoint("sample", gpt2, "--slowdown", "1e6", "--budget", "1h", "--epsilon", "0.1")
    assert "--epsilon: --budget finds the smallest that fits; not used" in within.err
    listed = kernelpoint("sample", gpt2, "--slowdown", "1e6", "--budget", "10m", "--list", "strata")
    assert "not used" not in listed.err


@pytest.mark.parametrize("profile", ["resnet", "gpt2"])
def test_a_summary_says_what_binds_as_sample_does(
    kernelpoint: Kernelpoint, schemas: ModuleType, request: pytest.FixtureRequest, profile: str
) -> None:
    path = request.getfixturevalue(profile)
    run = kernelpoint("summary", path, "--format", "json")
    jsonschema.validate(run.json, schemas.envelope("summary"))
    rows = run.results["binding"]
    assert rows == results(kernelpoint, "sample", path, "--binding", "--judge", "0")["binding"]
    assert (run.results["machine_hours"], run.results["longest_launch_hours"]) == (None, None)
    text = kernelpoint("summary", path).out
    said = " ".join(text.partition("Faster: ")[2].partition("\ni ")[0].split())
    assert said.split(", ") == [
        f"{FLAGS[row['option']]} {row['to']} ({quantities.ratio(row['speedup'])})" for row in rows[:3]
    ]


def test_a_summary_has_the_hours_and_the_budget_of_sample(kernelpoint: Kernelpoint, resnet: Path) -> None:
    for words in (("--slowdown", "1e6"), ("--slowdown", "1e6", "--budget", "1h")):
        sample = results(kernelpoint, "sample", resnet, *words, "--judge", "0")
        summary = results(kernelpoint, "summary", resnet, *words)
        assert summary["plan"]["epsilon"] == sample["epsilon"]
        for name in ("machine_hours", "longest_launch_hours"):
            assert summary[name] == sample[name] > 0
    text = kernelpoint("summary", resnet, *words).out
    assert "the smallest that fits 1h of simulation" in text
    assert " of one machine, " in text
    assert "--epsilon: --budget" in kernelpoint("summary", resnet, *words, "--epsilon", "0.1").err
    assert "at least 1, not 0.5" in kernelpoint("summary", resnet, "--slowdown", "0.5").failed(2)
    kernelpoint("summary", resnet, "--slowdown", "1e6", "--budget", "1s").failed(4)


def test_a_trade_off_says_what_binds_the_plan(
    kernelpoint: Kernelpoint, schemas: ModuleType, resnet: Path
) -> None:
    words = ("--epsilon", "0.02", "--epsilons", "0.01,0.1", "--slowdown", "1e6")
    run = kernelpoint("trade-off", resnet, *words, "--binding", "--format", "json")
    jsonschema.validate(run.json, schemas.envelope("trade-off"))
    rows = {row["epsilon"]: row for row in run.results}
    assert sorted(rows) == [0.01, 0.02, 0.1], "the plan's own is among them"
    sample = ("sample", resnet, *words[:2], *words[4:], "--binding", "--judge", "0")
    binding = results(kernelpoint, *sample)["binding"]
    assert binding
    assert {epsilon: row["binding"] for epsilon, row in rows.items()} == {
        0.01: None,
        0.02: binding,
        0.1: None,
    }
    for row in rows.values():
        assert row["machine_hours"] == pytest.approx(row["sampled_duration_ns"] * 1e6 / 3.6e12)
    text = " ".join(kernelpoint("trade-off", resnet, *words, "--binding").out.split())
    assert "At epsilon 0.02, " in text
    assert f" {FLAGS[binding[0]['option']]} {binding[0]['to']} (" in text
    assert "one machine" in text
    without = kernelpoint("trade-off", resnet, "--epsilons", "0.01,0.05", "--format", "json").results
    assert [(row["binding"], row["machine_hours"]) for row in without] == [(None, None)] * 2
    assert "Faster with" not in kernelpoint("trade-off", resnet, "--epsilons", "0.01,0.05").out
