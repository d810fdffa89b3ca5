"""One iteration of a program recorded by others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import NotApplicableError
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.iterations import find_iterations
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region
from tests.sampling.methods.test_single_iteration import picked


def listed_with_ranges(path: Path) -> LaunchList:
    """Return the launches of a profile, and its named ranges."""
    profile = read_profile([str(path)])
    launches = list_launches(profile, count_durations(profile, Grouping(), Region()))
    return replace(launches, ranges_named=profile.named_ranges)


def test_a_recording_has_ranges_of_one_launch_and_of_several(shared_data: Path) -> None:
    """CASIO NeRF: 107 ranges of this name, issued for 143 launches; the first has one of them."""
    launches = listed_with_ranges(shared_data / "nsys-sqlite" / "a100-nerf-nsys2021.5.sqlite")
    picks = picked(launches, range="cublasSgemmEx")
    assert picks.weight.tolist() == [107]
    assert picks.notes == ("one iteration: 1 x 107 = 107 of 1,106 launches",)
    assert int((picks.stratum >= 0).sum()) == 143


def test_steps_are_the_iterations_of_the_name_that_they_have_in_common(shared_data: Path) -> None:
    launches = listed_with_ranges(shared_data / "kineto" / "v100-resnet50-training.json.gz")
    picks = picked(launches, range="ProfilerStep#*")
    assert picks.notes[0].startswith("one iteration: 1,467 x 6 = 8,802 of")


@pytest.mark.parametrize(
    ("name", "by_name", "whole"),
    [
        # The shapes of a recommendation model follow the batch; its kernels do not.
        ("kineto/a100-recommendation-training.json.gz", True, True),
        ("kineto/v100x2-training-unsorted.json.gz", False, True),
        # It begins within a step.
        ("kineto/v100-resnet50-training.json.gz", False, False),
    ],
)
def test_what_is_found_are_the_steps_that_the_profiler_marked(
    shared_data: Path, name: str, by_name: bool, whole: bool
) -> None:
    launches = listed_with_ranges(shared_data / name)
    assert launches.ranges_named is not None
    steps = launches.ranges_named("ProfilerStep")
    assert steps is not None
    codes = launches.kernels.signature_names()[launches.signature] if by_name else launches.signature
    found = find_iterations(codes.astype(np.int64))
    assert found is not None
    assert {step.stop_ordinal - step.first_ordinal for step in steps} == {found.launches}
    assert len(found.first) == len(steps)
    assert (found.start, found.stop) == (0, len(launches))
    if whole:
        assert found.first.tolist() == [step.first_ordinal for step in steps]
    picks = picked(launches)
    assert len(picks.row) == found.launches
    assert picks.weight[0] == len(launches) / found.launches


@pytest.mark.parametrize(
    ("name", "iteration"),
    [
        # Gaussian elimination: two kernels a row; the sort: 100 times 17; CloverLeaf: ten time steps.
        ("nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite", (2, 4095.0, 8190)),
        ("nsys-sqlite/p2000-sort-nsys2020.4.sqlite", (17, 100.0, 1700)),
        ("nsys-csv/cloverleaf_gpu_trace.csv", (125, 1251 / 125, 1251)),
    ],
)
def test_programs_without_ranges_have_their_loops(
    shared_data: Path, name: str, iteration: tuple[int, float, int]
) -> None:
    picks = picked(listed_with_ranges(shared_data / name))
    assert (len(picks.row), picks.weight[0], int((picks.stratum >= 0).sum())) == iteration


def test_a_program_without_a_loop_has_none(shared_data: Path) -> None:
    with pytest.raises(NotApplicableError, match="no sequence of kernels that most launches repeat"):
        picked(listed_with_ranges(shared_data / "nsys-sqlite" / "a100-nerf-nsys2021.5.sqlite"))
