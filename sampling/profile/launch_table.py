"""A profile held in memory as compact columns: what readers of row-wise formats build, part by part.

It takes 12 to 24 bytes a launch, and up to 52 while launches are put in order. Formats that can be read
piece by piece (our Parquet) do not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, joined
from sampling.errors import ProfileError
from sampling.parallel import Lock, ordered_map
from sampling.profile.activity import ActivityReader, in_id_order
from sampling.profile.named_ranges import NO_RANGES, RangeRuns, RangeSource, find_range_operators
from sampling.profile.profile import (
    Column,
    KernelTable,
    LaunchSequence,
    Part,
    Profile,
    ProfileFile,
    RecordingFacts,
    Table,
)
from sampling.profile.times import NO_START, find_starts, overlong_launches

PART_LAUNCHES = 1 << 20
# Of a few rows that can be no launch the others are read; many say that the file is not what it seems.
_MOST_LEFT_OUT, _MOST_LEFT_OUT_SHARE = 10, 0.01
#: The name of a launch that the recording gives none.
NO_NAME = "(no name)"
#: Texts of operators, "" for none, and (rows,) the index of each launch's.
FoundOperators = tuple[Sequence[str], AnyIntArray]
# Fewer kernels follow each other in the same way by chance.
_FEWEST_REPEATED = 10
_NOT_STORED = ("start_step_ns", "device_launched", "api_start_ns")
#: Stands for the API start of a launch whose call was not recorded.
NO_CALL = int(np.iinfo(np.int64).max)
#: Stands for the end of a range that was still open when the recording ended.
STILL_OPEN = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class LaunchColumns:
    """A part of a recording as a reader parsed it; rows in any order, arrays (n,), None where not recorded.

    ``order`` and ``process`` are kept, not copied: a reader that learns them late may still fill them in
    before `LaunchTableBuilder.finish`.
    """

    #: Codes interned in the reader's kernel table.
    name: AnyIntArray
    #: Nanoseconds, >= 0.
    duration_ns: AnyIntArray
    #: The time or number that puts launches in API order within their process and device; rows with equal
    #: values keep the order of ``start_ns``, then of the file. None: file order.
    order: AnyIntArray | None = None
    process: AnyIntArray | None = None
    device: AnyIntArray | None = None
    #: X, y, z; zeros where unknown.
    grid: Sequence[AnyIntArray] | None = None
    block: Sequence[AnyIntArray] | None = None
    #: `NO_START` where not recorded.
    start_ns: AnyIntArray | None = None
    #: Nanoseconds to which starts were rounded when they were written; None: they are as the clock had them.
    start_step_ns: AnyIntArray | None = None
    stream: AnyIntArray | None = None
    #: Whether a kernel launched it, in which it then lies; None: the host launched all.
    device_launched: BoolArray | None = None
    #: When the call behind each launch began, which `LaunchTableBuilder.finish` passes on.
    api_start_ns: AnyIntArray | None = None


def joined_columns(parts: Sequence[LaunchColumns]) -> LaunchColumns:
    """Return the parts as one; a column that any of them lacks is left out."""
    names = [field.name for field in fields(LaunchColumns)]
    return LaunchColumns(**{name: _stacked([getattr(part, name) for part in parts]) for name in names})


def _stacked(values: Sequence[Any]) -> Any:
    """Return the same column of several parts, an array or three, as one; None where a part lacks it."""
    if len(values) == 1 or any(value is None for value in values):
        return values[0] if len(values) == 1 else None
    if isinstance(values[0], np.ndarray):
        return joined(values)
    return [joined(axis) for axis in zip(*values, strict=True)]


class RowsLeftOut:
    """The rows of a file that are of launches but can be none, such as one that ends before it starts."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rows = 0
        self._first: tuple[str, int | None, str | None] | None = None

    def add(self, rows: int, message: str, *, row: int | None = None, column: str | None = None) -> None:
        """Count some rows; ``message`` says what is wrong with the first, which is in this row and column."""
        self._rows += rows
        self._first = self._first or (message, row, column)

    def in_facts(self, facts: RecordingFacts, launches: int) -> RecordingFacts:
        """Return the facts of a recording with what was left out beside so many launches.

        Raises ProfileError: no launch is left, or more than ten rows and more than 1 % are left out.
        """
        if self._first is None:
            return facts
        message, row, column = self._first
        share = self._rows / (self._rows + launches)
        if not launches or (self._rows > _MOST_LEFT_OUT and share > _MOST_LEFT_OUT_SHARE):
            remark = "" if self._rows == 1 else f", the first of {self._rows:,} rows that can be no launch"
            remedy = "record or export the profile again"
            raise ProfileError(f"{message}{remark}", path=self._path, row=row, column=column, remedy=remedy)
        place = ", ".join(part for part in (row and f"row {row:,}", column and f"column {column}") if part)
        first = f"{place}: {message}" if place else message
        return replace(facts, rows_left_out=self._rows, first_left_out=first)


