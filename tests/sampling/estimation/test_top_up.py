"""Topping up: never fewer launches, at most a quarter more time, and where they help most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.estimation.interval import Moments, Sample, interval, moments
from sampling.estimation.sizes import next_sizes, sizes_for

Make = Callable[..., Sample]


def drawn(seed: int, sizes: list[int], launches: list[int], spread: float, sample: Make) -> Sample:
    """Return a sample of strata of mean durations 10, 100, 1000, ..."""
    rng = np.random.default_rng(seed)
    return sample(
        *(
            (n, 10.0**index, [(10.0**index, 10.0**index * y) for y in rng.lognormal(0, spread, m)])
            for index, (m, n) in enumerate(zip(sizes, launches, strict=True))
        )
    )


def moments_of(sample: Sample) -> Moments:
    return moments(sample, sample.values("cycles"))


def sizes_of(made: Moments, epsilon: float) -> np.ndarray:
    """Return the sizes of the next round at 95 %."""
    return sizes_for(made, interval(made), epsilon, 0.95)


def half_width_of(made: Moments) -> float:
    """Return the half-width at 95 %, as a share of the total."""
    return float(interval(made).half_width(0.95) / made.totals.sum())


@given(
    seed=st.integers(0, 1000),
    strata=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 300)), min_size=1, max_size=5),
    epsilon=st.sampled_from([0.3, 0.05, 0.001]),
)
def test_a_round_adds_one_launch_or_at_most_a_quarter(
    seed: int, strata: list[tuple[int, int]], epsilon: float, sample: Make
) -> None:
    samples = [m for m, _ in strata]
    launches = [m + more for m, more in strata]
    made = moments_of(drawn(seed, samples, launches, 0.2, sample))
    sizes = sizes_of(made, epsilon)
    assert (sizes >= samples).all()
    assert (sizes <= launches).all()
    added = sizes - samples
    assert added.sum() > 0 or samples == launches
    if added.sum() > 1:
        assert (sizes * made.mean_x).sum() <= 1.25 * (made.samples * made.mean_x).sum() * (1 + 1e-9)


def test_what_is_the_same_in_every_launch_takes_no_more_launches_than_what_goes_by_durations(
    sample: Make,
) -> None:
    rows = [(x, 7) for x in (6, 9, 14)] * 20
    alike = replace(
        sample((50_000, 10, rows), (40_000, 5, [(x, 9) for x in (2, 7)] * 20)), metrics=("instructions",)
    )
    follows = replace(alike, y=3 * alike.x[:, np.newaxis])
    for epsilon in (0.02, 0.005):
        sizes = [next_sizes(each, "instructions", epsilon).tolist() for each in (alike, follows)]
        assert sizes[0] == sizes[1]


def test_sizes_are_neymans_where_a_round_allows_it(sample: Make) -> None:
    """N sd / sqrt(duration): of two strata with one relative spread, N sqrt(duration) of each."""
    rows = [(1.0, 1 + 0.4 * sign) for sign in (-1, 1)] * 20
    made = moments_of(sample((100_000, 1, rows), (40_000, 9, [(9 * x, 9 * y) for x, y in rows])))
    half_width = half_width_of(made)
    assert (sizes_of(made, half_width * 0.99 / 0.9) > 40).any()
    wide = sizes_of(made, half_width * 0.97 / 0.9)
    # 100,000 sqrt(1) against 40,000 sqrt(9): the second gets more, the first stays until it is due.
    assert wide[1] > wide[0] == 40


def test_the_sizes_give_the_half_width_asked_for(sample: Make) -> None:
    rows = [(1.0, 1 + 0.4 * sign) for sign in (-1, 1)] * 50
    made = moments_of(sample((100_000, 1, rows)))
    (size,) = sizes_of(made, half_width_of(made))
    # The variance goes with 1/m: aiming at 0.9 of it takes 1 / 0.81 as many.
    assert size == pytest.approx(100 / 0.81, abs=2)


def test_the_sizes_of_many_draws_are_those_of_each(sample: Make) -> None:
    draws = [moments_of(drawn(seed, [3, 2, 4], [90, 80, 70], 0.3, sample)) for seed in range(4)]
    columns = ("samples", "x", "y", "xx", "xy", "yy")
    together: Moments = replace(
        draws[0], **{name: np.stack([getattr(draw, name) for draw in draws]) for name in columns}
    )
    sizes = sizes_of(together, 0.05)
    assert sizes.tolist() == [sizes_of(each, 0.05).tolist() for each in draws]


def test_two_launches_that_agree_do_not_keep_a_stratum_small(sample: Make) -> None:
    """A spread of 0 between two launches is mostly chance: it counts 1 against 20 of the common one."""
    rows = [(5.0, 5.0 * (1 + 0.2 * sign)) for sign in (-1, 1)]
    made = moments_of(sample((90_000, 5, [(5, 5), (5, 5)]), *[(90_000, 5, rows)] * 30))
    calm, *others = sizes_for(made, interval(made), 0.003, 0.95, most_added=1e9).tolist()
    own = 2 * 0.2**2
    common = 30 * own / 31
    assert set(others) == {others[0]}
    assert calm / others[0] == pytest.approx(np.sqrt(20 * common / (own + 20 * common)), rel=0.01)


def test_launches_of_0_ns_are_topped_up_by_their_own_metric(sample: Make) -> None:
    """They take most of the cycles, of which the profile shows no time."""
    shown, hidden = [(100, 102), (100, 99)], [(0, 900), (0, 1100)]
    made = sample((1000, 100, shown), (1000, 0, hidden), group=[0, 1])
    sizes = next_sizes(made, "cycles", 0.02)
    assert sizes[1] > 2
    # So are those of a profile in which nothing takes any time.
    none = sample((1000, 0, hidden), (1000, 0, [(0, 1), (0, 2)]), group=[0, 1])
    assert next_sizes(none, "cycles", 0.02)[0] > 2
