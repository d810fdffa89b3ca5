"""The tree of named ranges and found iterations: against the words that define it, launch by launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import EmptySelectionError
from sampling.profile import launch_table as launch_table_module
from sampling.profile.named_ranges import without_call, without_step
from sampling.profile.profile import KernelTable, Profile
from sampling.profile.workload import join_profiles
from sampling.reduction import range_list as listing_module
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import list_launches
from sampling.reduction.range_list import RangeList, list_ranges
from sampling.reduction.region import Region
from tests.sampling.conftest import profile_with_ranges

Event = tuple[str, int, int]


def rows_of(listed: RangeList) -> dict[str, tuple[int, int, int, int, int]]:
    """Launches, time, first, last and times of each named path."""
    return {
        listed.paths.written(path): (
            int(listed.launches[path]),
            int(listed.duration_ns[path]),
            int(listed.first[path]),
            int(listed.last[path]),
            int(listed.times[path]),
        )
        for path in listed.select_paths()
        if path < listed.found_from
    }


def folded(paths: list[tuple[str, ...]], *, steps_apart: bool) -> list[tuple[str, ...]]:
    """Paths, from the outermost range on, by what names of ranges in the same one have in common."""
    paths = [tuple(map(without_call, path)) for path in paths]
    for level in range(0 if steps_apart else max(map(len, paths), default=0)):
        siblings: dict[tuple[str, ...], set[str]] = {}
        keys = [(*path[:level], without_step(path[level])) if len(path) > level else () for path in paths]
        for path, key in zip(paths, keys, strict=True):
            siblings.setdefault(key, set()).update(path[level : level + 1])
        paths = [
            (*key, *path[level + 1 :]) if len(siblings[key]) > 1 else path
            for path, key in zip(paths, keys, strict=True)
        ]
    return paths


def by_the_words(
    profile: Profile, kept: set[int], duration_of: dict[int, int], *, steps_apart: bool
) -> dict[str, tuple[int, ...]]:
    """The same found run by run and launch by launch."""
    assert profile.ranges is not None
    runs = profile.ranges.holding("")
    held: list[tuple[int, int, set[int]]] = []
    paths: list[tuple[str, ...]] = []
    of_path: dict[str, tuple[set[int], set[int]]] = {}
    columns = (runs.text, runs.sequence, runs.first_ordinal, runs.stop_ordinal, runs.opened)
    for text, sequence, first, stop, opened in zip(*(each.tolist() for each in columns), strict=True):
        first_id = profile.sequences[sequence].first_id
        own = set(range(first_id + first, first_id + stop))
        # Runs come in the order in which their ranges open: the last of those before that holds it is next.
        around = [place for place, (of, _, launches) in enumerate(held) if of == sequence and own <= launches]
        paths.append((*(paths[around[-1]] if around else ()), runs.texts[text]))
        held.append((sequence, opened, own))
    for path, (_, opened, own) in zip(folded(paths, steps_apart=steps_apart), held, strict=True):
        launches, ranges = of_path.setdefault("/".join(path), (set(), set()))
        launches |= own & kept
        ranges.add(opened)
    return {
        path: (len(ids), sum(duration_of[each] for each in ids), min(ids), max(ids), len(ranges))
        for path, (ids, ranges) in of_path.items()
        if ids
    }


TIMES = st.integers(0, 30)
TEXTS = st.sampled_from(["a", "b", "s 1", "s 2, op_id = 8", "m, seq = 1", "m, seq = 2, op_id = 9"])
EVENTS = st.lists(st.tuples(TEXTS, TIMES, TIMES), min_size=1, max_size=9)
LAUNCHES = st.lists(
    st.tuples(TIMES, st.sampled_from(["gemm", "relu"]), st.integers(1, 9), st.integers(0, 1)),
    min_size=1,
    max_size=14,
).map(lambda rows: sorted(rows, key=lambda row: row[0]))


@given(
    events=EVENTS,
    launches=LAUNCHES,
    window=st.none() | st.tuples(st.integers(0, 6), st.integers(7, 14)),
    include=st.sampled_from([(), ("gemm",)]),
    least=st.none() | st.integers(1, 9),
    span=st.sampled_from([2, 1000]),
    steps_apart=st.booleans(),
)
def test_ranges_are_what_the_words_say(
    events: list[Event],
    launches: list[tuple[int, str, int, int]],
    window: tuple[int, int] | None,
    include: tuple[str, ...],
    least: int | None,
    span: int,
    steps_apart: bool,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", span)
        calls, names, durations, device = map(list, zip(*launches, strict=True))
        profile = profile_with_ranges(calls, events, names=names, durations=durations, device=device)
    whole = list_launches(profile, count_durations(profile, Grouping()))
    name_of = profile.kernels.signature_names()
    duration_of = dict(zip(whole.id.tolist(), whole.duration_ns.tolist(), strict=True))
    kept = {
        launch
        for launch, signature in zip(whole.id.tolist(), whole.signature.tolist(), strict=True)
        if window is None or window[0] <= launch < window[1]
        if not include or profile.kernels.names.full(int(name_of[signature])) in include
        if least is None or duration_of[launch] >= least
    }
    region = Region(launches=window, include=include, min_duration_ns=least)
    expected = by_the_words(profile, kept, duration_of, steps_apart=steps_apart)
    try:
        listed = list_ranges(profile, region, steps_apart=steps_apart)
    except EmptySelectionError:
        assert not expected
        return
    assert kept
    assert rows_of(listed) == expected
    assert listed.counts.launches == len(kept)
    assert listed.counts.total_duration_ns == sum(duration_of[each] for each in kept)


@given(events=EVENTS, calls=st.lists(TIMES, min_size=1, max_size=12).map(sorted), steps_apart=st.booleans())
def test_a_listed_path_selects_what_is_listed(
    events: list[Event], calls: list[int], steps_apart: bool
) -> None:
    profile = profile_with_ranges(calls, events, durations=[1] * len(calls))
    listed = list_ranges(profile, Region(), steps_apart=steps_apart)
    for path, (launches, _, first, last, _) in rows_of(listed).items():
        # A name alone means every range of that name, wherever it is.
        if "/" in path:
            counts = count_durations(profile, Grouping(), Region(named_range=path))
            ids = list_launches(profile, counts).id
            assert (len(ids), ids[0], ids[-1]) == (launches, first, last)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("step *", range(4)),
        ("step 1", [0, 1]),
        ("m", range(4)),
        ("step */m", range(4)),
        ("step 2/m", [2, 3]),
        ("step 1/m, seq = 1, op_id = 2", [0, 1]),
        ("eval 3/m", [4]),
        ("seq = 2", [2, 3]),
    ],
)
def test_rows_of_several_ranges_are_selected_by_what_they_show(text: str, ids: Sequence[int]) -> None:
    named = [("step 1", 0, 2), ("m, seq = 1, op_id = 2", 0, 2), ("step 2", 2, 4), ("m, seq = 2", 2, 4)]
    profile = profile_with_ranges(range(5), [*named, ("eval 3", 4, 5), ("m, op_id = 7", 4, 5)])
    assert list(rows_of(list_ranges(profile, Region()))) == ["step *", "step */m", "eval 3", "eval 3/m"]
    counts = count_durations(profile, Grouping(), Region(named_range=text))
    assert list_launches(profile, counts).id.tolist() == [*ids, *([4] if text == "m" else [])]


def test_ranges_of_several_files_follow_each_other() -> None:
    kernels = KernelTable()
    files = [profile_with_ranges([1, 2], [("a", 1, 3)], kernels=kernels) for _ in range(2)]
    assert rows_of(list_ranges(join_profiles(files), Region())) == {"a": (4, 6, 0, 3, 2)}
    files.insert(1, profile_with_ranges([1, 2, 3], None, names=["x", "y", "z"], kernels=kernels))
    assert rows_of(list_ranges(join_profiles(files), Region())) == {"a": (4, 6, 0, 6, 2)}


ITERATION = ["embed", *["gemm", "relu"] * 3, "loss"]


def test_iterations_are_found_where_nothing_is_named() -> None:
    names = ["setup", *ITERATION * 5]
    profile = profile_with_ranges(range(1, len(names) + 1), None, names=names)
    listed = list_ranges(profile, Region())
    assert [listed.paths.written(path) for path in listed.select_paths()] == [
        "iterations",
        *(f"iterations/{number}" for number in range(5)),
    ]
    assert listed.found_from == 0
    for number, path in enumerate(listed.select_paths()[1:]):
        first = 1 + 8 * number
        assert (listed.first[path], listed.last[path], listed.launches[path]) == (first, first + 7, 8)
        assert listed.duration_ns[path] == sum(range(first + 1, first + 9))


@pytest.mark.parametrize("include", [None, ("gemm|relu",)])
def test_what_lies_between_iterations_is_counted(include: tuple[str, ...] | None) -> None:
    """A selection from the first to the last holds it too; of a region, what that keeps."""
    names = ["setup", *ITERATION * 2, "gemm", "other", *ITERATION * 3]
    profile = profile_with_ranges(range(1, len(names) + 1), None, names=names)
    whole = list_ranges(profile, Region())
    assert whole.launches.tolist() == [40, *[8] * 5]
    assert whole.between.tolist() == [2, *[0] * 5]
    listed = list_ranges(profile, Region(include=include or ()))
    first, last = int(listed.first[0]), int(listed.last[0])
    held = count_durations(profile, Grouping(), Region(launches=(first, last + 1), include=include or ()))
    assert held.launches == listed.launches[0] + listed.between[0]


def test_what_is_listed_holds_what_it_lies_in() -> None:
    events = [("a", 0, 9), ("b", 1, 8), ("c", 1, 8), ("d", 9, 12), ("e", 9, 10)]
    profile = profile_with_ranges(range(12), events, durations=[1] * 12)
    listed = list_ranges(profile, Region())

    def written(**kept: Any) -> list[str]:
        paths = listed.select_paths(**kept)
        return [listed.paths.written(path) for path in paths if path < listed.found_from]

    assert written() == ["a", "a/b", "a/b/c", "d", "d/e"]
    assert written(depth=0) == ["a", "d"]
    assert written(depth=1, limit=4)[:2] == ["a", "a/b"]
    for most in range(1, 6):
        named = set(written(by_time=True, limit=most))
        assert all(path.rpartition("/")[0] in {"", *named} for path in named)


def found_paths(names: Sequence[str]) -> list[str]:
    profile = profile_with_ranges(range(len(names)), None, names=names)
    listed = list_ranges(profile, Region())
    return [listed.paths.written(path) for path in listed.select_paths() if path >= listed.found_from]


def test_one_launch_is_no_loop_and_very_many_iterations_are_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_paths(["k"] * 40) == []
    names = ["a", "b", "c"] * 6
    assert found_paths(names) == ["iterations", *(f"iterations/{number}" for number in range(6))]
    monkeypatch.setattr(listing_module, "MOST_LISTED", 5)
    assert found_paths(names) == ["iterations"]


@given(
    launches=st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=12
    ),
    ranges=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 30)), max_size=5),
)
def test_the_elapsed_time_of_a_range_is_from_its_first_start_to_its_last_end(
    launches: list[tuple[int, int, int]], ranges: list[tuple[str, int, int]]
) -> None:
    """Counted nanosecond by nanosecond: what several ranges of a path take at once counts once."""
    calls, (starts, lengths, devices) = range(len(launches)), zip(*launches, strict=True)
    events = [(text, begin // 3, begin // 3 + length) for text, begin, length in ranges]
    profile = profile_with_ranges(
        calls, events, durations=[length + 1 for length in lengths], start_ns=starts, device=devices
    )
    listed = list_ranges(profile, Region())
    table = profile.load(("start_ns", "duration_ns"))
    start, duration = (table[name].tolist() for name in ("start_ns", "duration_ns"))
    assert listed.elapsed_ns is not None
    for path in range(len(listed)):
        taken: set[int] = set()
        for first, stop in zip(*(ends.tolist() for ends in listed.runs(path)), strict=True):
            own = range(first, stop)
            taken.update(range(min(start[i] for i in own), max(start[i] + duration[i] for i in own)))
        assert listed.elapsed_ns[path] == len(taken)


def test_without_starts_no_time_has_elapsed() -> None:
    assert list_ranges(profile_with_ranges(range(3), [("a", 0, 2)]), Region()).elapsed_ns is None
