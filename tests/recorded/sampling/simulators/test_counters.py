"""Real pages of Nsight Compute and counters of rocprofv3, against figures read off the files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sampling.estimation.roofline import summarise_bounds, summarise_roofline
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.readers.registry import read_profile
from sampling.simulators.results import read_result_files
from tests.small_plans import UNPOOLED, plan_of_profile


def estimated(path: Path, folder: Path) -> PlanEstimate:
    """The plan of a file by its own durations, and its counters."""
    plan = plan_of_profile(read_profile([str(path)]), folder / "plan.json", "joint", target=UNPOOLED)
    return estimate_plan(plan, read_result_files(plan, [str(path)]))


def test_a_raw_page_with_the_roofline_section_has_its_roofline(shared_data: Path, tmp_path: Path) -> None:
    """One launch: 453.99 adds, 34.93 multiplications and 558.85 fmas a cycle at 941.93 MHz; 133.82 GB/s."""
    summary = summarise_roofline(estimated(shared_data / "ncu" / "ncu2024.1-raw.csv", tmp_path), None, 8)
    operations = (453.994202 + 34.927876 + 2 * 558.846015) * 941.929549e6
    assert summary.run.performance.value == pytest.approx(operations, rel=1e-6)
    assert summary.run.intensity.value == pytest.approx(operations / 133.819277e9, rel=1e-4)
    assert summary.peak_bytes == pytest.approx(80 * 7.537349e9)
    # sm__throughput is 77.67 %, gpu__compute_memory_throughput 46.36 %.
    bounds = summarise_bounds(estimated(shared_data / "ncu" / "ncu2024.1-raw.csv", tmp_path))
    assert [kind for kind, its in bounds.items() if its.value] == ["compute"]


def test_a_details_page_adds_up_and_averages_by_time(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "ncu" / "a100-details.csv"
    estimate = estimated(path, tmp_path)
    rows = list(csv.DictReader(line for line in path.read_text().splitlines() if line.startswith('"')))

    def printed(metric: str, section: str = "GPU Speed Of Light Throughput") -> dict[str, float]:
        return {
            row["ID"]: float(row["Metric Value"].replace(",", ""))
            for row in rows
            if row["Metric Name"] == metric and row["Section Name"] == section
        }

    totals = {total.metric: total.total for total in estimate.totals}
    instructions = printed("Executed Instructions", "Instruction Statistics")
    assert totals["Executed Instructions"] == pytest.approx(sum(instructions.values()))
    units = {row["ID"]: row["Metric Unit"] for row in rows if row["Metric Name"] == "Duration"}
    factor = {"us": 1e3, "ms": 1e6, "usecond": 1e3, "msecond": 1e6, "ns": 1.0, "nsecond": 1.0}
    ns = {number: value * factor[units[number]] for number, value in printed("Duration").items()}
    assert totals["Duration"] == pytest.approx(sum(ns.values()))
    compute = printed("Compute (SM) Throughput")
    mean = sum(compute[number] * ns[number] for number in ns) / sum(ns.values())
    means = {ratio.name: ratio.ratio for ratio in estimate.ratios}
    assert means["Compute (SM) Throughput"] == pytest.approx(mean)


def test_counters_of_rocprofv3_are_joined_dispatch_by_dispatch(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "turn4" / "cases" / "rocprofv3-decode-fetch-counters.csv"
    estimate = estimated(path, tmp_path)
    with path.open() as file:
        fetched = sum(float(row["Counter_Value"]) for row in csv.DictReader(file))
    (total,) = (total for total in estimate.totals if total.metric == "FETCH_SIZE")
    assert total.launches_missing == 0
    assert total.low is not None
    assert total.high is not None
    assert total.low <= fetched <= total.high
    assert estimate.results.units["FETCH_SIZE"] == "KiB"
