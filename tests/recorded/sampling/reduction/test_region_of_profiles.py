"""Every filter on profiles that others recorded: the launches it keeps, by their ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import EmptySelectionError, NotApplicableError
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.range_list import list_ranges
from sampling.reduction.region import Region
from tests.region_cases import (
    Launch,
    RangeIds,
    all_launches,
    filters_of,
    ids_of,
    kept_by,
    kineto_range,
    nsys_range,
)

#: Files, and for those with ranges of the program one of them.
FILES: dict[str, tuple[str, RangeIds] | None] = {
    "kineto/a100-recommendation-training.json.gz": ("ProfilerStep#1010", kineto_range),
    "kineto/v100-resnet50-training.json.gz": None,
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite": ("cublasSgemmEx", nsys_range),
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite": ("aten::linear, op_id = 317825", nsys_range),
    "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv": None,
    "rocm/mi300x-gemm-rocprofv3.db": None,
}


@pytest.fixture(scope="module", params=FILES)
def recorded(request: pytest.FixtureRequest, shared_data: Path) -> tuple[str, Profile, list[Launch]]:
    """A profile and its launches one by one."""
    profile = read_profile([str(shared_data / request.param)])
    return request.param, profile, all_launches(profile)


def test_every_filter_keeps_what_it_says(recorded: tuple[str, Profile, list[Launch]]) -> None:
    _, profile, rows = recorded
    for name, (some, none) in filters_of(rows).items():
        assert ids_of(profile, some) == kept_by(rows, some), name
        with pytest.raises(EmptySelectionError, match=f"^`{name}="):
            ids_of(profile, none)


def test_a_range_keeps_what_was_called_in_it(
    recorded: tuple[str, Profile, list[Launch]], shared_data: Path
) -> None:
    name, profile, _ = recorded
    known = FILES[name]
    if known is None:
        with pytest.raises((EmptySelectionError, NotApplicableError), match="`named_range"):
            ids_of(profile, Region(named_range="no such range"))
        return
    text, held_by = known
    held = held_by(shared_data / name, text)
    assert held
    assert ids_of(profile, Region(named_range=text)) == held


def test_a_range_that_lies_in_another_is_selected_by_its_path(
    recorded: tuple[str, Profile, list[Launch]],
) -> None:
    _, profile, _ = recorded
    listed = list_ranges(profile, Region())
    nested = [
        path
        for path in listed.chosen(by_time=True, most=200)
        if path < listed.found_from and listed.paths.depth[path] > 0
    ]
    for path in nested[:2]:
        ids = ids_of(profile, Region(named_range=listed.paths.written(path)))
        expected = (listed.launches[path], listed.first[path], listed.last[path])
        assert (len(ids), ids[0], ids[-1]) == expected
