"""Whole runs of GPGPU-Sim and Accel-Sim: every one is read, and agrees with what it adds up to."""

from __future__ import annotations

import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sampling.projection import IntervalLog, ProjectionRule, project
from sampling.simulators.accel_sim_traces import count_traced_instructions
from sampling.simulators.interval_logs import read_interval_logs

#: Of each run: launches with a record, and without one.
LAUNCHES = {
    "solver-8": (120, 0),
    "solver-16": (120, 0),
    "solver-32": (119, 0),
    "net-1img-8sm": (23, 0),
    "trace-8": (22, 2),
    "trace-16": (20, 4),
    "trace-32lat": (2, 0),
    "trace-8-some": (5, 1),
    "trace-8-maxcycle": (1, 0),
    "trace-8-maxcta": (1, 1),
    "trace-8-maxinsn": (1, 0),
    "bigtrace-4": (4, 0),
    "bigtrace-8": (2, 0),
}


def read(folder: Path) -> tuple[IntervalLog, ...]:
    return read_interval_logs([str(folder / name) for name in ("gpgpusim_visualizer.log.gz", "run.log.gz")])


def launches_of(path: Path) -> dict[int, dict[str, str]]:
    with path.open() as file:
        return {int(row["launch"]): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_run_is_read(runs: Path, name: str) -> None:
    logs = read(runs / name)
    unrecorded = sum(log.unrecorded_before + log.unrecorded_after for log in logs)
    assert (len(logs), unrecorded) == LAUNCHES[name]
    assert all(log.name and log.launches and log.facts.ctas and log.facts.wave_ctas for log in logs)
    assert all(not log.has_carried_ctas for log in logs)


@pytest.mark.parametrize("name", ["solver-8", "solver-16", "trace-8", "trace-16", "bigtrace-4", "bigtrace-8"])
def test_launches_are_those_that_the_run_lists(runs: Path, name: str) -> None:
    listed = launches_of(runs / f"{name}.launches.csv")
    for log in read(runs / name):
        row = listed[log.launches[0]]
        ctas = int(row["grid_x"]) * int(row["grid_y"]) * int(row["grid_z"])
        facts = log.facts
        assert (log.name, facts.cycles, facts.instructions, facts.ctas) == (
            row["kernel"],
            int(row["cycles"]),
            int(row["instructions"]),
            ctas,
        )
        # Within a record each: a CTA may end before the record that its kernel's last one is counted in.
        assert int(log.ctas.sum()) <= ctas


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("trace-8-maxcycle", "-gpgpu_max_cycle 6000 ended it"),
        ("trace-8-maxcta", "-gpgpu_max_completed_cta 40 ended it"),
        ("trace-8-maxinsn", "-gpgpu_max_insn 500000 ended it"),
    ],
)
def test_kernels_that_the_simulator_cut_are_not_whole(runs: Path, name: str, why: str) -> None:
    (log,) = read(runs / name)
    assert (log.is_cut_short, log.why_cut, log.facts.cycles) == (True, why, None)
    (most,) = count_traced_instructions(str(runs / "traces" / "stats.csv"), [log])
    # launch 7 of trace-8 is the same trace, simulated whole
    whole = launches_of(runs / "trace-8.launches.csv")[log.trace_id or 0]
    assert most == int(whole["instructions"])


def test_a_log_of_132_cores_is_recognised(runs: Path) -> None:
    assert len(read_interval_logs([str(runs / "cflog132.log.gz")])) == 3


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9])
def test_a_run_killed_on_the_way_is_a_result(runs: Path, tmp_path: Path, share: float) -> None:
    """Both files as far as they had been written, the output as text and as gzip without an end."""
    log, output = (runs / "trace-8" / name for name in ("gpgpusim_visualizer.log.gz", "run.log.gz"))
    cut_log, cut_output = tmp_path / "visualizer.log.gz", tmp_path / "run.log"
    cut_log.write_bytes(log.read_bytes()[: int(share * log.stat().st_size)])
    text = gzip.decompress(output.read_bytes())
    cut_output.write_bytes(text[: int(share * len(text))])
    logs = read_interval_logs([str(cut_log), str(cut_output)])
    whole = read(runs / "trace-8")
    assert 0 < len(logs) < len(whole)
    for log_so_far, log_at_end in zip(logs[:-1], whole, strict=False):
        if log_so_far.launches:
            assert log_so_far.launches == log_at_end.launches


def test_projection_by_ctas_counts_those_in_flight(runs: Path) -> None:
    """Six kernels of 1,000 to 2,400 CTAs whose total of instructions is withheld."""
    errors, published = [], []
    for log in (*read(runs / "bigtrace-4"), *read(runs / "bigtrace-8")):
        true = log.facts.cycles
        assert true is not None
        unknown = replace(
            log, facts=replace(log.facts, cycles=None, instructions=None), is_cut_short=True, why_cut="test"
        )
        found = project(unknown, ProjectionRule(stability_percent=1))
        assert found.projected_cycles is not None
        assert log.facts.ctas is not None
        errors.append(found.projected_cycles / true - 1)
        published.append(log.facts.ctas / (found.ctas_done + 1) * found.cycle / true - 1)
    assert np.mean(np.abs(errors)) < 0.7 * np.mean(np.abs(published))
    assert abs(np.mean(errors)) < 0.05
