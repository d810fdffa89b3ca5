"""Counters of a profiler joined to a plan's launches, against a program whose every launch was counted."""

from __future__ import annotations

import csv
import gzip
import re
import shlex
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sampling.errors import OptionError, ProfileError
from sampling.estimation.total import FEW_CARRY, POOLED, PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile
from sampling.readers import rocm_counters
from sampling.readers.registry import read_profile
from sampling.simulators import profilers
from sampling.simulators.export import ExportChoices, run_parts
from sampling.simulators.manifest import REPORT, manifest_text, read_manifest
from sampling.simulators.registry import export_plan, opened
from sampling.simulators.results import SimulatedLaunches, read_result_files
from tests.sampling.simulators.conftest import launch, plan_of
from tests.small_plans import stratum

SECTORS, TIME, RATE = "lts__t_sectors.sum", "gpu__time_duration.sum", "lts__t_sector_hit_rate.pct"
BYTES = "dram__bytes.sum"
NAMES = ("gemm", "void add<(int)4>(float *)", "scan")
GRIDS = ((8, 1, 1), (4, 4, 1))
#: Of each launch the kernel and the size, in program order; the id is the place.
PROGRAM = [(number * 7 % 3, number * 5 % 11 % 2) for number in range(60)]


def sectors(ordinal: int) -> float:
    return 1000.0 + 37 * ordinal


def hit_rate(ordinal: int) -> float:
    return float(ordinal % 90)


def occurrences() -> list[int]:
    seen: Counter[tuple[int, int]] = Counter()
    return [(seen.update([kernel]), seen[kernel] - 1)[1] for kernel in PROGRAM]


def drawn_plan(ordinals: Sequence[int]) -> PlanFile:
    """A plan that draws these launches, a stratum each kernel and size."""
    at = occurrences()
    strata = []
    for kernel in dict.fromkeys(PROGRAM):
        ids = [ordinal for ordinal in ordinals if PROGRAM[ordinal] == kernel]
        size = PROGRAM.count(kernel)
        rows = [
            launch(ordinal, at[ordinal], NAMES[kernel[0]], grid=GRIDS[kernel[1]], weight=size / len(ids))
            for ordinal in ids
        ]
        strata += [stratum(f"{kernel}", size, 100.0, 0.0, rows)] if rows else []
    return plan_of(*strata, method="root")


def page(path: Path, ordinals: Sequence[int], metrics: Sequence[str] = (SECTORS, TIME, RATE)) -> str:
    """Write the raw page of a run that profiled these launches, as ncu numbers them: from 0."""
    units = {SECTORS: "Ksector", TIME: "us", RATE: "%", BYTES: "Kbyte"}
    values = {
        SECTORS: lambda ordinal: f"{sectors(ordinal) / 1000:,.6f}",
        TIME: lambda _: "0.1",
        RATE: lambda ordinal: str(hit_rate(ordinal)),
        BYTES: lambda ordinal: str(ordinal + 1),
    }
    head = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream")
    with path.open("w", newline="") as file:
        file.write("==PROF== Connected to process 41\n")
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow((*head, "Block Size", "Grid Size", "Device", "CC", *metrics))
        writer.writerow(("",) * 11 + tuple(units[name] for name in metrics))
        for number, ordinal in enumerate(ordinals):
            kernel, size = PROGRAM[ordinal]
            name = NAMES[kernel].replace("(int)4", "int=4")
            cells = (number, 41, "prog", "host", name, 1, 7, "(128, 1, 1)", str(GRIDS[size]), 0, "9.0")
            writer.writerow((*cells, *(values[metric](ordinal) for metric in metrics)))
    return str(path)


def profiled_by(options: str) -> list[int]:
    """Which launches ncu profiles with these options, by its documentation."""
    words = shlex.split(options)
    if "--launch-skip" in words:
        first, count = (int(words[words.index(word) + 1]) for word in ("--launch-skip", "--launch-count"))
        return list(range(first, first + count))
    _, _, _, name, numbers = words[words.index("--kernel-id") + 1].split(":")
    return [
        ordinal
        for ordinal, (kernel, _) in enumerate(PROGRAM)
        if re.search(name, NAMES[kernel]) and re.search(numbers, str(occurrences()[ordinal] + 1))
    ]


