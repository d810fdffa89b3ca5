"""A profile held in memory as compact columns: what readers of row-wise formats build, part by part.

It takes 12 to 24 bytes a launch, and up to 52 while launches are put in order. Formats that can be read
piece by piece (our Parquet) do not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.named_ranges import NO_RANGES, RangeRuns, RangeSource
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

#: Makes the named ranges from the sequences and the API start of every launch in id order, if there are any.
MakeRanges = Callable[[tuple[LaunchSequence, ...], AnyIntArray | None], RangeSource]

PART_LAUNCHES = 1 << 20


@dataclass(frozen=True, slots=True)
class LaunchColumns:
    """A part of a recording as a reader parsed it; rows in any order, arrays of shape (n,).

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
    #: None where the format does not record them (0).
    process: AnyIntArray | None = None
    device: AnyIntArray | None = None
    #: X, y, z; zeros where unknown; None where the format has none.
    grid: Sequence[AnyIntArray] | None = None
    block: Sequence[AnyIntArray] | None = None
    #: None where the format has none.
    start_ns: AnyIntArray | None = None
    stream: AnyIntArray | None = None
    #: When the call behind each launch began, which `LaunchTableBuilder.finish` passes on.
    api_start_ns: AnyIntArray | None = None


def joined_columns(parts: Sequence[LaunchColumns]) -> LaunchColumns:
    """Return the parts as one; a column that any of them lacks is left out."""
    if len(parts) == 1:
        return parts[0]
    columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(LaunchColumns)}
    return LaunchColumns(**{name: _stacked(arrays) for name, arrays in columns.items()})


def _stacked(arrays: Sequence[Any]) -> Any:
    if any(array is None for array in arrays):
        return None
    if isinstance(arrays[0], list):
        return [np.concatenate(axis) for axis in zip(*arrays, strict=True)]
    return np.concatenate(arrays)


class LaunchTableBuilder:
    """Collects the parts of one file and puts their launches in order.

    A part's grid and block become a signature code at once, so the parsed part can be dropped.
    """

    def __init__(self, path: str, kernels: KernelTable) -> None:
        self._path = path
        self._kernels = kernels
        self._parts: list[dict[str, AnyIntArray | None]] = []
        self._rows = 0

    def append(self, part: LaunchColumns, *, first_row: int | None = None) -> None:
        """Add a part.

        Parameters
        ----------
        first_row : 1-based row of the file of the part's first launch, for messages; counted on if None.

        Raises
        ------
        ProfileError : a duration is negative.
        """
        duration_ns = np.asarray(part.duration_ns, dtype=np.int64)
        if len(duration_ns) and duration_ns.min() < 0:
            worst = int(np.argmax(duration_ns < 0))
            raise ProfileError(
                f"a launch ends before it starts (duration {int(duration_ns[worst])} ns)",
                path=self._path,
                row=(self._rows + 1 if first_row is None else first_row) + worst,
                remedy="record or export the profile again",
            )
        self._parts.append(
            {
                "signature": self._kernels.intern(part.name, part.grid, part.block),
                "duration_ns": duration_ns,
                "order": part.order,
                "process": part.process,
                "device": None if part.device is None else part.device.astype(np.int32),
                "start_ns": part.start_ns,
                "stream": None if part.stream is None else part.stream.astype(np.int32),
                "api_start_ns": part.api_start_ns,
            }
        )
        self._rows += len(duration_ns)

    def finish(
        self,
        *,
        format_name: str,
        file: ProfileFile,
        facts: RecordingFacts,
        ranges: MakeRanges | None = None,
        metrics: Mapping[str, FloatArray] | None = None,
    ) -> Profile:
        """Return the launches, sequence by sequence, in API order.

        Parameters
        ----------
        ranges : makes the ranges the program named; None where the format has none.
        metrics : (launches,) each, in the order in which the launches were added.

        Raises
        ------
        ProfileError : there is not one launch.
        """
        if self._rows == 0:
            raise ProfileError("the file holds no kernel launch", path=self._path)
        columns = {name: self._joined(name) for name in tuple(self._parts[0])}
        self._parts.clear()
        order, sequences = in_sequences(
            self._rows,
            process=columns["process"],
            device=columns["device"],
            by_time=[columns["order"], columns["start_ns"]],
        )

        def placed(values: NDArray[Any]) -> NDArray[Any]:
            return values if order is None else values[order]

        begun = columns.pop("api_start_ns")
        # What only the order needed is dropped before the other columns are copied, to save memory.
        for column in ("order", "process", "device"):
            del columns[column]
        stored: tuple[Column, ...] = ("signature", "duration_ns", "start_ns", "stream")
        kept = {name: placed(each) for name in stored if (each := columns.pop(name)) is not None}
        known = {name: placed(values) for name, values in (metrics or {}).items()}
        return Profile(
            format=format_name,
            files=(replace(file, launches=self._rows),),
            kernels=self._kernels,
            sequences=sequences,
            parts=ColumnsInMemory(self._kernels, kept, known.get).parts(sequences),
            columns=frozenset({*kept, "name"}),
            facts=facts,
            metric_names=tuple(known),
            ranges=None if ranges is None else ranges(sequences, None if begun is None else placed(begun)),
        )

    def _joined(self, column: str) -> AnyIntArray | None:
        values = [part.pop(column) for part in self._parts]
        present = [value for value in values if value is not None]
        if len(present) < len(values):
            return None
        return present[0] if len(present) == 1 else np.concatenate(present)


