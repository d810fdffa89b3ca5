"""A profile: the launches of a workload as a list of parts, of which each gives a table of columns.

A launch's **id** is its 0-based index in the whole profile. Launches of one process on one device form a
**sequence**; sequences follow each other in (process, device) order, files in the order given, and inside a
sequence launches stand in the order the program issued them (API order). A **part** is a run of ids of one
sequence, and is what is loaded, used and forgotten: about a million launches.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, dense_codes
from sampling.profile.named_ranges import JoinedRanges, NamedRange, RangeRuns, RangeSource
from sampling.profile.names import NameTable

if TYPE_CHECKING:
    import pandas as pd

Column = Literal["name", "signature", "duration_ns", "start_ns", "stream"]
Dimensions = tuple[int, int, int]

#: Columns of some launches, (n,) each: ``name`` and ``signature`` are codes of the profile's kernel table,
#: durations and starts nanoseconds, ``stream`` an integer.
Table = Mapping[Column, AnyIntArray]

#: (name, inode, bytes, ns of the last change) of a file, or of each file of a folder.
DiskState = AbstractSet[tuple[str, int, int, int]]

#: How a reader found the order of launches, best first.
LaunchOrder = Literal["api-start", "correlation", "gpu-start", "file"]


@dataclass(frozen=True, slots=True)
class LaunchSequence:
    """The launches of one process on one device, in API order; ids from ``first_id`` on."""

    process: int
    device: int
    launches: int
    first_id: int


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as the profile describes it; what it does not say is None.

    ``process`` is set where processes number their GPUs differently, so that the number alone says nothing.
    """

    device: int
    name: str
    sm_count: int | None = None
    memory_bytes: int | None = None
    process: int | None = None


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """What a reader learnt about the recording besides its launches."""

    #: The GPUs described in the file.
    devices: tuple[Device, ...] = ()
    #: What the launches are ordered by.
    launch_order: LaunchOrder = "file"
    #: Launches without the API call that issued them.
    api_rows_missing: int = 0
    #: CUDA-graph replays recorded as a whole, whose kernels are not in the profile.
    hidden_graph_replays: int = 0
    #: The recording tool and its version, where the file names them.
    product: str | None = None


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """One input file."""

    #: As the user gave it.
    path: str
    #: Where its bytes lie.
    location: Path
    #: How many it holds.
    launches: int
    #: Of its bytes, where they are gone after reading (standard input); else None.
    sha256: str | None = None
    #: Of the file on disk when reading began; None where its bytes are gone after reading.
    state: DiskState | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """What is launched: a kernel name with its grid and block. Unknown dimensions are None."""

    name: int
    grid: Dimensions | None
    block: Dimensions | None


