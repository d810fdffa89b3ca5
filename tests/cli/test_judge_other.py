"""`judge` on another recording of the plan's program: what it says, and where it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Kernelpoint = Callable[..., Any]
JSON = ("--repeats", "20", "--format", "json")
LAUNCHES = 900
REDRAWN = ("expected_speedup", "repeats", "error_mean", "error_p95", "error_max", "within_epsilon")


def recording(path: Path, *, names: list[str] | None = None, factor: float = 1.0, process: int = 7) -> Path:
    """Write a run of one program: 900 launches of three kernels; runs differ by a factor and by noise."""
    rng = np.random.default_rng(1)
    kernel = rng.integers(0, 3, LAUNCHES)
    base_ns = np.array([1000, 8000, 30_000])[kernel] * rng.choice([1, 4], LAUNCHES)
    if factor != 1:
        base_ns = base_ns * factor * np.random.default_rng(int(100 * factor)).lognormal(0, 0.1, LAUNCHES)
    named = names or of_program(kernel.tolist())
    durations_ns = np.resize(np.rint(base_ns).astype(np.int64), len(named))
    columns = {"name": named, "duration_ns": durations_ns, "process": [process] * len(named)}
    pq.write_table(pa.table(columns), path)
    return path


def of_program(kernel: list[int] | None = None) -> list[str]:
    codes = np.random.default_rng(1).integers(0, 3, LAUNCHES).tolist() if kernel is None else kernel
    return [("volta_gemm", "relu", "softmax")[code] for code in codes]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return recording(tmp_path / "first.parquet")


@pytest.fixture
def plan(original: Path, kernelpoint: Kernelpoint, tmp_path: Path) -> Path:
    """Of its six launches some follow launch 500, and tell which launch after it is another."""
    path = tmp_path / "plan.json"
    assert kernelpoint("sample", original, "--method", "root", "--seed", "3", "-o", path).code == 0
    return path


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return recording(tmp_path / "second.parquet", factor=0.6, process=81)


def test_a_plan_is_judged_on_another_run(
    kernelpoint: Kernelpoint, plan: Path, other: Path, schemas: ModuleType
) -> None:
    run = kernelpoint("judge", plan, other, *JSON)
    assert run.code == 0
    jsonschema.validate(run.json, schemas.envelope("judge"))
    jsonschema.validate(json.loads(plan.read_text()), schemas.PLAN)
    results = run.results
    assert results["same_files"] is False
    assert results["aligned_by"] == "names"
    assert results["launches_differing"] == 0
    assert results["repeats"] == 20
    durations = pq.read_table(other)["duration_ns"].to_pylist()
    drawn = [launch for row in json.loads(plan.read_text())["strata"] for launch in row["launches"]]
    assert results["total_duration_ns"] == sum(durations)
    estimate_ns = sum(launch["weight"] * durations[launch["id"]] for launch in drawn)
    assert results["estimate_ns"] == pytest.approx(estimate_ns)
    assert results["error"] == pytest.approx(abs(estimate_ns / sum(durations) - 1))
    assert results["speedup"] == pytest.approx(
        sum(durations) / sum(durations[launch["id"]] for launch in drawn)
    )
    warnings = run.json["warnings"]
    assert warnings[0] == (
        "the plan was made from other files; all launches of the two have the same name, grid and block in "
        "the same order"
    )
    assert warnings[1].startswith("process 7 device 0 of the plan is process 81 device 0 here")
    assert len(warnings) == 2
    assert all(warning in run.err for warning in warnings)
    assert kernelpoint("judge", plan, other, *JSON, "--quiet").err == ""


def test_its_own_profile_is_told_by_its_bytes(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(original.read_bytes())
    own, copied = (kernelpoint("judge", plan, path, *JSON) for path in (original, copy))
    assert own.json["warnings"] == copied.json["warnings"] == []
    assert own.results | {"profile": ""} == copied.results | {"profile": ""}
    assert own.results["aligned_by"] == "same files"
    assert own.results["launches_differing"] == 0
    assert "bound" not in kernelpoint("judge", plan, original).out


def test_the_same_launches_in_another_file_have_the_same_figures(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    converted = tmp_path / "converted.parquet"
    pq.write_table(pq.read_table(original), converted, row_group_size=100)
    own, moved = (kernelpoint("judge", plan, path, *JSON).results for path in (original, converted))
    assert moved["same_files"] is False
    for name in (*REDRAWN, "error", "bound", "group_bound", "speedup", "total_duration_ns"):
        assert moved[name] == pytest.approx(own[name]), name


def test_the_text_says_that_no_bound_covers_it(kernelpoint: Kernelpoint, plan: Path, other: Path) -> None:
    run = kernelpoint("judge", plan, other)
    lines = run.out.splitlines()
    assert max(map(len, lines)) <= 100
    bound = kernelpoint("judge", plan, other, *JSON).results["bound"]
    assert lines[-1] == (
        f"The plan's bound, {100 * bound:.1f} %, is that on its own profile; none covers this one."
    )


def test_without_the_plans_profile_only_its_own_draw_is_judged(
    kernelpoint: Kernelpoint, plan: Path, original: Path, other: Path, schemas: ModuleType
) -> None:
    whole = kernelpoint("judge", plan, other, *JSON, "--seed", "1").results
    original.unlink()
    run = kernelpoint("judge", plan, other, *JSON, "--seed", "2")
    assert run.code == 0
    jsonschema.validate(run.json, schemas.envelope("judge"))
    assert {run.results[name] for name in REDRAWN} == {None}
    for name in run.results.keys() - set(REDRAWN):
        assert run.results[name] == whole[name], name
    assert run.json["warnings"][-1] == (
        f"only the plan's own launches are judged: {original}, which it was made from, is not there"
    )
    text = kernelpoint("judge", plan, other, "--seed", "2").out
    assert "draws of it" not in text
    assert "none covers this one" in text


@pytest.mark.parametrize("is_here", [True, False])
def test_what_does_not_align_is_refused_where_it_parts(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path, is_here: bool
) -> None:
    """Launch 500 is named as long as the plan's recording is there; then the next drawn launch that tells."""
    names = of_program()
    changed = {
        "inserted": [*names[:500], "new", *names[500:]],
        "removed": [*names[:500], *names[501:]],
        "renamed": [*names[:500], "new", *names[501:]],
    }
    # What follows is another kernel, or leaving launch 500 out would first show later.
    assert names[500] != names[501]
    if not is_here:
        original.unlink()
    drawn = [launch for row in json.loads(plan.read_text())["strata"] for launch in row["launches"]]
    ids = sorted(launch["id"] for launch in drawn)
    assert 500 not in ids
    for what, other in changed.items():
        path = recording(tmp_path / f"{what}.parquet", names=other)
        said = kernelpoint("judge", plan, path).failed(1)
        assert ("launch 500 is '" in said) == is_here
        tells = next(
            place
            for place in ids
            if other[place] != names[place]
            or other[:place].count(names[place]) != names[:place].count(names[place])
        )
        assert tells > 500
        last = tells - (other[tells] == names[tells])
        assert (f"between launches 0 and {last};" in said) != is_here
        assert (f"has {len(other)} launches here, 900 in the plan's recording" in said) == (what != "renamed")
        assert ("--align order" in said) == (what == "renamed")


