"""The trade-off: each point is the plan at that epsilon; the epsilons grow from the chosen one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.methods.registry import method_names
from sampling.methods.root import RootRule
from sampling.plan.design import make_design
from sampling.plan.trade_off import NoPoint, TradeOffPoint, default_epsilons, trade_off
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import TreeGrower, Verdict
from sampling.strata.target import LEAST_EPSILON, Target
from tests.targets import UNPOOLED

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

EPSILONS = (0.05, 0.01, 0.2)


@pytest.fixture
def counts(counts_of: CountsOf, mixture: Mixture) -> DurationCounts:
    """Six kernel groups of several modes."""
    return counts_of(mixture(3))


def points_of(counts: DurationCounts, method: str = "joint", **given: object) -> list[TradeOffPoint]:
    return list(trade_off(counts, method, Target(), 0, EPSILONS, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", method_names(random=True))
def test_a_point_is_the_design_at_its_epsilon(counts: DurationCounts, method: str) -> None:
    points = points_of(counts, method)
    assert [point.epsilon for point in points] == list(EPSILONS), "in the order asked"
    for point in points:
        # On a reduction of its own: what other points have split must not show.
        design = make_design(replace(counts), method, Target(epsilon=point.epsilon), 0)
        assert point == TradeOffPoint(
            point.epsilon,
            design.samples,
            design.strata_count,
            design.sampled_duration_ns,
            design.speedup,
            design.bound,
            design.group_bound,
        )


def test_a_looser_bound_costs_no_more_and_every_bound_holds(counts: DurationCounts) -> None:
    target = replace(UNPOOLED, group_epsilon=None)
    epsilons = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    points = list(trade_off(counts, "joint", target, 0, epsilons))
    for tight, loose in pairwise(points):
        assert loose.sampled_duration_ns <= tight.sampled_duration_ns
    assert points[-1].speedup > 2 * points[0].speedup
    for point in points:
        assert point.bound is not None
        assert point.bound <= point.epsilon


@pytest.mark.parametrize("method", method_names(random=False))
def test_a_method_that_picks_has_none(counts: DurationCounts, method: str) -> None:
    with pytest.raises(
        OptionError, match=r"(no epsilon|not read here); give joint, root, stem, allegro or random"
    ):
        trade_off(counts, method, Target(), 0, EPSILONS)


def test_what_is_wrong_is_said_before_any_point(counts: DurationCounts) -> None:
    with pytest.raises(OptionError, match=r"did you mean 0\.05\?"):
        trade_off(counts, "joint", Target(), 0, (0.1, 5))
    with pytest.raises(OptionError, match="k_max"):
        trade_off(counts, "root", Target(), 0, EPSILONS, settings=("root.kmax=3",))
    with pytest.raises(OptionError, match="no method 'jont'"):
        trade_off(counts, "jont", Target(), 0, EPSILONS)


def test_points_come_one_by_one_and_progress_can_stop_them(counts: DurationCounts) -> None:
    seen: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, what: str) -> None:
        seen.append((done, total, what))
        if done == 1:
            raise KeyboardInterrupt

    points = trade_off(counts, "joint", Target(), 0, EPSILONS, progress=progress)
    assert seen == [], "nothing is designed before it is asked for"
    assert next(points).epsilon == 0.05
    assert set(seen) == {(0, 3, "a plan at epsilon 0.05")}
    with pytest.raises(KeyboardInterrupt):
        next(points)


@given(st.floats(LEAST_EPSILON, 0.999999))
def test_default_epsilons_grow_from_the_chosen_one(chosen: float) -> None:
    epsilons = default_epsilons(chosen)
    assert epsilons[0] == chosen
    assert len(set(epsilons)) == len(epsilons) <= 14
    assert len(epsilons) >= 6
    distances = [abs(math.log(epsilon / chosen)) for epsilon in epsilons]
    assert distances == sorted(distances)
    assert distances[-1] <= math.log(10) * (1 + 1e-6)
    for epsilon in epsilons:
        Target(epsilon=epsilon)
    assert all(above / below > 1.09 for below, above in pairwise(sorted(epsilons)))


def test_where_a_decision_fits_no_node_there_is_no_point(counts: DurationCounts) -> None:
    """A node of the tree at a tight epsilon that the tree at a loose one does not have."""
    rules = [RootRule(Target(epsilon)) for epsilon in (0.001, 0.9)]
    tight, loose = ({node.path for node in TreeGrower(counts, 0, rule).run().nodes} for rule in rules)
    decided = {counts.groups[0].key: {max(tight - loose): Verdict.KEEP}}
    first, second = trade_off(counts, "root", Target(), 0, (0.001, 0.9), overrides=decided)
    assert isinstance(first, TradeOffPoint)
    assert isinstance(second, NoPoint)
    assert "no node" in str(second.problem)
