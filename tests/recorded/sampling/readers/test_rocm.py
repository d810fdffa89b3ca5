"""Lists of counters and the three files of one recording by rocprof."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling.readers.launches_told import read, told


@pytest.mark.parametrize(
    ("name", "launches", "total_ns", "names", "counters"),
    [
        ("rocprofv3-decode-fetch-counters.csv", 34, 467_793, 17, {"FETCH_SIZE"}),
        ("rocm-counters-with-times.csv", 5, 2_015, 2, {"SQ_WAVES", "GRBM_COUNT"}),
    ],
)
def test_a_list_of_counters_has_a_launch_a_dispatch(
    shared_data: Path, name: str, launches: int, total_ns: int, names: int, counters: set[str]
) -> None:
    profile = read(shared_data / "turn4/cases" / name)
    found = told(profile)
    assert (len(found), sum(each.duration_ns for each in found)) == (launches, total_ns)
    assert (len({each.name for each in found}), set(profile.metric_names)) == (names, counters)


def test_rocprof_writes_the_same_launches_three_times(shared_data: Path) -> None:
    whole, *others = (
        told(read(shared_data / f"turn4/cases/rocprof-v1-mm-results.{form}"))
        for form in ("csv", "db", "json")
    )
    assert [len(whole), sum(each.duration_ns for each in whole)] == [3, 155_360]
    assert others == [whole, whole]
