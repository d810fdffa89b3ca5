"""Launches of a profile against those of a trace: by its numbers, else in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import AnalysisError, OptionError, PlanFileError
from sampling.profile.launch_table import LaunchTable
from sampling.simulators import alignment
from sampling.simulators.alignment import TraceAlignment, TraceList, _sequence, align, align_launches
from sampling.simulators.measured_run import SeenKernel
from tests.small_plans import plan_of

KERNELS = ("void step<(int)4>(float *)", "last(const float *)", "copy(int)")
MANGLED = ("_Z4stepILi4EEvPf", "_Z4lastPKf", "_Z4copyi")
Table = Callable[..., LaunchTable]


def trace_of(codes: Sequence[int], grids: Sequence[int], numbers: Sequence[int] | None = None) -> TraceList:
    kernels = [
        SeenKernel(MANGLED[code] if code < 3 else f"_Z5extrav{code}", (grid, 1, 1), (grid, 1, 1))
        for code, grid in zip(codes, grids, strict=True)
    ]
    return TraceList.of("stats.csv", 1, list(zip(numbers or range(1, len(codes) + 1), kernels, strict=True)))


def aligned(
    launch_table: Table, codes: Sequence[int], trace: TraceList, drawn: Sequence[int] = (), **columns: object
) -> TraceAlignment:
    names = [KERNELS[code] for code in codes]
    columns = {"grid_x": [code + 4 for code in codes]} | columns
    profile = launch_table(names, [10] * len(codes), **columns)
    return align_launches(profile, profile.sequences[0], trace, list(drawn))


CODES = [0, 1, 2, 0, 1, 2, 0, 0, 1]


def grids(codes: Sequence[int]) -> list[int]:
    return [code + 4 for code in codes]


def test_the_same_launches(launch_table: Table) -> None:
    found = aligned(launch_table, CODES, trace_of(CODES, grids(CODES)), [2, 5])
    assert found.by == "number"
    assert found.ids.tolist() == list(range(9))
    assert found.numbers.tolist() == list(range(1, 10))
    assert (len(found.missing_in_trace), len(found.missing_in_profile)) == (0, 0)
    assert found.first_difference is None
    assert (found.drawn, found.drawn_missing) == (2, ())


def test_some_of_them_in_any_order_are_known_by_their_numbers(launch_table: Table) -> None:
    found = aligned(launch_table, CODES, trace_of([0, 1], [4, 5], [8, 5]), [2, 7])
    assert found.by == "number"
    assert (found.ids.tolist(), found.numbers.tolist()) == ([4, 7], [5, 8])
    assert found.drawn_missing == (2,)
    assert found.missing_in_trace.tolist() == [0, 1, 2, 3, 5, 6, 8]


def test_a_launch_that_the_tracer_missed_shifts_its_numbers(launch_table: Table) -> None:
    codes = CODES[:2] + CODES[3:]
    found = aligned(launch_table, CODES, trace_of(codes, grids(codes)), [2, 3])
    assert found.by == "order"
    assert found.ids.tolist() == [0, 1, 3, 4, 5, 6, 7, 8]
    assert found.numbers.tolist() == list(range(1, 9))
    assert found.missing_in_trace.tolist() == [2]
    assert found.lists.here(2).kernel.name == KERNELS[2]
    assert found.first_difference is not None
    here, there = found.first_difference
    assert here is not None
    assert there is not None
    assert (here.number, here.kernel.name) == (2, KERNELS[2])
    assert (there.number, there.kernel.name) == (3, MANGLED[0])
    assert found.drawn_missing == (2,)


def test_a_launch_of_another_grid_is_another(launch_table: Table) -> None:
    shapes = grids(CODES)
    shapes[4] = 99
    found = aligned(launch_table, CODES, trace_of(CODES, shapes))
    assert found.missing_in_trace.tolist() == [4]
    assert found.missing_in_profile.tolist() == [4]
    other = found.lists.there(4)
    assert (other.number, other.kernel.grid) == (5, (99, 1, 1))


def test_kernels_that_the_profile_lacks_are_named(launch_table: Table) -> None:
    codes = [3, *CODES, 4]
    found = aligned(launch_table, CODES, trace_of(codes, grids(codes)))
    assert found.ids.tolist() == list(range(9))
    assert [found.lists.there(place).number for place in found.missing_in_profile] == [1, 11]
    assert found.first_difference is not None


def test_a_profile_without_grids_is_matched_by_names(launch_table: Table) -> None:
    found = aligned(launch_table, CODES, trace_of(CODES, grids(CODES)), grid_x=None)
    assert len(found.ids) == 9
    assert found.notes[0].startswith("grids are not compared")


def test_names_that_could_be_several_kernels_are_not_guessed(launch_table: Table) -> None:
    names = ["void f<4>(T1)", "void f<4>(T2)", "last(const float *)"]
    profile = launch_table(names, [1, 2, 3], grid_x=[4, 4, 5])
    kernels = [
        SeenKernel("void f<4>(float)", (4, 1, 1), (4, 1, 1)),
        SeenKernel(MANGLED[1], (5, 1, 1), (5, 1, 1)),
    ]
    trace = TraceList.of("stats.csv", 1, list(enumerate(kernels, start=1)))
    found = align_launches(profile, profile.sequences[0], trace, [])
    assert found.ids.tolist() == [2]
    assert "can be more than one kernel" in found.notes[0]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.data())
def test_launches_lacking_on_either_side_are_found(
    launch_table: Table, codes: list[int], data: st.DataObject
) -> None:
    """At least as many are matched as the trace has of the profile's, each with its own kernel."""
    kept = sorted(data.draw(st.sets(st.integers(0, len(codes) - 1), min_size=1)))
    there = [codes[place] for place in kept]
    for place in sorted(data.draw(st.sets(st.integers(0, len(there)), max_size=3)), reverse=True):
        there.insert(place, 3)
    found = aligned(launch_table, codes, trace_of(there, grids(there)))
    assert len(found.ids) == len(kept)
    assert len(found.ids) + len(found.missing_in_trace) == len(codes)
    assert len(found.numbers) + len(found.missing_in_profile) == len(there)
    pairs = zip(found.ids.tolist(), found.numbers.tolist(), strict=True)
    assert all(codes[launch] == there[number - 1] for launch, number in pairs)


def test_recordings_of_two_programs_are_given_up(
    launch_table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "MOST_STEPS", 20)
    codes = [0, 1] * 10
    other = [0] * 10 + [1] * 10
    with pytest.raises(AnalysisError, match="differ in too many launches"):
        aligned(launch_table, codes, trace_of(other, grids(other)))


def test_the_traced_process_is_that_of_the_plan(launch_table: Table) -> None:
    names, process = ["k"] * 4, [1, 1, 7, 7]
    profile = launch_table(names, [1] * 4, process=process)
    plan = plan_of([(2, "k", None)], first_id=2)
    assert _sequence(profile, plan, None, None).process == 7
    assert _sequence(profile, plan, 1, None).process == 1
    with pytest.raises(OptionError, match="1:0, 7:0"):
        _sequence(profile, plan, 2, None)


def test_a_profile_that_is_gone_is_named() -> None:
    with pytest.raises(PlanFileError, match="cannot be listed"):
        align(plan_of([(2, "k", None)]), trace_of([0], [4]))
