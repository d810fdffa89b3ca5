"""What `fuzz.py` breaks: a small file of every format that is read, and the commands that read it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
for folder in ("", "sample_data", "tests"):
    sys.path.insert(0, str(PROJECT / folder))

PROFILE = "{profile}"
BROKEN = "{broken}"

_OF_PROFILES = (
    ("info", BROKEN),
    ("info", BROKEN, "--format", "json"),
    ("sample", BROKEN, "-o", "plan.json", "--format", "json"),
    ("sample", BROKEN, "--group-by", "name", "--method", "root"),
    ("groups", BROKEN, "--format", "csv"),
    ("convert", BROKEN, "-o", "copy.parquet"),
)
_OF_FEATURES = (
    *(
        ("sample", PROFILE, "--features", BROKEN, "--method", method, "-o", "plan.json")
        for method in ("pks", "two-level", "tbpoint", "embedding", "sieve", "photon")
    ),
    ("compare", PROFILE, "--features", BROKEN, "--methods", "pks,tbpoint,sieve", "--repeats", "2"),
)
_OF_PLANS = (
    ("judge", BROKEN, PROFILE, "--repeats", "3"),
    ("judge", BROKEN, PROFILE, "--repeats", "3", "--format", "json"),
    ("export", BROKEN, "--to", "csv", "-o", "exported"),
    ("sample", PROFILE, "--overrides", BROKEN, "--method", "root"),
)
_OF_LOGS = (
    ("project", BROKEN),
    ("project", BROKEN, "--window", "3", "--format", "json"),
    ("project", BROKEN, "--instructions", "1000000", "--ctas", "100"),
)
_OF_SCALES = (
    ("scale", "predict", BROKEN, "--target", "32,64"),
    ("scale", "validate", BROKEN, "--format", "json"),
)


@dataclass(frozen=True, slots=True)
class Input:
    """A file or folder that is broken, and the commands tried on it."""

    path: Path
    commands: tuple[tuple[str, ...], ...]


def write_inputs(folder: Path) -> tuple[Path, list[Input]]:
    """Write a profile that stays whole, and every file that is broken."""
    from small_recordings import nsys_sqlite

    profile = nsys_sqlite(folder, "2023.4")
    inputs = [Input(path, _OF_PROFILES) for path in _profiles(folder, profile)]
    inputs += [Input(path, _OF_FEATURES) for path in _features(folder)]
    inputs += [Input(path, _OF_PLANS) for path in _plans(folder, profile)]
    inputs += [Input(path, _OF_LOGS) for path in _logs(folder)]
    inputs += [Input(path, _OF_SCALES) for path in _scales(folder)]
    inputs.append(Input(_trace(folder), (("scale", "mrc", BROKEN), ("scale", "mrc", BROKEN, "--exact"))))
    return profile, inputs


def _run(*arguments: object) -> None:
    from tui.cli import run

    if run([str(argument) for argument in arguments]):
        raise SystemExit(f"the command {arguments} fails on what is not broken yet")


def _profiles(folder: Path, profile: Path) -> Iterator[Path]:
    from small_recordings import kineto, nsys_csv, nsys_execution_csv, nsys_parquetdir
    from small_recordings import nsys_sqlite as sqlite

    (folder / "other").mkdir()
    yield sqlite(folder / "other", "2020.4")
    copy = folder / "other" / "whole.sqlite"
    shutil.copy(profile, copy)
    yield copy
    parquet = nsys_parquetdir(folder, "2023.4")
    yield parquet
    yield from _arrow_folders(parquet, folder)
    yield nsys_csv(folder, "2023.4")
    yield nsys_execution_csv(folder)
    yield kineto(folder, "today")
    launches = folder / "launches.parquet"
    _run("convert", profile, "-o", launches)
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


def _rocm(folder: Path) -> Iterator[Path]:
    from tests.sampling.readers.rocm.rocpd_file import Called, Dispatched, json_of, write_database, write_json
    from tests.sampling.readers.rocm.test_csv_trace import DISPATCHES, V1, V3, text_of

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


def _nvprof(folder: Path) -> Iterator[Path]:
    from tests.sampling.readers.nvprof.test_trace import (
        BANNER,
        CSV_HEADER,
        CSV_ROWS,
        HEADER,
        NOTES,
        ROWS,
        written,
    )

    yield written(folder, BANNER, [HEADER], ROWS * 8, NOTES, name="nvprof.txt")
    yield written(folder, BANNER, [CSV_HEADER], [*CSV_ROWS, *CSV_ROWS[1:] * 7], name="nvprof.csv")


def _pipit_rows(row: int) -> str:
    start, end = 1000 * row, 1000 * row + 100 + row % 7
    launch = f'"k{row % 3}<int, 4>(float*)",7,kernel,,gpu_trace'
    enter, leave = f"Enter,{start},{2 * row + 1},{end}", f"Leave,{end},{2 * row},{start}"
    return f"{launch},{enter},0,,\n{launch},{leave},0,,"


def _arrow_folders(parquet: Path, folder: Path) -> Iterator[Path]:
    """Write the same tables as streams, as nsys does, and as files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    import pyarrow as pa
    import pyarrow.parquet as pq

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


def _features(folder: Path) -> Iterator[Path]:
    import resnet50_code
    from block_vector_file import write_block_vectors
    from machine_code import executed
    from small_recordings import images, ncu_details, ncu_raw

    yield ncu_raw(folder)
    yield ncu_details(folder)
    blocks = folder / "blocks.csv.gz"
    write_block_vectors(images(), tuple(executed(images().launches, resnet50_code.CODES, seed=8)), blocks)
    yield blocks
    table = folder / "features.csv"
    launches = len(images().launches)
    rows = [f"{row},{1000 + row % 7},{row % 3}.5,{10 * row}" for row in range(launches)]
    table.write_text("\n".join(["id,instructions,loads,cycles", *rows, ""]))
    yield table
    yield _feature_parquet(folder, launches)


def _feature_parquet(folder: Path, launches: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "features.parquet"
    columns = {"id": list(range(launches)), "instructions": [1000 + row % 7 for row in range(launches)]}
    pq.write_table(pa.table({**columns, "loads": [row % 3 + 0.5 for row in range(launches)]}), path)
    return path


def _plans(folder: Path, profile: Path) -> Iterator[Path]:
    for method in ("joint", "random", "first-instructions"):
        path = folder / f"{method}-plan.json"
        _run("sample", profile, "--method", method, "--features", folder / "features.csv", "-o", path)
        yield path


def _logs(folder: Path) -> Iterator[Path]:
    from small_recordings import interval_log

    yield interval_log(folder)
    path = folder / "intervals.csv"
    rows = [f"{500 * row},{4000 + row % 5},{row % 2}" for row in range(1, 60)]
    path.write_text("\n".join(["cycle,instructions,ctas", *rows, ""]))
    yield path


def _scales(folder: Path) -> Iterator[Path]:
    for name in ("scale-model-example.csv", "scale-model-example.toml"):
        shutil.copy(PROJECT / "sample_data" / name, folder / name)
        yield folder / name


def _trace(folder: Path) -> Path:
    path = folder / "addresses.txt"
    path.write_text("".join(f"{(row * 7919) % 4096 * 32:#x}\n" for row in range(400)))
    return path
