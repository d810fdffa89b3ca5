"""What two recordings are compared on: iterations, the same launches or all; against loops over launches."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import t

from sampling.difference.basis import difference_between
from sampling.difference.comparison import Basis, Change, Difference
from sampling.difference.recordings import MOST_STRETCHES, ProfilePart
from sampling.profile.profile import Activity, Profile
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from tests.sampling.conftest import profile_with_ranges

LaunchTables = Callable[..., Profile]


class Launch(NamedTuple):
    """A launch as it is called, starts and lasts, on a device."""

    name: str
    call: int
    start: int
    lasts: int
    device: int = 0


class Step(NamedTuple):
    """A range as a program opens and closes it."""

    name: str
    opens: int
    closes: int


def part(
    launches: Sequence[Launch], steps: Sequence[Step] | None, region: Region | None = None
) -> ProfilePart:
    columns = [*zip(*launches, strict=True)]
    profile = profile_with_ranges(
        columns[1],
        None if steps is None else [*map(tuple, steps)],
        names=columns[0],
        durations=columns[3],
        start_ns=columns[2],
        device=columns[4],
    )
    return ProfilePart(profile, region or Region())


def stepped(
    lasts: Sequence[Sequence[int]], *, ahead: int = 0, gap: int = 50, step: int = 1000, name: str = "step {}"
) -> tuple[list[Launch], list[Step]]:
    """Steps of launches k0, k1, ... one after the other, and some launches before the first."""
    launches = [Launch("k0", at, 5 * at, 4) for at in range(1, ahead + 1)]
    steps = []
    for number, of_step in enumerate(lasts):
        begin = 1000 + number * step
        steps.append(Step(name.format(number + 3), begin, begin + step - 10 * number))
        start = begin + 7
        for place, ns in enumerate(of_step):
            launches.append(Launch(f"k{place}", begin + place, start, ns))
            start += ns + gap
    return launches, steps


def welch(before: Sequence[float], after: Sequence[float]) -> tuple[float, float, float]:
    """Welch's interval of a ratio of means, on its logarithm."""
    x, y = statistics.fmean(before), statistics.fmean(after)
    a = statistics.variance(before) / len(before) / x**2
    b = statistics.variance(after) / len(after) / y**2
    freedom = (a + b) ** 2 / (a**2 / (len(before) - 1) + b**2 / (len(after) - 1))
    reach = float(t.ppf(0.975, freedom)) * math.sqrt(a + b)
    return y / x, y / x * math.exp(-reach), y / x * math.exp(reach)


def told(change: Change | None) -> tuple[float | None, float | None, float | None]:
    assert change is not None
    return change.ratio, change.low, change.high


def kernels(found: Difference) -> dict[str, tuple[int, int, int, int]]:
    """Launches and time of each kernel before and after."""
    columns = (found.before.launches, found.after.launches, found.before.total_ns, found.after.total_ns)
    return {
        kernel.name: tuple(int(column[row]) for column in columns)  # type: ignore[misc]
        for row, kernel in enumerate(found.kernels)
    }


STEPS = st.lists(st.lists(st.integers(10, 90), min_size=3, max_size=3), min_size=3, max_size=7)


