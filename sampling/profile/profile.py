"""A profile: the launches of a workload, as a source of column batches. It is never one big table.

A launch's **id** is its 0-based index in the whole profile. Launches of one process on one device form a
**sequence**; sequences follow each other in (process, device) order, files in the order given, and inside a
sequence launches stand in the order the program issued them (API order). So every batch is a run of ids.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.dense_codes import dense_codes
from sampling.profile.names import NameTable
from sampling.profile.range_runs import NamedRange, RangeRuns, RangeSource

if TYPE_CHECKING:
    import pandas as pd

Column = Literal["name", "signature", "duration_ns", "start_ns", "stream"]
Dimensions = tuple[int, int, int]

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
    """What a reader learnt about the recording besides its launches.

    Attributes
    ----------
    devices : the GPUs described in the file.
    launch_order : what the launches are ordered by.
    api_rows_missing : launches without the API call that issued them.
    hidden_graph_replays : CUDA-graph replays recorded as a whole, whose kernels are not in the profile.
    product : the recording tool and its version, where the file names them.
    """

    devices: tuple[Device, ...] = ()
    launch_order: LaunchOrder = "file"
    api_rows_missing: int = 0
    hidden_graph_replays: int = 0
    product: str | None = None


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """One input file.

    Attributes
    ----------
    path : as the user gave it.
    location : where its bytes lie.
    launches : how many it holds.
    sha256 : of its bytes, where they are gone after reading (standard input); else None.
    state : of the file on disk when reading began; None where its bytes are gone after reading.
    """

    path: str
    location: Path
    launches: int
    sha256: str | None = None
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
        if grid is None and block is None:
            return self._bare_signatures(name)
        codes, first_rows = dense_codes([name, *(grid or ()), *(block or ())])
        distinct = np.zeros((len(first_rows), 7), dtype=np.int64)
        distinct[:, 0] = name[first_rows]
        for offset, dimensions in ((1, grid), (4, block)):
            for axis, column in enumerate(dimensions or ()):
                distinct[:, offset + axis] = column[first_rows]
        with self._lock:
            table = np.fromiter(map(self._intern_one, map(tuple, distinct.tolist())), dtype=np.int32)
        return table[codes] if len(codes) else np.zeros(0, dtype=np.int32)

    def _bare_signatures(self, name: AnyIntArray) -> NDArray[np.int32]:
        """Return the codes of signatures that are a name alone, by a table over all names."""
        used = np.flatnonzero(np.bincount(name))
        table = np.zeros(int(used[-1]) + 1 if len(used) else 0, dtype=np.int32)
        with self._lock:
            table[used] = [self._intern_one((code, 0, 0, 0, 0, 0, 0)) for code in used.tolist()]
        return table.take(name)

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


@dataclass(frozen=True, slots=True)
class Span:
    """A run of consecutive launches of one sequence, the unit in which a profile is read.

    Attributes
    ----------
    sequence : index into ``Profile.sequences``.
    first_ordinal : index of the first launch within its sequence.
    launches : how many.
    handle : for the source itself, e.g. a row group and an offset in it.
    """

    sequence: int
    first_ordinal: int
    launches: int
    handle: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """The columns asked for, of the launches of one span; every column has shape (span.launches,).

    ``name`` and ``signature`` are codes of the profile's kernel table, durations and starts int64
    nanoseconds, ``stream`` an integer.
    """

    span: Span
    columns: Mapping[Column, AnyIntArray] = field(repr=False)

    def __getitem__(self, column: Column) -> AnyIntArray:
        return self.columns[column]

    def __len__(self) -> int:
        return self.span.launches


class Profile(ABC):
    """The ordered launches of a workload, read span by span.

    Attributes
    ----------
    format : the name of the format it was read from, e.g. "nsys-sqlite".
    files : the input files, in the order given.
    kernels : names and signatures behind the codes; complete for what has been read so far.
    sequences : one for each process and device, in id order.
    columns : the columns this profile can give; "name" and "duration_ns" always, "signature" always (with
        unknown dimensions where the recording has none).
    facts : what the reader learnt besides the launches.
    metric_names : the metrics the profile itself has of its launches, besides their durations.
    ranges : the ranges the program named; None where the recording's format has none.
    named_columns : which columns of its tables hold what, as the user said it; None where nobody did.
    notes : what the user should know of how the files were read.
    """

    format: str
    files: tuple[ProfileFile, ...]
    kernels: KernelTable
    sequences: tuple[LaunchSequence, ...]
    columns: frozenset[Column]
    facts: RecordingFacts
    metric_names: tuple[str, ...] = ()
    ranges: RangeSource | None = None
    named_columns: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def launches(self) -> int:
        """The number of launches."""
        return sum(sequence.launches for sequence in self.sequences)

    @property
    @abstractmethod
    def spans(self) -> tuple[Span, ...]:
        """All spans, in id order."""

    @abstractmethod
    def read(self, span: Span, columns: Sequence[Column]) -> Batch:
        """Return the columns of one span. Threads may call this at once."""

    @property
    def clocks(self) -> tuple[int, ...]:
        """For each sequence the file on whose clock its starts are; starts of two clocks do not compare."""
        return (0,) * len(self.sequences)

    def read_metrics(self, span: Span, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return (span.launches,) the values of some of ``metric_names``, NaN where a launch has none.

        Threads may call this at once.
        """
        return {name: np.full(span.launches, np.nan) for name in names}

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

    def batches(self, columns: Sequence[Column]) -> Iterator[Batch]:
        """Yield all launches in id order."""
        for span in self.spans:
            yield self.read(span, columns)

    def to_pandas(self) -> pd.DataFrame:
        """Return the launches as a table, a row each, whose index is their id.

        Columns are ``name`` (a category), ``grid_x`` to ``block_z`` (0 where unknown), ``duration_ns``,
        ``start_ns`` and ``stream`` where they were recorded, ``process``, ``device``, and its metrics.
        """
        import pandas as pd

        optional: tuple[Column, ...] = ("start_ns", "stream")
        wanted: list[Column] = ["duration_ns", *(name for name in optional if name in self.columns)]
        batches = [self.read(span, ("signature", *wanted)) for span in self.spans]
        metrics = [self.read_metrics(span, self.metric_names) for span in self.spans]
        rows = self.kernels.signature_rows()[np.concatenate([batch["signature"] for batch in batches])]
        names = np.array(
            [self.kernels.names.full(code) for code in range(len(self.kernels.names))], dtype=object
        )
        table = pd.DataFrame(
            rows[:, 1:], columns=[f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"]
        )
        table.insert(0, "name", pd.Series(names[rows[:, 0]], dtype="category"))
        for column in wanted:
            table[column] = np.concatenate([batch[column] for batch in batches])
        launches = [sequence.launches for sequence in self.sequences]
        table["process"] = np.repeat([sequence.process for sequence in self.sequences], launches)
        table["device"] = np.repeat([sequence.device for sequence in self.sequences], launches)
        for name in self.metric_names:
            table[name] = np.concatenate([each[name] for each in metrics])
        table.index.name = "id"
        return table