class LaunchTableBuilder:
    """Collects the parts of one file and puts their launches in order.

    A part's grid and block become a signature code at once, so the parsed part can be dropped.
    """

    def __init__(self, path: str, kernels: KernelTable, *, keep_overlong: bool = False) -> None:
        self.left_out = RowsLeftOut(path)
        self._path = path
        self._keep_overlong = keep_overlong
        self._kernels = kernels
        self._parts: list[dict[str, AnyIntArray | None]] = []
        self._rows = 0

    def append(self, part: LaunchColumns) -> None:
        """Add a part; `ProfileError` where a duration is negative."""
        duration_ns = np.asarray(part.duration_ns, dtype=np.int64)
        if duration_ns.min(initial=0) < 0:
            worst = int(np.argmax(duration_ns < 0))
            raise ProfileError(
                f"a launch ends before it starts (duration {int(duration_ns[worst])} ns)",
                path=self._path,
                row=self._rows + worst + 1,
                remedy="record or export the profile again",
            )
        columns = {name: getattr(part, name) for name in ("order", "process", "start_ns", *_NOT_STORED)}
        for name in ("device", "stream"):
            values = getattr(part, name)
            columns[name] = None if values is None else joined([values.astype(np.int32)])
        signature = self._kernels.intern(part.name, part.grid, part.block)
        self._parts.append({"signature": signature, "duration_ns": duration_ns, **columns})
        self._rows += len(duration_ns)

    def finish(
        self,
        *,
        format_name: str,
        file: ProfileFile,
        facts: RecordingFacts,
        ranges: Callable[[tuple[LaunchSequence, ...], AnyIntArray | None], RangeSource] | None = None,
        operators: Callable[[], FoundOperators] | None = None,
        captured: Callable[[], FoundOperators] | None = None,
        metrics: Mapping[str, FloatArray] | None = None,
        activity: ActivityReader | None = None,
    ) -> Profile:
        """Return the launches, sequence by sequence, in API order; `ProfileError` where there is not one.

        ``ranges`` makes the named ranges from the sequences and the API start of every launch in id order;
        None where the format has none. ``operators`` finds the operators of the launches when they are asked
        for; None: named ranges are operators, but of launches of which ``captured`` finds one. These and
        ``metrics`` are in the order in which the launches were added.
        """
        facts = self.left_out.in_facts(facts, self._rows)
        if self._rows == 0:
            raise ProfileError("the file holds no kernel launch", path=self._path)
        names = list(self._parts[0])
        stacked = ordered_map(lambda name: _stacked([part.pop(name) for part in self._parts]), names)
        columns = dict(zip(names, stacked, strict=True))
        self._parts.clear()
        by_time: Sequence[AnyIntArray | None] = [columns.pop("order"), None]
        if (start_ns := columns["start_ns"]) is not None:
            starts = find_starts(start_ns, columns["duration_ns"], by_time[0])
            columns |= {"start_ns": starts.start_ns, "duration_ns": starts.duration_ns}
            by_time, facts = starts.keys, replace(facts, without_start=starts.missing)
        order, sequences = in_sequences(
            self._rows, process=columns.pop("process"), device=columns.pop("device"), by_time=by_time
        )

        def placed(values: NDArray[Any]) -> NDArray[Any]:
            return values if order is None else values[order]

        step_ns, apart, api_start_ns = (
            None if (column := columns.pop(name)) is None else placed(column) for name in _NOT_STORED
        )
        is_apart = None if apart is None else apart.astype(np.bool_)
        stored: tuple[Column, ...] = ("signature", "duration_ns", "start_ns", "stream")
        stored_columns = {
            name: placed(column) for name in stored if (column := columns.pop(name)) is not None
        }
        stored_columns["duration_ns"], facts = self._cut(stored_columns, sequences, step_ns, is_apart, facts)
        metric = {name: placed(values) for name, values in (metrics or {}).items()}
        named_ranges = None if ranges is None else ranges(sequences, api_start_ns)
        operator: OperatorColumn | None = None
        if operators is not None:
            operator = OperatorColumn(self._kernels, stored_columns["signature"], operators, order, sequences)
        elif named_ranges is not None:
            named = partial(find_range_operators, named_ranges, [sequence.launches for sequence in sequences])
            find = named if captured is None else partial(_capture_operators, captured, order, named)
            operator = OperatorColumn(self._kernels, stored_columns["signature"], find)
        return Profile(
            format=format_name,
            files=(replace(file, launches=self._rows),),
            kernels=self._kernels,
            sequences=sequences,
            parts=ColumnsInMemory(self._kernels, stored_columns, metric, operator).parts(sequences),
            columns=frozenset({*stored_columns, "name", *(() if operator is None else ("operator",))}),
            facts=facts,
            metric_names=tuple(metric),
            ranges=named_ranges,
            activity_reader=None if activity is None else partial(in_id_order, activity, order, sequences),
        )

    def _cut(
        self,
        table: Table,
        sequences: Sequence[LaunchSequence],
        step_ns: AnyIntArray | None,
        apart: BoolArray | None,
        facts: RecordingFacts,
    ) -> tuple[AnyIntArray, RecordingFacts]:
        """Return the durations, of overlong launches up to the next start of their stream, and the facts.

        Where these are kept they are as recorded.
        """
        duration_ns = table["duration_ns"]
        if not table.keys() >= {"start_ns", "stream"}:
            return duration_ns, facts
        columns = table["start_ns"], duration_ns, table["stream"]
        if facts.without_start:
            untimed = columns[0] == NO_START
            apart = untimed if apart is None else apart | untimed

        def overlong(sequence: LaunchSequence) -> tuple[IntArray, IntArray]:
            rows = slice(sequence.first_id, sequence.first_id + sequence.launches)
            start_ns, lasts_ns, stream = (column[rows] for column in columns)
            places, limits_ns = overlong_launches(
                start_ns,
                lasts_ns,
                stream,
                step_ns=None if step_ns is None else step_ns[rows],
                apart=None if apart is None else apart[rows],
            )
            return places + sequence.first_id, limits_ns

        ids, limits_ns = map(np.concatenate, zip(*ordered_map(overlong, sequences), strict=True))
        if not len(ids):
            return duration_ns, facts
        name = self._kernels.signature(int(table["signature"][ids[0]])).name
        facts = with_overlong(
            facts, duration_ns[ids] - limits_ns, self._kernels.names.full(name), are_kept=self._keep_overlong
        )
        if not self._keep_overlong:
            duration_ns = duration_ns.copy()
            duration_ns[ids] = limits_ns
        return duration_ns, facts


