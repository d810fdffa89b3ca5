"""Writer of the folder of Parquet tables that Nsight Systems exports as ``parquetdir``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from nsys_files import Table


def write_nsys_parquetdir(tables: Mapping[str, Table], folder: Path) -> None:
    """Write tables as `nsys_files.export_tables` returns them, one file each."""
    folder.mkdir()
    for table, (columns, rows) in tables.items():
        cells = [
            pa.array(values, type=pa.string() if " TEXT" in column else pa.int64())
            for column, values in zip(columns, zip(*rows, strict=True), strict=True)
        ]
        names = [column.split()[0] for column in columns]
        pq.write_table(pa.table(cells, names=names), folder / f"{table}.parquet")
