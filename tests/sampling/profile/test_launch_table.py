"""Launches in API order, sequence by sequence; several files as one workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile import launch_table as launch_table_module
from sampling.profile.profile import Device, KernelTable, Profile, RecordingFacts
from sampling.profile.workload import join_profiles

Build = Callable[..., Profile]

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)),
    min_size=1,
    max_size=60,
)


@pytest.fixture(scope="module", autouse=True)
def _small_spans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", 5)
        yield


def durations(profile: Profile) -> list[int]:
    """Return all durations in id order."""
    return profile.load(["duration_ns"])["duration_ns"].tolist()


def check_ids(profile: Profile) -> None:
    """Sequences and parts lie end to end and cover every id once."""
    first_id = 0
    for sequence in profile.sequences:
        assert sequence.first_id == first_id
        first_id += sequence.launches
    assert first_id == profile.launches == len(durations(profile))
    next_id = 0
    for part in profile.parts:
        sequence = profile.sequences[part.sequence]
        assert part.first_id == next_id
        assert sequence.first_id <= part.first_id < part.stop_id <= sequence.first_id + sequence.launches
        next_id = part.stop_id
    assert next_id == profile.launches


@given(rows=ROWS)
def test_ids_follow_process_device_order_start_and_file(
    rows: list[tuple[int, int, int, int]], launch_table: Build
) -> None:
    process, device, order, start = (list(column) for column in zip(*rows, strict=True))
    table = launch_table(
        [f"k{row}" for row in range(len(rows))],
        range(len(rows)),
        process=process,
        device=device,
        order=order,
        start_ns=start,
    )
    assert durations(table) == sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    places = sorted({row[:2] for row in rows})
    assert [(sequence.process, sequence.device) for sequence in table.sequences] == places
    assert table.files[0].launches == len(rows)
    check_ids(table)


@given(rows=ROWS)
def test_every_column_moves_with_its_launch(
    rows: list[tuple[int, int, int, int]], launch_table: Build
) -> None:
    process, device, order, start = (list(column) for column in zip(*rows, strict=True))
    names = [f"k{row % 7}" for row in range(len(rows))]
    table = launch_table(
        names,
        range(len(rows)),
        process=process,
        device=device,
        order=order,
        start_ns=start,
        stream=range(len(rows)),
        grid_x=[1 + row % 3 for row in range(len(rows))],
    )
    for part in table.parts:
        batch = part.load(["duration_ns", "name", "signature", "start_ns", "stream"])
        for at, row in enumerate(batch["duration_ns"].tolist()):
            signature = table.kernels.signature(int(batch["signature"][at]))
            assert table.kernels.names.full(int(batch["name"][at])) == names[row]
            assert table.kernels.names.full(signature.name) == names[row]
            assert signature.grid == (1 + row % 3, 1, 1)
            assert (batch["start_ns"][at], batch["stream"][at]) == (start[row], row)
            assert table.sequences[part.sequence].process == process[row]


def test_a_negative_duration_is_refused_with_its_row(launch_table: Build) -> None:
    with pytest.raises(ProfileError, match=r"profile.csv, row 3: .*-7 ns"):
        launch_table(["k"] * 4, [1, 2, -7, 4])


@pytest.mark.parametrize(
    ("wrong", "launches", "is_refused"), [(10, 1, False), (11, 1089, False), (11, 1088, True)]
)
def test_more_than_ten_rows_and_one_in_a_hundred_left_out_refuse_a_file(
    wrong: int, launches: int, is_refused: bool
) -> None:
    rows = launch_table_module.RowsLeftOut("profile.csv")
    rows.add(1, "it has no end", row=7, column="End")
    rows.add(wrong - 1, "it ends before it starts", row=9)
    if is_refused:
        with pytest.raises(
            ProfileError, match=r"profile.csv, row 7, column End: it has no end, the first of 11"
        ):
            rows.in_facts(RecordingFacts(), launches)
    else:
        told = rows.in_facts(RecordingFacts(product="nsys"), launches)
        assert (told.product, told.rows_left_out) == ("nsys", wrong)
        assert told.first_left_out == "row 7, column End: it has no end"


def test_a_file_in_which_no_row_is_a_launch_is_refused_with_the_first() -> None:
    rows = launch_table_module.RowsLeftOut("profile.csv")
    rows.add(1, "it has no end", row=7)
    with pytest.raises(ProfileError, match=r"profile.csv, row 7: it has no end"):
        rows.in_facts(RecordingFacts(), 0)


def test_unknown_shapes_are_none_and_known_ones_are_told_apart(launch_table: Build) -> None:
    table = launch_table(["k"] * 3, [1, 2, 3], grid_x=[0, 4, 4])
    codes = table.parts[0].load(["signature"])["signature"]
    assert [table.kernels.signature(code).grid for code in codes.tolist()] == [None, (4, 1, 1), (4, 1, 1)]
    assert table.kernels.signature_rows()[codes, 1:4].tolist() == [[0, 0, 0], [4, 1, 1], [4, 1, 1]]


def workload_of(launch_table: Build, processes: list[list[int]]) -> Profile:
    """Build a workload with one file a list, whose durations are the ids."""
    kernels = KernelTable()
    profiles, first = [], 0
    for index, numbers in enumerate(processes):
        ids = range(first, first + len(numbers))
        profiles.append(
            launch_table(
                [f"f{index}"] * len(numbers),
                ids,
                process=sorted(numbers),
                kernels=kernels,
                path=f"{index}.csv",
            )
        )
        first += len(numbers)
    return join_profiles(profiles)


@given(processes=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=2, max_size=4))
def test_the_files_of_a_workload_follow_each_other(processes: list[list[int]], launch_table: Build) -> None:
    workload = workload_of(launch_table, processes)
    check_ids(workload)
    assert durations(workload) == list(range(workload.launches))
    numbers = [sequence.process for sequence in workload.sequences]
    assert len(set(numbers)) == len(numbers)
    assert [file.path for file in workload.files] == [f"{index}.csv" for index in range(len(processes))]


@pytest.mark.parametrize(
    ("processes", "numbers"), [([[7, 9], [4]], [7, 9, 4]), ([[7, 9], [9, 9]], [0, 1, 2])]
)
def test_process_numbers_that_collide_are_counted_from_zero(
    processes: list[list[int]], numbers: list[int], launch_table: Build
) -> None:
    assert [each.process for each in workload_of(launch_table, processes).sequences] == numbers


def test_the_facts_of_a_workload_are_the_weakest_and_the_sum(launch_table: Build) -> None:
    kernels = KernelTable()
    facts = [
        RecordingFacts((Device(0, "V100"),), "api-start", 2, 1, "nsys 1", launch_calls=9, rows_left_out=2),
        RecordingFacts((Device(0, "H100"),), "gpu-start", 3, 0, "nsys 2", launch_calls=8, first_left_out="x"),
    ]
    each_files_own = (Device(0, "V100", process=0), Device(0, "H100", process=1))
    workload = join_profiles([launch_table(["k"], [1], kernels=kernels, facts=fact) for fact in facts])
    total = RecordingFacts(each_files_own, "gpu-start", 5, 1, "nsys 1, nsys 2", launch_calls=17)
    place = f"{workload.files[1].path}, x"
    assert workload.facts == replace(total, rows_left_out=2, first_left_out=place)
