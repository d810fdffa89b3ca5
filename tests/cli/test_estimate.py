"""From results to totals: `estimate`, `run`, and plans of `embedding`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sampling.plan.plan_file import read_plan
from sampling.readers.registry import read_profile
from sampling.running.summary import RunSummary
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
    # Figures and their words are for those who ask.
    figures = f"Of the variance {100 * seen['share']:.1f} % was seen at least twice"
    rests = f"{100 * seen['declared_share']:.1f} % of the interval rests on what was declared"
    assert figures in details
    assert rests in details
    assert " interval is assumption: " in text
    assert "variance" not in text
    assert "degrees of freedom" not in text


def test_what_is_next_can_be_typed(
    kernelpoint: Kernelpoint,
    gpt2: Path,
    plan_file: Path,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    def following(*words: object) -> list[str]:
        said = " ".join(kernelpoint("estimate", *words).out.split())
        return shlex.split(said.partition("Next: kernelpoint ")[2])

    larger = kernelpoint(*following(plan_file, table, "--target", "0.001"))
    assert "more.json" in larger.out
    again = following("more.json", table, "--target", "0.0005")
    assert again[-2:] == ["--top-up", "more-2.json"]
    assert "more-2.json" in kernelpoint(*again).out
    picked = tmp_path / "picked.json"
    kernelpoint("sample", gpt2, "--method", "single-iteration", "--judge", 0, "-o", picked)
    rows = [f"{launch['id']},7" for stratum in strata_of(picked) for launch in stratum["launches"]]
    table.write_text("\n".join(["id,cycles", *rows, ""]))
    assert following(picked, table) == [str(picked), str(table)]


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
    # What lists them is the command that is next.
    listed, following = said.partition("(`")[2].partition("`")[0], said.partition("Next: ")[2]
    assert following.endswith(listed)
    assert listed.startswith("--target 0.03 --top-up more.json")
    assert f"incomplete: {100 - share:.1f} % of the profile's time has no result" in run.err
    run = kernelpoint(*words, *JSON)
    assert run.code == 4
    figures = [(each["total"], each["low"], each["incomplete"]) for each in run.results["metrics"]]
    assert figures == [(None, None, True)] * 2
    assert [(each["ratio"], each["incomplete"]) for each in run.results["ratios"]] == [(None, True)]


@pytest.mark.parametrize("confidence", ["0", "1e-300"])
def test_a_confidence_of_nothing_is_no_exact_total(
    kernelpoint: Kernelpoint, plan_file: Path, table: Path, confidence: str
) -> None:
    said = kernelpoint("estimate", plan_file, table, "--confidence", confidence).failed(2)
    assert "--confidence is " in said


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


def test_the_simulated_gpu_beside_the_recorded_one(
    kernelpoint: Kernelpoint, plan_file: Path, table: Path
) -> None:
    words = ("estimate", plan_file, table)
    assert results(kernelpoint, *words)["hardware"] is None
    assert "simulated GPU" not in kernelpoint(*words).out
    # Three cycles a nanosecond.
    hardware, in_hz = (
        results(kernelpoint, *words, "--clock", clock)["hardware"] for clock in ("2.5GHz", "2500000000")
    )
    assert hardware == in_hz
    assert list(hardware) == ["clock_hz", "simulated_ns", "recorded_ns", "ratio", "low", "high"]
    (cycles,) = results(kernelpoint, *words)["metrics"]
    assert hardware["recorded_ns"] == json.loads(plan_file.read_text())["profile"]["total_duration_ns"]
    assert hardware["simulated_ns"] == pytest.approx(cycles["total"] / 2.5)
    assert hardware["high"] / hardware["ratio"] == pytest.approx(cycles["high"] / cycles["total"])
    text = " ".join(kernelpoint(*words, "--clock", "2.5GHz").out.split())
    took = re.search(r"the simulated GPU takes [\d.]+ (us|ms|s) where the recorded one took [\d.]+: ", text)
    assert took is not None
    longer = f"{100 * (hardware['ratio'] - 1):.1f} % longer ({100 * (hardware['low'] - 1):.1f} to "
    assert text[took.end() :].startswith(longer)
    assert "%); at 2,500 MHz" in text
    # Each kernel, the largest difference first.
    run = kernelpoint(*words, "--clock", "2.5GHz", "--groups")
    assert "simulated  profiled  against GPU " in run.out
    groups = results(kernelpoint, *words, "--clock", "2.5GHz", "--groups")["groups"]
    differences = [abs(row["hardware_ratio"] - 1) * row["profiled_ns"] for row in groups]
    assert differences == sorted(differences, reverse=True)
    for row in groups:
        assert row["hardware_ratio"] == pytest.approx(row["per_ns"] / 2.5)


def test_a_log_prints_its_clock_and_one_kernel_makes_most_of_the_difference(
    kernelpoint: Kernelpoint, here: Path
) -> None:
    """A GPU's recording of two kernels; in a log of all launches one of them takes three times as long."""
    names = ["_Z4copyPf", *["_Z4gemmPf"] * 4] * 6
    rows = [f"{name},{1000 + 7 * number},4,32" for number, name in enumerate(names)]
    Path("gpu.csv").write_text("\n".join(["name,duration_ns,grid_x,block_x", *rows, ""]))
    assert kernelpoint("sample", "gpu.csv", "--judge", 0, "-o", "plan.json").code == 0
    log, total = "-gpgpu_clock_domains 2000.0:1000.0:1000.0:850.0 # in MHz\n", 0
    for number, name in enumerate(names):
        cycles = 2 * (1000 + 7 * number) * (3 if "copy" in name else 1)
        total += cycles
        log += (
            f"Processing kernel kernel-{number + 1}.traceg\n-kernel name = {name}\n"
            f"-kernel id = {number + 1}\n-grid dim = (4,1,1)\n-block dim = (32,1,1)\nkernel_name = {name} \n"
            f"kernel_launch_uid = {number + 1} \ngpu_sim_cycle = {cycles}\ngpu_sim_insn = 64\n"
            f"gpu_tot_sim_cycle = {total}\n"
        )
    Path("run.log").write_text(log)
    hardware = results(kernelpoint, "estimate", "plan.json", "run.log")["hardware"]
    assert hardware["clock_hz"] == 2e9
    assert hardware["low"] <= total / 2 / hardware["recorded_ns"] <= hardware["high"]
    text = " ".join(kernelpoint("estimate", "plan.json", "run.log").out.split())
    assert "longer (" in text
    assert "; at 2,000 MHz most of that is copy" in text
    assert " % of all kernels' differences" in text
    # What is said stands for what is printed.
    run = kernelpoint("estimate", "plan.json", "run.log", "--clock", "1GHz", *JSON)
    assert run.results["hardware"]["ratio"] == pytest.approx(2 * hardware["ratio"])
    # The log itself as a profile: no GPU.
    assert kernelpoint("sample", "run.log", "--judge", 0, "-o", "own.json").code == 0
    assert results(kernelpoint, "estimate", "own.json", "run.log")["hardware"] is None
    refused = kernelpoint("estimate", "own.json", "run.log", "--clock", "1GHz").failed(2)
    assert "--clock sets results beside a GPU's times" in refused


