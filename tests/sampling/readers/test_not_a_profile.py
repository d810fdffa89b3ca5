"""What is no profile is named, and the way to a profile is shown."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.readers.registry import read_profile
from tests import small_recordings

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
        "an Nsight Compute CSV",
        "nsys profile",
    ),
    ("c.csv", "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,SQ_WAVES,8\n", _ROCM, _KERNELS),
    ("s.csv", '"Name","Calls","TotalDurationNs","AverageNs"\n"k",2,8,4.0\n', _ROCM, _KERNELS),
    ("r.csv", '"Index","KernelName","gpu-id","queue-id","grd","wgr"\n0,k,0,0,1,1\n', _ROCM, "--timestamp on"),
    ("plan.json", '{"schema": 1, "kind": "plan", "strata": []}', "a plan written by kernelpoint", "profile"),
    ("kernelslist.g", "MemcpyHtoD,0x7f00,4096\nkernel-1.traceg\n", "without durations", "nsys profile"),
    (
        "stats.csv",
        "kernel id, kernel mangled name, grid_dimX\nkernel-1.trace, _Z1aPf, 4\n",
        "without durations",
        "nsys profile",
    ),
    ("x.zip", b"PK\x03\x04\0", "an archive or packed data", "unpack"),
    ("x.gz.gz", gzip.compress(gzip.compress(b"x")), "an archive or packed data", "unpack"),
    ("a.out", b"\x7fELF\2\1", "a program, not its profile", "nsys profile"),
    ("utf16.csv", "Start (ns),Name\n".encode("utf-16"), "UTF-16 text", "--output"),
    ("other.json", '{"a": 1}', "JSON, but no", "give an nsys"),
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
        (small_recordings.ncu_raw, "an Nsight Compute CSV"),
        (small_recordings.ncu_details, "an Nsight Compute CSV"),
        (small_recordings.interval_log, "the simulator broke it off"),
    ],
)
def test_small_recordings_of_others(tmp_path: Path, written: Callable[[Path], Path], sentence: str) -> None:
    error = refused(written(tmp_path))
    assert sentence in error.message
    assert error.remedy