def with_overlong(
    facts: RecordingFacts, beyond_ns: IntArray, first: str, *, are_kept: bool
) -> RecordingFacts:
    """Return the facts of a recording with overlong launches: how much is beyond the limit of each (k,)."""
    return replace(
        facts,
        overlong=facts.overlong + len(beyond_ns),
        overlong_ns=facts.overlong_ns + int(beyond_ns.sum()),
        first_overlong=facts.first_overlong or first,
        keeps_overlong=are_kept,
    )


def _capture_operators(
    captured: Callable[[], FoundOperators], order: IntArray | None, named: Callable[[], FoundOperators]
) -> FoundOperators:
    """Return operators as captured where there is one, in the order of those that are named."""
    (texts, text), (named_texts, named_text) = captured(), named()
    text = text if order is None else text[order]
    return [*texts, *named_texts], np.where(text > 0, text, named_text + len(texts))


def in_sequences(
    rows: int,
    *,
    process: AnyIntArray | None,
    device: AnyIntArray | None,
    by_time: Sequence[AnyIntArray | None],
) -> tuple[IntArray | None, tuple[LaunchSequence, ...]]:
    """Return the permutation of some launches into id order (None: they are in it) and their sequences.

    All are (rows,); a process or device of None is 0. ``by_time`` are the keys that order the launches of one
    sequence, first key first; None is left out.
    """
    by_place = [key for key in (process, device) if key is not None and key.min() != key.max()]
    keys = [*by_place, *(key for key in by_time if key is not None)]
    permutation = None if _ascending(rows, keys) else np.lexsort(keys[::-1])
    changes = np.zeros(rows - 1, dtype=np.bool_)
    for key in by_place:
        placed = key if permutation is None else key[permutation]
        changes |= placed[1:] != placed[:-1]
    sequences = []
    for first, stop in pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), rows]):
        row = first if permutation is None else permutation[first]
        place, number = (0 if key is None else int(key[row]) for key in (process, device))
        sequences.append(LaunchSequence(place, number, stop - first, first))
    return permutation, tuple(sequences)


