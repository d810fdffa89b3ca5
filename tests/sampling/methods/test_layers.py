"""Whole layers drawn at random: what a plan has of them, what that promises, and what is estimated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import NotApplicableError, OptionError
from sampling.estimation.total import estimate_plan
from sampling.plan.draft import Draft, draft_plan
from sampling.plan.layer_summary import summarise_layers
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document, planned_strata
from sampling.plan.plan_file import PlanFile
from sampling.plan.request import PlanRequest
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.layers import find_layers
from sampling.simulators.results import SimulatedLaunches

LaunchTable = Callable[..., Profile]
KERNELS = ["norm", "qkv", "attention", "projection", "mlp"]
LAYERS, STEPS = 8, 5
STEP = ["embed", *KERNELS * LAYERS, "head", "loss"]


def network(launch_table: LaunchTable, seed: int = 0) -> Profile:
    """Return steps of a network whose layers, and launches, last differently long."""
    rng = np.random.default_rng(seed)
    base = np.tile([3_000, 20_000, 40_000, 10_000, 60_000], LAYERS)
    layer = np.repeat(rng.normal(1, 0.1, LAYERS), len(KERNELS))
    times = [
        np.concatenate([[9_000], base * layer * rng.normal(1, 0.02, len(base)), [150_000, 4_000]])
        for _ in range(STEPS)
    ]
    return launch_table(STEP * STEPS, np.concatenate(times).astype(int))


def drafted(launch_table: LaunchTable, layers: int = 3, seed: int = 0) -> Draft:
    """Return a draft that draws layers."""
    return draft_plan(network(launch_table), PlanRequest(layers=layers, seed=seed))


def layer_rows(draft: Draft) -> list[range]:
    """Return the ids of every layer."""
    starts = [step * len(STEP) + 1 + 5 * layer for step in range(STEPS) for layer in range(LAYERS)]
    return [range(start, start + 5) for start in starts]


@pytest.fixture(name="plan")
def plan_fixture(launch_table: LaunchTable, monkeypatch: pytest.MonkeyPatch) -> PlanFile:
    """Return a plan of three layers, as its file holds it."""
    draft = drafted(launch_table)
    monkeypatch.setattr("sampling.plan.plan.sha256_as_read", lambda _: "0" * 64)
    plan = drawn_plan(draft.counts, draft.design, 0)
    monkeypatch.setattr("sampling.plan.plan.refuse_changed", lambda _: None)
    return plan_document(draft, plan, find_planned_launches(draft, plan))


def test_the_plan_has_all_launches_of_whole_layers_and_counts_the_rest(
    launch_table: LaunchTable, plan: PlanFile
) -> None:
    draft = drafted(launch_table)
    stratum, *outside = plan.strata
    assert (stratum.size, stratum.samples, stratum.of_layers) == (LAYERS * STEPS * 5, 15, LAYERS * STEPS)
    ids = [launch.id for launch in stratum.launches]
    drawn = [rows for rows in layer_rows(draft) if rows[0] in ids]
    assert ids == [row for rows in drawn for row in rows]
    assert [(layer.step, layer.number) for layer in stratum.layers] == [
        (rows[0] // len(STEP), (rows[0] % len(STEP) - 1) // 5) for rows in drawn
    ]
    assert {launch.weight for launch in stratum.launches} == {LAYERS * STEPS / 3}
    # What is outside is in strata of its kernel groups; together they hold everything once.
    assert sorted(of.size for of in outside) == [STEPS] * 3
    assert sum(of.size for of in plan.strata) == plan.launches == len(STEP) * STEPS
    assert sum(of.size * of.mean_ns for of in plan.strata) == pytest.approx(plan.total_duration_ns)


def test_the_promise_is_that_of_drawing_whole_layers(launch_table: LaunchTable) -> None:
    draft = drafted(launch_table)
    layers = find_layers(draft.profile, draft.counts)
    assert layers is not None
    # Drawn by hand, over and over; what lies outside of layers lasts equally long in every step.
    rng, times = np.random.default_rng(1), layers.time_ns
    drawn = [times[rng.choice(len(times), 3, replace=False)].mean() for _ in range(20_000)]
    errors = np.abs(np.array(drawn) - times.mean()) * len(times) / draft.counts.total_duration_ns
    normal = 1.96 * len(times) * times.std(ddof=1) * np.sqrt(1 / 3 - 1 / len(times))
    expected = max(np.quantile(errors, 0.95), normal / draft.counts.total_duration_ns)
    assert draft.design.bounds.bound == pytest.approx(expected, rel=0.03)
    assert draft.design.bounds.group_bound is None


def test_estimates_of_profile_time_are_unbiased(launch_table: LaunchTable) -> None:
    draft = drafted(launch_table)
    estimates = [drawn_plan(draft.counts, draft.design, seed).estimate_ns for seed in range(600)]
    spread = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - draft.counts.total_duration_ns) < 4 * spread


def test_intervals_hold_where_a_layers_launches_are_alike(
    launch_table: LaunchTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All launches of a layer are slower or faster than profiled, by 8 %: nine in ten intervals hold."""
    monkeypatch.setattr("sampling.plan.plan.sha256_as_read", lambda _: "0" * 64)
    draft, rng, held = drafted(launch_table, layers=4), np.random.default_rng(2), []
    factor = np.ones(len(STEP) * STEPS)
    times = draft.profile.parts[0].load(("duration_ns",))["duration_ns"].astype(float)
    for seed in range(200):
        for rows in layer_rows(draft):
            factor[rows[0] : rows[-1] + 1] = rng.normal(1, 0.08)
        cycles = 1.4 * times * factor
        plan = drawn_plan(draft.counts, draft.design, seed)
        document = plan_document(draft, plan, find_planned_launches(draft, plan))
        ids = np.array([launch.id for launch in document.drawn])
        total = estimate_plan(document, SimulatedLaunches(ids, {"cycles": cycles[ids]})).main
        assert total.low is not None
        assert total.high is not None
        held.append(total.low <= cycles.sum() <= total.high)
    assert np.mean(held) > 0.9


