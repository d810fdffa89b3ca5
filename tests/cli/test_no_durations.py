"""Every command on a profile of instruction counts: it shows no figure in time, or refuses in a line."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from sampling.errors import NoDurationsError
from tui.app.planning import load_study
from tui.options.commands import SampleOptions

Kernelpoint = Callable[..., Any]

HEADER = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
)
# Name, blocks and instructions of a loop of three launches, run four times.
LOOP = (("_Z1aPf", 4, 100), ("_Z1bPf", 8, 7_000), ("_Z1aPf", 2, 40))
LAUNCHES = LOOP * 4
TOTAL = 4 * 7_140


@pytest.fixture(autouse=True)
def no_division_by_nothing() -> Iterator[None]:
    """Let a warning of numpy fail the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.fixture(scope="session")
def stats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Accel-Sim's tracer counted."""
    path = tmp_path_factory.mktemp("counts") / "stats.csv"
    path.write_text(
        HEADER
        + "".join(
            f"kernel-{number}.trace, {name}, {blocks}, 1, 1, {blocks}, 128, 1, 1, 128, {count},{count}\n"
            for number, (name, blocks, count) in enumerate(LAUNCHES, 1)
        )
    )
    return path


@pytest.fixture(scope="session")
def counted_plan(kernelpoint: Kernelpoint, stats: Path) -> Path:
    """A plan by instructions."""
    path = stats.with_name("plan.json")
    assert kernelpoint("sample", stats, "--method", "sieve", "-o", path).code == 0
    return path


def test_info_says_that_there_are_no_durations(
    kernelpoint: Kernelpoint, stats: Path, schemas: ModuleType
) -> None:
    run = kernelpoint("info", stats, "--format", "json")
    jsonschema.validate(run.results, schemas.RESULTS["info"])
    assert run.results["total_duration_ns"] is None
    (finding,) = run.results["findings"]
    assert finding["code"] == "no-durations"
    assert "--method sieve" in finding["remedy"]
    assert "not recorded" in kernelpoint("info", stats).out


def test_groups_have_launches_and_no_times(
    kernelpoint: Kernelpoint, stats: Path, schemas: ModuleType
) -> None:
    run = kernelpoint("groups", stats, "--format", "json")
    jsonschema.validate(run.results, schemas.RESULTS["groups"])
    assert [row["launches"] for row in run.results] == [4, 4, 4]
    in_time = ("total_duration_ns", "share", "mean_ns", "std_ns", "cov", "min_ns", "max_ns", "samples")
    assert {row[name] for row in run.results for name in in_time} == {None}
    assert " ns" not in kernelpoint("groups", stats).out
    # The groups with most launches stand first.
    run = kernelpoint("groups", stats, "--group-by", "name", "--format", "json")
    assert [row["launches"] for row in run.results] == [8, 4]


def test_sieve_plans_by_the_files_own_counts(
    kernelpoint: Kernelpoint, stats: Path, schemas: ModuleType
) -> None:
    run = kernelpoint("sample", stats, "--method", "sieve", "--judge", "9", "--format", "json")
    jsonschema.validate(run.results, schemas.RESULTS["sample"])
    of = run.results
    # Groups by name, grid and block have one count each: the first launch of each stands for all four.
    assert (of["samples"], of["strata"]) == (3, 3)
    assert of["instructions"] == {"sampled": 7_140.0, "total": float(TOTAL)}
    in_time = ("total_duration_ns", "sampled_duration_ns", "speedup", "estimate_ns", "error", "floor_ns")
    assert {of[name] for name in (*in_time, "judged", "bound")} == {None}
    text = kernelpoint("sample", stats, "--method", "sieve").out
    assert "7,140 of 28,560 instructions (25.0 %)" in text
    assert " ns" not in text
    rows = kernelpoint("sample", stats, "--method", "sieve", "--list", "strata", "--format", "json").results
    assert {row[name] for row in rows for name in ("mean_ns", "std_ns", "low_ns", "high_ns")} == {None}
    assert "0 ns" not in kernelpoint("sample", stats, "--method", "sieve", "--list", "launches").out


def test_the_plan_says_so_and_goes_on(
    kernelpoint: Kernelpoint, stats: Path, counted_plan: Path, tmp_path: Path
) -> None:
    plan = json.loads(counted_plan.read_text())
    assert plan["profile"]["has_durations"] is False
    assert plan["profile"]["total_duration_ns"] is None
    drawn = [launch for stratum in plan["strata"] for launch in stratum["launches"]]
    assert {(launch["duration_ns"], launch["weight"]) for launch in drawn} == {(None, 4.0)}
    assert sorted(launch["id"] for launch in drawn) == [0, 1, 2]
    assert kernelpoint("align", counted_plan, stats, "--format", "json").results["matched"] == 12
    for target in ("accel-sim", "csv", "nvbit", "macsim"):
        folder = tmp_path / target
        words = ("export", counted_plan, "--to", target, "-o", folder, "--shards", "2")
        assert kernelpoint(*words).code == 0
    (shards,) = (sorted(each.name for each in (tmp_path / "csv").glob("*.csv")),)
    assert shards == ["launches-1.csv", "launches-2.csv"]
    assert [len((tmp_path / "csv" / name).read_text().splitlines()) for name in shards] == [3, 2]
    assert "None" not in (tmp_path / "accel-sim" / "manifest.csv").read_text()
    assert "sampled time" not in (tmp_path / "accel-sim" / "README.txt").read_text()


