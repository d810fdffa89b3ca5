"""Joint: what its plans promise, against brute force, ROOT and each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sampling.errors import OverrideError
from sampling.methods.joint import MOST_CUTS, POOL_BELOW, _Planner
from sampling.methods.root import RootRule
from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, with_half_steps
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.plan_groups import unpooled
from sampling.reduction.region import Region
from sampling.splitting.tree import TreeGrower, Verdict
from sampling.strata.strata import Strata, declared_spread, expected_half_width
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]

BUNDLED = Path(__file__).resolve().parents[3] / "sample_data"


def groups_of(durations: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, list[int]]]:
    """Kernel groups, name -> durations of launches."""
    return st.lists(st.lists(durations, min_size=1, max_size=60), min_size=1, max_size=5).map(
        lambda groups: {f"k{index}": of_group for index, of_group in enumerate(groups)}
    )


GROUPS = groups_of(st.one_of(st.integers(0, 4), st.integers(1, 100_000), st.integers(10**11, 10**12)))
TARGETS = st.builds(
    Target,
    epsilon=st.floats(0.01, 0.5),
    confidence=st.sampled_from([0.8, 0.95, 0.99]),
    group_epsilon=st.none() | st.floats(0.01, 0.6),
    min_samples=st.integers(1, 4),
    noise_floor=st.sampled_from([0.0, 0.05, 0.3]),
    kernel_spread=st.sampled_from([0.0, 0.3]),
    pool=st.booleans(),
)


def planned(counts: DurationCounts, **asked: object) -> Design:
    return make_design(counts, "joint", Target(**asked), 0)  # type: ignore[arg-type]


def reduced(groups: dict[str, dict[int, int]]) -> DurationCounts:
    """Return the reduction of kernel groups given as name -> duration -> launches, however many."""
    ranked = sorted(groups, key=lambda name: -sum(ns * count for ns, count in groups[name].items()))
    pairs = [sorted(groups[name].items()) for name in ranked]
    duration_ns, count = np.array([pair for group in pairs for pair in group], dtype=np.int64).T
    return DurationCounts(
        grouping=Grouping(GroupBy.NAME),
        region=Region(),
        selected=(),
        groups=tuple(KernelGroup(name, name, None, None, 0, 0) for name in ranked),
        offsets=np.concatenate([[0], np.cumsum([len(group) for group in pairs])]),
        duration_ns=duration_ns,
        count=count,
        group_of_raw=np.arange(len(ranked)),
        names=len(ranked),
    )


@cache
def bundled(name: str, by: GroupBy) -> DurationCounts:
    return count_durations(read_profile([str(BUNDLED / name)]), Grouping(by))


PROFILES = [
    (name, by)
    for name in ("resnet50-like.sqlite", "gpt2-like.json.gz")
    for by in (GroupBy.NAME, GroupBy.LAUNCH)
]


def durations_in(counts: DurationCounts, strata: Strata, row: int) -> np.ndarray:
    pairs = slice(int(strata.start[row]), int(strata.stop[row]))
    return np.repeat(counts.duration_ns[pairs], counts.count[pairs]).astype(float)


# What is promised.


@settings(max_examples=60)
@given(groups=GROUPS, target=TARGETS)
@example(groups={"k0": [0, 0, 0]}, target=Target())
@example(groups={"k0": [7]}, target=Target(epsilon=0.001))
@example(groups={"k0": [0] * 20 + [5], "k1": [1, 1]}, target=Target(0.01, min_samples=3))
def test_a_plan_keeps_what_was_asked(
    groups: dict[str, list[int]], target: Target, counts_of: CountsOf
) -> None:
    """Every launch is in one stratum; variances of simulated time, added up here, hold both bounds."""
    counts = counts_of(groups)
    design = make_design(counts, "joint", target, 0)
    strata, of = design.strata, design.groups
    assert of is not None
    plan = of.counts
    assert sorted(strata.start.tolist() + strata.stop.tolist()) == sorted(
        2 * [*strata.start[1:].tolist()] + [0, len(plan.duration_ns)]
    )
    assert (strata.samples >= np.minimum(target.min_samples, strata.launches)).all()
    assert (strata.samples <= strata.launches).all()
    total = float(counts.total_duration_ns)
    share = counts.group_duration_ns / max(total, 1)
    z, k2 = norm.ppf(1 - (1 - target.confidence) / 2), target.kernel_spread**2
    of_total, of_group = 0.0, np.zeros(len(plan.groups))
    for row in range(len(strata)):
        x, group, m = durations_in(plan, strata, row), int(strata.group[row]), int(strata.samples[row])
        if len(x) == 1 or m == len(x):
            continue
        pooled = of.is_pool[group]
        own = x.var(ddof=1) + (target.noise_floor * x.mean()) ** 2
        own += k2 * (x.mean() ** 2 + x.var()) if pooled else 0
        variance = len(x) ** 2 * own * (1 / m - 1 / len(x))
        scale = 1 + 3 * k2 * (share @ share)
        if not pooled:
            scale = max(scale + k2 * (1 - 4 * share[of.group_of == group][0]), 1)
            of_group[group] += variance
        of_total += max(scale, 1) * variance
    assert z * np.sqrt(of_total) <= target.epsilon * total * (1 + 1e-6)
    if target.group_epsilon is not None:
        limit = target.group_epsilon * plan.group_duration_ns
        assert (z * np.sqrt(of_group) <= limit * (1 + 1e-6)).all()
    width = expected_half_width(strata, declared_spread(of, target), target.confidence)
    assert width <= target.epsilon * (1 + 1e-9)
    assert (design.promise is None) == (not total)
    if target.noise_floor >= 0.02 and target.kernel_spread >= 0.3 and design.promise is not None:
        assert design.promise.expected_half_width == pytest.approx(width)
    assert target.pool or not of.is_pool.any()


@settings(max_examples=60)
@given(groups=groups_of(st.integers(1, 100_000)), target=TARGETS)
def test_a_plan_does_not_depend_on_the_unit_of_time(
    groups: dict[str, list[int]], target: Target, counts_of: CountsOf
) -> None:
    """By powers of 4 alone all roundings are the same, so that none of equally good plans is another."""
    plans = []
    for times in 4 ** np.arange(0, 21, 5):
        scaled = {name: [ns * int(times) for ns in durations] for name, durations in groups.items()}
        strata = make_design(counts_of(scaled), "joint", target, 0).strata
        plans.append((strata.group.tolist(), strata.start.tolist(), strata.samples.tolist()))
    assert plans[1:] == plans[:-1]


def test_a_plan_is_the_same_up_to_a_thousand_billion_times_the_durations(
    mixture: Callable[..., dict[str, list[int]]], counts_of: CountsOf
) -> None:
    for seed in range(4):
        groups = {name: [1 + ns // 1000 for ns in durations] for name, durations in mixture(seed).items()}
        sizes = []
        for times in (1, 10**3, 10**6, 10**9, 10**12):
            scaled = {name: [ns * times for ns in durations] for name, durations in groups.items()}
            sizes.append(planned(counts_of(scaled), epsilon=0.02).strata.samples.tolist())
        assert sizes[1:] == sizes[:-1]


# What it costs.


def ways(durations: list[int], kappa: float) -> Iterator[list[tuple[int, float, float]]]:
    """Yield every way to cut sorted launches between different durations: N, mu and b of each part."""
    x = np.array(sorted(durations), dtype=float)
    places = (np.flatnonzero(np.diff(x)) + 1).tolist()
    for number in range(len(places) + 1):
        for cuts in combinations(places, number):
            found = []
            for part in (x[a:b] for a, b in pairwise((0, *cuts, len(x)))):
                s2 = part.var(ddof=1) + (kappa * part.mean()) ** 2 if len(part) > 1 else 0.0
                found.append((len(part), part.mean(), len(part) ** 2 * s2))
            yield found


@settings(max_examples=40)
@given(
    durations=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    epsilon=st.floats(0.02, 0.4),
    kappa=st.sampled_from([0.0, 0.05, 0.2]),
)
def test_one_group_costs_little_more_than_the_best_of_all_plans(
    durations: list[int], epsilon: float, kappa: float, counts_of: CountsOf
) -> None:
    """Every way to cut and every size is tried; and no plan is below the bound that prices give."""
    target = Target(epsilon, group_epsilon=None, noise_floor=kappa, kernel_spread=0.0)
    planner = _Planner(unpooled(counts_of({"k": durations})), target, {}, None)
    budget = (epsilon * sum(durations) / norm.ppf(0.975)) ** 2
    best, priced = np.inf, np.full(60, np.inf)
    prices = np.geomspace(1e-6, 1e6, 60)
    for parts in ways(durations, kappa):
        for sizes in product(*(range(1, n + 1) for n, _, _ in parts)):
            cost = sum(m * mu for m, (_, mu, _) in zip(sizes, parts, strict=True))
            variance = sum(b * (1 / m - 1 / n) for m, (n, _, b) in zip(sizes, parts, strict=True))
            priced = np.minimum(priced, cost + prices * (variance - budget))
            if variance <= budget * (1 + 1e-9):
                best = min(best, cost)
    assert planner.sampled_ns >= max(priced.max(), best) * (1 - 1e-6)
    # What is left of the budget is less than one launch is worth.
    assert planner.sampled_ns <= best + max(durations) * (1 + 1e-9)


@pytest.mark.parametrize(("name", "by"), PROFILES)
@pytest.mark.parametrize("epsilon", [0.02, 0.1])
def test_it_is_no_dearer_than_root_where_root_keeps_as_much(name: str, by: GroupBy, epsilon: float) -> None:
    counts = bundled(name, by)
    joint, root = planned(counts, epsilon=epsilon), make_design(counts, "root", Target(epsilon), 0)
    assert root.promise is not None
    if root.promise.error <= epsilon:
        assert joint.sampled_duration_ns <= root.sampled_duration_ns * 1.01
    else:
        # It then keeps what ROOT does not.
        assert joint.promise is not None
        assert joint.promise.error <= epsilon * (1 + 1e-9)


@settings(max_examples=40)
@given(groups=groups_of(st.integers(1, 100_000)), looser=st.floats(1.02, 3), tight=st.floats(0.0005, 0.05))
def test_a_looser_epsilon_never_draws_more(
    groups: dict[str, list[int]], looser: float, tight: float, counts_of: CountsOf
) -> None:
    """But for what one launch of each stratum more or less is worth."""
    counts = counts_of(groups)
    found = [planned(counts, epsilon=epsilon) for epsilon in (tight, min(tight * looser, 0.5))]
    assert found[1].sampled_duration_ns <= found[0].sampled_duration_ns * 1.01 + counts.duration_ns.max()


@pytest.mark.parametrize("name", ["rank0.json.gz", "rank2.json.gz", "h200-gpt.json.gz"])
@pytest.mark.parametrize("by", [GroupBy.NAME, GroupBy.LAUNCH])
def test_where_groups_bounds_decide_a_looser_epsilon_draws_no_more_either(name: str, by: GroupBy) -> None:
    """Groups of few launches meet their own bounds in leaps, which stricter plans may happen to avoid."""
    path = next((BUNDLED / "recorded").rglob(name))
    counts = count_durations(read_profile([str(path)]), Grouping(by))
    costs = [
        planned(counts, epsilon=epsilon, group_epsilon=0.1).sampled_duration_ns
        for epsilon in (0.05, 0.07, 0.1, 0.2, 0.4)
    ]
    assert all(looser <= tighter * 1.001 for tighter, looser in pairwise(costs))


def test_a_small_epsilon_of_many_launches_is_no_leap() -> None:
    """Of 100,000 degrees of freedom Student's t is the normal quantile, at any confidence."""
    counts = reduced({"k": {5000: 1_000_000}})
    epsilons = (0.0003, 0.0004, 0.0005, 0.0006)
    samples = [planned(counts, epsilon=epsilon, confidence=0.9999).samples for epsilon in epsilons]
    assert samples == sorted(samples, reverse=True)


