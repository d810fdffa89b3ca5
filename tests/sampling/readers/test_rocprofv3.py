"""rocprofv3's JSON and its SQLite database: both hold the same recording, and are read alike."""

from __future__ import annotations

import gzip
import random
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile.profile import Device, Profile
from sampling.readers import rocprofv3
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from tests.sampling.readers.launches_told import Told, read, refusal_of, told
from tests.sampling.readers.rocpd_file import Called, Dispatched, json_of, write_database, write_json

ADD, COPY = "add(float*, int)", "__amd_rocclr_copyBuffer"
#: As they ended; the copy was called last but dispatched before the second launch of add.
DISPATCHES = (
    Dispatched(1, 3, 9_000, 9_400, (1000, 7, 2), (256, 2, 1), stack=30),
    Dispatched(1, 1, 5_000, 5_064, (512, 128, 1), (256, 1, 1), stack=10),
    Dispatched(2, 2, 8_000, 8_100, (64, 1, 1), (64, 1, 1), stack=20, queue=17),
)
CALLS = (Called(10, 1_000, 1_100), Called(30, 2_000, 2_100), Called(20, 3_000, 3_100))
MARKERS = (
    Called(5, 900, 2_500, "forward"),
    Called(28, 1_900, 2_050, "layer 1"),
    Called(40, 2_950, 3_500, "backward"),
    Called(41, 4_000, 4_000, "an instant"),
)
LAUNCHES = {
    1: Told(28, 0, ADD, 5_000, 64, 16, (2, 128, 1), (256, 1, 1)),
    2: Told(28, 0, COPY, 8_000, 100, 17, (1, 1, 1), (64, 1, 1)),
    3: Told(28, 0, ADD, 9_000, 400, 16, (4, 4, 2), (256, 2, 1)),
}
MI300X = Device(0, "AMD Instinct MI300X", 304, 1 << 37)

Written = Callable[[Sequence[Dispatched], Sequence[Called]], Path]


