"""Which launches are run, in which order, on which machine; scripts, manifest and page of every target."""

from __future__ import annotations

import csv
import io
import subprocess
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import (
    ExportChoices,
    Shard,
    Step,
    check_chances,
    checkable,
    checks,
    informative_order,
    merged,
    run_parts,
    shared_out,
    simulated,
)
from sampling.simulators.registry import export_plan, exporter_names, starts_cold
from tests.sampling.simulators.conftest import Write, launch, plan_of, shell, stratum


def ids(shard: Shard) -> list[int]:
    return [step.id for step in shard]


def run(plan: PlanFile, **choices: Any) -> list[list[int]]:
    (part,) = run_parts(plan, ExportChoices(**choices))
    return [ids(shard) for shard in part.shards]


def test_one_of_each_stratum_by_its_share_of_the_variance_then_seconds(ten: PlanFile) -> None:
    """36 x (10^2 + 5^2) = 4,500 of a; 9 x (1 + 50^2) = 22,509 of b; 1 x 250^2 = 62,500 of c."""
    assert run(ten) == [[5, 4, 2, 8, 9]]


def test_a_pooled_stratum_also_brings_what_its_kernels_differ_by(ten: PlanFile) -> None:
    """9 x (1 + 50^2 + 0.3^2 (1,000^2 + 1)) = 832,510 of b: before c, which comes first otherwise."""
    a, b, c = ten.strata
    assert run(plan_of(a, structs.replace(b, pooled=True), c)) == [[4, 5, 2, 8, 9]]


SIZES = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


def drawn_plan(sizes: list[tuple[int, int, int]], seed: int) -> PlanFile:
    strata, first = [], 0
    for index, (count, mean, std) in enumerate(sizes):
        launches = [launch(first + place, place, f"k{index}") for place in range(count)]
        strata.append(stratum(f"k{index}", count, mean, std, launches))
        first += count
    return plan_of(*strata, method="root", seed=seed)


@given(sizes=SIZES, seed=st.integers(0, 5))
def test_every_prefix_has_as_many_of_each_stratum_as_there_are(
    sizes: list[tuple[int, int, int]], seed: int
) -> None:
    plan = drawn_plan(sizes, seed)
    order = informative_order(plan)
    assert sorted(each.id for _, each in order) == [each.id for each in plan.drawn]
    taken = [0] * len(sizes)
    for index, each in order:
        assert each in plan.strata[index].launches
        # No stratum gets another launch while one that has launches left has fewer.
        left = [count for count, (most, _, _) in zip(taken, sizes, strict=True) if count < most]
        assert taken[index] == min(left)
        taken[index] += 1


def test_within_a_stratum_the_order_is_random_and_the_seeds() -> None:
    """The first of a stratum would else always be one of the start of the run."""
    firsts = [informative_order(drawn_plan([(6, 1, 1)], seed))[0][1].id for seed in range(60)]
    assert set(firsts) == set(range(6))
    assert run(drawn_plan([(6, 1, 1)], 3)) == run(drawn_plan([(6, 1, 1)], 3))


def test_a_warm_up_runs_before_each_launch_and_none_before_the_first_of_all(ten: PlanFile) -> None:
    """4 warms up 5, and 8 warms up 9; 3 and 7 are run for 4 and 8 alone, 1 for 2."""
    (part,) = run_parts(ten, ExportChoices(caches="after:1"))
    assert ids(part.steps) == [1, 2, 3, 4, 5, 7, 8, 9]
    assert [step.id for step in part.steps if step.launch is None] == [1, 3, 7]
    first = plan_of(stratum("a", 2, 1, 0, [launch(0, 0, "a")]))
    assert run(first, caches="after:1") == [[0]]


@pytest.mark.parametrize(("choices", "beside"), [({}, 0), ({"caches": "after:1"}, 3)])
def test_what_runs_for_the_caches_sake_is_in_the_speedup(
    ten: PlanFile, choices: dict[str, Any], beside: int
) -> None:
    drawn_ns = sum(each.duration_ns for each in ten.drawn)
    found = simulated(ten, ExportChoices(**choices))
    mean_ns = ten.total_duration_ns / ten.launches
    assert (found.launches, found.extra) == (5, beside)
    assert found.speedup == pytest.approx(ten.total_duration_ns / (drawn_ns + beside * mean_ns))