def test_an_estimate_is_the_sum_of_weights_and_cycles(
    kernelpoint: Kernelpoint, counted_plan: Path, tmp_path: Path, schemas: ModuleType
) -> None:
    results = tmp_path / "results.csv"
    results.write_text("id,cycles\n0,10\n1,200\n2,3\n")
    run = kernelpoint("estimate", counted_plan, results, "--format", "json")
    jsonschema.validate(run.results, schemas.RESULTS["estimate"])
    (cycles,) = run.results["metrics"]
    assert cycles["total"] == 4 * 213
    assert cycles["share_missing"] is None
    results.write_text("id,cycles\n0,10\n1,200\n")
    run = kernelpoint("estimate", counted_plan, results, "--target", "0.1")
    assert "INCOMPLETE: results of 2 of 3 launches; no total yet. Still to run: 1 launch (" in run.out
    assert run.code == 4
    assert "incomplete: 1 stratum without a result" in run.err


def test_a_plan_by_counts_is_judged_where_there_are_durations(
    kernelpoint: Kernelpoint, counted_plan: Path, tmp_path: Path
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    shapes = {axis: [1] * 12 for axis in ("grid_y", "grid_z", "block_y", "block_z")}
    columns = {
        "name": [name for name, _, _ in LAUNCHES],
        "grid_x": [blocks for _, blocks, _ in LAUNCHES],
        "block_x": [128] * 12,
        "duration_ns": list(range(1, 13)),
        **shapes,
    }
    timed = tmp_path / "timed.parquet"
    pq.write_table(pa.table(columns), timed)
    judged = kernelpoint("judge", counted_plan, timed, "--format", "json").results
    # Launches 0, 1 and 2 last 1, 2 and 3 ns and stand for four each; all last 78 ns.
    assert (judged["estimate_ns"], judged["total_duration_ns"]) == (24, 78)


def test_compare_runs_what_needs_no_durations(
    kernelpoint: Kernelpoint, stats: Path, schemas: ModuleType
) -> None:
    methods = "joint,root,stem,allegro,random,sieve,photon,first-instructions,single-iteration"
    run = kernelpoint("compare", stats, "--methods", methods, "--format", "json")
    jsonschema.validate(run.results, schemas.RESULTS["compare"])
    applicable = {row["method"] for row in run.results if row["applicable"]}
    assert applicable == {"sieve", "first-instructions", "single-iteration"}
    assert {row["error_mean"] for row in run.results} == {None}
    assert {row["speedup"] for row in run.results} == {None}
    reasons = {row["method"]: row["reason"] for row in run.results}
    assert "no durations" not in reasons["photon"]
    for method in ("joint", "root", "stem", "allegro", "random"):
        assert reasons[method].startswith(f"{method} goes by durations, and the profile has none")
    mean = kernelpoint("compare", stats, stats, "--methods", "sieve")
    assert mean.code == 0
    assert "has no durations, so no mean error or speedup is known" in mean.err


def test_ranges_have_launches_and_no_times(kernelpoint: Kernelpoint, stats: Path) -> None:
    """The loop of three launches is found; how long it takes is not known."""
    loop = kernelpoint("ranges", stats, "--quiet", "--format", "json").results[0]
    assert (loop["launches"], loop["times"]) == (12, 4)
    assert loop["duration_ns"] is loop["share"] is None
    assert " ns" not in kernelpoint("ranges", stats).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sample", "{}"), "joint goes by durations"),
        (("sample", "{}", "--method", "random"), "random goes by durations"),
        (("summary", "{}"), "joint goes by durations"),
        (("open", "{}"), "joint goes by durations"),
        (("tree", "{}"), "root goes by durations"),
        (("trade-off", "{}"), "joint goes by durations"),
        (("histogram", "{}"), "a histogram goes by durations"),
        (("timeline", "{}", "--method", "sieve"), "a timeline goes by durations"),
        (("histogram", "{}", "--method", "sieve"), "a histogram goes by durations"),
        (("difference", "{}", "{}"), "a difference goes by durations"),
        (("groups", "{}", "--min-duration", "5"), "a filter by the least duration goes by durations"),
        (("judge", "{plan}", "{}"), "the judgement of a plan goes by durations"),
        (("convert", "{}", "-o", "{}.parquet"), "a Parquet profile goes by durations"),
        (("report", "{}", "-o", "{}.html"), "joint goes by durations"),
        (("sample", "{}", "--method", "sieve", "--slowdown", "9"), "--slowdown goes by durations"),
        (("sample", "{}", "--method", "embedding", "--set", "embedding.draw=random"), "draws at random"),
        (("sample", "{}", "--method", "embedding", "--set", "embedding.choose=error"), "measured total"),
    ],
)
def test_what_goes_by_durations_refuses_in_a_line(
    kernelpoint: Kernelpoint, stats: Path, counted_plan: Path, words: tuple[str, ...], said: str
) -> None:
    filled = [word.replace("{plan}", str(counted_plan)).replace("{}", str(stats)) for word in words]
    line = kernelpoint(*filled, "--quiet").failed(1)
    assert said in line
    assert "sieve" in line
    assert not stats.with_name("stats.csv.parquet").exists()
    assert not stats.with_name("stats.csv.html").exists()


