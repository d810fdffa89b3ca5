"""`estimate`: totals, a target with its exit code, the larger plan, and results that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Kernelpoint


def launches_of(plan: Path) -> list[dict[str, Any]]:
    return [each for stratum in json.loads(plan.read_text())["strata"] for each in stratum["launches"]]


def results_of(plan: Path, table: Path, *, spread: int = 0, column: str = "cycles") -> Path:
    """Write three cycles a nanosecond, more or fewer by the launch's id."""
    rows = (
        f"{each['id']},{each['duration_ns'] * (300 + spread * (each['id'] * 7919 % 21 - 10)) // 100}\n"
        for each in launches_of(plan)
    )
    table.write_text(f"id,{column}\n" + "".join(rows))
    return table


def test_a_total_with_its_interval_and_what_it_covers(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    table = results_of(plan_file, tmp_path / "cycles.csv", spread=1)
    run = kernelpoint("estimate", plan_file, table, "--format", "json")
    (cycles,) = run.results["metrics"]
    total_ns = json.loads(plan_file.read_text())["profile"]["total_duration_ns"]
    assert cycles["low"] < cycles["total"] < cycles["high"]
    assert cycles["total"] == pytest.approx(3 * total_ns, rel=0.05)
    assert (cycles["method"], cycles["missing"]) == ("declared-times-seen", [])
    assert (cycles["confidence"], cycles["incomplete"]) == (0.95, False)
    assert run.results["promise_met"] is None
    seen = run.results["seen"]
    assert 0 < seen["variance_ratio"] < 10
    assert 0 < seen["share"] <= 1
    assert seen["declared_share"] == pytest.approx(4 / (4 + seen["degrees_of_freedom"]))
    details = kernelpoint("estimate", plan_file, table, "--details").out
    text, details = (
        " ".join(said.split()) for said in (kernelpoint("estimate", plan_file, table).out, details)
    )
    assert "the intervals cover which launches were simulated; not the simulator's own error" in details
    assert "degrees of freedom" in details
    assert "the intervals cover" not in text
    assert f"Of the variance {100 * seen['share']:.1f} % was seen at least twice" in text
    assert f"{100 * seen['declared_share']:.1f} % of the interval rests on what was declared" in text


def test_results_of_a_part_are_no_total(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    table = results_of(plan_file, tmp_path / "cycles.csv", spread=1)
    strata = json.loads(plan_file.read_text())["strata"]
    total_ns = sum(stratum["size"] * stratum["mean_ns"] for stratum in strata)
    first = {str(each["id"]) for each in strata[0]["launches"]}
    head, *rows = table.read_text().splitlines()
    table.write_text(
        "\n".join([f"{head},instructions", *(f"{r},7" for r in rows if r.split(",")[0] in first), ""])
    )
    run = kernelpoint("estimate", plan_file, table)
    assert run.code == 4
    share = 100 * strata[0]["size"] * strata[0]["mean_ns"] / total_ns
    still = sum(len(stratum["launches"]) for stratum in strata[1:])
    said = " ".join(run.out.split())
    assert said.startswith(f"INCOMPLETE: results of {share:.1f} % of the time; no total yet. ")
    assert f"Still to run: {still} launches" in said
    assert "cycles no total yet" in said
    assert f"incomplete: {100 - share:.1f} % of the profile's time has no result" in run.err
    run = kernelpoint("estimate", plan_file, table, "--format", "json")
    assert run.code == 4
    assert [(each["total"], each["low"], each["incomplete"]) for each in run.results["metrics"]] == [
        (None, None, True)
    ] * 2
    assert [(each["ratio"], each["incomplete"]) for each in run.results["ratios"]] == [(None, True)]
    part = kernelpoint("estimate", plan_file, table, "--partial", "--format", "json")
    assert part.code == 4
    assert part.results["metrics"][0]["total"] > 0
    assert part.results["ratios"][0]["ratio"] > 0
    assert "what follows is of that part alone" in kernelpoint("estimate", plan_file, table, "--partial").out


def test_results_that_vary_more_than_was_declared_say_what_to_type(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    table = tmp_path / "cycles.csv"
    rows = (
        f"{each['id']},{each['duration_ns'] * (1, 100)[each['id'] % 2]}\n" for each in launches_of(plan_file)
    )
    table.write_text("id,cycles\n" + "".join(rows))
    run = kernelpoint("estimate", plan_file, table, "--format", "json")
    seen = run.results["seen"]
    assert seen["exceeds"] is True
    times = seen["variance_ratio"] ** 0.5
    (warning,) = (text for text in run.json["warnings"] if "more than chance explains" in text)
    assert f"plan again with --noise-floor {0.05 * times:.2g}" in warning


def test_groups_are_listed_where_asked_for(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    table = results_of(plan_file, tmp_path / "cycles.csv", spread=1)
    words = ("estimate", plan_file, table)
    assert kernelpoint(*words, "--format", "json").results["groups"] == []
    groups = kernelpoint(*words, "--groups", "--format", "json").results["groups"]
    strata = json.loads(plan_file.read_text())["strata"]
    # All pools are one group.
    keys = {
        stratum["key"].partition(" process")[0] if stratum.get("pooled") else stratum["key"]
        for stratum in strata
    }
    assert {row["key"] for row in groups} == keys
    rows = kernelpoint(*words, "--groups", "--format", "csv").csv
    assert [row["key"] for row in rows] == [row["key"] for row in groups]
    for row in groups:
        # Three cycles a nanosecond, 10 % more or fewer: every group takes what it took in the profile.
        assert row["per_ns"] == pytest.approx(3, rel=0.1)
        assert row["simulated_share"] == pytest.approx(row["profiled_share"], rel=0.2)
    assert sum(row["profiled_share"] for row in groups) == pytest.approx(1)
    head, *table = kernelpoint(*words, "--groups").out.partition("simulated  ")[2].splitlines()
    assert head.split()[:3] == ["profiled", "cycles/ns", "within"]
    listed = [line for line in table if " %  " in line]
    assert len(listed) == len(keys)
    assert {line.split()[4] for line in listed} <= {f"{row['per_ns']:.4g}" for row in groups}


def test_a_group_whose_launches_have_no_result_is_listed_last(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    table = results_of(plan_file, tmp_path / "cycles.csv", spread=1)
    strata = json.loads(plan_file.read_text())["strata"]
    gone = strata[0]["key"]
    ids = {str(each["id"]) for stratum in strata if stratum["key"] == gone for each in stratum["launches"]}
    rows = [row for row in table.read_text().splitlines() if row.split(",")[0] not in ids]
    table.write_text("\n".join([*rows, ""]))
    said = kernelpoint("estimate", plan_file, table, "--groups").out
    assert "missing  kernel group" in said
    last = [line for line in said.splitlines() if " %  " in line][-1].split()
    assert last[0] == "-"
    assert last[3:6] == ["-", "-", "all"]


def test_a_target_is_reached_by_topping_up(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    plan, table, larger = plan_file, tmp_path / "cycles.csv", tmp_path / "larger.json"
    for number in range(60):
        results_of(plan, table, spread=3)
        larger.unlink(missing_ok=True)
        words = ("estimate", plan, table, "--target", "0.01", "--top-up", larger, "--format", "json")
        run = kernelpoint(*words, COLUMNS=str(100 + number))
        if run.code == 0:
            break
        assert run.code == 4
        assert "not within 1.0 %: the interval reaches" in run.err
        assert f"plan written to {larger}" in run.err
        assert run.results["promise_met"] is False
        added = {each["id"] for each in run.results["next"]}
        assert f"next: {len(added)} launch" in kernelpoint(*words[:-2], "--force").out
        plan = tmp_path / f"round-{number}.json"
        plan.write_bytes(larger.read_bytes())
        assert added == {each["id"] for each in launches_of(plan)} - set(
            json.loads(plan.read_text())["simulated"]
        )
        made = ("-o", tmp_path / f"made-{number}", "--format", "json")
        exported = kernelpoint("export", plan, "--to", "csv", *made)
        assert exported.results["launches"] == len(added)
    assert run.code == 0
    assert number > 0
    assert run.results["promise_met"] is True
    assert run.results["next"] == []
    (cycles,) = run.results["metrics"]
    assert cycles["high"] - cycles["total"] <= 0.01 * cycles["total"] * (1 + 1e-9)


def test_against_another_configuration(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    one, other = results_of(plan_file, tmp_path / "a.csv", spread=2), tmp_path / "b.csv"
    rows = one.read_text().splitlines()
    cells = [row.split(",") for row in rows[1:]]
    doubled = [f"{each},{2 * int(cycles) + number % 5}" for number, (each, cycles) in enumerate(cells)]
    other.write_text("\n".join([rows[0], *doubled, ""]))
    run = kernelpoint("estimate", plan_file, other, "--against", one, "--format", "json")
    (speedup,) = run.results["ratios"]
    assert speedup["name"] == "speedup"
    assert speedup["ratio"] == pytest.approx(2, rel=1e-3)
    assert speedup["low"] < speedup["ratio"] < speedup["high"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("id,cycles\n", "launch"),
        ("id,cycles\n999999999,5\n", "launch"),
        ("id,cycles\n{first},5\n{first},6\n", "twice"),
        ("id,cycles\n{first},-5\n", "more than 0 cycles"),
        ("id,cycles\n{first},0\n", "0"),
        ("nothing at all\n", "results.csv"),
    ],
)
def test_results_that_are_wrong_are_refused(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, content: str, said: str
) -> None:
    table = tmp_path / "results.csv"
    table.write_text(content.format(first=launches_of(plan_file)[0]["id"]))
    run = kernelpoint("estimate", plan_file, table)
    assert run.code == 3, run.out
    assert said in run.err.lower()
    assert run.out == ""


def test_options_that_do_not_fit(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    table = results_of(plan_file, tmp_path / "cycles.csv")
    words = ("estimate", plan_file, table)
    assert "--top-up needs a --target" in kernelpoint(*words, "--top-up", tmp_path / "x.json").failed(2)
    assert "did you mean 0.05?" in kernelpoint(*words, "--target", "5").failed(2)
    assert "--ratio takes two metrics" in kernelpoint(*words, "--ratio", "misses").failed(2)
    kernelpoint(*words, "--from", "nothing").failed(2)
    # A launch whose cycles are not a number has none.
    (tmp_path / "nan.csv").write_text(f"id,cycles\n{launches_of(plan_file)[0]['id']},nan\n")
    said = kernelpoint("estimate", plan_file, tmp_path / "nan.csv").failed(1)
    assert "tell no metric of any launch" in said
    assert not (tmp_path / "x.json").exists()


def test_projections_and_scale_models_widen_the_interval(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    """Every fourth launch is projected, the others say how far projections are off: 2 %."""
    plain = results_of(plan_file, tmp_path / "cycles.csv", spread=1)
    rows = [row.split(",") for row in plain.read_text().splitlines()[1:]]
    both = [
        f"{launch},{'' if number % 4 == 0 else cycles},{int(cycles) * (102 if number % 2 else 98) / 100}"
        for number, (launch, cycles) in enumerate(rows)
    ]
    table = tmp_path / "both.csv"
    table.write_text("\n".join(["id,cycles,projected_cycles", *both, ""]))
    without = kernelpoint("estimate", plan_file, plain, "--format", "json").results
    assert without["parts"] is None
    found = kernelpoint("estimate", plan_file, table, "--scale-error", "0.03", "--format", "json").results
    (cycles,) = found["metrics"]
    parts = found["parts"]
    assert parts["scale_model"] == 0.03
    assert 0 < parts["projection"] < 0.02 * 1.96
    half_width = (cycles["high"] - cycles["total"]) / cycles["total"]
    squares = sum(parts[name] ** 2 for name in ("sampling", "projection", "scale_model"))
    assert half_width == pytest.approx(squares**0.5, rel=1e-6)
    text = " ".join(kernelpoint("estimate", plan_file, table, "--scale-error", "0.03").out.split())
    assert "parts of that: sampling" in text
    assert "that ran to the end as well" in text
    few = tmp_path / "few.csv"
    few.write_text("\n".join(["id,cycles,projected_cycles", *both[:1], f"{both[1]}", ""]))
    assert "--projection-error" in kernelpoint("estimate", plan_file, few).failed(2)
