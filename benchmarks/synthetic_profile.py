"""A large seeded profile in our own Parquet, for benchmarks: `python synthetic_profile.py FILE LAUNCHES`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KERNELS = 200
ROW_GROUP = 1 << 20
CLOCK_NS = 32


def write_profile(path: Path, launches: int, *, seed: int = 0, shapes: bool = True) -> None:
    """Write ``launches`` launches of 200 kernels, each with one to four peaks, on a clock of 32 ns.

    Kernel popularity and mean durations are log-normal; peaks are 1 to 10 % wide; one launch in 2,000 is an
    outlier. With ``shapes`` every kernel has up to eight grids, which its peaks depend on.
    """
    rng = np.random.default_rng(seed)
    names = pa.array(
        [f"void library::kernel_{k}<float, (int){k}>(float *, int, Params)" for k in range(KERNELS)]
    )
    popularity = rng.lognormal(0, 1.2, KERNELS)
    base_ns = rng.lognormal(np.log(20_000), 1.0, KERNELS)
    peaks = rng.lognormal(0, 0.5, (KERNELS, 4))
    width = rng.uniform(0.01, 0.1, KERNELS)
    with pq.ParquetWriter(path, _schema(shapes=shapes), compression="zstd") as writer:
        for start in range(0, launches, ROW_GROUP):
            rows = min(ROW_GROUP, launches - start)
            kernel = rng.choice(KERNELS, rows, p=popularity / popularity.sum()).astype(np.int32)
            shape = rng.integers(0, 8, rows)
            mean_ns = base_ns[kernel] * peaks[kernel, shape % 4]
            duration_ns = mean_ns * (1 + width[kernel] * rng.standard_normal(rows))
            duration_ns *= np.where(rng.random(rows) < 0.0005, 5, 1)
            ticks = np.maximum(np.rint(duration_ns / CLOCK_NS), 1).astype(np.int64)
            columns = [pa.DictionaryArray.from_arrays(pa.array(kernel), names), pa.array(ticks * CLOCK_NS)]
            if shapes:
                grid = (1 << shape) * (kernel % 16 + 1)
                block = np.full(rows, 256)
                one = np.ones(rows, dtype=np.int64)
                columns += [pa.array(axis, pa.int32()) for axis in (grid, one, one, block, one, one)]
            writer.write_table(
                pa.Table.from_arrays(columns, schema=_schema(shapes=shapes)), row_group_size=rows
            )


def write_many_groups(path: Path, groups: int, *, seed: int = 0) -> None:
    """Write four launches of each of ``groups`` kernels, their names as long as those of templates."""
    rng = np.random.default_rng(seed)
    names = pa.array(
        [f"void library::kernel_{k}<float, (int){k}>(float *, int, Params)" for k in range(groups)]
    )
    kernel = rng.permutation(np.repeat(np.arange(groups, dtype=np.int32), 4))
    base_ns = rng.lognormal(np.log(20_000), 1.0, groups)
    ticks = np.maximum(np.rint(base_ns[kernel] * rng.uniform(0.8, 1.2, kernel.size) / CLOCK_NS), 1)
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(kernel), names),
        pa.array(ticks.astype(np.int64) * CLOCK_NS),
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=_schema(shapes=False)), path, compression="zstd")


def _schema(*, shapes: bool) -> pa.Schema:
    fields = [("name", pa.dictionary(pa.int32(), pa.string())), ("duration_ns", pa.int64())]
    if shapes:
        fields += [(f"{what}_{axis}", pa.int32()) for what in ("grid", "block") for axis in "xyz"]
    return pa.schema(fields)


if __name__ == "__main__":
    write_profile(Path(sys.argv[1]), int(sys.argv[2]), shapes="--name-only" not in sys.argv)