@given(sizes=SIZES, before=st.integers(0, 4), data=st.data())
def test_shards_have_every_launch_once_and_those_before_each_its_launch(
    sizes: list[tuple[int, int, int]], before: int, data: st.DataObject
) -> None:
    full = drawn_plan(sizes, 0)
    kept = [
        stratum(each.key, each.size, each.mean_ns, each.std_ns, some)
        for each in full.strata
        if (some := [one for one in each.launches if data.draw(st.booleans())])
    ]
    if not kept:
        return
    plan = plan_of(*kept, method="root")
    caches = f"after:{before}" if before else "cold"
    (whole,) = run_parts(plan, ExportChoices(caches=caches))
    shards = data.draw(st.integers(1, 3))
    try:
        (part,) = run_parts(plan, ExportChoices(shards=shards, caches=caches))
    except OptionError:
        assert shards > 1
        return
    assert len(part.shards) == shards
    assert sorted(ids(part.steps)) == sorted(ids(whole.steps))
    drawn = [step.id for step in part.steps if step.launch is not None]
    assert sorted(drawn) == [each.id for each in plan.drawn]
    for shard in part.shards:
        assert shard
        for place, step in enumerate(shard):
            if step.launch is not None:
                first = max(0, step.id - before)
                those = shard[place - (step.id - first) : place]
                assert [each.id for each in those] == list(range(first, step.id))
    assert (len(whole.steps) > len(plan.drawn)) <= before


@given(lengths=st.lists(st.integers(0, 30), min_size=2, max_size=7), shards=st.integers(2, 3))
def test_the_longest_shard_is_within_grahams_bound_of_the_best(lengths: list[int], shards: int) -> None:
    """Longest first to the least loaded: at most 4/3 - 1/(3K) of the best [Graham 1969, theorem 2]."""
    if len(lengths) < shards:
        return
    bundles = [
        (Step(place, place, launch(place, 0, "k", duration_ns=ns), 0),) for place, ns in enumerate(lengths)
    ]
    got = max(sum(lengths[step.id] for step in shard) for shard in shared_out(bundles, shards))
    best = min(
        max(
            sum(ns for ns, own in zip(lengths, owner, strict=True) if own == shard) for shard in range(shards)
        )
        for owner in product(range(shards), repeat=len(lengths))
    )
    assert best <= got <= best * (4 / 3 - 1 / (3 * shards)) + 1e-9


def test_shards_by_hand(ten: PlanFile) -> None:
    """5,000 of c alone against 1,000 of b and 300 of a."""
    assert run(ten, shards=2) == [[5], [4, 2, 8, 9]]
    with pytest.raises(OptionError, match="`shards=6`: there are 5 runs to share out"):
        run(ten, shards=6)
    with pytest.raises(OptionError, match="`shards` is 1 or more"):
        ExportChoices(shards=0)


def test_what_is_checked_is_drawn_by_the_time_it_stands_for(ten: PlanFile) -> None:
    """5,000 of 8,600 ns are c's, 3,000 b's: both are certain, and 8 and 9 of a share the third with 2."""
    chance = dict(zip([each.id for each in checkable(ten)], check_chances(checkable(ten), 3), strict=True))
    assert chance == pytest.approx({2: 1 / 3, 4: 1, 5: 1, 8: 1 / 3, 9: 1 / 3})
    seeds = 300
    drawn = [[each.id for each, _ in checks(plan_of(*ten.strata, seed=seed), 3)] for seed in range(seeds)]
    assert all(len(set(each)) == len(each) == 3 for each in drawn)
    for launch_id, expected in chance.items():
        share = sum(launch_id in each for each in drawn) / seeds
        assert share == pytest.approx(expected, abs=0.1)
    assert [each.id for each, _ in checks(ten, 99)] == [2, 4, 5, 8, 9]
    assert checks(ten, 0) == []


@given(st.sets(st.integers(0, 2000), min_size=1, max_size=200), st.integers(1, 300))
def test_ranges_have_all_numbers_and_no_more_than_their_gaps(numbers: set[int], gap: int) -> None:
    ranges = merged(numbers, gap)
    assert all(any(first <= each <= last for first, last in ranges) for each in numbers)
    assert {end for each in ranges for end in each} <= numbers
    assert all(after[0] - before[1] > gap for before, after in pairwise(ranges))
    assert sum(last - first + 1 for first, last in merged(numbers)) == len(numbers)


