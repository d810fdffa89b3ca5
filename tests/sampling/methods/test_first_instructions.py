"""The first billion instructions: which launches are taken, and what they weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.methods import baselines
from sampling.methods.method import Picks
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of


def launch_list(counts: Sequence[float]) -> LaunchList:
    """Return launches of one kernel with these instruction counts."""
    return launches_of(["kernel"] * len(counts), {"instructions": counts})


def picked(launches: LaunchList, instructions: float = 1e9) -> Picks:
    """Return the picks of the method."""
    return baselines.pick_first(
        launches, baselines.FirstOptions(instructions), np.random.default_rng(0), None
    )


def test_launches_are_taken_until_a_billion_instructions_are_done() -> None:
    picks = picked(launch_list([4e8, 5e8, 3e8, 8e8, 4e8]))
    assert picks.row.tolist() == [0, 1, 2]
    # 2.4e9 instructions in all, 1.2e9 of them in the three launches.
    assert picks.weight.tolist() == [2, 2, 2]
    assert picks.labels == ("all launches, by the first 1,000,000,000 instructions",)
    assert picks.stratum.tolist() == [0] * 5
    assert picks.notes == ()
    assert picks.details == {
        "metric": "instructions",
        "counts": "instructions as the file counts them",
        "instructions": 2.4e9,
        "instructions_done": 1.2e9,
    }


def test_a_first_launch_beyond_it_is_taken_whole() -> None:
    picks = picked(launch_list([3e9, 1e9]))
    assert (picks.row.tolist(), picks.weight.tolist()) == ([0], [4 / 3])


@given(
    counts=st.lists(st.integers(0, 1000), min_size=1, max_size=50),
    limit=st.integers(1, 20_000),
)
def test_it_estimates_cycles_as_instructions_over_ipc(counts: list[int], limit: int) -> None:
    done, taken = 0, 0
    while taken < len(counts) and done < limit:
        done += counts[taken]
        taken += 1
    cycles = np.arange(7.0, 7.0 + len(counts))
    picks = picked(launch_list(counts), limit)
    assert picks.row.tolist() == list(range(taken))
    expected = sum(counts) / (done / cycles[:taken].sum()) if done else cycles.sum()
    assert picks.estimate(cycles) == pytest.approx(expected, rel=1e-12)
