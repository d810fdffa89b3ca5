"""How launches began, from the order of a run, its copies and the manifest, and what a total then says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sampling.estimation.caches import describe_caches
from sampling.estimation.total import estimate_plan
from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import LOADS_FROM, checks
from sampling.simulators.measured_run import MeasuredRun, infer_caches
from sampling.simulators.results import SimulatedLaunches, read_result_files
from tests.sampling.simulators.conftest import launch, plan_of, printed, stratum
from tui.options.simulate import EstimateOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.estimate import cache_lines, estimate_blocks, unmet_text


def run_of(numbers: list[int], *, filled: tuple[int, ...] = (), first: int | None = 1) -> MeasuredRun:
    return MeasuredRun("log", np.array(numbers), first, {}, filled=frozenset(filled))


@pytest.mark.parametrize(
    ("run", "states"),
    [
        (run_of([0, 1, 2], first=0), ["whole"] * 3),
        (run_of([3, 6, 9]), ["cold"] * 3),
        (run_of([1, 6, 7, 8, 20], filled=(4,)), ["whole", "cold", "after:1", "after:2", "warm"]),
        (run_of([-1, 3, -1]), ["unknown", "cold", "unknown"]),
        (run_of([9, 3, 4], filled=(2,)), ["cold", "cold", "warm"]),
        (run_of([4, 9], first=None), ["unknown"] * 2),
    ],
)
def test_the_order_of_a_run_tells_how_its_launches_began(run: MeasuredRun, states: list[str]) -> None:
    assert infer_caches(run) == states


def seen(plan: PlanFile, *states: str) -> SimulatedLaunches:
    ids = np.array(sorted(launch.id for launch in plan.drawn))
    return SimulatedLaunches(ids, {"cycles": np.ones(len(ids))}, caches=states)


@pytest.mark.parametrize(
    ("states", "state", "is_cold", "words"),
    [
        (
            ("cold",) * 5,
            "cold",
            True,
            "launches began with empty caches; the whole run takes less (such totals",
        ),
        (
            ("warm",) * 5,
            "warm",
            False,
            "in seventeen plans of four programs; where L2 was full of stored lines, within 2 % of the",
        ),
        (("own",) * 5, "own", False, "the whole run takes more (such totals were 3 to 4 % too short"),
        (("whole",) * 5, "whole", False, ""),
        (("unknown",) * 5, "unknown", False, "is not known"),
        ((), "unknown", False, ""),
        (
            ("after:1",) * 5,
            "after:1",
            True,
            "launches began with only 1 launch before each; the whole run takes",
        ),
        (
            ("after:16",) * 5,
            "after:16",
            False,
            "16 launches ran before each: with 16, five plans of one program",
        ),
        # Launch 5 has 5,000 of the 8,600 ns, launch 2 has 200 of them.
        (("warm", "warm", "cold", "warm", "warm"), "cold", True, "launches of 58.1 % of the time began with"),
        (("cold", "warm", "warm", "warm", "warm"), "warm", False, "within 1 %"),
    ],
)
def test_a_total_says_how_its_launches_began(
    ten: PlanFile, states: tuple[str, ...], state: str, is_cold: bool, words: str
) -> None:
    found = describe_caches(ten, seen(ten, *states))
    assert (found.state, found.kind == "cold") == (state, is_cold)
    assert words in found.said
    assert bool(found.said) == bool(words)
    assert sum(found.shares.values()) == pytest.approx(1 if states else 0)


def test_copies_and_kernels_of_loads_fill_what_comes_after_them(ten: PlanFile, tmp_path: Path) -> None:
    """Of copies those whose addresses the simulator can keep; the kernel of loads is none of the program."""
    a, b, c = (("a(int)", (8, 1, 1)), ("b", (4, 1, 1)), ("c", (2, 1, 1)))
    ran = zip((LOADS_FROM + 3, 3, 5, 6, 9, 10), (a, a, b, c, a, a), range(101, 107), strict=True)
    text = printed(*ran, threads="128,1,1")
    low, high = "MemcpyHtoD,0x0000000000000040,32", "MemcpyHtoD,0x00007f1000000040,32"
    for number, copy in ((5, low), (9, high)):
        before = f"Processing kernel traces/kernel-{number}.traceg"
        assert before in text
        text = text.replace(before, f"launching memcpy command : {copy}\n{before}")
    log = tmp_path / "run.log"
    log.write_text(text)
    found = read_result_files(ten, [str(log)])
    assert found.ids.tolist() == [2, 4, 5, 8, 9]
    assert found.caches == ("warm", "warm", "after:1", "cold", "after:1")


def made(seed: int, launches: int = 40) -> PlanFile:
    """A plan of launches that stand for very different times."""
    random = np.random.default_rng(seed)
    strata = []
    for key, (place, duration_ns) in enumerate(enumerate(random.lognormal(7, 1.2, launches).astype(int) + 1)):
        weight = float(random.integers(1, 20))
        one = launch(place + 1, 0, f"k{key}", weight=weight, duration_ns=int(duration_ns))
        strata.append(stratum(f"k{key}", int(weight), int(duration_ns), 1, [one]))
    return plan_of(*strata, method="root", seed=seed)


def both_ways(plan: PlanFile, pairs: int, spread: float, seed: int) -> tuple[SimulatedLaunches, float]:
    """What is simulated of a plan with a check, and by how much less time all its launches take than cold."""
    random = np.random.default_rng([seed, 1])
    drawn = sorted(plan.drawn, key=lambda each: each.id)
    ids = np.array([each.id for each in drawn])
    cold = 3.0 * np.array([each.duration_ns for each in drawn]) * random.lognormal(0, 0.1, len(ids))
    warm = cold * 0.93 * random.lognormal(0, spread, len(ids))
    weight = np.array([each.weight for each in drawn])
    is_checked = np.isin(ids, [each.id for each, _ in checks(plan, pairs)])
    again = SimulatedLaunches(
        ids[is_checked], {"cycles": warm[is_checked]}, caches=("after:16",) * int(is_checked.sum())
    )
    found = SimulatedLaunches(ids, {"cycles": cold}, caches=("cold",) * len(ids), again=again)
    return found, float((weight * warm).sum() / (weight * cold).sum())


@pytest.mark.parametrize(("pairs", "spread"), [(3, 0.1), (6, 0.1), (12, 0.1), (6, 0.25)])
def test_a_check_has_no_bias_and_its_interval_holds(pairs: int, spread: float) -> None:
    errors, held = [], 0
    for seed in range(150):
        plan = made(seed)
        results, truth = both_ways(plan, pairs, spread, seed)
        check = describe_caches(plan, results).check
        assert check is not None
        assert check.pairs == pairs
        errors.append(check.ratio / truth - 1)
        held += abs(errors[-1]) <= check.half_width(0.95)
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors)) + 0.005
    assert held >= 0.9 * len(errors)


def test_the_total_of_a_checked_plan_is_corrected_and_keeps_a_target() -> None:
    plan = made(0)
    results, _ = both_ways(plan, 6, 0.1, 0)
    cold, found = estimate_plan(plan, replace(results, again=None)), estimate_plan(plan, results)
    check = found.caches.check
    assert check is not None
    assert found.main.total == pytest.approx(check.ratio * cold.main.total)
    assert not cold.is_within(0.9)
    assert found.is_within(0.9)
    assert cold.main.half_width is not None
    assert found.main.half_width is not None
    before, now = (each.main.half_width / each.main.total for each in (cold, found))
    assert now == pytest.approx(np.hypot(before, check.half_width(0.95)))
    (said, *_) = cache_lines(found)
    assert said.startswith("launches started cold, and 6 of them were simulated after others too: cycles are")
    assert f"multiplied by {check.ratio:.3f}" in said
    assert said.endswith(f"widens the interval from {100 * before:.1f} % to {100 * now:.1f} %")
    assert "the cold check alone reaches" in unmet_text(found, 0.001)


@pytest.mark.parametrize(("kind", "pairs"), [("cold", 2), ("after:16", 2), (None, 3)])
def test_a_pair_of_which_one_is_missing_is_none(
    ten: PlanFile, tmp_path: Path, kind: str | None, pairs: int
) -> None:
    """A launch that is there after others alone counts as it is, uncorrected."""
    rows = [f"{each.id},{100 * each.id},cold" for each in ten.drawn]
    rows += [f"{each},{90 * each},after:16" for each in (4, 5, 8)]
    kept = [row for row in rows if kind is None or not (row.startswith("5,") and row.endswith(kind))]
    results, manifest = tmp_path / "results.csv", tmp_path / "manifest.csv"
    results.write_text("\n".join(["id,cycles,caches", *kept, ""]))
    lines = [f"{id_},{int(id_) + 1},{state}" for id_, _, state in (row.split(",") for row in rows)]
    manifest.write_text("\n".join(["id,simulator_id,caches", *lines, ""]))
    found = read_result_files(ten, [str(results)], manifests=[str(manifest)])
    check = describe_caches(ten, found).check
    assert check is not None
    assert (check.pairs, check.ratio) == (pairs, pytest.approx(0.9))
    assert dict(zip(found.ids.tolist(), found.metrics["cycles"].tolist(), strict=True))[5] == (
        450 if kind == "cold" else 500
    )


def test_cold_ones_and_those_with_their_own_reads_hold_the_whole_run_between_them() -> None:
    plan = made(0)
    cold, _ = both_ways(plan, 2, 0.1, 0)
    own = SimulatedLaunches(
        cold.ids, {"cycles": 0.8 * cold.metrics["cycles"]}, caches=("own",) * len(cold.ids)
    )
    found = estimate_plan(plan, replace(cold, again=own))
    assert found.own is not None
    assert found.own.total == pytest.approx(0.8 * found.main.total)
    (said,) = cache_lines(found)
    assert said.startswith(f"the whole run's cycles lie between {found.own.total:,.0f}, with L2 filled by")
    alone = estimate_plan(plan, own)
    assert not alone.is_within(0.9)
    assert alone.is_within(0.9, accept_cold=True)


@pytest.mark.parametrize(
    ("state", "first"),
    [
        (
            "cold",
            "COLD {} cycles: launches began with empty caches; the whole run takes less (such totals were 5",
        ),
        (
            "after:2",
            "COLD {} cycles: launches began with only 2 launches before each; the whole run takes less (",
        ),
        (
            "own",
            "LOWER BOUND {} cycles: launches began with what they read themselves in L2; the whole run takes",
        ),
    ],
)
def test_a_total_that_is_not_of_the_whole_run_stands_below_that_and_nothing_is_sure(
    state: str, first: str
) -> None:
    """Also where cycles are not the first metric; more launches of that kind are not asked for."""
    plan = made(0)
    cold, _ = both_ways(plan, 2, 0.1, 0)
    metrics = {"instructions": 2 * cold.metrics["cycles"], "cycles": cold.metrics["cycles"]}
    results = SimulatedLaunches(cold.ids, metrics, caches=(state,) * len(cold.ids))
    found = estimate_plan(plan, results)
    options = EstimateOptions(plan="plan.json", results=("a.csv",), target=0.01)
    head, below, *others = canvas_text(estimate_blocks(found, None, options), Canvas(400, color=False)).split(
        "\n"
    )
    assert head.startswith(first.format(f"{found.main.total:,.0f}"))
    assert below.startswith("  of launches that begin so, within ")
    assert others[0].startswith("instructions ")
    assert not any(" sure" in line or "--top-up" in line for line in (head, below, *others))
    warm = "Next: kernelpoint export plan.json --to accel-sim --traces DIR --caches warm -o warm"
    assert others[-1] == warm
    assert others[-2].startswith("not within the 1.0 % asked for: the interval reaches ")
    assert ", of launches that started " in others[-2]
    macsim = canvas_text(
        estimate_blocks(found, None, replace(options, source="macsim")), Canvas(400, color=False)
    )
    assert macsim.endswith(
        "Next: kernelpoint export plan.json --to macsim --traces DIR --caches after:16 -o warm"
    )
    # Whoever takes it as it is goes on as with any other.
    accepted = estimate_blocks(found, None, replace(options, accept_cold=True))
    assert "--top-up" in canvas_text(accepted, Canvas(400, color=False)).split("\n")[-1]
