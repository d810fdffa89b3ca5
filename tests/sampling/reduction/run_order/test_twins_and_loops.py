"""Which processes and devices issue the same launches, and the loop of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sampling.profile.launch_table import LaunchTable
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.reduction.run_order import loops, ordered_launches
from sampling.reduction.run_order.run_order import RunOrder, run_order

Look = Callable[..., RunOrder]

RNG = np.random.default_rng(3)
ONE = [f"k{code}" for code in RNG.integers(0, 9, 300)]


@pytest.fixture(scope="module")
def look(launch_table: Callable[..., LaunchTable]) -> Look:
    """Look at ranks of launches, each a device with its own names and durations."""

    def looked(*ranks: Sequence[str], times: Sequence[int] = (), region: Region | None = None) -> RunOrder:
        names = [name for rank in ranks for name in rank]
        each = zip(ranks, times or [1] * len(ranks), strict=True)
        durations = [1000 * time for rank, time in each for _ in rank]
        device = np.repeat(np.arange(len(ranks)), [len(rank) for rank in ranks])
        profile = launch_table(names, durations, device=device, order=np.arange(len(names)))
        return run_order(profile, count_durations(profile, Grouping(GroupBy.NAME), region))

    return looked


def test_the_same_launches_in_the_same_order(look: Look) -> None:
    other = ["x", *ONE[1:]]
    twins = look(ONE, other[::-1], ONE, ONE, times=[2, 1, 3, 4]).twins
    assert twins is not None
    assert (twins.sequences, twins.others, twins.launches) == ((0, 2, 3), (1,), 300)
    assert (twins.in_order, twins.same, twins.time_ratio) == (True, 1.0, 2.0)
    assert look(ONE).twins is None
    assert look(ONE[:19], ONE[:19]).twins is None
    assert look(ONE, ONE, times=[0, 1]).twins.time_ratio is None  # type: ignore[union-attr]


def test_nearly_the_same_launches_in_any_order(look: Look) -> None:
    twins = look(ONE, [*ONE[::-1], "x", "y"]).twins
    assert twins is not None
    assert (twins.sequences, twins.in_order, twins.same) == ((0, 1), False, pytest.approx(300 / 302))
    assert look(ONE, ONE[::-1]).twins is not None
    assert look(ONE, [*ONE[::-1], *"abcd"]).twins is None
    assert look(ONE, ["x"] * 4 + ONE[4:]).twins is None


def test_the_loop_of_the_device_with_the_most_time(look: Look) -> None:
    step = ["a", "b", "c", "a", "d"]
    loop = look(["z"] * 4, ["p", "q", *step * 20, "r"], ONE).loop
    assert loop is None, "the last device takes the most time and has no loop"
    loop = look(["z"] * 4, ["p", "q", *step * 100, "r"]).loop
    assert loop is not None
    assert (loop.sequence, loop.launches, loop.iterations) == (1, 5, 100)
    assert (loop.first_id, loop.stop_id, loop.one, loop.outside) == (6, 506, (11, 16), 3)
    assert (loop.shortest_ns, loop.mean_ns, loop.longest_ns) == (5000, 5000, 5000)
    assert loop.share == pytest.approx(500 / 503)


def test_two_times_are_no_loop_and_one_kernel_is_none(look: Look) -> None:
    assert look(["a", "b", "c"] * 2).loop is None
    assert look(["a", "b", "c"] * 3).loop is not None
    assert look(["a"] * 100).loop is None


def test_a_long_loop_is_followed_from_the_middle_to_its_ends(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*"pqr", *["a", "b", "c", "a", "d"] * 200, *"st"]
    whole = look(names).loop
    monkeypatch.setattr(loops, "_LOOKED_AT", 64)
    middle = look(names).loop
    assert whole is not None
    assert middle is not None
    # An iteration may begin at any of its launches.
    assert (middle.launches, middle.iterations, middle.first_id, middle.stop_id, middle.outside) == (
        5,
        pytest.approx(whole.iterations, abs=1),
        whole.first_id,
        whole.stop_id,
        whole.outside,
    )


def test_too_many_launches_are_not_looked_at(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_launches, "MOST_LAUNCHES", 599)
    assert look(ONE, ONE) == RunOrder()
    monkeypatch.setattr(ordered_launches, "MOST_LAUNCHES", 600)
    assert look(ONE, ONE).twins is not None
