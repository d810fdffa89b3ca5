"""Counters that a profiler measured of a plan's launches: which row of which file each launch is.

Profilers number what they profiled. So a row is told by its kernel name, grid and block, and by its place
among the rows of these, in program order: where a file has launches from the program's first on, that is the
occurrence; where only what the plan draws was profiled, it is the drawn launch of that place; and where a
kernel's numbers were profiled in every size that it has (``ncu --kernel-id``), that of those numbers. Files
with the same metrics go on from each other, in the order of the numbers in their names (``range-2.csv``
before ``range-10.csv``); files with others are passes over the same launches.
(docs/methods.md, 17 Counters of a profiler)
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
from sampling.readers.feature_table import FeatureRows
from sampling.simulators.manifest import Manifest
from sampling.simulators.measured_run import MeasuredRun
from sampling.text import counted, listed, shortened

#: Sequence, name code and sizes of the launches that are told apart by their place alone
_Kernel = tuple[int, ...]
#: Of a kernel without sizes
_BARE = 2
_WHICH_RUN = "leave files where the export's script put them, with its manifest.csv, or give --manifest"
_REMEDY = "give what was measured of the plan's own program, from `kernelpoint export --to ncu` or rocprofv3"


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a file: their kernels, (n,) the index of each row's, and the names that no plan has."""

    rows: FeatureRows
    kernels: Sequence[_Kernel]
    kernel: IntArray
    has_others: bool

    def places(self, kernel: _Kernel) -> IntArray:
        """Return the rows of a kernel, in program order."""
        wanted = self.kernels.index(kernel) if kernel in self.kernels else -1
        return np.flatnonzero(self.kernel == wanted)


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
    of_export: defaultdict[str, list[FeatureRows]] = defaultdict(list)
    exported = {manifest.path: manifest.id for manifest in manifests}
    for rows in sorted(files, key=lambda rows: _numbers_in(rows.path)):
        folders = Path(rows.path).absolute().parents
        path = next((path for path in exported if Path(path).absolute().parent in folders), "")
        if not path and plan.simulated:
            message = "the plan was topped up, so that its launches were measured in several runs"
            raise ProfileError(message, path=rows.path, remedy=_WHICH_RUN)
        of_export[path].append(rows)
    for path, group in of_export.items():
        measured = (
            plan.drawn if not path else [launch for launch in plan.drawn if launch.id in exported[path]]
        )
        for rows, matched in zip(group, _match_rows(plan, measured, group, notes), strict=True):
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


