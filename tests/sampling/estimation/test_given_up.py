"""Which kernels are given up, and what a total is without them or with them as another behaves."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from sampling.estimation.given_up import estimate_rest, kernels_given_up, without
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.simulators.results import SimulatedLaunches
from tests.small_plans import options_of, plan_of_strata, stratum

DEADLOCK, ENDED = "exit code 134: deadlock at cycle {}", "exit code 3"


def launches(name: str, ids: range, duration_ns: int) -> list[PlannedLaunch]:
    return [PlannedLaunch(each, 0, 0, each, name, None, None, 0, 1.0, duration_ns) for each in ids]


@pytest.fixture
def plan() -> PlanFile:
    """Two strata of one kernel, one of another, and a pool of two; 10 %, 20 %, 40 % and 30 % of the time."""
    pool = [*launches("e", range(30, 34), 20), *launches("f", range(34, 36), 10)]
    strata = [
        stratum("a", 10, 10.0, 1.0, launches("a", range(3), 10)),
        stratum("a", 10, 20.0, 1.0, launches("a", range(10, 12), 20)),
        stratum("b", 40, 10.0, 1.0, launches("b", range(20, 24), 10)),
        structs.replace(stratum("(pooled kernels)", 15, 20.0, 5.0, pool), pooled=True),
    ]
    return plan_of_strata(strata, options_of("joint"), total_duration_ns=1000)


def failed(*ids: int, why: str = DEADLOCK) -> dict[int, str]:
    return {each: why.format(each) for each in ids}


@pytest.mark.parametrize(
    ("failures", "measured", "places", "share"),
    [
        ({}, {20}, None, 0),
        # Three of a group, whatever its strata, whose last words differ in numbers alone.
        (failed(0, 1, 10), {20}, {0, 1}, 0.3),
        (failed(0, 1), {20}, None, 0),
        (failed(0, 1) | failed(2, why=ENDED), {20}, None, 0),
        # Others of the group ran: then it is the stratum that never does.
        (failed(0, 1, 10), {11}, None, 0),
        (failed(0, 1, 2), {10}, {0}, 0.1),
        (failed(0, 1, 2), {10, 11, 20}, {0}, 0.1),
        # Within a pool others stand for it.
        (failed(30, 31, 32), {34}, set(), 0.3 * 80 / 100),
        (failed(30, 31, 34), {35}, None, 0),
        (failed(30, 31, 32, 33, 34, 35), {20}, {3}, 0.3),
    ],
)
def test_three_that_fail_alike_and_none_that_ran_are_given_up(
    plan: PlanFile, failures: dict[int, str], measured: set[int], places: set[int] | None, share: float
) -> None:
    found = kernels_given_up(plan, failures, measured)
    if places is None:
        assert found == ()
        return
    (kernel,) = found
    assert kernel.strata == places
    assert kernel.share == pytest.approx(share)
    assert set(kernel.failed) <= set(failures)
    assert kernel.why == failures[kernel.launch.id]


def test_a_kernel_of_which_all_that_there_are_have_failed_is_given_up(plan: PlanFile) -> None:
    rare = stratum("rare", 2, 50.0, 0.0, launches("rare", range(40, 42), 50))
    plan = structs.replace(plan, strata=(*plan.strata, rare))
    assert kernels_given_up(plan, failed(40), {20}) == ()
    (kernel,) = kernels_given_up(plan, failed(40) | failed(41, why=ENDED), {20})
    assert kernel.strata == {4}
    # Of picked launches no other can be drawn.
    rare = structs.replace(rare, size=100)
    picked = structs.replace(plan, strata=(*plan.strata[:4], rare), options=options_of("sieve"))
    assert len(kernels_given_up(picked, failed(40, 41), {20})) == 1


def test_nine_that_fail_in_nine_ways_are_enough(plan: PlanFile) -> None:
    many = stratum("many", 100, 10.0, 0.0, launches("many", range(50, 60), 10))
    plan = structs.replace(plan, strata=(*plan.strata, many))
    reasons = {each: f"exit code {each}" for each in range(50, 59)}
    (kernel,) = kernels_given_up(plan, reasons, {20})
    assert kernel.strata == {4}
    del reasons[58]
    assert kernels_given_up(plan, reasons, {20}) == ()


def estimated(plan: PlanFile, *, like: str | None = None) -> PlanEstimate:
    """The estimate where kernel a never runs, b takes 3 cycles a nanosecond and the pool 4."""
    given_up = kernels_given_up(plan, failed(0, 1, 10), {20})
    ran = [each for each in plan.drawn if each.name != "a"]
    cycles = np.array([each.duration_ns * (3.0 if each.name == "b" else 4.0) for each in ran])
    results = SimulatedLaunches(np.array([each.id for each in ran]), {"cycles": cycles})
    return estimate_rest(estimate_plan(without(plan, given_up), results), plan, given_up, like)


def test_a_total_of_the_rest_says_of_how_much_it_is(plan: PlanFile) -> None:
    found = estimated(plan)
    assert found.main.total == pytest.approx(3 * 400 + 4 * 300)
    assert found.main.share_missing == pytest.approx(0.3)
    assert not found.main.is_incomplete
    assert (found.plan.launches, found.plan.total_duration_ns) == (55, 700)
    # Within the target as it is, and yet not of the whole run.
    assert found.main.is_within(0.9)
    assert not found.is_within(0.9, accept_cold=True)


def test_what_never_ran_is_taken_as_another_kernel_with_the_spread_of_kernels(plan: PlanFile) -> None:
    rest, found = estimated(plan), estimated(plan, like="b")
    extra, spread = 3 * 300, np.sqrt((4 * 0.3**2 + 2 * (0.5 / 3.5) ** 2) / (4 + 1))
    assert found.main.total == pytest.approx(rest.main.total + extra)
    assert found.main.share_missing == 0
    # Student's t of (4 + 1)/2 degrees of freedom, and how well b itself is known, as 300 of its 400 ns.
    own = 300 / 400 * (dict(found.groups)["b"].half_width or 0)
    assumed = np.hypot(3.57465 * spread * extra, own)
    assert found.parts is not None
    assert found.parts.assumed * found.main.total == pytest.approx(assumed, rel=1e-3)
    half_width = np.hypot(rest.main.half_width or 0, assumed)
    assert found.main.half_width == pytest.approx(half_width, rel=1e-3)
    assert found.beside_sampling == pytest.approx(found.parts.assumed)
    # A kernel without a total of its own tells nothing.
    assert estimated(plan, like="a").main.share_missing == pytest.approx(0.3)
