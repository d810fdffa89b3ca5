"""`export`: the folder of every target, its options, and what is refused; `align` with its trace."""

from __future__ import annotations

import csv
import os
import re
import shlex
from pathlib import Path

import pytest

from sampling.simulators.registry import exporter_names
from tests.cli.conftest import JSON, Kernelpoint, cycles_of, drawn_of, results
from tests.sampling.simulators.conftest import program, shell


@pytest.mark.parametrize("target", exporter_names())
def test_every_target_has_a_folder_and_says_how_ids_count(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, target: str
) -> None:
    folder = tmp_path / "made" / "here"
    run = kernelpoint("export", plan_file, "--to", target, "-o", folder, *JSON)
    assert run.code == 0, run.err
    there = {str(path) for path in folder.rglob("*") if path.is_file()}
    assert (run.results["launches"], run.results["beside"]) == (len(drawn_of(plan_file)), 0)
    assert set(run.results["files"]) == there
    assert "count" in run.err
    scripts = [path for path in there if path.endswith(".sh")]
    assert all(os.access(path, os.X_OK) for path in scripts)
    assert bool(scripts) == (target != "csv")


@pytest.mark.parametrize("given", ["file", "pipe"])
def test_the_folder_has_the_plan_and_is_enough_for_an_estimate(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, given: str
) -> None:
    folder, text = tmp_path / "made", plan_file.read_text()
    plan, stdin = (plan_file, b"") if given == "file" else ("-", text.encode())
    assert kernelpoint("export", plan, "--to", "macsim", "-o", folder, stdin=stdin).code == 0
    assert (folder / "plan.json").read_text() == text
    assert (folder / "README.txt").read_text().endswith("\n    kernelpoint estimate . run*/run.log\n")
    table = cycles_of(plan_file, tmp_path / "cycles.csv")
    by_folder, by_plan = (kernelpoint("estimate", each, table).out for each in (folder, plan_file))
    # The manifest says more than a table of cycles: how the launches were run.
    assert by_folder.startswith("COLD ")
    assert "how launches found the caches is not known" in by_plan
    # Nothing is sure of it, and more such launches would not make it so.
    assert " sure)" not in by_folder
    assert f"Next: kernelpoint export {folder} --to accel-sim --traces DIR --caches warm -o " in by_folder


def test_the_list_on_stdout_and_what_is_overwritten_when_told(
    kernelpoint: Kernelpoint, plan_file: Path, here: Path
) -> None:
    (here / "plan.json").write_bytes(plan_file.read_bytes())
    assert kernelpoint("export", "plan.json", "-o", ".").code == 0
    assert {path.name for path in here.iterdir()} == {"plan.json", "launches.csv"}
    shown = kernelpoint("export", plan_file, "--to", "csv", "-o", "-")
    assert shown.stdout == (here / "launches.csv").read_bytes()
    strata = [row["stratum"] for row in shown.csv]
    assert len(set(strata[: len(set(strata))])) == len(set(strata)), "first one of each stratum"
    (here / "launches.csv").write_text("mine")
    assert "--force" in kernelpoint("export", plan_file, "-o", ".").failed(2)
    assert (here / "launches.csv").read_text() == "mine"
    assert kernelpoint("export", plan_file, "-o", ".", "--force").code == 0
    assert (here / "launches.csv").read_bytes() == shown.stdout


def test_no_spreadsheet_runs_a_kernels_name(kernelpoint: Kernelpoint, here: Path) -> None:
    (here / "run.csv").write_text("name,duration_ns\n=cmd|x,10\n")
    kernelpoint("sample", "run.csv", "-o", "plan.json")
    for target, table in (("csv", "launches.csv"), ("accel-sim", "manifest.csv")):
        assert kernelpoint("export", "plan.json", "--to", target, "-o", target).code == 0
        assert ",'=cmd|x" in (here / target / table).read_text()


