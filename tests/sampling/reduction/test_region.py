"""Which launches count: every filter alone and together, and which of them is blamed for leaving none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import EmptySelectionError, OptionError
from sampling.plan.drawn_launches import find_drawn_launches
from sampling.profile import launch_table as launch_table_module
from sampling.profile.launch_table import ColumnsInMemory
from sampling.profile.profile import KernelTable, Part, Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import list_launches
from sampling.reduction.region import Excluded, Region, as_written, parse_region, selected_parts
from sampling.strata.draw import Draw
from tests.sampling.conftest import profile_with_ranges

# Two processes with two devices each, three launches on each; the duration is the id.
PROCESS = [0] * 6 + [1] * 6
DEVICE = ([0] * 3 + [1] * 3) * 2
NAMES = ["gemm(int)", "relu(int)", "ncclDevKernel_AllReduce_Sum(int)"] * 4
BY_NAME = Grouping(GroupBy.NAME)


@pytest.fixture(scope="module", autouse=True)
def _small_spans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", 2)
        yield


@pytest.fixture(scope="module")
def profile(launch_table: Callable[..., Profile]) -> Profile:
    """Return the profile of twelve launches."""
    return launch_table(NAMES, range(12), process=PROCESS, device=DEVICE)


@pytest.mark.parametrize(
    ("region", "ids"),
    [
        (Region(devices=(1,)), [3, 4, 5, 9, 10, 11]),
        (Region(devices=(range(1, 1 << 40),)), [3, 4, 5, 9, 10, 11]),
        (Region(processes=(range(-5, 1), 7)), [0, 1, 2, 3, 4, 5]),
        (Region(processes=(1,), devices=(0,)), [6, 7, 8]),
        (Region(include=("^gemm", "relu")), [0, 1, 3, 4, 6, 7, 9, 10]),
        (Region(include=("GEMM",), exclude=()), []),
        (Region(exclude=("communication",)), [0, 1, 3, 4, 6, 7, 9, 10]),
        (Region(include=("int",), exclude=("communication", "gemm")), [1, 4, 7, 10]),
        (Region(launches=(4, 8)), [4, 5, 6, 7]),
        (Region(launches=(5, 100)), range(5, 12)),
        (Region(launches=(2, 10), devices=(0,), include=("relu",)), [7]),
        (Region(launches=(6, None), processes=(0,)), []),
    ],
)
def test_what_passes_every_filter_counts(region: Region, ids: list[int], profile: Profile) -> None:
    if not list(ids):
        with pytest.raises(EmptySelectionError):
            count_durations(profile, BY_NAME, region)
        return
    assert sorted(count_durations(profile, BY_NAME, region).duration_ns.tolist()) == list(ids)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Region(devices=(5,)), r"`devices=5` leaves no launch; the numbers here are 0, 1"),
        (Region(processes=(3, 4)), r"`processes=3,4` leaves no launch; the numbers here are 0, 1"),
        (Region(devices=(range(2_000_000, 3_000_000),)), r"`devices=2000000:3000000` leaves no launch"),
        (Region(launches=(12, 20)), r"`launches=12:20` leaves no launch; ids run from 0 to 11"),
        (Region(include=("conv",)), r"`include='conv'` leaves no launch"),
        (Region(include=("^relu",), exclude=("nccl", "relu")), r"`exclude='relu'` leaves no launch"),
        (Region(include=("gemm",), launches=(1, 3)), r"`include='gemm'` leaves"),
    ],
)
def test_the_filter_that_leaves_nothing_is_named(region: Region, message: str, profile: Profile) -> None:
    with pytest.raises(EmptySelectionError, match=message):
        count_durations(profile, BY_NAME, region)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"include": ("(gemm",)}, r"'\(gemm' is not a regular expression"),
        ({"exclude": ("(gemm",)}, r"'\(gemm' is not a regular expression"),
        ({"named_range": ""}, "`named_range` is empty"),
        ({"min_duration_ns": 0}, "`min_duration_ns=0`"),
    ],
)
def test_filters_that_can_mean_nothing_are_refused(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Region(**filters)


NO_FILTER: dict[str, Any] = {
    **dict.fromkeys(("device", "process", "include", "exclude"), ()),
    **dict.fromkeys(("launches", "time", "named_range"), None),
}


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"device": ("3:3",)}, "`devices=3:3` holds no number: 3:3 is from A up to, not with, B"),
        ({"process": ("0,2:1",)}, "`processes=0,2:1` holds no number: 2:1"),
        ({"launches": "3:3"}, "`launches=3:3`: ids as .* A below B"),
        ({"launches": ":0"}, "`launches=:0`"),
        ({"time": "7:7"}, "`time_ns=7:7`: nanoseconds"),
    ],
)
def test_a_window_in_which_nothing_can_lie_is_refused(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        parse_region(**NO_FILTER | filters)


def test_windows_of_numbers_stay_windows() -> None:
    region = parse_region(**NO_FILTER | {"device": ("0,2:3000000",), "process": ("-4:-1", "5")})
    assert region.devices == (0, range(2, 3_000_000))
    assert as_written(region.devices) == (0, "2:3000000")
    assert as_written(region.processes) == ("-4:-1", 5)


# --- time and ranges: the launches that are left need not follow each other --------------------------------

# Two devices with six launches each, in API order; two streams let later launches start earlier.
START = [100, 300, 150, 350, 400, 120, 1000, 1200, 1100, 1300, 1250, 1500]
API = [0, 10, 20, 30, 40, 50, 5, 15, 25, 35, 45, 55]
RANGES = (("step 1", 0, 18), ("step 2", 18, 40), ("inner{", 22, 32), ("late", 50, 52), ("late", 55, 60))


def with_ranges(
    start_ns: Sequence[int],
    api_ns: Sequence[int],
    device: Sequence[int],
    ranges: Sequence[tuple[str, int, int]],
    kernels: KernelTable | None = None,
) -> Profile:
    """Return a profile whose durations are 1, 2, 3... in the order given here."""
    names = ["gemm" if index % 2 else "relu" for index in range(len(api_ns))]
    durations = range(1, len(api_ns) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", 5)
        return profile_with_ranges(
            api_ns,
            ranges,
            names=names,
            durations=durations,
            start_ns=start_ns,
            device=device,
            kernels=kernels,
        )


@pytest.fixture(scope="module")
def timed() -> Profile:
    """Return twelve launches with times and ranges; launch i lasts i + 1."""
    return with_ranges(START, API, [0] * 6 + [1] * 6, RANGES)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Region(time_ns=(1401, None)), r"`time_ns=1401:` leaves no launch; they start from 0 to 1400 ns"),
        (Region(time_ns=(5, 5)), r"`time_ns=5:5` leaves no launch"),
        (
            Region(named_range="forward"),
            r"`named_range='forward'` leaves no launch; .* 'step 1', 'step 2', 'inner\{', 'late'$",
        ),
        (Region(named_range="late", launches=(0, 5)), r"`named_range='late'` leaves no launch"),
        (Region(named_range="inner{", time_ns=(0, 10)), r"`time_ns=0:10` leaves"),
    ],
)
def test_the_time_or_range_that_leaves_nothing_is_named(region: Region, message: str, timed: Profile) -> None:
    with pytest.raises(EmptySelectionError, match=message):
        count_durations(timed, BY_NAME, region)


@given(low=st.integers(0, 11), still=st.lists(st.lists(st.booleans(), min_size=12, max_size=12), max_size=3))
def test_a_part_narrows_to_what_is_still_wanted(low: int, still: list[list[bool]]) -> None:
    """Held against a list of rows; the first launch has id 70."""
    columns = ColumnsInMemory(KernelTable(), {"stream": np.arange(12)}, {"m": np.arange(12.0)})
    part = Part(0, 70, columns, slice(0, 12)).between(70 + low, 99)
    rows = list(range(low, 12))
    for flags in still:
        assert part is not None
        inside = flags[: len(rows)]
        rows = [row for row, is_left in zip(rows, inside, strict=True) if is_left]
        part = part.narrowed(np.array(inside))
        assert (part is None) == (not rows)
        if part is None:
            return
        assert part.launches == len(rows)
        assert part.load(["stream"])["stream"].tolist() == part.metrics(["m"])["m"].tolist() == rows
        assert part.ids(np.arange(len(rows))).tolist() == [70 + row for row in rows]
        assert (part.first_id, part.stop_id) == (70 + rows[0], 71 + rows[-1])
        assert part.mask is None or rows != list(range(rows[0], rows[-1] + 1))


def mostly_all(most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(0, most // 2), st.integers(most // 2, most))


WINDOWS = st.none() | st.tuples(st.none() | st.integers(0, 20), st.none() | st.integers(15, 40))
LAUNCHES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1)), min_size=1, max_size=25)
NAMED = st.lists(
    st.builds(lambda text, when: (text, *when), st.sampled_from(["a", "ab", "b"]), mostly_all(25)),
    min_size=1,
    max_size=4,
)


@given(
    launches=LAUNCHES,
    ranges=NAMED,
    time_ns=WINDOWS,
    text=st.sampled_from([None, "a", "b", "ab"]),
    low=st.integers(0, 10),
)
def test_any_filters_keep_what_each_launch_by_itself_passes(
    launches: list[tuple[int, int]],
    ranges: list[tuple[str, int, int]],
    time_ns: tuple[int | None, int | None] | None,
    text: str | None,
    low: int,
) -> None:
    """API times are the places in the list; ids follow (device, place); durations tell the places."""
    start_ns, device = (list(column) for column in zip(*launches, strict=True))
    made = with_ranges(start_ns, range(len(launches)), device, ranges)
    region = Region(launches=(low, None), time_ns=time_ns, named_range=text)

    in_id_order = sorted(range(len(launches)), key=lambda place: (device[place], place))
    exact = [each for each in ranges if each[0] == text]
    meant = exact or [each for each in ranges if text is not None and text in each[0]]

    def passes(place: int) -> bool:
        after_first = start_ns[place] - min(start_ns)
        earliest, latest = time_ns or (None, None)
        in_time = (earliest or 0) <= after_first and (latest is None or after_first < latest)
        return in_time and (text is None or any(since <= place < until for _, since, until in meant))

    kept = [id_ for id_, place in enumerate(in_id_order) if id_ >= low and passes(place)]
    if not kept:
        with pytest.raises(EmptySelectionError):
            count_durations(made, BY_NAME, region)
        return
    chosen = selected_parts(made, region)
    assert [id_ for part in chosen for id_ in part.ids(np.arange(part.launches)).tolist()] == kept
    counts = count_durations(made, BY_NAME, region)
    assert counts.launches == len(kept)
    # Every launch has a duration of its own: drawing each pair's only launch must find it again.
    pairs = np.arange(len(counts.duration_ns))
    ones = np.ones(len(pairs), dtype=np.int64)
    located = find_drawn_launches(made, counts, Draw(ones, pairs, ones - 1))
    assert sorted(located.id.tolist()) == kept
    assert [in_id_order[id_] + 1 for id_ in located.id.tolist()] == counts.duration_ns.tolist()


# The least duration: which launches it keeps, and what it leaves out.
ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=30)


@given(rows=ROWS, least=st.integers(1, 9), include=st.sampled_from([(), ("a",), ("a", "b")]))
def test_it_keeps_what_lasts_as_long_and_counts_the_rest(
    launch_table: Callable[..., Profile], rows: list[tuple[str, int]], least: int, include: tuple[str, ...]
) -> None:
    profile = launch_table([name for name, _ in rows], [duration for _, duration in rows])
    named = [
        (place, duration) for place, (name, duration) in enumerate(rows) if not include or name in include
    ]
    kept = [(place, duration) for place, duration in named if duration >= least]
    region = Region(include=include, min_duration_ns=least)
    if not kept:
        blamed = "`min_duration_ns" if named else "`include="
        with pytest.raises(EmptySelectionError, match=blamed):
            count_durations(profile, BY_NAME, region)
        return
    counts = count_durations(profile, BY_NAME, region)
    short_ns = sum(duration for _, duration in named) - sum(duration for _, duration in kept)
    assert counts.left_out == Excluded(len(named) - len(kept), short_ns)
    assert (counts.launches, counts.total_duration_ns) == (len(kept), sum(each for _, each in kept))
    assert list_launches(profile, counts).id.tolist() == [place for place, _ in kept]
    assert {group.name for group in counts.groups} == {rows[place][0] for place, _ in kept}


def test_names_are_filtered_as_recorded_and_as_they_read(launch_table: Callable[..., Profile]) -> None:
    mangled = launch_table(["_Z4convILi1EEvPf", "_Z4convILi2EEvPf"], [1, 2])
    for pattern in ("conv<1>", "ILi1E"):
        (group,) = count_durations(mangled, BY_NAME, Region(include=(pattern,))).groups
        (other,) = count_durations(mangled, BY_NAME, Region(exclude=(pattern,))).groups
        assert (group.name, other.name) == ("void conv<1>(float*)", "void conv<2>(float*)")
