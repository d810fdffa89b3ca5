"""The sample profiles: made by their script to the byte, and what their README says they are."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sampling.features.join import with_features
from sampling.features.metric_names import CHARACTERISTICS, CYCLES
from sampling.features.reading import read_features
from sampling.projection import ProjectionRule, project
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.simulators.registry import read_interval_logs

SQLITE = "resnet50-like.sqlite"
CSV = "resnet50-like-gpu-trace.csv"
KINETO = "gpt2-like.json.gz"
NCU = "resnet50-like-ncu-raw.csv.gz"
BLOCKS = "resnet50-like-blocks.csv.gz"
INTERVALS = "gemm-intervals.log.gz"

# Calls and total time (ns), as the papers print them.
ALLEGRO_TABLE_2 = {
    "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu": (19625, 1185625785),
    "void explicit_convolve_sgemm<": (3925, 964880834),
    "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_mobile_relu": (7850, 897755249),
    "volta_sgemm_128x64_nn": (23550, 709594145),
    "void cudnn::winograd::generateWinogradTilesKernel<": (7850, 595149925),
}
STEM_TABLE_1 = {
    "volta_sgemm_64x32_sliced1x4_tn": (278400, 2910365652),
    "volta_sgemm_32x32_sliced1x4_tn": (69600, 1878500991),
    "void splitKreduce_kernel<": (348000, 803385686),
    "volta_sgemm_64x64_tn": (69600, 715703692),
    "void gemmSN_TN_kernel<": (41600, 482964944),
}


@dataclass(frozen=True, slots=True)
class Launches:
    """The launches of a file in the order in which the program issued them."""

    name: list[str]
    shape: list[tuple[int, ...]]
    api_start_ns: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]

    def of(self, prefix: str, grid: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """Return the durations of a kernel, of one grid if given."""
        wanted = [
            name.startswith(prefix) and shape[: len(grid)] == grid
            for name, shape in zip(self.name, self.shape, strict=True)
        ]
        return np.compress(wanted, self.duration_ns)


def _launches(rows: list[tuple[Any, ...]]) -> Launches:
    """Build launches from rows (name, grid and block, API start, start, duration)."""
    names, shapes, *times = zip(*sorted(rows, key=lambda row: int(row[2])), strict=True)
    return Launches(list(names), list(shapes), *(np.array(column, dtype=np.int64) for column in times))


def _from_sqlite(path: Path) -> Launches:
    query = """
        SELECT kernel_name.value, gridX, gridY, gridZ, blockX, blockY, blockZ,
               api.start, kernel.start, kernel.end
        FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
        JOIN StringIds AS kernel_name ON kernel_name.id = demangledName
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS api USING (correlationId)
        JOIN StringIds AS function ON function.id = nameId AND function.value = 'cudaLaunchKernel_v7000'
        WHERE api.globalTid & 0xFFFFFFFFFF000000 = globalPid
    """
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(query).fetchall()
        (launches,) = database.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
    assert len(rows) == launches, "every launch has its own API row"
    return _launches([(row[0], row[1:7], row[7], row[8], row[9] - row[8]) for row in rows])


def _csv_rows(path: Path) -> list[dict[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines[1:]))


def _from_csv(path: Path) -> Launches:
    shape = ["GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ"]
    return _launches(
        [
            (
                row["Name"],
                tuple(int(row[column]) for column in shape),
                row["CorrId"],
                row["Start (ns)"],
                row["Duration (ns)"],
            )
            for row in _csv_rows(path)
            if row["GrdX"]
        ]
    )


def _kineto_trace(path: Path) -> Any:
    with gzip.open(path) as stream:
        return json.load(stream)


def _nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)


def _from_kineto(path: Path) -> Launches:
    events = _kineto_trace(path)["traceEvents"]
    api_ns = {
        event["args"]["correlation"]: _nanoseconds(event["ts"])
        for event in events
        if event.get("cat") == "cuda_runtime" and event["name"] == "cudaLaunchKernel"
    }
    return _launches(
        [
            (
                event["name"],
                (*event["args"]["grid"], *event["args"]["block"]),
                api_ns[event["args"]["correlation"]],
                _nanoseconds(event["ts"]),
                _nanoseconds(event["dur"]),
            )
            for event in events
            if event.get("cat") == "kernel"
        ]
    )


_READ = {SQLITE: _from_sqlite, CSV: _from_csv, KINETO: _from_kineto}
_COUNTS = {SQLITE: 5600, CSV: 1288, KINETO: 13920}


@pytest.fixture(scope="module")
def launches(sample_data: Path) -> dict[str, Launches]:
    return {name: read(sample_data / name) for name, read in _READ.items()}


def _written_by_the_script(sample_data: Path, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    script = sample_data / "make_sample_data.py"
    subprocess.run([sys.executable, "-B", str(script), str(folder)], check=True, timeout=120)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_script_writes_the_same_bytes_again(sample_data: Path, tmp_path: Path) -> None:
    first = _written_by_the_script(sample_data, tmp_path / "first")
    assert set(first) == {*_READ, NCU, BLOCKS, INTERVALS}
    assert first == _written_by_the_script(sample_data, tmp_path / "second")
    for name in (SQLITE, CSV):
        assert first[name] == (sample_data / name).read_bytes(), name
    # How zlib packs is its own choice and changes with its version; what it packs is ours.
    for name in (KINETO, NCU, BLOCKS, INTERVALS):
        assert gzip.decompress(first[name]) == gzip.decompress((sample_data / name).read_bytes()), name


def test_the_files_are_small(sample_data: Path) -> None:
    limits = {SQLITE: 700_000, CSV: 300_000, KINETO: 700_000, NCU: 80_000, BLOCKS: 40_000, INTERVALS: 10_000}
    sizes = {name: (sample_data / name).stat().st_size for name in limits}
    assert all(sizes[name] <= limit for name, limit in limits.items()), sizes


@pytest.mark.parametrize("name", _READ)
def test_each_file_holds_the_launches_its_readme_says(
    name: str, launches: dict[str, Launches], sample_data: Path
) -> None:
    held = launches[name]
    assert len(held.name) == _COUNTS[name]
    assert 15 <= len(set(held.name)) <= 30
    row = next(line for line in (sample_data / "README.md").read_text().splitlines() if f"| `{name}`" in line)
    total_ms = f"{held.duration_ns.sum() / 1e6:.0f} ms"
    assert row.split(" | ")[2:] == [f"{len(held.name):,}", str(len(set(held.name))), f"{total_ms} |"]


@pytest.mark.parametrize(
    ("name", "table", "scale"),
    [
        (SQLITE, ALLEGRO_TABLE_2, 100 / 3925),
        (CSV, ALLEGRO_TABLE_2, 23 / 3925),
        (KINETO, STEM_TABLE_1, 1 / 100),
    ],
)
def test_the_top_five_kernels_follow_the_published_table(
    name: str, table: dict[str, tuple[int, int]], scale: float, launches: dict[str, Launches]
) -> None:
    held = launches[name]
    durations = {prefix: held.of(prefix) for prefix in table}
    total_here = sum(int(values.sum()) for values in durations.values())
    total_published = sum(total for _, total in table.values())
    for prefix, (calls, total) in table.items():
        assert len(durations[prefix]) == pytest.approx(calls * scale)
        assert durations[prefix].mean() == pytest.approx(total / calls, rel=0.02)
        assert durations[prefix].sum() / total_here == pytest.approx(total / total_published, abs=0.005)
    totals = {kernel: int(held.of(kernel).sum()) for kernel in set(held.name)}
    largest = sorted(totals, key=totals.__getitem__, reverse=True)[:5]
    assert [kernel.startswith(prefix) for kernel, prefix in zip(largest, table, strict=True)] == [True] * 5


@pytest.mark.parametrize("name", _READ)
def test_durations_tick_with_the_clock_of_the_gpu(name: str, launches: dict[str, Launches]) -> None:
    past_the_tick_ns = (launches[name].duration_ns + 1) % 32
    assert past_the_tick_ns.max() <= 2
    assert 0.7 < np.mean(past_the_tick_ns == 1) < 0.95


@pytest.mark.parametrize("name", _READ)
def test_launches_run_one_after_another_in_the_order_issued(name: str, launches: dict[str, Launches]) -> None:
    held = launches[name]
    ends_ns = held.start_ns + held.duration_ns
    assert np.all(held.start_ns[1:] >= ends_ns[:-1])
    assert np.all(np.diff(held.api_start_ns) > 0)
    if name != CSV:  # its only order is a number
        assert np.all(held.start_ns > held.api_start_ns)


def test_every_image_and_every_layer_issues_the_same_kernels(launches: dict[str, Launches]) -> None:
    held = launches[SQLITE]
    pairs = list(zip(held.name, held.shape, strict=True))
    assert pairs == pairs[:56] * 100
    short_run = launches[CSV]
    assert list(zip(short_run.name, short_run.shape, strict=True)) == pairs[:56] * 23


def test_some_kernels_have_one_narrow_peak(launches: dict[str, Launches]) -> None:
    for name, prefix in ((SQLITE, "void explicit_convolve_sgemm<"), (KINETO, "void gemmSN_TN_kernel<")):
        usual = np.sort(launches[name].of(prefix))[:-4]  # without the first launch and the outliers
        assert 0.005 < usual.std() / usual.mean() < 0.03


def test_a_kernel_has_several_peaks_by_grid_and_within_one_grid(launches: dict[str, Launches]) -> None:
    winograd = "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu"
    held = launches[SQLITE]
    means = [np.median(held.of(winograd, grid)) for grid in ((196, 1, 1), (98, 1, 1), (49, 1, 1))]
    assert means[0] * 1.1 < means[1]
    same_grid = held.of(winograd, (98, 1, 1))
    valley = np.abs(same_grid / 64_100 - 1.0) < 0.01
    assert valley.mean() < 0.05
    assert 0.4 < np.mean(same_grid < 64_100) < 0.6


def test_one_kernel_drifts(launches: dict[str, Launches]) -> None:
    tiles = launches[SQLITE].of("void cudnn::winograd::generateWinogradTilesKernel<", (4, 64, 1))
    assert np.median(tiles[-20:]) / np.median(tiles[:20]) == pytest.approx(0.952, abs=0.015)


def test_every_file_says_that_it_is_synthetic(sample_data: Path) -> None:
    with closing(sqlite3.connect(sample_data / SQLITE)) as database:
        facts = dict(database.execute("SELECT name, value FROM META_DATA_EXPORT"))
        gpus = database.execute("SELECT name, smCount FROM TARGET_INFO_GPU").fetchall()
    assert "synthetic" in facts["EXPORT_PRODUCT_NAME"]
    assert gpus == [("Synthetic V100-like GPU", 80)]
    assert "synthetic" in (sample_data / CSV).read_text().splitlines()[0]
    trace = _kineto_trace(sample_data / KINETO)
    assert trace["synthetic"]
    assert [(gpu["name"], gpu["numSms"]) for gpu in trace["deviceProperties"]] == gpus
    for name in (NCU, INTERVALS):
        assert "synthetic" in _text(sample_data / name).splitlines()[0]
    assert "**These profiles are synthetic." in (sample_data / "README.md").read_text()


def test_the_copies_are_there_and_are_no_launches(sample_data: Path) -> None:
    with closing(sqlite3.connect(sample_data / SQLITE)) as database:
        kinds = database.execute(
            "SELECT copyKind, count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1"
        ).fetchall()
    assert kinds == [(1, 110), (2, 100)]
    copies = [row for row in _csv_rows(sample_data / CSV) if not row["GrdX"]]
    assert {row["Name"] for row in copies} == {
        "[CUDA memcpy Host-to-Device]",
        "[CUDA memcpy Device-to-Host]",
    }
    events = _kineto_trace(sample_data / KINETO)["traceEvents"]
    assert sum(event.get("cat") == "gpu_memcpy" for event in events) == 8 + 2 * 87


@pytest.mark.parametrize(
    ("name", "format_name"), [(SQLITE, "nsys-sqlite"), (CSV, "nsys-csv"), (KINETO, "kineto")]
)
def test_the_readers_read_every_file(
    name: str, format_name: str, launches: dict[str, Launches], sample_data: Path
) -> None:
    held = launches[name]
    profile = read_profile([str(sample_data / name)])
    assert profile.format == format_name
    assert profile.launches == len(held.name)
    table = profile.load(["name", "duration_ns", "signature"])
    assert table["duration_ns"].tolist() == held.duration_ns.tolist()
    assert [profile.kernels.names.full(code) for code in table["name"].tolist()] == held.name
    assert len(set(table["signature"].tolist())) == len(set(zip(held.name, held.shape, strict=True)))


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def _ncu_rows(sample_data: Path) -> list[dict[str, str]]:
    """The page's rows as an independent reader sees them, the row of units first."""
    lines = _text(sample_data / NCU).splitlines()
    header = next(place for place, line in enumerate(lines) if line.startswith('"ID"'))
    return list(csv.DictReader(lines[header:]))