def test_what_means_something_to_a_target_and_what_is_refused_by_its_flag(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    words = ("export", plan_file, "-o", tmp_path / "made", "--to")
    for more, said in (
        (("accel-sim", "--shards", "0"), "--shards is 1 or more"),
        (("accel-sim", "--shards", "100000"), "--shards 100000: there are "),
        (("ncu", "--caches", "cold"), "kernelpoint: error: --caches means nothing to ncu\n"),
        (("accel-sim", "--drop-copies"), "--drop-copies leaves out copies that --traces list"),
        (("ncuu",), "there is no exporter 'ncuu'; did you mean 'ncu'?"),
        (("accel-sim", "-o", "-"), "accel-sim writes"),
    ):
        assert said in kernelpoint(*words, *more).failed(2)
    names = {Path(path).name for path in results(kernelpoint, *words, "nvbit", "--shards", "3")["files"]}
    assert {"run-1.sh", "run-2.sh", "run-3.sh", "slurm.sh"} <= names
    words = (*words, "macsim", "--force")
    assert kernelpoint(*words).err.startswith("kernelpoint: launches start cold here, and a total of these")
    assert "start cold here" not in kernelpoint(*words, "--cold-check", "4").err
    assert "more than there are" not in kernelpoint(*words, "--cold-check", "4").out
    checked = " ".join(kernelpoint(*words, "--cold-check", "500").out.split())
    all_of_them = re.search(r"--cold-check 500 is more than there are: all (\d+) are checked\.", checked)
    assert all_of_them is not None
    assert (
        f"\nAll {all_of_them[1]} of them run a second time" in (tmp_path / "made" / "README.txt").read_text()
    )


def test_what_has_no_caches_says_nothing_of_them(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    words = ("export", plan_file, "--to", "mgpusim", "-o", folder)
    assert kernelpoint(*words).code == 0
    page = " ".join((folder / "README.txt").read_text().split())
    assert "It has no caches at that commit, so that it does not matter what ran before a launch." in page
    assert "too long" not in page
    assert "finds in the caches" not in page
    for choice in (("--caches", "after:4"), ("--cold-check", "4")):
        assert f"{choice[0]} means nothing to mgpusim" in kernelpoint(*words, *choice, "--force").failed(2)


def test_traces_that_do_not_fit_are_refused_and_nothing_is_written(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    words = ("export", plan_file, "--to", "accel-sim", "--traces", traces, "-o")
    assert "has no kernelslist.g" in kernelpoint(*words, tmp_path / "made").failed(3)
    (traces / "kernel-1.traceg").write_text("-kernel name = f\n")
    assert "which is not among the 1 trace" in kernelpoint(*words, tmp_path / "made").failed(3)
    assert not (tmp_path / "made").exists()
    assert "is in the folder" in kernelpoint(*words, traces / "chosen").failed(2)
    assert list(traces.iterdir()) == [traces / "kernel-1.traceg"]


STEP, LAST = ("void step<(int)4>(float *)", "_Z4stepILi4EEvPf"), ("last(const float *)", "_Z4lastPKf")
PROGRAM = [(STEP, 4), (LAST, 2), (STEP, 4), (STEP, 8), (LAST, 2), (STEP, 4)]


@pytest.fixture
def six(tmp_path: Path, kernelpoint: Kernelpoint) -> Path:
    """A plan of all launches of a recording of six."""
    profile, path = tmp_path / "profile.csv", tmp_path / "plan.json"
    rows = "".join(
        f'{1000 * place},{100 + place},{place},{grid},1,1,128,1,1,GPU (0),1,7,"{names[0]}"\n'
        for place, (names, grid) in enumerate(PROGRAM)
    )
    head = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n"
    profile.write_text(head + rows)
    assert kernelpoint("sample", profile, "--epsilon", "0.0001", "-o", path).code == 0
    return path


def traced(folder: Path, *numbers: int) -> Path:
    """The tracer's list of some launches, numbered anew."""
    path = folder / "stats.csv"
    sizes = [f" {shape}_dim{axis}" for shape in ("grid", "block") for axis in "XYZ"]
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["kernel id", " kernel mangled name", *sizes, " total_insts", " total_reported_insts"]
        )
        for number, place in enumerate(numbers, start=1):
            names, grid = PROGRAM[place]
            writer.writerow([f"kernel-{number}.trace", f" {names[1]}", grid, 1, 1, 128, 1, 1, 99, 99])
    return path


def test_align_finds_all_launches_or_names_those_that_are_missing(
    kernelpoint: Kernelpoint, six: Path, tmp_path: Path
) -> None:
    found = results(kernelpoint, "align", six, traced(tmp_path, *range(6)))
    assert (found["matched"], found["matched_by"]) == (6, "number")
    assert found["missing_in_trace"] == found["missing_in_profile"] == found["drawn_missing"] == []
    assert found["first_difference"] is None
    # A folder stands for the list in it.
    assert "6 launches are in both, by the trace's numbers" in kernelpoint("align", six, tmp_path).out
    found = results(kernelpoint, "align", six, traced(tmp_path, 0, 1, 2, 4, 5, 5), "--seed", "1")
    assert (found["matched"], found["matched_by"]) == (5, "order")
    missing = {"id": 3, "name": STEP[0], "grid": [8, 1, 1], "block": [128, 1, 1]}
    assert found["missing_in_trace"] == [missing]
    assert [each["number"] for each in found["missing_in_profile"]] in ([5], [6])
    assert found["first_difference"]["profile"]["id"] == 3
    assert found["first_difference"]["trace"]["number"] == 4
    words = ("align", six, traced(tmp_path, 0, 1, 2, 4, 5))
    text = kernelpoint(*words).out
    missing_in_trace = text.partition("missing in the trace: 1 launch\n")[2].split("\n")
    assert missing_in_trace[1].split() == ["3", "8x1x1", "128x1x1", "void", "step<(int)4>(float", "*)"]
    assert "where they part first, the profile above the trace:" in text
    numbers = [row["number"] for row in kernelpoint(*words, "--format", "csv").csv]
    assert numbers == ["1", "2", "3", "", "4", "5"]


def test_align_checks_how_much_is_in_both(kernelpoint: Kernelpoint, six: Path, tmp_path: Path) -> None:
    words = ("align", six, traced(tmp_path, 0, 1, 2))
    assert kernelpoint(*words).code == kernelpoint(*words, "--fail-below", "0.5").code == 0
    run = kernelpoint(*words, "--fail-below", "0.51")
    assert (run.code, run.out) == (4, kernelpoint(*words).out)
    assert run.err == (
        "kernelpoint: error: 3 of 6 launches of the profile are in the trace, fewer than 51.0 %\n"
    )
    assert "--fail-below is at most 1, not 2" in kernelpoint(*words, "--fail-below", "2").failed(2)
    path = traced(tmp_path, 0)
    path.write_text(path.read_text().replace("kernel-1.trace, ", "kernel-1.trace, other_"))
    for more in ((), ("--fail-below", "0")):
        run = kernelpoint("align", six, path, "--seed", "3", *more)
        assert run.code == 4
        assert run.err.endswith("error: 0 of 6 launches of the profile are in the trace\n")


def test_align_refuses_what_lists_nothing_and_a_plan_without_its_profile(
    kernelpoint: Kernelpoint, six: Path, tmp_path: Path
) -> None:
    trace = traced(tmp_path, 0)
    assert "--process" in kernelpoint("align", six, trace, "--device", "3").failed(2)
    for text in ("", "hello\n"):
        (tmp_path / "list").write_text(text)
        kernelpoint("align", six, tmp_path / "list", f"--seed={len(text)}").failed(3)
    (tmp_path / "profile.csv").unlink()
    assert "is not there" in kernelpoint("align", six, trace).failed(3)


#: Stands for the program under the tracer: it leaves a trace of each launch that the tracer is asked for.
TRACED = """\
for range in $DYNAMIC_KERNEL_RANGE; do
  for number in $(seq "${range%-*}" "${range#*-}"); do
    name=one; [ $((number % 2)) = 1 ] || name=two
    printf -- '-kernel name = %s\\n-kernel id = %s\\n' $name $number > "$TRACES_FOLDER/kernel-$number.traceg"
    echo "kernel-$number.traceg" >> "$TRACES_FOLDER/kernelslist.g"
  done
done"""
L2 = """\
-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_n_mem 4
-gpgpu_n_sub_partition_per_mchannel 2
"""
#: Stands for Accel-Sim: kernel one takes 300 cycles, kernel two 700
SIMULATED = """\
echo "Accel-Sim [build 1]"
for name in $(grep '^kernel' "$2"); do
  echo "Processing kernel $name"
  cat "${2%/*}/$name" || exit 8
  kernel=$(sed -n 's/-kernel name = //p' "${2%/*}/$name")
  cycles=300; [ $kernel = one ] || cycles=700
  printf 'launching kernel name: %s uid: 1 cuda_stream_id: 0\\nkernel_name = %s\\n' "$kernel" "$kernel"
  printf 'kernel_launch_uid = 1\\ngpu_sim_cycle = %s\\ngpu_sim_insn = 9\\n' $cycles
  printf 'gpu_tot_sim_cycle = %s\\ngpgpu_simulation_rate = 9 (inst/sec)\\n' $cycles
done"""


def test_traces_of_several_devices_are_looked_for_in_the_folder_of_all(
    kernelpoint: Kernelpoint, here: Path
) -> None:
    rows = [f"k,{100 + number},{number % 2}" for number in range(40)]
    Path("run.csv").write_text("\n".join(["name,duration_ns,device", *rows, ""]))
    assert kernelpoint("sample", "run.csv", "--each-rank", "-o", "plan.json").code == 0
    run = kernelpoint("export", "plan.json", "--to", "accel-sim", "-o", "chosen")
    assert "kernelpoint export chosen --to accel-sim --traces chosen -o simulate" in run.out, run.err


def test_what_is_to_be_done_next_leads_from_a_profile_to_the_total(
    kernelpoint: Kernelpoint, here: Path
) -> None:
    """A plan, its traces, what simulates them, the total: each command is the one that was printed before."""

    def next_after(words: list[object]) -> list[str]:
        run = kernelpoint(*words)
        assert run.code == 0, run.err
        return shlex.split(run.out[run.out.index("kernelpoint ", run.out.index("Next: ")) :])[1:]

    rows = [f"{('one', 'two')[number % 2]},{(100, 250)[number % 2] + number % 7}" for number in range(200)]
    Path("run.csv").write_text("\n".join(["name,duration_ns", *rows, ""]))
    Path("trace.config").touch()
    Path("gpgpusim.config").write_text(L2)
    Path("tracer_tool.so").write_text("DYNAMIC_KERNEL_RANGE")
    traced, simulator = program(here / "traced", TRACED), program(here / "accel-sim.out", SIMULATED)

    recorded = next_after(next_after(["sample", "run.csv", "-o", "plan.json"]))
    assert not Path("chosen", "run.sh").exists(), "there is nothing to run yet"
    record = {"TRACER": "tracer_tool.so", "POST_PROCESSING": "true"}
    assert shell(Path("chosen", "trace.sh"), traced, **record).returncode == 0
    assert "sh SIMULATE/run.sh" in Path("chosen", "README.txt").read_text()
    estimated = next_after([*recorded])
    settings = {"GPGPUSIM_CONFIG": "gpgpusim.config", "TRACE_CONFIG": "trace.config", "ACCELSIM": simulator}
    ran = shell(Path("simulate", "run.sh"), **settings)
    assert ran.returncode == 0, ran.stderr
    assert estimated[:2] == ["estimate", "simulate"]
    run = kernelpoint(*estimated[:2], ran.stdout.strip(), *JSON)
    assert run.code == 0, run.err
    assert run.results["metrics"][0]["total"] == pytest.approx(100 * 300 + 100 * 700, rel=0.01)
