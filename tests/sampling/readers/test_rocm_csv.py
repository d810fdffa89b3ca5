"""ROCm's kernel lists: the same launches in every dialect of the CSV, and what is wrong with a file said."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.sampling.readers.launches_told import Told, read, refusal_of, told

ADD, COPY = "void add<float, 4>(float*, int)", "__amd_rocclr_copyBuffer"

#: Cells of three dispatches by all the columns there are, in the order of the calls; grids in work-items.
_OF_DISPATCH = ("name", "mangled", "n", "start", "end", "x", "y", "wx", "wy")
DISPATCHES: tuple[Mapping[str, object], ...] = tuple(
    dict(zip(_OF_DISPATCH, values, strict=True))
    for values in (
        (COPY, COPY, 1, 7_000, 7_250, 1000, 1, 256, 1),
        (ADD, "_Z3addPfi", 2, 5_000, 5_900, 512, 128, 256, 1),
        (ADD, "_Z3addPfi", 3, 9_000, 9_901, 64, 9, 16, 4),
    )
)

V3_SIZES = "Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z"
V3_EARLY = (
    "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,"
    f"Private_Segment_Size,Group_Segment_Size,{V3_SIZES}"
)
V3 = (
    "Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
    f"Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,{V3_SIZES}"
)
ROCPD = "Guid," + V3.replace("LDS_", "Lds_").replace("VGPR_Count", "Vgpr_Count").replace("SGPR_", "Sgpr_")
V1 = (
    "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,"
    "sig,obj,DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs"
)
V1_OLD = (
    "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,DispatchNs,"
    "BeginNs,EndNs,CompleteNs"
)
V2 = (
    "Dispatch_ID,GPU_ID,Queue_ID,Queue_Index,PID,TID,GRD,WGR,LDS,SCR,Arch_VGPR,ACCUM_VGPR,SGPR,Wave_Size,SIG,OBJ,"
    "Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES"
)
OMNIPERF = (
    "Dispatch_ID,Kernel_Name,GPU_ID,queue-id,queue-index,pid,tid,grd,Workgroup_Size,LDS_Per_Workgroup,scr,vgpr,"
    "SGPR,fbar,sig,obj,DispatchNs,Start_Timestamp,End_Timestamp,CompleteNs"
)


def cell(column: str, row: Mapping[str, object], agent: str, suffix: str) -> object:
    """What a profiler writes under a column of a dispatch."""
    total, group = int(row["x"]) * int(row["y"]), int(row["wx"]) * int(row["wy"])  # type: ignore[call-overload]
    known = {
        "kind": "KERNEL_DISPATCH",
        "kernel_name": f"{row['name']}{suffix}",
        "kernelname": f"{row['name']}{suffix}",
        "guid": "0000-1111",
        "agent_id": agent,
        "gpu-id": agent,
        "gpu_id": agent,
        "queue_id": 3,
        "queue-id": 3,
        "pid": 41,
        "index": row["n"],
        "dispatch_id": row["n"],
        "correlation_id": 10 * int(row["n"]),  # type: ignore[call-overload]
        "start_timestamp": row["start"],
        "beginns": row["start"],
        "end_timestamp": row["end"],
        "endns": row["end"],
        "workgroup_size_x": row["wx"],
        "workgroup_size_y": row["wy"],
        "workgroup_size_z": 1,
        "grid_size_x": row["x"],
        "grid_size_y": row["y"],
        "grid_size_z": 1,
        "grd": total,
        "wgr": group,
        "workgroup_size": group,
    }
    return known.get(column.casefold(), 0)


def text_of(
    header: str,
    rows: Sequence[Mapping[str, object]] = DISPATCHES,
    agent: str = "2",
    suffix: str = "",
    quoting: int = csv.QUOTE_MINIMAL,
) -> str:
    """Return the CSV of some dispatches, as they ended: rows are not in the order of the calls."""
    columns = header.split(",")
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator="\n")  # type: ignore[arg-type]
    writer.writerow(columns)
    for row in sorted(rows, key=lambda row: int(row["end"])):  # type: ignore[call-overload]
        writer.writerow([cell(column, row, agent, suffix) for column in columns])
    return out.getvalue()


def written(folder: Path, text: str, name: str = "kernels.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def expected(process: int, device: int, *, totals: bool) -> list[Told]:
    """The three launches, in work-groups: 1000 work-items in groups of 256 are four groups."""
    grids = [(4, 1, 1), (256, 1, 1), (9, 1, 1)] if totals else [(4, 1, 1), (2, 128, 1), (4, 3, 1)]
    blocks = [(256, 1, 1), (256, 1, 1), (64, 1, 1)] if totals else [(256, 1, 1), (256, 1, 1), (16, 4, 1)]
    times = [(COPY, 7_000, 250), (ADD, 5_000, 900), (ADD, 9_000, 901)]
    return [
        Told(process, device, name, start, duration, 3, grid, block)
        for (name, start, duration), grid, block in zip(times, grids, blocks, strict=True)
    ]


@pytest.mark.parametrize(
    ("header", "agent", "suffix", "process", "totals"),
    [
        (V3_EARLY, "2", "", 0, False),
        (V3_EARLY, "Agent 2", ".kd", 0, False),
        (V3, "Agent 2", "", 0, False),
        (V3, "GPU-2", "", 0, False),
        (ROCPD, "Agent 2", "", 0, False),
        (V1, "2", " [clone .kd]", 41, True),
        (V1_OLD, "2", ".kd", 41, True),
        (V2, "2", ".kd", 41, True),
        (OMNIPERF, "2", " [clone .kd]", 41, True),
    ],
)
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL])
def test_every_dialect_holds_the_same_launches(
    tmp_path: Path, header: str, agent: str, suffix: str, process: int, totals: bool, quoting: int
) -> None:
    profile = read(written(tmp_path, text_of(header, agent=agent, suffix=suffix, quoting=quoting)))
    assert told(profile) == expected(process, 2, totals=totals)
    assert profile.format == "rocprof-csv"
    assert profile.facts.launch_order == "correlation"


def test_lines_of_the_tools_themselves(tmp_path: Path) -> None:
    """A line of rocprofv3's documentation and one of Omniperf's, as they stand there."""
    v3 = (
        '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
        '"Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X",'
        '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
        '"KERNEL_DISPATCH",1,1,3,2,10,"matrixTranspose(float*, float*, int)",1,671599758568,'
        "671599825328,0,0,4,4,1,1024,1024,1\n"
    )
    assert told(read(written(tmp_path, v3))) == [
        Told(0, 1, "matrixTranspose(float*, float*, int)", 671599758568, 66760, 1, (256, 256, 1), (4, 4, 1))
    ]
    omniperf = (
        f"{OMNIPERF}\n"
        '1,"void benchmark_func<short, 256, 8u, 0u>(short, short*) [clone .kd]",0,0,2,767988,767993,'
        "32768,256,0,0,24,24,12480,0x0,0x7f5046035100,12073517737447236,12073517737554518,12073517737561398,12073517737566849\n"
    )
    name = "void benchmark_func<short, 256, 8u, 0u>(short, short*)"
    assert told(read(written(tmp_path, omniperf))) == [
        Told(767988, 0, name, 12073517737554518, 6880, 0, (128, 1, 1), (256, 1, 1))
    ]


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("_Z3addPfi.kd", "_Z3addPfi"),
        ("add(float*) [clone .kd]", "add(float*)"),
        ("add(float*) (.kd)", "add(float*)"),
        ("add(float*) [clone .isra.0] [clone .kd]", "add(float*) [clone .isra.0]"),
        ("add(float*) [clone .isra.0.kd]", "add(float*) [clone .isra.0]"),
        ("add.kd.more", "add.kd.more"),
        ("Cijk_Alik_Bljk_HBH_MT64x64x32_SN", "Cijk_Alik_Bljk_HBH_MT64x64x32_SN"),
    ],
)
def test_suffixes_of_names(tmp_path: Path, printed: str, name: str) -> None:
    (launch,) = told(read(written(tmp_path, text_of(V3, [{**DISPATCHES[0], "name": printed}]))))
    assert launch.name == name


def test_merged_databases_are_processes(tmp_path: Path) -> None:
    head, *rows = text_of(ROCPD).splitlines()
    text = "\n".join([head, *rows, *(row.replace("0000-1111", "2222-3333") for row in rows)])
    assert [launch.process for launch in told(read(written(tmp_path, text)))] == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("find", "put", "column", "said"),
    [
        ("Agent 2", "somewhere", "Agent_Id", "'somewhere' does not say which GPU"),
        (",512,128,1", ",-512,128,1", "Grid_Size_X", "-512 is no size"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, find: str, put: str, column: str, said: str
) -> None:
    lines = text_of(V3, agent="Agent 2").splitlines()
    lines[1] = lines[1].replace(find, put, 1)
    error = refusal_of(written(tmp_path, "\n".join(lines) + "\n"))
    assert (error.row, error.column) == (2, column)
    assert said in str(error)


@pytest.mark.parametrize(
    ("find", "put", "first"),
    [
        ("5900", "4999", "row 2, column End_Timestamp: a launch ends before it starts"),
        ("5900", "0", "row 2, column End_Timestamp: a launch ends before it starts"),
        ("5900", "", "row 2, column End_Timestamp: a launch has no End_Timestamp"),
        ("5900", "soon", "row 2, column End_Timestamp: 'soon' is not a number that fits here"),
        (",512,128,1", ",512,128", "cells where the header names"),
        ("void add<float, 4>", 'void add<"x>', "a quote is not closed"),
    ],
)
def test_a_dispatch_that_cannot_be_is_left_out(tmp_path: Path, find: str, put: str, first: str) -> None:
    lines = text_of(V3).splitlines()
    lines[1] = lines[1].replace(find, put, 1)
    profile = read(written(tmp_path, "\n".join(lines) + "\n"))
    whole = read(written(tmp_path, text_of(V3)))
    assert told(profile) == [launch for launch in told(whole) if launch.duration_ns != 900]
    assert profile.facts.rows_left_out == 1
    assert first in str(profile.facts.first_left_out)


COUNTERS = "Dispatch_Id,Process_Id,Agent_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value,"
COUNTERS += "Start_Timestamp,End_Timestamp\n"


def test_a_dispatch_with_a_row_a_counter_or_a_pass_is_one_launch(tmp_path: Path) -> None:
    """Kernel replay runs a dispatch once a group of counters: the first times and all counters count."""
    rows = [
        "1,7,Agent 1,a,1024,256,WAVES,16,1000,1010",
        "1,7,Agent 1,a,1024,256,BYTES,64,1000,1010",
        "2,7,Agent 1,b,2048,256,WAVES,32,2000,2030",
        "1,7,Agent 1,a,1024,256,HITS,5,5000,5999",
        "1,7,Agent 1,a,1024,256,WAVES,17,5000,5999",
        # Another process, and another GPU, count their dispatches by themselves.
        "1,8,Agent 1,c,256,256,WAVES,1,3000,3003",
        "1,7,Agent 2,d,256,256,WAVES,2,4000,4004",
    ]
    profile = read(written(tmp_path, COUNTERS + "\n".join(rows) + "\n"))
    found = [(each.process, each.device, each.name, each.duration_ns) for each in told(profile)]
    assert profile.facts.replays == 1
    assert found == [(7, 1, "a", 10), (7, 1, "b", 30), (7, 2, "d", 4), (8, 1, "c", 3)]
    values = [profile.parts[0].source.metrics(slice(0, 4), [name])[name] for name in profile.metric_names]
    table = dict(zip(profile.metric_names, values, strict=True))
    nan = math.nan
    expected = {"WAVES": [16, 32, 2, 1], "BYTES": [64, nan, nan, nan], "HITS": [5, nan, nan, nan]}
    assert table.keys() == expected.keys()
    for name, column in expected.items():
        np.testing.assert_array_equal(table[name], column)


def test_dispatches_are_told_apart_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampling.readers.input_file.PIECE_BYTES", 1)
    rows = [
        f"{number},7,Agent 1,k,1,1,C{counter},{10 * number + counter},{number},{2 * number}"
        for counter in (1, 2)
        for number in (1, 2, 3)
    ]
    profile = read(written(tmp_path, COUNTERS + "\n".join(rows) + "\n"))
    assert [each.duration_ns for each in told(profile)] == [1, 2, 3]
    metrics = profile.parts[0].metrics(["C1", "C2"])
    assert (metrics["C1"].tolist(), metrics["C2"].tolist()) == ([11, 21, 31], [12, 22, 32])


def test_one_number_for_two_kernels_is_of_two_dispatches(tmp_path: Path) -> None:
    """As where the lists of two programs follow each other in one file."""
    rows = ["1,7,Agent 1,a,1,1,C,1,10,12", "1,7,Agent 1,b,1,1,C,2,90,99"]
    profile = read(written(tmp_path, COUNTERS + "\n".join(rows) + "\n"))
    assert [(each.name, each.duration_ns) for each in told(profile)] == [("a", 2), ("b", 9)]
    assert profile.facts.replays == 0