@pytest.fixture(scope="module")
def with_both(sample_data: Path) -> LaunchList:
    """The launches of the SQLite file with all features."""
    profile = read_profile([str(sample_data / SQLITE)])
    launches = list_launches(profile, count_durations(profile, Grouping(GroupBy.LAUNCH)))
    joined, reports = with_features(profile, launches, [str(sample_data / name) for name in (NCU, BLOCKS)])
    for report in reports:
        assert (report.rows, report.matched) == (5600, 5600), report.sentence
    return joined


@pytest.mark.parametrize("name", [NCU, BLOCKS])
def test_every_row_is_joined_to_the_launch_in_its_place(name: str, sample_data: Path) -> None:
    profile = read_profile([str(sample_data / SQLITE)])
    rows = read_features(str(sample_data / name))
    assert rows.id is None, "they are joined by identity, as those of another run must be"
    launches = list_launches(profile, count_durations(profile, Grouping(GroupBy.LAUNCH)))
    joined, _ = with_features(profile, launches, [str(sample_data / name)])
    assert joined.features is not None
    for metric, values in rows.features.metrics.items():
        np.testing.assert_array_equal(joined.features.metrics[metric], values)
    if rows.features.block_vectors is not None:
        assert joined.features.block_vectors is not None
        np.testing.assert_array_equal(
            joined.features.block_vectors.counts, rows.features.block_vectors.counts
        )


