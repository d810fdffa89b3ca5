"""Which launches count: every filter alone and together, and which of them is blamed for leaving none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sampling import launch_table as launch_table_module
from sampling.duration_counts import count_durations
from sampling.errors import EmptySelectionError, OptionError
from sampling.group_by import GroupBy
from sampling.grouping import Grouping
from sampling.launch_table import LaunchTable
from sampling.regions import Region, selections

# Two processes with two devices each, three launches on each; the duration is the id.
PROCESS = [0] * 6 + [1] * 6
DEVICE = ([0] * 3 + [1] * 3) * 2
NAMES = ["gemm(int)", "relu(int)", "ncclDevKernel_AllReduce_Sum(int)"] * 4
BY_NAME = Grouping(GroupBy.NAME)


@pytest.fixture(scope="module", autouse=True)
def _small_spans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "_SPAN_LAUNCHES", 2)
        yield


@pytest.fixture(scope="module")
def profile(launch_table: Callable[..., LaunchTable]) -> LaunchTable:
    """Return the profile of twelve launches."""
    return launch_table(NAMES, range(12), process=PROCESS, device=DEVICE)


@pytest.mark.parametrize(
    ("region", "ids"),
    [
        (Region(), range(12)),
        (Region(devices=(1,)), [3, 4, 5, 9, 10, 11]),
        (Region(devices=(0, 1)), range(12)),
        (Region(devices=(0, 7)), [0, 1, 2, 6, 7, 8]),
        (Region(processes=(1,)), range(6, 12)),
        (Region(processes=(1,), devices=(0,)), [6, 7, 8]),
        (Region(include=("gemm",)), [0, 3, 6, 9]),
        (Region(include=("^gemm", "relu")), [0, 1, 3, 4, 6, 7, 9, 10]),
        (Region(include=("GEMM",), exclude=()), []),
        (Region(exclude=("communication",)), [0, 1, 3, 4, 6, 7, 9, 10]),
        (Region(exclude=("gemm", "relu")), [2, 5, 8, 11]),
        (Region(include=("int",), exclude=("communication", "gemm")), [1, 4, 7, 10]),
        (Region(launches=(4, 8)), [4, 5, 6, 7]),
        (Region(launches=(None, 3)), [0, 1, 2]),
        (Region(launches=(11, None)), [11]),
        (Region(launches=(5, 100)), range(5, 12)),
        (Region(launches=(2, 10), devices=(0,), include=("relu",)), [7]),
        (Region(launches=(6, None), processes=(0,)), []),
        (Region(launches=(3, 3)), []),
    ],
)
def test_what_passes_every_filter_counts(region: Region, ids: list[int], profile: LaunchTable) -> None:
    if not list(ids):
        with pytest.raises(EmptySelectionError):
            count_durations(profile, BY_NAME, region)
        return
    assert sorted(count_durations(profile, BY_NAME, region).duration_ns.tolist()) == list(ids)


def test_a_selection_knows_the_ids_of_the_whole_profile(profile: LaunchTable) -> None:
    chosen = selections(profile, Region(devices=(1,), launches=(4, 11)))
    ids = [id_ for part in chosen for id_ in range(part.first_id, part.first_id + part.launches)]
    assert ids == [4, 5, 9, 10]
    for part in chosen:
        batch = profile.read(part.span, ["duration_ns"])["duration_ns"][part.rows]
        assert batch.tolist() == list(range(part.first_id, part.first_id + part.launches))


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Region(devices=(5,)), r"--device 5 leaves no launch; the device numbers here are 0, 1"),
        (Region(processes=(3, 4)), r"--process 3,4 leaves no launch; the process numbers here are 0, 1"),
        (Region(processes=(1,), devices=(5,)), r"--device 5 leaves"),
        (Region(launches=(12, 20)), r"--launches 12:20 leaves no launch \(ids run from 0 to 11\)"),
        (Region(include=("conv",)), r"--include 'conv' leaves no launch"),
        (Region(include=("^relu",), exclude=("nccl", "relu")), r"--exclude 'relu' leaves no launch"),
        (Region(include=("nccl",), exclude=("communication",)), r"--exclude 'communication' leaves"),
        (Region(launches=(0, 1), exclude=("gemm",)), r"--exclude 'gemm' leaves"),
        (Region(include=("gemm",), launches=(1, 3)), r"--include 'gemm' leaves"),
    ],
)
def test_the_filter_that_leaves_nothing_is_named(region: Region, message: str, profile: LaunchTable) -> None:
    with pytest.raises(EmptySelectionError, match=message):
        count_durations(profile, BY_NAME, region)


@pytest.mark.parametrize("where", ["include", "exclude"])
def test_what_is_no_regular_expression_is_refused(where: str) -> None:
    with pytest.raises(OptionError, match=r"'\(gemm' is not a regular expression"):
        Region(**{where: ("(gemm",)})
