"""Counters that a profiler measured of a plan's launches: which row of which file each launch is.

Profilers number what they profiled. A file of an export's run is told by its name, and its manifest has the
numbers that were profiled of every kernel there: the rows of a kernel are the launches of these, in program
order. Of any other file a row is told by its kernel name, grid and block, and by its place among the rows of
these: where a file has launches from the program's first on, that is the occurrence; where only what the plan
draws was profiled, it is the drawn launch of that place. Files with the same metrics go on from each other,
in the order of the numbers in their names (``range-2.csv`` before ``range-10.csv``); files with others are
passes over the same launches. (docs/methods.md, 17 Counters of a profiler)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.features.join import KnownFeatures, file_places, match_sequences
from sampling.features.names import reconcile_names
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.names import NameTable
from sampling.readers import rocm_counters
from sampling.readers.feature_table import FeatureRows
from sampling.simulators.manifest import Manifest
from sampling.simulators.measured_run import MeasuredRun
from sampling.text import counted, listed, shortened

#: Sequence, name code and sizes of the launches that are told apart by their place alone
_Kernel = tuple[int, ...]
#: Of a kernel without sizes
_BARE = 2
#: What the scripts of an export write by kernel, which has launches that are not drawn
_REPORT = re.compile(r"kernel(-\d+)+(\W|_|$)")
_WHICH_RUN = (
    "leave files where the export's script put them, with its manifest.csv, or give --manifest; of a run of "
    "all launches give it another name"
)
_REMEDY = "give what was measured of the plan's own program, from `kernelpoint export --to ncu` or rocprofv3"


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """What a run measured of every kernel: launches of some numbers, counted from 1 within the kernel."""

    number_of: Mapping[int, int]  #: of drawn launches, by id
    by_size: bool  #: whether launches of each size are counted by themselves

    @property
    def numbers(self) -> IntArray:
        """(n,) all numbers, ascending."""
        return np.array(sorted({*self.number_of.values()}), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a file: their kernels, (n,) the index of each row's, and the names that no plan has."""

    rows: FeatureRows
    kernels: Sequence[_Kernel]
    kernel: IntArray
    has_others: bool
    run: _Run | None  #: of the export that the file is of

    def places(self, kernel: _Kernel) -> IntArray:
        """Return (m,) the rows of a kernel, in program order."""
        index = self.kernels.index(kernel) if kernel in self.kernels else -1
        return np.flatnonzero(self.kernel == index)


def join_counters(
    plan: PlanFile, files: Sequence[FeatureRows], manifests: Sequence[Manifest]
) -> tuple[MeasuredRun, tuple[str, ...]]:
    """Return what files say of a plan's launches, several of them joined, and what was left out, in words.

    Files in the folder of an export are of the launches of its manifest. Where several say a metric of a
    launch, the first counts. Raises ProfileError: no row is of a drawn launch, or a file's processes are not
    the profile's; of a plan that was topped up no manifest says which launches a file is of.
    """
    notes: list[str] = []
    ids = np.array([launch.id for launch in plan.drawn], dtype=np.int64)
    joined, has_row = KnownFeatures(len(ids)), np.zeros(len(ids), dtype=np.bool_)
    of_export: defaultdict[Manifest | None, list[FeatureRows]] = defaultdict(list)
    for rows in files:
        of_export[_manifest_of(plan, rows, manifests)].append(rows)
    for manifest, group in of_export.items():
        exported = set(ids.tolist() if manifest is None else manifest.id.tolist())
        drawn = [launch for launch in plan.drawn if launch.id in exported]
        for rows, matched in zip(group, _match_rows(plan, drawn, group, manifest, notes), strict=True):
            places = np.where(matched >= 0, np.searchsorted(ids, matched), -1)
            has_row[places[places >= 0]] = True
            notes += [*rows.notes, *joined.add(rows.features, places)]
    if not has_row.any():
        message = f"none of its rows is of a launch that the plan draws: it has {files[0].words(0)}"
        raise ProfileError(message, path=files[0].path, remedy=_REMEDY)
    features = joined.features()
    metrics = {name: values[has_row] for name, values in features.metrics.items()}
    path = ", ".join(rows.path for rows in files)
    return MeasuredRun(path, ids[has_row], None, metrics, units=features.units), tuple(dict.fromkeys(notes))


def _manifest_of(plan: PlanFile, rows: FeatureRows, manifests: Sequence[Manifest]) -> Manifest | None:
    """Return the manifest of the export that a file is of: the nearest above it, or the one that names it.

    None if it is of no export. Raises ProfileError where one has to say which launches its rows are.
    """
    path = Path(rows.path).absolute()
    above = [manifest for manifest in manifests if manifest.folder in path.parents]
    if above:
        return max(above, key=lambda manifest: len(manifest.folder.parts))
    if len(rows) >= plan.profile.launches:
        return None
    naming = [manifest for manifest in manifests if manifest.report_of(rows.path)]
    is_report = bool(naming) or any(_REPORT.match(part) for part in path.parts[-2:])
    if not plan.simulated and not is_report:
        return None
    possible = naming or manifests
    if len(possible) != 1:
        rounds = "the plan was topped up, so that its launches were measured in several runs"
        named = "it is named as a report of an export is, which has launches that are not drawn too"
        raise ProfileError(rounds if plan.simulated else named, path=rows.path, remedy=_WHICH_RUN)
    return possible[0]


