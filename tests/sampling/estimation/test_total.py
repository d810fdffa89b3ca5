"""A plan and its results: totals, ratios and groups against sums by hand; what is missing is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

import sampling
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.interval import Sample, estimate
from sampling.estimation.top_up import top_up
from sampling.estimation.total import (
    IS_PROJECTED,
    NOT_RANDOM,
    PlanEstimate,
    budgeted,
    build_sample,
    estimate_plan,
    share_projected,
    with_projections,
)
from sampling.plan.plan_file import PlanFile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import POOL_NAME
from sampling.simulators.results import SimulatedLaunches

Written = Callable[..., PlanFile]


@pytest.fixture(scope="module")
def written(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Make a plan of the bundled resnet profile, write it and read it back."""
    profile = sampling.read_profile(sample_data / "resnet50-like.sqlite")
    numbers = iter(range(100))

    def write(**asked: object) -> PlanFile:
        path = tmp_path_factory.mktemp("plans") / f"plan-{next(numbers)}.json"
        sampling.write_plan(sampling.make_plan(profile, sampling.PlanRequest(**asked)), path)  # type: ignore[arg-type]
        return sampling.read_plan(path)

    return write


def simulated(plan: PlanFile, spread: float = 0.0, seed: int = 0, **gone: float) -> SimulatedLaunches:
    """Return 3 cycles and 2 instructions a nanosecond, with some noise that each launch has by its id."""
    ids = np.array(sorted({launch.id for launch in plan.drawn}), dtype=np.int64)
    duration_ns = {launch.id: launch.duration_ns for launch in plan.drawn}
    x = np.array([duration_ns[each] for each in ids.tolist()], dtype=np.float64)
    noise = np.exp(spread * np.random.default_rng(seed).standard_normal(10_000)[ids])
    metrics = {"cycles": 3 * x * noise, "instructions": 2 * x}
    for name, share in gone.items():
        metrics[name][: int(share * len(ids))] = np.nan
    return SimulatedLaunches(ids, metrics, ("one note",))


def of(found: PlanEstimate, metric: str) -> float:
    return next(total.total for total in found.totals if total.metric == metric)


def test_cycles_that_follow_durations_give_the_whole_exactly(written: Written) -> None:
    plan = written(epsilon=0.05)
    found = estimate_plan(plan, simulated(plan))
    assert of(found, "cycles") == pytest.approx(3 * plan.total_duration_ns, rel=1e-9)
    assert of(found, "instructions") == pytest.approx(2 * plan.total_duration_ns, rel=1e-9)
    (ipc,) = found.ratios
    assert ipc.ratio == pytest.approx(2 / 3)
    assert "one note" in found.notes
    assert sum(total.total for _, total in found.groups) == pytest.approx(of(found, "cycles"))
    # All pools are compared with each other.
    keys = {POOL_NAME if stratum.pooled else stratum.key for stratum in plan.strata}
    assert {key for key, _ in found.groups} == keys
    assert POOL_NAME in keys
    assert found.missing == ((), ())


def test_what_a_plan_declares_is_what_its_strata_start_from(written: Written) -> None:
    plan = written(epsilon=0.05)
    plan = structs.replace(plan, options=structs.replace(plan.options, noise_floor=0.1, kernel_spread=0.2))
    by_name = written(epsilon=0.05, group_by="name")
    none = structs.replace(plan, options=structs.replace(plan.options, noise_floor=0.0, kernel_spread=0.0))
    # What launches of several grids add, a tenth, nobody asks for; 0.02 and 0.3 are the least of the others.
    for asked, within, between in ((plan, 0.1, 0.3), (none, 0.02, 0.3), (by_name, 0.05, 0.3)):
        kinds = [(stratum.signatures > 1, stratum.pooled) for stratum in asked.strata]
        declared = [within**2 + 0.1**2 * several + between**2 * pooled for several, pooled in kinds]
        assert build_sample(asked, simulated(asked)).declared == pytest.approx(declared)
        assert {(False, False), (True, True)} <= set(kinds)
    assert (True, False) in kinds
    # Of a random plan all kernels are in one stratum; other methods declare nothing of their own.
    whole = written(method="random", set=("random.launches=30",))
    assert build_sample(whole, simulated(whole)).declared == pytest.approx([0.05**2 + 0.1**2 + 0.3**2])