def _ascending(rows: int, keys: Sequence[AnyIntArray]) -> bool:
    """Return whether rows are in the order of some keys, first key first."""
    tied = np.ones(rows - 1, dtype=np.bool_)
    for key in keys:
        if np.any(tied & (key[1:] < key[:-1])):
            return False
        tied &= key[1:] == key[:-1]
    return True


@dataclass(eq=False)
class OperatorColumn:
    """The operators of all launches, found when they are first asked for: few ask."""

    kernels: KernelTable
    #: (n,) in id order
    signature: AnyIntArray
    find: Callable[[], FoundOperators]
    #: (n,) which of the launches as found each is in id order; None: they are in it.
    order: IntArray | None = None
    #: Of these the first launches have none where their recording began late.
    begun_late: tuple[LaunchSequence, ...] = ()
    _codes: NDArray[np.int32] | None = None
    _lock: Lock = field(default_factory=Lock)

    def codes(self) -> NDArray[np.int32]:
        """Return (n,) codes of the kernel table in id order."""
        with self._lock:
            if self._codes is None:
                texts, text = self.find()
                placed = text if self.order is None else text[self.order]
                for sequence in self.begun_late:
                    rows = slice(sequence.first_id, sequence.first_id + sequence.launches)
                    placed[rows] = self._as_repeated(placed[rows], self.signature[rows])
                self._codes = self.kernels.intern_operators(texts, placed, self.signature)
            return self._codes

    def _as_repeated(self, text: AnyIntArray, signature: AnyIntArray) -> AnyIntArray:
        """Return (n,) operators, where the first launches have none those of the same place in an iteration.

        That is where the same kernels, by name, follow each other later on, all of them, and have the same
        operators each time they do, one time after another.
        """
        first = int(np.argmax(text > 0))
        if first < _FEWEST_REPEATED:
            return text
        name = self.kernels.signature_names()[signature]
        later, pattern = name[first:].tobytes(), name[:first].tobytes()
        best: AnyIntArray | None = None
        byte = later.find(pattern)
        while byte >= 0:
            # Bytes that are alike but begin within a number are no place.
            place, remainder = divmod(byte, name.itemsize)
            if not remainder:
                candidate = text[first + place : 2 * first + place]
                best = candidate if best is None else best
                if (candidate != best).any():
                    return text
            byte = later.find(pattern, byte + (1 if remainder else len(pattern)))
        return text if best is None else np.concatenate([best, text[first:]])


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsInMemory:
    """Compact columns in id order, (n,) each, and the metrics by their names."""

    kernels: KernelTable
    columns: Table
    metric: Mapping[str, FloatArray]
    operator: OperatorColumn | None = None

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Return views of the columns, or the name codes looked up from the signatures."""
        table: dict[Column, AnyIntArray]
        stored = [column for column in columns if column not in {"name", "operator"}]
        table = {column: self.columns[column][rows] for column in stored}
        if "operator" in columns and self.operator is not None:
            table["operator"] = self.operator.codes()[rows]
        if "name" in columns:
            table["name"] = self.kernels.signature_names()[self.columns["signature"][rows]]
        return table

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return views of the metrics, NaN for one that is not there."""
        lacking = np.full(rows.stop - rows.start, np.nan)
        return {name: self.metric[name][rows] if name in self.metric else lacking for name in names}

    def parts(self, sequences: Sequence[LaunchSequence]) -> tuple[Part, ...]:
        """Return the parts of sequences that follow each other."""
        return tuple(
            Part(
                index,
                first,
                self,
                slice(first, min(first + PART_LAUNCHES, sequence.first_id + sequence.launches)),
            )
            for index, sequence in enumerate(sequences)
            for first in range(sequence.first_id, sequence.first_id + sequence.launches, PART_LAUNCHES)
        )