def _run_of(manifest: Manifest | None, rows: FeatureRows) -> _Run | None:
    """Return what the run measured that a file is the report of; None if it is none."""
    if manifest is None or not (report := manifest.report_of(rows.path)):
        return None
    ids, numbers = manifest.id.tolist(), manifest.number.tolist()
    of_report = zip(ids, numbers, manifest.report, strict=True)
    number_of = {launch_id: number for launch_id, number, name in of_report if name == report}
    return _Run(number_of, by_size=rows.format != rocm_counters.FORMAT)


def _match_rows(
    plan: PlanFile,
    drawn: Sequence[PlannedLaunch],
    files: Sequence[FeatureRows],
    manifest: Manifest | None,
    notes: list[str],
) -> Iterator[IntArray]:
    """Yield of each file (rows,) the id of each row's launch, -1 where it is none that is drawn or told."""
    by_shape = _compares_shapes(drawn, files)
    names = NameTable()
    name_code = names.intern([launch.name for launch in drawn]).tolist()
    sequences = [(sequence.process, sequence.device) for sequence in plan.profile.sequences]
    sequence_of = {place: index for index, place in enumerate(sequences)}
    of_kernel: defaultdict[_Kernel, list[PlannedLaunch]] = defaultdict(list)
    for code, launch in sorted(zip(name_code, drawn, strict=True), key=lambda pair: pair[1].ordinal):
        sequence = sequence_of.setdefault((launch.process, launch.device), len(sequence_of))
        sizes = _shape(launch.grid, launch.block, by_shape=by_shape)
        of_kernel[sequence, code, *sizes].append(launch)
    selected = sorted({kernel[0] for kernel in of_kernel})
    parts = []
    for rows, place in zip(files, file_places(files), strict=True):
        if manifest is not None and len(selected) == 1 and _is_of_one(rows):
            # An export is of one process and device, whatever number these had when it was run.
            sequence_codes = np.full(len(rows), selected[0], dtype=np.int64)
        else:
            sequence_codes = match_sequences(rows, list(sequence_of), selected, place, notes)
        parts.append(_with_kernels(rows, _run_of(manifest, rows), sequence_codes, names, by_shape=by_shape))
    ids = [np.full(len(part.rows), -1, dtype=np.int64) for part in parts]
    matched_kernels = set()
    for file, kernel, rows_matched, of_drawn in _match(parts, of_kernel, notes, plan.profile.launches):
        ids[file][rows_matched] = np.array([launch.id for launch in of_kernel[kernel]])[of_drawn]
        matched_kernels |= {kernel} if len(rows_matched) else set()
    unmatched = [
        f"{shortened(names.full(kernel[1]))} ({counted(count, 'row')} for {len(launches)} drawn)"
        for kernel, launches in of_kernel.items()
        if kernel not in matched_kernels and (count := sum(len(part.places(kernel)) for part in parts))
    ]
    if unmatched:
        notes.append(
            f"rows do not tell which launches they are, so they are left out: {listed(unmatched, 4)}"
        )
    yield from ids


def _is_of_one(rows: FeatureRows) -> bool:
    """Return whether all rows have one process and device, as far as they say."""
    numbers = [number for number in (rows.process, rows.device) if number is not None]
    return all((number == number[0]).all() for number in numbers)


def _numbers_in(path: str) -> tuple[tuple[int, str], ...]:
    """Return a key that orders range-2 before range-10."""
    return tuple((int(piece) if piece.isdigit() else -1, piece) for piece in re.split(r"(\d{1,18})", path))


def _compares_shapes(drawn: Sequence[PlannedLaunch], files: Sequence[FeatureRows]) -> bool | None:
    """Return whether sizes are compared by axis, or by their product alone; None: one side has none."""
    if any(launch.grid is None or launch.block is None for launch in drawn):
        return None
    if any(rows.grid is None or rows.block is None for rows in files):
        return None
    # ROCm's lists may have totals alone.
    return not any(rows.format == rocm_counters.FORMAT for rows in files)


def _shape(grid: Sequence[int] | None, block: Sequence[int] | None, *, by_shape: bool | None) -> _Kernel:
    if by_shape is None or grid is None or block is None:
        return ()
    return (*grid, *block) if by_shape else (int(np.prod(grid)), int(np.prod(block)))