def exported(folder: Path, plan: PlanFile, target: str = "ncu") -> dict[str, str]:
    """Write the manifest of an export; return the options of each report that its scripts write."""
    files = {name: str(content) for name, content in export_plan(plan, target, ExportChoices())}
    (folder / "results").mkdir(parents=True)
    (folder / "manifest.csv").write_text(files["manifest.csv"])
    scripts = "".join(text for name, text in files.items() if name.startswith("run"))
    return dict(re.findall(r"^profile ([\w-]+) (.*)", scripts, re.MULTILINE))


def counted_sectors(plan: PlanFile, paths: Sequence[str]) -> dict[int, float]:
    results = read_result_files(plan, paths)
    assert results.units[SECTORS] == "sector"
    return dict(zip(results.ids.tolist(), results.metrics[SECTORS].tolist(), strict=True))


draws = st.lists(st.integers(0, len(PROGRAM) - 1), min_size=1, max_size=25, unique=True)


@given(draws, st.sampled_from(["kernel", "range"]), st.sampled_from([0, 100]))
def test_each_row_of_exported_runs_is_its_launch(
    tmp_path_factory: pytest.TempPathFactory, ordinals: list[int], kind: str, worth: int
) -> None:
    """Whether a run of the program takes one kernel or many, and launches that are not drawn."""
    folder, plan = tmp_path_factory.mktemp("runs"), drawn_plan(ordinals)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profilers, "_A_RUN", worth)
        reports = exported(folder, plan)
    paths = [
        page(folder / "results" / f"{report}.csv", profiled_by(options))
        for report, options in reports.items()
        if report.startswith(kind)
    ]
    assert counted_sectors(plan, sorted(paths)) == {ordinal: sectors(ordinal) for ordinal in ordinals}
    if kind == "kernel":
        assert len(paths) <= (1 if worth else len({PROGRAM[ordinal][0] for ordinal in ordinals}))


def test_a_report_that_was_moved_from_its_export_needs_its_manifest(tmp_path: Path) -> None:
    """It has launches that are not drawn, which its manifest alone tells from the others."""
    plan = drawn_plan([3, 30])
    options = exported(tmp_path / "export", plan)["kernel-1"]
    moved = page(tmp_path / "kernel-1.csv", profiled_by(options))
    with pytest.raises(ProfileError, match="named as a report of an export is"):
        read_result_files(plan, [moved])
    manifests = [str(tmp_path / "export" / "manifest.csv")]
    results = read_result_files(plan, [moved], manifests=manifests)
    assert results.metrics[SECTORS].tolist() == [sectors(3), sectors(30)]


GEMM = [ordinal for ordinal, kernel in enumerate(PROGRAM) if kernel == PROGRAM[0]]


def of_whole_program(plan: PlanFile) -> PlanFile:
    """The plan, of a profile with all launches of the program."""
    return replace(plan, profile=replace(plan.profile, launches=len(PROGRAM)))


def test_of_an_export_in_an_export_the_nearest_manifest_counts(tmp_path: Path) -> None:
    """As after a top-up that was exported from within the first export's folder."""
    plan = replace(drawn_plan([GEMM[1], GEMM[4]]), simulated=(GEMM[4],))
    paths = []
    for folder, ordinal in ((tmp_path / "first", GEMM[4]), (tmp_path / "first" / "more", GEMM[1])):
        options = exported(folder, drawn_plan([ordinal]))["kernel-1"]
        paths.append(page(folder / "results" / "kernel-1.csv", profiled_by(options)))
    assert counted_sectors(plan, paths) == {ordinal: sectors(ordinal) for ordinal in (GEMM[1], GEMM[4])}


