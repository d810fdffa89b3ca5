"""Which launch of a profile each row of a file of features is: by id or by identity, never by position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sampling.column_codes import dense_codes
from sampling.errors import ProfileError
from sampling.feature_files.rows import FeatureRows, shortened
from sampling.kernel_names import short_name
from sampling.name_reconciling import ReconciledNames, demangled, reconcile_names
from sampling.profile import LaunchSequence, Profile

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_GRID, _BLOCK = slice(1, 4), slice(4, 7)
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class ProfileLaunches:
    """All launches of a profile, as far as their identity goes.

    Attributes
    ----------
    signature : (N,) code of name, grid and block of every launch, in id order.
    shapes : (signatures, 7) name code, grid and block of every signature.
    has_launches : (names,) which names have launches.
    chosen : (n,) indices of the sequences that the selected launches lie in.
    """

    profile: Profile
    signature: NDArray[np.int32]
    shapes: IntArray
    has_launches: BoolArray
    chosen: IntArray

    @staticmethod
    def of(profile: Profile, selected: IntArray) -> ProfileLaunches:
        """Read the identity of every launch; ``selected`` are the sequences of those that count."""
        parts = [batch["signature"].astype(np.int32) for batch in profile.batches(("signature",))]
        signature = np.concatenate(parts)
        shapes = profile.kernels.signature_rows()
        has_launches = np.zeros(len(profile.kernels.names), dtype=np.bool_)
        has_launches[shapes[np.bincount(signature, minlength=len(shapes)) > 0, 0]] = True
        return ProfileLaunches(profile, signature, shapes, has_launches, np.unique(selected))


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the rows of a file belong.

    Attributes
    ----------
    id : (rows,) id of the launch, -1 where a row matches none.
    joined_by : what rows and launches were compared by.
    notes : what the user should know of it.
    """

    id: IntArray
    joined_by: str
    notes: tuple[str, ...] = field(default=())


def match_rows(rows: FeatureRows, launches: ProfileLaunches) -> Matches:
    """Find the launch of every row.

    Without ids, the k-th row of a name, grid and block within a process and device is the k-th such launch of
    the whole profile, also where only some launches of the profile are selected.

    Raises
    ------
    ProfileError : the processes and devices of the file cannot be told to be those of the profile.
    """
    if rows.id is not None:
        return _by_id(rows, launches)
    return _by_identity(rows, launches)


def _by_id(rows: FeatureRows, launches: ProfileLaunches) -> Matches:
    assert rows.id is not None
    known = rows.id < len(launches.signature)
    notes = []
    if rows.name is not None:
        # A row that names another kernel than its launch is of another profile.
        named = _names(rows, launches).code[rows.name]
        is_of = launches.shapes[launches.signature[np.where(known, rows.id, 0)], 0]
        other = known & (named >= 0) & (named != is_of)
        if other.any():
            notes.append(f"{_rows(other)} left out, for the launch with this id is of another kernel")
            known &= ~other
    return Matches(np.where(known, rows.id, _UNKNOWN), "id", tuple(notes))


def _by_identity(rows: FeatureRows, launches: ProfileLaunches) -> Matches:
    assert rows.name is not None
    notes: list[str] = []
    shapes = launches.shapes
    columns, compared = [0], ["name"]
    own: list[IntArray] = []
    for what, axes, dimensions in (("grid", _GRID, rows.grid), ("block", _BLOCK, rows.block)):
        if dimensions is not None and dimensions.any() and shapes[:, axes].any():
            columns += range(axes.start, axes.stop)
            own += list(dimensions.T)
            compared.append(what)
    sequence = _sequences(rows, launches, notes)
    name = _kernels(rows, launches, own, columns[1:], notes)
    known = np.flatnonzero((name >= 0) & (sequence >= 0))
    label, own_label = _labels(shapes[:, columns], [name[known], *(column[known] for column in own)])
    kinds = int(label.max(initial=-1)) + 1
    length = [each.launches for each in launches.profile.sequences]
    of_launch = label[launches.signature] + kinds * np.repeat(np.arange(len(length)), length)
    of_row = own_label + kinds * sequence[known]
    total = kinds * len(length)
    placed = np.argsort(of_launch, kind="stable")
    there = np.bincount(of_launch, minlength=total)
    start = np.cumsum(there) - there
    occurrence = occurrences(of_row) if rows.occurrence is None else rows.occurrence[known]
    has = (own_label < kinds) & (occurrence < there[np.where(own_label < kinds, of_row, 0)])
    found = np.full(len(rows), _UNKNOWN, dtype=np.int64)
    found[known[has]] = placed[start[of_row[has]] + occurrence[has]]
    if rows.occurrence is None:
        _note_fewer(np.bincount(of_row[own_label < kinds], minlength=total), there, notes)
    found = _checked_blocks(rows, launches, found, notes)
    return Matches(found, ", ".join([*compared, "occurrence"]), tuple(notes))