def _with_kernels(
    rows: FeatureRows, run: _Run | None, sequence: IntArray, names: NameTable, *, by_shape: bool | None
) -> _Rows:
    assert rows.name is not None
    codes, _ = reconcile_names(names, np.ones(len(names), dtype=np.bool_), rows.names)
    columns = [sequence, codes[rows.name]]
    if by_shape is not None and rows.grid is not None and rows.block is not None:
        sizes = [*rows.grid.T, *rows.block.T]
        columns += sizes if by_shape else [rows.grid.prod(axis=1), rows.block.prod(axis=1)]
    kernels, kernel = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    has_others = bool((codes[rows.name] < 0).any())
    return _Rows(rows, list(map(tuple, kernels.tolist())), kernel.ravel(), has_others, run)


def _match(
    parts: Sequence[_Rows],
    of_kernel: Mapping[_Kernel, Sequence[PlannedLaunch]],
    notes: list[str],
    launches: int,
) -> Iterator[tuple[int, _Kernel, IntArray, IntArray]]:
    """Yield of files and kernels the rows that are drawn launches, and which of the kernel's these are.

    ``launches``: how many the program has in all.
    """
    goes_on: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for file, part in enumerate(parts):
        if part.run is not None:
            for kernel, drawn in of_kernel.items():
                yield file, kernel, *_match_numbers(part, part.run, kernel, drawn)
        elif (occurrences := _occurrences_in_whole(part, of_kernel)) is not None:
            if len(part.rows) < launches:
                notes.append(f"{part.rows.path} is taken to be of the program from its first launch on")
            for kernel, numbers in occurrences.items():
                places = part.places(kernel)
                is_there = numbers < len(places)
                yield file, kernel, places[numbers[is_there]], np.flatnonzero(is_there)
        else:
            goes_on[tuple(part.rows.features.metrics)].append(file)
    for files in goes_on.values():
        files.sort(key=lambda file: _numbers_in(parts[file].rows.path))
        for kernel, drawn in of_kernel.items():
            of_files = {file: parts[file].places(kernel) for file in files if kernel in parts[file].kernels}
            for file, rows_matched, of_drawn in _match_in_order(of_files, len(drawn)):
                yield file, kernel, rows_matched, of_drawn


def _occurrences_in_whole(
    part: _Rows, of_kernel: Mapping[_Kernel, Sequence[PlannedLaunch]]
) -> dict[_Kernel, IntArray] | None:
    """Return (m,) the places of drawn launches among the rows of each kernel, of a file of the whole program.

    It is one where it has kernels that the plan does not draw, or more rows of all kernels than the last
    drawn launch needs; None of another. Kernels whose occurrences do not count rows are left out.
    """
    occurrences = {
        kernel: np.array([launch.occurrence for launch in launches])
        for kernel, launches in of_kernel.items()
        # Occurrences count the launches of one grid and block.
        if len({(launch.grid, launch.block) for launch in launches}) == 1
        and (len(kernel) > _BARE or launches[0].grid is None)
        and kernel in part.kernels
    }
    has_last = [len(part.places(kernel)) > numbers[-1] for kernel, numbers in occurrences.items()]
    return occurrences if part.has_others or (has_last and all(has_last)) else None


def _match_numbers(
    part: _Rows, run: _Run, kernel: _Kernel, drawn: Sequence[PlannedLaunch]
) -> tuple[IntArray, IntArray]:
    """Return the rows that are a kernel's drawn launches, by their numbers in a run, and which these are."""
    nothing = np.empty(0, dtype=np.int64)
    counted_rows = part.places(kernel)
    if not run.by_size:
        of_name = [code for code, other in enumerate(part.kernels) if other[:_BARE] == kernel[:_BARE]]
        counted_rows = np.flatnonzero(np.isin(part.kernel, of_name))
    if len(counted_rows) > len(run.numbers):
        # More were measured than have these numbers, as where shared memory differs too.
        return nothing, nothing
    of_drawn = np.array([place for place, launch in enumerate(drawn) if launch.id in run.number_of], np.int64)
    rank = np.searchsorted(run.numbers, [run.number_of[drawn[place].id] for place in of_drawn.tolist()])
    of_drawn, rank = of_drawn[rank < len(counted_rows)], rank[rank < len(counted_rows)]
    rows = counted_rows[rank]
    # Of another size than the launch has, the row is not that of the launch.
    is_kernel = np.isin(rows, part.places(kernel))
    return rows[is_kernel], of_drawn[is_kernel]


def _match_in_order(
    places: Mapping[int, IntArray], launches: int
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield of files that have rows of a kernel which of them are drawn launches, and which these are.

    Each may have all of them, or all files together.
    """
    if all(len(rows) == launches for rows in places.values()):
        yield from ((file, rows, np.arange(launches)) for file, rows in places.items())
    elif sum(map(len, places.values())) == launches:
        first = 0
        for file, rows in places.items():
            yield file, rows, np.arange(first, first + len(rows))
            first += len(rows)