def test_more_launches_than_have_the_numbers_are_left_out(tmp_path: Path) -> None:
    """ncu counts launches with other shared memory by themselves, so that a number comes several times."""
    other = next(ordinal for ordinal, kernel in enumerate(PROGRAM) if kernel[0] == 2)
    plan = drawn_plan([GEMM[2], GEMM[5], other])
    exported(tmp_path, plan)
    rows = sorted([GEMM[2], GEMM[3], GEMM[5], GEMM[6], other])
    results = read_result_files(plan, [page(tmp_path / "results" / "kernel-1.csv", rows)])
    assert results.ids.tolist() == [other]
    assert any("rows do not tell which launches they are" in note for note in results.notes)


def test_a_page_that_began_later_is_said_to_be_taken_from_the_start(tmp_path: Path) -> None:
    plan = of_whole_program(drawn_plan([0, 6]))
    path = page(tmp_path / "window.csv", range(15, len(PROGRAM)))
    (note,) = (note for note in read_result_files(plan, [path]).notes if path in note)
    assert note.endswith("is taken to be of the program from its first launch on")
    whole = page(tmp_path / "whole.csv", range(len(PROGRAM)))
    assert not any(whole in note for note in read_result_files(plan, [whole]).notes)


def test_a_page_of_all_launches_is_taken_for_a_plan_that_was_topped_up(tmp_path: Path) -> None:
    plan = of_whole_program(replace(drawn_plan([3, 30]), simulated=(3,)))
    path = page(tmp_path / "kernel-1.csv", range(len(PROGRAM)))
    assert counted_sectors(plan, [path]) == {3: sectors(3), 30: sectors(30)}
    with pytest.raises(ProfileError, match="topped up"):
        read_result_files(plan, [page(tmp_path / "some.csv", range(len(PROGRAM) - 1))])


def two_ranks(ordinals: Sequence[int]) -> PlanFile:
    """A plan that draws these launches of either of two processes, both on device 0."""
    plan = drawn_plan(ordinals)
    strata = [
        replace(
            stratum,
            launches=tuple(
                replace(launch, process=rank, id=launch.id + rank * len(PROGRAM))
                for launch in stratum.launches
            ),
        )
        for rank in (0, 1)
        for stratum in plan.strata
    ]
    return plan_of(*strata, method="root")


def test_several_reports_of_an_export_are_all_of_its_process(tmp_path: Path) -> None:
    """The process has another number in each run of the program."""
    plan = two_ranks([3, 4, 30])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profilers, "_A_RUN", 0)
        files = {name: str(content) for name, content in export_plan(plan, "ncu", ExportChoices())}
    paths = []
    for name, script in files.items():
        if not name.endswith("/run.sh"):
            continue
        folder = tmp_path / Path(name).parent / "results"
        folder.mkdir(parents=True)
        (folder.parent / "manifest.csv").write_text(files[f"{Path(name).parent}/manifest.csv"])
        reports = re.findall(r"^profile ([\w-]+) (.*)", script, re.MULTILINE)
        assert len(reports) > 1
        paths += [page(folder / f"{report}.csv", profiled_by(options)) for report, options in reports]
    results = read_result_files(plan, paths)
    assert results.metrics[SECTORS].tolist() == [sectors(ordinal) for ordinal in (3, 4, 30)] * 2


@pytest.mark.parametrize("is_reversed", [False, True])
def test_pages_of_ranks_go_in_the_order_in_which_they_are_given(tmp_path: Path, is_reversed: bool) -> None:
    paths = [page(tmp_path / "b.csv", [GEMM[0]]), page(tmp_path / "a.csv", [GEMM[1]])]
    values = [sectors(GEMM[0]), sectors(GEMM[1])]
    results = read_result_files(two_ranks([GEMM[0]]), paths[::-1] if is_reversed else paths)
    assert results.metrics[SECTORS].tolist() == (values[::-1] if is_reversed else values)


@pytest.mark.parametrize("name", ["kernel-1.csv.gz", "kernel-1/pmc_perf.csv", "kernel-1_results.csv"])
def test_a_manifest_that_is_given_tells_a_report_wherever_it_lies(tmp_path: Path, name: str) -> None:
    plan = drawn_plan([3, 30])
    options = exported(tmp_path / "export", plan)["kernel-1"]
    path = tmp_path / "elsewhere" / name
    path.parent.mkdir(parents=True)
    content = Path(page(tmp_path / "page.csv", profiled_by(options))).read_bytes()
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    results = read_result_files(plan, [str(path)], manifests=[str(tmp_path / "export" / "manifest.csv")])
    assert results.metrics[SECTORS].tolist() == [sectors(3), sectors(30)]
    with pytest.raises(ProfileError, match="named as a report of an export is"):
        read_result_files(plan, [str(path)])


