"""`trade-off`, and what `sample` lists: each agrees with the plan that `sample` makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

Run = Any
Kernelpoint = Callable[..., Run]

EPSILONS = ("--epsilons", "0.2, 0.005,0.05,0.2")


def results(kernelpoint: Kernelpoint, *words: object) -> Any:
    run = kernelpoint(*words, "--format", "json")
    assert run.code == 0, run.err
    return run.results


@pytest.mark.parametrize("method", ["joint", "root", "random"])
def test_each_point_is_what_sample_plans(kernelpoint: Kernelpoint, gpt2: Path, method: str) -> None:
    rows = results(kernelpoint, "trade-off", gpt2, *EPSILONS, "--method", method)
    assert [row["epsilon"] for row in rows] == [0.005, 0.05, 0.2], "each once, ascending"
    for row in rows:
        words = ("--epsilon", row["epsilon"], "--method", method, "--judge", "0")
        sample = results(kernelpoint, "sample", gpt2, *words)
        for name in ("strata", "samples", "bound", "group_bound"):
            assert row[name] == sample[name]


def test_the_default_epsilons_lie_around_the_plans(kernelpoint: Kernelpoint, resnet: Path) -> None:
    rows = results(kernelpoint, "trade-off", resnet, "--epsilon", "0.02")
    assert [row["epsilon"] for row in rows] == [
        *(0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
    ]


def test_the_rest_of_what_is_asked_holds_at_every_point(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    asked = ("--group-epsilon", "0.02", "--min-samples", "3", "--noise-floor", "0")
    rows = results(kernelpoint, "trade-off", gpt2, *EPSILONS, *asked)
    assert all(row["group_bound"] <= 0.02 for row in rows)
    assert rows != results(kernelpoint, "trade-off", gpt2, *EPSILONS)


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


def test_it_is_drawn_as_large_as_asked(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    small = kernelpoint("trade-off", gpt2, "--width", "50", "--height", "8").out.splitlines()
    large = kernelpoint("trade-off", gpt2, "--width", "120", "--height", "30").out.splitlines()
    assert len(large) - len(small) == 22
    assert max(map(len, small[1:9])) <= 50 < max(map(len, large[1:31])) <= 120


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "pks"), "pks picks launches without chance"),
        (("--epsilons", "0.01,5"), "did you mean 0.05?"),
        (("--epsilons", "a"), "fractions by commas are meant"),
        (("--epsilons", ","), "names no epsilon"),
        (("--epsilon", "0"), "--epsilon is a fraction between 0 and 1, not 0"),
        (("--epsilons", "nan"), "a fraction between 0 and 1"),
    ],
)
def test_wrong_options(kernelpoint: Kernelpoint, resnet: Path, words: tuple[str, ...], said: str) -> None:
    assert said in kernelpoint("trade-off", resnet, *words).failed(2)


def test_overrides_hold_at_every_point(kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path) -> None:
    key = results(kernelpoint, "groups", gpt2)[0]["key"]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"overrides": [{"key": key, "path": "", "decision": "keep"}]}))
    words = ("trade-off", gpt2, *EPSILONS, "--method", "root")
    kept = results(kernelpoint, *words, "--overrides", file)
    assert [row["strata"] for row in kept] != [row["strata"] for row in results(kernelpoint, *words)]


def test_sample_lists_its_strata(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    plan = kernelpoint("sample", gpt2, "-o", "-").json
    rows = results(kernelpoint, "sample", gpt2, "--list", "strata")
    assert rows == [
        {"stratum": number, "pooled": False}
        | {name: value for name, value in stratum.items() if name != "launches"}
        for number, stratum in enumerate(plan["strata"])
    ]
    assert kernelpoint("sample", gpt2, "--list", "strata", "--format", "jsonl").jsonl == rows
    lines = kernelpoint("sample", gpt2, "--list", "strata").out.splitlines()
    assert lines[0].split() == ["stratum", "launches", "drawn", "mean", "CoV", "durations", "kernel", "group"]
    assert len(lines) == len(rows) + 1
    assert max(map(len, lines)) <= 80
    drawn = [int(line.split()[2].replace(",", "")) for line in lines[1:]]
    assert drawn == [row["samples"] for row in rows]


def test_sample_lists_its_launches(kernelpoint: Kernelpoint, gpt2: Path, schemas: ModuleType) -> None:
    plan = kernelpoint("sample", gpt2, "-o", "-").json
    rows = results(kernelpoint, "sample", gpt2, "--list", "launches")
    jsonschema.validate(rows, {"type": "array", "items": schemas.LAUNCH})
    drawn = [launch for stratum in plan["strata"] for launch in stratum["launches"]]
    assert sorted(rows, key=lambda row: row["id"]) == sorted(drawn, key=lambda row: row["id"])
    assert kernelpoint("sample", gpt2, "--format", "jsonl").jsonl == rows
    lines = kernelpoint("sample", gpt2, "--list", "launches").out.splitlines()
    assert lines[0].split() == ["launch", "stratum", "duration", "stands", "for", "occurrence", "kernel"]
    of_stratum = {
        launch["id"]: number
        for number, stratum in enumerate(plan["strata"])
        for launch in stratum["launches"]
    }
    assert {int(line.split()[0]): int(line.split()[1]) for line in lines[1:]} == of_stratum
    assert max(map(len, lines)) <= 80


def test_a_list_of_random_launches_is_of_one_stratum(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    (row,) = results(kernelpoint, "sample", gpt2, "--method", "random", "--list", "strata")
    assert row["key"] == "*"
    assert kernelpoint("sample", gpt2, "--method", "random", "--list", "strata").out.endswith("  all\n")


def test_a_plan_is_written_whatever_is_listed(kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path) -> None:
    plain, listed = tmp_path / "plain.json", tmp_path / "listed.json"
    kernelpoint("sample", gpt2, "-o", plain)
    assert kernelpoint("sample", gpt2, "-o", listed, "--list", "strata").code == 0
    assert plain.read_bytes() == listed.read_bytes()


def test_picks_are_listed_by_their_own_labels(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    words = ("sample", gpt2, "--method", "single-iteration", "--set", "single-iteration.first=0")
    words = (*words, "--set", "single-iteration.last=99", "--set", "single-iteration.iterations=4")
    rows = results(kernelpoint, *words, "--list", "strata")
    lines = kernelpoint(*words, "--list", "strata").out.splitlines()
    assert len(lines) == len(rows) + 1
    assert all(row["samples"] > 0 for row in rows)


def test_a_decision_that_fits_no_node_leaves_the_other_points(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path
) -> None:
    words = ("trade-off", gpt2, "--method", "root", "--epsilon", "0.01", "--group-by", "name")
    key = results(kernelpoint, "groups", gpt2, "--group-by", "name")[0]["key"]
    tree = results(kernelpoint, "tree", gpt2, *words[2:])
    deep = max((node for node in tree if node["verdict"] == "split"), key=lambda node: node["depth"])
    file = tmp_path / "mine.json"
    decision = {"key": key, "path": deep["path"], "decision": "split"}
    file.write_text(json.dumps({"overrides": [decision]}))
    words = (*words, "--overrides", file)
    rows = results(kernelpoint, *words, "--epsilons", "0.01,0.2,0.3")
    assert [row["samples"] is None for row in rows] == [False, True, True]
    assert rows[0]["no_plan"] is None
    assert f"has no node '{deep['path']}' to override (kernel group #1" in rows[1]["no_plan"]
    text = kernelpoint(*words, "--epsilons", "0.01,0.2,0.3").out
    assert "<- the plan" in text
    assert (
        f"No plan from epsilon 0.2 on, 2 of 3 points: the tree has no node '{deep['path']}' to override "
        "(kernel group #1)."
    ) in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    failed = kernelpoint(*words, "--epsilons", "0.2").failed(2)
    assert f"no node '{deep['path']}'" in failed
