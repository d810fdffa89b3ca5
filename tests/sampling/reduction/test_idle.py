"""Why devices are idle, held against plain loops on made-up recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile import launch_table as launch_table_module
from sampling.profile.activity import in_id_order, join_activities, make_activity
from sampling.profile.profile import Profile
from sampling.reduction.idle import CopyTime, IdleTime, why_idle
from sampling.reduction.region import Region, selected_parts
from sampling.reduction.timeline import device_times
from tests import plain_idle
from tests.plain_idle import Called, Copied, Events, Kernel

Build = Callable[..., Profile]
NAMES = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy_v3020", "cudaDeviceSynchronize")
COPIES = ("Memcpy HtoD (Pinned -> Device)", "Memset (Device)")
# In quarters of a microsecond, so that gaps are below 1 us, as long as a turnaround and longer.
TICK = 250
AT, LENGTH, DEVICE = st.integers(100, 400), st.integers(0, 60), st.integers(0, 1)
NUMBER = st.integers(-1, 12)
KERNELS = st.lists(st.tuples(DEVICE, AT, LENGTH, NUMBER), min_size=1, max_size=25)
CALLS = st.lists(st.tuples(AT, st.integers(-3, 80), st.sampled_from(NAMES), NUMBER), max_size=25)
COPIED = st.lists(st.tuples(DEVICE, AT, st.integers(-3, 60), st.sampled_from(COPIES)), max_size=8)


@pytest.fixture(scope="module", autouse=True)
def _small_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", 7)
        yield


def recorded(launch_table: Build, events: Events) -> Profile:
    """A profile of kernels, with what else was recorded."""
    kernels = events.kernels
    profile = launch_table(
        [f"k{place % 3}" for place in range(len(kernels))],
        [kernel.end - kernel.start for kernel in kernels],
        device=[kernel.device for kernel in kernels],
        start_ns=[kernel.start for kernel in kernels],
    )
    calls = [(call.start, call.end, 0, NAMES.index(call.name), call.number) for call in events.calls]
    copies = [
        (copy.start, copy.end, 0, len(NAMES) + COPIES.index(copy.name), copy.bytes, copy.device)
        for copy in events.copies
    ]
    columns = [
        np.array(rows, dtype=np.int64).reshape(-1, width).T for rows, width in ((calls, 5), (copies, 6))
    ]
    number = np.array([kernel.number for kernel in kernels])
    # As the builder puts them in order: by device, then as they come, by their starts.
    starts, devices = ([getattr(kernel, name) for kernel in kernels] for name in ("start", "device"))
    order = np.lexsort((starts, devices))
    profile.activity_reader = partial(
        in_id_order,
        lambda sequences: make_activity(number, *columns, (*NAMES, *COPIES), sequences),
        order,
        profile.sequences,
    )
    return profile


def made(
    kernels: list[tuple[int, int, int, int]],
    calls: list[tuple[int, int, str, int]],
    copies: list[tuple[int, int, int, str]],
) -> Events:
    """Events at ticks of the clock; a call or copy of negative length is none."""
    return Events(
        [
            Kernel(0, device, TICK * at, TICK * (at + length), number)
            for device, at, length, number in kernels
        ],
        [Called(0, TICK * at, TICK * (at + length), name, number) for at, length, name, number in calls],
        [
            Copied(0, device, TICK * at, TICK * (at + length), length, name)
            for device, at, length, name in copies
        ],
    )


def idle_of(profile: Profile) -> tuple[list[IdleTime], list[CopyTime] | None]:
    devices, copies = why_idle(profile, profile.parts, device_times(profile, profile.parts))
    return [*devices.values()], copies


@given(kernels=KERNELS, calls=CALLS, copies=COPIED)
def test_causes_are_those_of_plain_loops(
    kernels: list[tuple[int, int, int, int]],
    calls: list[tuple[int, int, str, int]],
    copies: list[tuple[int, int, int, str]],
    launch_table: Build,
) -> None:
    events = made(kernels, calls, copies)
    profile = recorded(launch_table, events)
    usable = events._replace(
        kernels=[
            kernel._replace(number=None if kernel.number < 0 else kernel.number) for kernel in events.kernels
        ],
        calls=[call for call in events.calls if call.end >= call.start],
        copies=[copy for copy in events.copies if copy.end >= copy.start],
    )
    found, copied = idle_of(profile)
    times = device_times(profile, profile.parts)
    overlapped = 0
    for time, idle in zip(times, found, strict=True):
        plain = plain_idle.why(usable, 0, time.sequence.device)
        assert time.busy_ns + idle.idle_ns == time.span_ns == plain.span
        assert idle.idle_ns == plain.idle
        long_ns = max(sum(plain.causes.values()), 1)
        assert (idle.causes is None) == (not plain.gaps)
        if idle.causes is not None:
            assert idle.causes == pytest.approx({name: ns / long_ns for name, ns in plain.causes.items()})
            assert sum(idle.causes.values()) == pytest.approx(1)
            assert idle.synchronising <= idle.causes["host"] + 1e-9
        assert idle.short == pytest.approx(plain.short / max(plain.idle, 1))
        assert idle.synchronising == pytest.approx(plain.synchronising / long_ns)
        assert idle.copying == pytest.approx(plain.copying / long_ns)
        assert {(gap.duration_ns, gap.cause) for gap in idle.gaps} <= {*plain.gaps}
        assert [gap.duration_ns for gap in idle.gaps] == sorted((ns for ns, _ in plain.gaps), reverse=True)[
            :5
        ]
        overlapped += plain.overlapped
    assert copied is not None
    assert sum(copy.overlapped_ns for copy in copied) == overlapped
    assert sum(copy.count for copy in copied) == len(usable.copies)
    assert sum(copy.duration_ns for copy in copied) == sum(copy.end - copy.start for copy in usable.copies)


def test_a_gap_says_what_stands_on_both_sides_and_the_call_in_it(launch_table: Build) -> None:
    """By hand: the host synchronises until 30 us after the gap began, then launches 20 us later."""
    kernels = [Kernel(0, 0, 0, 10_000, 1), Kernel(0, 0, 60_000, 70_000, 2), Kernel(0, 0, 75_000, 80_000, 3)]
    calls = [
        *(Called(0, 100 * number, 100 * number + 50, "cudaLaunchKernel", number) for number in (1, 3)),
        Called(0, 5_000, 40_000, "cudaDeviceSynchronize", 9),
        Called(0, 50_000, 52_000, "cudaLaunchKernel", 2),
    ]
    (idle,), copies = idle_of(recorded(launch_table, Events(kernels, calls, [])))
    assert copies == []
    first, second = idle.gaps
    assert (first.duration_ns, first.cause, first.call) == (50_000, "host", "cudaDeviceSynchronize")
    assert (first.before, first.after, first.kernel_before, first.kernel_after) == (0, 1, "k0", "k1")
    assert (second.duration_ns, second.cause, second.call) == (5_000, "turnaround", None)
    assert idle.causes == pytest.approx(
        dict.fromkeys(plain_idle.CAUSES, 0) | {"host": 50 / 55, "turnaround": 5 / 55}
    )
    assert idle.synchronising == pytest.approx(30 / 55)
    assert idle.copying == 0


def test_of_a_selection_copies_count_that_it_runs_beside(launch_table: Build) -> None:
    kernels = [Kernel(0, 0, at, at + 2_000, -1) for at in (0, 10_000, 20_000)]
    copies = [Copied(0, 0, at, at + 3_000, 8, COPIES[0]) for at in (1_000, 11_000, 30_000)]
    profile = recorded(launch_table, Events(kernels, [], copies))
    parts = selected_parts(profile, Region(launches=(1, None)))
    devices, copied = why_idle(profile, parts, device_times(profile, parts))
    (idle,) = devices.values()
    assert copied == [CopyTime("HtoD", 1, 8, 3_000, 1_000)]
    assert idle.causes == dict.fromkeys(plain_idle.CAUSES, 0.0) | {"unknown": 1.0}
    _, all_copies = idle_of(profile)
    assert all_copies == [CopyTime("HtoD", 3, 24, 9_000, 2_000)]


def test_without_anything_but_launches_nothing_says_why(launch_table: Build) -> None:
    profile = launch_table(["a", "b"], [1_000, 1_000], start_ns=[0, 4_000])
    (idle,), copies = idle_of(profile)
    assert copies is None
    assert (idle.idle_ns, idle.share, idle.short) == (3_000, 0.6, None)
    assert idle.causes == dict.fromkeys(plain_idle.CAUSES, 0.0) | {"unknown": 1.0}
    assert [(gap.duration_ns, gap.cause, gap.before, gap.after) for gap in idle.gaps] == [
        (3_000, "unknown", 0, 1)
    ]


def test_the_activity_of_several_recordings_is_joined(launch_table: Build) -> None:
    """Of three files the second has nothing but launches; the calls of the third keep their launches."""
    one = recorded(launch_table, Events([Kernel(0, 0, 0, 10, 5)], [Called(0, 0, 5, NAMES[0], 5)], []))
    other = Events(
        [Kernel(0, 0, 0, 10, 5)], [Called(0, 0, 7, NAMES[3], 5)], [Copied(0, 0, 1, 2, 3, COPIES[1])]
    )
    parts = [(one.activity_reader, 0, 1), (None, 1, 2), (recorded(launch_table, other).activity_reader, 2, 1)]
    joined = join_activities(parts)
    assert joined.launch_call.tolist() == [0, -1, -1, 1]
    assert joined.calls[:3].T.tolist() == [[0, 5, 0], [0, 7, 2]]
    assert [joined.names[name] for name in joined.calls[3]] == [NAMES[0], NAMES[3]]
    assert [joined.names[name] for name in joined.copies[3]] == [COPIES[1]]
    assert joined.copies[2].tolist() == [2]
