"""The ranks of a run, held against a schedule in which every rank's arrival at every collective is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile.profile import Profile, RecordingFacts
from sampling.reduction.ranks import RankTimes, rank_times
from sampling.reduction.region import Region

Build = Callable[..., Profile]
REDUCE, SEND = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_SendRecv"


def recorded(build: Build, ranks: list[list[tuple[str, int, int]]]) -> Profile:
    """Build the profile of ranks that ran (name, start, duration) each."""
    rows = [(rank, *launch) for rank, launches in enumerate(ranks) for launch in launches]
    process, names, start_ns, durations = map(list, zip(*rows, strict=True))
    return build(names, durations, process=process, start_ns=start_ns)


@given(
    computes=st.integers(2, 4).flatmap(
        lambda ranks: st.lists(
            st.lists(st.integers(1, 500), min_size=ranks, max_size=ranks), min_size=1, max_size=6
        )
    ),
    transfer=st.integers(1, 50),
)
def test_waiting_is_the_time_until_the_last_rank_has_come(
    launch_table: Build, computes: list[list[int]], transfer: int
) -> None:
    number = len(computes[0])
    ranks: list[list[tuple[str, int, int]]] = [[] for _ in range(number)]
    waited, now = [0] * number, 0
    for each_ns in computes:
        end = now + max(each_ns) + transfer
        for rank, own_ns in enumerate(each_ns):
            ranks[rank] += [("gemm", now, own_ns), (REDUCE, now + own_ns, end - now - own_ns)]
            waited[rank] += max(each_ns) - own_ns
        now = end
    found = rank_times(recorded(launch_table, ranks), Region())
    computed = [sum(own) for own in zip(*computes, strict=True)]
    assert [rank.waiting_ns for rank in found.ranks] == waited
    assert [rank.compute_ns for rank in found.ranks] == computed
    assert [rank.communication_ns for rank in found.ranks] == [now - each for each in computed]
    assert found.matched_share == 1
    assert found.slowest.compute_ns == max(computed)
    assert found.median_compute_ns == np.median(computed)
    assert all(rank.busy_share == 1 and rank.overlap_share == 0 for rank in found.ranks)


def test_communication_beside_computing_is_hidden(launch_table: Build) -> None:
    # Of 40 ns of communication the first 30 run beside a kernel; then nothing runs for 20 ns.
    one = [("gemm", 0, 60), (REDUCE, 30, 40), ("gemm", 90, 10)]
    (rank,) = rank_times(recorded(launch_table, [one]), Region()).ranks
    assert (rank.overlap_share, rank.busy_share) == (pytest.approx(0.75), pytest.approx(0.8))
    assert rank.waiting_ns is None


@pytest.mark.parametrize(
    ("others", "matched"),
    [
        ([(REDUCE, 0, 5), (REDUCE, 9, 5)], 0.0),  # of the other rank one is missing
        ([(REDUCE, 0, 5)], 1.0),
        ([(SEND, 0, 5)], 1.0),  # the two of them meet
    ],
)
def test_only_collectives_that_all_ranks_have_equally_often_are_matched(
    launch_table: Build, others: list[tuple[str, int, int]], matched: float
) -> None:
    own = [(others[0][0], 0, 9)]
    found = rank_times(recorded(launch_table, [own, others]), Region())
    assert found.matched_share == matched
    assert [rank.waiting_ns for rank in found.ranks] == ([4, 0] if matched else [None, None])


@pytest.mark.parametrize("name", [REDUCE, SEND])
def test_of_three_ranks_two_meet_in_a_send_and_nobody_knows_which(launch_table: Build, name: str) -> None:
    found = rank_times(recorded(launch_table, [[(name, 0, each)] for each in (9, 5, 7)]), Region())
    expected = [4, 0, 2] if name == REDUCE else [None] * 3
    assert [rank.waiting_ns for rank in found.ranks] == expected


def test_ranks_without_a_profile_are_counted(launch_table: Build) -> None:
    facts = RecordingFacts(rank=3, world_size=8)
    found = rank_times(launch_table([REDUCE, SEND], [3, 4], process=[0, 1], facts=facts), Region())
    assert found.missing == 6
    assert found.matched_share == 0


def test_a_rank_in_the_place_of_all_is_off_by_what_its_kernels_say(launch_table: Build) -> None:
    ranks = [[("a", 0, 10), ("b", 20, 30)], [("a", 0, 20), ("b", 20, 20)], [("a", 0, 30), ("c", 30, 10)]]
    found = rank_times(recorded(launch_table, ranks), Region())
    # Of a, b, c there are 60, 50 and 10 in all, and three times those of each rank are:
    three = np.array([[30, 90, 0], [60, 60, 0], [90, 0, 30]]) - [60, 50, 10]
    assert [rank.error for rank in found.ranks] == pytest.approx(three.sum(axis=1) / 120)
    assert [rank.error_by_kernel for rank in found.ranks] == pytest.approx(abs(three).sum(axis=1) / 120)
    assert found.best is found.ranks[1]


def test_where_all_last_nothing_no_rank_is_off(launch_table: Build) -> None:
    profile = recorded(launch_table, [[("gemm", 0, 0)], [("gemm", 0, 0), ("relu", 5, 0)]])
    ranks = rank_times(profile, Region()).ranks
    assert [(rank.error, rank.error_by_kernel) for rank in ranks] == [(0, 0), (0, 0)]


def test_a_region_is_of_its_launches_alone(launch_table: Build) -> None:
    ranks = [[("a", 0, 10), (REDUCE, 10, 9)], [("b", 0, 20), (REDUCE, 20, 5)]]

    def of(region: Region) -> RankTimes:
        return rank_times(recorded(launch_table, ranks), region)

    assert [rank.kernel_ns for rank in of(Region(exclude=("communication",))).ranks] == [10, 20]
    assert [rank.sequence.process for rank in of(Region(include=("b",))).ranks] == [1]
    assert [rank.sequence.process for rank in of(Region(processes=(1,))).ranks] == [1]
