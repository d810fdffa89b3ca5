"""What a plan costs at other targets, what binds it, within a budget: each agrees with the plan typed so."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli import contract_schemas as schemas
from tests.cli.conftest import JSON, Kernelpoint, drawn_of, results
from tui.charts import quantities

EPSILONS = ("--epsilons", "0.2, 0.005,0.05,0.2")


@pytest.mark.parametrize("method", ["joint", "root", "random"])
def test_each_point_is_what_sample_plans(kernelpoint: Kernelpoint, gpt2: Path, method: str) -> None:
    asked = ("--method", method, "--noise-floor", "0.01", "--confidence", "0.9")
    rows = results(kernelpoint, "trade-off", gpt2, *EPSILONS, *asked)
    assert [row["epsilon"] for row in rows] == [0.005, 0.05, 0.2], "each once, ascending"
    for row in rows:
        sample = results(kernelpoint, "sample", gpt2, "--epsilon", row["epsilon"], *asked, "--judge", "0")
        for name in ("strata", "samples", "bound", "group_bound"):
            assert row[name] == sample[name]


def test_the_text_is_a_chart_over_a_table(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    run = kernelpoint("trade-off", gpt2, "--epsilons", "0.001,0.01,0.05")
    lines = run.out.splitlines()
    assert lines[0] == "joint, confidence 0.95"
    assert lines[1] == "speedup over epsilon"
    assert lines[17] == ""
    assert lines[18].split() == ["epsilon", "speedup", "drawn", "strata", "sampled", "bound", "group"]
    assert [line.split()[0] for line in lines[19:22]] == ["0.001", "0.01", "0.05"]
    assert [line.endswith("<- the plan") for line in lines[19:22]] == [False, False, True]
    assert max(map(len, lines)) <= 80


def test_where_the_curve_is_level_the_reason_is_said(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    def last(*words: object) -> str:
        return " ".join(kernelpoint("trade-off", gpt2, *words).out.partition("\n\nFrom")[2].split())

    assert last("--epsilons", "0.001,0.2,0.5,0.7", "--no-pool", "--min-samples", "2") == (
        "epsilon 0.2 on the plan stays the same: the bound of each kernel group, 0.25 and 2 launches a "
        "stratum ask for more than epsilon does."
    )
    assert last("--epsilons", "0.5,0.7", "--group-epsilon", "none", "--no-pool") == (
        "epsilon 0.5 on the plan stays the same: 1 launch a stratum asks for more than epsilon does."
    )
    assert last("--epsilons", "0.1,0.5", "--method", "random") == "epsilon 0.1 on the plan stays the same."
    assert last("--epsilons", "0.001,0.002", "--method", "root") == ""


def test_sample_lists_its_strata_or_its_launches(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    strata = kernelpoint("sample", gpt2, "-o", "-", "--list", "launches").json["strata"]
    rows = results(kernelpoint, "sample", gpt2, "--list", "strata")
    assert rows == [
        {"stratum": number, "pooled": False} | {name: stratum[name] for name in stratum if name != "launches"}
        for number, stratum in enumerate(strata)
    ]
    head, *lines = kernelpoint("sample", gpt2, "--list", "strata").out.splitlines()
    assert head.split() == ["stratum", "launches", "drawn", "mean", "CoV", "durations", "kernel", "group"]
    assert max(map(len, lines)) <= 80
    assert [int(line.split()[2].replace(",", "")) for line in lines] == [row["samples"] for row in rows]
    rows = results(kernelpoint, "sample", gpt2, "--list", "launches")
    jsonschema.validate(rows, {"type": "array", "items": schemas.LAUNCH})
    drawn = {launch["id"]: launch for stratum in strata for launch in stratum["launches"]}
    assert {row["id"]: row for row in rows} == drawn
    assert kernelpoint("sample", gpt2, "--format", "jsonl").jsonl == rows
    head, *lines = kernelpoint("sample", gpt2, "--list", "launches").out.splitlines()
    assert head.split() == ["launch", "stratum", "duration", "stands", "for", "occurrence", "kernel"]
    of_stratum = {each["id"]: number for number, stratum in enumerate(strata) for each in stratum["launches"]}
    assert {int(line.split()[0]): int(line.split()[1]) for line in lines} == of_stratum
    assert max(map(len, lines)) <= 80


def test_a_decision_that_fits_no_node_leaves_the_other_points(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path
) -> None:
    words = ("trade-off", gpt2, "--method", "root", "--epsilon", "0.01", "--group-by", "name")
    tree = results(kernelpoint, "tree", gpt2, *words[2:])
    deep = max((node for node in tree if node["verdict"] == "split"), key=lambda node: node["depth"])
    file = tmp_path / "mine.json"
    decision = {"key": tree[0]["key"], "path": deep["path"], "decision": "split"}
    file.write_text(json.dumps({"overrides": [decision]}))
    words = (*words, "--overrides", file, "--epsilons")
    rows = results(kernelpoint, *words, "0.01,0.2,0.3")
    assert [row["samples"] is None for row in rows] == [False, True, True]
    assert rows[0]["no_plan"] is None
    assert f"has no node '{deep['path']}' to override (kernel group #1" in rows[1]["no_plan"]
    text = " ".join(kernelpoint(*words, "0.01,0.2,0.3").out.split())
    said = f"No plan from epsilon 0.2 on, 2 of 3 points: the tree has no node '{deep['path']}' to override"
    assert said in text
    assert f"no node '{deep['path']}'" in kernelpoint(*words, "0.2").failed(2)


#: Two launches of every stratum of every kernel group: dear for a reason that is known.
DEAR = ("--no-pool", "--min-samples", "2")


def test_what_binds_is_what_the_flag_gives(kernelpoint: Kernelpoint, resnet: Path) -> None:
    run = kernelpoint("sample", resnet, "--judge", "0", "--binding", *JSON)
    jsonschema.validate(run.json, schemas.envelope("sample"))
    now = results(kernelpoint, "summary", resnet)["plan"]["speedup"]
    rows = run.results["binding"]
    assert rows, "the profile is dear for a reason"
    for row in rows:
        given = (f"--{row['option'].replace('_', '-')}", row["to"])
        assert row["speedup"] == results(kernelpoint, "summary", resnet, *given)["plan"]["speedup"]
        assert row["speedup_before"] == now
    assert [row["speedup"] for row in rows] == sorted((row["speedup"] for row in rows), reverse=True)


def test_what_binds_in_words(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("sample", resnet, *DEAR, "--binding")
    row, *_ = rows = results(kernelpoint, *words, "--judge", "0")["binding"]
    lines = kernelpoint(*words).out.splitlines()
    (first,) = (number for number, line in enumerate(lines) if line.startswith("Faster: "))
    said = " ".join(" ".join(lines[first : first + 5]).split()).partition("x now")[0] + "x now"
    assert said.startswith(
        f"Faster: --{row['option'].replace('_', '-')} {row['to']} ({quantities.ratio(row['speedup'])}), --"
    )
    assert "--min-samples 1 (" in said
    assert said.endswith(f"; {row['speedup_before']:.1f}x now")
    assert said.count("x)") == len(rows)
    assert "Faster with" not in kernelpoint("sample", resnet).out
    assert results(kernelpoint, "sample", resnet, "--judge", "0")["binding"] is None


def test_where_no_option_alone_helps_that_is_said(kernelpoint: Kernelpoint, resnet: Path) -> None:
    """With a launch of each kernel there is nothing left to relax."""
    asked = "--group-by name --epsilon 0.4 --group-epsilon none --min-samples 1 --noise-floor 0"
    words = ("sample", resnet, *asked.split(), "--binding")
    assert results(kernelpoint, *words)["binding"] == []
    said = "\nFaster: no option alone: none, one step looser, gives 5 % more speedup\n"
    assert said in kernelpoint(*words).out


def test_hours_follow_from_the_drawn_launches(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path
) -> None:
    """At a slowdown of 7.2e6 a millisecond on the GPU is two hours."""
    drawn = [launch["duration_ns"] for launch in drawn_of(plan_file)]
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
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    within, again = tmp_path / "within.json", tmp_path / "again.json"
    words = ("--slowdown", "1e6", "--budget", "1h", "-o", within, *JSON)
    run = kernelpoint("sample", resnet, *words)
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
    assert "; give --budget 34.8m" in said
    assert not out.exists()
    for more in (("--budget", "34.8m"), ("--method", "root"), ("--min-samples", "1"), ("--group-by", "name")):
        assert kernelpoint(*words, *more).code == 0, more


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        (
            "sample",
            "--budget 24h",
            "give the seconds it takes for a second on the GPU, such as --slowdown 1e6",
        ),
        ("sample", "--budget -1h --slowdown 1e6", "--budget is a duration above 0, not '-1h'"),
        ("sample", "--slowdown nan", "at least 1, not nan"),
        ("sample", "--budget 1h --slowdown 2 --method pks", "looks at no epsilon; give joint"),
        ("trade-off", "--epsilons 0.01,5", "did you mean 0.05?"),
        ("trade-off", "--epsilons a", "fractions by commas are meant"),
        ("trade-off", "--epsilons ,", "names no epsilon"),
        ("trade-off", "--method pks", "pks goes by single launches"),
    ],
)
def test_wrong_options_are_refused_before_a_profile_is_read(
    kernelpoint: Kernelpoint, tmp_path: Path, command: str, words: str, said: str
) -> None:
    assert said in kernelpoint(command, tmp_path / "none.sqlite", *words.split()).failed(2)


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


def test_a_summary_has_what_binds_the_hours_and_the_budget_of_sample(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    for words in ((), ("--slowdown", "1e6"), ("--slowdown", "1e6", "--budget", "1h")):
        sample = results(kernelpoint, "sample", resnet, *words, "--binding", "--judge", "0")
        summary = results(kernelpoint, "summary", resnet, *words)
        assert summary["plan"]["epsilon"] == sample["epsilon"]
        for name in ("binding", "machine_hours", "longest_launch_hours"):
            assert summary[name] == sample[name]
    text = kernelpoint("summary", resnet, *words).out
    assert "the smallest that fits 1h of simulation" in text
    assert " of one machine, " in text
    assert "--epsilon: --budget" in kernelpoint("summary", resnet, *words, "--epsilon", "0.1").err
    kernelpoint("summary", resnet, "--slowdown", "1e6", "--budget", "1s").failed(4)


def test_a_trade_off_says_what_binds_the_plan(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = (
        "trade-off",
        resnet,
        "--epsilon",
        "0.02",
        "--epsilons",
        "0.01,0.1",
        "--slowdown",
        "1e6",
        "--binding",
    )
    run = kernelpoint(*words, *JSON)
    jsonschema.validate(run.json, schemas.envelope("trade-off"))
    rows = {row["epsilon"]: row for row in run.results}
    assert sorted(rows) == [0.01, 0.02, 0.1], "the plan's own is among them"
    asked = ("sample", resnet, "--epsilon", "0.02", "--slowdown", "1e6", "--binding", "--judge", "0")
    binding = results(kernelpoint, *asked)["binding"]
    assert [rows[each]["binding"] for each in sorted(rows)] == [None, binding, None]
    for row in rows.values():
        assert row["machine_hours"] == pytest.approx(row["sampled_duration_ns"] * 1e6 / 3.6e12)
    text = " ".join(kernelpoint(*words).out.split())
    assert "At epsilon 0.02, " in text
    assert f" --{binding[0]['option'].replace('_', '-')} {binding[0]['to']} (" in text
