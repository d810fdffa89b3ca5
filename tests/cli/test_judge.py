"""`judge` on another recording of the plan's program: what it says, and where it refuses."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli import contract_schemas as schemas
from tests.cli.conftest import JSON, Kernelpoint, drawn_of, results

FEW = ("--repeats", "20", *JSON)
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
    run = kernelpoint("judge", plan, other, *FEW)
    jsonschema.validate(run.json, schemas.envelope("judge"))
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
    assert kernelpoint("judge", plan, other, *FEW, "--quiet").err == ""
    assert kernelpoint("judge", plan, other).out.splitlines()[-1] == (
        f"The plan's bound, {100 * found['bound']:.1f} %, is that on its own profile; none covers this one."
    )
    # Without the plan's profile its own draw alone is judged.
    original.unlink()
    run = kernelpoint("judge", plan, other, *FEW, "--seed", "2")
    jsonschema.validate(run.json, schemas.envelope("judge"))
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
    own, copied, moved = (kernelpoint("judge", plan, path, *FEW) for path in (original, copy, converted))
    assert own.json["warnings"] == copied.json["warnings"] == []
    assert own.results | {"profile": ""} == copied.results | {"profile": ""}
    assert own.results["aligned_by"] == "same files"
    assert own.results["launches_differing"] == 0
    assert "bound" not in kernelpoint("judge", plan, original).out
    assert moved.results["same_files"] is False
    for name in (*REDRAWN, "error", "bound", "group_bound", "speedup", "total_duration_ns"):
        assert moved.results[name] == pytest.approx(own.results[name]), name


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
    words = ("judge", plan, renamed, "--align", "order", *FEW)
    run = kernelpoint(*words)
    differing = names.count("ampere_gemm")
    assert (run.results["aligned_by"], run.results["launches_differing"]) == ("order", differing)
    assert f"{differing} launches have another name, grid or block here" in run.err
    original.unlink()
    run = kernelpoint(*words, "--seed", "1")
    assert run.results["launches_differing"] is None
    assert "some launches have another name" in run.err


def test_picks_have_an_error_and_nothing_drawn(
    kernelpoint: Kernelpoint, original: Path, tmp_path: Path
) -> None:
    """Sieve weights by instructions, so that its error is more than rounding: as `compare` has it."""
    counted, path, moved = (tmp_path / name for name in ("counted.parquet", "sieve.json", "moved.parquet"))
    instructions = np.random.default_rng(3).integers(1, 10**6, LAUNCHES)
    table = pq.read_table(original).append_column("instructions", pa.array(instructions))
    pq.write_table(table, counted)
    pq.write_table(table, moved, row_group_size=100)
    assert kernelpoint("sample", counted, "--method", "sieve", "-o", path).code == 0
    (compared,) = results(kernelpoint, "compare", counted, "--methods", "sieve")
    assert compared["error_mean"] > 1e-4
    for profile in (counted, moved):
        judged = results(kernelpoint, "judge", path, profile)
        assert judged["error"] == judged["error_max"] == pytest.approx(compared["error_mean"])
        assert (judged["repeats"], judged["expected_speedup"]) == (1, judged["speedup"])
        assert {judged[name] for name in ("within_epsilon", "bound", "group_bound")} == {None}
        assert kernelpoint("judge", path, profile).out.startswith("This plan is ")
    assert "its launches were not drawn at random" in kernelpoint("judge", path, moved).err