def test_a_report_is_told_from_one_whose_name_begins_like_it(tmp_path: Path) -> None:
    """Of shards, reports have two numbers; of one shard, groups of counters are numbered too."""
    (part,) = run_parts(drawn_plan([3, 30]), ExportChoices())
    report = {3: "kernel-1", 30: "kernel-1-1"}
    text = manifest_text(part, {3: 1, 30: 1}, "", {REPORT: report})
    (tmp_path / "manifest.csv").write_text(text)
    with opened([str(tmp_path / "manifest.csv")], "manifest") as (files, _):
        manifest = read_manifest(files[0])
    names = ("kernel-1.csv", "kernel-1-1.csv", "kernel-1-1_counters.csv", "kernel-12.csv", "x.csv")
    found = [manifest.report_of(str(tmp_path / "results" / name)) for name in names]
    assert found == ["kernel-1", "kernel-1-1", "kernel-1-1", "", ""]


def test_a_folder_of_results_is_what_was_written_there(tmp_path: Path) -> None:
    plan = drawn_plan([3, 30])
    options = exported(tmp_path, plan)["kernel-1"]
    with pytest.raises(ProfileError, match="has no results yet"):
        read_result_files(plan, [str(tmp_path)])
    page(tmp_path / "results" / "kernel-1.csv", profiled_by(options))
    (tmp_path / "results" / "kernel-1_agent_info.csv").write_text("Node_Id,Agent\n1,gfx90a\n")
    for folder in (tmp_path, tmp_path / "results"):
        assert counted_sectors(plan, [str(folder)]) == {3: sectors(3), 30: sectors(30)}


@given(draws)
def test_of_the_whole_program_each_occurrence_is_its_launch(
    tmp_path_factory: pytest.TempPathFactory, ordinals: list[int]
) -> None:
    path = page(tmp_path_factory.mktemp("whole") / "all.csv", range(len(PROGRAM)))
    assert counted_sectors(drawn_plan(ordinals), [path]) == {
        ordinal: sectors(ordinal) for ordinal in ordinals
    }


def test_passes_are_joined_and_the_first_of_two_values_counts(tmp_path: Path) -> None:
    plan = drawn_plan([3, 30, 31])
    paths = [page(tmp_path / "a.csv", [3, 30, 31]), page(tmp_path / "b.csv", [3, 30, 31], [BYTES])]
    results = read_result_files(plan, paths)
    assert results.metrics[BYTES].tolist() == [4e3, 31e3, 32e3]
    assert results.metrics[TIME].tolist() == [100.0] * 3
    assert (results.units[BYTES], results.units[TIME], results.units[RATE]) == ("byte", "ns", "%")
    chosen = read_result_files(plan, paths, metrics=[BYTES]).metrics
    assert {*chosen} == {BYTES, TIME}
    with pytest.raises(OptionError, match=r"no metric 'dram__byte\.sum'"):
        read_result_files(plan, paths, metrics=["dram__byte.sum"])


def test_rows_that_do_not_tell_their_launch_are_left_out_and_said(tmp_path: Path) -> None:
    """Of gemm in one size launches 3, 9 and 21 are drawn, and two rows are there: which is not known."""
    gemm = [ordinal for ordinal, kernel in enumerate(PROGRAM) if kernel == PROGRAM[0]]
    other = next(ordinal for ordinal, kernel in enumerate(PROGRAM) if kernel[0] == 2)
    plan = drawn_plan([*gemm[2:5], other])
    results = read_result_files(plan, [page(tmp_path / "cut.csv", [*gemm[2:4], other])])
    assert results.ids.tolist() == [other]
    assert any("rows do not tell which launches they are" in note for note in results.notes)
    with pytest.raises(ProfileError, match="none of its rows is of a launch that the plan draws"):
        read_result_files(plan, [page(tmp_path / "lacking.csv", gemm[2:4])])