def in_sequences(
    rows: int,
    *,
    process: AnyIntArray | None,
    device: AnyIntArray | None,
    by_time: Sequence[AnyIntArray | None],
) -> tuple[IntArray | None, tuple[LaunchSequence, ...]]:
    """Return the permutation of some launches into id order (None: they are in it) and their sequences.

    Parameters
    ----------
    process, device : (rows,) each; None where all are 0.
    by_time : the keys that order the launches of one sequence, first key first; None is left out.
    """
    by_place = [key for key in (process, device) if key is not None and key.min() != key.max()]
    keys = [*by_place, *(key for key in by_time if key is not None)]
    permutation = None if _ascending(keys) else np.lexsort(keys[::-1])
    changes = np.zeros(rows - 1, dtype=np.bool_)
    for key in by_place:
        placed = key if permutation is None else key[permutation]
        changes |= placed[1:] != placed[:-1]
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    stops = np.append(starts[1:], rows)
    first_rows = starts if permutation is None else permutation[starts]
    process_of, device_of = (
        np.zeros(len(starts), dtype=np.int64) if key is None else key[first_rows] for key in (process, device)
    )
    sequences = tuple(
        LaunchSequence(int(process_of[index]), int(device_of[index]), int(stops[index] - start), int(start))
        for index, start in enumerate(starts)
    )
    return permutation, sequences


def _ascending(keys: Sequence[AnyIntArray]) -> bool:
    """Return whether the rows are in the order of the keys, first key first."""
    if not keys:
        return True
    tied = np.ones(len(keys[0]) - 1, dtype=np.bool_)
    for key in keys:
        before, after = key[:-1], key[1:]
        if np.any(tied & (after < before)):
            return False
        tied &= after == before
    return True


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsInMemory:
    """Compact columns in id order; ``metric`` gives a whole metric, None for one that is not there."""

    kernels: KernelTable
    columns: Table
    metric: Callable[[str], FloatArray | None]

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Return views of the columns, or the name codes looked up from the signatures."""
        values: dict[Column, AnyIntArray] = {}
        for column in columns:
            if column == "name":
                values[column] = self.kernels.signature_names()[self.columns["signature"][rows]]
            else:
                values[column] = self.columns[column][rows]
        return values

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return views of the metrics, NaN for one that is not there."""
        found = ((name, self.metric(name)) for name in names)
        lacking = np.full(rows.stop - rows.start, np.nan)
        return {name: lacking if values is None else values[rows] for name, values in found}

    def parts(self, sequences: Sequence[LaunchSequence]) -> tuple[Part, ...]:
        """Return the parts of sequences that follow each other."""
        return tuple(
            Part(index, first, self, slice(first, min(first + PART_LAUNCHES, each.first_id + each.launches)))
            for index, each in enumerate(sequences)
            for first in range(each.first_id, each.first_id + each.launches, PART_LAUNCHES)
        )


#: Stands for the API start of a launch whose call was not recorded.
NO_CALL = int(np.iinfo(np.int64).max)
#: Stands for the end of a range that was still open when the recording ended.
STILL_OPEN = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, eq=False)
class RangeEvents:
    """Ranges as recorded, in any order."""

    #: Names; several ranges may share one.
    texts: Sequence[str]
    #: (r,) index of each range's name.
    text: IntArray
    #: (r,) process number, as in the profile's sequences.
    process: IntArray
    #: (r,) on the clock of the API calls; ``STILL_OPEN`` for an end that was not recorded.
    start_ns: IntArray
    end_ns: IntArray


def runs_of(
    events: RangeEvents, sequences: Sequence[LaunchSequence], api_start_ns: AnyIntArray | None
) -> RangeRuns:
    """Return the launches of every range.

    Parameters
    ----------
    sequences : of the profile.
    api_start_ns : (launches,) when the call behind each launch began, in id order; ``NO_CALL`` where it was
        not recorded; None where no call was.
    """
    if api_start_ns is None:
        return replace(NO_RANGES, texts=events.texts)
    order = np.lexsort((-events.end_ns, events.start_ns))
    runs = [np.zeros((4, 0), dtype=np.int64)]
    for index, sequence in enumerate(sequences):
        rows = slice(sequence.first_id, sequence.first_id + sequence.launches)
        place = np.flatnonzero(events.process[order] == sequence.process)
        first, stop = _ordinals(events, order[place], api_start_ns[rows])
        runs.append(np.stack([place, np.full(len(place), index), first, stop])[:, stop > first])
    joined = np.concatenate(runs, axis=1)
    place, sequence_of, first, stop = joined[:, np.argsort(joined[0], kind="stable")]
    return RangeRuns(events.texts, events.text[order[place]], sequence_of, first, stop, place)


def _ordinals(events: RangeEvents, rows: IntArray, api_start_ns: AnyIntArray) -> tuple[IntArray, IntArray]:
    """Return the first and the stop ordinal of some ranges in one sequence, equal where it has no launch."""
    known = np.flatnonzero(api_start_ns != NO_CALL)
    if not len(known):
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    times = api_start_ns[known]
    if np.any(times[1:] < times[:-1]):
        times = np.sort(times)
    first, stop = np.searchsorted(times, (events.start_ns[rows], events.end_ns[rows]))
    filled = stop > first
    # The last launch inside is the one before `stop`; launches without a call after it may lie outside.
    last_ordinal = np.where(events.end_ns[rows] == STILL_OPEN, len(api_start_ns) - 1, known[stop - 1])
    return np.where(filled, known[first % len(known)], 0), np.where(filled, last_ordinal + 1, 0)
