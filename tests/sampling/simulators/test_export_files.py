"""What all exports have in common: scripts that a shell accepts, a manifest, a page, choices that fit."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile
from sampling.profile.identity import SequenceFingerprint
from sampling.simulators.export import ExportChoices
from sampling.simulators.profilers import name_pattern
from sampling.simulators.registry import export_plan, exporter_named, exporter_names, starts_cold
from tests.sampling.simulators.conftest import Write, launch, plan_of, shell, stratum

FOLDERS = [name for name in exporter_names() if name != "csv"]
KEEPS_ORDER = ["accel-sim", "macsim", "mgpusim"]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_there_is_every_target() -> None:
    assert set(exporter_names()) == {"csv", "accel-sim", "macsim", "mgpusim", "ncu", "nvbit", "rocprofv3"}
    with pytest.raises(OptionError, match="did you mean 'macsim'"):
        exporter_named("macsin")
    with pytest.raises(OptionError, match=r"PTX mode runs the program itself .* export for accel-sim"):
        exporter_named("gpgpu-sim")


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("target", FOLDERS)
def test_scripts_are_accepted_by_the_shell(
    ten: PlanFile, target: str, shards: int, written: Write, tmp_path: Path
) -> None:
    files = written(ten, target, shards=shards)
    scripts = [name for name in files if name.endswith(".sh")]
    assert {"run.sh"} if shards == 1 else {"run-1.sh", "run-2.sh", "slurm.sh"} <= set(scripts)
    for name in scripts:
        subprocess.run(["sh", "-n", str(tmp_path / "out" / name)], check=True)
        assert files[name].startswith("#!/bin/sh\n")
        assert "\nset -eu\n" in files[name]


@pytest.mark.parametrize("target", FOLDERS)
def test_the_manifest_has_every_launch_with_its_weight(ten: PlanFile, target: str, written: Write) -> None:
    manifest = rows(written(ten, target, shards=2)["manifest.csv"])
    weights = {each.id: each.weight for each in ten.drawn}
    assert {int(row["id"]): float(row["weight"]) for row in manifest} == weights
    assert {int(row["id"]): int(row["stratum"]) for row in manifest} == {2: 0, 8: 0, 9: 0, 4: 1, 5: 2}
    assert {row["shard"] for row in manifest} == {"1", "2"}
    assert [row["name"] for row in manifest if row["id"] == "2"] == ["a(int)"]
    assert [(row["grid"], row["block"]) for row in manifest if row["id"] == "5"] == [("", "")]


@pytest.mark.parametrize("target", KEEPS_ORDER)
def test_the_manifest_of_a_simulator_is_in_the_order_of_the_run(
    ten: PlanFile, target: str, written: Write
) -> None:
    manifest = rows(written(ten, target, caches="after:1")["manifest.csv"])
    assert [int(row["id"]) for row in manifest] == [1, 2, 3, 4, 5, 7, 8, 9]
    assert [int(row["order"]) for row in manifest] == list(range(1, 9))
    warm_ups = [row for row in manifest if row["warm_up"] == "1"]
    assert [row["id"] for row in warm_ups] == ["1", "3", "7"]
    assert all((row["weight"], row["stratum"], row["name"]) == ("0", "", "") for row in warm_ups)


@pytest.mark.parametrize("target", FOLDERS)
def test_the_page_says_how_ids_count_and_whether_it_was_tried(
    ten: PlanFile, target: str, written: Write
) -> None:
    page = " ".join(written(ten, target)["README.txt"].split())
    note = exporter_named(target).note
    assert note in page
    assert "count" in note
    assert ("not run against it" in note) or ("run against" in note)
    assert "5 launches of a plan" in page
    assert ("best simulated" in page) == (target in KEEPS_ORDER)


@pytest.mark.parametrize(
    ("target", "choice"),
    [
        ("csv", "caches"),
        ("macsim", "config"),
        ("nvbit", "traces"),
        ("rocprofv3", "trace_before"),
        ("macsim", "drop_copies"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(ten: PlanFile, target: str, choice: str) -> None:
    chosen = {
        "traces": ExportChoices(traces="traces"),
        "caches": ExportChoices(caches="after:1"),
        "config": ExportChoices(traces="traces", config="gpgpusim.config"),
        "trace_before": ExportChoices(trace_before=4),
        "drop_copies": ExportChoices(traces="traces", drop_copies=True),
    }
    with pytest.raises(OptionError, match=f"`{choice}` means nothing to {target}"):
        export_plan(ten, target, chosen[choice])


def test_copies_can_be_dropped_only_where_traces_list_them() -> None:
    with pytest.raises(OptionError, match="`drop_copies` leaves out copies that `traces` list"):
        ExportChoices(drop_copies=True)


@pytest.mark.parametrize("target", FOLDERS)
def test_processes_and_devices_have_a_folder_each(target: str, written: Write, tmp_path: Path) -> None:
    both = [launch(3, 0, "a", id=3), launch(3, 0, "a", id=9, device=1)]
    files = written(plan_of(stratum("a", 12, 1, 1, both)), target)
    for device, launch_id in ((0, 3), (1, 9)):
        folder = f"process-0-device-{device}"
        (row,) = rows(files[f"{folder}/manifest.csv"])
        assert (row["id"], row["device"], row["ordinal"]) == (str(launch_id), str(device), "3")
        assert f"{folder}/run.sh" in files
    # What is new of a plan that was topped up may be of one alone.
    new = structs.replace(plan_of(stratum("a", 12, 1, 1, both)), simulated=(9,))
    assert "process-0-device-0/manifest.csv" in written(new, target)
    assert "2 processes and devices" in files["README.txt"]
    assert ("Run a process a device" in files["README.txt"]) == (target in {"accel-sim", "macsim", "nvbit"})


def test_a_device_that_the_plan_leaves_out_counts_too(ten: PlanFile, written: Write) -> None:
    """The tool counts its launches as well, though none of them is drawn."""
    sequences = tuple(SequenceFingerprint(0, device, 10, "") for device in (0, 1))
    profile = structs.replace(ten.profile, sequences=sequences)
    page = written(structs.replace(ten, profile=profile), "nvbit")["README.txt"]
    assert "Process 0 used 2 devices" in page


@pytest.mark.parametrize("target", FOLDERS)
def test_the_job_array_runs_a_shard_a_task(
    ten: PlanFile, target: str, written: Write, tmp_path: Path
) -> None:
    files = written(ten, target, shards=3)
    assert "#SBATCH --array=1-3\n" in files["slurm.sh"]
    out = tmp_path / "out"
    for number in (1, 2, 3):
        (out / f"run-{number}.sh").write_text(f'echo shard {number} "$@"\n')
        ran = shell(out / "slurm.sh", "x y", SLURM_SUBMIT_DIR=out, SLURM_ARRAY_TASK_ID=number)
        assert ran.stdout == f"shard {number} x y\n"


def test_a_script_that_runs_a_program_wants_one(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "ncu")
    ran = shell(tmp_path / "out" / "run.sh")
    assert ran.returncode == 2
    assert "PROGRAM [ARGUMENT...]" in ran.stderr


def test_csv_is_in_the_order_of_simulating_and_takes_shards(ten: PlanFile, written: Write) -> None:
    assert [row["id"] for row in rows(written(ten, "csv")["launches.csv"])] == ["5", "4", "2", "8", "9"]
    files = written(ten, "csv", shards=2)
    assert [[row["id"] for row in rows(files[f"launches-{number}.csv"])] for number in (1, 2)] == [
        ["5"],
        ["4", "2", "8", "9"],
    ]


def test_a_pattern_has_no_sign_that_a_tool_or_shell_reads() -> None:
    name = "void at::f<(int)4, 'x\"$`*>(float *)\u00e9"
    assert name_pattern(name) == "^void.at..f..int.4...x......float....+$"


@pytest.mark.parametrize("target", FOLDERS)
def test_communication_kernels_are_pointed_out_where_they_hang(target: str, written: Write) -> None:
    nccl = [launch(place, place, "ncclDevKernel_SendRecv(args)") for place in (3, 7)]
    page = written(plan_of(stratum("nccl", 8, 1, 1, nccl)), target)["README.txt"]
    assert ("2 of them are of communication kernels" in page) == (target in {"accel-sim", "macsim", "nvbit"})


def test_a_check_is_drawn_of_a_whole_plan(ten: PlanFile) -> None:
    with pytest.raises(OptionError, match="`cold_check` is drawn of a whole plan"):
        export_plan(structs.replace(ten, simulated=(2,)), "macsim", ExportChoices(cold_check=3))


@pytest.mark.parametrize(
    ("target", "chosen", "is_cold"),
    [
        ("macsim", {}, True),
        ("macsim", {"caches": "after:16"}, False),
        ("macsim", {"caches": "after:2"}, True),
        ("macsim", {"cold_check": 6}, False),
        ("accel-sim", {"traces": "t"}, False),
        ("accel-sim", {"traces": "t", "caches": "cold"}, True),
        ("csv", {}, False),
        ("ncu", {}, False),
    ],
)
def test_what_starts_cold_is_known_beforehand(target: str, chosen: dict[str, Any], is_cold: bool) -> None:
    assert starts_cold(target, ExportChoices(**chosen)) == is_cold


def test_what_is_checked_is_recorded_once(ten: PlanFile, written: Write) -> None:
    files = written(ten, "macsim", cold_check=99)
    assert "Traces 10 launches" in files["trace.sh"]
    assert files["sampled_kernels_info.txt"].split("\n")[2:-1] == [
        "6 3 2 8 9",
        "3 1 4",
        "1 1 5",
        "0 5 0 1 3 6 7",
    ]
    page = " ".join(files["README.txt"].split())
    assert "5 launches of a plan" in page
    assert "5 of them run a second time, after the 16 launches before each" in page
