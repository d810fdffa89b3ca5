"""Finding drawn launches in the profile, held against a scan of one launch at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import EmptySelectionError
from sampling.plan import drawn_launches
from sampling.plan.drawn_launches import find_drawn_launches, occurrences_of_rows, rows_of_occurrences
from sampling.plan.pair_lookup import PairLookup
from sampling.profile import launch_table
from sampling.profile.launch_table import LaunchTable
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping, group_key
from sampling.reduction.region import Region
from sampling.strata.draw import Draw

NAMES = ("void a::f<(int)4>(int)", "void b::f<(int)4>(int)", "ncclKernel")
WIDE = 2**40
ROWS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 1),
        st.sampled_from(NAMES),
        st.integers(0, 2),
        st.one_of(st.integers(0, 4), st.sampled_from([WIDE, WIDE + 1, WIDE * 2 + 1])),
    ),
    min_size=1,
    max_size=60,
).map(lambda rows: sorted(rows, key=lambda row: row[:2]))
GROUPINGS = st.builds(
    Grouping, st.sampled_from([GroupBy.LAUNCH, GroupBy.NAME, GroupBy.SHORT_NAME]), st.booleans()
)
REGIONS = st.builds(
    Region,
    devices=st.sampled_from([(), (1,)]),
    include=st.sampled_from([(), ("a::",)]),
    launches=st.sampled_from([None, (5, None), (3, 30)]),
)


@pytest.fixture(scope="module", autouse=True, params=["comparing", "sorting"])
def _small_pieces(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table, "PART_LAUNCHES", 11)
        patch.setattr(drawn_launches, "BLOCK_LAUNCHES", 4)
        patch.setattr(drawn_launches, "SORT_FROM", 0 if request.param == "sorting" else 10**6)
        yield


def scanned(profile: Profile, counts: DurationCounts) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return (pair, occurrence) -> (id, sequence, ordinal, signature, occurrence), one launch at a time."""
    pair_of = {
        (counts.groups[group].key, int(counts.duration_ns[pair])): pair
        for group in range(len(counts.groups))
        for pair in range(counts.offsets[group], counts.offsets[group + 1])
    }
    low, high = counts.region.launches or (None, None)
    inside = set(range(profile.launches)[slice(low, high)])
    seen_pair: Counter[int] = Counter()
    seen_signature: dict[int, Counter[int]] = defaultdict(Counter)
    found = {}
    launch_id = 0
    for part in profile.parts:
        batch = part.load(["signature", "duration_ns"])
        index = part.sequence
        sequence = profile.sequences[index]
        for row, (code, duration) in enumerate(
            zip(batch["signature"].tolist(), batch["duration_ns"].tolist(), strict=True)
        ):
            signature = profile.kernels.signature(code)
            full = profile.kernels.names.full(signature.name)
            short = counts.grouping.by is GroupBy.SHORT_NAME
            name = profile.kernels.names.short(signature.name) if short else full
            place = (None, None) if counts.grouping.pool_devices else (sequence.process, sequence.device)
            key = group_key(name, counts.grouping, signature.grid, signature.block, *place)
            counted = (
                launch_id in inside
                and (not counts.region.devices or sequence.device in counts.region.devices)
                and (not counts.region.include or "a::" in full)
            )
            if counted:
                pair = pair_of[key, duration]
                found[pair, seen_pair[pair]] = (
                    launch_id,
                    index,
                    part.first_id - profile.sequences[index].first_id + row,
                    code,
                    seen_signature[index][code],
                )
                seen_pair[pair] += 1
            seen_signature[index][code] += 1
            launch_id += 1
    return found


@given(data=st.data(), rows=ROWS, grouping=GROUPINGS, region=REGIONS)
def test_every_drawn_launch_is_found_where_a_scan_finds_it(
    data: st.DataObject,
    rows: list[tuple[int, int, str, int, int]],
    grouping: Grouping,
    region: Region,
    launch_table: Callable[..., LaunchTable],
) -> None:
    process, device, names, grid_x, durations = (list(column) for column in zip(*rows, strict=True))
    profile = launch_table(names, durations, grid_x=grid_x, process=process, device=device)
    try:
        counts = count_durations(profile, grouping, region)
    except EmptySelectionError:
        return
    expected = scanned(profile, counts)
    assert len(expected) == counts.launches
    chosen = data.draw(st.lists(st.sampled_from(sorted(expected)), min_size=1, unique=True))
    pair, occurrence = (np.array(column) for column in zip(*chosen, strict=True))
    ones = np.ones(len(chosen), dtype=np.int64)
    found = find_drawn_launches(profile, counts, Draw(ones, pair, occurrence))
    columns = (found.id, found.sequence, found.ordinal, found.signature, found.occurrence)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [expected[at] for at in chosen]


