"""Which columns of a table are metrics of its launches, and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.arrays import FloatArray
from sampling.arrow import to_numpy
from sampling.readers.tables.column_map import BLOCK, GRID, REQUIRED

if TYPE_CHECKING:
    import pyarrow as pa

#: Columns that identify or describe a launch: any other numeric column is a metric of it.
NO_METRIC = frozenset(
    {
        *(*REQUIRED, *GRID, *BLOCK),
        *("id", "grid", "block", "occurrence", "process", "device", "start_ns", "stream"),
    }
)


def metric_columns(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns of a table that are metrics: numeric, and none that identifies a launch."""
    import pyarrow as pa

    # The column in which pandas keeps row labels is no metric either.
    return tuple(
        field.name
        for field in schema
        if field.name not in NO_METRIC
        and not field.name.startswith("__index_level_")
        and (
            pa.types.is_integer(field.type)
            or pa.types.is_floating(field.type)
            or pa.types.is_decimal(field.type)
            or pa.types.is_boolean(field.type)
        )
    )


def float_values(column: Any) -> FloatArray:
    """Return (n,) the numbers of a column as float64; NaN where there is none or an infinite one."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    numbers = compute.fill_null(column.cast(pa.float64(), safe=False), float("nan"))
    values = to_numpy(numbers)
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)
