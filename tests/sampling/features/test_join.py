"""Features joined to launches: by id or identity, over the whole profile, and what is said of the rest."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.features.join import JoinReport, with_features
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import Features, LaunchList, list_launches
from sampling.reduction.region import Region
from tests.sampling.features.test_counts import line, vectors

Build = Callable[..., Profile]


def listed(profile: Profile, region: Region | None = None) -> LaunchList:
    """Return the list of the launches that a region selects."""
    return list_launches(profile, count_durations(profile, Grouping(GroupBy.NAME), region))


def joined(
    profile: Profile, *files: Path, region: Region | None = None
) -> tuple[Features, tuple[JoinReport, ...]]:
    """Join files to the selected launches."""
    launches, reports = with_features(profile, listed(profile, region), [str(path) for path in files])
    assert launches.features is not None
    return launches.features, reports


def table_file(folder: Path, rows: Sequence[dict[str, Any]], name: str = "features.csv") -> Path:
    """Write rows as a CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    path = folder / name
    path.write_text(text.getvalue())
    return path


def raw_page(
    folder: Path, launches: Sequence[tuple[int, int, str, str, str, float]], name: str = "raw.csv"
) -> Path:
    """Write an Nsight Compute raw page; a launch is (process, device, name, grid, block, value)."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device", "m"])
    writer.writerow(["", "", "", "", "", "", "inst"])
    for number, (process, device, kernel, grid, block, value) in enumerate(launches):
        writer.writerow([number, process, kernel, block, grid, device, value])
    path = folder / name
    path.write_text("==PROF== Connected\n" + text.getvalue())
    return path


def equal(found: Any, expected: Sequence[float]) -> None:
    """Assert that values are these, NaN included."""
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected, dtype=np.float64))


NAN = float("nan")


def test_ids_are_those_of_the_whole_profile(launch_table: Build, tmp_path: Path) -> None:
    profile = launch_table(["a", "b", "a", "c"], [1, 2, 3, 4])
    path = table_file(
        tmp_path, [{"id": 3, "m": 30}, {"id": 0, "m": 0}, {"id": 2, "m": 20}, {"id": 9, "m": 1}]
    )
    features, (report,) = joined(profile, path, region=Region(launches=(1, None)))
    equal(features.metrics["m"], [NAN, 20, 30])
    assert (report.joined_by, report.rows, report.matched) == ("id", 4, 2)
    assert report.sentence == (
        f"{path} (csv): 2 of 4 rows joined by id; 1 of 3 launches has none, such as launch 1; "
        "1 row of launches that are not selected; 1 row of no launch, such as row 5, id 9"
    )


@pytest.mark.parametrize("rows", [5, 6, 7])
def test_rows_of_an_array_are_those_of_the_whole_profile(
    launch_table: Build, tmp_path: Path, rows: int
) -> None:
    profile = launch_table(["f", "g", "f", "g", "f", "f"], [1] * 6)
    path, region = tmp_path / "v.npy", Region(launches=(2, 5))
    np.save(path, np.arange(2 * rows).reshape(rows, 2))
    if rows == 6:
        features, _ = joined(profile, path, region=region)
        equal(features.metrics["vector_1"], [5, 7, 9])
    else:
        with pytest.raises(ProfileError, match=r"for 6 launches, and only their order .* column id"):
            joined(profile, path, region=region)


def test_occurrences_count_over_the_whole_profile(launch_table: Build, tmp_path: Path) -> None:
    profile = launch_table(["a", "a", "b", "a", "a"], [1, 2, 3, 4, 5], grid_x=[8, 4, 8, 8, 8])
    path = raw_page(
        tmp_path,
        [(99, 0, "a", "(8, 1, 1)", "(8, 1, 1)", value) for value in (10, 11, 12)]
        + [(99, 0, "a", "(4, 1, 1)", "(4, 1, 1)", 13), (99, 0, "b", "(8, 1, 1)", "(8, 1, 1)", 14)],
    )
    everything, (report,) = joined(profile, path)
    equal(everything.metrics["m"], [10, 13, 14, 11, 12])
    assert everything.units == {"m": "inst"}
    assert report.joined_by == "name, grid, block, occurrence"
    later, (report,) = joined(profile, path, region=Region(launches=(3, None)))
    equal(later.metrics["m"], [11, 12])
    assert report.matched == 2
    assert "3 rows of launches that are not selected" in report.sentence
    fewer = raw_page(tmp_path, [(99, 0, "a", "(8, 1, 1)", "(8, 1, 1)", 10)])
    (report,) = joined(profile, fewer)[1]
    assert "1 of 1 kernel has fewer rows than launches: they are taken for the first ones" in report.sentence


def test_a_file_or_profile_without_shapes_joins_by_name(launch_table: Build, tmp_path: Path) -> None:
    shaped = launch_table(["a", "b", "a"], [1, 2, 3], grid_x=[8, 8, 4])
    bare = launch_table(["a", "b", "a"], [1, 2, 3])
    without = table_file(
        tmp_path, [{"name": name, "m": value} for name, value in (("a", 1), ("a", 2), ("b", 3))]
    )
    page = raw_page(
        tmp_path, [(1, 0, "a", "(8, 1, 1)", "(1, 1, 1)", 5), (1, 0, "a", "(4, 1, 1)", "(1, 1, 1)", 6)]
    )
    for profile, path, values in ((shaped, without, [1, 3, 2]), (bare, page, [5, NAN, 6])):
        features, (report,) = joined(profile, path)
        equal(features.metrics["m"], values)
        assert report.joined_by == "name, occurrence"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_the_join_is_that_of_a_dictionary(launch_table: Build, tmp_path: Path, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 25))

    def column(values: Sequence[Any]) -> list[Any]:
        return data.draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))

    process, name, grid = column([5, 9]), column(["a", "b"]), column([2, 4])
    profile = launch_table(name, [1] * size, grid_x=grid, process=process)
    # The program's launches in their order, each with its occurrence; any of them is in the file, shuffled.
    seen: Counter[tuple[int, str, int]] = Counter()
    keys = []
    for key in zip(process, name, grid, strict=True):
        keys.append((*key, seen[key]))
        seen[key] += 1
    kept = data.draw(st.lists(st.sampled_from(range(size)), unique=True, min_size=1))
    rows = []
    for value in kept:
        of, kernel, x, occurrence = keys[value]
        shape = {f"{what}_{axis}": x if axis == "x" else 1 for what in ("grid", "block") for axis in "xyz"}
        rows.append({"process": of, "name": kernel, **shape, "occurrence": occurrence, "m": value})
    features, (report,) = joined(profile, table_file(tmp_path, rows))
    by_id = sorted(range(size), key=lambda place: process[place])
    equal(features.metrics["m"], [place if place in kept else NAN for place in by_id])
    assert report.matched == len(kept)


def sequences(launch_table: Build, *places: tuple[int, int]) -> Profile:
    """Return a profile of two launches of f for each process and device."""
    every = [place for place in places for _ in range(2)]
    processes, devices = zip(*every, strict=True)
    ones = [1] * len(every)
    return launch_table(["f"] * len(every), ones, grid_x=ones, process=processes, device=devices)


def pages(folder: Path, *places: tuple[int, int]) -> Path:
    """Write two launches of f for each process and device; values count on."""
    every = [place for place in places for _ in range(2)]
    return raw_page(
        folder, [(*place, "f", "(1, 1, 1)", "(1, 1, 1)", value) for value, place in enumerate(every)]
    )


@pytest.mark.parametrize(
    ("profile", "file", "values", "said"),
    [
        ([(5, 0), (9, 0)], [(9, 0), (5, 0)], [2, 3, 0, 1], "0 of 4 launches have none"),
        ([(5, 0), (9, 0)], [(9, 0)], [NAN, NAN, 0, 1], "2 of 4 launches have none"),
        ([(5, 0)], [(77, 3)], [0, 1], "0 of 2 launches have none"),
        ([(5, 0), (9, 1)], [(1, 1), (2, 0)], [2, 3, 0, 1], "by device (1:1 is 9:1, 2:0 is 5:0)"),
        ([(5, 0)], [(5, 0), (6, 1)], [0, 1], "2 rows of no launch"),
        ([(5, 0), (9, 0)], [(77, 0), (71, 0)], [2, 3, 0, 1], "in ascending order (71:0 is 5:0, 77:0 is 9:0)"),
    ],
)
def test_processes_are_told_by_their_numbers_by_device_or_in_order(
    launch_table: Build, tmp_path: Path, profile: Any, file: Any, values: list[float], said: str
) -> None:
    features, (report,) = joined(sequences(launch_table, *profile), pages(tmp_path, *file))
    equal(features.metrics["m"], values)
    assert said in report.sentence


def test_what_nothing_tells_apart_is_refused_until_it_is_chosen(launch_table: Build, tmp_path: Path) -> None:
    one = sequences(launch_table, (5, 0))
    for places in (((91, 0), (92, 0)), ((91, 1), (92, 2))):
        with pytest.raises(ProfileError, match=r"rows of 2 processes or devices, .* launches of 1 \(5:0\)"):
            joined(one, pages(tmp_path, *places))
    two = sequences(launch_table, (5, 0), (9, 0))
    for path, values in (
        (pages(tmp_path, (77, 0)), [0, 1]),
        (table_file(tmp_path, [{"name": "f", "m": 4}]), [4, NAN]),
    ):
        with pytest.raises(ProfileError, match=r"launches of 2 \(5:0, 9:0\).*`processes`"):
            joined(two, path)
        features, _ = joined(two, path, region=Region(processes=(9,)))
        equal(features.metrics["m"], values)


def test_as_many_logs_as_processes_go_in_the_order_given(launch_table: Build, tmp_path: Path) -> None:
    profile = sequences(launch_table, (5, 0), (6, 1), (7, 0))
    files = [
        nvbit_log(tmp_path, ("f", 1, count), ("f", 1, count + 1), name=f"{count}.txt")
        for count in (10, 20, 30)
    ]
    blocks = [block_file(tmp_path, ("f", 8 + place, [1]), name=f"{place}.csv") for place in range(3)]
    # The order counts within a format, however the formats are mixed.
    mixed = [files[1], blocks[2], files[0], blocks[0], files[2], blocks[1]]
    features, reports = joined(profile, *mixed)
    equal(features.metrics["instructions"], [20, 21, 10, 11, 30, 31])
    assert features.block_vectors is not None
    assert features.block_vectors.warps.tolist() == [10, 0, 8, 0, 9, 0]
    assert "as file 2 of 3 in the order given" in reports[2].sentence
    assert "as file 3 of 3 in the order given" in reports[5].sentence


def test_a_file_of_something_else_is_an_error_or_a_report(launch_table: Build, tmp_path: Path) -> None:
    profile = sequences(launch_table, (5, 0), (9, 0))
    other = table_file(
        tmp_path, [{"name": "g", "process": process, "m": 1} for process in (5, 9)], "other.csv"
    )
    ids = table_file(tmp_path, [{"id": 7, "m": 1}], "ids.csv")
    unknown = pages(tmp_path, (77, 0))
    fits = table_file(tmp_path, [{"id": 3, "m": 7}], "fits.csv")
    paths = [str(other), str(ids), str(unknown), str(fits)]
    launches, reports = with_features(profile, listed(profile), paths, strict=False)
    assert launches.features is not None
    equal(launches.features.metrics["m"], [NAN, NAN, NAN, 7])
    assert [report.matched for report in reports] == [0, 0, 0, 1]
    assert "0 of 2 rows joined; none of its rows matches a launch: it has 'g'" in reports[0].sentence
    assert "it has id 7, and the profile 4 launches from 'f' on" in reports[1].sentence
    assert "0 of 2 rows joined; has rows of 1 process or device" in reports[2].sentence
    for path in paths[:3]:
        with pytest.raises(ProfileError, match=path):
            with_features(profile, listed(profile), [path])


def nvbit_log(
    folder: Path, *launches: tuple[str, int, int], name: str = "log.txt", skipped: Sequence[int] = ()
) -> Path:
    """Write a log of instr_count; a launch is (name, blocks, instructions). Some may have no line."""
    lines = [line(number, *launch) for number, launch in enumerate(launches) if number not in skipped]
    (folder / name).write_text("".join(lines))
    return folder / name


def test_a_log_with_gaps_is_joined_by_its_numbers(launch_table: Build, tmp_path: Path) -> None:
    names = ["a", "a", "b", "a", "b", "a"]
    profile = launch_table(names, [1] * 6, grid_x=[8, 8, 4, 8, 4, 2])
    rows = list(zip(names, [8, 8, 4, 8, 4, 2], range(10, 16), strict=True))
    features, (report,) = joined(profile, nvbit_log(tmp_path, *rows, skipped=[0, 2]))
    equal(features.metrics["instructions"], [NAN, 11, NAN, 13, 14, 15])
    assert report.joined_by == "the log's own numbers, checked by name and size"
    # The same numbers count from the first launch of the process, wherever that stands in the profile.
    later = launch_table(
        ["z", *names], [1] * 7, grid_x=[1, 8, 8, 4, 8, 4, 2], process=[1] + [2] * 6, device=[0] * 7
    )
    features, _ = joined(later, nvbit_log(tmp_path, *rows, skipped=[0, 2]), region=Region(processes=(2,)))
    equal(features.metrics["instructions"], [NAN, 11, NAN, 13, 14, 15])


@pytest.mark.parametrize("wrong", [("b", 8, 13), ("a", 7, 13)])
def test_numbers_that_one_launch_disagrees_with_are_not_gone_by(
    launch_table: Build, tmp_path: Path, wrong: tuple[str, int, int]
) -> None:
    profile = launch_table(["a", "a", "b", "a", "b"], [1] * 5, grid_x=[8, 8, 4, 8, 4])
    path = nvbit_log(tmp_path, ("a", 8, 10), ("a", 8, 11), ("b", 4, 12), wrong, ("b", 4, 14), skipped=[0])
    features, (report,) = joined(profile, path)
    assert report.joined_by == "name, occurrence"
    assert features.metrics["instructions"][0] == 11
    assert "(kernel 3 is another there), so later launches" in report.sentence


def test_instruction_counts_join_by_name_and_are_checked_by_their_blocks(
    launch_table: Build, tmp_path: Path
) -> None:
    profile = launch_table(["f(float*)", "g", "f(float*)"], [1, 2, 3], grid_x=[8, 4, 2])
    features, (report,) = joined(
        profile, nvbit_log(tmp_path, ("f(float*)", 8, 100), ("g", 5, 7), ("f(float*)", 2, 30))
    )
    equal(features.metrics["instructions"], [100, NAN, 30])
    assert report.joined_by == "name, occurrence"
    assert "1 row left out, whose thread blocks are not as many as the launch's" in report.sentence
    assert features.first_present(("smsp__inst_executed.sum", "instructions")) == "instructions"


def block_file(folder: Path, *launches: tuple[str, int, list[int]], name: str = "bbv.csv") -> Path:
    """Write basic-block vectors; a launch is (name, warps, counts)."""
    (folder / name).write_text(vectors(*launches))
    return folder / name


def test_block_vectors_follow_their_launches(launch_table: Build, tmp_path: Path) -> None:
    profile = launch_table(["f", "g", "f", "h"], [1, 2, 3, 4])
    first = block_file(tmp_path, ("f", 8, [1, 2]), ("f", 4, [3]))
    second = block_file(tmp_path, ("f", 1, [9]), ("g", 16, [5, 6, 7]), name="more.csv")
    features, _ = joined(profile, first, second)
    blocks = features.block_vectors
    assert blocks is not None
    assert blocks.offsets.tolist() == [0, 2, 5, 6, 6]
    assert blocks.counts.tolist() == [1, 2, 5, 6, 7, 3]
    assert blocks.warps.tolist() == [8, 16, 4, 0]
    assert len(features.metrics) == 0


def test_later_files_fill_in_and_what_disagrees_is_noted(launch_table: Build, tmp_path: Path) -> None:
    profile = launch_table(["a", "b", "c"], [1, 2, 3])
    first = table_file(tmp_path, [{"id": 0, "m": 1, "n": 5}, {"id": 1, "m": "", "n": "inf"}], "1.csv")
    second = table_file(tmp_path, [{"id": 0, "m": 7, "n": 5}, {"id": 1, "m": 8}, {"id": 2, "m": 9}], "2.csv")
    features, (one, two) = joined(profile, first, second)
    equal(features.metrics["m"], [1, 8, 9])
    equal(features.metrics["n"], [5, NAN, NAN])
    assert one.sentence.endswith("values that are infinite or beyond 1e+100 count as none: n")
    assert two.sentence.endswith("values of an earlier file, which are others, count: m")
    page = raw_page(tmp_path, [(1, 0, "a", "(1, 1, 1)", "(1, 1, 1)", 5)])
    other = raw_page(tmp_path, [(1, 0, "b", "(1, 1, 1)", "(1, 1, 1)", 5)], "other.csv")
    other.write_text(other.read_text().replace('"inst"', '"cycle"'))
    features, (_, two) = joined(profile, page, other)
    equal(features.metrics["m"], [5, NAN, NAN])
    assert "left out, for an earlier file has them in another unit: m" in two.sentence


def parquet(folder: Path, columns: dict[str, Any], name: str = "p.parquet") -> Path:
    """Write a profile of small row groups."""
    path = folder / name
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_a_profiles_own_columns_are_metrics(tmp_path: Path) -> None:
    columns = {
        "name": ["a", "b", "a", "c", "b"],
        "duration_ns": [1, 2, 3, 4, 5],
        "grid_x": [1, 1, 1, 1, 1],
        "cycles": pa.array([10, None, 30, 40, 50]),
        "note": ["x"] * 5,
        "__index_level_0__": [0, 1, 2, 3, 4],
    }
    profile = read_profile([str(parquet(tmp_path, columns))])
    assert profile.metric_names == ("cycles",)
    features, reports = joined(profile, region=Region(launches=(1, 4)))
    equal(features.metrics["cycles"], [NAN, 30, 40])
    assert reports == ()
    filled, (report,) = joined(
        profile, table_file(tmp_path, [{"id": 1, "cycles": 20}, {"id": 2, "cycles": 31}])
    )
    equal(filled.metrics["cycles"], [10, 20, 30, 40, 50])
    assert "values of an earlier file" in report.sentence


def test_own_metrics_follow_launches_that_had_to_be_put_in_order(tmp_path: Path) -> None:
    columns = {
        "name": ["a"] * 5,
        "duration_ns": [1, 2, 3, 4, 5],
        "process": [1, 0, 1, 0, 1],
        "device": [0, 1, 1, 0, 0],
        "m": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
    profile = read_profile([str(parquet(tmp_path, columns))])
    features, _ = joined(profile)
    equal(features.metrics["m"], [4, 2, 1, 5, 3])


def test_files_of_a_workload_need_not_have_the_same_metrics(tmp_path: Path) -> None:
    one = parquet(tmp_path, {"name": ["a", "b"], "duration_ns": [1, 2], "m": [1, 2], "n": [7, 8]}, "1")
    two = parquet(tmp_path, {"name": ["a"], "duration_ns": [3], "k": [9], "m": [3]}, "2")
    profile = read_profile([str(one), str(two)])
    assert profile.metric_names == ("m", "n", "k")
    features, _ = joined(profile)
    equal(features.metrics["m"], [1, 2, 3])
    equal(features.metrics["n"], [7, 8, NAN])
    equal(features.metrics["k"], [NAN, NAN, 9])