def test_the_ncu_page_is_of_another_process_and_another_demangler(
    launches: dict[str, Launches], sample_data: Path
) -> None:
    rows = _ncu_rows(sample_data)[1:]
    assert {row["Process ID"] for row in rows} == {"7117"}
    pairs = set(zip(launches[SQLITE].name, [row["Kernel Name"] for row in rows], strict=True))
    assert len(pairs) == len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs}) == 16
    assert sum(ours != theirs for ours, theirs in pairs) == 12
    assert not any(re.search(r"\((int|bool)\)\d", theirs) for _, theirs in pairs)
    (tiles,) = (theirs for _, theirs in pairs if "generateWinogradTilesKernel" in theirs)
    assert tiles == (
        "void cudnn::winograd::generateWinogradTilesKernel<int=0, float, float>(cudnn::winograd::"
        "GenerateWinogradTilesParams<float, float>)"
    )


def test_the_ncu_page_has_what_principal_kernel_analysis_asks_for(with_both: LaunchList) -> None:
    features = with_both.features
    assert features is not None
    wanted = {spellings[0] for spellings in CHARACTERISTICS} | {CYCLES[0]}
    assert set(features.metrics) == wanted
    for name in wanted:
        assert np.isfinite(features.metrics[name]).all(), name
        assert len(np.unique(features.metrics[name])) > 1, name
    assert {features.units[CHARACTERISTICS[place][0]] for place in (0, 1, 2)} == {"sector"}
    assert {features.units[CHARACTERISTICS[place][0]] for place in range(3, 10)} == {"inst"}
    assert features.units[CYCLES[0]] == "cycle"


