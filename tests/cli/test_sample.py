"""The plan: its file against the profile read independently, seeds, overrides, filters and options."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sampling.plan.plan import plan_document
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from tests.cli.conftest import JSON, Kernelpoint, cycles_of, results
from tui.charts import quantities

Plan = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch as the database has it, numbered by hand."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    duration_ns: int
    occurrence: int


@pytest.fixture(scope="module")
def launches(resnet: Path) -> list[Launch]:
    """All launches of the resnet sample in the order of their API calls; one process, one device."""
    query = """
        SELECT names.value, gridX, gridY, gridZ, blockX, blockY, blockZ, kernel.end - kernel.start
        FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
        JOIN StringIds AS names ON names.id = kernel.demangledName
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON call.correlationId = kernel.correlationId
        ORDER BY call.start
    """
    seen: Counter[tuple[object, ...]] = Counter()
    found = []
    connection = sqlite3.connect(resnet)
    for name, *numbers, duration_ns in connection.execute(query):
        what = (name, tuple(numbers[:3]), tuple(numbers[3:]))
        found.append(Launch(*what, duration_ns, seen[what]))
        seen[what] += 1
    connection.close()
    return found


@pytest.fixture(scope="module")
def plan(plan_file: Path) -> Plan:
    """The plan with all defaults."""
    document: Plan = json.loads(plan_file.read_text())
    return document


def drawn(plan: Plan) -> Iterator[dict[str, Any]]:
    for stratum in plan["strata"]:
        yield from stratum["launches"]


def planned(kernelpoint: Kernelpoint, *words: object) -> Plan:
    run = kernelpoint("sample", *words, "--judge", "0", "-o", "-")
    assert run.code == 0, run.err
    document: Plan = run.json
    return document


def test_it_names_its_profile_and_every_drawn_launch(
    plan: Plan, resnet: Path, launches: list[Launch]
) -> None:
    assert msgspec.convert(plan, PlanFile).launches == len(launches)
    profile = plan["profile"]
    digest = hashlib.sha256(resnet.read_bytes()).hexdigest()
    assert profile["files"] == [{"path": str(resnet), "sha256": digest, "launches": 5600}]
    assert profile["launches"] == len(launches) == sum(stratum["size"] for stratum in plan["strata"])
    assert profile["total_duration_ns"] == sum(launch.duration_ns for launch in launches)
    ids = [launch["id"] for launch in drawn(plan)]
    assert len(ids) == len(set(ids))
    for launch in drawn(plan):
        there = launches[launch["id"]]
        said = (launch["name"], tuple(launch["grid"]), tuple(launch["block"]), launch["duration_ns"])
        assert said == (there.name, there.grid, there.block, there.duration_ns)
        assert (launch["occurrence"], launch["ordinal"]) == (there.occurrence, launch["id"])
        assert (launch["process"], launch["device"]) == (4242, 0)


def shape(launch: Launch) -> tuple[object, ...]:
    return launch.name, launch.grid, launch.block


def test_every_stratum_is_what_its_key_and_range_say(plan: Plan, launches: list[Launch]) -> None:
    """A pool holds all kernel groups with less than 1 % of the time."""
    share: Counter[tuple[object, ...]] = Counter()
    for launch in launches:
        share[shape(launch)] += launch.duration_ns / plan["profile"]["total_duration_ns"]
    assert {stratum.get("pooled", False) for stratum in plan["strata"]} == {False, True}
    for stratum in plan["strata"]:
        pooled = stratum.get("pooled", False)
        first = stratum["launches"][0]
        what = (first["name"], tuple(first["grid"]), tuple(first["block"]))
        durations_ns = np.array(
            [
                launch.duration_ns
                for launch in launches
                if ((share[shape(launch)] < 0.01) if pooled else shape(launch) == what)
                and stratum["low_ns"] <= launch.duration_ns <= stratum["high_ns"]
            ]
        )
        assert stratum["key"].startswith("(pooled kernels) process " if pooled else first["name"])
        assert stratum["size"] == len(durations_ns)
        assert stratum["mean_ns"] == pytest.approx(durations_ns.mean())
        assert stratum["std_ns"] == pytest.approx(durations_ns.std())
        assert stratum["samples"] == len(stratum["launches"])
        assert sum(launch["weight"] for launch in stratum["launches"]) == pytest.approx(stratum["size"])


def test_the_bounds_are_what_draws_of_the_plan_reach(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path
) -> None:
    """One launch a stratum, so a draw is one duration of each: drawn here 40,000 times from the profile."""
    few = ("--no-pool", "--noise-floor", "0", "--group-epsilon", "none")
    words = ("sample", gpt2, *few, "-o")
    found = results(kernelpoint, *words, tmp_path / "plan.json")
    with gzip.open(gpt2) as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("cat") == "kernel"]
    groups: dict[str, list[int]] = {}
    for event in events:
        sizes = (("x".join(map(str, event["args"][name]))) for name in ("grid", "block"))
        groups.setdefault(f"{event['name']} <<<{', '.join(sizes)}>>>", []).append(round(1000 * event["dur"]))
    rng = np.random.default_rng(7)
    estimate_ns = np.zeros(40_000)
    for stratum in json.loads((tmp_path / "plan.json").read_text())["strata"]:
        of_group = np.array(groups[stratum["key"].split(" process ")[0]])
        there = of_group[(of_group >= stratum["low_ns"]) & (of_group <= stratum["high_ns"])]
        assert (len(there), stratum["samples"]) == (stratum["size"], 1)
        estimate_ns += len(there) * rng.choice(there, len(estimate_ns))
    total_ns = sum(map(sum, groups.values()))
    error = np.abs(estimate_ns / total_ns - 1)
    calibrated = found["calibrated"]
    assert calibrated["draws"] == 4000
    # 4,000 draws tell a share near 0.95 to 0.0034.
    assert calibrated["within_epsilon"] == pytest.approx((error <= 0.05).mean(), abs=0.01)
    assert (error <= found["bound"]).mean() >= 0.94


def test_the_figures_follow_from_the_file(
    kernelpoint: Kernelpoint, plan: Plan, plan_file: Path, resnet: Path
) -> None:
    found = results(kernelpoint, "sample", resnet)
    durations_ns = [launch["duration_ns"] for launch in drawn(plan)]
    estimate_ns = sum(launch["duration_ns"] * launch["weight"] for launch in drawn(plan))
    total_ns = plan["profile"]["total_duration_ns"]
    assert (found["samples"], found["strata"]) == (len(durations_ns), len(plan["strata"]))
    assert found["sampled_duration_ns"] == sum(durations_ns)
    assert found["speedup"] == pytest.approx(total_ns / sum(durations_ns))
    assert found["estimate_ns"] == pytest.approx(estimate_ns)
    assert found["error"] == pytest.approx(abs(estimate_ns - total_ns) / total_ns)
    assert found["judged"]["repeats"] == 200
    assert results(kernelpoint, "sample", resnet, "--judge", "0")["judged"] is None
    judged = results(kernelpoint, "judge", plan_file, resnet)
    for name in ("method", "strata", "samples", "bound", "group_bound", "estimate_ns", "error"):
        assert judged[name] == pytest.approx(found[name])
    tight = results(kernelpoint, "sample", resnet, "--epsilon", "0.01")
    assert tight["samples"] > found["samples"]
    assert tight["bound"] <= tight["bound_with_noise"] <= 0.01


def test_where_every_launch_is_simulated_nothing_is_estimated(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path = tmp_path / "few.csv"
    path.write_text("name,duration_ns\na,5\nb,7\n")
    said = "Simulate all of 2 launches: none stands for another.\nThe whole run's cycles are then their sum:"
    assert kernelpoint("sample", path).out.startswith(said)


def test_the_same_seed_gives_the_same_plan(kernelpoint: Kernelpoint, resnet: Path, plan: Plan) -> None:
    assert planned(kernelpoint, resnet) == plan
    assert planned(kernelpoint, resnet, "--seed", "0") == plan
    other = planned(kernelpoint, resnet, "--seed", "1")
    assert [stratum["size"] for stratum in other["strata"]] == [stratum["size"] for stratum in plan["strata"]]
    assert [launch["id"] for launch in drawn(other)] != [launch["id"] for launch in drawn(plan)]
    assert other["options"]["seed"] == 1


def test_a_window_keeps_the_ids_of_the_whole_profile(
    kernelpoint: Kernelpoint, resnet: Path, launches: list[Launch]
) -> None:
    window = planned(kernelpoint, resnet, "--launches", "100:200")
    assert window["profile"]["launches"] == 100
    assert window["profile"]["files"][0]["launches"] == 5600
    assert sum(stratum["size"] for stratum in window["strata"]) == 100
    for launch in drawn(window):
        assert 100 <= launch["id"] < 200
        there = launches[launch["id"]]
        assert (launch["name"], launch["occurrence"]) == (there.name, there.occurrence)
        assert launch["ordinal"] == launch["id"]
    half_open = planned(kernelpoint, resnet, "--launches", "5500:")
    assert half_open["profile"]["launches"] == 100
    assert planned(kernelpoint, resnet, "--launches", ":70")["profile"]["launches"] == 70


@pytest.mark.parametrize("group_by", ["launch", "name", "stem-script", "published"])
def test_groups_are_as_asked(
    kernelpoint: Kernelpoint, resnet: Path, launches: list[Launch], group_by: str
) -> None:
    keys: dict[str, Callable[[Launch], object]] = {
        "launch": lambda launch: (launch.name, launch.grid, launch.block),
        "name": lambda launch: launch.name,
        "published": lambda launch: (launch.name, launch.grid, launch.block),  # joint's own default
        "stem-script": lambda launch: launch.name.partition("(")[0],
    }
    rows = results(kernelpoint, "groups", resnet, "--plan", "--group-by", group_by)
    assert sum(row["launches"] for row in rows) == len(launches)
    if group_by in keys:
        wanted = Counter(map(keys[group_by], launches))
        assert sorted(row["launches"] for row in rows) == sorted(wanted.values())
    document = planned(kernelpoint, resnet, "--group-by", group_by)
    assert sum(stratum["size"] for stratum in document["strata"]) == len(launches)
    own = {stratum["key"] for stratum in document["strata"] if not stratum.get("pooled")}
    pooled = {row["key"] for row in rows if row["pooled"]}
    assert own == {row["key"] for row in rows} - pooled
    assert bool(pooled) == any(stratum.get("pooled") for stratum in document["strata"])


@pytest.fixture
def overrides(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> Path:
    """Keep the ninth group whole, and split the first, which needs none."""
    rows = results(kernelpoint, "groups", resnet)
    path = tmp_path / "overrides.json"
    decisions = [
        {"key": rows[0]["key"], "path": "", "decision": "split"},
        {"key": rows[8]["key"], "path": "", "decision": "keep"},
    ]
    path.write_text(json.dumps({"overrides": decisions}))
    return path


def test_a_plan_follows_and_records_overrides(
    kernelpoint: Kernelpoint, resnet: Path, overrides: Path
) -> None:
    plan = planned(kernelpoint, resnet, "--method", "root")
    changed = planned(kernelpoint, resnet, "--method", "root", "--overrides", overrides)
    given = json.loads(overrides.read_text())["overrides"]
    assert changed["overrides"] == given
    before, after = (Counter(stratum["key"] for stratum in of["strata"]) for of in (plan, changed))
    first, second = (decision["key"] for decision in given)
    assert (before[first], after[first]) == (1, 2)
    assert before[second] > after[second] == 1
    assert {key: before[key] for key in before if key not in (first, second)} == {
        key: after[key] for key in after if key not in (first, second)
    }


def test_a_profile_replaced_while_it_is_sampled_gives_no_plan(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, plan = tmp_path / "profile", tmp_path / "plan.json"
    profile.write_bytes(gpt2.read_bytes())

    def late(*given: Any, **named: Any) -> Any:
        profile.write_bytes(resnet.read_bytes())
        return plan_document(*given, **named)

    monkeypatch.setattr("tui.commands.plan.plan_document", late)
    run = kernelpoint("sample", profile, "-o", plan)
    assert run.code != 0
    assert "has changed on disk since it was read" in run.err
    assert not plan.exists()


@pytest.fixture
def even(tmp_path: Path) -> Path:
    """Nine kernels of fifty launches, of each kernel as long: one launch of each tells its time."""
    rows = [f"kernel_{n},{9000 + n}" for n in range(9)] * 50
    path = tmp_path / "even.csv"
    path.write_text("\n".join(["name,duration_ns", *rows]) + "\n")
    return path


def test_no_plan_promises_less_than_the_interval_that_results_get(
    kernelpoint: Kernelpoint, even: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "root.json"
    found = kernelpoint("sample", even, "--method", "root", "-o", plan, "--details", *JSON).results
    # Nine strata as large, one launch of each: Student's t of two degrees of freedom.
    interval = 4.302653 * 0.05 / 3 * math.sqrt(1 - 1 / 50)
    assert found["promised_error"] == pytest.approx(interval, rel=1e-6)
    assert found["bound_with_noise"] < 0.6 * interval, "what the draws do"
    said = kernelpoint("sample", even, "--method", "root", "--details", COLUMNS="200").out
    promise = "within 7.1 % (95 % sure), more than the 5 % asked for, if cycles per ns"
    assert f"cycles are then known {promise}" in said
    assert "and `estimate` will print 7.1 %: the fewer strata are simulated twice, the less is seen" in said
    told = kernelpoint("estimate", plan, cycles_of(plan, tmp_path / "cycles.csv", spread=0)).out
    assert ", within 7.1 % (" in told
    # So it is everywhere that a plan is told of or offered.
    whole = results(kernelpoint, "summary", even, "--method", "root")
    assert whole["plan"]["promised_error"] == pytest.approx(interval, rel=1e-6)
    assert "within 7.1 %" in whole["promise"]
    (point,) = results(kernelpoint, "trade-off", even, "--method", "root", "--epsilons", "0.05")
    assert point["promised_error"] == pytest.approx(interval, rel=1e-6)
    for more in ((), ("--slowdown", "1e6")):
        shown = kernelpoint("trade-off", even, "--method", "root", "--epsilons", "0.05", *more).out
        assert " 7.1 %" in shown
        assert max(map(len, shown.splitlines())) <= 80
    offered = {
        row["option"]: row["bound"] for row in results(kernelpoint, "sample", even, "--binding")["binding"]
    }
    assert offered["method"] == pytest.approx(interval, rel=1e-6)
    # Root's nine launches are fewer, and come after a plan that keeps what is asked.
    words = ("compare", even, "--methods", "root,joint", "--repeats", "5")
    rows = {row["method"]: row for row in results(kernelpoint, *words)}
    assert rows["root"]["speedup"] > rows["joint"]["speedup"]
    assert rows["root"]["promised_error"] == pytest.approx(interval, rel=1e-6)
    assert rows["joint"]["promised_error"] <= 0.05
    table = kernelpoint(*words).out.splitlines()
    assert [line.split()[0] for line in table[1:3]] == ["joint", "root"]
    assert " 7.1 % " in table[2]


def test_launches_without_time_have_no_promise(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "still.csv"
    path.write_text("name,duration_ns\n" + "a,0\n" * 60 + "b,0\n" * 40)
    found = results(kernelpoint, "sample", path)
    assert found["promised_error"] is None
    assert found["promise"] == "nothing: the launches take no time in the profile"
    said = " ".join(kernelpoint("sample", path).out.split())
    assert (
        "How far off the whole run may then be is not known: its launches take no time in the profile."
        in said
    )


def test_sample_lists_its_strata_or_its_launches(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    strata = kernelpoint("sample", gpt2, "-o", "-", "--list", "launches").json["strata"]
    rows = results(kernelpoint, "sample", gpt2, "--list", "strata")
    unsaid = {"pooled": False, "signatures": 1}
    assert rows == [
        {"stratum": number} | unsaid | {name: stratum[name] for name in stratum if name != "launches"}
        for number, stratum in enumerate(strata)
    ]
    head, *lines = kernelpoint("sample", gpt2, "--list", "strata").out.splitlines()
    assert head.split() == ["stratum", "launches", "drawn", "mean", "CoV", "durations", "kernel", "group"]
    assert max(map(len, lines)) <= 80
    assert [int(line.split()[2].replace(",", "")) for line in lines] == [row["samples"] for row in rows]
    rows = results(kernelpoint, "sample", gpt2, "--list", "launches")
    assert len(msgspec.convert(rows, list[PlannedLaunch])) == len(rows) > 0
    drawn = {launch["id"]: launch for stratum in strata for launch in stratum["launches"]}
    assert {row["id"]: row for row in rows} == drawn
    assert kernelpoint("sample", gpt2, "--format", "jsonl").jsonl == rows
    head, *lines = kernelpoint("sample", gpt2, "--list", "launches").out.splitlines()
    assert head.split() == ["launch", "stratum", "duration", "stands", "for", "occurrence", "kernel"]
    of_stratum = {each["id"]: number for number, stratum in enumerate(strata) for each in stratum["launches"]}
    assert {int(line.split()[0]): int(line.split()[1]) for line in lines} == of_stratum
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("volta_sgemm_128x64_nt", "--to accel-sim"),
        ("Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV", "--to csv"),
        ("__amd_rocclr_copyBuffer", "--to csv"),
        ("void mul_mat<4>(HIP_vector_type<unsigned int, 3u>)", "--to csv"),
    ],
)
def test_launches_of_another_vendors_gpu_are_not_sent_to_accel_sim(
    kernelpoint: Kernelpoint, here: Path, name: str, target: str
) -> None:
    """Where no device tells, names do; also of what is to be simulated next."""
    rows = [f'"{name}",{100 + 7 * (number % 9)}' for number in range(400)]
    (here / "launches.csv").write_text("\n".join(["name,duration_ns", *rows, ""]))
    plan = ("sample", "launches.csv", "--columns", "name=name,duration_ns=duration_ns", "-o", "plan.json")
    assert kernelpoint(*plan).out.endswith(f"Next: kernelpoint export plan.json {target} -o chosen\n")
    table = cycles_of(here / "plan.json", here / "cycles.csv")
    words = ("estimate", "plan.json", table, "--target", "0.001", "--top-up", "more.json")
    assert kernelpoint(*words).out.endswith(f"Next: kernelpoint export more.json {target} -o more\n")


def test_of_a_recording_that_lacks_launches_only_those_that_it_has_are_known(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    rows = [f"k{number % 3},{1000 + number}" for number in range(40)]
    for name, wrong, cycles in (("whole", [], "whole run's"), ("lacking", ["k0,-5"], "recorded launches'")):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["name,duration_ns", *rows, *wrong, ""]))
        assert f"The {cycles} cycles are then known within " in kernelpoint("sample", path).out
    alone = tmp_path / "alone.csv"
    alone.write_text("name,duration_ns\nk,5\nk,-5\n")
    said = " ".join(kernelpoint("sample", alone).out.split())
    assert "their sum: nothing stands for what is missing." in said


def test_a_plan_for_speedups_has_two_launches_a_stratum_and_says_what_to_expect(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    words = ("sample", resnet, "--judge", 0)
    assert kernelpoint(*words, "--for", "speedups", "-o", path).code == 0
    document = json.loads(path.read_text())
    assert document["options"]["min_samples"] == 2
    assert all(stratum["samples"] >= min(2, stratum["size"]) for stratum in document["strata"])
    said = " ".join(kernelpoint(*words, "--for", "speedups").out.split())
    expected = results(kernelpoint, *words, "--for", "speedups")["expected_speedup_interval"]
    assert 0 < expected < results(kernelpoint, *words, "--for", "speedups")["expected_interval"]
    sentence = "With 2 launches a stratum at least, a speedup between configurations that are much alike"
    within = quantities.share(math.expm1(expected))
    assert f"{sentence} (ratios of launches vary by 2 %) is expected within {within}" in said
    assert sentence not in " ".join(kernelpoint(*words).out.split())
    kept = results(kernelpoint, *words, "--for", "speedups", "--min-samples", 3)
    assert kept["samples"] > results(kernelpoint, *words, "--for", "speedups")["samples"]
    error = kernelpoint(*words, "--for", "speedups", "--method", "root").failed(2)
    assert "root draws no least number of launches of a stratum; plan by joint" in error
