"""Our own Parquet: what is read, what is refused and where, and what is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile.profile import Profile, RecordingFacts
from sampling.profile.times import NO_START
from sampling.readers import launch_tables
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.launch_parquet import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region

Rows = list[tuple[str, int, int, int, int]]


def written(folder: Path, columns: dict[str, Any], *, row_group: int = 3, **options: Any) -> Path:
    """Write columns as a Parquet file of small row groups."""
    path = folder / "launches.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=row_group, **options)
    return path


def read(path: Path) -> Profile:
    """Read one file."""
    return read_profile([str(path)])


def rows_of(profile: Profile) -> Rows:
    """Return (name, grid x, duration, process, device) of every launch, in id order."""
    rows = []
    for part in profile.parts:
        batch = part.load(["name", "signature", "duration_ns"])
        sequence = profile.sequences[part.sequence]
        for at in range(part.launches):
            signature = profile.kernels.signature(int(batch["signature"][at]))
            assert signature.name == batch["name"][at]
            name = profile.kernels.names.full(signature.name)
            grid_x = 0 if signature.grid is None else signature.grid[0]
            rows.append((name, grid_x, int(batch["duration_ns"][at]), sequence.process, sequence.device))
    return rows


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 9), st.integers(0, 2), st.integers(0, 1)
        ),
        min_size=1,
        max_size=30,
    ),
    row_group=st.integers(1, 8),
    statistics=st.booleans(),
    in_order=st.booleans(),
)
def test_launches_are_read_in_id_order(
    rows: Rows, row_group: int, statistics: bool, in_order: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Row groups cut across sequences; processes and devices in order or interleaved."""
    by_place = sorted(rows, key=lambda row: row[3:])
    names, grid_x, duration, process, device = zip(*(by_place if in_order else rows), strict=True)
    one = [min(x, 1) for x in grid_x]
    columns = {"name": names, "duration_ns": duration, "process": process, "device": device}
    columns |= {"grid_x": grid_x, "grid_y": one, "grid_z": one}
    folder = tmp_path_factory.mktemp("profile")
    profile = read(written(folder, columns, row_group=row_group, write_statistics=statistics))
    assert rows_of(profile) == by_place
    next_id = 0
    for sequence in profile.sequences:
        assert sequence.first_id == next_id
        next_id += sequence.launches
    assert next_id == profile.launches == sum(span.launches for span in profile.parts)