def test_counters_follow_from_kernel_and_grid(with_both: LaunchList) -> None:
    features = with_both.features
    assert features is not None
    values = [features.metrics[spellings[0]] for spellings in CHARACTERISTICS]
    sectors, accesses, instructions, threads = values[:3], values[3:9], values[9], values[10]
    np.testing.assert_array_equal(values[11], with_both.shapes()[:, 1:4].prod(axis=1))
    assert (sum(accesses) < instructions).all()
    for moved, access in zip(sectors, (accesses[0], accesses[1], accesses[2]), strict=True):
        assert ((moved >= 4 * access) & (moved <= 32 * access)).all(), "a warp moves 4 to 32 sectors at once"
    assert ((threads > 16) & (threads <= 32)).all()
    variants = {
        group: len(np.unique(np.column_stack(values)[with_both.group == group], axis=0))
        for group in range(34)
    }
    assert sorted(variants.values()) == [1] * 32 + [3, 4]
    # An SM issues four instructions a cycle at most; a kernel of 2 us hardly gets going.
    ipc = (instructions / features.metrics[CYCLES[0]] / 80)[values[11] >= 80]
    assert 0.05 < ipc.min() < ipc.max() < 4


def test_cycles_are_durations_at_a_base_clock_but_for_noise(with_both: LaunchList) -> None:
    assert with_both.features is not None
    ghz = with_both.features.metrics[CYCLES[0]] / with_both.duration_ns
    assert ghz.mean() == pytest.approx(1.245, rel=1e-3)
    assert ghz.std() / ghz.mean() == pytest.approx(0.004, rel=0.1)
    assert np.abs(ghz / 1.245 - 1).max() < 0.02