class KernelTable:
    """The distinct names and (name, grid, block) signatures of a workload, each with a code from 0.

    Append-only and safe for threads. One table serves all files of a workload, so codes compare across them.
    """

    def __init__(self) -> None:
        self.names = NameTable()
        self._codes: dict[tuple[int, ...], int] = {}
        self._rows: list[tuple[int, ...]] = []
        # The rows once more, column by column. Filled ones never change, so a view of them stays valid.
        self._columns = np.zeros((7, 0), dtype=np.int64)
        self._filled = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def intern(
        self,
        name: AnyIntArray,
        grid: Sequence[AnyIntArray] | None,
        block: Sequence[AnyIntArray] | None,
    ) -> NDArray[np.int32]:
        """Return the signature code of every row, adding new signatures.

        Parameters
        ----------
        name : (n,) name codes of ``names``.
        grid, block : three (n,) arrays x, y, z each; all zero in a row whose dimensions are unknown.
        """
        codes, first_rows = dense_codes([name, *(grid or ()), *(block or ())])
        distinct = np.zeros((len(first_rows), 7), dtype=np.int64)
        distinct[:, 0] = name[first_rows]
        for offset, dimensions in ((1, grid), (4, block)):
            for axis, column in enumerate(dimensions or ()):
                distinct[:, offset + axis] = column[first_rows]
        with self._lock:
            table = np.fromiter(map(self._intern_one, map(tuple, distinct.tolist())), dtype=np.int32)
        return table.take(codes) if len(codes) else np.zeros(0, dtype=np.int32)

    def _intern_one(self, row: tuple[int, ...]) -> int:
        code = self._codes.setdefault(row, len(self._rows))
        if code == len(self._rows):
            self._rows.append(row)
        return code

    def signature(self, code: int) -> Signature:
        """Return the name code, grid and block behind a signature code."""
        name, *dimensions = self._rows[code]
        grid, block = dimensions[:3], dimensions[3:]
        return Signature(
            name=name,
            grid=(grid[0], grid[1], grid[2]) if any(grid) else None,
            block=(block[0], block[1], block[2]) if any(block) else None,
        )

    def signature_names(self) -> NDArray[np.int32]:
        """Return (signatures,) the name code of every signature so far."""
        return self.signature_rows()[:, 0].astype(np.int32)

    def signature_rows(self) -> IntArray:
        """Return (signatures, 7) name code, grid x, y, z and block x, y, z of every signature so far.

        Unknown dimensions are 0. The array is read-only and stays as it is when signatures are added.
        """
        with self._lock:
            if self._filled < len(self._rows):
                self._fill()
            rows = self._columns[:, : self._filled].T
        rows.flags.writeable = False
        return rows

    def _fill(self) -> None:
        filled, total = self._filled, len(self._rows)
        if total > self._columns.shape[1]:
            grown = np.zeros((7, max(total, 2 * self._columns.shape[1])), dtype=np.int64)
            grown[:, :filled] = self._columns[:, :filled]
            self._columns = grown
        self._columns[:, filled:total] = np.array(self._rows[filled:], dtype=np.int64).T
        self._filled = total


class Source(Protocol):
    """What launches are loaded from: columns in memory, or a file. Threads may load at once."""

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Return columns of some rows, which lie in one sequence."""

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return metrics of some rows, NaN where a launch has none."""