def test_launches_without_a_result_are_named_and_their_time_said(written: Written) -> None:
    plan = written(epsilon=0.05)
    all_there = simulated(plan)
    first = plan.strata[0]
    kept = ~np.isin(all_there.ids, [launch.id for launch in first.launches])
    metrics = {name: values[kept] for name, values in all_there.metrics.items()}
    found = estimate_plan(plan, SimulatedLaunches(all_there.ids[kept], metrics))
    assert found.missing[0] == tuple(sorted(launch.id for launch in first.launches))
    assert found.main.is_incomplete
    share = first.size * first.mean_ns / plan.total_duration_ns
    assert found.main.share_missing == pytest.approx(share)
    assert not found.main.is_within(0.99)
    # No total, interval or ratio of a part.
    assert np.isnan(of(found, "cycles"))
    assert (found.main.low, found.main.seen) == (None, None)
    assert [(ratio.ratio, ratio.is_incomplete) for ratio in found.ratios] == [(None, True)]


def test_a_launch_that_was_cut_off_is_run_again(written: Written) -> None:
    """Its id is among the results and has no value: the larger plan does not count it as simulated."""
    plan = written(epsilon=0.05)
    results = simulated(plan, 0.2)
    cut = plan.strata[0].launches[0].id
    results.metrics["cycles"][results.ids == cut] = np.nan
    found = estimate_plan(plan, results)
    larger = top_up(plan, results, found.main, 0.01)
    path = Path(plan.path).with_name("larger.json")
    path.write_text(larger.text)
    grown = sampling.read_plan(path)
    assert cut not in grown.simulated
    assert cut in {launch.id for launch in grown.to_simulate().drawn}
    assert {launch.id for launch in larger.to_run} == {launch.id for launch in grown.to_simulate().drawn}
    assert larger.added == len(grown.drawn) - len(plan.drawn)
    assert larger.launches == len(grown.drawn)


def test_a_topped_up_plan_is_estimated_alike_with_a_target_or_without(written: Written) -> None:
    plan = written(epsilon=0.05)
    found = estimate_plan(plan, simulated(plan))
    assert found.main.half_width is not None
    narrow = found.main.half_width / found.main.total
    path = Path(plan.path).with_name("larger.json")
    for rounds in (1, 2):
        path.write_text(top_up(plan, simulated(plan), found.main, 1.5 * narrow).text)
        plan = sampling.read_plan(path)
        assert (plan.topped_up.rounds if plan.topped_up else 0, plan.topped_up_to) == (rounds, 1.5 * narrow)
        widened = estimate_plan(plan, simulated(plan)).main
        assert widened.half_width == pytest.approx(1.5 * narrow * widened.total)


def test_a_metric_that_no_launch_has_is_left_out(written: Written) -> None:
    plan = written(epsilon=0.05)
    found = estimate_plan(plan, simulated(plan, instructions=1.0))
    assert [total.metric for total in found.totals] == ["cycles"]
    assert found.ratios == ()
    with pytest.raises(AnalysisError, match="no metric of any launch"):
        estimate_plan(plan, simulated(plan, instructions=1.0, cycles=1.0))


def test_picked_launches_give_a_total_and_no_interval(sample_data: Path, written: Written) -> None:
    plan = written(method="pks", features=[str(sample_data / "resnet50-like-ncu-raw.csv.gz")])
    found = estimate_plan(plan, simulated(plan))
    weighted = sum(3 * launch.weight * launch.duration_ns for launch in plan.drawn)
    assert of(found, "cycles") == pytest.approx(weighted)
    assert found.main.low is None
    assert NOT_RANDOM in found.main.notes
    (ipc,) = found.ratios
    assert ipc.ratio == pytest.approx(of(found, "instructions") / weighted)
    assert (ipc.low, ipc.reason) == (None, NOT_RANDOM)
    assert found.main.seen is None
    assert found.groups == ()
    with pytest.raises(AnalysisError, match="picked launches cannot be topped up"):
        top_up(plan, simulated(plan), found.main, 0.05)


