"""Real pages of Nsight Compute as profiles, and traces of a real program with what stands for their times."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import sampling
from sampling.simulators.registry import export_plan

_NANOSECONDS = {"ns": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "second": 1e9}


def pages(shared_data: Path, name: str) -> list[dict[str, str]]:
    """The rows of a page, as the csv module reads them."""
    text = (shared_data / "ncu" / name).read_text()
    return list(csv.DictReader(io.StringIO(text[text.index('"ID",') :])))


@pytest.mark.parametrize("name", ["a100-details.csv", "ncu2024.1-details.csv"])
@pytest.mark.parametrize(("metric", "is_cycles"), [("Duration", False), ("Elapsed Cycles", True)])
def test_a_details_page_lasts_what_it_prints(
    shared_data: Path, name: str, metric: str, is_cycles: bool
) -> None:
    printed = {
        int(row["ID"]): float(row["Metric Value"].replace(",", "")) * _NANOSECONDS.get(row["Metric Unit"], 1)
        for row in pages(shared_data, name)
        if row["Metric Name"] == metric
    }
    profile = sampling.read_profile(shared_data / "ncu" / name, profile_cycles=is_cycles)
    durations = profile.load(("duration_ns",))["duration_ns"].tolist()
    assert durations == [round(printed[number]) for number in sorted(printed)]
    assert (profile.duration_unit == "cycles") == is_cycles


def test_both_pages_of_a_launch_last_as_long(shared_data: Path) -> None:
    raw, details = (
        sampling.read_profile(shared_data / "ncu" / f"ncu2024.1-{page}.csv").load(("duration_ns",))
        for page in ("raw", "details")
    )
    # The details page has four digits.
    assert raw["duration_ns"][0] == pytest.approx(details["duration_ns"][0], rel=1e-3)


def test_traces_of_a_program_are_planned_by_their_instructions(runs: Path, tmp_path: Path) -> None:
    from sampling.simulators.export import ExportChoices

    profile = sampling.read_profile(runs / "traces")
    rows = (runs / "traces" / "stats.csv").read_text().splitlines()[1:]
    assert profile.load(("duration_ns",))["duration_ns"].tolist() == [int(row.split(",")[10]) for row in rows]
    assert profile.notes[0].endswith("no durations: instructions stand for time")
    made = sampling.make_plan(profile, sampling.PlanRequest(method="random", set=("random.launches=4",)))
    sampling.write_plan(made, tmp_path / "plan.json")
    plan = sampling.read_plan(str(tmp_path / "plan.json"))
    choices = ExportChoices(traces=str(runs / "traces"), caches="cold", drop_copies=True)
    listed = str(dict(export_plan(plan, "accel-sim", choices))["kernelslist.g"]).split()
    assert sorted(listed) == sorted(f"kernel-{launch.id + 1}.traceg" for launch in plan.drawn)