# Two are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A run of launches of one sequence, or those of them that a region selects: what is loaded at once."""

    #: Index into ``Profile.sequences``.
    sequence: int
    #: The id of its first launch.
    first_id: int
    #: Where its launches lie.
    source: Source = field(repr=False)
    rows: slice
    #: (rows,) which of these launches are meant, the first and the last among them; None: all.
    wanted: BoolArray | None = field(default=None, repr=False)

    @property
    def launches(self) -> int:
        """How many launches are meant."""
        if self.wanted is not None:
            return int(np.count_nonzero(self.wanted))
        launches: int = self.rows.stop - self.rows.start
        return launches

    @property
    def stop_id(self) -> int:
        """One after the id of its last launch."""
        size: int = self.rows.stop - self.rows.start
        return self.first_id + size

    def load(self, columns: Sequence[Column]) -> Table:
        """Return (launches,) columns."""
        table = self.source.load(self.rows, columns)
        if self.wanted is None:
            return table
        return {column: values[self.wanted] for column, values in table.items()}

    def metrics(self, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return (launches,) some of ``Profile.metric_names``, NaN where a launch has none."""
        table = self.source.metrics(self.rows, names)
        return table if self.wanted is None else {name: each[self.wanted] for name, each in table.items()}

    def ids(self, places: IntArray) -> IntArray:
        """Return the ids of launches, counted among those that are meant from 0."""
        rows = places if self.wanted is None else np.flatnonzero(self.wanted)[places]
        return self.first_id + rows

    def narrowed(self, inside: BoolArray) -> Part | None:
        """Return the part of it that is still wanted (launches,), None if there is none."""
        if inside.all():
            return self
        rows = np.flatnonzero(inside) if self.wanted is None else np.flatnonzero(self.wanted)[inside]
        return self._between(int(rows[0]), int(rows[-1]) + 1, rows) if len(rows) else None

    def between(self, low_id: int, high_id: int) -> Part | None:
        """Return what has ids from ``low_id`` to, not with, ``high_id``; of a part of which all is meant."""
        first, stop = max(low_id - self.first_id, 0), min(high_id, self.stop_id) - self.first_id
        return self._between(first, stop) if first < stop else None

    def _between(self, first: int, stop: int, rows: IntArray | None = None) -> Part:
        wanted = None
        if rows is not None and len(rows) < stop - first:
            wanted = np.zeros(stop - first, dtype=np.bool_)
            wanted[rows - first] = True
        begin: int = self.rows.start
        return replace(
            self, first_id=self.first_id + first, rows=slice(begin + first, begin + stop), wanted=wanted
        )


@dataclass(eq=False)
class Profile:
    """The ordered launches of a workload, loaded part by part."""

    #: The name of the format it was read from, e.g. "nsys-sqlite".
    format: str
    #: The input files, in the order given.
    files: tuple[ProfileFile, ...]
    #: Names and signatures behind the codes; complete for what has been loaded so far.
    kernels: KernelTable = field(repr=False)
    #: One for each process and device, in id order.
    sequences: tuple[LaunchSequence, ...]
    #: All launches, in id order.
    parts: tuple[Part, ...] = field(repr=False)
    #: The columns this profile can give; "name" and "duration_ns" always, "signature" always (with unknown
    #: dimensions where the recording has none).
    columns: frozenset[Column]
    #: What the reader learnt besides the launches.
    facts: RecordingFacts = RecordingFacts()
    #: The metrics the profile itself has of its launches, besides their durations.
    metric_names: tuple[str, ...] = ()
    #: The ranges the program named; None where the recording's format has none.
    ranges: RangeSource | None = None
    #: For each sequence the file on whose clock its starts are; starts of two clocks do not compare.
    clocks: tuple[int, ...] = ()
    #: Which columns of its tables hold what, as the user said it; None where nobody did.
    named_columns: str | None = None
    #: What the user should know of how the files were read.
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.clocks = self.clocks or (0,) * len(self.sequences)

    @property
    def launches(self) -> int:
        """The number of launches."""
        return sum(sequence.launches for sequence in self.sequences)

    def load(self, columns: Sequence[Column]) -> Table:
        """Return (launches,) columns of all launches in id order, at once."""
        tables = [part.load(columns) for part in self.parts]
        return {column: np.concatenate([table[column] for table in tables]) for column in columns}

    def named_ranges(self, text: str) -> tuple[NamedRange, ...] | None:
        """Return the ranges of exactly this name, else those whose name contains it, in the order they open.

        None: the recording's format has no ranges. A range during which nothing was launched is left out.
        Which launches belong to a range is said in `sampling.profile.named_ranges`.
        """
        return None if self.ranges is None else self.ranges.named(text)

    def range_names(self, most: int) -> tuple[str, ...]:
        """Return some distinct names of ranges, for messages: quickly, so maybe not the first ones."""
        return () if self.ranges is None else self.ranges.some_names(most)

    def range_runs(self) -> RangeRuns | None:
        """Return all ranges during which something was launched; None: the recording's format has none."""
        return None if self.ranges is None else self.ranges.all_runs()

    def to_pandas(self) -> pd.DataFrame:
        """Return the launches as a table, a row each, whose index is their id.

        Columns are ``name`` (a category), ``grid_x`` to ``block_z`` (0 where unknown), ``duration_ns``,
        ``start_ns`` and ``stream`` where they were recorded, ``process``, ``device``, and its metrics.
        """
        import pandas as pd

        optional: tuple[Column, ...] = ("start_ns", "stream")
        wanted: list[Column] = ["duration_ns", *(name for name in optional if name in self.columns)]
        loaded = self.load(("signature", *wanted))
        metrics = [part.metrics(self.metric_names) for part in self.parts]
        rows = self.kernels.signature_rows()[loaded["signature"]]
        names = np.array(
            [self.kernels.names.full(code) for code in range(len(self.kernels.names))], dtype=object
        )
        table = pd.DataFrame(
            rows[:, 1:], columns=[f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"]
        )
        table.insert(0, "name", pd.Series(names[rows[:, 0]], dtype="category"))
        for column in wanted:
            table[column] = loaded[column]
        launches = [sequence.launches for sequence in self.sequences]
        table["process"] = np.repeat([sequence.process for sequence in self.sequences], launches)
        table["device"] = np.repeat([sequence.device for sequence in self.sequences], launches)
        for name in self.metric_names:
            table[name] = np.concatenate([each[name] for each in metrics])
        table.index.name = "id"
        return table


def joined_profiles(profiles: Sequence[Profile]) -> Profile:
    """Return profiles that were read with one kernel table as one; their launches follow each other.

    Process numbers stay as recorded where they differ from file to file; where two files record the same one
    (or none), processes are numbered 0, 1, 2... in the order of the files.
    """
    numbers = _process_numbers(profiles)
    sequences: list[LaunchSequence] = []
    parts: list[Part] = []
    clocks: list[int] = []
    first_id = 0
    for index, profile in enumerate(profiles):
        before = len(sequences)
        parts += [
            replace(part, sequence=before + part.sequence, first_id=first_id + part.first_id)
            for part in profile.parts
        ]
        for sequence in profile.sequences:
            process = numbers[index, sequence.process]
            sequences.append(replace(sequence, process=process, first_id=first_id + sequence.first_id))
            clocks.append(index)
        first_id += profile.launches
    facts = [profile.facts for profile in profiles]
    weakest_first = ("file", "gpu-start", "correlation", "api-start")
    products = dict.fromkeys(fact.product for fact in facts if fact.product is not None)
    return Profile(
        format="+".join(dict.fromkeys(profile.format for profile in profiles)),
        files=tuple(file for profile in profiles for file in profile.files),
        kernels=profiles[0].kernels,
        sequences=tuple(sequences),
        parts=tuple(parts),
        columns=frozenset.intersection(*(profile.columns for profile in profiles)),
        facts=RecordingFacts(
            devices=_devices(profiles, numbers),
            launch_order=min((fact.launch_order for fact in facts), key=weakest_first.index),
            api_rows_missing=sum(fact.api_rows_missing for fact in facts),
            hidden_graph_replays=sum(fact.hidden_graph_replays for fact in facts),
            product=", ".join(products) or None,
        ),
        metric_names=tuple(dict.fromkeys(name for profile in profiles for name in profile.metric_names)),
        ranges=JoinedRanges.of([(profile.ranges, len(profile.sequences)) for profile in profiles]),
        clocks=tuple(clocks),
    )


def _process_numbers(profiles: Sequence[Profile]) -> dict[tuple[int, int], int]:
    """Return (file index, recorded process) -> the process number where all are one."""
    recorded = [
        (index, process)
        for index, profile in enumerate(profiles)
        for process in dict.fromkeys(sequence.process for sequence in profile.sequences)
    ]
    if len({process for _, process in recorded}) == len(recorded):
        return {(index, process): process for index, process in recorded}
    return {place: number for number, place in enumerate(recorded)}


def _devices(profiles: Sequence[Profile], numbers: Mapping[tuple[int, int], int]) -> tuple[Device, ...]:
    """Return each file's GPUs for each of its processes: one number may mean another GPU in another file."""
    return tuple(
        replace(device, process=numbers[index, sequence.process])
        for index, profile in enumerate(profiles)
        for sequence in profile.sequences
        for device in profile.facts.devices
        if device.device == sequence.device and device.process in {None, sequence.process}
    )
