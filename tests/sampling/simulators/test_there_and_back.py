"""What is exported and simulated comes back: every drawn launch with its own cycles."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import ExportChoices
from sampling.simulators.measured_run import kind_of_caches
from sampling.simulators.registry import export_plan
from sampling.simulators.results import read_result_files

NAMES = "abaabcabaa"


def accel_sim(numbers: list[int], first_cycles: int) -> str:
    """What the simulator prints of a list; launches take one cycle more each."""
    text, total = "Accel-Sim [build 1]\n", 0
    for uid, number in enumerate(numbers, start=1):
        name, cycles = NAMES[number - 1], first_cycles + uid
        name = "a(int)" if name == "a" else name
        grid = {"a(int)": 8, "b": 4, "c": 2}[name]
        total += cycles
        text += (
            f"Processing kernel traces/kernel-{number}.traceg\n-kernel name = {name}\n-kernel id = {number}\n"
            f"-grid dim = ({grid},1,1)\n-block dim = (128,1,1)\n"
            f"launching kernel name: {name} uid: {uid} cuda_stream_id: 0\n"
            f"kernel_name = {name} \nkernel_launch_uid = {uid} \ngpu_sim_cycle = {cycles}\n"
            f"gpu_sim_insn = 9\ngpu_tot_sim_cycle = {total}\ngpgpu_simulation_rate = 9 (inst/sec)\n"
        )
    return text


def macsim(numbers: list[int], warps: list[int]) -> str:
    """What the simulator prints of a list of kernels."""
    text, cycle = "Arguments: ./macsim \n", 0
    for place, number in enumerate(numbers):
        text += (
            f"setup_process:0 traces/Kernel{number}/trace.txt current_index:{place} (9)\n"
            f"thread_count: {warps[place]}\n"
        )
        cycle += 100 + place
        text += f"**Core 00 Thread 00 Finished:   insts:13    cycles:{cycle}   (9)\n" * warps[place]
    return text


@pytest.mark.parametrize(
    ("shards", "caches"),
    [(1, "cold"), (3, "cold"), (2, "after:1"), (1, "after:3")],
)
def test_what_is_exported_and_simulated_comes_back(
    ten: PlanFile, tmp_path: Path, shards: int, caches: str
) -> None:
    """Warm-ups may be drawn launches too, and take other cycles there."""
    files = dict(export_plan(ten, "accel-sim", ExportChoices(shards=shards, caches=caches)))
    lists = sorted(name for name in files if name.startswith("kernelslist"))
    assert len(lists) == shards
    paths = []
    for shard, name in enumerate(lists, start=1):
        numbers = [int(each) for each in re.findall(r"^kernel-(\d+)", files[name], re.MULTILINE)]
        (tmp_path / name).write_text(accel_sim(numbers, 1000 * shard))
        paths.append(str(tmp_path / name))
    (tmp_path / "manifest.csv").write_text(files["manifest.csv"])
    rows = list(csv.DictReader(files["manifest.csv"].splitlines()))
    truth = {
        int(row["id"]): 1000 * int(row["shard"]) + int(row["order"]) for row in rows if row["warm_up"] == "0"
    }
    found = read_result_files(ten, paths, manifests=[str(tmp_path / "manifest.csv")])
    assert dict(zip(found.ids.tolist(), found.metrics["cycles"].tolist(), strict=True)) == truth
    assert len(truth) == len(ten.drawn)
    if caches == "cold":
        # The numbers of the traces are enough.
        assert read_result_files(ten, paths).metrics["cycles"].tolist() == found.metrics["cycles"].tolist()


@pytest.mark.parametrize("target", ["accel-sim", "macsim", "csv"])
def test_launches_that_are_checked_come_back_both_ways(ten: PlanFile, tmp_path: Path, target: str) -> None:
    """Cold ones took 1,001 cycles and more in the order of their list, the same of the check 2,001."""
    files = dict(export_plan(ten, target, ExportChoices(cold_check=3)))
    truth: dict[str, dict[int, int]] = {"0": {}, "1": {}}
    paths = [str(tmp_path / "1"), str(tmp_path / "2")]
    manifests = [str(tmp_path / "manifest.csv")]
    if target == "csv":
        head, *rows = files["launches.csv"].splitlines()
        cells = [dict(zip(head.split(","), row.split(","), strict=True)) for row in rows]
        for place, row in enumerate(cells):
            truth["1" if row["weight"] == "0" else "0"][int(row["id"])] = 1001 + place
        lines = [f"{row},{1001 + place}" for place, row in enumerate(rows)]
        Path(paths[0]).write_text("\n".join([f"{head},cycles", *lines, ""]))
        paths, manifests = paths[:1], []
    else:
        cells = list(csv.DictReader(files["manifest.csv"].splitlines()))
        Path(manifests[0]).write_text(files["manifest.csv"])
        for shard, path in enumerate(paths, start=1):
            rows_of = [row for row in cells if row["shard"] == str(shard)]
            numbers = [int(re.sub(r"\D", "", row["simulator_id"])) for row in rows_of]
            if target == "accel-sim":
                Path(path).write_text(accel_sim(numbers, 1000 * shard))
                cycles = range(1000 * shard + 1, 1000 * shard + 99)
            else:
                warps = [{"a": 32, "b": 16, "c": 8}[NAMES[number]] for number in numbers]
                Path(path).write_text(macsim(numbers, warps))
                cycles = range(100, 199)
            for row, count in zip(rows_of, cycles, strict=False):
                if row["warm_up"] == "0":
                    truth[str(shard - 1)][int(row["id"])] = count
    weighed = [row for row in cells if row.get("warm_up", "0") == "0"]
    assert sorted(row["caches"] for row in weighed) == ["after:16"] * 3 + ["cold"] * 5
    assert all(float(row["weight"]) == 0 for row in weighed if row["caches"] == "after:16")
    found = read_result_files(ten, paths, manifests=manifests)
    assert dict(zip(found.ids.tolist(), found.metrics["cycles"].tolist(), strict=True)) == truth["0"]
    again = found.again
    assert again is not None
    assert dict(zip(again.ids.tolist(), again.metrics["cycles"].tolist(), strict=True)) == truth["1"]
    assert set(found.caches) == {"cold"}
    assert {kind_of_caches(state) for state in again.caches} == {"filled"}
    assert len(truth["1"]) == 3