def test_order_alone_is_enough_if_asked_for(kernelpoint: Kernelpoint, plan: Path, tmp_path: Path) -> None:
    names = [name.replace("volta", "ampere") for name in of_program()]
    renamed = recording(tmp_path / "renamed.parquet", names=names, factor=0.6)
    assert "'ampere_gemm'" in kernelpoint("judge", plan, renamed).failed(1)
    run = kernelpoint("judge", plan, renamed, "--align", "order", *JSON)
    assert run.code == 0
    assert run.results["aligned_by"] == "order"
    assert run.results["launches_differing"] == names.count("ampere_gemm")
    assert f"{names.count('ampere_gemm')} launches have another name, grid or block here" in run.err
    one = [*of_program()[:-1], "last"]
    run = kernelpoint(
        "judge", plan, recording(tmp_path / "one.parquet", names=one), "--align", "order", *JSON
    )
    assert "1 launch has another name, grid or block here" in run.err
    said = kernelpoint("judge", plan, renamed, "--align", "sideways").failed(2)
    assert "--align" in said


def test_how_many_differ_is_not_known_without_the_plans_profile(
    kernelpoint: Kernelpoint, plan: Path, original: Path, tmp_path: Path
) -> None:
    original.unlink()
    names = [*of_program()[:-1], "last"]
    path = recording(tmp_path / "one.parquet", names=names)
    run = kernelpoint("judge", plan, path, "--align", "order", *JSON)
    assert run.results["launches_differing"] is None
    assert "some launches have another name" in run.err


