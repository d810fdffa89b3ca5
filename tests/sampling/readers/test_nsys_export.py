"""nsys exports, whatever they are stored in: every schema, order of launches, facts, and what is refused."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile.profile import Device, KernelTable, LaunchSequence, Profile
from sampling.readers import nsys_folder, nsys_sqlite
from sampling.readers.input_file import open_input
from tests.sampling.readers import nsys_exports as exports
from tests.sampling.readers.launches_told import column, names
from tests.sampling.readers.test_nsys_sqlite import read_row_by_row

Read = Callable[..., Profile]
VERSIONS = ("2020.4", "2022.4", "2023.4", "2026.2")
STORES = {
    "sqlite": "nsys-sqlite",
    "sqlite-row-by-row": "nsys-sqlite",
    "parquetdir": "nsys-parquetdir",
    "arrow-streams": "nsys-arrowdir",
    "arrow-files": "nsys-arrowdir",
}


def read_path(path: Path, progress: Any = None) -> Profile:
    with open_input(str(path)) as file:
        reader = nsys_folder if path.is_dir() else nsys_sqlite
        assert reader.recognise(file)
        return reader.read(file, KernelTable(), progress)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "sqlite-row-by-row":
        read_row_by_row(monkeypatch)
    return str(request.param)


@pytest.fixture
def read(store: str, tmp_path: Path) -> Read:
    """Store an export in one of the ways, and read it."""
    numbers = count()

    def stored(export: Any, progress: Any = None) -> Profile:
        path = tmp_path / f"export {next(numbers)}"
        if store.startswith("sqlite"):
            return read_path(export.sqlite(path.with_suffix(".sqlite")), progress)
        if store == "parquetdir":
            return read_path(export.parquet_folder(path), progress)
        return read_path(export.arrow_folder(path, stream=store == "arrow-streams"), progress)

    return stored


@pytest.mark.parametrize("version", VERSIONS)
def test_every_schema_gives_the_same_launches(version: str, read: Read, store: str) -> None:
    first = exports.Launch(-500, -372, 11, name="void a<(int)4>(int)", short="a", mangled="_Z1aILi4EEvi")
    second = exports.Launch(1000, 1320, 12, stream=100_000, grid=(2_000_000_000, 65535, 3), block=(32, 4, 64))
    calls = [exports.Call(-900, 11), exports.Call(200, 12)]

    profile = read(exports.export(version, [first, second], calls))

    assert profile.format == STORES[store]
    assert column(profile, "duration_ns") == [128, 320]
    assert column(profile, "start_ns") == [-500, 1000]
    assert column(profile, "stream") == [7, 100_000]
    assert names(profile) == ["void a<(int)4>(int)", "void k<float>(float *)"]
    code = column(profile, "name")[0]
    assert profile.kernels.names.short(code) == "a"
    assert profile.kernels.names.mangled(code) == (None if version == "2020.4" else "_Z1aILi4EEvi")
    shapes = [profile.kernels.signature(code) for code in column(profile, "signature")]
    assert [shape.grid for shape in shapes] == [(4, 2, 1), (2_000_000_000, 65535, 3)]
    assert [shape.block for shape in shapes] == [(128, 1, 1), (32, 4, 64)]
    assert profile.sequences == (LaunchSequence(process=100, device=0, launches=2, first_id=0),)
    assert profile.facts.launch_order == "api-start"
    assert profile.facts.api_rows_missing == 0
    product = None if version == "2020.4" else f"NVIDIA Nsight Systems {version}.1"
    assert profile.facts.product == product
    assert [file.launches for file in profile.files] == [2]


def test_one_process_never_takes_the_api_calls_of_another(read: Read) -> None:
    """Both processes count correlation ids from 1; only process 100 has all of its calls."""
    mine = [exports.Launch(100 + i, 200 + 2 * i, 1 + i, pid=100) for i in range(3)]
    other = [exports.Launch(100 + i, 300 + 2 * i, 1 + i, pid=200) for i in range(3)]
    calls = [exports.Call(30 - i, 1 + i, pid=100) for i in range(3)] + [exports.Call(5, 3, pid=200)]
    profile = read(exports.export("2023.4", [*other, *mine], calls))
    assert [each.process for each in profile.sequences] == [100, 200]
    assert column(profile, "duration_ns") == [102, 101, 100, 200, 201, 202]
    assert profile.facts.launch_order == "correlation"
    assert profile.facts.api_rows_missing == 2


def test_name_falls_back_to_mangled_then_short(read: Read) -> None:
    launches = [
        exports.Launch(1, 2, 1),
        exports.Launch(3, 4, 2, name=None),
        exports.Launch(5, 6, 3, name=None, mangled=None),
    ]
    profile = read(exports.export("2026.2", launches))
    assert names(profile) == ["void k<float>(float *)", "_Z1kIfEvPf", "k"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start": None}, "row 4, column start: a launch has no time"),
        ({"end": None}, "row 4, column end: a launch has no time"),
        ({"start": None, "end": None}, "row 4, column start: a launch has no time"),
        ({"end": 0}, "row 4, column end: a launch ends before it starts"),
        ({"start": -(2**63) + 1, "end": 2**62}, "row 4, column end: a launch ends before it starts"),
    ],
)
def test_a_row_that_can_be_no_launch_is_left_out(change: dict[str, Any], said: str, read: Read) -> None:
    launches = [exports.Launch(10 + i, 11 + 2 * i, i) for i in range(6)]
    launches[3] = replace(launches[3], **change)
    profile = read(exports.export("2026.2", launches, [exports.Call(9 - i, i) for i in range(6)]))
    assert column(profile, "duration_ns") == [6, 5, 3, 2, 1]
    assert [file.launches for file in profile.files] == [5]
    facts = profile.facts
    assert (facts.rows_left_out, facts.first_left_out) == (1, said)
    assert (facts.launch_order, facts.api_rows_missing) == ("api-start", 0)
    # Its kernel is there.
    assert (facts.launch_calls, facts.calls_without_kernel) == (6, 0)


def test_an_export_in_which_no_row_can_be_a_launch_is_refused(read: Read) -> None:
    with pytest.raises(ProfileError, match="has no time, the first of 3 rows") as caught:
        read(exports.export("2026.2", [exports.Launch(i, None, i) for i in range(3)]))
    assert (caught.value.row, caught.value.column) == (1, "end")


@pytest.mark.parametrize("absent", ["the string", "the name", "all of its text"])
def test_a_launch_without_a_name_is_kept(absent: str, read: Read) -> None:
    launches = [exports.Launch(0, 1, 0), exports.Launch(2, 3, 1, name="other", short=None, mangled=None)]
    if absent == "the name":
        launches[1] = replace(launches[1], name=None)
    if absent == "all of its text":
        launches[1] = replace(launches[1], name="")
    export = exports.export("2026.2", launches)
    if absent == "the string":
        del export.strings["other"]
    assert names(read(export)) == ["void k<float>(float *)", "(no name)"]


def test_an_export_without_any_name_is_refused(read: Read) -> None:
    export = exports.export("2026.2", [exports.Launch(0, 1, 0)])
    export.strings.clear()
    with pytest.raises(ProfileError, match="no kernel name in the table StringIds"):
        read(export)


# --- calls without a kernel: kernels of process 100 have the correlation ids 1 to 3 ------------------------

THREE = [exports.Launch(100 * i, 100 * i + 9, i) for i in (1, 2, 3)]
CALLED = [exports.Call(10 * i, i) for i in (1, 2, 3)]
BEGIN, END = "cudaStreamBeginCapture_v10000", "cudaStreamEndCapture_v10000"


@pytest.mark.parametrize(
    ("others", "counted"),
    [
        ([], (3, 0)),
        ([exports.Call(5, 9)], (4, 1)),
        ([exports.Call(25, 9), exports.Call(50, 10)], (5, 2)),
        ([exports.Call(25, 2, pid=200)], (4, 1)),
        # What launches a kernel, of CUDA's two interfaces, for whatever stream
        (
            [exports.Call(25, 8, name="cuLaunchKernelEx"), exports.Call(26, 9, name="cudaLaunch_v3020")],
            (5, 2),
        ),
        ([exports.Call(25, 9, name="cudaLaunchCooperativeKernel_ptsz_v9000")], (4, 1)),
        ([exports.Call(25, 9, name="cudaLaunchHostFunc_v10000")], (3, 0)),
        ([exports.Call(25, 9, name="cudaGraphLaunch_v10000"), exports.Call(26, 10, name="cudaFree")], (3, 0)),
        # What was called but launched nothing
        ([exports.Call(25, 9, returned=700)], (3, 0)),
        ([exports.Call(21, 8, name=BEGIN), exports.Call(22, 9), exports.Call(23, 10, name=END)], (3, 0)),
        (
            [exports.Call(21, 8, name=BEGIN), exports.Call(22, 9, thread=7), exports.Call(23, 10, name=END)],
            (3, 0),
        ),
        (
            [
                *(exports.Call(21, 8, name=BEGIN), exports.Call(22, 9, returned=901)),
                *(exports.Call(23, 10, name=END, returned=901), exports.Call(24, 11)),
            ],
            (4, 1),
        ),
        ([exports.Call(5, 9), exports.Call(6, 10, name=END), exports.Call(7, 11)], (4, 1)),
        ([exports.Call(21, 8, pid=7, name=BEGIN), exports.Call(22, 9), exports.Call(23, 10)], (5, 2)),
        # What says neither who called nor which call it is
        ([exports.Call(25, None), exports.Call(26, 9, pid=None), exports.Call(None, 9)], (3, 0)),
    ],
)
def test_calls_without_a_kernel_are_counted(others: list[Any], counted: tuple[int, int], read: Read) -> None:
    facts = read(exports.export("2026.2", THREE, [*CALLED, *others])).facts
    assert (facts.launch_calls, facts.calls_without_kernel) == counted


def test_a_recording_that_begins_amid_work_ends_amid_work(read: Read) -> None:
    """The first launch has no call, and the last calls wait for the GPU; one before them lost its kernel."""
    calls = [*CALLED[1:], exports.Call(25, 8), exports.Call(40, 9), exports.Call(50, 10)]
    other = [exports.Launch(500, 509, 1, pid=200)]
    called = [exports.Call(30, 1, pid=200), exports.Call(31, 2, pid=200)]
    facts = read(exports.export("2026.2", [*THREE, *other], [*calls, *called])).facts
    assert facts.api_rows_missing == 1
    assert (facts.launch_calls, facts.calls_without_kernel) == (7, 2)


@pytest.mark.parametrize("lost", [{"pid": None}, {"correlation": None}])
def test_calls_are_not_counted_where_a_launch_may_be_of_any(lost: dict[str, None], read: Read) -> None:
    facts = read(exports.export("2026.2", [replace(THREE[0], **lost), *THREE[1:]], CALLED)).facts
    assert (facts.launch_calls, facts.calls_without_kernel) == (0, 0)


GPU = "vmId id name smCount totalMemory cuDevice?"


def test_devices_are_found_under_the_numbering_of_their_process(read: Read) -> None:
    launches = [exports.Launch(1, 2, 1, pid=100), exports.Launch(3, 4, 1, pid=200)]
    export = exports.export("2026.2", launches)
    gpus = [(0, 5, "A", 80, 1 << 34, 0), (0, 6, "B", 90, 1 << 35, 1), (0, 7, "C", 1, 1, 2)]
    export.add("TARGET_INFO_GPU", GPU, *gpus)
    export.add("TARGET_INFO_CUDA_DEVICE", "gpuId? cudaId pid", (6, 0, 100), (5, 0, 200), (7, 1, 200))
    assert read(export).facts.devices == (
        Device(0, "B", 90, 1 << 35, process=100),
        Device(0, "A", 80, 1 << 34, process=200),
    )


def test_devices_by_cuda_number_then_by_id(read: Read) -> None:
    export = exports.export("2023.4", [exports.Launch(1, 2, 1, device=1)])
    export.add("TARGET_INFO_GPU", GPU, (0, 1, "by id", 1, 1, 0), (0, 0, "by number", 2, 2, 1))
    assert read(export).facts.devices == (Device(1, "by number", 2, 2),)
    export.add("TARGET_INFO_GPU", GPU, (0, 1, "by id", None, None, None), (0, 0, "other", None, None, None))
    assert read(export).facts.devices == (Device(1, "by id", None, None),)
    export.add("TARGET_INFO_GPU", GPU, (0, 1, None, None, None, None))
    assert read(export).facts.devices == ()


GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"


def graph_level(evidence: str) -> Any:
    calls = [exports.Call(i, i, name="cudaGraphLaunch_v10000") for i in range(3)]
    if evidence == "replays":
        return exports.export("2023.4", []).add(
            GRAPH_TRACE, "start end graphId", *[(i, i, 1) for i in range(3)]
        )
    key = f"{evidence}CUDA_GRAPH_TRACE_OPTIONS:MODE"
    calls.append(exports.Call(9, 9, name="cudaMalloc_v3020"))
    return exports.export("2026.2", [], calls).add("META_DATA_CAPTURE", "name value?", (key, "Graph"))


@pytest.mark.parametrize("evidence", ["replays", "", "PROCESS_0:"])
def test_graph_level_tracing_is_diagnosed(evidence: str, read: Read) -> None:
    with pytest.raises(ProfileError, match="recorded with graph-level tracing") as caught:
        read(graph_level(evidence))
    assert "--cuda-graph-trace=node" in str(caught.value.remedy)


@pytest.mark.parametrize(("calls", "reason"), [(2, "no kernel launches"), (0, "no CUDA tables at all")])
def test_an_export_without_kernels_is_diagnosed(calls: int, reason: str, read: Read) -> None:
    export = exports.export("2023.4", [], [exports.Call(call, call) for call in range(calls)])
    export.string("a text")
    with pytest.raises(ProfileError, match=reason) as caught:
        read(export)
    assert "nsys profile --trace=cuda" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("traced", "said"),
    [
        ("true", "at all, though CUDA was traced"),
        ("false", "at all: CUDA was not traced"),
        (None, "at all: CUDA was not traced, or the program used no GPU"),
    ],
)
def test_an_export_says_whether_cuda_was_traced(traced: str | None, said: str, read: Read) -> None:
    export = exports.export("2020.4", [])
    export.string("a text")
    export.add("META_DATA_CAPTURE", "name value?", ("PROCESS_0:COLLECT_CUDA_TRACE", traced), ("RATE", "1"))
    with pytest.raises(ProfileError) as caught:
        read(export)
    assert str(caught.value.message).endswith(said)


DIAGNOSTICS = ("DIAGNOSTIC_EVENT", "timestamp timestampType source severity text globalPid?")


@pytest.mark.parametrize("calls", [0, 2])
def test_what_nsys_warned_of_is_quoted(calls: int, read: Read) -> None:
    """Errors first, and only of CUDA; no path, host, user or command line in it."""
    export = exports.export("2020.4", [], [exports.Call(call, call) for call in range(calls)])
    export.string("a text")
    private = [("PROCESS_0:USER_NAME", "ada"), ("DEVICE_DISPLAY_NAME", "gpu-node 7"), ("RATE", "CUDA")]
    export.add("META_DATA_CAPTURE", "name value?", ("COLLECT_CUDA_TRACE", "true"), *private)
    warned = [
        (2, "No CUDA events collected. \n Does the process use CUDA?"),
        (2, "No CUDA events collected. \n Does the process use CUDA?"),
        (2, "No NVTX events collected."),
        (1, "CUDA injection initialized successfully."),
        (4, "CUDA trace is verbose"),
        (
            3,
            "CUPTI of '/home/ada/my app --key=9' on gpu-node 7 (10.0.0.7, n7.lab.org) of ada@lab: T=1 x",
        ),
    ]
    export.add(*DIAGNOSTICS, *((0, 1, 1, severity, text, None) for severity, text in warned))
    with pytest.raises(ProfileError) as caught:
        read(export)
    quoted = (
        'nsys says: "CUPTI of ... on ... (..., ...) of ... ... x" '
        '"No CUDA events collected. Does the process use CUDA?"'
    )
    assert str(caught.value.message).endswith(quoted)


def test_a_driver_that_nsys_does_not_know_asks_for_a_newer_one(read: Read) -> None:
    export = exports.export("2020.4", [], [exports.Call(1, 1)])
    text = "Installed CUDA driver version (13.3) is not supported by this build of Nsight Systems."
    export.add(*DIAGNOSTICS, (0, 1, 1, 2, text, None))
    with pytest.raises(ProfileError, match=r"driver version \(13.3\) is not supported") as caught:
        read(export)
    assert "a newer Nsight Systems" in str(caught.value.remedy)


rows = st.lists(
    st.tuples(
        st.sampled_from([100, 200]),
        st.sampled_from([0, 1]),
        st.none() | st.sampled_from([1, 2, 3, 70_000, 2**32 - 1]) | st.integers(1, 40),
        # 0 may stand for a start that was not recorded.
        st.integers(-50, -1) | st.integers(1, 50),
    ),
    min_size=1,
    max_size=30,
)
call_rows = st.lists(
    st.tuples(
        st.sampled_from([100, 200, 300]), st.integers(1, 40) | st.just(2**32 - 1), st.integers(-90, 90)
    ),
    max_size=60,
)


@given(rows=rows, call_rows=call_rows)
def test_order_agrees_with_a_plain_join(rows: Any, call_rows: Any) -> None:
    """Within each process: API start if all have one, else correlation, else GPU start; ties by GPU start."""
    launches = [exports.Launch(s, s + n, c, p, d, stream=n) for n, (p, d, c, s) in enumerate(rows)]
    export = exports.export("2026.2", launches, [exports.Call(s, c, pid=p) for p, c, s in call_rows])
    starts: dict[tuple[int, int | None], int] = {}
    for process, correlation, start in call_rows:
        starts[process, correlation] = min(start, starts.get((process, correlation), start))

    def key(launch: Any) -> tuple[int, ...]:
        own = [each for each in launches if each.pid == launch.pid]
        if all((each.pid, each.correlation) in starts for each in own):
            order = starts[launch.pid, launch.correlation]
        elif all(each.correlation is not None for each in own):
            order = launch.correlation
        else:
            order = launch.start
        return (launch.pid, launch.device, order, launch.start)

    with tempfile.TemporaryDirectory() as folder:
        profile = read_path(export.sqlite(Path(folder) / "x.sqlite"))
    wanted = sorted(launches, key=key)
    assert column(profile, "duration_ns") == [each.end - each.start for each in wanted]
    missing = sum((each.pid, each.correlation) not in starts for each in launches)
    assert profile.facts.api_rows_missing == missing


# --- NVTX ranges: kernel i of process 100 is called at 10 i ------------------------------------------------

NVTX = "start? end? eventType text? textId? globalTid?"


def five_launches(*, pid: int = 100, device: int = 0) -> tuple[list[Any], list[Any]]:
    launches = [exports.Launch(1000 + i, 1001 + i, i, pid=pid, device=device) for i in range(5)]
    return launches, [exports.Call(10 * i, i, pid=pid) for i in range(5)]


def ranges(profile: Profile, text: str) -> list[tuple[str, int, int, int]] | None:
    found = profile.named_ranges(text)
    if found is None:
        return None
    return [(each.text, each.sequence, each.first_ordinal, each.stop_ordinal) for each in found]


@pytest.mark.parametrize("version", VERSIONS)
def test_ranges_hold_the_launches_whose_calls_began_in_them(version: str, read: Read) -> None:
    export = exports.export(version, *five_launches())
    other_thread = exports.global_pid(100) + 9
    export.add(
        "NVTX_EVENTS",
        NVTX,
        (0, 20, 59, "step 1", None, other_thread),
        (35, None, 60, "to the end", None, other_thread),
        (20, 41, 60, None, export.string("step 2"), other_thread),
        (20, 30, 59, None, export.string("forward"), other_thread),
        (41, 99, 59, "late", None, other_thread),
        (0, 99, 34, "a mark", None, other_thread),
        (0, 99, 34, None, export.string("step 2"), other_thread),
        (0, None, 75, "step domain", None, other_thread),
        (0, 99, 59, "of another process", None, exports.global_pid(200)),
        (0, 99, 59, "of none", None, None),
        (0, 99, 59, None, None, other_thread),
        (None, 99, 59, "without a start", None, other_thread),
    )
    profile = read(export)
    assert ranges(profile, "step") == [("step 1", 0, 0, 2), ("step 2", 0, 2, 5)]
    assert ranges(profile, "forward") == [("forward", 0, 2, 3)]
    assert ranges(profile, "to the end") == [("to the end", 0, 4, 5)]
    assert ranges(profile, "late") == ranges(profile, "mark") == ranges(profile, "of") == []
    assert len(ranges(profile, "") or ()) == 4
    assert profile.range_names(3) == ("step 1", "step 2", "forward")
    assert "a mark" not in profile.range_names(99)


@pytest.mark.parametrize("table", ["CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS"])
def test_launches_of_a_graph_have_the_operators_of_its_capture(table: str, read: Read) -> None:
    """Node 3 is a copy of 2, and 4 of 3; of 9 and of the other process nothing is told. A row is left out."""
    nodes = [(100, 1), (100, 3), (100, 4), (100, 9), (100, None), (200, 1)]
    launches = [
        exports.Launch(1000 + 10 * at, 1005 + 10 * at, 7 + at, pid=pid, node=node)
        for at, (pid, node) in enumerate(nodes)
    ]
    calls = [exports.Call(60 + at, 7 + at, pid=launch.pid) for at, launch in enumerate(launches)]
    launches.insert(1, exports.Launch(1000, None, 99, node=4))
    export = exports.export("2026.2", launches, calls)
    thread, other = (exports.global_pid(pid) + 1 for pid in (100, 200))
    named = [("mm", 0, 10), ("add", 10, 20), ("instantiate", 25, 40), ("replay", 50, 80)]
    ranges = [(start, end, 59, text, None, of) for text, start, end in named for of in (thread, other)]
    export.add("NVTX_EVENTS", NVTX, *ranges)
    made = [(5, 1, None), (15, 2, None), (30, 3, None), (31, 3, 2), (32, 4, None), (33, 4, 3), (34, None, 1)]
    export.add(table, "start graphNodeId? originalGraphNodeId? globalTid", *((*row, thread) for row in made))
    if table != "CUDA_GRAPH_EVENTS":
        export.add("CUDA_GRAPH_EVENTS", "start graphId globalTid", (1, 1, thread))
    profile = read(export)
    codes = column(profile, "operator")
    texts = profile.kernels.operators()[0]
    assert [texts[code] for code in codes] == ["mm", "add", "add", "replay", "replay", "replay"]


def test_nodes_of_graphs_that_cannot_be_read(read: Read) -> None:
    """Without the process of its launches no node is anybody's; a node that is text is damage."""
    node = ("CUDA_GRAPH_NODE_EVENTS", "start graphNodeId? originalGraphNodeId? globalTid")
    export = exports.export("2026.2", [exports.Launch(50, 60, 1, node=1)], [exports.Call(40, 1)])
    export.add("NVTX_EVENTS", NVTX, (0, 90, 59, "all", None, exports.global_pid(100)))
    damaged = read(export.add(*node, (5, "x", None, exports.global_pid(100))))
    with pytest.raises(ProfileError, match="holds something else than integers"):
        damaged.load(["operator"])
    export.add(*node, (5, 1, None, exports.global_pid(100)))
    columns, rows = export.tables["CUPTI_ACTIVITY_KIND_KERNEL"]
    at = [name.rstrip("?") for name in columns].index("globalPid")
    kept = [(*row[:at], *row[at + 1 :]) for row in rows]
    export.tables["CUPTI_ACTIVITY_KIND_KERNEL"] = ((*columns[:at], *columns[at + 1 :]), kept)
    profile = read(export)
    assert profile.kernels.operators()[0] == []
    assert len(column(profile, "operator")) == 1
    assert profile.kernels.operators()[0] == [""]


def test_what_a_kernel_launches_from_the_device_lies_in_it_rightly(tmp_path: Path) -> None:
    launches = [exports.Launch(100, 900, 1), exports.Launch(200, 300, 1), exports.Launch(400, 500, 1)]
    path = exports.export("2026.2", [*launches, exports.Launch(1000, 1100, 2)]).sqlite(tmp_path / "x.sqlite")
    profile = read_path(path)
    assert (column(profile, "duration_ns"), profile.facts.overlong) == ([100, 100, 100, 100], 1)
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN parentGridId INTEGER")
        database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET parentGridId = 9 WHERE start IN (200, 400)")
        database.commit()
    profile = read_path(path)
    assert column(profile, "duration_ns") == [800, 100, 100, 100]
    assert profile.facts.overlong == 0
