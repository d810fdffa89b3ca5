"""Several configurations on one plan: who is faster, what is alike, what is refused, what would tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sampling
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.configurations import (
    Likeness,
    PlanSpeedups,
    compare_configurations,
    compare_kernels,
    read_configurations,
)
from sampling.estimation.interval import estimate
from sampling.estimation.speedup import Verdict
from sampling.estimation.top_up import top_up_speedups
from sampling.estimation.total import NOT_RANDOM, estimate_plan
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.simulators.results import SimulatedLaunches
from sampling.study.comparison import single_program
from sampling.study.summary import summarise_study

Written = Callable[..., PlanFile]


@pytest.fixture(scope="module")
def written(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A plan file of the resnet sample, as it is read."""
    profile = sampling.read_profile(sample_data / "resnet50-like.sqlite")
    path = tmp_path_factory.mktemp("plan") / "plan.json"

    def write(**asked: Any) -> PlanFile:
        sampling.write_plan(sampling.make_plan(profile, sampling.PlanRequest(**asked)), path)
        return read_plan(str(path))

    return write


def simulated(
    plan: PlanFile, faster: float = 1.0, spread: float = 0.0, seed: int = 0, **about: Any
) -> SimulatedLaunches:
    """Three cycles a nanosecond, divided by a speedup that varies from launch to launch."""
    ids = np.array([launch.id for launch in plan.drawn])
    ns = np.array([launch.duration_ns for launch in plan.drawn], dtype=np.float64)
    own = np.random.default_rng(seed).lognormal(0, spread, len(ids))
    return SimulatedLaunches(ids, {"cycles": 3 * ns / faster * own}, **about)


def compared(plan: PlanFile, **asked: Any) -> PlanSpeedups:
    results = {
        "base": simulated(plan),
        "quick": simulated(plan, 1.1, 0.01),
        "alike": simulated(plan, 1.0),
        "slow": simulated(plan, 0.9, 0.01, 1),
    }
    return compare_configurations(plan, results, **asked)


def test_speedups_are_quotients_of_the_totals_that_estimates_print(written: Written) -> None:
    plan = written(min_samples=2)
    found = compared(plan)
    totals = {name: one.estimate.main.total for name, one in found.by_name.items()}
    for speedup in found.speedups:
        assert speedup.ratio == pytest.approx(totals["base"] / totals[speedup.name], rel=1e-12)
        assert (
            totals[speedup.name]
            == estimate_plan(plan, found.by_name[speedup.name].estimate.results).main.total
        )
    verdicts = [found.verdict(speedup) for speedup in found.speedups]
    assert verdicts == [Verdict.FASTER, Verdict.SAME, Verdict.SLOWER]
    assert [found.likeness(speedup) for speedup in found.speedups] == [None, Likeness.EQUAL, None]
    assert found.simultaneous
    alone = compare_configurations(plan, {"base": simulated(plan), "quick": simulated(plan, 1.1, 0.01)})
    assert not alone.simultaneous
    # Three at once are wider than one.
    assert found.speedups[0].half_width > alone.speedups[0].half_width


def test_all_pairs_contain_those_with_the_base(written: Written) -> None:
    found = compared(written(min_samples=2), all_pairs=True)
    assert [(one.base, one.name) for one in found.speedups[:3]] == [("base", each) for each in found.by_name][
        1:
    ]
    assert len(found.speedups) == 6
    ratios = {(one.base, one.name): one.ratio for one in found.speedups}
    assert ratios["quick", "slow"] == pytest.approx(ratios["base", "slow"] / ratios["base", "quick"])


def test_kernels_have_intervals_of_their_own_and_add_up(written: Written) -> None:
    plan = written(min_samples=2)
    found = compared(plan)
    kernels = compare_kernels(found)
    for name in ("quick", "slow"):
        of_name = [group for group in kernels if group.speedup.name == name]
        total = found.by_name[name].estimate.main.total
        assert sum(group.cycles for group in of_name) == pytest.approx(total, rel=1e-12)
        assert all(
            group.speedup.ratio == pytest.approx(group.base_cycles / group.cycles) for group in of_name
        )
    changes = [abs(group.base_cycles - group.cycles) for group in kernels]
    assert changes == sorted(changes, reverse=True)
    assert len({group.key for group in kernels}) > 1


def test_launches_that_lack_a_result_leave_the_pair(written: Written) -> None:
    plan = written(min_samples=2)
    base, quick = simulated(plan), simulated(plan, 1.1, 0.01)
    stratum = next(stratum for stratum in plan.strata if stratum.samples > 1)
    quick.metrics["cycles"][np.searchsorted(quick.ids, stratum.launches[0].id)] = np.nan
    (speedup,) = compare_configurations(plan, {"base": base, "quick": quick}).speedups
    assert (speedup.missing, speedup.launches) == (1, len(plan.drawn) - 1)
    for launch in stratum.launches:
        quick.metrics["cycles"][np.searchsorted(quick.ids, launch.id)] = np.nan
    found = compare_configurations(plan, {"base": base, "quick": quick})
    assert np.isnan(found.speedups[0].ratio)
    assert "1 stratum has no launch with both results" in str(found.speedups[0].reason)
    assert found.verdict(found.speedups[0]) is None
    assert found.goal(found.speedups[0], 0.01) is None


def test_caches_that_began_otherwise_are_not_compared(written: Written) -> None:
    plan = written()
    states = {name: (name,) * len(plan.drawn) for name in ("warm", "cold")}
    cold, warm = (simulated(plan, caches=states[name]) for name in ("cold", "warm"))
    with pytest.raises(AnalysisError, match="b and a are not compared: of b its launches began cold"):
        compare_configurations(plan, {"a": warm, "b": cold})
    both = compare_configurations(plan, {"a": cold, "b": cold})
    assert not both.is_of_whole_run
    assert not both.is_within(0.5)
    assert both.is_within(0.5, accept_cold=True)


