"""One iteration of a program recorded by others."""

from __future__ import annotations

from pathlib import Path

from tests.sampling.methods.test_single_iteration import listed_with_ranges, picked


def test_a_recording_has_ranges_of_one_launch_and_of_several(shared_data: Path) -> None:
    """CASIO NeRF: 107 ranges of this name, issued for 143 launches; the first has one of them."""
    launches = listed_with_ranges(shared_data / "nsys-sqlite" / "a100-nerf-nsys2021.5.sqlite")
    picks = picked(launches, range="cublasSgemmEx")
    assert picks.weight.tolist() == [107]
    assert picks.notes == ("one iteration: 1 x 107 = 107 of 1,106 launches",)
    assert int((picks.stratum >= 0).sum()) == 143