@settings(deadline=None)
@given(before=STEPS, after=STEPS, ahead=st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_steps_are_compared_by_what_each_takes(
    before: list[list[int]], after: list[list[int]], ahead: tuple[int, int]
) -> None:
    """Kernel time, the steps' own time, launches and kernels; what stands before the first does not count."""
    sides = [stepped(lasts, ahead=more) for lasts, more in zip((before, after), ahead, strict=True)]
    found = difference_between(*(part(*side) for side in sides))
    per = found.per_iteration
    assert (found.basis, found.reason, found.is_same_work) == (Basis.ITERATIONS, None, True)
    assert (per.iterations.before, per.iterations.after) == (len(before), len(after))
    facts = [side.facts for side in found.recordings]
    for more, side in zip(ahead, facts, strict=True):
        assert side is not None
        assert (side.name, side.source, side.launches_ahead, side.launches_behind) == (
            "step *",
            "named",
            more,
            0,
        )
    time = [[sum(of_step) for of_step in lasts] for lasts in (before, after)]
    expected = statistics.fmean(time[0]), statistics.fmean(time[1])
    assert (per.kernel_ns.before, per.kernel_ns.after) == pytest.approx(expected)
    if all(statistics.pstdev(side) > 0 for side in time):
        assert told(per.kernel_ns) == pytest.approx(welch(*time))
    own = [[step.closes - step.opens for step in side[1]] for side in sides]
    assert told(per.elapsed_ns) == pytest.approx(welch(*own))
    assert (per.launches.before, per.launches.after, per.launches.low) == (3, 3, None)
    for place in range(3):
        sums = [[of_step[place] for of_step in lasts] for lasts in (before, after)]
        assert kernels(found)[f"k{place}"] == (len(before), len(after), sum(sums[0]), sum(sums[1]))
        row = next(row for row, kernel in enumerate(found.kernels) if kernel.name == f"k{place}")
        if all(statistics.pstdev(side) > 0 for side in sums):
            ratios = found.ratios
            assert [float(values[row]) for values in ratios] == pytest.approx(welch(*sums))
    assert sum(found.causes.values()) == int(found.change_ns.sum())


def busy_by_hand(launches: Sequence[Launch], device: int, begin: int, end: int) -> int:
    """How many ns of a time a device runs a kernel, one after the other."""
    own = [launch for launch in launches if launch.device == device]
    return sum(any(one.start <= ns < one.start + one.lasts for one in own) for ns in range(begin, end))


LAUNCHES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 40), st.integers(0, 1)), min_size=9, max_size=24
)