def occurrences(label: IntArray) -> IntArray:
    """Return (n,) how often a row's label stands above it."""
    order = np.argsort(label, kind="stable")
    placed = label[order]
    first = np.flatnonzero(np.append(True, placed[1:] != placed[:-1])) if len(placed) else order
    counted = np.empty(len(label), dtype=np.int64)
    counted[order] = np.arange(len(label)) - np.repeat(first, np.diff(np.append(first, len(label))))
    return counted


def _labels(shapes: IntArray, own: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return one label for equal identities: (signatures,) of the profile's and (rows,) of the file's.

    The profile's are numbered first, so that a row whose identity the profile lacks has a label beyond them.
    """
    both = [np.concatenate([shapes[:, place], column]) for place, column in enumerate(own)]
    codes, first_rows = dense_codes(both)
    rank = np.empty(len(first_rows), dtype=np.int64)
    rank[np.argsort(first_rows, kind="stable")] = np.arange(len(first_rows))
    label = rank[codes]
    return label[: len(shapes)], label[len(shapes) :]


def _names(rows: FeatureRows, launches: ProfileLaunches) -> ReconciledNames:
    return reconcile_names(launches.profile.kernels.names, launches.has_launches, rows.names)


def _kernels(
    rows: FeatureRows,
    launches: ProfileLaunches,
    own: Sequence[IntArray],
    columns: Sequence[int],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the name code of every row, -1 where its kernel is not known."""
    assert rows.name is not None
    reconciled = _names(rows, launches)
    name = reconciled.code[rows.name]
    if reconciled.respelt:
        notes.append(
            f"{reconciled.respelt} of {len(rows.names)} kernel names were found under another spelling"
        )
    unknown = np.flatnonzero(name < 0)
    if len(unknown):
        by_short = _by_short_name(rows, launches, own, columns)
        name = np.where(name < 0, by_short, name)
        found = np.count_nonzero(name[unknown] >= 0)
        if found:
            shape = " and shape" if columns else ""
            notes.append(
                f"{found} rows were found by their kernel's short name{shape}, which no other kernel has"
            )
    for text in reconciled.ambiguous[:1]:
        if (name[np.isin(rows.name, [rows.names.index(text)])] < 0).any():
            count = len(reconciled.ambiguous)
            notes.append(
                f"{count} kernel name{'s' if count > 1 else ''} could be any of several of the profile's, "
                f"such as '{shortened(text)}'"
            )
    return name


def _by_short_name(
    rows: FeatureRows, launches: ProfileLaunches, own: Sequence[IntArray], columns: Sequence[int]
) -> IntArray:
    """Return (rows,) the one kernel with a row's short name, grid and block; -1 where it is not alone.

    It must be alone on both sides: of the profile's kernels, and of the names in the file.
    """
    assert rows.name is not None
    names = launches.profile.kernels.names
    present = np.flatnonzero(launches.has_launches[launches.shapes[:, 0]])
    kernels: defaultdict[tuple[object, ...], set[int]] = defaultdict(set)
    short = {code: names.short(code) for code in np.flatnonzero(launches.has_launches).tolist()}
    for name, *shape in launches.shapes[present][:, [0, *columns]].tolist():
        kernels[short[name], *shape].add(name)
    shorts = [short_name(demangled(name) or name) for name in rows.names]
    codes, first_rows = dense_codes([rows.name, *own])
    combinations = np.stack([rows.name[first_rows], *(column[first_rows] for column in own)], axis=1).tolist()
    spelt: defaultdict[tuple[object, ...], set[int]] = defaultdict(set)
    for place, *shape in combinations:
        spelt[shorts[place], *shape].add(place)
    table = np.full(len(combinations), _UNKNOWN, dtype=np.int64)
    for row, (place, *shape) in enumerate(combinations):
        key = (shorts[place], *shape)
        if len(spelt[key]) == 1 and len(kernels.get(key, ())) == 1:
            table[row] = next(iter(kernels[key]))
    return table[codes]


def _sequences(rows: FeatureRows, launches: ProfileLaunches, notes: list[str]) -> IntArray:
    """Return (rows,) the sequence of every row: processes have other numbers in another run."""
    numbers = [
        np.full(len(rows), _UNKNOWN, dtype=np.int64) if number is None else number
        for number in (rows.process, rows.device)
    ]
    # Numbers may be -1, codes want them from 0 on.
    codes, first_rows = dense_codes([number + 1 for number in numbers])
    pairs = [(int(numbers[0][row]), int(numbers[1][row])) for row in first_rows]
    table = np.array(_paired(rows, pairs, launches, notes), dtype=np.int64)
    return table[codes]


def _paired(
    rows: FeatureRows, pairs: Sequence[tuple[int, int]], launches: ProfileLaunches, notes: list[str]
) -> list[int]:
    """Return the sequence of the profile for each process and device of the file."""
    every = dict(enumerate(launches.profile.sequences))
    chosen = {index: every[index] for index in launches.chosen.tolist()}
    exact = _same_numbers(rows, pairs, every)
    if exact is not None:
        return exact
    for sequences in (every, chosen):
        if len(sequences) == len(pairs) == 1:
            return list(sequences)
        if len(sequences) == len(pairs):
            return _in_order(pairs, sequences, notes)
    have = "one process and device" if len(pairs) == 1 else f"{len(pairs)} pairs of process and device"
    places = ", ".join(f"{each.process}:{each.device}" for each in list(every.values())[:8])
    raise ProfileError(
        f"has rows of {have}, and the profile launches of {len(every)} ({places})",
        path=rows.path,
        remedy="choose those that the file describes with --process or --device",
    )


def _same_numbers(
    rows: FeatureRows, pairs: Sequence[tuple[int, int]], every: dict[int, LaunchSequence]
) -> list[int] | None:
    """Return the sequences with the numbers that the file names, None where they are not all there once."""
    if rows.process is None and rows.device is None:
        return None
    found = []
    for process, device in pairs:
        fitting = [
            index
            for index, each in every.items()
            if (rows.process is None or each.process == process)
            and (rows.device is None or each.device == device)
        ]
        if len(fitting) != 1:
            return None
        found += fitting
    return found


def _in_order(
    pairs: Sequence[tuple[int, int]], sequences: dict[int, LaunchSequence], notes: list[str]
) -> list[int]:
    """Return as many sequences as there are pairs: by device where that tells them apart, else in order."""
    by_device = {each.device: index for index, each in sequences.items()}
    if len(by_device) == len(pairs) and by_device.keys() == {device for _, device in pairs}:
        found = [by_device[device] for _, device in pairs]
        how = "by their devices"
    else:
        order = sorted(range(len(pairs)), key=pairs.__getitem__)
        indices = sorted(sequences, key=lambda index: (sequences[index].process, sequences[index].device))
        found = [0] * len(pairs)
        for place, index in zip(order, indices, strict=True):
            found[place] = index
        how = "in the order of their numbers"
    told = ", ".join(
        f"{pair[0]}:{pair[1]} is {sequences[index].process}:{sequences[index].device}"
        for pair, index in list(zip(pairs, found, strict=True))[:4]
    )
    notes.append(f"its processes and devices were taken for the profile's {how} ({told})")
    return found


def _note_fewer(in_file: IntArray, in_profile: IntArray, notes: list[str]) -> None:
    """Say where the first launches of a kernel were assumed to be those in the file."""
    described = in_file > 0
    fewer = int(np.count_nonzero(described & (in_file < in_profile)))
    if fewer:
        notes.append(
            f"{fewer} of {int(np.count_nonzero(described))} kernels have fewer rows than launches: "
            "they are taken for the first ones, which is wrong after --launch-skip or --kernel-id"
        )


def _checked_blocks(
    rows: FeatureRows, launches: ProfileLaunches, found: IntArray, notes: list[str]
) -> IntArray:
    """Return the matches without those whose number of thread blocks is another than the launch's."""
    if rows.thread_blocks is None:
        return found
    grid = launches.shapes[launches.signature[np.maximum(found, 0)], _GRID].prod(axis=1)
    other = (found >= 0) & (grid > 0) & (grid != rows.thread_blocks)
    if other.any():
        row = int(np.argmax(other))
        has, wanted = int(rows.thread_blocks[row]), int(grid[row])
        notes.append(
            f"{_rows(other)} left out, for their thread blocks are not the launch's: row "
            f"{int(rows.line[row])} has {has}, launch {int(found[row])} has {wanted}"
        )
    return np.where(other, _UNKNOWN, found)


def _rows(chosen: BoolArray) -> str:
    count = int(np.count_nonzero(chosen))
    return "1 row was" if count == 1 else f"{count} rows were"