def test_launches_of_0_ns_are_planned_as_if_they_took_half_a_step_of_the_clock() -> None:
    """Of 1 us: half of the launches may take a third of the cycles, though no time is recorded of them."""
    counts = reduced({"k": {0: 5000, 1000: 5000}})
    design = planned(counts, epsilon=0.02)
    zeros, others = design.strata.samples.tolist()
    # At a price sizes go as the root of a launch's time, as its variance goes as its square.
    assert zeros == pytest.approx(others * 0.5**0.5, rel=0.1)
    assert zeros > 10
    # What is recorded stays what is said.
    assert design.total_duration_ns == counts.total_duration_ns
    assert with_half_steps(reduced({"k": {0: 3, 200: 9}, "l": {0: 2}})).duration_ns.tolist() == [1, 200, 1]
    assert with_half_steps(reduced({"k": {0: 3, 3000: 9}, "l": {0: 2}})).duration_ns.tolist() == [
        500,
        3000,
        500,
    ]


def test_nothing_is_promised_of_a_profile_in_which_nothing_takes_time() -> None:
    design = planned(reduced({"k": {0: 50}, "l": {0: 9}}))
    assert design.promise is None
    assert "nothing in this profile takes any time" in " ".join(design.notes)


# Pools, cuts of a person's, and odd profiles.