def test_vectors_and_metrics_tell_of_the_same_code(with_both: LaunchList) -> None:
    features = with_both.features
    assert features is not None
    vectors = features.block_vectors
    assert vectors is not None
    blocks = np.diff(vectors.offsets)
    name = with_both.kernels.signature_rows()[with_both.signature, 0]
    for code in np.unique(name):
        assert len(np.unique(blocks[name == code])) == 1, "a kernel has one number of basic blocks"
    shapes = with_both.shapes()
    warps = shapes[:, 1:4].prod(axis=1) * -(-shapes[:, 4:].prod(axis=1) // 32)
    np.testing.assert_array_equal(vectors.warps, warps)
    np.testing.assert_array_equal(vectors.counts[vectors.offsets[:-1]], warps)  # each enters once
    np.testing.assert_array_equal(vectors.counts[vectors.offsets[1:] - 1], warps)  # and leaves once
    runs = np.add.reduceat(vectors.counts, vectors.offsets[:-1])
    executed = features.metrics[CHARACTERISTICS[9][0]]
    for group in range(34):
        own = with_both.group == group
        more = np.unique(np.column_stack([runs[own], executed[own]]), axis=0)
        assert len(np.unique(more[:, 0])) == len(np.unique(more[:, 1])) == len(more)


def test_the_interval_log_has_one_kernel_of_each_kind(sample_data: Path) -> None:
    logs = read_interval_logs([str(sample_data / INTERVALS)])
    settles, never, cut = (project(log, ProjectionRule()) for log in logs)
    assert [log.name for log in logs] == [
        *("volta_sgemm_128x64_nn", "_Z16trsm_left_unevenIfEvPKT_PS0_ii", "volta_sgemm_64x64_nn")
    ]
    assert [log.facts.wave_ctas for log in logs] == [4 * 80, 2 * 80, 8 * 80]
    assert [log.facts.ctas for log in logs] == [98 * 16, 12 * 7, 98 * 64]
    assert not any(log.has_carried_ctas for log in logs)
    assert settles.stopped
    assert settles.total_cycles is not None
    assert settles.cycle < settles.total_cycles / 3
    assert settles.error is not None
    assert settles.error < 0.02
    assert not never.stopped
    assert never.reason.startswith("never steady")
    assert never.ctas_needed == 26
    assert logs[2].is_cut_short
    assert cut.stopped
    assert cut.total_cycles is None
    assert cut.projected_cycles is not None
    assert cut.projected_cycles > int(logs[2].cycle[-1]) == 24_000


def test_the_records_of_the_interval_log_add_up(sample_data: Path) -> None:
    records = re.findall(
        r"ctas_completed: (\d+)\nshaderinsncount:  ([\d ]+)\nglobalcyclecount: (\d+)\nglobalinsncount: (\d+)",
        _text(sample_data / INTERVALS),
    )
    ctas, cycle, instructions = (np.array([int(each[place]) for each in records]) for place in (0, 2, 3))
    within = [[int(number) for number in per_core.split()] for _, per_core, _, _ in records]
    assert {len(per_core) for per_core in within} == {80}
    first = np.flatnonzero(cycle == 500)
    assert len(first) == 3
    starts_anew = np.isin(np.arange(len(cycle)), first)
    np.testing.assert_array_equal(cycle, np.where(starts_anew, 0, np.roll(cycle, 1)) + 500)
    before = np.where(starts_anew, 0, np.roll(instructions, 1))
    np.testing.assert_array_equal(np.sum(within, axis=1), instructions - before)
    # What finishes after a kernel's last record is in the first record of the next kernel.
    finished = np.cumsum(ctas)
    for place, grids in ((first[1], 98 * 16), (first[2], 98 * 16 + 12 * 7)):
        assert finished[place - 1] < grids <= finished[place] < grids + 12
    assert finished[-1] < 98 * 16 + 12 * 7 + 98 * 64