def test_a_run_with_kernels_that_are_not_drawn_is_of_the_program_from_its_start(tmp_path: Path) -> None:
    """Its rows are then never taken for the drawn launches in their order."""
    gemm = [ordinal for ordinal, kernel in enumerate(PROGRAM) if kernel == PROGRAM[0]]
    plan = drawn_plan([gemm[0], gemm[-1]])
    path = page(tmp_path / "first.csv", range(gemm[2]))
    assert counted_sectors(plan, [path]) == {gemm[0]: sectors(gemm[0])}


def test_of_a_plan_that_was_topped_up_each_export_says_which_launches_it_measured(tmp_path: Path) -> None:
    """The first round measured a kernel's later launch, the second one before it."""
    gemm = [ordinal for ordinal, kernel in enumerate(PROGRAM) if kernel == PROGRAM[0]]
    plan = replace(drawn_plan([gemm[1], gemm[4]]), simulated=(gemm[4],))
    paths = []
    for round_name, ordinal in (("first", gemm[4]), ("second", gemm[1])):
        folder = tmp_path / round_name / "results"
        folder.mkdir(parents=True)
        (part,) = run_parts(drawn_plan([ordinal]), ExportChoices())
        (tmp_path / round_name / "manifest.csv").write_text(manifest_text(part, {}, ""))
        paths.append(page(folder / "kernel-1.csv", [ordinal]))
    assert counted_sectors(plan, paths) == {ordinal: sectors(ordinal) for ordinal in (gemm[1], gemm[4])}
    alone = page(tmp_path / "kernel-1.csv", [gemm[4]])
    with pytest.raises(ProfileError, match="topped up"):
        read_result_files(plan, [alone])


# -- ROCm ----------------------------------------------------------------------------------------------------

_HEAD = "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Workgroup_Size,VGPR_Count"