def _match_rows(
    plan: PlanFile, drawn: Sequence[PlannedLaunch], files: Sequence[FeatureRows], notes: list[str]
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
        sequence_codes = match_sequences(rows, list(sequence_of), selected, place, notes)
        parts.append(_with_kernels(rows, sequence_codes, names, by_shape=by_shape))
    ids = [np.full(len(part.rows), -1, dtype=np.int64) for part in parts]
    told = set()
    for file, kernel, rows_matched, of_drawn in _match(parts, of_kernel):
        ids[file][rows_matched] = np.array([launch.id for launch in of_kernel[kernel]])[of_drawn]
        told |= {kernel} if len(rows_matched) else set()
    lacking = [
        f"{shortened(names.full(kernel[1]))} ({counted(count, 'row')} for {len(launches)} drawn)"
        for kernel, launches in of_kernel.items()
        if kernel not in told and (count := sum(len(part.places(kernel)) for part in parts))
    ]
    if lacking:
        notes.append(f"rows do not tell which launches they are, so they are left out: {listed(lacking, 4)}")
    yield from ids


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
    return not any(rows.format == "rocm-counters" for rows in files)


def _shape(grid: Sequence[int] | None, block: Sequence[int] | None, *, by_shape: bool | None) -> _Kernel:
    if by_shape is None or grid is None or block is None:
        return ()
    return (*grid, *block) if by_shape else (int(np.prod(grid)), int(np.prod(block)))


def _with_kernels(rows: FeatureRows, sequence: IntArray, names: NameTable, *, by_shape: bool | None) -> _Rows:
    assert rows.name is not None
    codes, _ = reconcile_names(names, np.ones(len(names), dtype=np.bool_), rows.names)
    columns = [sequence, codes[rows.name]]
    if by_shape is not None and rows.grid is not None and rows.block is not None:
        sizes = [*rows.grid.T, *rows.block.T]
        columns += sizes if by_shape else [rows.grid.prod(axis=1), rows.block.prod(axis=1)]
    kernels, kernel = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return _Rows(rows, list(map(tuple, kernels.tolist())), kernel.ravel(), bool((codes[rows.name] < 0).any()))


def _match(
    parts: Sequence[_Rows], of_kernel: Mapping[_Kernel, Sequence[PlannedLaunch]]
) -> Iterator[tuple[int, _Kernel, IntArray, IntArray]]:
    """Yield of files and kernels the rows that are drawn launches, and which of the kernel's these are."""
    occurrences = {
        kernel: np.array([launch.occurrence for launch in launches]) for kernel, launches in of_kernel.items()
    }
    of_name: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    for kernel, numbers in occurrences.items():
        of_name[kernel[:2]] |= set(numbers.tolist())
    goes_on: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    # Occurrences count the launches of one grid and block.
    is_counted = {
        kernel: len({(launch.grid, launch.block) for launch in launches}) == 1
        and (len(kernel) > _BARE or launches[0].grid is None)
        for kernel, launches in of_kernel.items()
    }
    for file, part in enumerate(parts):
        rows = {kernel: part.places(kernel) for kernel in occurrences if kernel in part.kernels}
        is_whole = all(len(places) > occurrences[kernel][-1] for kernel, places in rows.items())
        if part.has_others or is_whole:
            for kernel, places in rows.items():
                is_there = (occurrences[kernel] < len(places)) & is_counted[kernel]
                yield file, kernel, places[occurrences[kernel][is_there]], np.flatnonzero(is_there)
        else:
            goes_on[tuple(part.rows.features.metrics)].append(file)
    for files in goes_on.values():
        for kernel, drawn_numbers in occurrences.items():
            numbers = np.array(sorted(of_name[kernel[:2]]))
            of_files = {file: parts[file].places(kernel) for file in files if kernel in parts[file].kernels}
            for file, rows_matched, of_drawn in _match_in_order(of_files, drawn_numbers, numbers):
                yield file, kernel, rows_matched, of_drawn


def _match_in_order(
    places: Mapping[int, IntArray], occurrences: IntArray, numbers: IntArray
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield of files that have rows of a kernel which of them are drawn launches, and which these are.

    Each may have all of them, or all files together.
    """
    alone = {file: _drawn_among(len(rows), occurrences, numbers) for file, rows in places.items()}
    if all(chosen is not None for chosen in alone.values()):
        yield from ((file, rows[alone[file]], np.arange(len(occurrences))) for file, rows in places.items())
        return
    file_of = np.concatenate([np.full(len(rows), file) for file, rows in places.items()])
    together = _drawn_among(len(file_of), occurrences, numbers)
    if together is not None:
        rows_together = np.concatenate([*places.values()])[together]
        for file in places:
            of_drawn = np.flatnonzero(file_of[together] == file)
            yield file, rows_together[of_drawn], of_drawn


def _drawn_among(rows: int, occurrences: IntArray, numbers: IntArray) -> IntArray | None:
    """Return which of so many rows of a kernel are its drawn launches; None where that cannot be told.

    ``numbers`` are the occurrences that are drawn of the kernel in any size.

    >>> _drawn_among(3, np.array([1, 7]), np.array([1, 4, 7, 9]))
    array([0, 2])
    """
    if rows == len(occurrences):
        return np.arange(rows)
    place = np.searchsorted(numbers, occurrences)
    return place if place[-1] < rows <= len(numbers) else None
