"""What a plan costs at other targets, what binds it, within a budget: each agrees with the plan itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import JSON, Kernelpoint, drawn_of, results
from tui.charts import quantities
from tui.commands.schema import output_schema

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


def test_the_details_are_the_figures_of_json(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    found = results(kernelpoint, "sample", gpt2)
    pooled, judged = found["pooled"], found["judged"]

    def percent(name: str) -> str:
        return f"{100 * found[name]:.1f} %"

    said = kernelpoint("sample", gpt2, "--details", COLUMNS="200").out
    assert f"\njoint: {found['strata']} strata, " in said
    assert (
        f"\n{pooled['groups']} of 22 kernel groups pooled, {100 * pooled['share']:.1f} % of the time" in said
    )
    assert f"profile's own durations: {percent('bound')} of the total" in said
    mean, p95 = (f"{100 * judged[name]:.1f} %" for name in ("error_mean", "error_p95"))
    assert f"\n200 draws: mean error {mean}, 95th percentile {p95}\n" in said
    drawn, printed = percent("bound_with_noise"), percent("expected_interval")
    assert f"\n95 % of such draws are within {drawn}, and `estimate` will print {printed}: the fewer" in said
    assert f", {percent('error')} off\n" in said
    # A plan that draws nothing at random has no interval, and no draws.
    chosen = kernelpoint("sample", gpt2, "--method", "pks", "--details").out
    assert "`estimate` will print" not in chosen
    assert "draws:" not in chosen


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
    said = f"No plan at epsilon 0.2, 0.3, 2 of 3 points: the tree has no node '{deep['path']}' to override"
    assert said in text
    assert f"no node '{deep['path']}'" in kernelpoint(*words, "0.2").failed(2)


#: Two launches of every stratum of every kernel group: dear for a reason that is known.
DEAR = ("--no-pool", "--min-samples", "2")


def test_a_plan_has_one_speedup(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    # One draw of it takes a little more.
    for seed in (0, 3):
        said = ("--seed", seed)
        plan = results(kernelpoint, "sample", resnet, "--judge", 0, *said)
        assert plan["speedup"] != plan["expected_speedup"]
        assert plan["expected_speedup"] == results(kernelpoint, "summary", resnet, *said)["plan"]["speedup"]
        report = tmp_path / f"{seed}.md"
        kernelpoint("report", resnet, "-o", report, *said)
        texts = (kernelpoint(command, resnet, *said).out for command in ("sample", "summary"))
        (found,) = {re.findall("Simulate .*?[)]", text)[0] for text in (*texts, report.read_text())}
        assert f"{plan['expected_speedup']:.0f}x less GPU time" in found


def test_what_binds_is_what_the_flag_gives(kernelpoint: Kernelpoint, resnet: Path) -> None:
    run = kernelpoint("sample", resnet, "--judge", "0", "--binding", *JSON)
    jsonschema.validate(run.json, output_schema("sample"))
    now = results(kernelpoint, "summary", resnet)["plan"]["speedup"]
    rows = run.results["binding"]
    assert rows, "the profile is dear for a reason"
    for row in rows:
        given = (f"--{row['option'].replace('_', '-')}", row["to"])
        relaxed = results(kernelpoint, "summary", resnet, *given)["plan"]
        assert (row["speedup"], row["bound"]) == (relaxed["speedup"], relaxed["promised_error"])
        assert row["speedup_before"] == now
    assert [row["speedup"] for row in rows] == sorted((row["speedup"] for row in rows), reverse=True)


def test_every_offer_is_said_with_its_error_and_the_plan_s_speedup_once(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    rows = results(kernelpoint, "summary", resnet)["binding"]
    for words in (("summary", resnet), ("sample", resnet, "--binding", "--details")):
        text = " ".join(kernelpoint(*words).out.split())
        for row in rows:
            offer = f"{quantities.ratio(row['speedup'])} at {quantities.share(row['bound'])}"
            assert (
                f" {row['to']:g} ({offer})" in text if row["option"] != "group_by" else f"({offer})" in text
            )
        of_plan = text.replace(text.partition("Cheaper: ")[2].partition("iterations: ")[0], "")
        assert len(re.findall(r"\b\d[\d,.]*x\b", of_plan.partition("Simulate ")[2])) == 1


def test_a_plan_that_cannot_be_faster_says_why(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    rows = [f"long{place},4800000" for place in range(10)] + ["short,52000"] * 1000
    path = tmp_path / "launches.csv"
    path.write_text("\n".join(["name,duration_ns", *rows]))
    words = ("--epsilon", "0.002", "--noise-floor", "0", "--kernel-spread", "0")
    said = " ".join(kernelpoint("summary", path, *words).out.split())
    assert "10 launches hold 48.0 % of the time: no plan gains more than 2.08x" in said


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
    offered = f"{quantities.ratio(first['speedup'])} at {quantities.share(first['bound'])}"
    gives = f"({offered}, {quantities.hours(first['machine_hours'])})"
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
    jsonschema.validate(run.json, output_schema("trade-off"))
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


def test_what_a_cost_decides_is_not_called_gpu_time(kernelpoint: Kernelpoint, sample_data: Path) -> None:
    features = sample_data / "resnet50-like-ncu-raw.csv.gz"
    options = ("--features", features, "--cost", "instructions", "--judge", 0)
    said = kernelpoint("sample", sample_data / "resnet50-like.sqlite", *options).out
    assert re.match(r"Simulate \d+ of 5,600 launches: \d+x less to simulate by instructions \(", said), said
