"""A small profile of every format that is read: what is broken to see how it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sampling.readers.launch_parquet import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction.region import Region
from tests.sampling.readers import test_ncu_profile, test_simulator_log, test_trace_list
from tests.sampling.readers import test_nvprof as nvprof
from tests.sampling.readers import test_rocprof_v1 as rocprof_v1
from tests.sampling.readers.rocpd_file import Called, Dispatched, json_of, write_database, write_json
from tests.sampling.readers.test_rocm_csv import COUNTERS, DISPATCHES, V1, V3, text_of
from tests.sampling.readers.tool_traces import Launched, begun_and_ended, onnx_runtime, proton, unitrace, xla
from tests.sampling.readers.tool_traces import text_of as traces_text
from tests.small_recordings import (
    kineto,
    ncu_details,
    ncu_raw,
    nsys_csv,
    nsys_execution_csv,
    nsys_parquetdir,
    nsys_sqlite,
)

#: What they are called.
NAMES = (
    *("small-2020.4.sqlite", "small-2023.4.sqlite", "small-2023.4-parquetdir", "small.arrowsdir"),
    *("small.arrowdir", "small-2023.4.csv", "small-cuda_kern_exec_trace.csv", "small-today.json.gz"),
    *("launches.parquet", "processes.parquet", "pipit.csv", "rocm.db", "rocm.json", "rocm-v1.csv"),
    *("rocm-v3.csv", "counters.csv", "results.db", "results.json", "nvprof.txt", "nvprof.csv"),
    *("simulator.log", "table.csv", "small-ncu-raw.csv.gz", "small-ncu-details.csv", "page.csv"),
    *("xla.json", "proton.chrome_trace", "onnx.json", "unitrace.json", "text-traces", "packed-traces"),
)


def write_profiles(folder: Path) -> Iterator[Path]:
    """Write them into a new folder ``profiles`` of a folder, and yield each."""
    folder = folder / "profiles"
    folder.mkdir()
    yield nsys_sqlite(folder, "2020.4")
    sqlite = nsys_sqlite(folder, "2023.4")
    yield sqlite
    parquet = nsys_parquetdir(folder, "2023.4")
    yield parquet
    yield from _arrow_folders(parquet, folder)
    yield nsys_csv(folder, "2023.4")
    yield nsys_execution_csv(folder)
    yield kineto(folder, "today")
    yield from _tool_traces(folder)
    launches = folder / "launches.parquet"
    write_launch_parquet(read_profile([str(sqlite)]), Region(), launches)
    yield launches
    yield _parquet_of_processes(launches, folder)
    pipit = folder / "pipit.csv"
    header = (
        "Name,streamId,type,bytes,Trace Type,Event Type,Timestamp (ns),_matching_event,_matching_timestamp"
    )
    pipit.write_text(
        "\n".join([f"{header},_depth,_parent,_children", *(_pipit_rows(row) for row in range(30)), ""])
    )
    yield pipit
    yield from _rocm(folder)
    yield from _nvprof(folder)
    log = folder / "simulator.log"
    log.write_text(test_simulator_log.PROGRAM * 6)
    yield log
    yield _table(folder)
    yield ncu_raw(folder)
    yield ncu_details(folder)
    page = folder / "page.csv"
    page.write_text(test_ncu_profile.PAGE)
    yield page
    for name, ending in (("text-traces", ".traceg"), ("packed-traces", ".tracez")):
        yield test_trace_list.traces(folder / name, ending)
    (folder / "text-traces" / "page.csv").write_text(test_trace_list.measured())


def _tool_traces(folder: Path) -> Iterator[Path]:
    launches = [
        Launched(f"k{row % 3}", 9_500 * row, 1000 + row, stream=row % 2, operator=f"op{row % 5}")
        for row in range(30)
    ]
    for name, documents in (
        ("xla.json", [xla(launches)]),
        ("proton.chrome_trace", proton(launches)),
        ("onnx.json", [onnx_runtime(launches)]),
        ("unitrace.json", [begun_and_ended(unitrace(launches))]),
    ):
        path = folder / name
        path.write_text(traces_text(documents))
        yield path


def _table(folder: Path) -> Path:
    """Write a table whose columns have our own names."""
    path = folder / "table.csv"
    rows = "".join(
        f'"f<{row % 3}>(int, float*)",{1000 + row % 7 / 3},"({1 + row % 2}, 8, 1)",128x1x1,{row % 2},'
        f"{1000 * row},{row * row},n{row}\n"
        for row in range(40)
    )
    path.write_text("name,duration_ns,grid,block,process,start_ns,insts,note\n" + rows)
    return path


def _rocm(folder: Path) -> Iterator[Path]:
    calls = [Called(n, 100 * n, 100 * n + 20) for n in range(1, 40)]
    calls += [Called(99, 500, 2_100, "step 1"), Called(100, 2_100, 3_900, "step 2")]
    dispatches = [
        Dispatched(1 + n % 2, n, 200 * n, 200 * n + 90 + n, (1000, 1 + n % 3, 1), (256, 1, 1), n)
        for n in range(1, 40)
    ]
    yield write_database(folder / "rocm.db", dispatches, calls)
    yield write_json(folder / "rocm.json", json_of(dispatches, calls))
    rows = [{**DISPATCHES[n % 3], "n": n, "start": 100 * n, "end": 100 * n + 50 + n} for n in range(40)]
    for name, header in (("rocm-v1.csv", V1), ("rocm-v3.csv", V3)):
        path = folder / name
        path.write_text(text_of(header, rows))
        yield path
    counters = folder / "counters.csv"
    cells = [f"{n // 2},7,Agent 1,k{n % 3},64,32,C{n % 2},{n},{n},{2 * n}" for n in range(40)]
    counters.write_text(COUNTERS + "\n".join(cells) + "\n")
    yield counters
    yield rocprof_v1.database(folder, rocprof_v1.ROWS * 9)
    yield rocprof_v1.trace(folder, rocprof_v1.ROWS * 9)


def _nvprof(folder: Path) -> Iterator[Path]:
    begin, end = nvprof.BANNER, nvprof.NOTES
    yield nvprof.written(folder, begin, [nvprof.HEADER], nvprof.ROWS * 8, end, name="nvprof.txt")
    rows = [*nvprof.CSV_ROWS, *nvprof.CSV_ROWS[1:] * 7]
    yield nvprof.written(folder, begin, [nvprof.CSV_HEADER], rows, name="nvprof.csv")


def _pipit_rows(row: int) -> str:
    start, end = 1000 * row, 1000 * row + 100 + row % 7
    launch = f'"k{row % 3}<int, 4>(float*)",7,kernel,,gpu_trace'
    enter, leave = f"Enter,{start},{2 * row + 1},{end}", f"Leave,{end},{2 * row},{start}"
    return f"{launch},{enter},0,,\n{launch},{leave},0,,"


def _arrow_folders(parquet: Path, folder: Path) -> Iterator[Path]:
    """Write the same tables as streams, as nsys does, and as files."""
    for suffix, writer in ((".arrows", pa.ipc.new_stream), (".arrow", pa.ipc.new_file)):
        path = folder / f"small{suffix}dir"
        path.mkdir()
        for file in sorted(parquet.iterdir()):
            table = pq.read_table(file, memory_map=False, use_threads=False)
            with writer(str(path / f"{file.stem}{suffix}"), table.schema) as sink:
                for batch in table.to_batches(60):
                    sink.write_batch(batch)
        yield path


def _parquet_of_processes(launches: Path, folder: Path) -> Path:
    """Write launches out of the order of their ids, with a metric."""
    table = pq.read_table(launches, memory_map=False, use_threads=False)
    for name, values in (
        ("process", [row % 2 for row in range(table.num_rows)]),
        ("device", [0] * table.num_rows),
    ):
        if name in table.column_names:
            table = table.drop_columns([name])
        table = table.append_column(name, pa.array(values))
    table = table.append_column("instructions", pa.array([100.5 + row for row in range(table.num_rows)]))
    path = folder / "processes.parquet"
    pq.write_table(table, path, row_group_size=50)
    return path
