"""Writers of the CSV that ``nsys stats`` prints, in three of its versions, and of its report of waiting."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from nsys_files import GPU_NAME, PROCESS, STREAM, SYNTHETIC, VERSION_OF_SAMPLES, Row, copied_between
from workload import Copy, Launch, Recording

_CSV_HEADER = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
    "Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
)
_CSV_HEADERS = {
    "2020.4": (
        "Start(sec),Duration(nsec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem,DymSMem,Bytes,"
        "Thru(MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name"
    ),
    "2022.4": _CSV_HEADER.replace("MB/s", "MBps").replace("GreenCtx,", ""),
    "2023.4": _CSV_HEADER,
}
_EXECUTION_HEADER = (
    "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),"
    "Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name"
)


def write_nsys_csv(recording: Recording, path: Path, version: str = VERSION_OF_SAMPLES) -> None:
    """Write the report of the GPU's activities: by start on the GPU, copies without a grid.

    2023.4 and later have green contexts, 2022.4 writes "None" for what there is not, and 2020.4 starts in
    seconds and sizes in bytes.
    """
    activities = sorted(recording.activities, key=lambda activity: activity.times.start_ns)
    rows = [_csv_row(activity) for activity in activities]
    if version == "2020.4":
        rows = [_csv_row_of_2020(row, activity) for row, activity in zip(rows, activities, strict=True)]
    elif version == "2022.4":
        rows = [_csv_row_of_2022(row) for row in rows]
    _write_report(path, "cuda_gpu_trace", _CSV_HEADERS[version], rows)


def write_nsys_execution_csv(recording: Recording, path: Path) -> None:
    """Write the cuda_kern_exec_trace report: a launch with its API call and how long it waited."""
    rows = [_execution_row(launch) for launch in recording.launches]
    _write_report(path, "cuda_kern_exec_trace", _EXECUTION_HEADER, rows)


def _write_report(path: Path, report: str, header: str, rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"Processing [{SYNTHETIC}] with [{report}]... \n{header}\n")
        csv.writer(stream, lineterminator="\n").writerows(rows)
        stream.write("\n")


def _without_green_context(row: Row) -> Row:
    return (*row[:18], *row[19:])


def _csv_row_of_2022(row: Row) -> Row:
    return ["None" if cell == "" else cell for cell in _without_green_context(row)]


def _csv_row_of_2020(row: Row, activity: Launch | Copy) -> Row:
    cells = list(_without_green_context(row))
    cells[0] = f"{activity.times.start_ns / 1e9:.6f}"
    if isinstance(activity, Copy):
        cells[12] = activity.size_bytes
    else:
        cells[10:12] = [activity.kernel.static_shared_bytes, activity.kernel.dynamic_shared_bytes]
    return cells


def _execution_row(launch: Launch) -> Row:
    times = launch.times
    api_ns = times.api_end_ns - times.api_start_ns
    waited_ns = times.start_ns - times.api_end_ns
    queue = (times.api_end_ns, waited_ns) if waited_ns > 0 else ("", "")
    shapes = (" ".join(f"{size:4d}" for size in sizes) for sizes in (launch.grid, launch.kernel.block))
    return (
        *(times.api_start_ns, api_ns, *queue, times.start_ns, times.duration_ns),
        *(times.end_ns - times.api_start_ns, PROCESS, PROCESS, 0, "cudaLaunchKernel", *shapes),
        launch.kernel.name,
    )


def _csv_row(activity: Launch | Copy) -> Row:
    times = activity.times
    when = (times.start_ns, times.duration_ns, times.correlation)
    where = (f"{GPU_NAME} (0)", 1, "", STREAM)
    if isinstance(activity, Copy):
        megabytes = activity.size_bytes / 1e6
        rate = activity.size_bytes * 1e3 / times.duration_ns
        size = (f"{megabytes:.3f}", f"{rate:.3f}", *copied_between(activity))
        return (*when, *("",) * 9, *size, *where, f"[CUDA memcpy {activity.direction}]")
    kernel = activity.kernel
    shared = (f"{size / 1e6:.3f}" for size in (kernel.static_shared_bytes, kernel.dynamic_shared_bytes))
    return (*when, *activity.grid, *kernel.block, kernel.registers, *shared, *("",) * 4, *where, kernel.name)
