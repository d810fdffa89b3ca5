"""A text column that arrives in parts, kept as its distinct texts and a code for every row."""

from __future__ import annotations

import numpy as np

from sampling.arrays import IntArray
from sampling.features.tables.text_codes import TextCodes
from sampling.readers.csv_cells import Table, texts


class TextColumn:
    """Collects one column of the tables of a file; an empty cell is the text ""."""

    def __init__(self, position: int) -> None:
        self._position = position
        self._texts = TextCodes()
        self._parts: list[IntArray] = [np.zeros(0, dtype=np.int64)]

    def take(self, table: Table) -> None:
        """Add the rows of a table; one Python step for each distinct text of it."""
        distinct, codes = texts(table, self._position)
        self._parts.append(self._texts.codes_of(distinct.to_pylist())[codes])

    def distinct(self) -> tuple[str, ...]:
        """Return the distinct texts so far, in the order of their codes."""
        return self._texts.distinct()

    def codes(self) -> IntArray:
        """Return (n,) the code of every row so far."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]