def test_the_summary_of_a_plan_by_counts(kernelpoint: Kernelpoint, stats: Path, schemas: ModuleType) -> None:
    run = kernelpoint("summary", stats, "--method", "sieve", "--format", "json")
    jsonschema.validate(run.results, schemas.RESULTS["summary"])
    assert run.results["total_duration_ns"] is None
    assert [line.split()[1] for line in run.results["next"]] == ["sample", "compare"]
    text = kernelpoint("summary", stats, "--method", "sieve").out
    assert "without durations" in text
    assert "7,140 of 28,560 instructions" in " ".join(text.split())
    assert max(map(len, text.splitlines()[3:-2])) <= 80


def test_the_app_refuses_too(stats: Path) -> None:
    options = SampleOptions(profiles=(str(stats),), method="sieve")
    with pytest.raises(NoDurationsError, match="the app goes by durations"):
        load_study(options, {}, lambda *_: None)


def test_clusters_are_chosen_by_measured_cycles(
    kernelpoint: Kernelpoint, stats: Path, tmp_path: Path
) -> None:
    cycles = tmp_path / "cycles.csv"
    rows = [f"{number},{10 * count}" for number, (_, _, count) in enumerate(LAUNCHES)]
    cycles.write_text("\n".join(["id,gpc__cycles_elapsed.max", *rows, ""]))
    words = ("sample", stats, "--method", "pks", "--set", "pks.columns=all", "--format", "json")
    details = kernelpoint(*words, "--features", cycles).results["details"]
    assert details["truth"] == "gpc__cycles_elapsed.max"
    assert "measured total" in kernelpoint(*words, "--quiet").failed(1)


def test_a_dry_run_has_launches_and_no_counts(kernelpoint: Kernelpoint, stats: Path, tmp_path: Path) -> None:
    dry = tmp_path / "stats.csv"
    head, *rows = stats.read_text().splitlines()
    dry.write_text("\n".join([head, *(f"{row.rsplit(',', 2)[0]}, 0,0" for row in rows), ""]))
    line = kernelpoint("sample", dry, "--method", "sieve").failed(1)
    assert "12 of 12 have none" in line
    run = kernelpoint("sample", dry, "--method", "single-iteration", "--format", "json")
    assert run.results["instructions"] is None
    assert run.results["details"]["share_of_time"] is None
    # With counts of their own, the launches of the dry run have instructions.
    words = ("sample", dry, "--method", "sieve", "--features", stats, "--format", "json")
    assert kernelpoint(*words).results["instructions"]["total"] == TOTAL


@pytest.mark.parametrize("damage", ["flag", "total", "stratum", "launch"])
def test_a_plan_that_contradicts_itself_is_refused(
    kernelpoint: Kernelpoint, counted_plan: Path, tmp_path: Path, damage: str
) -> None:
    plan = json.loads(counted_plan.read_text())
    if damage == "flag":
        del plan["profile"]["has_durations"]
    elif damage == "total":
        plan["profile"]["total_duration_ns"] = 5
    elif damage == "stratum":
        plan["strata"][0]["mean_ns"] = 5.0
    else:
        plan["strata"][0]["launches"][0]["duration_ns"] = 5
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    line = kernelpoint("export", path, "--to", "csv", "-o", tmp_path / "out").failed(3)
    assert "has_durations" in line


def test_counts_of_nvbit_share_a_group_by_name(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "".join(
            f"kernel {number} - {name} - #thread-blocks {blocks},  kernel instructions {count}, "
            f"total instructions 1\nstep {number} "
            for number, (name, blocks, count) in enumerate(LAUNCHES)
        )
    )
    run = kernelpoint("info", log, "--format", "json")
    assert [finding["code"] for finding in run.results["findings"]] == ["no-durations", "no-grid"]
    assert run.results["kernel_groups"] == 2
    assert "bound" not in run.results["findings"][1]["message"]
    of = kernelpoint("sample", log, "--method", "sieve", "--format", "json").results
    assert of["instructions"]["total"] == TOTAL