@pytest.fixture(params=["rocpd", "rocprofv3-json"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Written:
    """Return the writer of one format."""

    def as_database(dispatches: Sequence[Dispatched], calls: Sequence[Called]) -> Path:
        return write_database(tmp_path / "results.db", dispatches, calls)

    def as_json(dispatches: Sequence[Dispatched], calls: Sequence[Called]) -> Path:
        return write_json(tmp_path / "results.json", json_of(dispatches, calls))

    return as_database if request.param == "rocpd" else as_json


def runs(profile: Profile, text: str) -> list[tuple[str, int, int]]:
    found = profile.named_ranges(text)
    assert found is not None
    return [(each.text, each.first_ordinal, each.stop_ordinal) for each in found]


def test_launches_are_in_the_order_of_the_calls(written: Written) -> None:
    profile = read(written(DISPATCHES, CALLS))
    assert told(profile) == [LAUNCHES[number] for number in (1, 3, 2)]
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == ("api-start", 0)
    assert profile.facts.devices == (MI300X,)
    assert profile.kernels.names.mangled(0) == "_Z3addPfi"


def test_without_calls_they_are_in_the_order_of_dispatch(written: Written) -> None:
    profile = read(written(DISPATCHES, ()))
    assert told(profile) == [LAUNCHES[number] for number in (1, 2, 3)]
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == ("correlation", 0)


def test_ranges_that_the_program_named(written: Written) -> None:
    profile = read(written(DISPATCHES, (*CALLS, *MARKERS)))
    assert runs(profile, "forward") == [("forward", 0, 2)]
    assert runs(profile, "layer") == [("layer 1", 1, 2)]
    assert runs(profile, "backward") == [("backward", 2, 3)]
    assert runs(profile, "instant") == []
    assert set(profile.range_names(9)) == {"forward", "layer 1", "backward"}


def test_devices_are_numbered_as_hip_does(written: Written) -> None:
    profile = read(written([DISPATCHES[1], DISPATCHES[0]._replace(agent=3)], ()))
    assert [launch.device for launch in told(profile)] == [0, 1]
    assert [device.device for device in profile.facts.devices] == [0, 1]


def test_several_processes(tmp_path: Path) -> None:
    first, second = DISPATCHES[:1], DISPATCHES[1:]
    database = write_database(tmp_path / "two.db", first)
    write_database(database, second, pid=11, suffix="_00004000_0000")
    document = write_json(tmp_path / "two.json", json_of(first), json_of(second, pid=11))
    expected = [LAUNCHES[1]._replace(process=11), LAUNCHES[2]._replace(process=11), LAUNCHES[3]]
    assert told(read(database)) == told(read(document)) == expected


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_pieces_of_json_meet_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None
) -> None:
    many = [DISPATCHES[n % 3]._replace(number=n, start=10 * n, end=10 * n + 7) for n in range(50)]
    path = write_json(tmp_path / "results.json", json_of(many, MARKERS), indent=indent)
    for size in (1, 7, 50):
        monkeypatch.setattr(rocprofv3, "_RECORDS_AT_ONCE", size)
        assert [launch.start_ns for launch in told(read(path))] == [10 * n for n in range(50)]


@pytest.mark.parametrize("levels", [50, 2_000, 200_000])
def test_how_deep_a_value_lies_does_not_matter(tmp_path: Path, levels: int) -> None:
    path = write_json(tmp_path / "results.json", json_of(DISPATCHES, CALLS))
    nested = f'"operation":1,"more":{"[" * levels}{"]" * levels}'
    path.write_text(path.read_text().replace('"operation":1', nested))
    assert told(read(path)) == [LAUNCHES[stack] for stack in (1, 3, 2)]


def test_without_dispatches(written: Written) -> None:
    error = refusal_of(written((), CALLS))
    assert "without a kernel dispatch" in str(error)
    assert "--kernel-trace" in str(error.remedy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end": 100}, "ends before it starts"),
        ({"end": 0}, "ends before it starts"),
        ({"agent": 9}, "ran on no GPU that is listed"),
    ],
)
def test_a_dispatch_that_can_be_no_launch_is_left_out(
    written: Written, change: dict[str, Any], said: str
) -> None:
    profile = read(written([DISPATCHES[1], DISPATCHES[0]._replace(**change), DISPATCHES[2]], CALLS))
    assert told(profile) == [LAUNCHES[1], LAUNCHES[2]]
    facts = profile.facts
    assert (facts.rows_left_out, facts.first_left_out) == (1, f"row 2: a launch {said}")
    assert (facts.launch_calls, facts.calls_without_kernel) == (3, 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start": None}, "lacks a time or another number"),
        ({"end": None}, "lacks a time or another number"),
        ({"items": (None, 1, 1)}, "lacks a time or another number"),
        ({"items": (-1, 1, 1)}, "has a size below 0"),
    ],
)
def test_what_only_a_database_holds_is_left_out(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    odd = DISPATCHES[0]._replace(**change)
    profile = read(write_database(tmp_path / "results.db", [odd, *DISPATCHES[1:]]))
    assert told(profile) == [LAUNCHES[1], LAUNCHES[2]]
    assert profile.facts.first_left_out == f"row 1: a launch {said}"


def test_a_recording_in_which_no_dispatch_can_be_a_launch(written: Written) -> None:
    error = refusal_of(written([each._replace(end=0) for each in DISPATCHES], ()))
    assert "ends before it starts, the first of 3 rows" in str(error)
    assert error.row == 1


def test_a_launch_without_a_kernel_name_is_kept(written: Written) -> None:
    profile = read(written([DISPATCHES[1], DISPATCHES[0]._replace(kernel=9)], ()))
    assert [launch.name for launch in told(profile)] == [ADD, "(no name)"]


def test_a_recording_without_any_kernel_name_is_refused(written: Written) -> None:
    assert "no kernel name" in str(refusal_of(written([each._replace(kernel=9) for each in DISPATCHES], ())))


@pytest.mark.parametrize("change", [{"start": "soon"}, {"end": 9_400.5}])
def test_a_dispatch_of_a_database_whose_time_is_no_number(tmp_path: Path, change: dict[str, Any]) -> None:
    rows = [DISPATCHES[1], DISPATCHES[2], DISPATCHES[0]._replace(**change)]
    error = refusal_of(write_database(tmp_path / "results.db", rows))
    assert error.row == 3
    assert "rocprofv3" in str(error.remedy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end": None}, "lacks a time or another number"),
        ({"start": "soon"}, "lacks a time or another number"),
        ({"end": 9_400.5}, "lacks a time or another number"),
        ({"items": (None, 1, 1)}, "lacks a time or another number"),
        ({"group": (1 << 40, 1, 1)}, "lacks a time or another number"),
        ({"items": (-1, 1, 1)}, "has a size below 0"),
    ],
)
def test_a_record_of_json_that_is_not_usable_is_left_out(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    rows = [DISPATCHES[1], DISPATCHES[0]._replace(**change), DISPATCHES[2]]
    profile = read(write_json(tmp_path / "results.json", json_of(rows, CALLS)))
    assert told(profile) == [LAUNCHES[1], LAUNCHES[2]]
    assert profile.facts.first_left_out == f"row 2: a launch {said}"


@pytest.mark.parametrize("replayed", [2, 5])
def test_a_dispatch_that_is_replayed_is_one_launch(written: Written, replayed: int) -> None:
    later = [
        each._replace(start=each.start + 10_000 * run, end=each.end + 10_001 * run)
        for each in DISPATCHES
        for run in range(replayed)
    ]
    profile = read(written(later, CALLS))
    assert told(profile) == [*map(LAUNCHES.__getitem__, (1, 3, 2))]
    assert profile.facts.replays == len(DISPATCHES) * (replayed - 1)


def test_dispatches_without_numbers_are_launches_each(written: Written) -> None:
    rows = [each._replace(number=0) for each in (*DISPATCHES, *DISPATCHES)]
    assert read(written(rows, ())).launches == 6


def test_names_that_break_json_are_mended(tmp_path: Path) -> None:
    path = write_json(tmp_path / "results.json", json_of(DISPATCHES))
    for broken in (b"a\x01d(float*, int)", b"a\\d(float*, int)", b"a\xffd(float*, int)"):
        odd = tmp_path / "odd.json"
        odd.write_bytes(path.read_bytes().replace(ADD.encode(), broken, 1))
        assert [each[3:] for each in told(read(odd))] == [each[3:] for each in told(read(path))]


@pytest.mark.parametrize("is_packed", [False, True])
def test_of_json_that_is_cut_short_what_is_whole_is_read(tmp_path: Path, is_packed: bool) -> None:
    whole = write_json(tmp_path / "whole.json", json_of(DISPATCHES, CALLS)).read_bytes()
    before = [launch._replace() for launch in told(read(tmp_path / "whole.json"))]
    path = tmp_path / "results.json"
    ends = [found.end() for found in re.finditer(rb'"stream_id":\{"handle":0\}\}', whole)]
    for end in range(whole.index(b'"kernel_dispatch":['), len(whole) - 1, 7):
        # A stored block is cut where the text is.
        path.write_bytes(gzip.compress(whole, 0)[: end + 15] if is_packed else whole[:end])
        refused = refusal_of(path)
        assert "`partial`" in str(refused.remedy)
        dispatches = sum(each <= end for each in ends)
        if not dispatches:
            with pytest.raises(ProfileError, match="before its first kernel dispatch"):
                read_profile([str(path)], options=ReadOptions(partial=True))
            continue
        profile = read_profile([str(path)], options=ReadOptions(partial=True))
        assert profile.launches == dispatches
        assert {each[3:] for each in told(profile)} <= {each[3:] for each in before}
        assert profile.notes == (
            f"{path}: cut short or damaged, read up to its kernel dispatch {dispatches}",
        )


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        ((), (3, 0)),
        (("hipModuleLaunchKernel", "hipExtModuleLaunchKernel"), (5, 2)),
        (("hipLaunchCooperativeKernelMultiDevice", "hipLaunchKernelExC", "hipDrvLaunchKernelEx"), (6, 3)),
        (("hipFree", "hipGraphLaunch", "hipLaunchHostFunc"), (3, 0)),
        (("hipStreamBeginCapture", "hipLaunchKernel", "hipStreamEndCapture", "hipLaunchKernel"), (4, 1)),
    ],
)
def test_calls_without_a_kernel_are_counted(
    written: Written, names: Sequence[str], counted: tuple[int, int]
) -> None:
    others = [Called(50 + at, 1_500 + at, 1_600, name=name) for at, name in enumerate(names)]
    facts = read(written(DISPATCHES, [*CALLS, *others])).facts
    assert (facts.launch_calls, facts.calls_without_kernel) == counted


