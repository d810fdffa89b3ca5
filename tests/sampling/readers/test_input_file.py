"""What is read and what is not: files, pipes, folders of profiles, and what is no profile."""

from __future__ import annotations

import gc
import gzip
import io
import json
import lzma
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.profile.profile import Profile
from sampling.readers import input_file
from sampling.readers.input_file import ReadOptions, decoded, open_input, pieces, whole_lines
from sampling.readers.registry import read_profile
from sampling.simulators.measured_run import LinesSoFar
from tests import small_recordings

PIPIT_HEADER = (
    "Name,streamId,type,bytes,Trace Type,Event Type,Timestamp (ns),_matching_event,_matching_timestamp,"
    "_depth,_parent,_children\n"
)


def through_a_pipe(tmp_path: Path, content: bytes) -> Profile:
    """Read a profile from a named pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    try:
        return read_profile([str(pipe)])
    finally:
        writer.join()


def test_a_device_is_not_read_without_end() -> None:
    with pytest.raises(ProfileError, match="/dev/zero: a device, which has no end"):
        read_profile(["/dev/zero"])
    with pytest.raises(ProfileError, match="/dev/null: an empty file"):
        read_profile(["/dev/null"])


def test_a_pipe_that_nobody_writes_to_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sampling.readers.input_file._WAITED_SECONDS", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ProfileError, match=r"pipe: cannot be read \(nobody has opened this pipe for writing"):
        read_profile([str(tmp_path / "pipe")])


def test_who_has_opened_a_pipe_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampling.readers.input_file._WAITED_SECONDS", 0.01)
    os.mkfifo(pipe := tmp_path / "pipe")
    # Opened for both, so that it is open before anybody reads.
    handle = os.open(pipe, os.O_RDWR)
    writer = threading.Timer(0.2, lambda: (os.write(handle, b"name,duration_ns\na,1\n"), os.close(handle)))
    writer.start()
    with open_input(str(pipe)) as file:
        assert file.head == b"name,duration_ns\na,1\n"
    writer.join()


def test_standard_input_that_is_a_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/zero").open() as endless:
        monkeypatch.setattr("sys.stdin", endless)
        with pytest.raises(ProfileError, match="-: a device, which has no end"), open_input("-"):
            pass
    with Path(os.devnull).open() as empty:
        monkeypatch.setattr("sys.stdin", empty)
        with open_input("-") as file:
            assert file.head == b""


def test_a_pipe_loses_nothing(tmp_path: Path) -> None:
    """More than the 64 KiB that a file is recognised by."""
    rows = [
        f"kernel,7,kernel,,gpu_trace,Enter,{start},{start},{start + 10},0,,\n"
        for start in range(0, 300_000, 100)
    ]
    profile = through_a_pipe(tmp_path, (PIPIT_HEADER + "".join(rows)).encode())
    assert profile.launches == len(rows)
    assert profile.files[0].sha256 is not None


def test_ranges_come_through_a_pipe(
    tmp_path: Path, sample_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read when they are asked for; the pipe's copy is there till then, and no longer."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    database = tmp_path / "annotated.sqlite"
    shutil.copy(sample_data / "resnet50-like.sqlite", database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid)")
        connection.execute(
            "INSERT INTO NVTX_EVENTS SELECT MIN(start), MAX(start), 59, 'all but the last', globalTid "
            "FROM CUPTI_ACTIVITY_KIND_RUNTIME "
            "WHERE correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL)"
        )
    profile = through_a_pipe(tmp_path, database.read_bytes())
    (found,) = profile.named_ranges("all") or ()
    assert (found.first_ordinal, found.stop_ordinal) == (0, profile.launches - 1)
    assert len(list(tmp_path.glob("kernelpoint-*"))) == 1
    del profile
    assert not list(tmp_path.glob("kernelpoint-*"))


def test_the_copy_of_a_pipe_in_a_cycle_of_objects_goes_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(b"text"))
    with open_input(str(packed)) as file:
        held: list[object] = [file.decompressed_copy()]
    held.append(held)
    assert len(list(tmp_path.iterdir())) == 2
    del held
    with warnings.catch_warnings(record=True, action="always") as said:
        gc.collect()
    assert (said, list(tmp_path.iterdir())) == ([], [packed])


def test_each_file_names_its_own_devices(sample_data: Path) -> None:
    """Both files have a device 0, which need not be one GPU."""
    paths = [str(sample_data / name) for name in ("resnet50-like.sqlite", "gpt2-like.json.gz")]
    workload = read_profile(paths)
    assert {device.process for device in workload.facts.devices} == {4242, 0}


TEXT = "".join(f"{random.Random(line).random()},{line}\n" for line in range(400_000)).encode()


class CancelledError(Exception):
    """Of this test."""


@pytest.mark.parametrize(
    "pack", [bytes, lambda text: gzip.compress(text, 1), lambda text: lzma.compress(text, preset=0)]
)
@pytest.mark.parametrize("read", [LinesSoFar, lambda file: (piece for _, piece in pieces(file))])
def test_the_bytes_are_the_same_and_the_place_is_told(
    tmp_path: Path, read: object, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(TEXT))
    told: list[tuple[int, int, str]] = []
    with open_input(str(path)) as file:
        content = b"".join(read(replace(file, progress=lambda *given: told.append(given))))  # type: ignore[operator]
    assert content == TEXT
    places = [place for place, _, _ in told]
    assert places == sorted(places)
    assert len(set(places)) > 2
    assert places[-1] == path.stat().st_size
    assert {tuple(rest) for _, *rest in told} == {(path.stat().st_size, f"reading {path}")}


@pytest.mark.parametrize("packed", [False, True])
def test_what_tells_can_cancel(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT, 1) if packed else TEXT)

    def cancel(done: int, *_: object) -> None:
        if done:
            raise CancelledError

    with open_input(str(path)) as file, pytest.raises(CancelledError):
        list(LinesSoFar(replace(file, progress=cancel)))


# --- a folder of profiles, one a rank, is one workload ---------------------------------------------------


def table(folder: Path, name: str, launches: int = 1) -> Path:
    path = folder / name
    path.write_text("name,duration_ns\n" + "k,5\n" * launches)
    return path


def names(profile: Profile) -> list[str]:
    return [Path(file.path).name for file in profile.files]


def test_each_file_is_a_process_and_they_are_counted_as_people_count(tmp_path: Path) -> None:
    for rank in (10, 2, 1):
        table(tmp_path, f"rank{rank}.csv", rank)
    profile = read_profile([str(tmp_path)])
    assert names(profile) == ["rank1.csv", "rank2.csv", "rank10.csv"]
    assert [(each.process, each.launches) for each in profile.sequences] == [(1, 1), (2, 2), (10, 10)]
    assert profile.notes == ()
    # As if each had been given by name.
    given = read_profile([str(tmp_path / name) for name in names(profile)])
    assert profile.files == given.files
    assert profile.sequences == given.sequences


def test_what_is_no_profile_is_left_out_and_told(tmp_path: Path) -> None:
    table(tmp_path, "rank0.csv")
    table(tmp_path, "rank1.csv")
    (tmp_path / "job.log").write_text("it ran\n")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / ".hidden.csv").write_text("name,duration_ns\nk,5\n")
    (tmp_path / "gone").symlink_to("nowhere")
    simulated = tmp_path / "traces"
    simulated.mkdir()
    (simulated / "kernelslist.g").touch()
    table(simulated, "rank2.csv")
    profile = read_profile([str(tmp_path)])
    assert names(profile) == ["rank0.csv", "rank1.csv"]
    (note,) = profile.notes
    assert "2 profiles are read as one workload; left out: gone, job.log, other.csv, traces (" in note


def test_folders_within_are_looked_into_and_say_ranks_too(tmp_path: Path) -> None:
    for node, rank in ((1, 5), (0, 12)):
        folder = tmp_path / f"node{node}" / f"Rank-{rank}"
        folder.mkdir(parents=True)
        table(folder, "trace.csv", rank)
    profile = read_profile([str(tmp_path)])
    assert [(each.process, each.launches) for each in profile.sequences] == [(12, 12), (5, 5)]
    # Two files of one rank do not say which process is which.
    table(folder, "another.csv")
    assert [each.process for each in read_profile([str(tmp_path)]).sequences] == [0, 1, 2]


def test_ranks_in_paths_of_another_form_are_found_as_the_user_says(tmp_path: Path) -> None:
    """What `nsys profile -o report_%q{SLURM_PROCID}` writes, two recordings of each rank."""
    for rank, start in ((7, 50), (12, 60), (7, 10)):
        path = tmp_path / f"job9_report_{rank}.{start}.csv"
        path.write_text(f"name,duration_ns,start_ns\nk,5,{start}\n")
    profile = read_profile([str(tmp_path)], options=ReadOptions(rank_regex=r"report_(\d+)"))
    assert [(each.place, each.launches) for each in profile.sequences] == [
        ("rank 7 device 0", 2),
        ("rank 12 device 0", 1),
    ]
    assert profile.load(("start_ns",))["start_ns"].tolist() == [10, 50, 60]
    assert {each.owner for each in read_profile([str(tmp_path)]).sequences} == {
        *(f"process {number}" for number in range(3))
    }


@pytest.mark.parametrize(
    ("rank_regex", "message"),
    [
        ("report_(", r"is no regular expression: missing \)"),
        (r"report_\d+", "has no group that is the rank; put the rank into parentheses"),
        (r"report_(\d+)", r"finds no rank in .*other\.csv"),
        (r"r(x)?eport|other", r"finds no rank in .*report_1\.csv"),
    ],
)
def test_a_rank_that_is_not_found_is_refused(tmp_path: Path, rank_regex: str, message: str) -> None:
    files = [str(table(tmp_path, name)) for name in ("report_1.csv", "other.csv")]
    with pytest.raises(OptionError, match=message):
        read_profile(files, options=ReadOptions(rank_regex=rank_regex))


def test_ranks_that_a_run_has_and_nobody_gave_are_told(sample_data: Path) -> None:
    some = [str(sample_data / "recorded" / "h100-gpt-ranks" / f"rank{rank}.json.gz") for rank in (3, 1)]
    profile = read_profile(some)
    assert [each.process for each in profile.sequences] == [3, 1]
    assert profile.notes == ("2 ranks are read of a run of 4: 1, 3",)
    assert read_profile([str(sample_data / "recorded" / "h100-gpt-ranks")]).notes == ()


def test_one_recording_counts_once(tmp_path: Path) -> None:
    """Its report, its export and what was made of it may all lie there."""
    export = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    stem = export.stem
    (tmp_path / f"{stem}.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    shutil.copy(small_recordings.nsys_csv(tmp_path, "2023.4"), tmp_path / f"{stem}_cuda_gpu_trace.csv")
    (tmp_path / "rank1.csv.gz").write_bytes(gzip.compress(table(tmp_path, "rank1.csv").read_bytes()))
    profile = read_profile([str(tmp_path)])
    assert names(profile) == ["rank1.csv", export.name]
    (note,) = profile.notes
    assert "rank1.csv.gz" in note
    assert f"{stem}_cuda_gpu_trace.csv" in note


def test_a_damaged_profile_is_not_left_out(tmp_path: Path) -> None:
    """A workload without one of its ranks would be another one."""
    table(tmp_path, "rank0.csv")
    whole = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    whole.write_bytes(whole.read_bytes()[:5000])
    with pytest.raises(ProfileError) as caught:
        read_profile([str(tmp_path)])
    assert caught.value.path == str(whole)


@pytest.mark.parametrize("content", [{}, {"a.txt": "notes\n"}, {"b.csv": "a,b\n1,2\n"}])
def test_nothing_to_read(tmp_path: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ProfileError) as caught:
        read_profile([str(tmp_path)])
    assert "nothing is a profile" in caught.value.message


# --- what is no profile is named, and the way to a profile is shown --------------------------------------


CHATTER = "Processing [x.sqlite] with [/opt/nvidia/reports/x.py]... \n"
API_TRACE = (
    "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n1,2,cudaMalloc,0,1,5,5,20,x\n"
)
NVTX_TRACE = (
    "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,"
    "ParentId,RangeStack,NameTree\n1,3,2,0,2,main,5,5,0,0,1,,:1,main\n"
)

_ROCM, _KERNELS = "what ROCm's profilers write", "rocprofv3 --kernel-trace"
FILES: list[tuple[str, str | bytes, str, str]] = [
    ("empty.csv", "", "an empty file", "again"),
    ("kernels.ncu-rep", b"NVR\0\1\2", "an Nsight Compute report", "nsys profile"),
    (
        "sum.csv",
        CHATTER + "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Name\n9,9,1,9,9,k\n",
        "an nsys report of something other than kernel launches",
        "nsys stats --report cuda_gpu_trace --format csv",
    ),
    ("api.csv", CHATTER + API_TRACE, "an nsys report of something other", "nsys export --type sqlite"),
    ("nvtx.csv", "\ufeff" + NVTX_TRACE, "an nsys report of something other", "nsys export --type sqlite"),
    (
        "skipped.csv",
        CHATTER + "SKIPPED: x.sqlite does not contain CUDA kernel data.\n\n",
        "an `nsys stats` output without a report in it",
        "nsys profile --trace cuda",
    ),
    (
        "column.txt",
        CHATTER + "\n ** CUDA GPU Trace (cuda_gpu_trace):\n\n Start (ns)  Duration (ns)  Name\n",
        "printed as text or JSON, not CSV",
        "--format csv",
    ),
    ("t.json", '[{"Start (ns)":1,"Duration (ns)":2,"Name":"k"}]', "printed as text or JSON, not CSV", "csv"),
    (
        "ncu.csv",
        '==PROF== Connected to process 1\n"ID","Process ID","Process Name","Kernel Name"\n"0","1","a","k"\n',
        "an Nsight Compute CSV without gpu__time_duration.sum or sm__cycles_elapsed.max",
        "--metrics gpu__time_duration.sum",
    ),
    ("c.csv", "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,SQ_WAVES,8\n", _ROCM, _KERNELS),
    ("s.csv", '"Name","Calls","TotalDurationNs","AverageNs"\n"k",2,8,4.0\n', _ROCM, _KERNELS),
    ("r.csv", '"Index","KernelName","gpu-id","queue-id","grd","wgr"\n0,k,0,0,1,1\n', _ROCM, "--timestamp on"),
    ("plan.json", '{"schema": 1, "kind": "plan", "strata": []}', "a plan written by kernelpoint", "profile"),
    ("kernelslist.g", "MemcpyHtoD,0x7f00,4096\nkernel-1.traceg\n", "kernel-1.traceg is not there", "beside"),
    (
        "stats.csv",
        "kernel id, kernel mangled name, grid_dimX\nkernel-1.trace, _Z1aPf, 4\n",
        "without durations",
        "nsys profile",
    ),
    ("rank0.h5", b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file, as `nsys export", "nsys export --type sqlite"),
    (
        "rank0.jsonl",
        '{"Type":48,"CudaEvent":{"startNs":"1"}}\n{"Type":48,"CudaEvent":{"startNs":"2"}}\n',
        "JSON lines",
        "nsys export --type sqlite",
    ),
    ("one.jsonl", '{"Type": 48, "CudaEvent": {"startNs": "1"}}\n', "JSON lines", "nsys export --type sqlite"),
    ("a.pftrace", b"\n\x04\x40\x01\x50\x01" * 40, "a Perfetto trace", _KERNELS),
    (
        "b.pftrace",
        b"\n\x02\x40\x01" + b"\n\x80\x08" + bytes(1024) + b"\n\xff\x0f" + bytes(99),
        "a Perf",
        _KERNELS,
    ),
    (
        "v.xplane.pb",
        b"\n\xaf\x10\x08\x01\x12\x09/host:CPU\x1a\x04\0\0\0\0",
        "an XSpace (xplane.pb)",
        "pip install xprof",
    ),
    (
        "w.xplane.pb",
        b"\n\x7f\x12\x0d/device:GPU:0\x1a\x04\0\0\0\0",
        "an XSpace (xplane.pb)",
        "trace_viewer', {})[0]",
    ),
    (
        "rank.0.et",
        b"\x07\n\x050.0.4\x12\x08\x01\x12\x04main",
        "an execution trace (Chakra)",
        "torch.profiler",
    ),
    (
        "et.json",
        '{\n  "schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "now", "start_ts": 5,\n  "nodes": []}',
        "an execution trace (Chakra)",
        "torch.profiler",
    ),
    (
        "proton.hatchet",
        '[{"children": [], "frame": {"name": "ROOT", "type": "function"}, "metrics": {"time (ns)": 5}}]',
        "sums over calls in Hatchet's format",
        'proton.start(NAME, data="trace")',
    ),
    (
        "sorted.hatchet",
        '[{"metrics": {"time (ns)": 5}, "children": [], "frame": {"type": "function", "name": "ROOT"}}]',
        "sums over calls in Hatchet's format",
        'proton.start(NAME, data="trace")',
    ),
    ("metrics-4.csv", "where,what,value,unit\nDriver,kernel_time,0.00002,s\n", "MGPUSim's metrics", _KERNELS),
    ("metrics.csv", ", where, what, value\n0, Driver, kernel_time, 0.00002\n", "MGPUSim's metrics", _KERNELS),
    (
        "stats.txt",
        "\n---------- Begin Simulation Statistics ----------\nsimTicks  57   # Number of ticks\n",
        "gem5's statistics",
        _KERNELS,
    ),
    ("x.zip", b"PK\x03\x04\0", "an archive or packed data", "unpack"),
    ("x.gz.gz", gzip.compress(gzip.compress(b"x")), "an archive or packed data", "unpack"),
    ("a.out", b"\x7fELF\2\1", "a program, not its profile", "nsys profile"),
    ("utf16.csv", "Start (ns),Name\n".encode("utf-16"), "UTF-16 text", "--output"),
    ("other.json", '{"a": 1}', "JSON, but no", "give an nsys"),
    ("other.tsv", "kernel\tms\nk\t1\nk\t2\n", "a TSV with the columns 'kernel', 'ms'", "columns"),
    ("german.csv", "kernel;ms\nk;1\nk;2\n", "a CSV (;) with the columns 'kernel', 'ms'", "columns"),
    ("other.csv", "ipc,cycles,{x}\n1,2,3\n", "a CSV with the columns 'ipc', 'cycles', '{x}'", "give an nsys"),
    ("train.py", "import torch, sys\nfrom a import b, c\n", "a program, not its profile", "nsys profile"),
    ("notes.txt", "We ran it, twice.\nIt was slow.\n", "text, not a profile", "give an nsys"),
    ("noise.bin", bytes(range(256)) * 8, "binary data of no format", "give an nsys"),
]


@pytest.fixture(autouse=True)
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """No nsys that could export a report."""
    monkeypatch.setenv("PATH", "")


def refused(path: Path) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        read_profile([str(path)])
    return caught.value


@pytest.mark.parametrize(("name", "content", "sentence", "remedy"), FILES, ids=[row[0] for row in FILES])
def test_files(tmp_path: Path, name: str, content: str | bytes, sentence: str, remedy: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    error = refused(path)
    assert sentence in error.message
    assert error.remedy is not None
    assert remedy in error.remedy
    assert error.path == str(path)


def test_the_remedy_holds_the_path_as_a_shell_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "my {run} 1.nsys-rep"
    path.write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    error = refused(path)
    assert error.remedy is not None
    assert f"`nsys export --type sqlite '{path}'`" in error.remedy


def test_a_folder_that_holds_a_report_says_how_to_export_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("notes\n")
    (tmp_path / "c.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    error = refused(tmp_path)
    assert error.path == str(tmp_path / "c.nsys-rep")
    assert f"`nsys export --type sqlite {tmp_path / 'c.nsys-rep'}`" in str(error.remedy)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (small_recordings.interval_log, "the simulator broke it off"),
    ],
)
def test_small_recordings_of_others(tmp_path: Path, written: Callable[[Path], Path], sentence: str) -> None:
    error = refused(written(tmp_path))
    assert sentence in error.message
    assert error.remedy


JSON = st.recursive(
    st.none() | st.booleans() | st.text('[]{}"\\a', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"\\', max_size=2), inner, max_size=3)
    ),
)


@given(JSON, st.integers(0, 4))
def test_json_beyond_the_reach_of_a_decoder_is_null_from_a_depth_on(value: Any, deepest: int) -> None:
    def cut(value: Any, depth: int = 0) -> Any:
        if not isinstance(value, list | dict):
            return value
        if depth == deepest:
            return None
        if isinstance(value, list):
            return [cut(each, depth + 1) for each in value]
        return {key: cut(each, depth + 1) for key, each in value.items()}

    texts: list[bytes] = []

    def decode(text: bytes) -> Any:
        texts.append(text)
        if len(texts) == 1:
            raise RecursionError
        return json.loads(text)

    with patch.object(input_file, "_DEEPEST_JSON", deepest):
        assert decoded(decode, json.dumps(value).encode()) == cut(value)


# --- pieces of whole lines ---------------------------------------------------------------------------------


@given(lines=st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")), max_size=20))
@pytest.mark.parametrize("piece_bytes", [1, 7, 1 << 22])
def test_pieces_are_of_whole_lines(lines: list[bytes], piece_bytes: int) -> None:
    content = b"\n".join(lines)
    with patch.object(input_file, "PIECE_BYTES", piece_bytes):
        found = list(whole_lines(io.BytesIO(content), "log", "none"))
    assert b"".join(found) == content
    assert all(piece.endswith(b"\n") for piece in found[:-1])


@patch.object(input_file, "PIECE_BYTES", 1 << 10)
def test_a_line_without_end_is_refused() -> None:
    content = b"short\n" + b"x" * (3 << 20)
    with pytest.raises(ProfileError, match="holds a line of more than 2 MiB; write it again"):
        list(whole_lines(io.BytesIO(content), "log", "write it again", 2 << 20))
    assert b"".join(whole_lines(io.BytesIO(content), "log", "write it again", 4 << 20)) == content
