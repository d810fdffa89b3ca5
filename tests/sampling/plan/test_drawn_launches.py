"""Finding drawn launches in the profile, held against a scan of one launch at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import EmptySelectionError
from sampling.plan.drawn_launches import find_drawn_launches, find_launches_by_id
from sampling.profile import launch_table
from sampling.profile.identity import fingerprints
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
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


@pytest.fixture(scope="module", autouse=True)
def _small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table, "PART_LAUNCHES", 11)
        yield


def scanned(profile: Profile, counts: DurationCounts) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return (pair, occurrence) -> (id, sequence, ordinal, signature, occurrence), one launch at a time."""
    pair_of = {
        (counts.groups[group].key, int(counts.duration_ns[pair])): pair
        for group in range(len(counts.groups))
        for pair in range(counts.offsets[group], counts.offsets[group + 1])
    }
    low, high = counts.region.launches or (None, None)
    ids = set(range(profile.launches)[slice(low, high)])
    seen_pair: Counter[int] = Counter()
    seen_signature: dict[int, Counter[int]] = defaultdict(Counter)
    expected = {}
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
            place = "" if counts.grouping.pool_devices else sequence.place
            key = group_key(name, counts.grouping, signature.grid, signature.block, place)
            counted = (
                launch_id in ids
                and (not counts.region.devices or sequence.device in counts.region.devices)
                and (not counts.region.include or "a::" in full)
            )
            if counted:
                pair = pair_of[key, duration]
                expected[pair, seen_pair[pair]] = (
                    launch_id,
                    index,
                    part.first_id - profile.sequences[index].first_id + row,
                    code,
                    seen_signature[index][code],
                )
                seen_pair[pair] += 1
            seen_signature[index][code] += 1
            launch_id += 1
    return expected


@given(data=st.data(), rows=ROWS, grouping=GROUPINGS, region=REGIONS)
def test_every_drawn_launch_is_found_where_a_scan_finds_it(
    data: st.DataObject,
    rows: list[tuple[int, int, str, int, int]],
    grouping: Grouping,
    region: Region,
    launch_table: Callable[..., Profile],
) -> None:
    process, device, names, grid_x, durations = (list(column) for column in zip(*rows, strict=True))
    profile = launch_table(names, durations, grid_x=grid_x, process=process, device=device)
    try:
        counts = count_durations(profile, grouping, region)
    except EmptySelectionError:
        return
    expected = scanned(profile, counts)
    assert len(expected) == counts.launches
    keys = data.draw(st.lists(st.sampled_from(sorted(expected)), min_size=1, unique=True))
    pair, occurrence = (np.array(column) for column in zip(*keys, strict=True))
    ones = np.ones(len(keys), dtype=np.int64)
    launches = find_drawn_launches(profile, counts, Draw(ones, pair, occurrence))
    columns = (launches.id, launches.sequence, launches.ordinal, launches.signature, launches.occurrence)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [expected[key] for key in keys]
    by_id = find_launches_by_id(profile, launches.id)
    for column in ("sequence", "ordinal", "signature", "occurrence"):
        assert getattr(by_id, column).tolist() == getattr(launches, column).tolist()


def test_looking_for_launches_tells_the_fingerprints(launch_table: Callable[..., Profile]) -> None:
    profile, same = (launch_table(["k", "l"] * 50, [7] * 100) for _ in range(2))
    one = np.array([1])
    launches = find_drawn_launches(
        profile, count_durations(profile, Grouping()), Draw(one, np.array([0]), np.array([12]))
    )
    assert launches.id.tolist() == [24]
    profile.parts = ()
    assert fingerprints(profile) == fingerprints(same)
