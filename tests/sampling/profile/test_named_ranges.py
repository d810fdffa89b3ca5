"""Which launches a named range holds: the rule launch by launch, names, and several files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile.launch_table import NO_CALL, STILL_OPEN, find_range_runs
from sampling.profile.named_ranges import (
    NamedRange,
    RangeRuns,
    find_range_operators,
    is_named,
    without_call,
    without_step,
)
from sampling.profile.profile import KernelTable, LaunchSequence
from sampling.profile.workload import join_profiles
from tests.sampling.conftest import profile_with_ranges


@dataclass(frozen=True)
class Event:
    """A range as a program opens and closes it; ``end`` None: never closed."""

    text: str
    start: int
    end: int | None
    process: int = 0


def runs(
    events: Sequence[Event], sequences: Sequence[LaunchSequence], api: Sequence[int] | None
) -> RangeRuns:
    texts = tuple(dict.fromkeys(event.text for event in events))
    rows = [
        (texts.index(each.text), each.process, each.start, STILL_OPEN if each.end is None else each.end)
        for each in events
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return find_range_runs(texts, columns, sequences, None if api is None else np.array(api, dtype=np.int64))


def found(events: Sequence[Event], starts: Sequence[int | None]) -> RangeRuns:
    """Return the runs in one sequence; None: the call was not recorded."""
    sequence = LaunchSequence(process=0, device=0, launches=len(starts), first_id=0)
    return runs(events, (sequence,), [NO_CALL if start is None else start for start in starts])


def ordinals(told: RangeRuns, text: str) -> list[list[int]]:
    return [list(range(each.first_ordinal, each.stop_ordinal)) for each in told.rows() if each.text == text]


def holds(event: Event, starts: Sequence[int | None], launch: int) -> bool:
    """Return whether a range holds a launch, by the rule as it is written down, one launch at a time."""

    def open_at(time: int) -> bool:
        return event.start <= time and (event.end is None or time < event.end)

    own = starts[launch]
    if own is not None:
        return open_at(own)
    before = [start for start in starts[:launch] if start is not None][-1:]
    after = [start for start in starts[launch:] if start is not None][:1]
    known = [*before, *after]
    both = len(before) == 1 and (len(after) == 1 or event.end is None)
    return both and all(map(open_at, known))


TIMES = st.integers(0, 30)
EVENTS = st.lists(st.builds(Event, st.sampled_from("abc"), TIMES, st.none() | TIMES), max_size=6)


@given(
    events=EVENTS,
    times=st.lists(TIMES, min_size=1, max_size=12).map(sorted),
    hidden=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_a_range_holds_what_the_rule_says(events: list[Event], times: list[int], hidden: list[bool]) -> None:
    starts = [None if is_hidden else time for time, is_hidden in zip(times, hidden, strict=False)]
    told = found(events, starts)
    for text in {event.text for event in events}:
        in_order = sorted(
            (event for event in events if event.text == text),
            key=lambda event: (event.start, -(STILL_OPEN if event.end is None else event.end)),
        )
        expected = [[each for each in range(len(starts)) if holds(event, starts, each)] for event in in_order]
        assert ordinals(told, text) == [held for held in expected if held]


@given(events=EVENTS, times=st.lists(TIMES, min_size=1, max_size=12))
def test_calls_out_of_order_change_no_number_of_launches(events: list[Event], times: list[int]) -> None:
    told = found(events, times)
    for text in {event.text for event in events}:
        counts = [sum(holds(event, times, each) for each in range(len(times))) for event in events]
        held = [count for event, count in zip(events, counts, strict=True) if event.text == text and count]
        assert sorted(map(len, ordinals(told, text))) == sorted(held)


def test_the_exact_name_goes_before_names_that_contain_it() -> None:
    profile = profile_with_ranges([1, 6, 10], [("step 1", 0, 5), ("step 10", 5, 9), ("a step 1", 9, 12)])

    def names(text: str) -> list[str]:
        return [each.text for each in profile.named_ranges(text) or ()]

    assert names("step 1") == ["step 1"]
    assert names("step") == names("") == ["step 1", "step 10", "a step 1"]
    assert names("Step") == []


@pytest.mark.parametrize(
    ("name", "operator", "steps"),
    [
        ("aten::mm, op_id = 994271", "aten::mm", "aten::mm"),
        ("FlashAttnFunc, seq = 46306, op_id = 994549", "FlashAttnFunc", "FlashAttnFunc"),
        ("aten::conv2d, seq = 7, sizes = [[2, 4], []], input_op_ids = [[1,0]]", *["aten::conv2d"] * 2),
        ("fwd (blocks.14._wrapped), op_id = 9", "fwd (blocks.14._wrapped)", "fwd (blocks.*._wrapped)"),
        ("ProfilerStep#7", "ProfilerStep#7", "ProfilerStep#*"),
        ("iteration: 12", "iteration: 12", "iteration: *"),
        ("epoch_3 step12", "epoch_3 step12", "epoch_* step*"),
        ("AllToAll4D", *["AllToAll4D"] * 2),
        ("Optimizer.step#SGD.step", *["Optimizer.step#SGD.step"] * 2),
        ("step, sequence = 4", "step, sequence = 4", "step, sequence = *"),
    ],
)
def test_calls_and_steps_have_a_name_in_common(name: str, operator: str, steps: str) -> None:
    assert (without_call(name), without_step(name)) == (operator, steps)
    assert all(is_named(name, text) for text in (name, operator, steps))
    assert not is_named(name, name[:-1])


def test_a_name_without_calls_goes_before_one_with_steps_before_a_part() -> None:
    named = [
        "aten::mm, op_id = 1",
        "aten::mm, op_id = 2",
        "aten::mm_out",
        "s#1",
        "s#2, op_id = 3",
        "s#*",
    ]
    profile = profile_with_ranges(range(6), [(text, at, at + 1) for at, text in enumerate(named)])

    def names(text: str) -> list[str]:
        return [each.text for each in profile.named_ranges(text) or ()]

    assert names("aten::mm") == named[:2]
    assert names("aten::mm, op_id = 2") == named[1:2]
    assert names("aten::m") == named[:3]
    assert names("s#2") == ["s#2, op_id = 3"]
    assert names("s#*") == ["s#*"], "a name goes before what names have in common"
    assert names("#*") == ["s#*"]
    assert profile_with_ranges([1, 2], [("a 1", 1, 2), ("a 22", 2, 3)]).named_ranges("a *") == (
        NamedRange("a 1", 0, 0, 1),
        NamedRange("a 22", 0, 1, 2),
    )


def test_a_range_is_of_one_process_and_of_all_its_devices() -> None:
    sequences = (LaunchSequence(7, 0, 2, 0), LaunchSequence(7, 1, 2, 2), LaunchSequence(8, 0, 2, 4))
    events = [Event("x", 0, 10, process=7), Event("x", 0, 10, process=8), Event("x", 0, 9, 9)]
    assert runs(events, sequences, [1, 11, 2, 3, -1, 9]).rows() == [
        ("x", 0, 0, 1),
        ("x", 1, 0, 2),
        ("x", 2, 1, 2),
    ]


# --- profiles ---------------------------------------------------------------------------------------------


def test_the_ranges_of_several_files_are_those_of_each() -> None:
    kernels = KernelTable()
    first = profile_with_ranges([1, 2, 3], [("step 1", 2, 9), ("x", 1, 2)], kernels=kernels, device=[0, 1, 1])
    second = profile_with_ranges([5, 6], [("step 2", 5, 6), ("y", 5, 7)], kernels=kernels)
    workload = join_profiles([first, second])
    assert workload.named_ranges("step") == (NamedRange("step 1", 1, 0, 2), NamedRange("step 2", 2, 0, 1))
    assert workload.range_names(3) == ("x", "step 1", "y")
    assert workload.clocks == (0, 0, 1)
    assert first.clocks == (0, 0)


CYCLES = ([("a", 1, 3)], [("b", 12, 14)], [("c", 21, 23)])


@pytest.mark.parametrize(
    ("owners", "merged"),
    [
        ([3, 3, 5], [(3, 4), (5, 2)]),  # both ranks, one of two cycles
        (["pid 3", "pid 3", "pid 5"], [(0, 4), (1, 2)]),
        ([5, 3, 5], [(5, 4), (3, 2)]),  # those of one rank are put together
        ([3, 4, 5], [(3, 2), (4, 2), (5, 2)]),
        ([3, None, 3], [(0, 2), (1, 2), (2, 2)]),
    ],
)
def test_recordings_of_one_process_after_another_are_one_run(
    owners: list[int | str | None], merged: list[tuple[int, int]]
) -> None:
    kernels = KernelTable()
    files = [
        profile_with_ranges([begin, begin + 1], named, start_ns=[begin, begin + 1], kernels=kernels)
        for begin, named in zip((1, 11, 21), CYCLES, strict=True)
    ]
    workload = join_profiles(files, owners)
    assert [(each.process, each.launches) for each in workload.sequences] == merged
    # Every launch lasts as long as the number of its call: each range still holds the launches it held.
    durations = workload.load(("duration_ns",))["duration_ns"]
    held = {
        name: durations[
            workload.sequences[place].first_id + first : workload.sequences[place].first_id + stop
        ]
        for text in "abc"
        for name, place, first, stop in workload.named_ranges(text) or ()
    }
    assert {name: each.tolist() for name, each in held.items()} == {"a": [1, 2], "b": [12], "c": [21, 22]}


def test_recordings_of_one_process_whose_times_cross_stay_apart() -> None:
    kernels = KernelTable()
    files = [profile_with_ranges([5, 9], None, start_ns=[5, 9], kernels=kernels) for _ in range(2)]
    assert [each.launches for each in join_profiles(files, [1, 1]).sequences] == [2, 2]


def test_named_ranges_are_operators_those_of_aten_first() -> None:
    """The outermost of ATen where there is one, else the innermost; what counts calls is no part of it."""
    named = [
        ("forward", 0, 0, 8),
        ("aten::linear, seq = 7, op_id = 3, sizes = [[2, 4], [3, 4]]", 0, 1, 4),
        ("aten::mm, op_id = 4", 0, 2, 3),
        ("ncclGroupEnd", 0, 5, 6),
        ("other", 1, 0, 1),
    ]
    columns = [
        np.array(column) for column in zip(*((at, *run) for at, (_, *run) in enumerate(named)), strict=True)
    ]
    runs = RangeRuns([text for text, *_ in named], *columns, np.arange(len(named)), np.zeros(len(named)))
    texts, text = find_range_operators(runs, [9, 2])
    linear = "aten::linear [[2, 4], [3, 4]]"
    forward = ["forward"]
    expected = [*forward, *[linear] * 3, *forward, "ncclGroupEnd", *forward * 2, "", "other", ""]
    assert [texts[code] for code in text.tolist()] == expected