@pytest.mark.parametrize(
    "type_",
    [
        pa.string(),
        pa.large_string(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
@pytest.mark.parametrize("encoded", [True, False])
def test_names_of_every_text_type_are_read(type_: pa.DataType, encoded: bool, tmp_path: Path) -> None:
    names = pa.array(["void f<int>(int)", "μ", "g", "void f<int>(int)"]).cast(type_)
    path = written(tmp_path, {"name": names, "duration_ns": [1, 2, 3, 4]}, use_dictionary=encoded)
    assert [row[0] for row in rows_of(read(path))] == names.to_pylist()


@pytest.mark.parametrize(
    "type_",
    [pa.int8(), pa.int32(), pa.int64(), pa.uint16(), pa.uint64(), pa.float32(), pa.float64()],
    ids=str,
)
def test_durations_of_every_number_type_are_read(type_: pa.DataType, tmp_path: Path) -> None:
    columns = {"name": ["a"] * 4, "duration_ns": pa.array([4, 0, 100, 7]).cast(type_)}
    path = written(tmp_path, columns)
    assert [row[2] for row in rows_of(read(path))] == [4, 0, 100, 7]
    in_seconds = read_profile([str(path)], options=ReadOptions(column_map("duration_ns=duration_ns:s")))
    assert [row[2] for row in rows_of(in_seconds)] == [4 * 10**9, 0, 10**11, 7 * 10**9]


@pytest.mark.parametrize("type_", [pa.int64(), pa.uint64()], ids=str)
def test_whole_numbers_are_exact(type_: pa.DataType, tmp_path: Path) -> None:
    starts = [2**53 + 1, 1_700_000_000_123_456_789]
    columns = {"name": ["a"] * 2, "duration_ns": [1, 2], "start_ns": pa.array(starts, type_)}
    assert read(written(tmp_path, columns)).load(["start_ns"])["start_ns"].tolist() == starts


@pytest.mark.parametrize("axis", ["grid_x", "block_z"])
def test_a_column_that_is_constant_in_one_row_group_only(axis: str, tmp_path: Path) -> None:
    shape = {f"{what}_{axis_}": [2] * 6 for what in ("grid", "block") for axis_ in "xyz"}
    columns = {"name": ["a"] * 6, "duration_ns": [1] * 6, **shape, axis: [5, 5, 5, 5, 6, 7]}
    counts = count_durations(read(written(tmp_path, columns)), Grouping())
    assert counts.group_launches.tolist() == [4, 1, 1]


def test_no_rows_are_no_profile(tmp_path: Path) -> None:
    path = written(tmp_path, {"name": pa.array([], pa.string()), "duration_ns": pa.array([], pa.int64())})
    with pytest.raises(ProfileError, match="without a single launch"):
        read(path)


def test_a_damaged_row_group_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, {"name": ["a"] * 3000, "duration_ns": range(3000)}, row_group=1000)
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(ProfileError, match=r"row group \d is damaged"):
        count_durations(read(path), Grouping())


def test_one_table_of_an_nsys_export_leads_to_its_folder(tmp_path: Path) -> None:
    path = written(tmp_path, {"start": [1], "end": [2], "demangledName": [3], "deviceId": [0]})
    with pytest.raises(
        ProfileError, match=f"one table of an nsys Parquet export; give the folder, {tmp_path}"
    ):
        read(path)


@pytest.fixture(scope="module")
def table(launch_table: Callable[..., Profile]) -> Profile:
    """Return a profile with every column, in two processes."""
    return launch_table(
        ["gemm(int)", "relu(int)", "ncclKernel"] * 4,
        range(12),
        grid_x=[3, 0, 1] * 4,
        process=[0] * 6 + [5] * 6,
        device=[0, 0, 0, 2, 2, 2] * 2,
        start_ns=range(100, 112),
        stream=[7, 8] * 6,
    )


def test_what_is_written_reads_back(table: Profile, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    told: list[tuple[int, int, str]] = []
    assert write_launch_parquet(table, Region(), path, lambda *place: told.append(place)).launches == 12
    profile = read(path)
    assert rows_of(profile) == rows_of(table)
    assert profile.sequences == table.sequences
    for column in ("start_ns", "stream"):
        found, expected = (source.load([column])[column] for source in (profile, table))
        assert found.tolist() == expected.tolist()
    assert told[-1][0] == told[-1][1]


@pytest.mark.parametrize(
    ("region", "ids"),
    [
        (Region(processes=(5,), launches=(4, 9)), [6, 7, 8]),
        (Region(include=("gemm",), devices=(2,)), [3, 9]),
        (Region(exclude=("communication",)), [0, 1, 3, 4, 6, 7, 9, 10]),
    ],
)
def test_only_the_region_is_written(region: Region, ids: list[int], table: Profile, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    assert write_launch_parquet(table, region, path).launches == len(ids)
    assert [row[2] for row in rows_of(read(path))] == ids


# --- times that cannot be, of others and as written here ---------------------------------------------------

# The second launch of stream 7 contains the others of it, of other row groups too; one has no start.
STARTS = [100, 200, 210, None, 230, 250, 280, 600]
STREAMS = [7, 7, 8, 7, 7, 7, 7, 7]
RECORDED = [50, 300, 300, 5, 10, 10, 10, 10]
CUT = [50, 30, 300, 5, 10, 10, 10, 10]


def with_times(folder: Path, *, row_group: int = 2, **more: Any) -> Path:
    columns = {"name": [*"abcdefgh"], "duration_ns": RECORDED, "start_ns": STARTS, "stream": STREAMS}
    return written(folder, columns | more, row_group=row_group)


def durations_of(profile: Profile) -> list[int]:
    return [int(each) for each in profile.load(["duration_ns"])["duration_ns"]]


@pytest.mark.parametrize("row_group", [1, 2, 3, 8])
def test_overlong_launches_of_others_are_cut_piece_by_piece(tmp_path: Path, row_group: int) -> None:
    path = with_times(tmp_path, row_group=row_group)
    profile = read(path)
    assert durations_of(profile) == CUT
    facts = RecordingFacts(without_start=1, overlong=1, overlong_ns=270, first_overlong="b")
    assert profile.facts == facts
    assert profile.load(["start_ns"])["start_ns"][3] == NO_START
    kept = read_profile([str(path)], options=ReadOptions(keep_overlong=True))
    assert durations_of(kept) == RECORDED
    assert kept.facts == replace(facts, keeps_overlong=True)
    # Interleaved processes are put in order in memory.
    several = read(with_times(tmp_path, row_group=row_group, process=[0, 1, 1, 1, 1, 1, 1, 0]))
    assert sorted(durations_of(several)) == sorted(CUT)
    assert several.facts == facts


def test_a_start_of_0_far_before_the_others_is_none_and_a_true_one_stays(tmp_path: Path) -> None:
    dates = [10**18, 0, 10**18 + 100, 10**18 + 200, 0, 10**18 + 300, 10**18 + 400, 10**18 + 500]
    for statistics in (True, False):
        columns = {"name": ["k"] * 8, "duration_ns": [5] * 8, "start_ns": dates}
        profile = read(written(tmp_path, columns, write_statistics=statistics))
        assert np.flatnonzero(profile.load(["start_ns"])["start_ns"] == NO_START).tolist() == [1, 4]
        assert profile.facts.without_start == 2
        columns["start_ns"] = [max(each - 10**18, 0) for each in dates]
        assert read(written(tmp_path, columns, write_statistics=statistics)).facts.without_start == 0
    columns["start_ns"] = pa.nulls(8, pa.int64())
    assert "start_ns" not in read(written(tmp_path, columns)).columns


@pytest.mark.parametrize("keep", [False, True])
def test_what_was_converted_is_as_it_was_read_and_not_looked_at_again(
    tmp_path: Path, keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_profile([str(with_times(tmp_path))], options=ReadOptions(keep_overlong=keep))
    path = tmp_path / "converted.parquet"
    write_launch_parquet(whole, Region(), path)
    assert pq.read_table(path)["start_ns"].to_pylist() == STARTS
    with monkeypatch.context() as patch:
        patch.setattr(launch_tables, "look_at_times", None)
        again = read_profile([str(path)], options=ReadOptions(keep_overlong=keep))
        assert (durations_of(again), again.facts) == (RECORDED if keep else CUT, whole.facts)
        # What is cut cannot be had back, and it is said.
        cut = read_profile([str(path)], options=ReadOptions(keep_overlong=True))
        assert cut.facts == whole.facts
    assert durations_of(read(path)) == CUT
    assert read(path).facts == replace(whole.facts, keeps_overlong=False)
    write_launch_parquet(whole, Region(launches=(0, 3)), path)
    assert read(path).facts.without_start == 0


@pytest.mark.parametrize("process", [[0, 0, 1, 1], [0, 1, 0, 1]], ids=["in order", "interleaved"])
def test_a_grid_may_be_a_column_of_numbers(tmp_path: Path, process: list[int]) -> None:
    columns = {"name": ["a"] * 4, "duration_ns": [5, 6, 7, 8], "Grid": [4, 1, 9, 2], "process": process}
    path = written(tmp_path, columns)
    profile = read_profile([str(path)], options=ReadOptions(column_map("grid=Grid")))
    told = {(grid_x, duration, in_process) for _, grid_x, duration, in_process, _ in rows_of(profile)}
    assert told == set(zip(columns["Grid"], columns["duration_ns"], process, strict=True))