def test_a_recording_that_begins_amid_work_ends_amid_work(written: Written) -> None:
    others = [Called(50, 1_500, 1_600), Called(51, 3_500, 3_600)]
    facts = read(written(DISPATCHES, [*CALLS[1:], *others])).facts
    assert (facts.launch_calls, facts.calls_without_kernel) == (4, 1)


def test_views_are_read_where_there_are_no_tables(tmp_path: Path) -> None:
    path = write_database(tmp_path / "results.db", DISPATCHES, CALLS)
    before = told(read(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        for table in tables:
            connection.execute(f"CREATE VIEW {table.partition('_00')[0]} AS SELECT * FROM {table}")
        assert told(read(path)) == before
        for table in tables:
            connection.execute(f"DROP VIEW {table.partition('_00')[0]}")
            connection.execute(f"ALTER TABLE {table} RENAME TO base_{table}")
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM base_{table}")
    assert told(read(path)) == before


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_a_database_of_any_case_and_encoding(tmp_path: Path, encoding: str) -> None:
    path = write_database(tmp_path / "results.db", DISPATCHES, CALLS)
    with closing(sqlite3.connect(path)) as connection:
        statements = [text.replace("rocpd_", "Rocpd_") for text in connection.iterdump()]
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.executescript("\n".join(statements))
    assert told(read(other)) == told(read(path))


def test_records_of_json_that_are_no_list(tmp_path: Path) -> None:
    recording = json_of(DISPATCHES)
    recording["buffer_records"]["kernel_dispatch"] = {"records": []}
    error = refusal_of(write_json(tmp_path / "results.json", recording))
    assert "no list where records stand" in str(error)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([1, 2]),
            st.integers(0, 1 << 60),
            st.integers(0, 1 << 40),
            st.tuples(*[st.integers(1, (1 << 32) - 1)] * 3),
            st.tuples(*[st.integers(1, 1024)] * 3),
            st.integers(2, 3),
            st.integers(0, 99),
        ),
        min_size=1,
        max_size=8,
    ),
    seed=st.integers(0, 99),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("rocprofv3")
    dispatches, launches = [], []
    for number, (kernel, start, duration, items, group, agent, queue) in enumerate(rows):
        dispatches.append(
            Dispatched(kernel, number, start, start + duration, items, group, number, agent, queue)
        )
        grid = tuple(item // size + (item % size > 0) for item, size in zip(items, group, strict=True))
        name = {1: ADD, 2: COPY}[kernel]
        launches.append(Told(28, agent - 2, name, start, duration, queue, grid, group))  # type: ignore[arg-type]
    launches.sort(key=lambda launch: launch.device)
    random.Random(seed).shuffle(dispatches)
    assert told(read(write_database(folder / "results.db", dispatches))) == launches
    assert told(read(write_json(folder / "results.json", json_of(dispatches)))) == launches