def rocm_long(path: Path, ordinals: Sequence[int]) -> str:
    """rocprofv3's: a row a counter of a dispatch, numbered through the whole program from 1."""
    lines = [f"{_HEAD},Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp"]
    for ordinal in ordinals:
        for name, value in (("SQ_WAVES", sectors(ordinal)), ("FETCH_SIZE", ordinal / 4)):
            kernel, size = PROGRAM[ordinal]
            items = 128 * int(np.prod(GRIDS[size]))
            lines.append(
                f'{ordinal + 1},Agent 4,9,{items},"{NAMES[kernel]} [clone .kd]",128,16,{name},{value},50,150'
            )
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def rocm_wide(path: Path, ordinals: Sequence[int]) -> str:
    """rocprof-compute's pmc_perf.csv: a row a dispatch."""
    lines = [f"{_HEAD.replace('_Id', '_ID')},SQ_WAVES,FETCH_SIZE,Start_Timestamp,End_Timestamp"]
    for ordinal in ordinals:
        kernel, size = PROGRAM[ordinal]
        items = 128 * int(np.prod(GRIDS[size]))
        lines.append(
            f'{ordinal},0,9,{items},"{NAMES[kernel]}",128,16,{sectors(ordinal)},{ordinal / 4},50,150'
        )
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def rocm_database(path: Path, ordinals: Sequence[int]) -> str:
    """rocpd's tables; a counter has a row for each of two instances."""
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE rocpd_info_process (id INTEGER, pid INTEGER);
        CREATE TABLE rocpd_info_agent (id INTEGER, type_index INTEGER);
        CREATE TABLE rocpd_info_kernel_symbol (id INTEGER, display_name TEXT, kernel_name TEXT);
        CREATE TABLE rocpd_info_pmc (id INTEGER, name TEXT);
        CREATE TABLE rocpd_pmc_event (event_id INTEGER, pmc_id INTEGER, value REAL);
        CREATE TABLE rocpd_kernel_dispatch (id INTEGER, pid INTEGER, agent_id INTEGER, dispatch_id INTEGER,
            kernel_id INTEGER, event_id INTEGER, start INTEGER, "end" INTEGER, grid_size_x INTEGER,
            grid_size_y INTEGER, grid_size_z INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER,
            workgroup_size_z INTEGER);
        INSERT INTO rocpd_info_process VALUES (1, 9);
        INSERT INTO rocpd_info_agent VALUES (5, 0);
        INSERT INTO rocpd_info_pmc VALUES (1, 'SQ_WAVES'), (2, 'SQ_WAVES'), (3, 'FETCH_SIZE');
        """
    )
    for code, name in enumerate(NAMES):
        database.execute("INSERT INTO rocpd_info_kernel_symbol VALUES (?, ?, ?)", (code, name, name))
    for ordinal in ordinals:
        kernel, size = PROGRAM[ordinal]
        sizes = [blocks * threads for blocks, threads in zip(GRIDS[size], (128, 1, 1), strict=True)]
        row = (ordinal, 1, 5, ordinal + 1, kernel, 100 + ordinal, 50, 150, *sizes, 128, 1, 1)
        database.execute(f"INSERT INTO rocpd_kernel_dispatch VALUES ({','.join('?' * 14)})", row)
        halves = ((1, sectors(ordinal) - 7), (2, 7), (3, ordinal / 4))
        rows = [(100 + ordinal, pmc, value) for pmc, value in halves]
        database.executemany("INSERT INTO rocpd_pmc_event VALUES (?, ?, ?)", rows)
    database.commit()
    database.close()
    return str(path)


@pytest.mark.parametrize("write", [rocm_long, rocm_wide, rocm_database])
@pytest.mark.parametrize("profiled", ["drawn", "all"])
def test_counters_of_rocm_are_those_of_the_launches(write, profiled: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    ordinals = [3, 8, 30, 31, 52]
    suffix = "db" if write is rocm_database else "csv"
    path = write(tmp_path / f"c.{suffix}", ordinals if profiled == "drawn" else range(len(PROGRAM)))
    results = read_result_files(drawn_plan(ordinals), [path])
    assert results.ids.tolist() == ordinals
    assert results.metrics["SQ_WAVES"].tolist() == [sectors(ordinal) for ordinal in ordinals]
    assert results.metrics["FETCH_SIZE"].tolist() == [ordinal / 4 for ordinal in ordinals]
    assert results.metrics["duration"].tolist() == [100.0] * len(ordinals)
    assert {*results.metrics} == {"SQ_WAVES", "FETCH_SIZE", "duration"}
    assert results.units == {"duration": "ns", "FETCH_SIZE": "KiB"}


@pytest.mark.parametrize("name", ["kernel-1-2_counter_collection.csv", "host/kernel-1_results.db"])
def test_a_run_of_rocm_has_launches_of_all_numbers_of_every_kernel(name: str, tmp_path: Path) -> None:
    """Numbers count the launches of a kernel in all its sizes; the manifest's are those of the profile."""
    numbers = [
        sum(kernel == PROGRAM[ordinal][0] for kernel, _ in PROGRAM[: ordinal + 1]) for ordinal in range(60)
    ]
    drawn = [3, 8, 30, 31, 52]
    (part,) = run_parts(drawn_plan(drawn), ExportChoices())
    called = {ordinal: numbers[ordinal] for ordinal in drawn}
    report = dict.fromkeys(drawn, "kernel-1")
    (tmp_path / "manifest.csv").write_text(manifest_text(part, called, "", {REPORT: report}))
    path = tmp_path / "results" / name
    path.parent.mkdir(parents=True)
    write = rocm_database if name.endswith("db") else rocm_long
    measured = [ordinal for ordinal in range(60) if numbers[ordinal] in called.values()]
    assert len(measured) > len(drawn)
    results = read_result_files(drawn_plan(drawn), [write(path, measured)])
    assert results.ids.tolist() == drawn
    assert results.metrics["SQ_WAVES"].tolist() == [sectors(ordinal) for ordinal in drawn]


