"""Phases: told where the kernels change for good, and not of a mix that goes on or a loop."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.drift import independent_mix, loop_of_kernels, share_with_phases
from sampling.arrays import IntArray
from sampling.reduction.run_order.ordered_launches import OrderedLaunches
from sampling.reduction.run_order.phases import find_phases


def _run(group: IntArray, duration_ns: IntArray) -> OrderedLaunches:
    rows = np.arange(len(group))
    return OrderedLaunches(
        id=10 + rows,
        label=group,
        group=group,
        duration_ns=duration_ns,
        sequence=np.array([3]),
        edges=np.array([0, len(group)]),
    )


def test_a_mix_that_goes_on_has_no_phases() -> None:
    assert share_with_phases(independent_mix, 100) <= 0.02
    assert share_with_phases(loop_of_kernels, 50) <= 0.04


@pytest.mark.parametrize("seed", range(5))
def test_phases_begin_where_the_kernels_change(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(400, 3000, 3)
    group = np.concatenate(
        [rng.integers(0, 5, sizes[0]), rng.integers(5, 9, sizes[1]), rng.integers(0, 3, sizes[2])]
    )
    found = find_phases(_run(group, np.full(len(group), 1000)))
    assert found is not None
    assert found.sequence == 3
    first = [phase.first_id for phase in found.phases]
    assert first == pytest.approx([10, 10 + sizes[0], 10 + sizes[0] + sizes[1]], abs=5)
    assert sum(phase.time_ns for phase in found.phases) == 1000 * len(group)
    assert [phase.stop_id for phase in found.phases] == [*first[1:], 10 + len(group)]


def test_slow_launches_of_the_same_kernels_are_no_phase_and_few_launches_have_none() -> None:
    group = np.random.default_rng(7).integers(0, 4, 2000)
    slower = np.where(np.arange(2000) < 500, 100_000, 1000) * (1 + group)
    assert find_phases(_run(group, slower)) is None
    two = np.repeat([0, 1], 319)
    assert find_phases(_run(two, np.ones_like(two))) is None
    two = np.repeat([0, 1], 320)
    found = find_phases(_run(two, np.ones_like(two)))
    assert found is not None
    assert [(phase.first_id, phase.group, phase.share) for phase in found.phases] == [(10, 0, 1), (330, 1, 1)]
