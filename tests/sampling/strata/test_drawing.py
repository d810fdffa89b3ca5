"""Random draws: distinct, uniform, reproducible, and with weights that stand for every launch."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.plan.design import make_design
from sampling.reduction.duration_counts import DurationCounts
from sampling.seeds import Stream, generator
from sampling.strata.draw import Draw, draw, estimate_total_ns, weights
from sampling.strata.strata import Strata, measured_clusters
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

DRAWS = 6000


def cut(counts: DurationCounts, bounds: list[int], samples: list[int]) -> Strata:
    """Return strata of group 0 between the given pairs."""
    start, stop = np.array(bounds[:-1]), np.array(bounds[1:])
    group = np.zeros(len(start), dtype=np.int64)
    return measured_clusters(counts, group, start, stop).with_samples(np.array(samples))


def launches_of(drawn: Draw) -> list[tuple[int, int]]:
    """Return (pair, occurrence) of every drawn launch."""
    return list(zip(drawn.pair.tolist(), drawn.occurrence.tolist(), strict=True))


@given(
    data=st.data(),
    durations=st.lists(st.integers(1, 12), min_size=1, max_size=60),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_draw_is_of_its_strata(
    data: st.DataObject, durations: list[int], seed: int, counts_of: CountsOf
) -> None:
    counts = counts_of({"k": durations})
    pairs = len(counts.count)
    inner = data.draw(st.sets(st.integers(1, pairs - 1))) if pairs > 1 else set()
    bounds = [0, *sorted(inner), pairs]
    sizes = np.diff(counts.launches_before[bounds]).tolist()
    samples = [data.draw(st.integers(1, size)) for size in sizes]
    strata = cut(counts, bounds, samples)
    drawn = draw(counts, strata, np.random.default_rng(seed))
    launches = launches_of(drawn)
    assert len(set(launches)) == len(launches)
    assert launches == sorted(launches)
    for index, size in enumerate(samples):
        of_stratum = drawn.stratum == index
        assert of_stratum.sum() == size
        assert (drawn.pair[of_stratum] >= bounds[index]).all()
        assert (drawn.pair[of_stratum] < bounds[index + 1]).all()
        assert weights(strata, drawn)[of_stratum].sum() == pytest.approx(sizes[index])
    assert (drawn.occurrence >= 0).all()
    assert (drawn.occurrence < counts.count[drawn.pair]).all()
    expected = sum(
        size / sample * float(counts.duration_ns[drawn.pair][drawn.stratum == index].sum())
        for index, (size, sample) in enumerate(zip(sizes, samples, strict=True))
    )
    assert estimate_total_ns(counts, strata, drawn) == pytest.approx(expected)


@given(durations=st.lists(st.integers(1, 12), min_size=1, max_size=60))
def test_a_census_estimates_the_total_exactly(durations: list[int], counts_of: CountsOf) -> None:
    counts = counts_of({"k": durations})
    strata = cut(counts, [0, len(counts.count)], [len(durations)])
    drawn = draw(counts, strata, np.random.default_rng(0))
    assert len(drawn.pair) == len(durations)
    assert estimate_total_ns(counts, strata, drawn) == sum(durations)


def chi_squared(observed: Counter[object], kinds: int) -> float:
    """Return the statistic against equal frequencies, in standard deviations of its distribution."""
    expected = sum(observed.values()) / kinds
    seen = sum((count - expected) ** 2 / expected for count in observed.values())
    statistic = seen + (kinds - len(observed)) * expected
    return (statistic - (kinds - 1)) / np.sqrt(2 * (kinds - 1))


# 2 of 6 is drawn by rejection, 4 of 6 by what is left out, 3 of 6 at the border between them.
@pytest.mark.parametrize("samples", [1, 2, 3, 4, 5])
def test_every_set_of_launches_is_equally_likely(samples: int, counts_of: CountsOf) -> None:
    counts = counts_of({"k": [10, 10, 10, 20, 20, 30]})
    strata = cut(counts, [0, 3], [samples])
    rng = np.random.default_rng(17)
    seen: Counter[object] = Counter(frozenset(launches_of(draw(counts, strata, rng))) for _ in range(DRAWS))
    sets = len(list(itertools.combinations(range(6), samples)))
    assert len(seen) == sets
    assert abs(chi_squared(seen, sets)) < 5


def test_strata_drawn_by_both_ways_at_once_are_each_uniform(counts_of: CountsOf) -> None:
    counts = counts_of({"k": [1, 2, 3, 4, 5, 6, 7, 8, 9]})
    strata = cut(counts, [0, 4, 5, 9], [1, 1, 3])
    rng = np.random.default_rng(5)
    seen: Counter[object] = Counter(tuple(draw(counts, strata, rng).pair.tolist()) for _ in range(DRAWS))
    assert abs(chi_squared(seen, 4 * 1 * 4)) < 5


def test_draws_from_one_stratum_of_many_launches_do_not_touch_another(counts_of: CountsOf) -> None:
    counts = counts_of({"big": [5] * 100_000, "small": [4] * 10})
    strata = make_design(counts, "root", Target(), 0).strata
    drawn = draw(counts, strata, np.random.default_rng(0))
    assert drawn.stratum.tolist() == [0, 1]
    assert drawn.pair.tolist() == [0, 1]
    assert drawn.occurrence[1] < 10


def test_the_same_seed_draws_the_same_launches(counts_of: CountsOf, mixture: Mixture) -> None:
    counts = counts_of(mixture(1))
    strata = make_design(counts, "root", Target(), 0).strata
    first, again, other = (
        launches_of(draw(counts, strata, generator(seed, Stream.DRAW))) for seed in (3, 3, 4)
    )
    assert first == again != other


def test_every_use_has_a_stream_of_its_own() -> None:
    streams = [generator(7, stream).integers(0, 2**62, 4).tolist() for stream in Stream]
    assert len({tuple(numbers) for numbers in streams}) == len(Stream)
