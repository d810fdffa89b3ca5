"""The metrics of a table of text: its columns of numbers that say nothing else of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sampling.arrays import FloatArray
from sampling.arrow import to_numpy
from sampling.readers.csv_cells import Kind, Part, Table, parse_plain
from sampling.readers.tables.metrics import NO_METRIC


class Metrics:
    """Collects the columns that are numbers throughout, piece by piece; a cell may be empty.

    Parameters
    ----------
    header : the cells of the table's header.
    taken : the positions that are read as something else.
    """

    def __init__(self, header: Sequence[str], taken: frozenset[int]) -> None:
        first = {name: header.index(name) for name in header if name and name not in NO_METRIC}
        self._names = {position: name for name, position in first.items() if position not in taken}
        self._parts: dict[int, list[FloatArray]] = {position: [] for position in self._names}

    def parse(self, part: Part) -> Table | None:
        """Return the columns of a part's layout, its metrics kept; None where a cell is not plain.

        A column in which something is no number is no metric, and dropped.
        """
        table = _parsed_with(part, self._names)
        if table is None:
            # Some column is not what it was so far: each is tried by itself.
            alone = replace(part, layout=replace(part.layout, kinds={}))
            single = {position: _parsed_with(alone, [position]) for position in self._names}
            for position, column in single.items():
                if column is None:
                    del self._names[position], self._parts[position]
                else:
                    self._keep(position, column)
            return None
        for position in self._names:
            self._keep(position, table)
        return table

    def _keep(self, position: int, table: Table) -> None:
        values = to_numpy(table.column(str(position)).fill_null(float("nan")))
        # As in Parquet, what is not finite is no value.
        self._parts[position].append(np.where(np.isfinite(values), values, np.nan))

    def finish(self) -> dict[str, FloatArray]:
        """Return (launches,) each metric that any launch has."""
        whole = {name: np.concatenate(self._parts.pop(position)) for position, name in self._names.items()}
        return {name: values for name, values in whole.items() if not np.isnan(values).all()}


def _parsed_with(part: Part, positions: Sequence[int] | dict[int, str]) -> Table | None:
    if not part.layout.kinds and not positions:
        return None
    numbers: dict[int, Kind] = dict.fromkeys(positions, "number")
    kinds = {**part.layout.kinds, **numbers}
    return parse_plain(replace(part, layout=replace(part.layout, kinds=kinds)))