@settings(deadline=None)
@given(drawn=LAUNCHES)
def test_busy_is_of_the_time_from_the_first_start_to_the_next_steps(
    drawn: list[tuple[int, int, int]],
) -> None:
    """Streams side by side count once, and devices each for itself."""
    steps = [Step(f"step {number}", 100 * number, 100 * number + 99) for number in range(3)]
    launches = []
    for place, (start, lasts, device) in enumerate(drawn):
        number = place * 3 // len(drawn)
        launches.append(Launch("k", 100 * number + place % 40, 100 * number + start, lasts, device))
    here = part(launches, steps)
    recording = here.recording(difference_between(here, here).grouping)
    by_place: dict[tuple[int, int], list[Launch]] = defaultdict(list)
    for launch in launches:
        by_place[launch.device, launch.call // 100].append(launch)
    devices = {launch.device for launch in launches}
    assume(len(by_place) == 3 * len(devices))
    assert recording.iterations is not None
    for device in devices:
        starts = [min(one.start for one in by_place[device, number]) for number in range(3)]
        assert starts == sorted(starts)
    expected_busy = expected_device = 0
    for device in devices:
        own = [launch for launch in launches if launch.device == device]
        begin, end = min(one.start for one in own), max(one.start + one.lasts for one in own)
        expected_busy += busy_by_hand(launches, device, begin, end)
        expected_device += end - begin
    assert recording.iterations.busy_ns.sum() == expected_busy
    assert recording.iterations.device_ns.sum() == expected_device


def test_a_step_that_the_region_cuts_is_none() -> None:
    launches, steps = stepped([[10, 20, 30], [11, 22, 31], [12, 21, 30], [10, 25, 33], [13, 23, 32]])
    there = part(launches, steps)
    found = difference_between(there, part(launches, steps, Region(launches=(1, 14))))
    facts = found.recordings[1].facts
    assert facts is not None
    assert (facts.iterations, facts.launches_ahead, facts.launches_behind) == (3, 2, 2)
    # What a filter of names leaves out is left out of every step.
    only = difference_between(there, part(launches, steps, Region(include=("k1",))))
    assert only.per_iteration.launches.after == 1
    assert only.per_iteration.kernel_ns.after == pytest.approx((20 + 22 + 21 + 25 + 23) / 5)


def test_steps_of_other_lengths_are_left_out_where_most_are_alike() -> None:
    usual, longer = [10, 20, 30], [10, 20, 30, 500]
    here = part(*stepped([usual, usual, longer, usual, usual]))
    found = difference_between(here, here)
    facts = found.recordings[0].facts
    assert facts is not None
    assert (facts.iterations, facts.left_out, facts.launches_outside) == (4, 1, 4)
    assert (facts.least_launches, facts.most_launches) == (3, 3)
    assert found.per_iteration.kernel_ns.before == 60
    mixed = part(*stepped([usual, longer, usual, longer]))
    facts = mixed.recording(found.grouping).facts
    assert facts is not None
    assert (facts.iterations, facts.left_out, facts.least_launches, facts.most_launches) == (4, 0, 3, 4)


@pytest.mark.parametrize(
    ("ranges", "name", "iterations"),
    [
        # The outermost that comes three times.
        (
            [("epoch 1", 1000, 7000), *((f"step {n}", 1000 + 1000 * n, 1999 + 1000 * n) for n in range(6))],
            "step *",
            6,
        ),
        # Other shapes are other work, and a number that falls counts no steps.
        ([(f"batch {n % 3}x{64 << n % 3}", 1000 + 1000 * n, 1999 + 1000 * n) for n in range(6)], None, None),
        ([(f"left {9 - n}", 1000 + 1000 * n, 1999 + 1000 * n) for n in range(6)], None, None),
        # A part of every step is none: most launches lie between.
        ([(f"forward {n}", 1000 + 1000 * n, 1001 + 1000 * n) for n in range(6)], None, None),
        # Ranges that overlap are none.
        ([(f"step {n}", 1000 + 1000 * n, 2500 + 1000 * n) for n in range(6)], None, None),
        # One alone needs a number: any program may have a range around all.
        ([("main", 1000, 7000)], None, None),
        ([("step 7", 1000, 7000)], "step *", 1),
        ([("step", 1000 + 1000 * n, 1999 + 1000 * n) for n in range(6)], "step", 6),
    ],
)
def test_which_ranges_are_steps(
    ranges: list[tuple[str, int, int]], name: str | None, iterations: int | None
) -> None:
    # No two steps have the same launches, so that none are found.
    launches = []
    for number in range(6):
        launches += [Launch(f"k{number}-{place}", 1000 + 1000 * number + place, 0, 9) for place in range(3)]
    here = part(launches, [Step(*each) for each in ranges])
    facts = here.recording(difference_between(here, here).grouping).facts
    assert (facts.name, facts.iterations) == (name, iterations) if facts and name else facts is None


def looped(
    launch_table: LaunchTables, names: Sequence[str], lasts: Sequence[int], **columns: Any
) -> ProfilePart:
    return ProfilePart(launch_table([*names], [*lasts], **columns))


def test_loops_that_are_found_are_compared_where_they_launch_the_same(launch_table: LaunchTables) -> None:
    rng = np.random.default_rng(1)
    names = ["a", "b", "c", "d", "a"]
    sides = []
    for number, grows in ((6, 1.0), (8, 1.5)):
        lasts = rng.integers(90, 110, (number, 5)) * np.array([1, grows, 1, 1, 1])
        columns = {"start_ns": [*range(0, 1000 * number * 5, 1000)]}
        sides.append(looped(launch_table, names * number, lasts.astype(int).ravel().tolist(), **columns))
    found = difference_between(*sides)
    assert (found.basis, found.per_iteration.iterations.after) == (Basis.ITERATIONS, 8)
    # Of the last iteration the end is not recorded.
    elapsed = found.per_iteration.elapsed_ns
    assert elapsed is not None
    assert (elapsed.before, elapsed.after) == (5000, 5000)
    at = {kernel.name: row for row, kernel in enumerate(found.kernels)}
    assert found.ratios.low[at["b"]] > 1.3 > found.ratios.high[at["c"]]
    # Twice as much in an iteration is another loop.
    twice = looped(launch_table, ["a", "b", "c", "d", "a", "a", "b", "c", "x", "a"] * 4, [100] * 40)
    other = difference_between(sides[0], twice)
    assert (other.basis, other.is_same_work) == (Basis.RECORDED, False)
    assert other.reason == "B holds 1.33 times the launches of A: not the same work"


def test_more_iterations_than_are_kept_are_added_up(launch_table: LaunchTables) -> None:
    number = 3 * MOST_STRETCHES + 5
    rng = np.random.default_rng(2)
    lasts = rng.integers(90, 110, 2 * number)
    here = looped(launch_table, ["a", "b"] * number, lasts.tolist())
    recording = here.recording(difference_between(here, here).grouping)
    stretches = recording.iterations
    assert stretches is not None
    assert recording.facts is not None
    assert recording.facts.iterations == stretches.iterations.sum() == number
    assert len(stretches.iterations) == MOST_STRETCHES
    assert stretches.kernel_ns.sum() == lasts.sum()
    assert recording.iteration_ns.sum(axis=0).tolist() == stretches.kernel_ns.tolist()


def test_the_same_launches_are_compared_in_pairs(launch_table: LaunchTables) -> None:
    """Two streams whose launches mix otherwise, and no loop."""
    rng = np.random.default_rng(3)
    order = [f"k{index}" for index in rng.permutation(40)]
    streams = [index % 2 for index in range(40)]
    lasts = rng.integers(100, 200, 40)
    # The pairs of neighbours the other way round: each stream has its launches in the same order.
    turned = [index + 1 - 2 * (index % 2) for index in range(40)]
    here = looped(launch_table, order, lasts.tolist(), stream=streams)
    there = looped(
        launch_table,
        [order[index] for index in turned],
        [int(1.5 * lasts[index]) for index in turned],
        stream=[7 - streams[index] for index in turned],
    )
    same = looped(launch_table, order, [int(1.2 * ns) for ns in lasts], stream=[3 * each for each in streams])
    assert difference_between(here, same).basis is Basis.PAIRED
    # Streams go by which begins first.
    assert difference_between(here, there).basis is Basis.RECORDED
    assert difference_between(here, there).is_same_work


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), min_size=10, max_size=60))
def test_pairs_by_a_loop(launch_table: LaunchTables, pairs: list[tuple[int, int]]) -> None:
    """u = y - R x in ten blocks of successive pairs, Student's t with nine degrees of freedom."""
    names = [f"k{index}" for index in range(len(pairs))]
    before, after = ([*side] for side in zip(*pairs, strict=True))
    found = difference_between(*(looped(launch_table, names, side) for side in (before, after)))
    assert found.basis is Basis.PAIRED
    ratio = sum(after) / sum(before)
    blocks: list[float] = [0.0] * 10
    for place, (x, y) in enumerate(pairs):
        blocks[place * 10 // len(pairs)] += y - ratio * x
    error = math.sqrt(sum(u**2 for u in blocks) / 90) / (sum(before) / 10)
    reach = float(t.ppf(0.975, 9)) * error
    expected = (ratio, ratio - reach, ratio + reach) if reach > 1e-12 else (ratio, None, None)
    change = found.per_iteration.kernel_ns
    assert change.ratio == pytest.approx(ratio)
    if reach > 1e-9:
        assert told(change) == pytest.approx(expected)


def test_a_program_that_drifts_is_compared_in_pairs(launch_table: LaunchTables) -> None:
    """Its iterations are found, but each takes less time than the one before."""
    rng = np.random.default_rng(4)
    n = 800
    drift = np.repeat(np.linspace(1000, 100, n // 2), 2)
    sides = [(drift * factor * rng.normal(1, 0.05, n)).astype(int).tolist() for factor in (1, 1.09)]
    here, there = (looped(launch_table, ["fan1", "fan2"] * (n // 2), lasts) for lasts in sides)
    found = difference_between(here, there)
    assert (found.basis, found.reason) == (Basis.PAIRED, "successive iterations depend on each other")
    change = found.per_iteration.kernel_ns
    assert change.low is not None
    assert change.high is not None
    assert 1.07 < change.low < 1.09 < change.high < 1.11
    assert all(1.05 < low < 1.09 < high < 1.13 for low, high in zip(*found.ratios[1:], strict=True))
    # With a launch more it is iterations again, by blocks of them.
    longer = looped(launch_table, [*["fan1", "fan2"] * (n // 2), "fan1"], [*sides[1], 100])
    other = difference_between(here, longer)
    assert other.basis is Basis.ITERATIONS
    wide = other.per_iteration.kernel_ns
    assert wide.low is not None
    assert wide.low < 0.8


def test_as_recorded_whatever_there_is(launch_table: LaunchTables) -> None:
    sides = [part(*stepped([[10, 20, 30]] * steps)) for steps in (4, 6)]
    found = difference_between(*sides, as_recorded=True)
    assert (found.basis, found.reason, found.is_same_work) == (Basis.RECORDED, None, True)
    assert found.per_iteration.kernel_ns.ratio == 1.5
    assert found.per_iteration.iterations.before == 1
    per_step = difference_between(*sides).per_iteration.kernel_ns
    assert (per_step.ratio, per_step.low) == (1, None)


def test_fewer_than_three_steps_have_no_spread_of_their_own() -> None:
    rng = np.random.default_rng(6)
    sides = []
    for steps, more in ((1, 0), (2, 3)):
        lasts = rng.integers(90, 110, (steps, 30)).tolist()
        sides.append(part(*stepped(lasts, ahead=more, gap=1, step=5000)))
    found = difference_between(*sides)
    assert found.basis is Basis.ITERATIONS
    assert found.reason is not None
    assert found.per_iteration.kernel_ns.ratio == pytest.approx(1, abs=0.05)
    assert found.per_iteration.elapsed_ns is not None
    assert found.per_iteration.elapsed_ns.low is None


def test_devices_of_a_step_are_taken_together() -> None:
    """Kernel time adds up, and time that passes is that of one device."""
    launches, steps = [], []
    for number in range(4):
        begin = 1000 * number
        steps.append(Step(f"step {number}", begin, begin + 400))
        for device, lasts in ((0, 300), (1, 100)):
            launches.append(Launch("k", begin + 1 + device, begin + 10, lasts + number, device))
    here = part(launches, steps)
    found = difference_between(here, here)
    per = found.per_iteration
    assert per.kernel_ns.before == 300 + 100 + 2 * 1.5
    assert per.launches.before == 2
    assert per.elapsed_ns is not None
    assert per.elapsed_ns.before == 400
    assert {kernel.device for kernel in found.kernels} == {0, 1}
    # Where a device lacks a step there is nothing to number by.
    fewer = part([launch for launch in launches if launch.call != 2], steps)
    assert fewer.recording(found.grouping).facts is None


def test_copies_are_of_the_iteration_in_which_they_start() -> None:
    """From the first launch to the start of what follows; before the first and behind the last are none."""
    launches, steps = stepped([[10, 20, 30], [11, 22, 31], [12, 21, 30]], ahead=1)
    there = part(launches, steps)
    starts = {
        number: min(one.start for one in launches if one.call // 1000 == number) for number in (1, 2, 3)
    }
    end = max(one.start + one.lasts for one in launches)
    copies = [
        (starts[1] - 1, 100),
        (starts[1], 7),
        (starts[2] - 1, 5),
        (starts[2], 11),
        (end - 1, 3),
        (end, 100),
    ]
    begin, lasts = np.array(copies).T
    rows = np.stack([begin, begin + lasts, *np.zeros((3, len(copies)), dtype=np.int64)])
    calls = np.zeros((5, 0), dtype=np.int64)
    there.profile.activity_reader = lambda: Activity(np.full(len(launches), -1), calls, rows, ["Memcpy HtoD"])
    recording = there.recording(Grouping())
    assert recording.iterations is not None
    assert recording.iterations.copies_ns is not None
    assert recording.iterations.copies_ns.tolist() == [12, 11, 3]
    copies_ns = difference_between(there, there).per_iteration.copies_ns
    assert copies_ns is not None
    assert (copies_ns.before, copies_ns.ratio) == (pytest.approx(26 / 3), 1)