def test_a_row_of_another_size_than_its_launch_has_is_not_taken(tmp_path: Path) -> None:
    (part,) = run_parts(drawn_plan([3, 8]), ExportChoices())
    (tmp_path / "results").mkdir()
    numbers = {3: 1, 8: 1}
    text = manifest_text(part, numbers, "", {REPORT: dict.fromkeys(numbers, "kernel-1")})
    (tmp_path / "manifest.csv").write_text(text)
    other = next(ordinal for ordinal in range(60) if PROGRAM[ordinal] == (PROGRAM[3][0], 1 - PROGRAM[3][1]))
    path = rocm_long(tmp_path / "results" / "kernel-1.csv", [other, 8])
    results = read_result_files(drawn_plan([3, 8]), [path])
    assert results.ids.tolist() == [8]


def test_of_kernels_without_axes_drawn_rows_alone_are_told_by_their_order(tmp_path: Path) -> None:
    """Two grids of one product are one kernel to ROCm, whose occurrences the plan counts by grid."""
    grids = ((8, 1, 1), (4, 2, 1))
    rows = [launch(ordinal, 0, "scan", grid=grid) for ordinal, grid in zip((3, 8), grids, strict=True)]
    plan = plan_of(stratum("scan", 2, 100.0, 0.0, rows), method="root")
    head = f"{_HEAD},Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp"
    lines = [f"{number},Agent 4,9,1024,scan,128,16,SQ_WAVES,{number},50,150" for number in (4, 9)]
    path = tmp_path / "c.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    assert read_result_files(plan, [str(path)]).metrics["SQ_WAVES"].tolist() == [4, 9]


def test_counters_of_several_recordings_in_one_database_are_each_their_own(tmp_path: Path) -> None:
    """As two processes that were merged: the ids of their rows are the same."""
    path = tmp_path / "two.db"
    database = sqlite3.connect(rocm_database(path, [3, 8]))
    for table in [name for (name,) in database.execute("SELECT name FROM sqlite_master")]:
        database.execute(f"ALTER TABLE {table} RENAME TO {table}_a")
        database.execute(f"CREATE TABLE {table}_b AS SELECT * FROM {table}_a")
        database.execute(f"CREATE VIEW {table} AS SELECT * FROM {table}_a UNION ALL SELECT * FROM {table}_b")
    database.execute("UPDATE rocpd_info_process_b SET pid = 10")
    database.execute("UPDATE rocpd_pmc_event_b SET value = 2 * value")
    database.commit()
    database.close()
    with opened([str(path)], "file") as (files, _):
        rows = rocm_counters.read(files[0])
    assert rows.process is not None
    waves = zip(rows.process.tolist(), rows.features.metrics["SQ_WAVES"].tolist(), strict=True)
    once = [sectors(3), sectors(8)]
    assert [*waves] == [(9, once[0]), (9, once[1]), (10, 2 * once[0]), (10, 2 * once[1])]


# -- what adds up --------------------------------------------------------------------------------------------


def estimated(plan: PlanFile, path: str) -> PlanEstimate:
    return estimate_plan(plan, read_result_files(plan, [path]))


def test_of_all_launches_totals_are_sums_and_rates_quotients_of_sums(tmp_path: Path) -> None:
    everything = list(range(len(PROGRAM)))
    estimate = estimated(drawn_plan(everything), page(tmp_path / "all.csv", everything))
    totals = {total.metric: (total.low, total.total, total.high) for total in estimate.totals}
    in_all = sum(map(sectors, everything))
    assert totals[SECTORS] == pytest.approx((in_all,) * 3)
    assert estimate.main.metric == TIME
    assert estimate.main.total == pytest.approx(6000)
    (mean,) = estimate.ratios
    hits = sum(hit_rate(ordinal) * sectors(ordinal) for ordinal in everything)
    assert (mean.name, mean.weight, mean.unit, mean.reason) == (RATE, SECTORS, "%", None)
    assert (mean.low, mean.ratio, mean.high) == pytest.approx((hits / in_all,) * 3)


