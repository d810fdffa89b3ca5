"""From results to totals: `estimate`, `run`, and plans of `embedding`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.plan.plan_file import read_plan
from sampling.readers.registry import read_profile
from tests.cli.conftest import JSON, Kernelpoint, cycles_of, drawn_of, results


@pytest.fixture
def table(plan_file: Path, tmp_path: Path) -> Path:
    """Results of all launches of the plan, three cycles a nanosecond and 10 % more or fewer."""
    return cycles_of(plan_file, tmp_path / "cycles.csv")


def strata_of(plan: Path) -> list[dict[str, Any]]:
    strata: list[dict[str, Any]] = json.loads(plan.read_text())["strata"]
    return strata


def test_a_total_with_its_interval_and_what_it_covers(
    kernelpoint: Kernelpoint, plan_file: Path, table: Path
) -> None:
    found = results(kernelpoint, "estimate", plan_file, table)
    (cycles,) = found["metrics"]
    total_ns = json.loads(plan_file.read_text())["profile"]["total_duration_ns"]
    assert cycles["low"] < cycles["total"] < cycles["high"]
    assert cycles["total"] == pytest.approx(3 * total_ns, rel=0.05)
    assert (cycles["method"], cycles["missing"]) == ("declared-times-seen", [])
    assert (cycles["confidence"], cycles["incomplete"]) == (0.95, False)
    assert found["promise_met"] is None
    seen = found["seen"]
    assert 0 < seen["share"] <= 1
    assert seen["declared_share"] == pytest.approx(4 / (4 + seen["degrees_of_freedom"]))
    text, details = (
        " ".join(kernelpoint("estimate", plan_file, table, *more).out.split())
        for more in ((), ("--details",))
    )
    covers = "the intervals cover which launches were simulated; not the simulator's own error"
    assert covers in details
    assert covers not in text
    assert f"Of the variance {100 * seen['share']:.1f} % was seen at least twice" in text
    assert f"{100 * seen['declared_share']:.1f} % of the interval rests on what was declared" in text


def test_results_of_a_part_are_no_total(kernelpoint: Kernelpoint, plan_file: Path, table: Path) -> None:
    strata = strata_of(plan_file)
    total_ns = sum(stratum["size"] * stratum["mean_ns"] for stratum in strata)
    first = {str(each["id"]) for each in strata[0]["launches"]}
    head, *rows = table.read_text().splitlines()
    kept = [f"{row},7" for row in rows if row.split(",")[0] in first]
    table.write_text("\n".join([f"{head},instructions", *kept, ""]))
    words = ("estimate", plan_file, table)
    run = kernelpoint(*words)
    assert run.code == 4
    share = 100 * strata[0]["size"] * strata[0]["mean_ns"] / total_ns
    said = " ".join(run.out.split())
    assert said.startswith(f"INCOMPLETE: results of {share:.1f} % of the time; no total yet. ")
    assert f"Still to run: {len(rows) - len(kept)} launches" in said
    assert f"incomplete: {100 - share:.1f} % of the profile's time has no result" in run.err
    run = kernelpoint(*words, *JSON)
    assert run.code == 4
    figures = [(each["total"], each["low"], each["incomplete"]) for each in run.results["metrics"]]
    assert figures == [(None, None, True)] * 2
    assert [(each["ratio"], each["incomplete"]) for each in run.results["ratios"]] == [(None, True)]


def test_results_that_vary_more_than_was_declared_say_what_to_type(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    table = tmp_path / "cycles.csv"
    rows = (
        f"{each['id']},{each['duration_ns'] * (1, 100)[each['id'] % 2]}\n" for each in drawn_of(plan_file)
    )
    table.write_text("id,cycles\n" + "".join(rows))
    run = kernelpoint("estimate", plan_file, table, *JSON)
    seen = run.results["seen"]
    assert seen["exceeds"] is True
    (warning,) = (text for text in run.json["warnings"] if "more than chance explains" in text)
    assert f"plan again with --noise-floor {0.05 * seen['variance_ratio'] ** 0.5:.2g}" in warning


def test_groups_are_listed_where_asked_for(kernelpoint: Kernelpoint, plan_file: Path, table: Path) -> None:
    words = ("estimate", plan_file, table)
    assert results(kernelpoint, *words)["groups"] == []
    groups = results(kernelpoint, *words, "--groups")["groups"]
    strata = strata_of(plan_file)
    # All pools are one group.
    keys = {each["key"].partition(" process")[0] if each.get("pooled") else each["key"] for each in strata}
    assert {row["key"] for row in groups} == keys
    assert [row["key"] for row in kernelpoint(*words, "--groups", "--format", "csv").csv] == [
        row["key"] for row in groups
    ]
    for row in groups:
        assert row["per_ns"] == pytest.approx(3, rel=0.1)
        assert row["simulated_share"] == pytest.approx(row["profiled_share"], rel=0.2)
    assert sum(row["profiled_share"] for row in groups) == pytest.approx(1)
    head, *lines = kernelpoint(*words, "--groups").out.partition("simulated  ")[2].splitlines()
    assert head.split()[:3] == ["profiled", "cycles/ns", "within"]
    assert len([line for line in lines if " %  " in line]) == len(keys)
    # One whose launches have no result is listed last.
    gone = strata[0]["key"]
    ids = {str(each["id"]) for stratum in strata if stratum["key"] == gone for each in stratum["launches"]}
    kept = [row for row in table.read_text().splitlines() if row.split(",")[0] not in ids]
    (fewer := table.with_name("fewer.csv")).write_text("\n".join([*kept, ""]))
    said = kernelpoint("estimate", plan_file, fewer, "--groups").out
    assert "missing  kernel group" in said
    last = [line for line in said.splitlines() if " %  " in line][-1].split()
    assert (last[0], last[3:6]) == ("-", ["-", "-", "all"])


def test_a_target_that_is_missed_says_what_to_run_next(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    table, larger = cycles_of(plan_file, tmp_path / "cycles.csv", spread=3), tmp_path / "larger.json"
    words = ("estimate", plan_file, table, "--target")
    run = kernelpoint(*words, "0.01", "--top-up", larger, *JSON)
    assert (run.code, run.results["promise_met"]) == (4, False)
    assert "not within 1.0 %: the interval reaches" in run.err
    assert f"plan written to {larger}" in run.err
    added = {each["id"] for each in run.results["next"]}
    assert f"next: {len(added)} launch" in kernelpoint(*words, "0.01", "--top-up", larger, "--force").out
    assert added == {each["id"] for each in drawn_of(larger)} - set(
        json.loads(larger.read_text())["simulated"]
    )
    made = results(kernelpoint, "export", larger, "--to", "csv", "-o", tmp_path / "made")
    assert made["launches"] == len(added)
    met = results(kernelpoint, *words, "0.2")
    assert (met["promise_met"], met["next"]) == (True, [])


def test_against_another_configuration(kernelpoint: Kernelpoint, plan_file: Path, table: Path) -> None:
    head, *rows = table.read_text().splitlines()
    cells = [row.split(",") for row in rows]
    doubled = [f"{each},{2 * int(cycles) + number % 5}" for number, (each, cycles) in enumerate(cells)]
    (other := table.with_name("b.csv")).write_text("\n".join([head, *doubled, ""]))
    (speedup,) = results(kernelpoint, "estimate", plan_file, other, "--against", table)["ratios"]
    assert speedup["name"] == "speedup"
    assert speedup["ratio"] == pytest.approx(2, rel=1e-3)
    assert speedup["low"] < speedup["ratio"] < speedup["high"]


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("", 3, "is empty"),
        ("id,cycles\n", 3, "launch"),
        ("id,cycles\n999999999,5\n", 3, "launch"),
        ("id,cycles\n{first},5\n{first},6\n", 3, "twice"),
        ("id,cycles\n{first},-5\n", 3, "column cycles"),
        ("nothing at all\n", 3, "results.csv"),
        # A launch whose cycles are not a number has none.
        ("id,cycles\n{first},nan\n", 1, "tell no metric of any launch"),
    ],
)
def test_results_that_are_wrong_are_refused(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, content: str, code: int, said: str
) -> None:
    path = tmp_path / "results.csv"
    path.write_text(content.format(first=drawn_of(plan_file)[0]["id"]))
    assert said in kernelpoint("estimate", plan_file, path).failed(code).lower()


def test_options_that_do_not_fit(kernelpoint: Kernelpoint, plan_file: Path, table: Path, here: Path) -> None:
    for words, said in (
        ("--top-up x.json", "--top-up needs a --target"),
        ("--target 5", "did you mean 0.05?"),
        ("--ratio misses", "--ratio takes two metrics"),
        ("--from nothing", "nothing"),
    ):
        assert said in kernelpoint("estimate", plan_file, table, *words.split()).failed(2)
    assert list(here.iterdir()) == [table]


def test_projections_and_scale_models_widen_the_interval(
    kernelpoint: Kernelpoint, plan_file: Path, table: Path
) -> None:
    """Every fourth launch is projected, the others say how far projections are off: 2 %."""
    rows = [row.split(",") for row in table.read_text().splitlines()[1:]]
    both = [
        f"{launch},{'' if number % 4 == 0 else cycles},{int(cycles) * (102 if number % 2 else 98) / 100}"
        for number, (launch, cycles) in enumerate(rows)
    ]
    path, few = table.with_name("both.csv"), table.with_name("few.csv")
    path.write_text("\n".join(["id,cycles,projected_cycles", *both, ""]))
    few.write_text("\n".join(["id,cycles,projected_cycles", *both[:2], ""]))
    assert results(kernelpoint, "estimate", plan_file, table)["parts"] is None
    parts = results(kernelpoint, "estimate", plan_file, path, "--scale-error", "0.03")["parts"]
    assert parts["scale_model"] == 0.03
    assert 0 < parts["projection"] < 0.02 * 1.96
    text = " ".join(kernelpoint("estimate", plan_file, path, "--scale-error", "0.03").out.split())
    assert "parts of that: sampling" in text
    assert "--projection-error" in kernelpoint("estimate", plan_file, few).failed(2)


def simulator(folder: Path, fails: int | None = None) -> str:
    """The command of a script that takes 1000 cycles and some, and fails for one launch."""
    script = folder / "simulate"
    script.write_text(f'[ "$1" != {fails} ] || exit 5\necho $((1000 + $1 % 7))\n')
    return f"sh {script} {{id}}"


def test_run_answers_as_estimate_and_progress_is_a_line_a_launch(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    folder, count = tmp_path / "run", len(drawn_of(plan_file))
    words = ("run", plan_file, "--to", "csv", "--simulator", simulator(tmp_path), "-o", folder)
    run = kernelpoint(*words)
    assert run.code == 0, run.err
    lines = run.err.splitlines()
    assert len(lines) == count
    assert lines[-1].startswith("kernelpoint: launch ")
    assert f"{count} of {count} launches; cycles within" in lines[-1]
    estimate = kernelpoint("estimate", folder, *sorted((folder / "results").iterdir())).out
    assert run.out.partition("Next: ")[0] == estimate.partition("Next: ")[0]
    assert run.out.endswith(" --target 0.03\n")
    again = kernelpoint(*words, "--quiet", *JSON)
    assert (again.err, again.results["failed"]) == ("", [])
    # Its folder is enough to go on.
    assert kernelpoint("run", folder, *words[2:6]).out == run.out
    array = kernelpoint(*words[:-1], tmp_path / "array", "--slurm")
    assert array.out.startswith(f"{count} launches to simulate: sbatch {tmp_path}/array/slurm.sh\n")
    assert "When the array has ended: kernelpoint " in array.out


def test_a_stratum_without_a_result_is_incomplete(kernelpoint: Kernelpoint, here: Path) -> None:
    alone = 3
    Path("profile.csv").write_text("name,duration_ns\n" + "b,100\n" * 3 + "alone,900\n" + "c,200\n" * 3)
    kernelpoint("sample", "profile.csv", "-o", "plan.json")
    run = kernelpoint("run", "plan.json", "--to", "csv", "--simulator", simulator(here, alone))
    assert run.code == 4
    assert f"launch {alone} failed: exit code 5; " in run.err
    assert Path(f"plan.run/results/launch-{alone}.failed").exists()
    assert run.err.splitlines()[-1].startswith("kernelpoint: error: incomplete: ")
    assert run.out.startswith("INCOMPLETE: results of ")
    failed = f"launch {alone} failed (exit code 5); no other of its stratum was simulated for it\n"
    assert run.out.endswith(failed)


def test_what_a_run_lacks_is_asked_for(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    for words, said in (
        ((), "how launches are simulated is not said"),
        (("--simulator", "true {list}"), "accel-sim runs --traces, and there are none"),
        (("--simulator", "true", "--to", "csv", "--timeout", "soon"), "--timeout is a duration above 0"),
    ):
        assert said in kernelpoint("run", plan_file, "-o", tmp_path / "run", *words).failed(2)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "is_said"),
    [
        ("--target 0.05", True),
        ("", False),
        ("--target 0.05 --accept-cold", False),
        ("--target 0.05 --caches after:16", False),
        ("--target 0.05 --cold-check 6", False),
    ],
)
def test_that_cold_launches_keep_no_target_is_said_before_anything_runs(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, words: str, is_said: bool
) -> None:
    (tmp_path / "traces").mkdir()
    asked = ("run", plan_file, "--to", "macsim", "--traces", tmp_path / "traces", "--simulator", "true")
    error = kernelpoint(*asked, "-o", tmp_path / "run", *words.split()).err
    assert "which is not there" in error
    assert error.startswith("kernelpoint: launches start cold here") == is_said


@pytest.fixture
def embedding(resnet: Path, tmp_path: Path) -> tuple[object, ...]:
    """The method with vectors of the sample's launches: four clusters by how long they last."""
    duration_ns = read_profile([str(resnet)]).load(("duration_ns",))["duration_ns"]
    cluster = np.digitize(duration_ns, [8_000, 30_000, 90_000])
    noise = np.random.default_rng(0).normal(0, 0.1, (len(cluster), 6))
    np.save(path := tmp_path / "vectors.npy", (np.eye(6)[cluster] * 5 + noise).astype(np.float32))
    return resnet, "--method", "embedding", "--features", path


