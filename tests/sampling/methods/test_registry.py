"""The sampling methods: what each promises, its sizes, and how its options are read."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.methods.registry import method_named, method_names, method_options
from sampling.plan.design import make_design
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Verdict
from sampling.strata.strata import Strata, bound, group_bounds
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

GROUPS = st.lists(
    st.lists(st.one_of(st.integers(0, 4), st.integers(1, 100_000)), min_size=1, max_size=60),
    min_size=1,
    max_size=4,
).map(lambda groups: {f"k{index}": durations for index, durations in enumerate(groups)})
TARGETS = st.builds(Target, st.floats(0.01, 0.5), st.sampled_from([0.8, 0.95, 0.99]))


def strata_of(counts: DurationCounts, method: str, target: Target, *settings: str) -> Strata:
    """Return a method's strata."""
    return make_design(counts, method, target, 0, settings=settings).strata


def check_strata(counts: DurationCounts, strata: Strata) -> None:
    """Strata hold every launch once, and at least one of each is drawn."""
    counts = counts if strata.groups is None else strata.groups.counts
    assert strata.start[0] == 0
    assert strata.stop[-1] == len(counts.count)
    assert (strata.start[1:] == strata.stop[:-1]).all()
    assert (strata.samples >= 1).all()
    assert strata.launches.sum() == counts.launches
    assert (strata.samples <= strata.launches).all()


@pytest.mark.parametrize("setting", ["root.variant=exact", "root.variant=paper", "root.k_max=4"])
@given(groups=GROUPS, target=TARGETS)
def test_root_keeps_epsilon_for_every_group_and_so_for_all(
    setting: str, groups: dict[str, list[int]], target: Target, counts_of: CountsOf
) -> None:
    strata = strata_of(counts_of(groups), "root", target, setting)
    assert (group_bounds(strata, target.confidence) <= target.epsilon * (1 + 1e-9)).all()
    assert bound(strata, target.confidence) <= target.epsilon * (1 + 1e-9)


@given(groups=GROUPS, target=TARGETS)
def test_root_keeps_epsilon_whatever_the_user_decides(
    groups: dict[str, list[int]], target: Target, counts_of: CountsOf
) -> None:
    counts = counts_of(groups)
    distinct = np.diff(counts.offsets)
    overrides = {
        group.key: {"": Verdict.SPLIT if index % 2 and distinct[index] > 1 else Verdict.KEEP}
        for index, group in enumerate(counts.groups)
    }
    strata = make_design(counts, "root", target, 0, overrides=overrides).strata
    check_strata(counts, strata)
    assert (group_bounds(strata, target.confidence) <= target.epsilon * (1 + 1e-9)).all()


@given(groups=GROUPS, epsilon=st.floats(0.01, 0.3))
def test_allegro_draws_what_each_final_cluster_needs_by_itself(
    groups: dict[str, list[int]], epsilon: float, counts_of: CountsOf
) -> None:
    target = Target(epsilon)
    counts = counts_of(groups)
    strata = strata_of(counts, "allegro", target)
    for index in range(len(strata)):
        rows = slice(strata.start[index], strata.stop[index])
        durations = np.repeat(counts.duration_ns[rows], counts.count[rows])
        std, mean = durations.std(), durations.mean()
        wanted = math.ceil((target.z * std / (epsilon * mean)) ** 2) if std else 0
        assert wanted <= 50
        assert strata.samples[index] == min(len(durations), max(wanted, 30))


@pytest.mark.parametrize("seed", [31, 45, 57])
def test_script_breaks_the_bound_that_root_keeps(seed: int, counts_of: CountsOf) -> None:
    """The re-allocation is needed: of 60 such groups the script leaves these three above 2 %, root none."""
    rng = np.random.default_rng(seed)
    durations: list[int] = []
    for _ in range(4):
        launches, mode = int(rng.integers(1, 2000)), 10 ** rng.uniform(3, 6)
        spread = rng.choice([0.02, 0.1, 0.3, 0.8])
        durations += (np.rint(mode * rng.lognormal(0, spread, launches)).astype(int) + 1).tolist()
    counts = counts_of({"k": durations})
    target = Target(0.02)
    exact, script = (strata_of(counts, "root", target, f"root.variant={of}") for of in ("exact", "script"))
    assert group_bounds(exact, 0.95)[0] <= 0.02 * (1 + 1e-9)
    assert group_bounds(script, 0.95)[0] > 0.02 * 1.005


def test_random_draws_a_binomial_number_and_never_none(counts_of: CountsOf) -> None:
    counts = counts_of({"a": [5] * 1000})
    asked = ("random.probability=0.002",)
    designs = (make_design(counts, "random", Target(), seed, settings=asked) for seed in range(300))
    sizes = [int(design.strata.samples[0]) for design in designs]
    assert min(sizes) == 1
    # A binomial of mean 2 given that it is not 0 has mean 2 / (1 - e^-2) = 2.31; 300 draws, sd 1.28.
    assert np.mean(sizes) == pytest.approx(2.31, abs=0.3)


@pytest.mark.parametrize("like", ["root", "joint", "stem"])
def test_random_draws_as_much_time_as_another_plan(like: str, counts_of: CountsOf, mixture: Mixture) -> None:
    counts = counts_of(mixture(2, launches=2000))
    other = strata_of(counts, like, Target())
    drawn = strata_of(counts, "random", Target(), f"random.like={like}")
    mean_ns = counts.total_duration_ns / counts.launches
    assert abs(drawn.sampled_duration_ns - other.sampled_duration_ns) <= mean_ns / 2 * (1 + 1e-9)
    given = strata_of(counts, "random", Target(), f"random.like={other.sampled_duration_ns}")
    assert given.samples.tolist() == drawn.samples.tolist()


@pytest.mark.parametrize("method", method_names())
def test_every_method_says_what_it_is(method: str) -> None:
    found = method_named(method)
    assert (found.name, bool(found.source)) == (method, True)
    assert (found.pick is None) == found.draws_at_random == (not found.needs)
    assert method_options(method) == found.options_type()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("variant=script", "`settings` takes METHOD.NAME=VALUE, not 'variant=script'"),
        ("rot.variant=script", "no method 'rot'; did you mean 'root'"),
        ("root.varient=script", "root has no option 'varient'; did you mean 'variant'"),
        ("root.variant=fast", "root.variant is one of exact, script, paper, not 'fast'"),
        ("root.k_max=1", "root.k_max is a whole number, 2 to 8, not '1'"),
        ("random.probability=5", "above 0, at most 1, not '5'"),
        ("random.launches=1.5", "a whole number, 1 or more, or none, not '1.5'"),
        ("allegro.floor=99999999999999999999", "allegro.floor is a whole number"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(setting: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        method_options("root", (setting,))


def test_a_threshold_of_sieve_may_be_any_number_above_0() -> None:
    assert method_options("sieve", ("sieve.cov=0.3",)).cov == 0.3
