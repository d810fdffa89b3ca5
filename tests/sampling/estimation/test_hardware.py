"""Simulated against recorded time: by hand, and where there is nothing to compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs

import sampling
from sampling.errors import OptionError
from sampling.estimation.hardware import (
    HardwareComparison,
    compare_with_hardware,
    find_main_cause,
    parse_clock,
    with_clock,
)
from sampling.estimation.summary import compare_groups, summarise_estimate
from sampling.estimation.total import IntervalParts, PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.simulators.results import SimulatedLaunches
from tests.small_plans import options_of, plan_of_strata, stratum

GHZ = 2e9
# Of each kernel: launches, nanoseconds of each, cycles of each. At 2 GHz copy takes 3 times as long as
# recorded, gemm as long, norm 0.9 times.
KERNELS = {"gemm": (10, 1000, 2000), "copy": (5, 2000, 12_000), "norm": (4, 500, 900)}
RECORDED_NS = 10 * 1000 + 5 * 2000 + 4 * 500
SIMULATED_NS = 10 * 1000 + 5 * 6000 + 4 * 450


def small_plan(method: str = "joint") -> PlanFile:
    """Every second launch of each kernel is drawn."""
    strata, first = [], 0
    for name, (size, ns, _) in KERNELS.items():
        ids = range(first, first + size, 2)
        launches = [PlannedLaunch(i, 7, 0, i, name, None, None, 0, size / len(ids), ns) for i in ids]
        strata.append(stratum(name, size, float(ns), 0.0, launches))
        first += size
    return plan_of_strata(strata, options_of(method), total_duration_ns=RECORDED_NS)


def simulated(
    plan: PlanFile, clock_hz: float | None = GHZ, without: str = "", metric: str = "cycles"
) -> PlanEstimate:
    launches = [launch for launch in plan.drawn if launch.name != without]
    values = np.array([float(KERNELS[launch.name][2]) for launch in launches])
    results = SimulatedLaunches(
        np.array([launch.id for launch in launches]), {metric: values}, clock_hz=clock_hz
    )
    return estimate_plan(plan, results)


def test_time_is_cycles_over_the_clock_and_the_interval_the_totals() -> None:
    estimate = simulated(small_plan())
    hardware = compare_with_hardware(estimate)
    assert hardware is not None
    assert (hardware.clock_hz, hardware.recorded_ns) == (GHZ, RECORDED_NS)
    assert hardware.simulated_ns == pytest.approx(SIMULATED_NS)
    assert hardware.ratio == pytest.approx(SIMULATED_NS / RECORDED_NS)
    total = estimate.main
    assert hardware.low == pytest.approx(total.low / total.total * hardware.ratio)
    assert hardware.high == pytest.approx(total.high / total.total * hardware.ratio)
    assert hardware.is_clear
    summary = summarise_estimate(estimate, groups=True, target=None, accept_cold=False)
    assert summary.hardware == hardware
    assert {group.key: group.hardware_ratio for group in summary.groups} == pytest.approx(
        {"copy": 3.0, "gemm": 1.0, "norm": 0.9}
    )


def test_groups_have_the_largest_difference_first_and_one_explains_most() -> None:
    groups = compare_groups(simulated(small_plan()))
    assert [group.key for group in groups] == ["copy", "norm", "gemm"]
    differences = [group.hardware.difference_ns for group in groups if group.hardware is not None]
    assert differences == pytest.approx([20_000, -200, 0], abs=1e-6)
    cause = find_main_cause({group.key: group.hardware for group in groups if group.hardware is not None})
    assert cause == ("copy", pytest.approx(20_000 / 20_200))
    # By their totals, and in the plan's order in JSON, where no clock is known.
    unclocked = simulated(small_plan(), clock_hz=None)
    assert [group.key for group in compare_groups(unclocked)] == ["copy", "gemm", "norm"]
    rows = summarise_estimate(unclocked, groups=True, target=None, accept_cold=False).groups
    assert [(row.key, row.hardware_ratio) for row in rows] == [("gemm", None), ("copy", None), ("norm", None)]


def test_a_part_has_no_time_but_its_whole_groups_have() -> None:
    estimate = simulated(small_plan(), without="copy")
    assert compare_with_hardware(estimate) is None
    ratios = {group.key: group.hardware and group.hardware.ratio for group in compare_groups(estimate)}
    assert ratios == {"gemm": pytest.approx(1), "norm": pytest.approx(0.9), "copy": None}


def test_picked_launches_have_a_ratio_without_an_interval() -> None:
    hardware = compare_with_hardware(simulated(small_plan("first-instructions")))
    assert hardware is not None
    assert (hardware.ratio, hardware.low, hardware.high) == (
        pytest.approx(SIMULATED_NS / RECORDED_NS),
        None,
        None,
    )
    assert not hardware.is_clear


def test_there_is_nothing_to_compare() -> None:
    plan = small_plan()
    assert compare_with_hardware(simulated(plan, clock_hz=None)) is None
    assert compare_with_hardware(simulated(plan, metric="instructions")) is None
    of_simulator = structs.replace(plan, profile=structs.replace(plan.profile, in_cycles=True))
    assert not any(group.hardware for group in compare_groups(simulated(of_simulator)))
    assert compare_with_hardware(simulated(of_simulator)) is None
    # What never ran is in the total as another kernel behaves, and its recorded time is not.
    assumed = replace(simulated(plan), parts=IntervalParts(0.01, 0.0, 0.0, 0.0, 0.1))
    assert compare_with_hardware(assumed) is None


def test_a_clock_that_is_said_stands_for_the_results() -> None:
    plan, results = small_plan(), simulated(small_plan(), clock_hz=None).results
    assert with_clock(plan, results, None) is results
    assert with_clock(plan, results, GHZ).clock_hz == GHZ
    printed = replace(results, clock_hz=1132e6)
    assert with_clock(plan, printed, None).clock_hz == 1132e6
    assert with_clock(plan, printed, GHZ).clock_hz == GHZ
    of_simulator = structs.replace(plan, profile=structs.replace(plan.profile, in_cycles=True))
    with pytest.raises(OptionError, match="the plan's profile has no times"):
        with_clock(of_simulator, results, GHZ)
    with pytest.raises(OptionError, match="they have none"):
        with_clock(plan, replace(results, metrics={"instructions": results.metrics["cycles"]}), GHZ)


def comparison(difference: float, half_width: float = 0.0) -> HardwareComparison:
    ratio = 1 + difference / 100
    return HardwareComparison(1e9, 100 + difference, 100.0, ratio, ratio - half_width, ratio + half_width)


@given(st.lists(st.floats(-99, 99), min_size=2, max_size=8))
def test_a_main_cause_is_one_more_than_all_others(differences: list[float]) -> None:
    comparisons = {str(number): comparison(ns) for number, ns in enumerate(differences)}
    sizes = {key: abs(row.difference_ns) for key, row in comparisons.items()}
    cause = find_main_cause(comparisons)
    if cause is None:
        assert max(sizes.values()) <= 0.5 * sum(sizes.values()) * (1 + 1e-9)
    else:
        key, share = cause
        assert sizes[key] > sum(sizes.values()) - sizes[key]
        assert share == pytest.approx(sizes[key] / sum(sizes.values()))
        # What it does is what the whole does.
        total_ns = sum(row.difference_ns for row in comparisons.values())
        assert np.sign(total_ns) == np.sign(comparisons[key].difference_ns)


def test_no_kernel_is_a_cause_alone_or_where_it_may_be_chance() -> None:
    assert find_main_cause({}) is None
    assert find_main_cause({"a": comparison(20)}) is None
    assert find_main_cause({"a": comparison(20, half_width=0.3), "b": comparison(1)}) is None
    cause = find_main_cause({"b": comparison(1), "a": comparison(20, half_width=0.1)})
    assert cause == ("a", pytest.approx(20 / 21))


@pytest.mark.parametrize(
    ("text", "hz"),
    [
        ("1132MHz", 1132e6),
        (" 1.132 GHz ", 1.132e9),
        ("1132000000", 1132e6),
        ("1.132e9", 1132e6),
        ("1132000kHz", 1132e6),
        ("1132mhz", 1132e6),
        ("1.2G", 1.2e9),
        (".5GHz", 0.5e9),
    ],
)
def test_a_clock_is_read(text: str, hz: float) -> None:
    assert parse_clock(text) == pytest.approx(hz)


@pytest.mark.parametrize(
    "text",
    ["5 apples", "0", "-1", "", "MHz", "1132", "1.2.3GHz", "nan", "inf", "1e999", "1132 THz", "200GHz"],
)
def test_what_is_no_clock_of_a_gpu_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="clock` is the clock of a GPU, not") as error:
        parse_clock(text)
    assert error.value.remedy is not None


# Which plans say that their durations are cycles.

TABLE = "name,duration_ns,cycles\na,100,{0}\nb,300,300\n"
LOG = (
    "-kernel name = {0}\n-kernel id = {1}\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n"
    "kernel_name = {0} \nkernel_launch_uid = {1} \ngpu_sim_cycle = {2}\ngpu_sim_insn = 64\n"
    "gpu_tot_sim_cycle = {2}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "columns", "in_cycles"),
    [
        ("run.log", LOG.format("_Z1aPf", 1, 100), None, True),
        ("same.csv", TABLE.format(100), None, True),
        ("other.csv", TABLE.format(171), None, UNSET),
        ("named.csv", "name,Cycles\na,100\nb,300\n", "name=name,duration_ns=Cycles", True),
        ("times.csv", "name,t\na,100\nb,300\n", "name=name,duration_ns=t", UNSET),
    ],
)
def test_a_plan_says_that_its_durations_are_cycles(
    tmp_path: Path, name: str, text: str, columns: str | None, in_cycles: object
) -> None:
    (tmp_path / name).write_text(text)
    profile = sampling.read_profile(tmp_path / name, columns=columns)
    sampling.write_plan(sampling.make_plan(profile), tmp_path / "plan.json")
    assert sampling.read_plan(tmp_path / "plan.json").profile.in_cycles is in_cycles
    assert ("in_cycles" in (tmp_path / "plan.json").read_text()) is (in_cycles is True)