FOLDERS = [name for name in exporter_names() if name != "csv"]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("target", FOLDERS)
def test_scripts_run_in_the_shell_and_the_manifest_has_every_launch(
    ten: PlanFile, target: str, written: Write, tmp_path: Path
) -> None:
    alone, files = written(ten, target), written(ten, target, shards=2)
    # Without traces nothing can be simulated by Accel-Sim: its export records them.
    one, shards = (
        ("trace.sh", set()) if target == "accel-sim" else ("run.sh", {"run-1.sh", "run-2.sh", "slurm.sh"})
    )
    scripts = [name for name in files if name.endswith(".sh")]
    assert one in alone
    assert shards <= set(scripts)
    assert bool(shards) == ("slurm.sh" in scripts)
    for name in (one, *scripts):
        subprocess.run(["sh", "-n", str(tmp_path / "out" / name)], check=True)
    assert all("\nset -eu\n" in files[name] for name in scripts)
    manifest = rows(files["manifest.csv"])
    weights = {each.id: each.weight for each in ten.drawn}
    assert {int(row["id"]): float(row["weight"]) for row in manifest} == weights
    assert {int(row["id"]): int(row["stratum"]) for row in manifest} == {2: 0, 8: 0, 9: 0, 4: 1, 5: 2}
    assert {row["shard"] for row in manifest} == {"1", "2"}
    assert [row["name"] for row in manifest if row["id"] == "2"] == ["a(int)"]
    assert [(row["grid"], row["block"]) for row in manifest if row["id"] == "5"] == [("", "")]
    assert "@" not in files["README.txt"].replace("$@", ""), "all is filled in"


@pytest.mark.parametrize(
    ("target", "choice", "chosen"),
    [
        ("csv", "caches", {"caches": "after:1"}),
        ("macsim", "config", {"traces": "traces", "config": "gpgpusim.config"}),
        ("nvbit", "traces", {"traces": "traces"}),
        ("rocprofv3", "trace_before", {"trace_before": 4}),
    ],
)
def test_a_choice_that_means_nothing_is_refused(
    ten: PlanFile, target: str, choice: str, chosen: dict[str, Any]
) -> None:
    with pytest.raises(OptionError, match=f"`{choice}` means nothing to {target}"):
        export_plan(ten, target, ExportChoices(**chosen))


@pytest.mark.parametrize("target", FOLDERS)
def test_processes_and_devices_have_a_folder_each(target: str, written: Write, tmp_path: Path) -> None:
    both = [launch(3, 0, "a", id=3), launch(3, 0, "a", id=9, device=1)]
    files = written(plan_of(stratum("a", 12, 1, 1, both)), target)
    for device, launch_id in ((0, 3), (1, 9)):
        folder = f"process-0-device-{device}"
        (row,) = rows(files[f"{folder}/manifest.csv"])
        assert (row["id"], row["device"], row["ordinal"]) == (str(launch_id), str(device), "3")
        assert f"{folder}/{'trace.sh' if target == 'accel-sim' else 'run.sh'}" in files
    # What is new of a plan that was topped up may be of one alone.
    new = structs.replace(plan_of(stratum("a", 12, 1, 1, both)), simulated=(9,))
    assert "process-0-device-0/manifest.csv" in written(new, target)
    assert "2 processes and devices" in files["README.txt"]
    assert ("Run a process a device" in files["README.txt"]) == (target in {"accel-sim", "macsim", "nvbit"})


@pytest.mark.parametrize("target", ["macsim", "ncu"])
def test_the_job_array_runs_a_shard_a_task(
    ten: PlanFile, target: str, written: Write, tmp_path: Path
) -> None:
    assert "#SBATCH --array=1-3\n" in written(ten, target, shards=3)["slurm.sh"]
    out = tmp_path / "out"
    (out / "run-2.sh").write_text('echo shard 2 "$@"\n')
    ran = shell(out / "slurm.sh", "x y", SLURM_SUBMIT_DIR=out, SLURM_ARRAY_TASK_ID=2)
    assert ran.stdout == "shard 2 x y\n"


@pytest.mark.parametrize(
    ("target", "chosen", "is_cold"),
    [
        ("macsim", {}, True),
        ("macsim", {"caches": "after:16"}, False),
        ("macsim", {"caches": "after:2"}, True),
        ("macsim", {"cold_check": 6}, False),
        ("accel-sim", {"traces": "t"}, False),
        ("accel-sim", {"traces": "t", "caches": "cold"}, True),
        ("ncu", {}, False),
    ],
)
def test_what_starts_cold_is_known_beforehand(target: str, chosen: dict[str, Any], is_cold: bool) -> None:
    assert starts_cold(target, ExportChoices(**chosen)) == is_cold
