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
from sampling.methods.method import StrataRequest
from sampling.methods.registry import method_names, method_options, split_trees_of
from sampling.plan.design import make_design
from sampling.plan.trade_off import NoPoint, TradeOffPoint, default_epsilons, trade_off
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import SplitTree, Verdict
from sampling.strata.strata import bound
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


def test_a_point_in_figures(counts_of: CountsOf) -> None:
    """One group whose durations are all equal: one launch of two is drawn, whatever is asked."""
    counts = counts_of({"a": [10] * 40})
    (point,) = trade_off(counts, "joint", Target(min_samples=2), 0, [0.3])
    assert (point.samples, point.strata, point.sampled_duration_ns, point.speedup) == (2, 1, 20.0, 20.0)
    assert (point.bound, point.group_bound) == (0.0, 0.0)


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


def test_the_bound_of_groups_stays_and_binds_where_epsilon_is_looser(counts: DurationCounts) -> None:
    """From the groups' bound on the curve is level: nothing but that bound asks for launches."""
    points = list(trade_off(counts, "joint", Target(group_epsilon=0.02), 0, (0.3, 0.6)))
    assert points[0] == replace(points[1], epsilon=0.3)
    for point in points:
        assert point.group_bound is not None
        assert 0 < point.group_bound <= 0.02
    assert points_of(counts)[-1].samples < points[0].samples


def test_settings_seed_and_overrides_are_the_plans(counts: DurationCounts) -> None:
    key = counts.groups[0].key
    kept = {key: {"": Verdict.KEEP}}
    designs = [
        make_design(counts, "root", Target(epsilon=epsilon), 0, overrides=kept) for epsilon in EPSILONS
    ]
    assert [point.samples for point in points_of(counts, "root", overrides=kept)] == [
        design.samples for design in designs
    ]
    assert points_of(counts, "root", overrides=kept) != points_of(counts, "root")
    many = points_of(counts, "random", settings=("random.launches=77",))
    assert [point.samples for point in many] == [77, 77, 77]
    assert [point.group_bound for point in many] == [None] * 3
    drawn = [
        next(trade_off(counts, "random", Target(), seed, (0.1,), settings=("random.probability=0.1",)))
        for seed in range(9)
    ]
    assert len({point.samples for point in drawn}) > 1, "the seed tells how many"


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


def test_the_default_epsilons_of_the_default_plan() -> None:
    expected = (0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
    assert tuple(sorted(default_epsilons(0.05))) == expected
    assert default_epsilons(0.05)[:3] == (0.05, 0.07, 0.03)


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


def test_the_bound_is_of_the_strata(counts: DurationCounts) -> None:
    """Not the epsilon asked for: what the plan does promise."""
    point = points_of(counts, "root")[1]
    design = make_design(counts, "root", Target(epsilon=point.epsilon), 0)
    assert point.bound == design.bound >= bound(design.strata, 0.95)


def only_tight(counts: DurationCounts) -> tuple[str, str]:
    """A group and one of its nodes that ROOT's tree has at epsilon 0.01, and not at 0.2."""
    for group, of in enumerate(counts.groups):
        paths = [{node.path for node in _tree(counts, group, epsilon).nodes} for epsilon in (0.01, 0.2)]
        splittable = [
            node.path for node in _tree(counts, group, 0.01).nodes if node.path and node.stop - node.start > 1
        ]
        found = sorted(path for path in splittable if path not in paths[1])
        if found:
            return of.key, found[-1]
    raise AssertionError("no such node")


def _tree(counts: DurationCounts, group: int, epsilon: float) -> SplitTree:
    request = StrataRequest(counts=counts, target=Target(epsilon=epsilon), options=method_options("root"))
    return split_trees_of("root").split_tree(request, group)


def test_where_a_decision_fits_no_node_there_is_no_point_and_the_others_are_there(
    counts: DurationCounts,
) -> None:
    key, path = only_tight(counts)
    split = {key: {path: Verdict.SPLIT}}
    _, tight, loose = points_of(counts, "root", overrides=split)
    assert isinstance(tight, TradeOffPoint)
    design = make_design(replace(counts), "root", Target(epsilon=0.01), 0, overrides=split)
    assert (tight.strata, tight.samples) == (design.strata_count, design.samples)
    assert isinstance(loose, NoPoint)
    assert loose.epsilon == 0.2
    assert (loose.problem.path, loose.problem.key) == (path, key)
    assert str(loose.problem).index(repr(path)) < str(loose.problem).index(repr(key))
    assert key not in loose.problem.in_short
