"""What of a change is idle time, and why: against plain loops over the gaps of each iteration."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.difference.baseline import baseline_text, make_baseline, read_baseline
from sampling.difference.basis import difference_between
from sampling.difference.comparison import Basis, Change, Difference
from sampling.difference.recordings import ProfilePart
from sampling.profile.activity import in_id_order, make_activity
from sampling.reduction.grouping import Grouping
from sampling.reduction.idle import IDLE_PARTS
from tests import plain_idle
from tests.plain_idle import Called, Copied, Events, Kernel
from tests.sampling.difference.test_basis import Launch, Step, part, told, welch

# In quarters of a microsecond, so that gaps are below 1 us, as long as a turnaround and longer.
TICK, STEP = 250, 200
NAMES = ("cudaLaunchKernel", "cudaDeviceSynchronize", "Memcpy HtoD")
# Of a kernel: how long the device is idle before it, how long it lasts, when its call ends before it starts
# (None: it has no call), and whether a copy or a call that waits lies before it.
KERNELS = st.tuples(
    st.integers(0, 60), st.integers(1, 20), st.none() | st.integers(0, 80), st.booleans(), st.booleans()
)
Drawn = tuple[int, int, int | None, bool, bool]


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[list[list[Drawn]]], bool]:
    """Steps of as many kernels on one or two devices, and whether something follows the last."""
    devices, kernels = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    of_device = st.lists(KERNELS, min_size=kernels, max_size=kernels)
    step = st.lists(of_device, min_size=devices, max_size=devices)
    return draw(st.lists(step, min_size=3, max_size=6)), draw(st.booleans())


def recorded(
    steps: list[list[list[Drawn]]], is_followed: bool
) -> tuple[ProfilePart, Events, list[list[int]]]:
    """A run, what was recorded of it, and when the steps begin on each device, and what follows them."""
    launches, ranges, events = list[Launch](), list[Step](), Events([], [], [])
    begins: list[list[int]] = [[] for _ in steps[0]]
    for number, step in enumerate([*steps, [[(1, 1, 0, False, False)]] * len(steps[0])]):
        if number < len(steps):
            ranges.append(Step(f"step {number}", 1000 * number, 1000 * number + 900))
        elif not is_followed:
            break
        for device, kernels in enumerate(step):
            at = number * STEP * TICK
            for place, (idle, lasts, ahead, copies, waits) in enumerate(kernels):
                start = at + idle * TICK
                if place == 0:
                    begins[device].append(start)
                index = len(launches)
                launches.append(Launch("k", 1000 * number + 10 * device + place, start, lasts * TICK, device))
                events.kernels.append(
                    Kernel(0, device, start, start + lasts * TICK, None if ahead is None else index)
                )
                if ahead is not None:
                    end = start - ahead * TICK
                    events.calls.append(Called(0, end - TICK, end, NAMES[0], index))
                if copies:
                    events.copies.append(Copied(0, device, start - idle * TICK // 2, start, 8, NAMES[2]))
                if waits:
                    events.calls.append(Called(0, start - 9 * TICK, start - TICK, NAMES[1], -1 - index))
                at = start + lasts * TICK
    there = part(launches, ranges)
    calls = [(call.start, call.end, 0, NAMES.index(call.name), call.number) for call in events.calls]
    copied = [(copy.start, copy.end, 0, 2, copy.bytes, copy.device) for copy in events.copies]
    rows = [np.array(of, dtype=np.int64).reshape(-1, width).T for of, width in ((calls, 5), (copied, 6))]
    number_of = np.array([-10_000 if each.number is None else each.number for each in events.kernels])
    order = np.lexsort(([launch.call for launch in launches], [launch.device for launch in launches]))
    there.profile.activity_reader = partial(
        in_id_order,
        lambda sequences: make_activity(number_of, rows[0], rows[1], NAMES, sequences),
        order,
        there.profile.sequences,
    )
    return there, events, begins


def plainly(events: Events, begins: Sequence[Sequence[int]], steps: int) -> dict[str, list[float]]:
    """The nanoseconds of each step whose end is recorded by what they are, on average of the devices."""
    ended = min(steps, len(begins[0]) - 1)
    parts = {name: [0.0] * ended for name in ("idle", *IDLE_PARTS)}
    for device, edges in enumerate(begins):
        for begin, end, cause, waited in plain_idle.why(events, 0, device).spans:
            for number in range(ended):
                if edges[number] <= begin < edges[number + 1]:
                    for name, ns in (("idle", end - begin), (cause, end - begin), ("synchronising", waited)):
                        parts[name][number] += ns / len(begins)
    return parts


@given(before=runs(), after=runs())
def test_idle_time_of_steps_is_that_of_plain_loops(before: Any, after: Any) -> None:
    sides = [recorded(*side) for side in (before, after)]
    if not all(any(kernel.number is not None for kernel in events.kernels) for _, events, _ in sides):
        return
    found = difference_between(sides[0][0], sides[1][0])
    idle = found.per_iteration.idle
    assert idle is not None
    assert found.basis is Basis.ITERATIONS
    old, new = (
        plainly(events, begins, len(run[0]))
        for (_, events, begins), run in zip(sides, (before, after), strict=True)
    )
    for name in old:
        change: Change = getattr(idle, f"{name}_ns")
        assert (change.before, change.after) == pytest.approx(
            (statistics.fmean(old[name]), statistics.fmean(new[name]))
        )
        if all(len(side[name]) >= 3 and statistics.pstdev(side[name]) > 0 for side in (old, new)):
            assert told(change) == pytest.approx(welch(old[name], new[name]))
    causes = [getattr(idle, f"{name}_ns").before for name in IDLE_PARTS if name != "synchronising"]
    assert sum(causes) == pytest.approx(idle.idle_ns.before)


def late(idle: int) -> list[list[list[Drawn]]]:
    """Four steps; the host launches the second kernel late, by a tick more from step to step."""
    return [[[(0, 10, None, False, False), (idle + number, 10, 0, False, True)]] for number in range(4)]


def test_a_baseline_keeps_why_the_gpu_was_idle(tmp_path: Path) -> None:
    here, there = (recorded(late(idle), False)[0] for idle in (40, 20))
    path = tmp_path / "baseline.json"
    path.write_text(baseline_text(make_baseline(here, Grouping())))
    kept, expected = difference_between(read_baseline(str(path)), there), difference_between(here, there)
    assert kept.summary("A", "B") == expected.summary("A", "B")
    assert expected.per_iteration.idle is not None
    assert expected.per_iteration.idle.host_ns.before == 41 * TICK
    assert expected.per_iteration.idle.host_ns.after == 21 * TICK
    assert expected.per_iteration.idle.synchronising_ns.before == 8 * TICK


@pytest.mark.parametrize("lacking", [0, 1])
def test_without_calls_on_a_side_nothing_says_why(lacking: int) -> None:
    sides = [recorded(late(idle), False)[0] for idle in (40, 20)]
    sides[lacking].profile.activity_reader = None
    found: Difference = difference_between(*sides)
    assert found.per_iteration.idle is None
    assert found.per_iteration.busy is not None
    assert [side.whole.idle_ns is None for side in found.recordings] == [lacking == 0, lacking == 1]


def test_as_recorded_it_is_that_of_the_run() -> None:
    (here, events, _), (there, others, _) = (recorded(late(idle), False) for idle in (40, 20))
    idle = difference_between(here, there, as_recorded=True).per_iteration.idle
    assert idle is not None
    for name in plain_idle.CAUSES:
        change = getattr(idle, f"{name}_ns")
        sums = [plain_idle.why(side, 0, 0).causes[name] for side in (events, others)]
        assert [change.before, change.after] == sums
        assert change.low is None