def test_two_logs_of_the_same_options_are_told(written: Written, tmp_path: Path) -> None:
    plan = written()
    options = {"-gpgpu_scheduler": "lrr", "-trace": "a/kernelslist.g"}
    first = simulated(plan, options=options)
    again = simulated(plan, 1.0, 0.001, options=options | {"-trace": "b/kernelslist.g"})
    other = simulated(plan, 1.0, 0.001, options=options | {"-gpgpu_scheduler": "gto"})
    found = compare_configurations(plan, {"base": first, "again": again, "gto": other})
    assert [found.likeness(one) for one in found.speedups] == [Likeness.SAME_OPTIONS, None]
    summary = summarise_study(single_program("plan", found))
    changes = [configuration.options_changed for configuration in summary.configurations]
    assert [[one.option for one in each or ()] for each in changes] == [[], [], ["-gpgpu_scheduler"]]
    path, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("\n".join(["id,cycles", *(f"{launch.id},7" for launch in plan.drawn), ""]))
    copy.write_text(path.read_text())
    files = {"base": [str(path)], "copy": [str(copy)]}
    same = compare_configurations(plan, read_configurations(plan, files), files=files)
    assert same.likeness(same.speedups[0]) is Likeness.SAME_FILES


def test_errors_that_no_launches_narrow_widen_a_speedup(written: Written) -> None:
    plan = written(min_samples=2)
    results = {"base": simulated(plan), "quick": simulated(plan, 1.1, 0.01)}
    narrow, wide = (compare_configurations(plan, results, scale_error=error) for error in (0.0, 0.03))
    expected = np.hypot(narrow.speedups[0].half_width, np.hypot(0.03, 0.03))
    assert wide.speedups[0].half_width == pytest.approx(expected, rel=1e-6)
    # Both predictions are off by 3 %, so a speedup is never known within 1 %.
    assert wide.sizes(wide.speedups[0], 0.01) is None
    with pytest.raises(AnalysisError, match="no launches narrow these speedups enough"):
        top_up_speedups(wide, 0.01)


def test_picked_launches_give_a_ratio_without_interval(written: Written, sample_data: Path) -> None:
    plan = written(method="pks", features=(str(sample_data / "resnet50-like-ncu-raw.csv.gz"),))
    found = compare_configurations(plan, {"a": simulated(plan), "b": simulated(plan, 2.0)})
    (speedup,) = found.speedups
    assert speedup.ratio == pytest.approx(2)
    assert np.isnan(speedup.half_width)
    assert (found.verdict(speedup), speedup.reason) == (None, NOT_RANDOM)
    assert compare_kernels(found) == []
    with pytest.raises(AnalysisError, match="picked launches cannot be topped up"):
        top_up_speedups(found, 0.01)


def test_what_cannot_be_compared_is_refused(written: Written) -> None:
    plan = written()
    base = simulated(plan)
    with pytest.raises(OptionError, match="takes two configurations"):
        compare_configurations(plan, {"base": base})
    with pytest.raises(OptionError, match="the results of dram have no cycles"):
        compare_configurations(
            plan, {"base": base, "dram": replace(base, metrics={"reads": base.metrics["cycles"]})}
        )
    half = len(base.ids) // 2
    parts = [
        SimulatedLaunches(base.ids[rows], {"cycles": base.metrics["cycles"][rows]})
        for rows in (slice(half), slice(half, None))
    ]
    with pytest.raises(AnalysisError, match="b and a have no launch of the plan in common"):
        compare_configurations(plan, dict(zip("ab", parts, strict=True)))


def test_topping_up_ends_with_every_speedup_as_narrow_as_asked_for(written: Written, tmp_path: Path) -> None:
    plan, rounds = written(epsilon=0.1), 0
    while True:
        results = {
            "base": simulated(plan),
            "a": simulated(plan, 1.02, 0.03),
            "b": simulated(plan, 1.0, 0.03, 1),
        }
        found = compare_configurations(plan, results)
        larger = top_up_speedups(found, 0.01)
        if larger is None:
            break
        assert larger.added > 0
        (path := tmp_path / "larger.json").write_text(larger.text)
        before, plan, rounds = {launch.id for launch in plan.drawn}, read_plan(str(path)), rounds + 1
        assert before < {launch.id for launch in plan.drawn}
        assert plan.topped_up is not None
        assert (plan.topped_up.rounds, plan.topped_up.speedup, plan.topped_up_to) == (rounds, 0.01, None)
        assert rounds < 40
    assert rounds > 0
    assert found.is_within(0.01)
    # It stopped where they were narrow, so none is told to be narrower.
    assert all(speedup.half_width >= 0.01 for speedup in found.speedups)


def test_what_is_open_is_told_by_so_many_launches(written: Written) -> None:
    plan = written(min_samples=2)
    results = {"base": simulated(plan), "a": simulated(plan, 1.004, 0.02)}
    found = compare_configurations(plan, results)
    (speedup,) = found.speedups
    assert found.verdict(speedup) is Verdict.OPEN
    number = found.launches_to_tell(speedup)
    assert number is not None
    assert 0 < number < plan.launches - len(plan.drawn)
    goal = found.half_width_to_tell(speedup)
    assert goal >= np.log1p(0.005) / 2
    # With the same spread of so many launches the interval would be as narrow.
    sizes = found.sizes(speedup, goal, np.inf)
    assert sizes is not None
    many = replace(found.sample, planned=sizes)
    assert int(many.planned.sum()) - len(plan.drawn) == number
    assert estimate(many, "base").launches_missing == number
