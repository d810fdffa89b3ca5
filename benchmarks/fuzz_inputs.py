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
_COLUMNS = ("--columns", "name=Kernel,duration_ns=Dur:us,grid=Grid,block=Block,process=Rank,start_ns=Start")
_OF_TABLES = tuple((*command, *_COLUMNS) for command in _OF_PROFILES)
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
    from tests.fuzzing.small_profiles import write_profiles
    from tests.small_recordings import nsys_sqlite

    profile = nsys_sqlite(folder, "2023.4")
    inputs = [Input(path, _OF_PROFILES) for path in write_profiles(folder)]
    inputs += [Input(path, _OF_TABLES) for path in _tables(folder)]
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


def _tables(folder: Path) -> Iterator[Path]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rows = range(40)
    columns = {
        "Kernel": [f"f<{row % 3}>(int, float*)" for row in rows],
        "Dur": [1.5 + row % 7 / 3 for row in rows],
        "Grid": [f"({1 + row % 2}, 8, 1)" for row in rows],
        "Block": ["128x1x1"] * len(rows),
        "Rank": [row % 2 for row in rows],
        "Start": [1_000 * row for row in rows],
        "insts": [row * row for row in rows],
        "note": [f"n{row}" for row in rows],
    }
    table = pa.table(columns)
    for name, separator in (("table.csv", ","), ("table.tsv", "\t")):
        pyarrow.csv.write_csv(table, folder / name, pyarrow.csv.WriteOptions(delimiter=separator))
        yield folder / name
    pyarrow.parquet.write_table(table, folder / "table.parquet", row_group_size=16)
    yield folder / "table.parquet"


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
