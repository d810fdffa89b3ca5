"""One iteration times their number: by named range, by launch ids, or found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import NotApplicableError
from sampling.methods import single_iteration
from sampling.methods.method import Picks
from sampling.profile.named_ranges import NamedRange
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of

Run = tuple[str, int, int, int]


def launch_list(
    lengths: Sequence[int],
    ranges: Sequence[Run] = (),
    kept: Callable[[int], bool] | None = None,
    names: str | None = None,
    grids: Sequence[int] | None = None,
    duration_ns: Sequence[int] | None = None,
) -> LaunchList:
    """Return launches of sequences of these lengths, ranges (text, sequence, first, stop), ``kept`` by id.

    ``names`` has a letter for each launch, ``grids`` its blocks; without them all are of one kernel.
    """
    ids = np.array([each for each in range(sum(lengths)) if kept is None or kept(each)])
    runs = tuple(NamedRange(*run) for run in ranges)
    letters = names or "k" * sum(lengths)
    return launches_of(
        [letters[each] for each in ids],
        grid_x=np.array(grids or [1] * sum(lengths))[ids],
        block_x=[1] * len(ids),
        duration_ns=None if duration_ns is None else np.array(duration_ns)[ids],
        id=ids,
        sequence=np.repeat(np.arange(len(lengths)), lengths)[ids],
        ranges_named=lambda text: tuple(each for each in runs if text in each.text),
        first_ids=tuple((np.cumsum(lengths) - lengths).tolist()),
        last_id=sum(lengths) - 1,
    )


def picked(launches: LaunchList, **options: Any) -> Picks:
    """Return the picks of the method."""
    return single_iteration.pick(
        launches, single_iteration.Options(**options), np.random.default_rng(0), None
    )


def steps(count: int, launches: int, first: int = 0, sequence: int = 0, text: str = "step") -> list[Run]:
    """Return ranges one behind the other."""
    return [(text, sequence, first + each * launches, first + (each + 1) * launches) for each in range(count)]


def test_a_range_stands_for_all_of_its_name() -> None:
    launches = launch_list([6140], steps(120, 50, first=100))
    picks = picked(launches, range="step", occurrence=3)
    assert picks.row.tolist() == list(range(250, 300))
    assert set(picks.weight.tolist()) == {120}
    # What lies before the first range and behind the last is stood for by nothing.
    assert np.flatnonzero(picks.stratum < 0).tolist() == [*range(100), *range(6100, 6140)]
    assert picks.details == {"iterations": [120], "launches_of_one": [50], "launches": 6140}
    assert picks.estimate(np.arange(6140)) == 120 * sum(range(250, 300))


def test_launches_that_are_not_selected_are_missed_and_said() -> None:
    launches = launch_list([100], steps(10, 10), kept=lambda launch: launch % 2 == 0)
    for options in ({"range": "step", "occurrence": 2}, {"first": 20, "last": 29, "iterations": 10}):
        picks = picked(launches, **options)
        assert launches.id[picks.row].tolist() == [20, 22, 24, 26, 28]
        assert picks.notes[-1] == "5 launches of the iteration are not selected, and so not counted"


def test_every_process_and_device_has_its_own_iteration() -> None:
    ranges = [*steps(3, 5, sequence=0), *steps(4, 4, first=2, sequence=1), *steps(1, 6, sequence=2)]
    picks = picked(launch_list([15, 20, 6, 9], ranges), range="step", occurrence=1)
    assert picks.row.tolist() == [*range(5, 10), *range(15 + 6, 15 + 10)]
    assert picks.weight.tolist() == [3] * 5 + [4] * 4
    assert picks.labels[1] == "range 'step' of process and device number 2"
    assert picks.stratum.tolist() == [0] * 15 + [-1] * 2 + [1] * 16 + [-1] * 2 + [-1] * 15
    assert picks.notes[-1] == "2 of 4 processes and devices have no such iteration"


@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=4), data=st.data())
def test_ordinals_are_placed_among_the_launches_selected(lengths: list[int], data: st.DataObject) -> None:
    """Whatever is selected: the launches of the range that are among them are found."""
    starts = np.cumsum([0, *lengths[:-1]])
    ids = range(sum(lengths))
    kept = data.draw(st.sets(st.sampled_from(ids), min_size=1).map(frozenset) | st.just(frozenset(ids)))
    sequence = data.draw(st.integers(0, len(lengths) - 1))
    first = data.draw(st.integers(0, lengths[sequence] - 1))
    stop = data.draw(st.integers(first + 1, lengths[sequence]))
    launches = launch_list(lengths, [("step", sequence, first, stop)], kept=kept.__contains__)
    wanted = [each for each in range(starts[sequence] + first, starts[sequence] + stop) if each in kept]
    if not wanted:
        with pytest.raises(NotApplicableError, match="is selected"):
            picked(launches, range="step")
    else:
        assert launches.id[picked(launches, range="step").row].tolist() == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"range": "epoch"}, "no launch was issued during a range whose name contains 'epoch'"),
        ({"range": "step", "occurrence": 4}, "occurrence 4, is selected; there are 4 of it"),
        ({"occurrence": 50}, "no iteration 50 is found; .*occurrence counts from 0, and there are 50"),
        ({"first": 60, "last": 70, "iterations": 2}, "launches 60 to 70 are not .*between 0 and 49"),
    ],
)
def test_what_the_profile_does_not_have_is_not_applicable(options: dict[str, Any], message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        picked(launch_list([100], steps(4, 10), lambda each: each < 50), **options)


def test_the_second_iteration_of_a_loop_stands_for_the_loop() -> None:
    """Five launches before it, a hundred iterations of ``abcd``, three behind it."""
    names = "vwxyz" + "abcd" * 100 + "uts"
    picks = picked(launch_list([408], names=names, duration_ns=[1] * 4 + [9] + [1] * 400 + [3] * 3))
    assert picks.row.tolist() == [9, 10, 11, 12]
    assert set(picks.weight.tolist()) == {100}
    assert np.flatnonzero(picks.stratum < 0).tolist() == [*range(5), 405, 406, 407]
    assert picks.notes[-1] == "8 launches before and after the loop: not counted"
    assert picks.details["found"] == [100]
    assert picks.details["found_by"] == ["launch"]
    assert picks.details["share"] == pytest.approx(400 / 408)
    assert picks.details["share_of_time"] == pytest.approx(400 / 422)


def test_each_process_and_device_has_its_own_loop() -> None:
    rng = np.random.default_rng(4)
    loose = "".join(rng.permutation(list("abcdefghijklmnopqrst")))
    picks = picked(launch_list([40, 20, 30], names="abcd" * 10 + loose + "xyz" * 10))
    assert picks.row.tolist() == [4, 5, 6, 7, 63, 64, 65]
    assert picks.weight.tolist() == [10] * 7
    assert picks.stratum.tolist() == [0] * 40 + [-1] * 20 + [1] * 30
    assert picks.labels[1] == "the loop found in process and device number 3"


def test_where_less_than_half_repeats_nothing_is_picked() -> None:
    names = "".join(np.random.default_rng(5).permutation([chr(code) for code in range(200, 300)]))
    with pytest.raises(NotApplicableError, match=r"most launches repeat; .*\.range .*\.first and \.last"):
        picked(launch_list([140], names=names + "abcd" * 10))