RANDOM = ("--set", "embedding.draw=random", "--set", "embedding.k=4")


def test_the_nearest_stand_for_their_clusters_without_an_interval(
    kernelpoint: Kernelpoint, embedding: tuple[object, ...], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    found = results(kernelpoint, "sample", *embedding, "-o", plan)
    assert (found["strata"], found["samples"], found["bound"], found["details"]["k"]) == (4, 4, None, 4)
    assert sorted(found["details"]["representatives"]) == sorted(each["id"] for each in drawn_of(plan))
    assert not read_plan(str(plan)).is_random
    (cycles,) = results(kernelpoint, "estimate", plan, cycles_of(plan, tmp_path / "cycles.csv"))["metrics"]
    assert (cycles["low"], cycles["high"]) == (None, None)


def test_random_draws_have_a_bound_and_an_interval(
    kernelpoint: Kernelpoint, resnet: Path, embedding: tuple[object, ...], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    found = results(kernelpoint, "sample", *embedding, *RANDOM, "-o", plan)
    assert found["bound"] == pytest.approx(0.05, rel=0.1)
    assert found["judged"]["within_epsilon"] >= 0.9
    assert found["details"]["representatives"] is None
    back = read_plan(str(plan))
    assert back.is_random
    assert sum(stratum.size for stratum in back.strata) == back.launches == 5600
    table = cycles_of(plan, tmp_path / "cycles.csv")
    estimate = results(kernelpoint, "estimate", plan, table, "--groups")
    (cycles,) = estimate["metrics"]
    assert cycles["low"] < cycles["total"] < cycles["high"]
    assert len(estimate["groups"]) == 4
    judged = kernelpoint("judge", plan, resnet, *JSON)
    assert judged.results["error"] == pytest.approx(found["error"])
    assert judged.results["within_epsilon"] is None
    assert "its clusters are told by features, which the plan does not hold" in judged.err
    # What needs the vectors again is refused in words.
    words = ("estimate", plan, table, "--target", "0.0001", "--top-up", tmp_path / "more.json")
    assert "clusters told by features cannot be topped up" in kernelpoint(*words).failed(1)
    traded = kernelpoint("trade-off", resnet, "--method", "embedding").failed(2)
    assert "goes by single launches" in traded
    text = " ".join(kernelpoint("summary", *embedding, *RANDOM).out.split())
    assert "What would be faster is not known, for embedding goes by features of single launches" in text
