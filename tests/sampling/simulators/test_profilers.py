"""A plan for what measures a running program: which launches each run of ncu, nvbit and rocprofv3 takes."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import sampling
from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.profilers import Run, iterations, kernel_ids, plan_runs
from tests.sampling.simulators.conftest import Write, launch, program, shell

#: What a stand-in for ncu is started with, one word a line, and a line for its end.
ECHO = 'for word in "$@"; do echo "$word"; done; echo end'


def runs(folder: Path, name: str) -> list[list[str]]:
    """The words of each run of a script, from the device on."""
    ncu = program(folder / "ncu", ECHO)
    ran = shell(folder / "out" / name, "prog", "x y", NCU=ncu, NCU_OPTIONS="--set full", RESULTS=folder / "r")
    assert ran.returncode == 0, ran.stderr
    found: list[list[str]] = [[]]
    for line in ran.stdout.splitlines()[:-1]:
        found[-1 if line != "end" else len(found) :] = [[]] if line == "end" else [[*found[-1], line]]
    assert all(words[:2] == ["--set", "full"] for words in found[:-1])
    assert all(words[-2:] == ["prog", "x y"] for words in found[:-1])
    return [words[words.index("--devices") : -2] for words in found[:-1]]


def test_a_run_takes_several_kernels_with_occurrences_from_1(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    manifest = written(ten, "ncu")["manifest.csv"]
    common = ["--devices", "0", "--filter-mode", "per-launch-config", "--kernel-name-base", "demangled"]
    assert runs(tmp_path, "run.sh") == [
        [*common, "--kernel-id", r"::regex:(^|\W)(a|b|c)(\W|$):^(1|2|5|6)$"],
    ]
    rows = list(csv.DictReader(manifest.splitlines()))
    assert {(row["simulator_id"], row["report"]) for row in rows} == {
        (number, "kernel-1") for number in "1256"
    }


def measured(runs: list[Run]) -> int:
    return sum(len(run.numbers) * len(run.kernels) for run in runs)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.integers(1, 2), st.integers(0, 300)), min_size=1, unique=True
    )
)
def test_runs_measure_all_that_is_drawn_and_no_more_than_they_are_worth(
    drawn: list[tuple[str, int, int]],
) -> None:
    launches = [
        launch(place, occurrence, name, grid=(size, 1, 1))
        for place, (name, size, occurrence) in enumerate(drawn)
    ]
    numbers = {launch.id: launch.occurrence + 1 for launch in launches}
    runs = plan_runs(launches, numbers)
    of_runs = [launch.id for run in runs for launch in run.launches]
    assert sorted(of_runs) == [launch.id for launch in launches]
    for run in runs:
        assert {numbers[launch.id] for launch in run.launches} == run.numbers
        names = {launch.name for launch in run.launches}
        assert all(re.search(run.pattern, f"void ns::{name}<int>(float)") for name in names)
        assert not any(re.search(run.pattern, f"void {name}x<int>({name}_t)") for name in names)
    alone = [
        run
        for name, _, _ in drawn
        for run in plan_runs([its for its in launches if its.name == name], numbers)
    ]
    by_name = {run.launches[0].name: run for run in alone}
    assert len(runs) <= len(by_name)
    assert measured(runs) <= measured([*by_name.values()]) + 100 * (len(by_name) - len(runs))


def test_a_run_a_range_of_positions_from_0(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    """Launches 2, 4, 5, 8, 9: after two launches one, after four two, after eight two."""
    written(ten, "ncu")
    common = ["--devices", "0", "--filter-mode", "per-gpu", "--launch-skip"]
    assert runs(tmp_path, "run-by-position.sh") == [
        [*common, "2", "--launch-count", "1"],
        [*common, "4", "--launch-count", "2"],
        [*common, "8", "--launch-count", "2"],
    ]


def test_names_that_stay_mangled_are_looked_for_as_such_and_many_numbers_are_split() -> None:
    launches = [launch(place, place, "_Zbad") for place in range(2001)]
    first, second = kernel_ids(plan_runs(launches, {its.id: its.occurrence + 1 for its in launches}))
    assert r"--kernel-name-base mangled --kernel-id '::regex:(^|\W)(_Zbad)(\W|$):^(1|2|3|" in first
    assert first.endswith("|2000)$'")
    assert second.endswith(":^(2001)$'")


def test_mangled_names_and_others_have_runs_of_their_own() -> None:
    """ncu looks for the names of a run in one spelling."""
    launches = [launch(0, 0, "_Zbad"), launch(1, 0, "f"), launch(2, 0, "_Z1gv")]
    runs = plan_runs(launches, dict.fromkeys(range(3), 1))
    assert [sorted(launch.id for launch in run.launches) for run in runs] == [[0], [1, 2]]


def test_the_names_of_a_run_fit_into_a_word_of_a_command() -> None:
    launches = [launch(place, 0, f"triton_{'fused_' * 12}{place}") for place in range(3000)]
    options = kernel_ids(plan_runs(launches, dict.fromkeys(range(3000), 1)))
    # The most bytes that Linux takes in one.
    assert max(len(word) for option in options for word in shlex.split(option)) < 131_072


def test_launches_of_all_sizes_are_measured_once_where_numbers_count_these_together() -> None:
    launches = [launch(place, 0, "f", grid=(place + 1, 1, 1)) for place in range(4)]
    numbers = {place: place + 1 for place in range(4)}
    assert plan_runs(launches, numbers)[0].measured == 16
    assert plan_runs(launches, numbers, by_size=False)[0].measured == 4


def test_the_program_is_run_once_a_range(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    sharded = written(ten, "nvbit", shards=2)
    assert (sharded["ranges-1.txt"], sharded["ranges-2.txt"]) == ("5 6\n", "2 3\n4 5\n8 10\n")
    assert "START_GRID_NUM=2 END_GRID_NUM=10" in written(ten, "nvbit")["README.txt"]
    (tmp_path / "count.so").touch()
    counted = program(
        tmp_path / "counted", 'cat; echo "$START_GRID_NUM $END_GRID_NUM ${CUDA_INJECTION64_PATH##*/} $1"'
    )
    ran = shell(tmp_path / "out" / "run.sh", counted, "x y", TOOL=tmp_path / "count.so")
    assert ran.returncode == 0, ran.stderr
    results = tmp_path / "out" / "results"
    assert {file.name: file.read_text() for file in results.iterdir()} == {
        "launches-2-3.txt": "2 3 count.so x y\n",
        "launches-4-6.txt": "4 6 count.so x y\n",
        "launches-8-10.txt": "8 10 count.so x y\n",
    }


HEADER = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
    "Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
)


def of_launches(folder: Path, kernels: list[tuple[str, int]], devices: int = 1) -> PlanFile:
    """A plan of a profile with these names and grids, on devices in turn, in which all launches are drawn."""
    path = folder / "trace.csv"
    lines = [
        f"{1000 * place},{10 + place},{place},{grid},1,1,64,1,1,32,0.000,0.000,,,,,"
        f'GPU ({place % devices}),1,7,"{name}"\n'
        for place, (name, grid) in enumerate(kernels)
    ]
    path.write_text(HEADER + "".join(lines))
    request = sampling.PlanRequest(method="random", set=(f"random.launches={len(kernels)}",))
    made = sampling.make_plan(sampling.read_profile(path), request)
    target = folder / "plan.json"
    sampling.write_plan(made, str(target))
    return sampling.read_plan(str(target))


@pytest.mark.parametrize("is_there", [True, False])
def test_iterations_count_from_1_where_the_profile_tells(
    written: Write, tmp_path: Path, is_there: bool
) -> None:
    plan = of_launches(tmp_path, [("f(int)", 1), ("f(int)", 2), ("g", 1), ("f(int)", 1)])
    (of_all,) = plan.strata
    some = tuple(each for each in of_all.launches if each.id in {0, 1, 3})
    if not is_there:
        (tmp_path / "trace.csv").unlink()
    files = written(structs.replace(plan, strata=(structs.replace(of_all, launches=some),)), "rocprofv3")
    rocprof = program(tmp_path / "rocprofv3", 'for word in "$@"; do echo "$word"; done')
    ran = shell(tmp_path / "out" / "run.sh", "prog", "x y", ROCPROFV3=rocprof, RESULTS=tmp_path / "r")
    words = ran.stdout.splitlines()
    chosen = ["--kernel-iteration-range", "[1-3]"] if is_there else []
    assert words[:-1] == [
        *("--pmc", "SQ_WAVES", "--output-format", "csv", "-d", str(tmp_path / "r"), "-o", "kernel-1"),
        *("--kernel-include-regex", r"(^|\W)(f)(\W|$)", *chosen, "--", "prog", "x y"),
    ]
    assert ("\n3,3,0," in files["manifest.csv"]) == is_there
    assert ("It is not known" in files["README.txt"]) != is_there


@pytest.mark.parametrize("is_there", [True, False])
def test_dispatches_of_rocprof_compute_count_from_0_within_a_kernel(
    written: Write, tmp_path: Path, is_there: bool
) -> None:
    """rocprof-compute adds 1 to ``A``, and hands ``A:B`` on as A + 1 to B."""
    plan = of_launches(tmp_path, [("_Z1fi", 1), ("_Z1fi", 2), ("g", 1), ("_Z1fi", 1), ("_Z1fi", 1)])
    (of_all,) = plan.strata
    some = tuple(launch for launch in of_all.launches if launch.id in {0, 3, 4})
    if not is_there:
        (tmp_path / "trace.csv").unlink()
    part = structs.replace(plan, strata=(structs.replace(of_all, launches=some),))
    files = written(part, "rocprof-compute")
    tool = program(tmp_path / "rocprof-compute", 'printf "%s\\n" "$@"')
    ran = shell(tmp_path / "out" / "run.sh", "prog", "x y", ROCPROF_COMPUTE=tool, RESULTS=tmp_path / "r")
    assert ran.stdout.splitlines()[:-1] == [
        *("profile", "--no-roof", "-n", "kernel-1", "-p", str(tmp_path / "r" / "kernel-1")),
        *("-k", r"(^|\W)(f)(\W|$)", *(["-d", "0", "2:4"] if is_there else []), "--", "prog", "x y"),
    ]
    assert ("\n4,4,0," in files["manifest.csv"]) == is_there
    assert ("It is not known" in files["README.txt"]) != is_there


@pytest.mark.parametrize("name", ["f(int)", "f(int) [clone .kd]", "f.kd", "ns::f<4>(float*)", "_Z1fi"])
def test_a_kernel_is_found_in_any_spelling(name: str) -> None:
    (run,) = plan_runs([launch(0, 0, name), launch(1, 0, "other")], {0: 1, 1: 1})
    pattern = re.compile(run.pattern)
    assert all(pattern.search(text) for text in ("f", "f.kd", "void (anonymous namespace)::f<(int)4>(X)"))
    assert not any(pattern.search(text) for text in ("xf(int)", "fx", "f_2<int>()", "void g<f4>()"))


@given(
    kernels=st.lists(st.tuples(st.sampled_from("fg"), st.integers(1, 2)), min_size=4, max_size=20),
    devices=st.integers(1, 2),
)
def test_any_order_of_sizes(
    tmp_path_factory: pytest.TempPathFactory, kernels: list[tuple[str, int]], devices: int
) -> None:
    plan = of_launches(tmp_path_factory.mktemp("profile"), kernels, devices)
    found, why_not = iterations(plan)
    assert not why_not
    assert len(plan.drawn) == len(kernels)
    for each in plan.drawn:
        names = [name for name, _ in kernels[each.device :: devices]]
        assert found[each.id] == names[: each.ordinal + 1].count(each.name)


def test_a_set_is_what_the_script_measures_and_the_page_says_what_it_takes(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    files = written(ten, "ncu", metric_set="memory,sm__cycles_active.avg")
    ncu = program(tmp_path / "ncu", ECHO)
    ran = shell(tmp_path / "out" / "run.sh", "prog", NCU=ncu, RESULTS=tmp_path / "r")
    words = ran.stdout.splitlines()
    measured = words[words.index("--metrics") + 1].split(",")
    assert {"gpu__time_duration.sum", "dram__bytes_read.sum", "sm__cycles_active.avg"} <= {*measured}
    # Each report becomes a page beside it, which is what `estimate` reads.
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["kernel-1.csv"]
    assert (tmp_path / "r" / "kernel-1.csv").read_text().split()[:2] == [
        "--import",
        f"{tmp_path}/r/kernel-1.ncu-rep",
    ]
    # Of three kernels the launches 1, 2, 5 and 6; four counters of a unit at once.
    said = " ".join(files["README.txt"].split())
    # Of three kernels these would be 12, and the program launches 10.
    of_them = "at most 10 launches, of which the plan draws 5"
    # A run of 14 us, and 12 launches that last 1,260 ns in the mean of those drawn.
    about_s = (ten.profile.total_duration_ns + 12 * 1260) / 1e9
    cost = f"about 1 pass over {of_them}: about {about_s:.3g} s of the GPU's time"
    assert f"It takes 1 run of the program and {cost}" in said
    shared = written(ten, "ncu", metric_set="memory", shards=2)["README.txt"]
    assert "It takes 2 runs of the program" in " ".join(shared.split())
    assert "It takes" not in written(ten, "ncu")["README.txt"]
    with pytest.raises(OptionError, match="there is no such set"):
        written(ten, "ncu", metric_set="rooflin")
    with pytest.raises(OptionError, match="means nothing to nvbit"):
        written(ten, "nvbit", metric_set="memory")


def test_groups_of_counters_are_runs_of_rocprofv3(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "rocprofv3", metric_set="memory")
    rocprof = program(tmp_path / "rocprofv3", 'echo "$*"')
    ran = shell(tmp_path / "out" / "run.sh", "prog", ROCPROFV3=rocprof, RESULTS=tmp_path / "r")
    lines = ran.stdout.splitlines()[:-1]
    groups = [line.partition("--pmc ")[2].partition(" --kernel")[0] for line in lines]
    assert groups == ["FETCH_SIZE", "WRITE_SIZE", "TCC_HIT_sum TCC_MISS_sum", "TCP_TOTAL_CACHE_ACCESSES_sum"]
    names = [line.partition("-o ")[2].split()[0] for line in lines]
    assert names == ["kernel-1-1", "kernel-1-2", "kernel-1-3", "kernel-1-4"]
