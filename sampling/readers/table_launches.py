"""The launches of a table while its rows come in: which of them can be launches, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.activity import ActivityReader
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, joined_columns
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.readers.cells import WRITTEN, is_size
from sampling.readers.input_file import InputFile
from sampling.readers.table import Rows

# Signatures are found by hashing, which pays from about this many rows at a time.
_ROWS_AT_ONCE = 1 << 19


class Launches:
    """The launches of a table, which arrive piece by piece."""

    def __init__(self, file: InputFile, kernels: KernelTable) -> None:
        self.count = 0  #: how many there are so far
        self._file = file
        self._builder = LaunchTableBuilder(file.path, kernels, keep_overlong=file.keep_overlong)
        self.left_out = self._builder.left_out
        self._waiting: list[LaunchColumns] = []

    def add(self, columns: LaunchColumns) -> None:
        """Add some launches."""
        self._waiting.append(columns)
        self.count += len(columns.duration_ns)
        if sum(len(part.duration_ns) for part in self._waiting) >= _ROWS_AT_ONCE:
            self._put_in()

    def usable(self, rows: Rows, wrong: BoolArray, column: str, message: Callable[[int], str] | str) -> Rows:
        """Return the rows that are not wrong, (n,); the others are left out, the first as a message says."""
        return rows.without(wrong, column, message, self.left_out)

    def lasting(self, rows: Rows, duration: str, unit_ns: int = 1) -> tuple[Rows, IntArray]:
        """Return the rows whose duration, in some unit, is one, and (n,) these in nanoseconds."""
        rows = self.usable(rows, ~rows.has_value(duration), duration, "a launch has no duration")
        duration_ns = rows.times(duration, unit_ns)
        wrong = duration_ns < 0
        rows = self.usable(rows, wrong, duration, lambda row: f"a launch lasts {duration_ns[row]:,} ns")
        return rows, duration_ns[~wrong]

    def between(self, rows: Rows, start: str, end: str) -> tuple[Rows, IntArray, IntArray]:
        """Return the rows that end after they start, and (n,) their starts and durations in nanoseconds."""
        for time in (start, end):
            rows = self.usable(rows, ~rows.has_value(time), time, f"a launch has no {rows.title(time)}")
        start_ns, end_ns = rows.times(start), rows.times(end)
        wrong = end_ns < start_ns
        rows = self.usable(rows, wrong, end, "a launch ends before it starts")
        return rows, start_ns[~wrong], (end_ns - start_ns)[~wrong]

    def sized(self, rows: Rows, *columns: str) -> Rows:
        """Return the rows that have a grid or block, or nothing, in each column of such cells."""
        for column in columns:
            # Parquet may hold it as a number.
            if rows.layout.columns[column][1] != "text":
                length = rows.numbers(column, empty=0)
                wrong, first = length < 0, f"{length.min(initial=0)}"
            else:
                cells, codes = rows.texts(column)
                wrong = np.array([not is_size(cell) for cell in cells], dtype=np.bool_)[codes]
                first = repr(cells[codes[np.argmax(wrong)]]) if len(codes) else ""
            rows = self.usable(rows, wrong, column, f"{first} is not {WRITTEN}")
        return rows

    def _put_in(self) -> None:
        self._builder.append(joined_columns(self._waiting))
        self._waiting.clear()

    def finish(
        self,
        format_name: str,
        facts: RecordingFacts,
        nothing: tuple[str, str],
        metrics: Mapping[str, FloatArray] | None = None,
        activity: ActivityReader | None = None,
    ) -> Profile:
        """Return them in API order; ``nothing`` is message and remedy where there is none."""
        if self.count == 0:
            self.left_out.in_facts(facts, 0)
            raise ProfileError(nothing[0], path=self._file.path, remedy=nothing[1])
        if self._waiting:
            self._put_in()
        file = ProfileFile(self._file.path, self._file.location, self.count)
        return self._builder.finish(
            format_name=format_name, file=file, facts=facts, metrics=metrics, activity=activity
        )