def test_peaks_of_the_device_are_no_means_of_launches() -> None:
    values = {"cycles": [7.0] * 2, "dram__bytes.sum.peak_sustained": [1024.0] * 2, RATE: [50.0] * 2}
    results = SimulatedLaunches(
        np.array([3, 30]), {name: np.array(column) for name, column in values.items()}
    )
    assert [mean.name for mean in estimate_plan(drawn_plan([3, 30]), results).ratios] == [RATE]


def test_picked_launches_have_means_without_an_interval(tmp_path: Path) -> None:
    rows = [launch(3, 1, NAMES[PROGRAM[3][0]], grid=GRIDS[PROGRAM[3][1]], weight=60.0)]
    plan = plan_of(stratum("k", 60, 100.0, 0.0, rows), method="pks")
    estimate = estimated(plan, page(tmp_path / "one.csv", [3]))
    assert (estimate.main.low, estimate.ratios[0].low) == (None, None)
    assert estimate.main.total == pytest.approx(6000)
    assert estimate.ratios[0].ratio == pytest.approx(hit_rate(3))


def test_a_plan_that_pools_kernels_is_said_to_tell_little_of_counters(tmp_path: Path) -> None:
    plan = drawn_plan([3, 30, 31])
    path = page(tmp_path / "a.csv", [3, 30, 31])
    assert POOLED not in estimated(plan, path).notes
    pooled = replace(plan, strata=(replace(plan.strata[0], pooled=True), *plan.strata[1:]))
    assert POOLED in estimated(pooled, path).notes


def test_why_a_counter_of_a_simulator_has_no_interval_is_said() -> None:
    plan, ids = drawn_plan([3, 30, 31]), np.array([3, 30, 31])
    metrics = {name: np.full(3, 7.0) for name in ("cycles", "instructions", "l2_misses")}
    assert FEW_CARRY not in estimate_plan(plan, SimulatedLaunches(ids, metrics)).notes
    metrics["l2_misses"] = np.array([0.0, 0.0, 7.0])
    estimate = estimate_plan(plan, SimulatedLaunches(ids, metrics), ratios=[("l2_misses", "instructions")])
    assert FEW_CARRY in estimate.notes
    misses, rate = estimate.totals[-1], estimate.ratios[-1]
    assert (misses.low, rate.low) == (None, None)
    assert misses.notes == ("no interval: 1 of 3 drawn launches carries 100 % of it",)
    assert rate.reason == misses.notes[0]
    assert all(total.low is not None for total in estimate.totals[:-1])


# -- what is broken ------------------------------------------------------------------------------------------

_CELLS = (
    st.text(max_size=8) | st.integers().map(str) | st.sampled_from(["", "nan", "inf", "-1", "1e400", '"'])
)


@pytest.mark.parametrize("write", [page, rocm_long, rocm_wide])
@given(changes=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 15), _CELLS), min_size=1, max_size=4))
def test_cells_of_any_text_are_read_or_refused(  # type: ignore[no-untyped-def]
    write, changes: list[tuple[int, int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("broken") / "c.csv"
    write(path, [3, 8, 30, 31])
    lines = [line.split(",") for line in path.read_text().splitlines()]
    for row, column, cell in changes:
        cells = lines[row % len(lines)]
        cells[column % len(cells)] = cell
    path.write_bytes("\n".join(map(",".join, lines)).encode("utf-8", "surrogatepass"))
    with suppress(ProfileError):
        assert len(read_result_files(drawn_plan([3, 8, 30, 31]), [str(path)]).ids)


def test_columns_of_counters_are_metrics_of_a_profile_too(tmp_path: Path) -> None:
    profile = read_profile([rocm_wide(tmp_path / "pmc_perf.csv", [3, 8, 30])])
    assert profile.metric_names == ("SQ_WAVES", "FETCH_SIZE")
    assert profile.launches == 3


def test_a_database_without_counters_is_refused_with_what_measures_them(tmp_path: Path) -> None:
    path = rocm_database(tmp_path / "none.db", [3])
    database = sqlite3.connect(path)
    database.execute("DELETE FROM rocpd_pmc_event")
    database.commit()
    database.close()
    with pytest.raises(ProfileError, match="rocprofv3 --"):
        read_result_files(drawn_plan([3]), [path])