@pytest.mark.parametrize("clock", ["5 apples", "0", "-1", "1132"])
def test_what_is_no_clock_is_refused(
    kernelpoint: Kernelpoint, plan_file: Path, table: Path, clock: str
) -> None:
    refused = kernelpoint("estimate", plan_file, table, f"--clock={clock}").failed(2)
    assert f"--clock is the clock of a GPU, not {clock!r}; give it in Hz" in refused


def test_a_target_that_is_missed_says_what_to_run_next(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    table, larger = cycles_of(plan_file, tmp_path / "cycles.csv", spread=3), tmp_path / "larger.json"
    words = ("estimate", plan_file, table, "--target")
    run = kernelpoint(*words, "0.01", "--top-up", larger, *JSON)
    assert (run.code, run.results["promise_met"]) == (4, False)
    assert "not within the 1.0 % asked for: the interval reaches" in run.err
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


def test_a_metric_asked_for_needs_no_other_column(
    kernelpoint: Kernelpoint, plan_file: Path, table: Path
) -> None:
    """The table has cycles alone; with others beside, cycles and instructions are there as they are."""
    asked = [
        each["metric"]
        for each in results(kernelpoint, "estimate", plan_file, table, "--metric", "cycles")["metrics"]
    ]
    assert asked == ["cycles"]
    lacking = kernelpoint("estimate", plan_file, table, "--metric", "instructions").failed(3)
    assert "no column instructions; there are cycles" in lacking
    rows = table.read_text().splitlines()[1:]
    (other := table.with_name("reads.csv")).write_text("\n".join(["id,reads", *rows, ""]))
    (reads,) = results(kernelpoint, "estimate", plan_file, other, "--metric", "reads")["metrics"]
    assert reads["metric"] == "reads"


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
    assert re.search(r"parts of that: sampling [\d.]+ %, projection [\d.]+ %, scale model 3.0 % [^,]", text)
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
    how = ("--to", "csv", "--caches", "warm", "--simulator", simulator(tmp_path))
    words = ("run", plan_file, *how, "-o", folder)
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
    assert kernelpoint("run", folder, *how).out == run.out
    array = kernelpoint(*words[:-1], tmp_path / "array", "--slurm")
    assert array.out.startswith(f"{count} launches to simulate: sbatch {tmp_path}/array/slurm.sh\n")
    assert "When the array has ended: kernelpoint " in array.out


def test_run_says_what_it_gave_up_and_takes_it_as_another_kernel(
    kernelpoint: Kernelpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{('gemm', 'reduce', 'dead')[each % 3]},{1000 + each}\n" for each in range(90))
    (tmp_path / "profile.csv").write_text("name,duration_ns\n" + "".join(rows))
    kernelpoint("sample", "profile.csv", "--no-pool", "-o", "plan.json")
    (tmp_path / "simulate").write_text("[ $(($1 % 3)) != 2 ] || exit 5\necho $((3000 + 3 * $1))\n")
    words = ("run", "plan.json", "--to", "csv", "--simulator", "sh simulate {id}", "--caches", "warm")
    run = kernelpoint(*words, "--target", "0.03")
    assert run.code == 4
    first, _, others = " ".join(run.out.split()).partition(" GIVEN UP: dead, 33.4 % of the time: ")
    assert re.fullmatch(
        r"cycles [\d,]+ of 66\.6 % of the time, within 3\.0 % .* of 60 launches weighted .*", first
    )
    assert others.startswith("3 launches failed (exit code 5) and none ran; left out of the total")
    assert "kernelpoint: dead is given up: 3 launches failed and none ran; " in run.err
    assert "the simulator never ran 1 kernel, 33.4 % of the time; --assume-like KERNEL takes" in run.err
    found = kernelpoint(*words, *JSON).results
    assert msgspec.convert(found, RunSummary).given_up[0].assumed_like is None
    (cycles,), (given_up,) = found["metrics"], found["given_up"]
    assert (cycles["incomplete"], given_up["assumed_like"]) == (True, None)
    assert cycles["share_missing"] == pytest.approx(given_up["share"]) == pytest.approx(1 / 3, rel=0.01)
    for kernel in ("gemm", "#2"):
        taken = kernelpoint(*words, "--assume-like", kernel)
        assert taken.code == 0, taken.err
        assert "taken as gemm" in taken.out if kernel == "gemm" else "behaves" in taken.out
    (cycles,) = results(kernelpoint, *words, "--assume-like", "gemm")["metrics"]
    assert not cycles["incomplete"]
    assert cycles["low"] < sum(3000 + 3 * each for each in range(90)) < cycles["high"]
    assert "--assume-like gone: no kernel group" in kernelpoint(*words, "--assume-like", "gone").failed(2)
    assert "give #1 to #3, or a part of a name: " in kernelpoint(*words, "--assume-like", "#4").failed(2)
    # What another total is assumed to be like must have one itself.
    of_itself = kernelpoint(*words, "--assume-like", "dead")
    assert of_itself.code == 4
    assert "33.4 % of the time; name another with --assume-like: dead never ran itself" in of_itself.err
    several = kernelpoint(*words, "--assume-like", "process 0").err
    assert (
        "--assume-like 'process 0' fits 3 groups; the largest is taken: dead <<<?, ?>>> process 0" in several
    )


def test_no_total_is_within_nothing(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    table = cycles_of(plan_file, tmp_path / "cycles.csv")
    for words in (
        ("estimate", plan_file, table),
        ("run", plan_file, "--to", "csv", "--simulator", "true {id}"),
    ):
        said = kernelpoint(*words, "--target", 0).failed(2)
        assert "--target is a fraction between 0 and 1, not 0" in said


def test_a_cold_total_of_a_part_is_not_told_as_more_than_the_whole_run_takes(
    kernelpoint: Kernelpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{('gemm', 'reduce', 'dead')[each % 3]},{1000 + each}\n" for each in range(90))
    (tmp_path / "profile.csv").write_text("name,duration_ns\n" + "".join(rows))
    kernelpoint("sample", "profile.csv", "--no-pool", "-o", "plan.json")
    (tmp_path / "simulate").write_text("[ $(($1 % 3)) != 2 ] || exit 5\necho $((3000 + 3 * $1))\n")
    said = kernelpoint("run", "plan.json", "--to", "csv", "--simulator", "sh simulate {id}").out
    text = " ".join(said.split())
    began = "launches began with empty caches; in the whole run they take less (such totals "
    assert re.match(rf"COLD [\d,]+ cycles of 66\.6 % of the time: {re.escape(began)}", text)
    total, _, kernels = text.partition("GIVEN UP: dead")
    assert "of launches that begin so of 66.6 % of the time, within " in total, "the total is one sentence"
    assert "of launches" not in kernels.partition("left out of the total")[0]
    assert "sure" not in text
    assert (
        "Next: kernelpoint export plan.run/plan.json --to accel-sim --traces DIR --caches warm -o warm"
        in text
    )


def test_a_target_that_is_met_lacks_no_launch(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    words = ("run", plan_file, "--to", "csv", "--simulator", simulator(tmp_path), "-o", tmp_path / "run")
    run = kernelpoint(*words, "--caches", "warm", "--target", "0.4")
    assert run.code == 0, run.err
    kept = sorted((tmp_path / "run" / "results").iterdir())
    assert len(kept) < len(drawn_of(plan_file))
    assert "within 40.0 % as asked for" in run.out
    assert "without a result" not in run.out
    asked = ("estimate", tmp_path / "run", *kept, "--target")
    assert "without a result" not in kernelpoint(*asked, "0.4").out
    assert "without a result" in " ".join(kernelpoint(*asked, "0.01").out.split())


def test_a_run_of_a_command_that_is_told_ids_is_cold_unless_told_otherwise(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    words = ("run", plan_file, "--to", "csv", "--simulator", simulator(tmp_path), "-o", tmp_path / "run")
    run = kernelpoint(*words, "--target", "0.4")
    assert run.code == 4
    assert run.err.startswith("kernelpoint: each launch runs alone here, with cold caches for all that is")
    assert results(kernelpoint, *words)["caches"]["state"] == "cold"
    warm = kernelpoint(*words, "--target", "0.4", "--caches", "warm", *JSON)
    assert (warm.code, warm.results["caches"]["state"]) == (0, "warm")
    # Its files say it too.
    files = sorted((tmp_path / "run" / "results").iterdir())
    assert results(kernelpoint, "estimate", tmp_path / "run", *files)["caches"]["state"] == "warm"


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
    assert "what tells its layers or clusters is not in the plan" in judged.err
    # What needs the vectors again is refused in words.
    words = ("estimate", plan, table, "--target", "0.0001", "--top-up", tmp_path / "more.json")
    assert "a plan of layers or of clusters cannot be topped up" in kernelpoint(*words).failed(1)
    traded = kernelpoint("trade-off", resnet, "--method", "embedding").failed(2)
    assert "goes by single launches" in traded
    text = " ".join(kernelpoint("summary", *embedding, *RANDOM).out.split())
    assert "What would be cheaper is not known, for embedding does not go by durations alone" in text