def test_a_check_that_fails_is_4_after_the_results(kernelpoint: Kernelpoint, plan: Path, other: Path) -> None:
    error = kernelpoint("judge", plan, other, *JSON).results["error"]
    assert kernelpoint("judge", plan, other, *JSON, "--fail-above", error * 1.01).code == 0
    run = kernelpoint("judge", plan, other, *JSON, "--fail-above", error * 0.99)
    assert run.code == 4
    assert run.results["error"] == error


def test_the_filters_of_a_plan_hold_on_the_other_recording(
    kernelpoint: Kernelpoint, original: Path, other: Path, tmp_path: Path
) -> None:
    """Process 7 there is process 81 here; ids are those of the whole profile."""
    filters = ("--process", "7", "--launches", "100:700", "--exclude", "relu")
    path = tmp_path / "part.json"
    assert kernelpoint("sample", original, "--method", "root", *filters, "-o", path).code == 0
    rows = zip(of_program(), pq.read_table(other)["duration_ns"].to_pylist(), strict=True)
    total_ns = sum(ns for row, (name, ns) in enumerate(rows) if 100 <= row < 700 and name != "relu")
    for _ in range(2):
        run = kernelpoint("judge", path, other, *JSON)
        assert run.code == 0, run.err
        assert run.results["total_duration_ns"] == total_ns
        original.unlink(missing_ok=True)


def test_picks_have_an_error_and_nothing_drawn(
    kernelpoint: Kernelpoint, plan: Path, original: Path, other: Path
) -> None:
    drawn = kernelpoint("judge", plan, other, *JSON, "--seed", "3").results
    document = json.loads(plan.read_text())
    document["options"]["method"] = "sieve"
    plan.write_text(json.dumps(document))
    for profile in (original, other):
        run = kernelpoint("judge", plan, profile, *JSON, "--seed", "4")
        assert run.code == 0, run.err
        results = run.results
        assert {results[name] for name in ("within_epsilon", "bound", "group_bound")} == {None}
        errors = {results[name] for name in ("error", "error_mean", "error_p95", "error_max")}
        assert len(errors) == 1
        assert results["repeats"] == 1
        assert results["expected_speedup"] == results["speedup"]
        text = kernelpoint("judge", plan, profile, "--seed", "4").out
        assert text.startswith("This plan is ")
        assert "such plans" not in text
    assert run.results["error"] == drawn["error"]
    assert "its launches were not drawn at random" in run.err


def test_picks_are_judged_as_compare_does(kernelpoint: Kernelpoint, original: Path, tmp_path: Path) -> None:
    """Sieve weights by instructions, so that its error is more than rounding."""
    counted, path = tmp_path / "counted.parquet", tmp_path / "sieve.json"
    launches = pq.read_table(original)
    instructions = np.random.default_rng(3).integers(1, 10**6, LAUNCHES)
    pq.write_table(launches.append_column("instructions", pa.array(instructions)), counted)
    assert kernelpoint("sample", counted, "--method", "sieve", "-o", path).code == 0
    (compared,) = kernelpoint("compare", counted, "--methods", "sieve", "--format", "json").results
    judged = kernelpoint("judge", path, counted, *JSON).results
    assert compared["error_mean"] > 1e-4
    for name in ("error_mean", "error_p95", "error_max"):
        assert judged[name] == pytest.approx(compared[name], rel=1e-9)
    assert judged["speedup"] == pytest.approx(compared["speedup"])
    assert judged["within_epsilon"] is compared["within_epsilon"] is None
    sampled = kernelpoint("sample", counted, "--method", "sieve", "--format", "json").results["judged"]
    assert judged["repeats"] == sampled["repeats"] == 1


def test_an_empty_file_is_no_plan(kernelpoint: Kernelpoint, original: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.touch()
    assert f"{empty}: an empty file" in kernelpoint("judge", empty, original).failed(3)


def test_the_files_of_the_plan_in_another_order_are_named_in_the_plans(
    kernelpoint: Kernelpoint, original: Path, tmp_path: Path
) -> None:
    second = recording(tmp_path / "b.parquet", names=["other"] * 5, process=3)
    path = tmp_path / "two.json"
    assert kernelpoint("sample", original, second, "--method", "root", "-o", path).code == 0
    assert kernelpoint("judge", path, original, second).code == 0
    said = kernelpoint("judge", path, second, original).failed(1)
    assert f"in another order; give them as {original} {second}" in said
