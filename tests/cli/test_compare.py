"""`compare` over several profiles, its table, its chart, and what makes no difference to it."""

from __future__ import annotations

import math
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from sampling.errors import OptionError
from sampling.methods.method import about_options
from sampling.methods.registry import method_named, method_names, method_options
from sampling.plan.comparison import ComparedMethod
from tests.cli.conftest import JSON, Kernelpoint, Run, cycles_of, drawn_of, results
from tui.commands.schema import output_schema
from tui.text.methods import promises

FEW = ("--repeats", "5")
PICKS = ("first=56", "last=111", "iterations=100")
ONE_ITERATION = [word for setting in PICKS for word in ("--set", f"single-iteration.{setting}")]
Rows = list[dict[str, Any]]


def compared(kernelpoint: Kernelpoint, *words: object) -> Rows:
    rows: Rows = results(kernelpoint, "compare", *words, *FEW)
    return rows


def shown(kernelpoint: Kernelpoint, *words: object) -> list[str]:
    """The methods of the table, in its order."""
    lines = kernelpoint("compare", *words, *FEW).out.partition("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines[1:]]


def test_each_profile_is_a_workload_and_means_come_last(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    words = (resnet, gpt2, "--methods", "root,joint")
    rows = compared(kernelpoint, *words)
    assert [row["method"] for row in rows] == ["root", "joint"] * 3
    assert [row["profile"] for row in rows[:4]] == [str(resnet)] * 2 + [str(gpt2)] * 2
    for mean, first, second in zip(rows[4:], rows[:2], rows[2:4], strict=True):
        assert mean["profile"] == "mean of 2 (harmonic speedup, arithmetic error)"
        assert mean["speedup"] == pytest.approx(2 / (1 / first["speedup"] + 1 / second["speedup"]))
        assert mean["error_mean"] == pytest.approx((first["error_mean"] + second["error_mean"]) / 2)
        assert mean["bound"] is None
    geometric = compared(kernelpoint, *words, "--mean", "geometric")[-2]
    assert geometric["profile"] == "mean of 2 (geometric speedup, geometric error)"
    assert geometric["speedup"] == pytest.approx((rows[0]["speedup"] * rows[2]["speedup"]) ** 0.5)
    charts = kernelpoint("compare", *words, *FEW, "--scatter", "--height", "8").out.split("\n\n")
    assert [title.strip() for title in charts[:4:2]] == [str(resnet), str(gpt2)]
    assert charts[4].startswith("mean of 2 ")
    # As one workload.
    one, _ = compared(kernelpoint, *words, "--one-workload")
    assert one["profile"] == f"{resnet} {gpt2}"
    assert one["strata"] == rows[0]["strata"] + rows[2]["strata"]


def test_every_method_is_judged_as_sample_plans_it(kernelpoint: Kernelpoint, resnet: Path) -> None:
    # By probability, `compare` judges over all numbers of launches that may be drawn, `sample` one plan.
    fixed = ("--set", "random.launches=9")
    rows = compared(kernelpoint, resnet, *fixed)
    assert [row["method"] for row in rows] == [row["name"] for row in results(kernelpoint, "methods")]
    can = [row for row in rows if row["applicable"]]
    assert [row["method"] for row in can] == [
        "joint",
        "root",
        "stem",
        "allegro",
        "random",
        "single-iteration",
        "layers",
    ]
    for row in can:
        sample = results(kernelpoint, "sample", resnet, "--method", row["method"], "--judge", "5", *fixed)
        assert (row["strata"], row["samples"]) == (sample["strata"], sample["samples"])
        assert row["bound"] == pytest.approx(sample["bound"])
        assert row["error_mean"] == pytest.approx(sample["judged"]["error_mean"])
        assert row["error_mean"] <= row["error_max"]


def test_what_a_method_has_to_say_or_lacks_is_said(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    run = kernelpoint("compare", resnet, "--methods", "single-iteration", *FEW, *ONE_ITERATION, *JSON)
    (said,) = run.json["warnings"]
    assert said.startswith("single-iteration: one iteration: ")
    assert said in run.err
    words = ("compare", resnet, "--methods", "root,sieve", *FEW)
    table, below = kernelpoint(*words).out.split("\n\ncannot run: ")
    assert "sieve" not in table
    assert below == "sieve (--reasons says why)\n"
    explained = kernelpoint(*words, "--reasons").out.split("\n\ncannot run:\n")
    assert explained[0] == table
    assert explained[1].startswith("- sieve needs the instruction count")
    assert "speedup" not in kernelpoint("compare", resnet, "--methods", "sieve").out
    # What did not fit is said before the method finds fault.
    few = tmp_path / "few.csv"
    few.write_text("id,instructions\n0,5\n1,6\n9999,7\n")
    run = kernelpoint("sample", resnet, "--method", "sieve", "--features", few)
    joined, error = run.err.splitlines()
    assert "few.csv" in joined
    assert "1 row of no launch" in joined
    assert error.startswith("kernelpoint: error: sieve needs the instruction count")


def test_the_best_method_is_first_and_data_stay_as_asked(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path
) -> None:
    """The table is in the order of `promises`, and says so."""
    words = (resnet, "--methods", "random,joint,single-iteration,root,stem")
    rows = compared(kernelpoint, *words)
    assert [row["method"] for row in rows] == ["random", "joint", "single-iteration", "root", "stem"]
    assert rows[2]["bound_with_noise"] is None
    assert shown(kernelpoint, *words) == ["joint", "stem", "root", "random", "single-iteration"]
    text = kernelpoint("compare", *words, *FEW, "--features", counts).out
    assert "Best first: bounds of the simulated total that are as asked for, by speedup" in text
    assert max(map(len, text.splitlines())) <= 80
    assert " speedup simulated " in text, "the promise beside the cost"


@pytest.mark.parametrize(
    ("sort", "figure", "sign"),
    [
        *(("speedup", "speedup", -1), ("mean", "error_mean", 1)),
        *(("drawn", "samples", 1), ("within", "within_epsilon", -1), ("p95", "error_p95", 1)),
    ],
)
def test_the_table_can_be_sorted(
    kernelpoint: Kernelpoint, resnet: Path, sort: str, figure: str, sign: int
) -> None:
    words = (resnet, "--methods", "joint,root,stem,random")
    for more, way in (((), sign), (("--reverse",), -sign)):
        rows = sorted(compared(kernelpoint, *words), key=lambda row: way * row[figure])
        assert shown(kernelpoint, *words, "--sort", sort, *more) == [row["method"] for row in rows]


def test_a_scatter_is_drawn_instead_of_the_table_as_large_as_asked(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    words = ("compare", resnet, "--methods", "root,joint,sieve", *FEW, "--scatter")
    run = kernelpoint(*words, "--width", "50", "--height", "12")
    assert run.out.count("\n") == 12
    assert 40 < max(map(len, run.out.splitlines())) <= 50
    assert run.out.splitlines()[-1] == "B root    A joint", "in the order asked for, each with its own letter"
    assert run.err == "kernelpoint: not applicable, so not in the chart: sieve\n"
    assert 90 < max(map(len, kernelpoint(*words, COLUMNS="100").out.splitlines())) <= 100
    # The data are the same; how long each took is not.
    drawn, listed = (kernelpoint(*given, "--format", "csv") for given in (words, words[:-1]))
    assert "not in the chart" not in drawn.err
    assert [{**row, "seconds": ""} for row in drawn.csv] == [{**row, "seconds": ""} for row in listed.csv]


@pytest.mark.parametrize(
    ("line", "unused"),
    [
        ("compare RESNET --methods joint,stem --set root.k_max=3", ["--set root.k_max=3"]),
        ("compare RESNET --methods stem,root --group-epsilon 0.1", ["--group-epsilon"]),
        ("compare RESNET --methods random --set random.like=joint --min-samples 3", []),
        ("sample RESNET --method single-iteration --noise-floor 0.1", ["--noise-floor"]),
        ("tree RESNET --group-epsilon 0.2 --no-pool --noise-floor 0.1", ["--group-epsilon", "--no-pool"]),
    ],
)
def test_what_no_method_uses_is_said(
    kernelpoint: Kernelpoint, resnet: Path, line: str, unused: list[str]
) -> None:
    words = [resnet if word == "RESNET" else word for word in line.split()]
    words += FEW if words[0] == "compare" else ONE_ITERATION if "single-iteration" in words else ()
    run = kernelpoint(*words)
    assert run.code == 0, run.err
    notes = [note for note in run.err.splitlines() if "not used" in note]
    assert [note.partition(": ")[2].partition(": not used by ")[0] for note in notes] == unused


def test_a_method_that_does_not_plan_by_a_cost_is_told_it(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path
) -> None:
    words = ("sample", resnet, "-m", "root", "--judge", "0", "--features", counts)
    told = "--cost: root does not plan by it; it is told what its plan costs"
    assert told in kernelpoint(*words, "--cost", "instructions").err
    assert "--cost" not in kernelpoint(*words).err


# -- `judge` on another recording of the plan's program: what it says, and where it refuses -----------------


TWENTY = ("--repeats", "20", *JSON)
LAUNCHES = 900
REDRAWN = ("expected_speedup", "repeats", "error_mean", "error_p95", "error_max", "within_epsilon")
PROGRAM = [
    ("volta_gemm", "relu", "softmax")[code] for code in np.random.default_rng(1).integers(0, 3, LAUNCHES)
]


def recording(path: Path, *, names: list[str] | None = None, factor: float = 1.0, process: int = 7) -> Path:
    """Write a run of one program: 900 launches of three kernels; runs differ by a factor and by noise."""
    rng = np.random.default_rng(1)
    kernel = rng.integers(0, 3, LAUNCHES)
    base_ns = np.array([1000, 8000, 30_000])[kernel] * rng.choice([1, 4], LAUNCHES)
    if factor != 1:
        base_ns = base_ns * factor * np.random.default_rng(int(100 * factor)).lognormal(0, 0.1, LAUNCHES)
    named = names or PROGRAM
    durations_ns = np.resize(np.rint(base_ns).astype(np.int64), len(named))
    columns = {"name": named, "duration_ns": durations_ns, "process": [process] * len(named)}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return recording(tmp_path / "first.parquet")


@pytest.fixture
def plan(original: Path, kernelpoint: Kernelpoint, tmp_path: Path) -> Path:
    """Of its launches some follow launch 500, and tell which launch after it is another."""
    path = tmp_path / "plan.json"
    assert kernelpoint("sample", original, "--method", "root", "--seed", "3", "-o", path).code == 0
    assert 500 not in {launch["id"] for launch in drawn_of(path)}
    return path


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return recording(tmp_path / "second.parquet", factor=0.6, process=81)


def test_a_plan_is_judged_on_another_run(
    kernelpoint: Kernelpoint, plan: Path, original: Path, other: Path
) -> None:
    run = kernelpoint("judge", plan, other, *TWENTY)
    jsonschema.validate(run.json, output_schema("judge"))
    found = run.results
    assert found["same_files"] is False
    assert (found["aligned_by"], found["launches_differing"], found["repeats"]) == ("names", 0, 20)
    durations = pq.read_table(other)["duration_ns"].to_pylist()
    drawn = drawn_of(plan)
    assert found["total_duration_ns"] == sum(durations)
    estimate_ns = sum(launch["weight"] * durations[launch["id"]] for launch in drawn)
    assert found["estimate_ns"] == pytest.approx(estimate_ns)
    assert found["error"] == pytest.approx(abs(estimate_ns / sum(durations) - 1))
    sampled_ns = sum(durations[launch["id"]] for launch in drawn)
    assert found["speedup"] == pytest.approx(sum(durations) / sampled_ns)
    first, second = run.json["warnings"]
    assert first == (
        "the plan was made from other files; all launches of the two have the same name, grid and block in "
        "the same order"
    )
    assert second.startswith("process 7 device 0 of the plan is process 81 device 0 here")
    assert first in run.err
    assert kernelpoint("judge", plan, other, *TWENTY, "--quiet").err == ""
    assert kernelpoint("judge", plan, other).out.splitlines()[-1] == (
        f"The plan's bound, {100 * found['bound']:.1f} %, is that on its own profile; none covers this one."
    )
    # Without the plan's profile its own draw alone is judged.
    original.unlink()
    run = kernelpoint("judge", plan, other, *TWENTY, "--seed", "2")
    jsonschema.validate(run.json, output_schema("judge"))
    assert run.results == found | dict.fromkeys((*REDRAWN, "bound", "group_bound")) | {
        "launches_differing": run.results["launches_differing"]
    }
    assert run.json["warnings"][-1] == (
        f"only the plan's own launches are judged: {original}, which it was made from, is not there"
    )


def test_its_own_profile_is_told_by_its_bytes(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    copy, converted = tmp_path / "copy.parquet", tmp_path / "converted.parquet"
    copy.write_bytes(original.read_bytes())
    pq.write_table(pq.read_table(original), converted, row_group_size=100)
    own, copied, moved = (kernelpoint("judge", plan, path, *TWENTY) for path in (original, copy, converted))
    assert own.json["warnings"] == copied.json["warnings"] == []
    assert own.results | {"profile": ""} == copied.results | {"profile": ""}
    assert own.results["aligned_by"] == "same files"
    assert own.results["launches_differing"] == 0
    assert "bound" not in kernelpoint("judge", plan, original).out
    assert moved.results["same_files"] is False
    for name in (*REDRAWN, "error", "bound", "group_bound", "speedup", "total_duration_ns"):
        assert moved.results[name] == pytest.approx(own.results[name]), name


def test_its_own_profile_that_has_changed_is_told_so(
    kernelpoint: Kernelpoint, plan: Path, original: Path, other: Path, tmp_path: Path
) -> None:
    """Where it lay, or beside the plan under its name; each command that reads it compares the SHA-256."""
    original.write_bytes(other.read_bytes())
    beside = tmp_path / "kept"
    beside.mkdir()
    shutil.copy(plan, beside / "plan.json")
    shutil.copy(other, beside / original.name)
    for document, profile in ((plan, original), (beside / "plan.json", beside / original.name)):
        run = kernelpoint("judge", document, profile, "--repeats", "2", *JSON)
        changed = f"{profile} has changed since {document} was made from it, by its SHA-256, and is judged as"
        assert run.json["warnings"][0].startswith(changed)
        assert (run.code, run.results["same_files"]) == (0, False)
    table = cycles_of(plan, tmp_path / "cycles.csv", spread=20)
    words = ("estimate", plan, table, "--target", "1e-5", "--top-up", tmp_path / "more.json")
    assert f"nothing can be added: {original}, which it was made from, has changed since, by its SHA-256" in (
        kernelpoint(*words).failed(3)
    )
    run = kernelpoint("export", plan, "--to", "rocprofv3", "-o", tmp_path / "exported")
    assert f"{original}, which it was made from, has changed since, by its SHA-256" in run.err
    assert "is not, byte for byte, what" in kernelpoint("open", original, "--plan", plan).failed(1)


def test_two_totals_of_the_same_launches_say_how_they_are_made(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    table = cycles_of(plan, tmp_path / "cycles.csv", spread=20)
    assert " by their weights, and the profile has " in " ".join(
        kernelpoint("judge", plan, original).out.split()
    )
    said = " ".join(kernelpoint("estimate", plan, table).out.split())
    assert re.search(r", from \d+ of [\d,]+ launches weighted by the profile's time", said)


def test_a_plan_that_stands_after_its_profile_is_swapped(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    table = cycles_of(plan, tmp_path / "cycles.csv")
    for command, other, more in (
        ("judge", original, ("--repeats", "7")),
        ("estimate", table, ("--target", "0.01")),
        ("align", table, ("--process", "3")),
    ):
        said = kernelpoint(command, other, plan, *more).failed(3)
        typed = " ".join(map(str, (command, plan, other, *more)))
        assert f"{other}: no plan, and {plan} is one; swap them: `kernelpoint {typed}`" in said
    report = tmp_path / "report.md"
    said = kernelpoint("report", original, "--results", plan, "--plan", table, "-o", report).failed(3)
    typed = f"kernelpoint report {original} --results {table} --plan {plan} -o {report}"
    assert f"{table}: no plan, and {plan} is one; swap them: `{typed}`" in said
    said = kernelpoint(table, plan).failed(3)
    assert f"{table}: no plan, and {plan} is one; swap them: `kernelpoint {plan} {table}`" in said
    assert kernelpoint("judge", plan, original, "--repeats", "7").code == 0
    assert "swap" not in kernelpoint("judge", original, original).failed(3)
    assert "swap" not in kernelpoint("judge", tmp_path / "missing", plan).failed(3)


@pytest.mark.parametrize("is_here", [True, False])
def test_what_does_not_align_is_refused_where_it_parts(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path, is_here: bool
) -> None:
    """Launch 500 is named as long as the plan's recording is there."""
    changed = {
        "inserted": [*PROGRAM[:500], "new", *PROGRAM[500:]],
        "removed": [*PROGRAM[:500], *PROGRAM[501:]],
        "renamed": [*PROGRAM[:500], "new", *PROGRAM[501:]],
    }
    if not is_here:
        original.unlink()
    for what, names in changed.items():
        said = kernelpoint("judge", plan, recording(tmp_path / f"{what}.parquet", names=names)).failed(1)
        assert not is_here or "launch 500 is '" in said
        assert (f"has {len(names)} launches here, 900 in the plan's recording" in said) == (what != "renamed")
        assert ("--align order" in said) == (what == "renamed")


def test_order_alone_is_enough_if_asked_for(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    names = [name.replace("volta", "ampere") for name in PROGRAM]
    renamed = recording(tmp_path / "renamed.parquet", names=names, factor=0.6)
    refused = kernelpoint("judge", plan, renamed).failed(1)
    assert "'ampere_gemm'" in refused
    assert "`kernelpoint difference` shows the two recordings" in refused
    words = ("judge", plan, renamed, "--align", "order", *TWENTY)
    run = kernelpoint(*words)
    differing = names.count("ampere_gemm")
    assert (run.results["aligned_by"], run.results["launches_differing"]) == ("order", differing)
    assert f"{differing} launches of another name, grid or block here" in run.err
    original.unlink()
    run = kernelpoint(*words, "--seed", "1")
    assert run.results["launches_differing"] is None
    assert "some launches of another name" in run.err


# -- `methods` says of every option what is taken; every method runs by the commands of the sam -------------


OPTIONS = [
    (name, about) for name in method_names() for about in about_options(method_named(name).options_type)
]


def test_every_option_is_explained(kernelpoint: Kernelpoint) -> None:
    shown = " ".join(kernelpoint("methods").out.split())
    assert len(OPTIONS) > 20
    for row in results(kernelpoint, "methods"):
        assert [about["name"] for about in row["about_options"]] == list(row["options"])
        for about in row["about_options"]:
            assert about["default"] == row["options"][about["name"]]
            assert len(about["meaning"].split()) >= 3
            assert f"{row['name']}.{about['name']}=" in shown
            assert about["meaning"] in shown
    assert "root.variant=exact [exact, script, paper]" in shown
    assert "root.k_max=2 [2 to 8]" in shown
    assert "random.launches=none [1 or more, or none]" in shown


def inside_and_outside(values: str, *, whole: bool) -> Iterator[tuple[float, bool]]:
    """Numbers at the ends of a span in words, and whether they belong to it."""
    for pattern, belongs, outward in (
        (r"(\S+) (?:to|or more)", True, -1),
        (r"above (\S+)", False, -1),
        (r"(?:\d to|at most) (\S+)", True, 1),
        (r"below (\S+)", False, 1),
    ):
        if found := re.search(pattern, values.replace(",", "")):
            end = float(found[1])
            yield end, belongs
            yield (end + outward if whole else math.nextafter(end, outward * math.inf)), False
            yield (end - outward if whole else math.nextafter(end, -outward * math.inf)), True


@pytest.mark.parametrize(("method", "about"), OPTIONS, ids=lambda part: str(getattr(part, "name", part)))
def test_what_is_told_is_what_is_taken(method: str, about: Any) -> None:
    def taken(value: object) -> object:
        return getattr(method_options(method, (f"{method}.{about.name}={value}",)), about.name)

    kind = str(
        next(each.type for each in fields(method_named(method).options_type) if each.name == about.name)
    )
    numbers = (
        [] if about.choices or "str" in kind else list(inside_and_outside(about.values, whole="int" in kind))
    )
    assert bool(about.choices) or "str" in kind or len(numbers) >= 3
    inside: list[object] = [*about.choices]
    outside: list[object] = ["no-such-choice"] if about.choices else []
    for number, belongs in numbers:
        (inside if belongs else outside).append(int(number) if "int" in kind else number)
    assert [taken(value) for value in inside] == inside
    for choice in about.choices:
        assert f"{choice}:" in about.meaning or choice == "naive-bayes"
    if about.values.endswith(", or none"):
        assert taken("none") is None
    else:
        outside.append("none")
    for value in outside:
        with pytest.raises(OptionError, match=re.escape(f"{method}.{about.name}")):
            taken(value)


@pytest.fixture(scope="module")
def readme(kernelpoint: Kernelpoint, sample_data: Path) -> Callable[..., Run]:
    """Run a command of the README where it is meant to be run, with some words added."""
    text = (sample_data / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("    kernelpoint ")]
    # Those of scale-model prediction have tests of their own.
    commands = {words[1]: words[1:] for words in lines if words[1] != "scale"}
    assert list(commands) == ["compare", "sample", "project"]

    def run(command: str, *words: str) -> Run:
        with chdir(sample_data.parent):
            return kernelpoint(*commands[command], *words)

    return run


def test_every_method_runs_with_all_features(readme: Callable[..., Run]) -> None:
    compared = readme("compare", "--repeats", "1", *JSON)
    assert compared.code == 0
    assert [row["method"] for row in compared.results] == list(method_names())
    for row in compared.results:
        assert row["applicable"]
        assert 1 <= row["samples"] < 5600
        assert row["speedup"] > 1
    ncu, blocks = (line for line in compared.err.splitlines() if "rows joined by" in line)
    assert "(ncu-raw): 5,600 of 5,600 rows joined by name, grid, block, occurrence" in ncu
    assert "(basic-block-vectors): 5,600 of 5,600 rows joined by name, occurrence" in blocks
    details = readme("sample", "--judge", "0", *JSON).results["details"]
    assert (details["launches_in_detail"], details["share_matched_exactly"]) == (560, 0.9)


def test_the_log_projects_one_kernel_of_each_kind(readme: Callable[..., Run]) -> None:
    run = readme("project", *JSON)
    assert run.json["warnings"] == ["cut-short"]
    settles, never, cut = run.results
    assert [row["stopped"] for row in run.results] == [True, False, True]
    assert settles["error"] < 0.02
    assert settles["speedup"] > 3
    assert settles["total_cycles_from"] == "simulator"
    assert "never steady" in never["reason"]
    assert "reaching" in cut["cut_short"] or "broke it off" in cut["cut_short"]
    assert (cut["total_cycles"], cut["projected_by"], cut["cycles_logged"]) == (None, "ctas", 24_000)


def test_a_mean_over_profiles_takes_no_promise_away() -> None:
    joint = ComparedMethod(profile="a", method="joint", applicable=True, reason=None, seconds=1.0)
    promised = structs.replace(joint, promised_error=0.04, within_epsilon=0.97)
    mean = structs.replace(joint, profile="mean of 2 (harmonic speedup, arithmetic error)")
    rows = [promised, structs.replace(promised, profile="b"), mean]
    assert promises(rows, 0.05, 0.95) == {"joint": 0.0}


def test_plans_are_judged_on_what_all_launches_take_elsewhere(kernelpoint: Kernelpoint, here: Path) -> None:
    """As on a simulator's cycles of the whole run: as `judge` does with each plan, and picks by hand."""
    random = np.random.default_rng(5)
    first_ns = random.integers(900, 1100, 300) * (1 + np.arange(300) % 3)
    then_ns = (first_ns * random.uniform(1.8, 2.2, 300)).astype(int)
    for name, kernel, durations in (("first.csv", "k", first_ns), ("then.csv", "simulated_k", then_ns)):
        rows = [f"{kernel}{number % 3},{ns}" for number, ns in enumerate(durations.tolist())]
        Path(name).write_text("\n".join(["name,duration_ns", *rows, ""]))
    words = (
        "compare",
        "first.csv",
        "--methods",
        "joint,first-instructions,single-iteration",
        "--repeats",
        50,
    )
    words += ("--set", "single-iteration.first=30", "--set", "single-iteration.last=59")
    words += ("--set", "single-iteration.iterations=10")
    run = kernelpoint(*words, "--on", "then.csv", *JSON)
    assert run.code == 0, run.err
    assert (
        "300 launches have another name, grid or block in then.csv: they are matched in their order"
        in run.err
    )
    joint, _, picked = run.results
    assert kernelpoint("sample", "first.csv", "-o", "plan.json").code == 0
    judged = results(kernelpoint, "judge", "plan.json", "then.csv", "--align", "order", "--repeats", 50)
    for figure in ("error_mean", "error_p95", "error_max", "within_epsilon"):
        assert joint[figure] == judged[figure]
    assert joint["speedup"] == judged["expected_speedup"]
    assert joint["promised_error"] == results(kernelpoint, *words)[0]["promised_error"]
    assert joint["bound"] is None, "it is of the profile's own time"
    total = then_ns.sum()
    assert picked["error_mean"] == pytest.approx(abs(1 - 10 * then_ns[30:60].sum() / total))
    assert picked["speedup"] == pytest.approx(total / then_ns[30:60].sum())
    Path("short.csv").write_text("name,duration_ns\nk,5\n")
    assert "launches of process 0 device 0 (300) in the profile" in kernelpoint(
        *words, "--on", "short.csv"
    ).failed(1)
    several = kernelpoint("compare", "first.csv", "then.csv", "--on", "then.csv").failed(2)
    assert "--on is of the launches of one workload; give one profile, or --one-workload" in several