def test_a_layer_without_one_of_its_results_is_left_out_whole(plan: PlanFile) -> None:
    layers = plan.strata[0].layers
    ids = np.array([launch.id for launch in plan.drawn])
    cycles = 2.0 * np.array([launch.duration_ns for launch in plan.drawn])
    lost = plan.strata[0].launches[7].id
    total = estimate_plan(plan, SimulatedLaunches(ids[ids != lost], {"cycles": cycles[ids != lost]})).main
    assert len(layers) == 3
    assert not total.is_incomplete
    assert total.total == pytest.approx(2 * plan.total_duration_ns)
    assert total.launches_missing == layers[0].launches


def test_rates_and_projections_are_of_launches_and_layers_only_add_them_up(plan: PlanFile) -> None:
    ids = np.array([launch.id for launch in plan.drawn])
    duration_ns = np.array([float(launch.duration_ns or 0) for launch in plan.drawn])
    weight = np.array([launch.weight for launch in plan.drawn])
    rate = 10.0 + ids % 7
    estimate = estimate_plan(plan, SimulatedLaunches(ids, {"cycles": duration_ns, "l2.rate": rate}))
    (mean,) = [ratio for ratio in estimate.ratios if ratio.name == "l2.rate"]
    times = weight * duration_ns
    assert mean.ratio == pytest.approx(times @ rate / times.sum(), rel=0.02)
    # A tenth of error in launches that are projected is a tenth at most of the total.
    is_projected = ids % 2 == 1
    metrics = {
        "cycles": np.where(is_projected, np.nan, duration_ns),
        "projected_cycles": np.where(is_projected, duration_ns, np.nan),
    }
    parts = estimate_plan(plan, SimulatedLaunches(ids, metrics), projection_error=0.1).parts
    assert parts is not None
    assert 0 < parts.projection <= 0.1 * 1.96


def test_a_plan_whose_layers_disagree_is_refused(plan: PlanFile, tmp_path: Path) -> None:
    from sampling.errors import PlanFileError
    from sampling.plan.plan_file import read_plan

    document = json.loads(plan.text())
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    assert read_plan(str(path)).strata == plan.strata
    document["strata"][0]["layers"].pop()
    path.write_text(json.dumps(document))
    with pytest.raises(PlanFileError, match="its layers are not those of its launches"):
        read_plan(str(path))


def test_without_a_profile_only_figures_are_listed(launch_table: LaunchTable) -> None:
    draft = drafted(launch_table)
    rows = list(planned_strata(drawn_plan(draft.counts, draft.design, 0)))
    assert [row.of_layers for row in rows][:2] == [LAYERS * STEPS, 0]


def test_the_option_is_the_method_and_its_setting() -> None:
    request = PlanRequest(layers=4)
    assert (request.method, request.set, request.layers) == ("layers", ("layers.draw=4",), None)
    assert PlanRequest(layers=4, method="layers") == request
    with pytest.raises(OptionError, match="layers"):
        PlanRequest(layers=4, method="root")


def test_of_a_run_without_layers_none_are_drawn(launch_table: LaunchTable) -> None:
    with pytest.raises(NotApplicableError, match="no layers to draw"):
        draft_plan(launch_table([f"k{number}" for number in range(40)], [5] * 40), PlanRequest(layers=3))


def test_the_summary_is_what_drawing_and_multiplying_give(launch_table: LaunchTable) -> None:
    profile = network(launch_table)
    layers = find_layers(profile, count_durations(profile, PlanRequest().grouping, PlanRequest().region))
    assert layers is not None
    (family,) = summarise_layers(layers, 3).families
    times = layers.time_ns
    one_for_all = np.abs(len(times) * times / times.sum() - 1)
    assert family.first_error == pytest.approx(one_for_all[0])
    assert family.middle_error == pytest.approx(one_for_all[LAYERS // 2])
    assert (family.mean_error, family.worst_error) == pytest.approx((one_for_all.mean(), one_for_all.max()))
    # By hand for three layers: t of two degrees of freedom is 4.303.
    squares = times.var(ddof=1) * 4.303**2 * (1 / 3 - 1 / len(times))
    assert family.half_width == pytest.approx(np.sqrt(squares) / times.mean(), rel=0.05)
    assert family.coverage == pytest.approx(0.95, abs=0.04)
    all_of_them = summarise_layers(layers, len(times)).families[0]
    assert (all_of_them.drawn_error, all_of_them.coverage) == pytest.approx((0, 1))


def test_a_rate_of_whole_layers_is_weighted_launch_by_launch(plan: PlanFile) -> None:
    """Not the sum of a layer's rates by the sum of its counts."""
    ids = np.array([launch.id for launch in plan.drawn])
    sectors, rate = 100.0 + ids % 7, 30.0 + ids % 5
    results = SimulatedLaunches(ids, {"lts__t_sectors.sum": sectors, "lts__t_sector_hit_rate.pct": rate})
    estimate = estimate_plan(plan, results)
    hits = estimate_plan(plan, SimulatedLaunches(ids, {"hits": sectors * rate})).main.total
    (mean,) = estimate.ratios
    assert mean.weight == "lts__t_sectors.sum"
    assert mean.ratio == pytest.approx(hits / estimate.main.total)
    assert mean.low is not None
    assert mean.low < mean.ratio