def test_small_kernel_groups_of_a_device_share_a_pool_where_that_is_cheaper() -> None:
    groups = {f"small {number}": {100 + number: 20} for number in range(30)}
    counts = reduced({"large": {1000: 1000, 1100: 500}, **groups})
    design = planned(counts)
    share = counts.group_duration_ns / counts.total_duration_ns
    pooled = design.groups.pooled_kernels
    assert pooled[share < POOL_BELOW].all()
    assert not pooled[share >= POOL_BELOW].any()
    alone = planned(counts, pool=False)
    assert alone.samples >= 31
    assert design.sampled_duration_ns < alone.sampled_duration_ns
    # As many launches as kernels: a kernel of one launch costs alone what it costs anyway.
    assert planned(reduced({"a": {10: 1}, "b": {20: 1}})).samples == 2


def test_a_persons_cuts_fix_the_ranges_and_the_plan_prices_their_sizes() -> None:
    counts = bundled("resnet50-like.sqlite", GroupBy.NAME)
    key, small = counts.groups[0].key, counts.groups[-1].key
    for decided in ({"": Verdict.KEEP}, {"": Verdict.SPLIT, "L": Verdict.SPLIT}):
        leaves = TreeGrower(counts, 0, RootRule(Target()), decided).run().leaves
        design = make_design(counts, "joint", Target(), 0, overrides={key: decided})
        assert not design.groups.pooled_kernels[0]
        plan, here = design.groups.counts, design.strata.group == design.groups.group_of[0]
        base = int(plan.offsets[design.groups.group_of[0]])
        ranges = sorted(zip(design.strata.start[here] - base, design.strata.stop[here] - base, strict=True))
        assert ranges == sorted((leaf.start, leaf.stop) for leaf in leaves)
        assert design.promise is not None
        assert design.promise.bound_with_noise <= 0.05 * (1 + 1e-9)
    kept = make_design(counts, "joint", Target(), 0, overrides={small: {"": Verdict.KEEP}})
    assert not kept.groups.pooled_kernels[-1], "what a person decided on is not pooled"
    with pytest.raises(OverrideError, match="not in this profile"):
        make_design(counts, "joint", Target(), 0, overrides={"none": {"": Verdict.KEEP}})


def test_one_group_of_fifty_million_and_ten_thousand_groups() -> None:
    rng = np.random.default_rng(0)
    many = {
        int(ns): int(count)
        for ns, count in zip(range(10_000, 12_000), rng.integers(1, 50_000, 2000), strict=True)
    }
    design = planned(reduced({"k": many}))
    assert design.strata.launches.sum() == sum(many.values()) > 40_000_000
    assert len(design.strata) <= MOST_CUTS
    assert design.promise is not None
    assert design.promise.bound_with_noise <= 0.05
    groups = {f"k{number}": {int(ns): 3} for number, ns in enumerate(rng.integers(1_000, 90_000, 10_000))}
    for pool in (True, False):
        design = planned(reduced(groups), pool=pool)
        assert design.promise is not None
        assert design.promise.bound_with_noise <= 0.05
