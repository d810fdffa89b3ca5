"""What MGPUSim measured: a run of one launch, whose number is in its name, or each launch of a traced run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sampling
from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.readers.input_file import open_input
from sampling.simulators.measured_run import MeasuredRun
from sampling.simulators.registry import read_results
from tests.sampling.simulators.conftest import Write

UNIT = "GPU[1].SA[0].CU[{}]".format
METRICS = [
    ("Driver", "kernel_time", 2e-6),
    ("Driver", "total_time", 9e-6),
    (UNIT(0), "cu_inst_count", 0.0),
    (UNIT(0), "cu_CPI", float("inf")),
    *((UNIT(number), "cu_inst_count", 1200 / cpi) for number, cpi in ((1, 2.5), (2, 5.0))),
    *((UNIT(number), "cu_CPI", cpi) for number, cpi in ((1, 2.5), (2, 5.0))),
]
"""1,200 cycles at 600 MHz, of 480 and 240 instructions."""


def table(rows: list[tuple[str, str, float]] = METRICS) -> str:
    lines = [f"{number}, {where}, {what}, {value:.12f}" for number, (where, what, value) in enumerate(rows)]
    return "\n".join([", where, what, value", *lines, f"{len(rows)}, -, a headline, -", ""])


def database(path: Path, launches: list[tuple[float, float]]) -> Path:
    """A database of v4 with the launches of a run, in another order than theirs, amid other tasks."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE mgpusim_metrics (Location, What, Value, Unit)")
        connection.executemany("INSERT INTO mgpusim_metrics VALUES (?, ?, ?, 'x')", METRICS)
        connection.execute("CREATE TABLE trace (ID, ParentID, Kind, What, Location, StartTime, EndTime)")
        tasks = [("*driver.LaunchKernelCommand", *times) for times in launches[::-1]]
        tasks += [("*driver.MemCopyH2DCommand", 0.0, 1.0), ("*protocol.LaunchKernelReq", 0.0, 1.0)]
        rows = [
            (str(number), "", "Driver Command", what, "Driver", *times)
            for number, (what, *times) in enumerate(tasks)
        ]
        connection.executemany("INSERT INTO trace VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    return path


def read(path: Path, *metrics: str) -> MeasuredRun:
    with open_input(str(path)) as file:
        return read_results(file, metrics)


def test_a_run_of_one_launch(tmp_path: Path) -> None:
    path = tmp_path / "launch-7.csv"
    path.write_text(table())
    run = read(path)
    assert (run.number.tolist(), run.first_number, run.clock_hz) == ([7], 1, 600e6)
    assert run.metrics["cycles"].tolist() == pytest.approx([1200])
    assert run.metrics["instructions"].tolist() == pytest.approx([720])
    with pytest.raises(OptionError, match="there is no ipc"):
        read(path, "ipc")


def test_each_launch_of_a_traced_run_in_its_order(tmp_path: Path) -> None:
    run = read(database(tmp_path / "akita_sim_x3.sqlite3", [(1e-6, 2e-6), (3e-6, 3.5e-6)]))
    assert (run.number.tolist(), run.first_number, run.clock_hz) == ([1, 2], 1, 600e6)
    assert run.metrics["cycles"].tolist() == pytest.approx([600, 300])


def test_a_database_without_a_trace_is_of_one_launch(tmp_path: Path) -> None:
    run = read(database(tmp_path / "launch-3.sqlite3", []))
    assert (run.number.tolist(), run.metrics["cycles"].tolist()) == ([3], pytest.approx([1200]))


def test_launches_of_an_export_are_estimated(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "mgpusim")
    for launch in ten.drawn:
        (tmp_path / f"launch-{launch.ordinal + 1}.csv").write_text(table())
    logs = sorted(map(str, tmp_path.glob("launch-*.csv")))
    results = sampling.read_result_files(ten, logs, manifests=[str(tmp_path / "out" / "manifest.csv")])
    assert results.ids.tolist() == [2, 4, 5, 8, 9]
    assert results.clock_hz == 600e6
    (tmp_path / "metrics.csv").write_text(table())
    with pytest.raises(ProfileError, match="it does not say which launch is which"):
        sampling.read_result_files(ten, [str(tmp_path / "metrics.csv")])


@pytest.mark.parametrize(
    "text", [table(METRICS[1:]), table(METRICS[:2]), table([("Driver", "kernel_time", 0.0), *METRICS[1:]])]
)
def test_what_ran_no_kernel_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "launch-1.csv"
    path.write_text(text)
    with pytest.raises(ProfileError, match="has no kernel time, or no instructions of it"):
        read(path)


def test_a_line_that_is_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "launch-1.csv"
    path.write_text(table().replace(", Driver, total_time", ""))
    with pytest.raises(ProfileError, match="row 3"):
        read(path)