def with_kernels(profile: Profile, kernels: KernelTable) -> Profile:
    """Return a profile in memory with codes of another kernel table, to which its kernels are added."""
    source = profile.parts[0].source
    assert isinstance(source, ColumnsInMemory)
    code, columns = kernels.add(profile.kernels), dict(source.columns)
    is_same = bool((code == np.arange(len(code))).all())
    if not is_same:
        columns["signature"] = code[columns["signature"]]
    operator = source.operator
    if operator is not None:
        operator = OperatorColumn(
            kernels, columns["signature"], operator.find, operator.order, operator.begun_late
        )
    moved = ColumnsInMemory(kernels, columns, source.metric, operator)
    parts = tuple(replace(part, source=moved) for part in profile.parts)
    moved_profile = replace(profile, kernels=kernels, parts=parts)
    moved_profile.reduced = profile.reduced if is_same else None
    return moved_profile


def find_range_runs(
    texts: Sequence[str],
    events: IntArray,
    sequences: Sequence[LaunchSequence],
    api_start_ns: AnyIntArray | None,
) -> RangeRuns:
    """Return the launches of every range.

    ``events`` are (4, r) ranges in any order: the index of the name, the process as in the sequences, start
    and end on the clock of the API calls, ``STILL_OPEN`` for an end that was not recorded. ``api_start_ns``
    says in id order when the call behind each launch began, ``NO_CALL`` where it was not recorded.
    """
    if api_start_ns is None:
        return replace(NO_RANGES, texts=texts)
    text, process, begin_ns, end_ns = events[:, np.lexsort((-events[3], events[2]))]
    runs = [np.zeros((4, 0), dtype=np.int64)]
    for index, sequence in enumerate(sequences):
        starts = api_start_ns[sequence.first_id : sequence.first_id + sequence.launches]
        issued = np.flatnonzero(starts != NO_CALL)
        # In order but for sequences ordered by the correlation numbers of several threads; sorted, every
        # range keeps the number of its launches.
        times = np.sort(starts[issued], kind="stable")
        rows = np.flatnonzero(process == sequence.process)
        low, high = np.searchsorted(times, (begin_ns[rows], end_ns[rows]))
        filled = high > low
        rows, low, high = rows[filled], low[filled], high[filled]
        # Launches without a call after the last one inside lie outside, unless the range never closed.
        stop = np.where(end_ns[rows] == STILL_OPEN, len(starts), issued[high - 1] + 1)
        runs.append(np.stack([rows, np.full(len(rows), index), issued[low], stop]))
    joined = np.concatenate(runs, axis=1)
    opened, sequence_of, first, stop = joined[:, np.argsort(joined[0], kind="stable")]
    open_ns = np.where(end_ns == STILL_OPEN, 0, end_ns - begin_ns)[opened]
    return RangeRuns(texts, text[opened], sequence_of, first, stop, opened, open_ns)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (_capture_operators,)
