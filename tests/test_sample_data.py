"""The sample profiles: made by their script to the byte, and what their README says they are."""

from __future__ import annotations

import csv
import gzip
import json
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

import sampling
from sampling.difference.basis import difference_between
from sampling.difference.recordings import ProfilePart
from sampling.features.join import with_features
from sampling.features.metric_names import CHARACTERISTICS, CYCLES
from sampling.features.reading import read_features
from sampling.projection import ProjectionRule, project
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region
from sampling.simulators.interval_logs import read_interval_logs

SQLITE = "resnet50-like.sqlite"
CSV = "resnet50-like-gpu-trace.csv"
KINETO = "gpt2-like.json.gz"
NCU = "resnet50-like-ncu-raw.csv.gz"
ROOFLINE = "resnet50-like-ncu-roofline.csv.gz"
BLOCKS = "resnet50-like-blocks.csv.gz"
BASELINE = "gpt2-like-before.json"
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
    assert set(first) == {*_READ, NCU, ROOFLINE, BLOCKS, INTERVALS, BASELINE}
    assert first == _written_by_the_script(sample_data, tmp_path / "second")
    for name in (SQLITE, CSV, BASELINE):
        assert first[name] == (sample_data / name).read_bytes(), name
    # How zlib packs is its own choice and changes with its version; what it packs is ours.
    for name in (KINETO, NCU, ROOFLINE, BLOCKS, INTERVALS):
        assert gzip.decompress(first[name]) == gzip.decompress((sample_data / name).read_bytes()), name


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
    for name in (NCU, ROOFLINE, INTERVALS):
        assert "synthetic" in _text(sample_data / name).splitlines()[0]
    assert "**These profiles are synthetic." in (sample_data / "README.md").read_text()


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


@pytest.fixture(scope="module")
def with_both(sample_data: Path) -> LaunchList:
    """The launches of the SQLite file with all features."""
    profile = read_profile([str(sample_data / SQLITE)])
    launches = list_launches(profile, count_durations(profile, Grouping(GroupBy.LAUNCH)))
    joined, reports = with_features(profile, launches, [str(sample_data / name) for name in (NCU, BLOCKS)])
    for report in reports:
        assert (report.rows, report.matched) == (5600, 5600), report.sentence
    return joined


def test_no_launch_is_above_the_roof(sample_data: Path) -> None:
    metrics = read_features(str(sample_data / ROOFLINE)).features.metrics
    time_s = metrics["gpu__time_duration.sum"] / 1e9
    for amount, clock, share in (
        (
            "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
            "sm__cycles_elapsed.avg.per_second",
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        ),
        (
            "dram__bytes.sum",
            "dram__cycles_elapsed.avg.per_second",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ),
    ):
        of_peak = metrics[amount] / (metrics[f"{amount}.peak_sustained"] * metrics[clock] * time_s)
        assert 0.9 < of_peak.max() < 1
        np.testing.assert_allclose(100 * of_peak, metrics[share], atol=0.02)


@pytest.mark.parametrize("name", [NCU, ROOFLINE, BLOCKS])
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


RECORDED = {
    "h100-gpt.json.gz": (1368, 8.94),
    "h200-gpt.json.gz": (1368, 8.54),
    "h100-gpt-ranks": (1176, 8.93),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_recorded_is_what_its_page_says(name: str, sample_data: Path) -> None:
    profile = read_profile([str(sample_data / "recorded" / name)])
    total_ms = profile.load(("duration_ns",))["duration_ns"].sum() / 1e6
    assert (profile.launches, round(float(total_ms), 2)) == RECORDED[name]
    gpus = {device.name for device in profile.facts.devices}
    assert gpus == {"NVIDIA H200" if name.startswith("h200") else "NVIDIA H100 80GB HBM3"}


def test_four_recorded_ranks_take_hardly_more_launches_than_one(sample_data: Path) -> None:
    folder = sample_data / "recorded" / "h100-gpt-ranks"
    one, four = (
        sampling.make_plan(sampling.read_profile(path)) for path in (folder / "rank0.json.gz", folder)
    )
    assert [each.process for each in four.draft.profile.sequences] == [0, 1, 2, 3]
    assert four.launches == 4 * one.launches
    assert four.samples <= 1.2 * one.samples


def test_all_of_the_time_on_two_gpus_is_matched(sample_data: Path) -> None:
    here, there = (
        ProfilePart(read_profile([str(sample_data / "recorded" / f"{gpu}-gpt.json.gz")]), Region())
        for gpu in ("h100", "h200")
    )
    found = difference_between(here, there)
    before_ns, after_ns = found.before.total_ns, found.after.total_ns
    left_ns = before_ns[after_ns == 0].sum() + after_ns[before_ns == 0].sum()
    assert left_ns == 0