def test_topping_up_contains_what_was_simulated_and_ends(written: Written, sample_data: Path) -> None:
    profile = sampling.read_profile(sample_data / "resnet50-like.sqlite")
    plan = written(epsilon=0.1)
    counts = count_durations(profile, plan.grouping, plan.options.region)
    rounds = 0
    while True:
        results = simulated(plan, 0.15, seed=4)
        found = estimate_plan(plan, results)
        assert found.main.low is not None
        assert found.main.high is not None
        if found.main.is_within(0.01):
            break
        larger = top_up(plan, results, found.main, 0.01)
        assert larger.to_run
        path = Path(plan.path).with_name(f"round-{rounds}.json")
        path.write_text(larger.text)
        grown = sampling.read_plan(path)
        before, after = ({launch.id for launch in each.drawn} for each in (plan, grown))
        assert before < after
        assert after - before == {launch.id for launch in larger.to_run}
        assert set(grown.simulated) == before
        assert {launch.id for launch in grown.to_simulate().drawn} == after - before
        assert [stratum.size for stratum in grown.strata] == [stratum.size for stratum in plan.strata]
        assert sum(launch.weight for launch in grown.drawn) == pytest.approx(counts.launches)
        sampled, was = (sum(each.duration_ns for each in one.drawn) for one in (grown, plan))
        # At most a quarter more on average; single launches last longer or shorter.
        assert sampled <= 1.5 * was
        plan, rounds = grown, rounds + 1
        assert rounds < 60
    assert rounds
    assert len({launch.id for launch in plan.drawn}) < counts.launches


def test_what_no_launches_narrow_leaves_less_of_the_target_for_them(written: Written) -> None:
    plan = written(epsilon=0.05)
    results = simulated(plan, 0.05)
    found = estimate_plan(plan, results, scale_error=0.03)
    assert found.parts is not None
    assert found.parts.sampling is not None
    assert found.beside_sampling == pytest.approx(0.03)
    target = 0.9 * float(np.hypot(found.parts.sampling, 0.03))
    alone, beside = (
        top_up(plan, results, found.main, target, other_error=part).launches
        for part in (0.0, found.beside_sampling)
    )
    assert beside > alone > len(plan.drawn)
    with pytest.raises(AnalysisError, match=r"no launches bring the total within 0\.02"):
        top_up(plan, results, found.main, 0.02, other_error=found.beside_sampling)


def results_of(cycles: list[float], projected: list[float]) -> SimulatedLaunches:
    return SimulatedLaunches(
        np.arange(len(cycles)), {"cycles": np.array(cycles), "projected_cycles": np.array(projected)}
    )


NONE = float("nan")


def test_the_error_is_measured_where_launches_ran_both_ways() -> None:
    known, error = with_projections(results_of([100, 100, 200, NONE], [110, 90, 200, 300]), 0.5)
    assert known.metrics["cycles"].tolist() == [100, 100, 200, 300]
    assert known.metrics[IS_PROJECTED].tolist() == [0, 0, 0, 1]
    assert error == pytest.approx(np.sqrt((0.01 + 0.01 + 0) / 3))
    # With fewer it must be declared.
    given = results_of([100, 100, NONE], [110, 90, 300])
    with pytest.raises(OptionError, match="1 launch is projected, and 2 simulated to the end"):
        with_projections(given, None)
    assert with_projections(given, 0.1)[1] == 0.1


def test_squares_of_the_parts_add_up(sample: Callable[..., Sample]) -> None:
    """Groups 0 and 1 are projected, 60 % and 20 % of the cycles; alike within a group, not between."""
    rows = [(1.0, 30.0)] * 2, [(1.0, 30.0)] * 2, [(1.0, 20.0)] * 2, [(1.0, 19.0), (1.0, 21.0)]
    made = sample(*((10, 1.0, each) for each in rows), group=[0, 0, 1, 2])
    marked = np.column_stack([made.y, made.y[:, 0] * (made.group[made.stratum] < 2)])
    both = replace(made, y=marked, metrics=("cycles", IS_PROJECTED))
    assert share_projected(both) == pytest.approx(np.hypot(0.6, 0.2))
    total = estimate(made, "cycles", 0.95)
    found, parts = budgeted(total, 0.1, 0.04, 0.0)
    assert total.half_width is not None
    assert parts.sampling == pytest.approx(total.half_width / 1000)
    expected = 1000 * np.sqrt(0.1**2 + (total.half_width / 1000) ** 2 + 0.04**2)
    assert (found.total, found.half_width) == (total.total, pytest.approx(expected))
    none, parts = budgeted(replace(total, low=None, high=None), 0.1, 0.04, 0.0)
    assert (none.low, parts.sampling) == (None, None)
