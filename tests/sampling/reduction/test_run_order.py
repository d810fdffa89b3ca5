"""What the order of a run shows: kernels that drift, twins, and the loop, against a search by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.drift import DRIFTING, INDEPENDENT, PERIODIC, Durations, share_said
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction import run_order as run_order_module
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.iterations import BLOCKS, Iterations, Windows, find_iterations, stretches_within
from sampling.reduction.region import Region
from sampling.reduction.run_order import Drift, RunOrder, rank_trend, run_order

DriftOf = Callable[..., Drift | None]
Look = Callable[..., RunOrder]


@pytest.fixture(scope="module")
def drift_of(launch_table: Callable[..., Profile]) -> DriftOf:
    def looked(
        names: Sequence[str], durations: Sequence[int], region: Region | None = None, **columns: object
    ) -> Drift | None:
        pooled = bool(columns.pop("pooled", False))
        profile = launch_table(names, durations, **columns)
        grouping = Grouping(GroupBy.NAME, pooled)
        return run_order(profile, count_durations(profile, grouping, region)).drift

    return looked


@pytest.mark.parametrize(
    "durations", [*INDEPENDENT.values(), *PERIODIC.values()], ids=[*INDEPENDENT, *PERIODIC]
)
def test_what_has_no_trend_does_not_drift(durations: Durations) -> None:
    """At most one profile in a hundred, of 20 kernels each, by the level asked for; most are far below."""
    assert share_said(durations, 50) <= 0.02


@pytest.mark.parametrize("durations", DRIFTING.values(), ids=DRIFTING)
def test_what_drifts_is_seen(durations: Durations) -> None:
    assert share_said(durations, 20) == 1


def test_the_largest_kernel_that_drifts_is_named_with_the_time_of_all(drift_of: DriftOf) -> None:
    rng = np.random.default_rng(0)
    names = ["small", "large", "even"] * 200
    durations = rng.permutation(600) + 500_000
    durations[::3] = 1000 + 10 * np.arange(200)
    durations[1::3] = 508_000 - 2_347 * np.arange(200)
    drift = drift_of(names, durations.tolist())
    assert drift is not None
    assert (len(drift.groups), drift.time_ns) == (2, int(durations[::3].sum() + durations[1::3].sum()))
    # The medians of ten launches: between the fifth and the sixth of either end.
    assert drift.from_ns == pytest.approx(508_000 - 2_347 * 4.5)
    assert drift.to_ns == pytest.approx(508_000 - 2_347 * 194.5)
    assert drift.trend == pytest.approx(-1)
    assert drift.middle_id == 301


@given(st.lists(st.integers(0, 8), min_size=4, max_size=30))
def test_the_trend_is_spearmans(values: list[int]) -> None:
    ordered = np.sort(values)
    ranks = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    expected = 0 if len(set(values)) == 1 else np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]
    assert rank_trend(np.array(values, dtype=float)) == pytest.approx(expected)


RNG = np.random.default_rng(3)
ONE = [f"k{code}" for code in RNG.integers(0, 9, 300)]


@pytest.fixture(scope="module")
def look(launch_table: Callable[..., Profile]) -> Look:
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
    replicas = look(ONE, other[::-1], ONE, ONE, times=[2, 1, 3, 4]).replicas
    assert replicas is not None
    assert (replicas.sequences, replicas.different, replicas.launches) == ((0, 2, 3), (1,), 300)
    assert (replicas.in_order, replicas.same, replicas.time_ratio) == (True, 1.0, 2.0)
    assert look(ONE).replicas is None
    assert look(ONE[:19], ONE[:19]).replicas is None
    assert look(ONE[:20], ONE[:20]).replicas is not None
    assert look(ONE, ONE, times=[0, 1]).replicas.time_ratio is None  # type: ignore[union-attr]


def test_nearly_the_same_launches_in_any_order(look: Look) -> None:
    replicas = look(ONE, [*ONE[::-1], "x", "y"]).replicas
    assert replicas is not None
    assert (replicas.sequences, replicas.in_order, replicas.same) == ((0, 1), False, pytest.approx(300 / 302))
    assert look(ONE, ONE[::-1]).replicas is not None
    assert look(ONE, [*ONE[::-1], *"abcd"]).replicas is None
    assert look(ONE, ["x"] * 4 + ONE[4:]).replicas is None


def test_the_loop_of_the_device_with_the_most_time(look: Look) -> None:
    step = ["a", "b", "c", "a", "d"]
    loop = look(["z"] * 4, ["p", "q", *step * 20, "r"], ONE).loop
    assert loop is None, "the last device takes the most time and has no loop"
    loop = look(["z"] * 4, ["p", "q", *step * 100, "r"]).loop
    assert loop is not None
    assert (loop.sequence, loop.launches, loop.iterations) == (1, 5, 100)
    assert (loop.first_id, loop.stop_id, loop.iteration_ids) == (6, 506, (11, 16))
    assert loop.most_off == 0
    assert loop.share == pytest.approx(500 / 503)


def test_the_loop_is_looked_for_among_launches_that_count_though_none_takes_time(look: Look) -> None:
    step = ["a", "b", "c"]
    loop = look(["z"] * 4, step * 9, times=[0, 0], region=Region(devices=(1,))).loop
    assert loop is not None
    assert (loop.sequence, loop.launches, loop.iterations) == (1, 3, 9)


def test_a_long_loop_is_followed_from_the_middle_to_its_ends(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*"pqr", *["a", "b", "c", "a", "d"] * 200, *"st"]
    whole = look(names).loop
    monkeypatch.setattr(run_order_module, "_LOOKED_AT", 64)
    middle = look(names).loop
    assert whole is not None
    assert middle is not None
    # An iteration may begin at any of its launches.
    assert (middle.launches, middle.first_id, middle.stop_id) == (5, whole.first_id, whole.stop_id)
    assert abs(middle.iterations - whole.iterations) <= 1


Codes = list[int]


@st.composite
def sequences(draw: st.DrawFn, most: int) -> Codes:
    """Codes with loops within loops, and anything between them."""
    some = st.lists(st.integers(0, 3), max_size=5)
    parts: Codes = []
    for _ in range(draw(st.integers(1, 4))):
        body = draw(some) + draw(some) * draw(st.integers(1, 4)) + draw(some)
        parts += body * draw(st.integers(1, 5)) + draw(some)
    return (parts or [0])[:most]


def repeats(codes: Codes, start: int, stop: int, period: int) -> bool:
    return stop - start >= 2 * period and all(
        codes[at] == codes[at + period] for at in range(start, stop - period)
    )


def by_hand(codes: Codes) -> set[tuple[int, int, int]]:
    """Return start, stop and period of every stretch, as long as can be, with the shortest period."""
    found = set()
    for period in range(1, len(codes) // 2 + 1):
        for start in range(len(codes) - 2 * period + 1):
            stop = start + period
            while stop < len(codes) and codes[stop] == codes[stop - period]:
                stop += 1
            is_longest = start == 0 or codes[start - 1] != codes[start - 1 + period]
            if is_longest and stop - start >= 2 * period:
                found.add((start, stop, period))
    return {
        (start, stop, period)
        for start, stop, period in found
        if not any(repeats(codes, start, stop, shorter) for shorter in range(1, period))
    }


def stretches_of(codes: Codes) -> set[tuple[int, int, int]]:
    array = np.array(codes)
    return {tuple(each) for each in stretches_within(array, Windows(array), 0, len(codes))}


@given(codes=sequences(most=200))
def test_no_stretch_that_covers_two_blocks_is_missed_and_none_is_made_up(codes: Codes) -> None:
    found, all_of_them = stretches_of(codes), by_hand(codes)
    assert found <= all_of_them
    # Whatever its place, so long a stretch covers two blocks.
    two_blocks = 3 * -(-len(codes) // BLOCKS)
    assert {each for each in all_of_them if each[1] - each[0] >= two_blocks} <= found


#: Launches that occur nowhere else.
PROLOGUE = list(range(100, 110))
EPILOGUE = list(range(200, 207))
LAYER = [1, 2, 3, 4, 2, 5]


def found_in(codes: Sequence[int]) -> Iterations:
    found = find_iterations(np.array(codes))
    assert found is not None
    return found


def figures(found: Iterations) -> tuple[int, int, int, int, int]:
    return found.launches, len(found.first), found.start, found.stop, found.in_a_row


def test_a_loop_that_is_repeated_twice_yields_to_one_within_it_that_is_most_of_it() -> None:
    """Two epochs of fifty steps each, with a few launches after each: a step is the iteration."""
    epoch = LAYER * 50 + EPILOGUE
    assert figures(found_in(epoch * 2)) == (6, 100, 0, 607, 50)
    assert found_in(epoch * 3).launches == len(epoch)


def test_iterations_with_a_launch_more_now_and_then_are_counted_apart() -> None:
    steps = [[*LAYER, 99] if number in (7, 20, 30) else LAYER for number in range(40)]
    found = found_in([*PROLOGUE, *(code for step in steps for code in step)])
    # With the launch more, the first six are as ever.
    assert figures(found) == (6, 40, 10, 10 + 240 + 3, 13)
    odd = [LAYER[:4] if number in (7, 20, 30) else LAYER for number in range(40)]
    found = found_in([code for step in odd for code in step])
    assert figures(found) == (6, 37, 0, 234, 12)
    assert np.diff(found.first).tolist().count(6 + 4) == 3


def test_sequences_whose_sums_collide_are_no_defect() -> None:
    """Powers of any number modulo 2^64 add up to the same over both halves of a Thue-Morse sequence."""
    codes = np.zeros(1, dtype=np.int64)
    while len(codes) < 1 << 18:
        codes = np.append(codes, 1 - codes)
    found = find_iterations(codes)
    if found is not None:
        rows = codes[found.first[:, np.newaxis] + np.arange(found.launches)]
        assert (rows == rows[0]).all()


@pytest.mark.parametrize("codes", [[], [3], [1, 2], [1, 2, 3, 4, 5], list(range(500))])
def test_where_nothing_repeats_there_is_no_loop(codes: list[int]) -> None:
    assert find_iterations(np.array(codes, dtype=np.int64)) is None


@given(codes=sequences(most=400))
def test_what_is_found_is_a_loop(codes: list[int]) -> None:
    found = find_iterations(np.array(codes))
    if found is None:
        return
    one = codes[found.first[0] : found.first[0] + found.launches]
    assert all(codes[first : first + found.launches] == one for first in found.first.tolist())
    assert (np.diff(found.first) >= found.launches).all()
    assert 0 <= found.start <= found.first[0]
    assert found.first[-1] + found.launches <= found.stop <= len(codes)
    assert found.in_a_row >= 2
    assert found.in_a_row * found.launches <= found.repeated <= len(codes)


def chosen_by_hand(codes: list[int]) -> set[int]:
    """Return the lengths that the iteration may have by the rule, all stretches considered."""
    stretches = by_hand(codes)
    whole = {
        period for start, stop, period in stretches if stop - start >= max(2 / 3 * len(codes), 3 * period)
    }
    if whole:
        return whole
    loops: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for start, stop, period in stretches:
        one = codes[start : start + period]
        rotation = min(tuple(one[at:] + one[:at]) for at in range(period))
        loops.setdefault(rotation, []).append((start, stop))
    repeated = {
        one: len({at for start, stop in places for at in range(start, stop)}) for one, places in loops.items()
    }
    nearly = [one for one, launches in repeated.items() if launches >= 2 / 3 * max(repeated.values())]
    thrice = [one for one in nearly if any(stop - start >= 3 * len(one) for start, stop in loops[one])]
    return {max(len(one) for one in thrice or nearly)}


@given(codes=sequences(most=BLOCKS))
def test_the_iteration_is_the_one_of_the_rule(codes: list[int]) -> None:
    found = find_iterations(np.array(codes))
    if found is None:
        assert not by_hand(codes)
    else:
        assert found.launches in chosen_by_hand(codes)
