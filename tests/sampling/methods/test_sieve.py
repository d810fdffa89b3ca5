"""Sieve: tiers, the cut at the density's valleys, representatives and weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.methods import sieve
from sampling.methods.method import Picks
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of

Launch = tuple[str, float, int]


def launch_list(rows: Sequence[Launch]) -> LaunchList:
    """Return launches given as (kernel, instructions, threads a block), 0 threads for an unknown block."""
    names, counts, threads = zip(*rows, strict=True)
    block = np.array(threads)
    return launches_of(names, {"instructions": counts}, grid_x=block > 0, block_x=block, by_name=True)


def picked(rows: Sequence[Launch], **options: object) -> Picks:
    """Return Sieve's picks of launches given as (kernel, instructions, threads a block)."""
    return sieve.pick(
        launch_list(rows),
        sieve.Options(**options),  # type: ignore[arg-type]
        np.random.default_rng(0),
        None,
    )


def tier(picks: Picks, number: int) -> tuple[int, int, int]:
    """Return kernel groups, launches and strata of a tier."""
    found = picks.details["tiers"][number - 1]
    assert found["tier"] == number
    return found["kernel_groups"], found["launches"], found["strata"]


@pytest.mark.parametrize(
    ("threads", "row"),
    [
        # 64 and 32 twice each: 64 was seen first.
        ([128, 64, 32, 32, 64], 1),
        # An unknown block is no CTA size.
        ([0, 0, 0, 96, 32], 3),
        ([0, 0, 0, 0, 0], 0),
    ],
)
def test_ties_and_unknown_blocks_of_tier_two(threads: list[int], row: int) -> None:
    counts = [90, 100, 110, 100, 100]
    picks = picked([("a", count, block) for count, block in zip(counts, threads, strict=True)])
    assert picks.row.tolist() == [row]


@pytest.mark.parametrize(("counts", "number"), [([6, 14], 3), ([6.01, 14], 2), ([10, 10], 1)])
def test_the_tiers_part_at_a_cov_of_two_fifths(counts: list[float], number: int) -> None:
    """6 and 14: mean 10, population deviation 4, CoV exactly 0.4."""
    picks = picked([("a", count, 32) for count in counts])
    assert tier(picks, number)[1] == 2


def test_tier_three_is_cut_between_its_modes() -> None:
    rng = np.random.default_rng(3)
    low, high = rng.normal(1e6, 1e4, 300).round(), rng.normal(1e9, 1e7, 200).round()
    counts = np.concatenate([low, high])
    order = rng.permutation(500)
    picks = picked([("a", count, 32) for count in counts[order]])
    assert len(picks.labels) == 2
    assert np.array_equal(picks.stratum, (counts[order] > 3e7).astype(int))
    # In tier 3 the first launch stands for the stratum, whatever its CTA size.
    firsts = sorted(int(np.flatnonzero(picks.stratum == each)[0]) for each in (0, 1))
    assert picks.row.tolist() == firsts
    whole = picked([("a", count, 32) for count in counts], kde="off")
    assert (whole.labels, whole.row.tolist(), whole.weight.tolist()) == (("a",), [0], [500])
    assert picks.labels[0].startswith("a, ")
    assert tier(picks, 3) == (1, 500, 2)


def oracle_parts(counts: list[float], threshold: float) -> list[list[float]]:
    """Part counts above 0 as the text has it, one observation at a time, with SciPy's density."""
    from scipy.stats import gaussian_kde

    values = np.array(sorted(counts))
    if values.std() < threshold * values.mean() or values[0] == values[-1]:
        return [values.tolist()]
    logs = np.log(values)
    density = gaussian_kde(logs, bw_method="silverman")
    bandwidth = float(np.sqrt(density.covariance[0, 0]))
    grid = np.linspace(logs[0] - 3 * bandwidth, logs[-1] + 3 * bandwidth, 512)
    level = density.logpdf(grid)
    minima = [i for i in range(1, len(grid) - 1) if level[i] < min(level[i - 1], level[i + 1]) - 1e-12]
    edges = [-math.inf, *(float(grid[i]) for i in minima), math.inf]
    parts = [
        [value for value, log in zip(values.tolist(), logs.tolist(), strict=True) if low < log <= high]
        for low, high in pairwise(edges)
    ]
    parts = [part for part in parts if part]
    if len(parts) == 1:
        return parts
    return [final for part in parts for final in oracle_parts(part, threshold)]


MODES = st.lists(
    st.tuples(st.floats(5, 25), st.floats(0.01, 1.0), st.integers(1, 40)), min_size=1, max_size=5
)


@given(modes=MODES, seed=st.integers(0, 10_000), cov=st.sampled_from([0.2, 0.4, 0.8]))
def test_the_cut_equals_one_by_scipys_density(
    modes: list[tuple[float, float, int]], seed: int, cov: float
) -> None:
    rng = np.random.default_rng(seed)
    counts = np.concatenate([rng.lognormal(mean, spread, size) for mean, spread, size in modes])
    # Irregular counts: the lowest grid points of regular ones may tie, which the oracle does not see.
    counts = counts[rng.permutation(len(counts))]
    picks = picked([("a", count, 32) for count in counts.tolist()], cov=cov)
    found = [sorted(counts[picks.stratum == each].tolist()) for each in range(len(picks.labels))]
    assert found == oracle_parts(counts.tolist(), cov)
