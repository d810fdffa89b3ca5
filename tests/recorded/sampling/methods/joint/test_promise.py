"""The promise of the simulated total on recorded profiles: simulated as declared, and beside ROOT."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sampling.plan.design import Design, make_design
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.strata.drawing import draw, weights
from sampling.strata.expected_freedom import ExpectedFreedom
from sampling.strata.target import Target
from tests.recorded.sampling.methods.joint.test_joint import ALSO_REAL, REAL

BY = [GroupBy.NAME, GroupBy.LAUNCH]
Reduced = Callable[[str, GroupBy], DurationCounts]
DRAWS = 1000
# Three standard errors of so many draws, and two of the 4,000 by which a plan is judged.
ENOUGH = 0.95 - 3 * np.sqrt(0.95 * 0.05 / DRAWS) - 2 * np.sqrt(0.95 * 0.05 / 4000)


def lognormal(rng: np.random.Generator, spread: float, size: int) -> NDArray[np.float64]:
    """Return factors of mean 1 and a coefficient of variation."""
    sigma = np.sqrt(np.log1p(spread**2))
    return np.asarray(np.exp(sigma * rng.standard_normal(size) - sigma**2 / 2))


def simulated_errors(counts: DurationCounts, design: Design, draws: int) -> NDArray[np.float64]:
    """Return (draws,) errors of simulated totals, cycles and draw new every time.

    Of the launches that are not drawn only the sum is needed, which is normal, for they are many.
    """
    assert design.groups is not None
    rng, target, plan = np.random.default_rng(5), design.target, design.groups.counts
    kernel = np.repeat(np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets)), counts.count)
    duration_ns = np.repeat(counts.duration_ns, counts.count).astype(np.float64)
    order = np.lexsort((duration_ns, design.groups.group_of[kernel]))
    kernel, duration_ns = kernel[order], duration_ns[order]
    total_ns = np.bincount(kernel, duration_ns)
    squares = np.bincount(kernel, duration_ns**2)
    errors = np.empty(draws)
    for number in range(draws):
        cycles = lognormal(rng, target.kernel_spread, len(total_ns))
        drawn = draw(plan, design.strata, rng)
        place = plan.launches_before[drawn.pair] + drawn.occurrence
        expected = cycles[kernel[place]] * duration_ns[place]
        simulated = expected * lognormal(rng, target.noise_floor, len(place))
        left = max(float(np.dot(cycles**2, squares) - (expected**2).sum()), 0.0)
        total = float(np.dot(cycles, total_ns) + (simulated - expected).sum())
        total += target.noise_floor * np.sqrt(left) * rng.standard_normal()
        errors[number] = abs(float(np.dot(weights(design.strata, drawn), simulated)) / total - 1)
    return errors


@pytest.mark.parametrize("name", [*REAL, ALSO_REAL[0]])
@pytest.mark.parametrize("by", BY)
def test_simulated_totals_are_within_what_the_default_promises(
    name: str, by: GroupBy, reduced: Reduced
) -> None:
    counts = reduced(name, by)
    design = make_design(counts, "joint", Target(), 0)
    assert design.bound_with_noise is not None
    assert design.bound_with_noise <= 0.05 * (1 + 1e-9)
    errors = simulated_errors(counts, design, DRAWS)
    assert (errors <= design.bound_with_noise * (1 + 1e-9)).mean() >= ENOUGH
    assert (errors <= 0.05).mean() >= ENOUGH


def freedom_of(design: Design) -> float:
    """Return the degrees of freedom that are expected of an interval, as joint chooses sizes by them."""
    assert design.cycles is not None
    return float(ExpectedFreedom.of(design.strata, design.cycles).as_chosen_by()(design.strata.samples))


@pytest.mark.parametrize("name", [*REAL, *ALSO_REAL])
@pytest.mark.parametrize("by", BY)
def test_the_default_is_never_dearer_than_root_where_root_promises_as_much(
    name: str, by: GroupBy, reduced: Reduced
) -> None:
    """The simulated total, and an interval of as many degrees of freedom: ROOT's plan, or one made tighter.

    Of a tighter one joint does not know, and may cost up to a hundredth more.
    """
    counts = reduced(name, by)
    joint = make_design(counts, "joint", Target(), 0)
    for epsilon in (0.05, 0.03, 0.02, 0.01):
        root = make_design(counts, "root", Target(epsilon), 0)
        assert root.bound_with_noise is not None
        if root.bound_with_noise <= 0.05 and freedom_of(root) >= 8:
            more = 1e-9 if epsilon == 0.05 else 0.01
            assert joint.sampled_duration_ns <= root.sampled_duration_ns * (1 + more)
            return
    pytest.skip("no plan of ROOT's here promises as much")
