"""A profile: the launches of a workload as a list of parts, of which each gives a table of columns.

A launch's **id** is its 0-based index in the whole profile. Launches of one process on one device form a
**sequence**; sequences follow each other in (process, device) order, files in the order given, and inside a
sequence launches stand in the order the program issued them (API order). A **part** is a run of ids of one
sequence, and is what is loaded, used and forgotten: about a million launches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, dense_codes
from sampling.parallel import Lock, Mapper, ordered_map
from sampling.profile.named_ranges import NamedRange, RangeSource, ranges_named
from sampling.profile.names import NameTable, is_rocm_name
from sampling.profile.times import NO_START

if TYPE_CHECKING:
    import pandas as pd

Column = Literal["name", "signature", "operator", "duration_ns", "start_ns", "stream"]
Dimensions = tuple[int, int, int]

#: Columns of some launches, (n,) each: ``name``, ``signature`` and ``operator`` are codes of the profile's
#: kernel table, durations and starts nanoseconds, ``stream`` an integer.
Table = Mapping[Column, AnyIntArray]


class FileState(NamedTuple):
    """What tells a file from what it was before it was changed, without reading it."""

    name: str
    inode: int
    size_bytes: int
    modified_ns: int
    #: When the file system last noted any change: nobody can set that, as they can set the other.
    changed_ns: int
    #: A checksum of its first bytes; and of a database's logs beside it the same as of the file itself.
    content: tuple[int, ...]


#: Of a file, or of each file of a folder.
DiskState = frozenset[FileState]

# What formats, tools and devices are called.
_VENDOR = re.compile(
    r"(?P<nvidia>nvidia|nsys|nvprof|cupti)|\bAMD\b|Radeon|Instinct|\bgfx\d|\broc[mpt]", re.IGNORECASE
)
_NO_TIMES = re.compile(r"simulator-log|GPGPU-Sim|Accel-Sim|\(cycles\)")
_CYCLES_FOR_TIME = re.compile(r"duration_ns=[^,]*cycle", re.IGNORECASE)
_MOST_NAMES_TRIED = 4096
#: How a reader found the order of launches, best first.
LaunchOrder = Literal["api-start", "correlation", "gpu-start", "file"]


@dataclass(frozen=True, slots=True)
class LaunchSequence:
    """The launches of one process on one device, in API order; ids from ``first_id`` on."""

    process: int
    device: int
    launches: int
    first_id: int
    #: Whether the number of the process is its rank in a distributed run.
    is_rank: bool = False

    @property
    def rank(self) -> int | None:
        """Its rank in a distributed run; None where it is not known."""
        return self.process if self.is_rank else None

    @property
    def owner(self) -> str:
        """What the process is called: ``process 7``, or ``rank 7``."""
        return f"{'rank' if self.is_rank else 'process'} {self.process}"

    @property
    def place(self) -> str:
        """What process and device are called: ``rank 7 device 1``."""
        return f"{self.owner} device {self.device}"


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as the profile describes it; what it does not say is None."""

    device: int
    name: str
    sm_count: int | None = None
    memory_bytes: int | None = None
    #: Set where processes number their GPUs differently, so that the number alone says nothing.
    process: int | None = None


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """What a reader learnt about the recording besides its launches."""

    devices: tuple[Device, ...] = ()
    launch_order: LaunchOrder = "file"
    #: Launches without the API call that issued them.
    api_rows_missing: int = 0
    #: CUDA-graph replays recorded as a whole, whose kernels are not in the profile.
    hidden_graph_replays: int = 0
    #: The recording tool and its version, where the file names them.
    product: str | None = None
    #: Which process of a distributed run this is, and of how many.
    rank: int | None = None
    world_size: int | None = None
    #: How many processes of a distributed run one file holds; 0 where it is one process's.
    merged_ranks: int = 0
    #: How often launches were run again for other counters, which is no launch of the program.
    replays: int = 0
    #: API calls that launch a kernel, and how many of them have none in the recording.
    launch_calls: int = 0
    calls_without_kernel: int = 0
    #: Rows of launches that can be none, and which is the first of them and why.
    rows_left_out: int = 0
    first_left_out: str | None = None
    #: Launches whose start was not recorded.
    without_start: int = 0
    #: Launches that contain others of their stream, how much longer that makes them, and what the first is
    #: called; whether they have what was recorded, and are not cut at the next start of their stream.
    overlong: int = 0
    overlong_ns: int = 0
    first_overlong: str | None = None
    keeps_overlong: bool = False

    @property
    def lacks_launches(self) -> bool:
        """Whether the program launched more than the profile has."""
        return bool(self.hidden_graph_replays or self.calls_without_kernel or self.rows_left_out)


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """One input file."""

    #: As the user gave it, and where its bytes lie.
    path: str
    location: Path
    launches: int
    #: Of its bytes, where they are gone after reading (standard input).
    sha256: str | None = None
    #: Of the file on disk when reading began; None where its bytes are gone after reading.
    state: DiskState | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """What is launched: a kernel name, by its code, with its grid and block; None where they are unknown."""

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
        self._rows: IntArray = np.zeros((0, 7), dtype=np.int64)
        self._operators: dict[tuple[str, int], int] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._codes)

    def intern(
        self, name: AnyIntArray, grid: Sequence[AnyIntArray] | None, block: Sequence[AnyIntArray] | None
    ) -> NDArray[np.int32]:
        """Return the signature code of every row (n,), adding new signatures.

        Grid and block are x, y, z each; all zero in a row whose dimensions are unknown.
        """
        columns = {0: name, **dict(enumerate(grid or (), 1)), **dict(enumerate(block or (), 4))}
        codes, first_rows = dense_codes(list(columns.values()))
        distinct = np.zeros((len(first_rows), 7), dtype=np.int64)
        for place, column in columns.items():
            distinct[:, place] = column[first_rows]
        return self.add_rows(distinct).take(codes)

    def add_rows(self, rows: IntArray) -> NDArray[np.int32]:
        """Return (k,) the codes of (k, 7) name, grid and block, new ones in the order in which they come."""
        with self._lock:
            codes = [self._codes.setdefault(row, len(self._codes)) for row in map(tuple, rows.tolist())]
        return np.array(codes, dtype=np.int32)

    def add(self, table: KernelTable) -> NDArray[np.int32]:
        """Return (signatures,) the code here of every signature of another table, adding new ones."""
        rows = table.signature_rows().copy()
        rows[:, 0] = self.names.add(table.names)[rows[:, 0]]
        return self.add_rows(rows)

    def signature(self, code: int) -> Signature:
        """Return the name code, grid and block behind a signature code."""
        name, x, y, z, block_x, block_y, block_z = self.signature_rows()[code].tolist()
        grid, block = (x, y, z), (block_x, block_y, block_z)
        return Signature(name, grid if any(grid) else None, block if any(block) else None)

    def signature_names(self) -> NDArray[np.int32]:
        """Return (signatures,) the name code of every signature so far."""
        return self.signature_rows()[:, 0].astype(np.int32)

    def intern_operators(
        self, texts: Sequence[str], text: AnyIntArray, signature: AnyIntArray
    ) -> NDArray[np.int32]:
        """Return (n,) the code of the operator and signature of every launch, adding new ones.

        ``text`` (n,) are indices into the texts of operators, of which "" is none.
        """
        codes, first_rows = dense_codes([text, signature])
        pairs = zip(text[first_rows].tolist(), signature[first_rows].tolist(), strict=True)
        with self._lock:
            codes_of_pairs = [
                self._operators.setdefault((texts[index], code), len(self._operators))
                for index, code in pairs
            ]
        return np.array(codes_of_pairs, dtype=np.int32).take(codes)

    def operators(self) -> tuple[list[str], IntArray]:
        """Return (operators,) the text of every operator's code so far, and the code of its signature.

        The text is "" for launches of a kernel that no operator encloses.
        """
        with self._lock:
            pairs = list(self._operators)
        return [text for text, _ in pairs], np.array([signature for _, signature in pairs], dtype=np.int64)

    def signature_rows(self) -> IntArray:
        """Return (signatures, 7) name code, grid x, y, z and block x, y, z of every signature so far.

        Unknown dimensions are 0. The array is read-only and stays as it is when signatures are added.
        """
        with self._lock:
            if len(self._rows) < len(self._codes):
                self._rows = np.array(list(self._codes), dtype=np.int64)
                self._rows.flags.writeable = False
            return self._rows


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
    mask: BoolArray | None = field(default=None, repr=False)

    @property
    def launches(self) -> int:
        """How many launches are meant."""
        return self.stop_id - self.first_id if self.mask is None else int(np.count_nonzero(self.mask))

    @property
    def stop_id(self) -> int:
        """One after the id of its last launch."""
        return self.first_id + int(self.rows.stop - self.rows.start)

    def load(self, columns: Sequence[Column]) -> Table:
        """Return (launches,) columns."""
        table = self.source.load(self.rows, columns)
        return table if self.mask is None else {name: values[self.mask] for name, values in table.items()}

    def metrics(self, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return (launches,) some of ``Profile.metric_names``, NaN where a launch has none."""
        table = self.source.metrics(self.rows, names)
        return table if self.mask is None else {name: values[self.mask] for name, values in table.items()}

    def ids(self, places: IntArray) -> IntArray:
        """Return the ids of launches, counted among those that are meant from 0."""
        return self.first_id + (places if self.mask is None else np.flatnonzero(self.mask)[places])

    def narrowed(self, mask: BoolArray) -> Part | None:
        """Return the part of it that is still wanted (launches,), None if there is none."""
        if mask.all():
            return self
        rows = np.flatnonzero(mask) if self.mask is None else np.flatnonzero(self.mask)[mask]
        if not len(rows):
            return None
        first, stop = int(rows[0]), int(rows[-1]) + 1
        cut = self.between(self.first_id + first, self.first_id + stop)
        if cut is None or len(rows) == stop - first:
            return cut
        mask_left = np.zeros(stop - first, dtype=np.bool_)
        mask_left[rows - first] = True
        return replace(cut, mask=mask_left)

    def between(self, low_id: int, high_id: int) -> Part | None:
        """Return all launches with ids from ``low_id`` to, not with, ``high_id``."""
        first, stop = max(low_id - self.first_id, 0), min(high_id, self.stop_id) - self.first_id
        begin: int = self.rows.start
        rows = slice(begin + first, begin + stop)
        return Part(self.sequence, self.first_id + first, self.source, rows) if first < stop else None


class Activity(NamedTuple):
    """What the host and the copy engines did, on the clocks of the launches."""

    #: (n,) the place of the call that issued each launch; -1 where it was not recorded.
    launch_call: IntArray
    #: (5, c) start, end, the first sequence of the calling process (-1: none), place of the name and number.
    calls: IntArray
    #: (5, m) start, end, the sequence of the device (-1: it ran no kernel), place of the name and bytes.
    copies: IntArray
    names: Sequence[str]
    #: Whether copies are recorded, if there are some.
    has_copies: bool = True


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """The time one process keeps one device busy."""

    sequence: LaunchSequence
    #: Sum of all durations, and time during which at least one kernel runs.
    kernel_ns: int
    busy_ns: int
    #: Where the recording of this sequence begins and ends.
    first_start_ns: int
    last_end_ns: int
    #: (ns, id of the launch that ended before, id of the one that starts after) of the longest stretches in
    #: which none runs, the longest first; and the id of the launch that ends last.
    gaps: tuple[tuple[int, int, int], ...] = ()
    last_id: int = -1

    @property
    def span_ns(self) -> int:
        """From the first launch to the last."""
        return self.last_end_ns - self.first_start_ns

    @property
    def busy_share(self) -> float:
        """The share of that span in which at least one kernel runs; 1 of a span of 0."""
        return self.busy_ns / self.span_ns if self.span_ns else 1.0

    @property
    def overlap_share(self) -> float:
        """The share of kernel time that is hidden behind other kernels."""
        return 1 - self.busy_ns / self.kernel_ns if self.kernel_ns else 0.0


class Reduction(NamedTuple):
    """The distinct (code, duration) of launches, ascending, and how many have each; (p,) int64 each."""

    code: IntArray
    duration_ns: IntArray
    launches: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """What all launches of a profile come to, with which all questions about it begin."""

    #: By the codes of `sampling.reduction.duration_counts.reduce_parts`, of signatures.
    reduction: Reduction
    device_times: tuple[DeviceTime, ...]


def _lasts_its_cycles(part: Part) -> bool:
    """Return whether each launch has a metric `cycles` that is its duration."""
    return np.array_equal(part.metrics(["cycles"])["cycles"], part.load(["duration_ns"])["duration_ns"])


@dataclass(eq=False)
class Profile:
    """The ordered launches of a workload, loaded part by part."""

    #: The name of the format it was read from, e.g. "nsys-sqlite", and the input files in the order given.
    format: str
    files: tuple[ProfileFile, ...]
    #: Names and signatures behind the codes; complete for what has been loaded so far.
    kernels: KernelTable = field(repr=False)
    #: One for each process and device, and all launches, in id order.
    sequences: tuple[LaunchSequence, ...]
    parts: tuple[Part, ...] = field(repr=False)
    #: The columns this profile can give; "name", "duration_ns" and "signature" always. Operators are looked
    #: for when they are first loaded, and there may turn out to be none.
    columns: frozenset[Column]
    facts: RecordingFacts = RecordingFacts()
    #: The metrics the profile itself has of its launches, besides their durations.
    metric_names: tuple[str, ...] = ()
    #: The ranges the program named; None where the format has none, as that of one of several files may.
    ranges: RangeSource | None = None
    lacks_ranges: bool = False
    #: Reads what the recording has besides launches; None where the format has no such thing.
    activity_reader: Callable[[], Activity] | None = field(default=None, repr=False)
    #: For each sequence the file on whose clock its starts are; starts of two clocks do not compare.
    clocks: tuple[int, ...] = ()
    #: Which columns of its tables hold what, as the user said it; None where nobody did.
    named_columns: str | None = None
    #: Where the paths of its files tell their ranks, as the user said it.
    rank_regex: str | None = None
    #: Whether it may be a part of a file that is cut short, and overlong launches have what was recorded.
    partial: bool = False
    keep_overlong: bool = False
    #: Whether cycles were chosen as the durations.
    profile_cycles: bool = False
    #: What the user should know of how the files were read.
    notes: tuple[str, ...] = ()
    #: What works where the launches are: None, threads of this process.
    mapper: Mapper | None = field(default=None, repr=False)
    #: Where it was read through the cache; another profile made of this one has none.
    reduced: Reduced | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.clocks = self.clocks or (0,) * len(self.sequences)

    @cached_property
    def activity(self) -> Activity | None:
        """What it has besides launches, read once, and late: few questions need it."""
        return None if self.activity_reader is None else self.activity_reader()

    @property
    def launches(self) -> int:
        """The number of launches."""
        return sum(sequence.launches for sequence in self.sequences)

    def find_reduced(self, parts: Sequence[Part]) -> Reduced | None:
        """Return what these parts come to, where they are all launches and that is known."""
        is_whole = self.reduced is not None and sum(part.launches for part in parts) == self.launches
        return self.reduced if is_whole else None

    @property
    def is_amd(self) -> bool:
        """Whether a GPU of AMD ran it, as far as the recording or the first names tell."""
        devices = " ".join(device.name for device in self.facts.devices)
        text = f"{self.format} {self.facts.product} {devices}"
        if match := _VENDOR.search(text):
            return match["nvidia"] is None
        names = self.kernels.names
        return any(is_rocm_name(names.full(code)) for code in range(min(len(names), _MOST_NAMES_TRIED)))

    @cached_property
    def duration_unit(self) -> Literal["ns", "cycles", "instructions"]:
        """What its durations are counted in, as far as format, columns or a metric tell."""
        if "(instructions)" in (self.facts.product or ""):
            return "instructions"
        is_named = _CYCLES_FOR_TIME.search(self.named_columns or "") is not None
        if is_named or _NO_TIMES.search(f"{self.format} {self.facts.product}"):
            return "cycles"
        has_cycles = "cycles" in self.metric_names
        return "cycles" if has_cycles and all(self.map(_lasts_its_cycles, self.parts[:1])) else "ns"

    @property
    def first_ids(self) -> tuple[int, ...]:
        """The id of the first launch of each sequence."""
        return tuple(sequence.first_id for sequence in self.sequences)

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield ``function(item)`` for every part or what holds one, in order, done where launches are."""
        return (self.mapper or ordered_map)(function, items)

    def load(self, columns: Sequence[Column]) -> Table:
        """Return (launches,) columns of all launches in id order, at once."""
        tables = [part.load(columns) for part in self.parts]
        return {column: np.concatenate([table[column] for table in tables]) for column in columns}

    def named_ranges(self, text: str) -> tuple[NamedRange, ...] | None:
        """Return the ranges of this name, else those whose name contains it, in the order they open.

        None: the format of a file has no ranges. One during which nothing was launched is left out.
        """
        if self.ranges is None or self.lacks_ranges:
            return None
        return tuple(ranges_named(self.ranges, text)[0].rows())

    def range_names(self, limit: int) -> tuple[str, ...]:
        """Return the first distinct names of ranges."""
        if self.ranges is None:
            return ()
        runs = self.ranges.holding("")
        return tuple(runs.texts[code] for code in dict.fromkeys(runs.text.tolist()))[:limit]

    def to_pandas(self) -> pd.DataFrame:
        """Return the launches as a table, a row each, whose index is their id.

        Columns are ``name`` (a category), ``grid_x`` to ``block_z`` (0 where unknown), ``duration_ns``,
        ``start_ns`` and ``stream`` where they were recorded, ``process``, ``device``, and its metrics.
        """
        import pandas as pd

        optional: tuple[Column, ...] = ("start_ns", "stream")
        plain: list[Column] = ["duration_ns", *(name for name in optional if name in self.columns)]
        loaded = self.load(("signature", *plain))
        rows = self.kernels.signature_rows()[loaded["signature"]]
        dimensions = [f"{size}_{axis}" for size in ("grid", "block") for axis in "xyz"]
        table = pd.DataFrame(rows[:, 1:], columns=dimensions)
        names = [self.kernels.names.full(code) for code in range(len(self.kernels.names))]
        distinct, place = np.unique(np.array(names, dtype=object), return_inverse=True)
        # Objects, because Arrow, which pandas keeps texts in, has no lone surrogates.
        texts = pd.Index(distinct, dtype=object)
        of_launch = pd.Categorical.from_codes(place[rows[:, 0]], categories=texts)
        table.insert(0, "name", pd.Series(of_launch.remove_unused_categories()))
        for column in plain:
            table[column] = loaded[column]
            if column == "start_ns" and self.facts.without_start:
                table[column] = table[column].astype("Int64").mask(loaded[column] == NO_START)
        launches = [sequence.launches for sequence in self.sequences]
        for number in ("process", "device"):
            table[number] = np.repeat([getattr(sequence, number) for sequence in self.sequences], launches)
        metrics = [part.metrics(self.metric_names) for part in self.parts]
        for name in self.metric_names:
            table[name] = np.concatenate([table_of_part[name] for table_of_part in metrics])
        table.index.name = "id"
        return table


def first_and_last_start(part: Part) -> tuple[int, int]:
    """Return when the first and the last launch of a part start, nanoseconds.

    Of a part in which none has a start the first is later than any time.
    """
    start_ns = part.load(("start_ns",))["start_ns"]
    if start_ns.min() == NO_START:
        start_ns = start_ns[start_ns != NO_START]
    return int(start_ns.min(initial=np.iinfo(np.int64).max)), int(start_ns.max(initial=NO_START))


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (LaunchSequence,)