def test_reading_ends_with_the_last_drawn_launch(launch_table: Callable[..., LaunchTable]) -> None:
    profile = launch_table(["k"] * 100, [7] * 100)
    counts = count_durations(profile, Grouping())
    told: list[tuple[int, int, str]] = []
    one = np.array([1])
    found = find_drawn_launches(
        profile, counts, Draw(one, np.array([0]), np.array([12])), lambda *place: told.append(place)
    )
    assert found.id.tolist() == [12]
    assert [done for done, _, _ in told] == [1, 2]


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 5), st.one_of(st.integers(0, 5), st.integers(2**40 - 2, 2**62))),
        min_size=1,
        max_size=50,
        unique=True,
    ),
    others=st.lists(
        st.tuples(st.integers(-1, 6), st.one_of(st.integers(0, 6), st.integers(2**40 - 2, 2**62)))
    ),
)
def test_a_lookup_finds_what_was_put_in_and_nothing_else(
    pairs: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    check_lookup(pairs, [*pairs, *others])


def check_lookup(pairs: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    """Hold a lookup of the pairs against a dictionary."""
    lookup = PairLookup(*(np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True)))
    number_of = {pair: number for number, pair in enumerate(pairs)}
    rows, found = lookup.matches(*(np.array(column, dtype=np.int64) for column in zip(*asked, strict=True)))
    expected = [(row, number_of[pair]) for row, pair in enumerate(asked) if pair in number_of]
    assert list(zip(rows.tolist(), found.tolist(), strict=True)) == expected


def test_a_launch_too_long_for_the_key_is_not_taken_for_another_group() -> None:
    """18 minutes are 2^40 ns; only the short launch of group 1 is drawn."""
    check_lookup([(1, 5)], [(0, 2**40 + 5), (1, 5), (1, 2**40 + 5), (0, 5)])


def test_a_drawn_launch_is_not_mistaken_for_one_of_eighteen_minutes(
    launch_table: Callable[..., LaunchTable],
) -> None:
    profile = launch_table(["long", "short", "short"], [2**40 + 5, 5, 5])
    counts = count_durations(profile, Grouping())
    one = np.array([1])
    found = find_drawn_launches(profile, counts, Draw(one, np.array([1]), np.array([0])))
    assert found.id.tolist() == [1]


def test_a_lookup_of_many_pairs_is_exact_through_its_collisions() -> None:
    rng = np.random.default_rng(3)
    group = rng.integers(0, 50, 4000)
    duration = rng.integers(0, 200, 4000)
    distinct = np.unique(group * 1000 + duration)
    inside = distinct[::2]
    lookup = PairLookup(inside // 1000, inside % 1000)
    rows, found = lookup.matches(distinct // 1000, distinct % 1000)
    assert rows.tolist() == list(range(0, len(distinct), 2))
    assert found.tolist() == list(range(len(inside)))


def test_pairs_that_hash_to_one_slot_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sampling.plan.pair_lookup.home_slots", lambda keys, _: np.zeros(len(keys), dtype=np.int64)
    )
    pairs = [(0, 3), (1, 3), (2, 0), (0, 9)]
    check_lookup(pairs, [*pairs, (0, 0), (1, 9), (2, 3), (-1, 3)])


@given(values=st.lists(st.integers(0, 4), min_size=1, max_size=40), data=st.data())
def test_rows_and_occurrences_are_inverse(values: list[int], data: st.DataObject) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1)))
    column = np.array(values)
    turn = occurrences_of_rows(column, rows)
    assert turn.tolist() == [values[:row].count(values[row]) for row in rows.tolist()]
    assert rows_of_occurrences(column, column[rows], turn).tolist() == rows.tolist()
