"""Which launch of a profile each row of a file of features is: by id or by identity, never by position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.features.names import ReconciledNames, reconcile_names
from sampling.features.rows import FeatureRows, missing_numbers
from sampling.features.sequences import FilePosition, sequences_of_rows
from sampling.profile.names import short_name
from sampling.profile.profile import Profile
from sampling.text import counted, shortened

_GRID, _BLOCK = slice(1, 4), slice(4, 7)
_UNKNOWN = -1
_WARP_THREADS = 32


@dataclass(frozen=True, slots=True)
class ProfileLaunches:
    """What identifies the launches of a profile.

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
        """Read what identifies every launch; ``selected`` are the sequences of the selected launches."""
        parts = [batch["signature"].astype(np.int32) for batch in profile.batches(("signature",))]
        signature = np.concatenate(parts)
        shapes = profile.kernels.signature_rows()
        has_launches = np.zeros(len(profile.kernels.names), dtype=np.bool_)
        has_launches[shapes[np.bincount(signature, minlength=len(shapes)) > 0, 0]] = True
        return ProfileLaunches(profile, signature, shapes, has_launches, np.unique(selected))


@dataclass(frozen=True, slots=True)
class Matches:
    """Which launch each row of a file is.

    Attributes
    ----------
    id : (rows,) id of the launch, -1 where a row matches none.
    joined_by : what rows and launches were compared by.
    notes : what to tell the user of it.
    """

    id: IntArray
    joined_by: str
    notes: tuple[str, ...] = ()


def match_rows(rows: FeatureRows, launches: ProfileLaunches, position: FilePosition | None = None) -> Matches:
    """Find the launch of every row.

    Without ids, the k-th row of a name, grid and block within a process and device is the k-th such launch of
    the whole profile, even if only some of its launches are selected. Where rows are missing and the tool's
    own numbers of the launches show which, the numbers are used if name and size of every launch agree.

    Parameters
    ----------
    position : the position of the file among similar ones, where several are given.

    Raises
    ------
    ProfileError : it cannot be found out which process and device of the profile are the file's.
    """
    if rows.id is not None:
        return _by_id(rows, launches)
    return _by_identity(rows, launches, position or FilePosition())


def _by_id(rows: FeatureRows, launches: ProfileLaunches) -> Matches:
    assert rows.id is not None
    _require_whole_profile(rows, launches)
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


def _require_whole_profile(rows: FeatureRows, launches: ProfileLaunches) -> None:
    """Raise ProfileError for rows that are all launches by position, and more or fewer than there are."""
    if not rows.whole_profile or len(rows) == len(launches.signature):
        return
    there = counted(len(launches.signature), "launch", "launches")
    raise ProfileError(
        f"{counted(len(rows), 'row')} for {there}, and it has nothing but their order to tell which is which",
        path=rows.path,
        remedy="write a row for every launch of the whole profile in the order of their ids, or a CSV or "
        "Parquet file with a column id",
    )


def _by_identity(rows: FeatureRows, launches: ProfileLaunches, position: FilePosition) -> Matches:
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
    sequence = sequences_of_rows(rows, launches.profile.sequences, launches.chosen, position, notes)
    name = _kernels(rows, launches, own, columns[1:], notes)
    numbered = _by_number(rows, launches, sequence, name, notes)
    if numbered is not None:
        return numbered
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
    # A shape that the profile lacks has a label beyond its own, which may be another process's.
    counted_as = np.where(own_label < kinds, of_row, _UNKNOWN)
    occurrence = occurrences(counted_as) if rows.occurrence is None else rows.occurrence[known]
    has = (own_label < kinds) & (occurrence < there[np.where(own_label < kinds, of_row, 0)])
    found = np.full(len(rows), _UNKNOWN, dtype=np.int64)
    found[known[has]] = placed[start[of_row[has]] + occurrence[has]]
    if rows.occurrence is None:
        _note_fewer(np.bincount(of_row[own_label < kinds], minlength=total), there, notes)
    found = _checked_blocks(rows, launches, found, notes)
    return Matches(found, ", ".join([*compared, "occurrence"]), tuple(notes))


def _by_number(
    rows: FeatureRows, launches: ProfileLaunches, sequence: IntArray, name: IntArray, notes: list[str]
) -> Matches | None:
    """Return the launches by the tool's own numbers; None where no row is missing, or a number is wrong.

    The numbers count the launches that the tool sees, which may be fewer than the profile has. So they are
    used only if the kernel of every row agrees, and its thread blocks or warps where both sides know them.
    """
    number = rows.launch_number
    if number is None or missing_numbers(number) == 0:
        return None
    first, length = np.array([(each.first_id, each.launches) for each in launches.profile.sequences]).T
    there = (name >= 0) & (sequence >= 0)
    there &= number < length[np.maximum(sequence, 0)]
    launch = np.where(there, first[sequence] + number, _UNKNOWN)
    shapes = launches.shapes[launches.signature[np.maximum(launch, 0)]]
    other = shapes[:, 0] != name
    checked = ["name"]
    for what, of_row, of_launch in _sizes(rows, shapes):
        both = there & (of_row > 0) & (of_launch > 0)
        other |= both & (of_row != of_launch)
        checked += [what] if both.any() else []
    other &= there
    if there.any() and not other.any():
        return Matches(launch, f"the log's own numbers, checked by {' and '.join(checked)}", tuple(notes))
    if other.any():
        row = int(np.argmax(other))
        kernel = f"kernel {int(number[row])}"
        is_another = f"is {rows.words(row)}" if shapes[row, 0] != name[row] else "has another size there"
        notes.append(
            f"its own numbers do not count the profile's launches ({kernel} {is_another}), so later launches "
            "of a kernel may be taken for earlier ones"
        )
    return None


def _sizes(rows: FeatureRows, shapes: IntArray) -> Iterator[tuple[str, IntArray, IntArray]]:
    """Yield what a file without grids has instead, of every row and of its launch; 0 where unknown."""
    blocks = shapes[:, _GRID].prod(axis=1)
    if rows.thread_blocks is not None:
        yield "thread blocks", rows.thread_blocks, blocks
    if rows.features.block_vectors is not None:
        warps = -(-shapes[:, _BLOCK].prod(axis=1) // _WARP_THREADS)
        yield "warps", rows.features.block_vectors.warps, blocks * warps


def occurrences(label: IntArray) -> IntArray:
    """Return (n,) how many rows above each row have its label."""
    order = np.argsort(label, kind="stable")
    placed = label[order]
    first = np.flatnonzero(np.append(True, placed[1:] != placed[:-1])) if len(placed) else order
    counted = np.empty(len(label), dtype=np.int64)
    counted[order] = np.arange(len(label)) - np.repeat(first, np.diff(np.append(first, len(label))))
    return counted


def _labels(shapes: IntArray, own: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return one label for equal identities: (signatures,) of the profile's and (rows,) of the file's.

    The profile's are numbered first, so that a row whose identity the profile lacks has a larger label.
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
        were = "was" if reconciled.respelt == 1 else "were"
        of_all = counted(len(rows.names), "kernel name")
        notes.append(f"{reconciled.respelt:,} of {of_all} {were} found under another spelling")
    unknown = np.flatnonzero(name < 0)
    if len(unknown):
        by_short = _by_short_name(rows, launches, own, columns)
        name = np.where(name < 0, by_short, name)
        found = name[unknown] >= 0
        if found.any():
            shape = " and shape" if columns else ""
            notes.append(f"{_rows(found)} found by a kernel's short name{shape}, which no other kernel has")
    unresolved = {rows.names[code] for code in np.unique(rows.name[name < 0]).tolist()}
    left = [text for text in reconciled.ambiguous if text in unresolved]
    if left:
        names = counted(len(left), "kernel name")
        notes.append(f"{names} could be any of several of the profile's, such as '{shortened(left[0])}'")
    return name


def _by_short_name(
    rows: FeatureRows, launches: ProfileLaunches, own: Sequence[IntArray], columns: Sequence[int]
) -> IntArray:
    """Return (rows,) the only kernel with a row's short name, grid and block; -1 where several have them.

    It must be the only one on both sides: among the profile's kernels, and among the names in the file.
    """
    assert rows.name is not None
    names = launches.profile.kernels.names
    present = np.flatnonzero(launches.has_launches[launches.shapes[:, 0]])
    kernels: defaultdict[tuple[object, ...], set[int]] = defaultdict(set)
    short = {code: names.short(code) for code in np.flatnonzero(launches.has_launches).tolist()}
    for name, *shape in launches.shapes[present][:, [0, *columns]].tolist():
        kernels[short[name], *shape].add(name)
    shorts = [short_name(name) for name in rows.names]
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


def _note_fewer(in_file: IntArray, in_profile: IntArray, notes: list[str]) -> None:
    """Add a note where the rows of a kernel were taken for its first launches."""
    described = in_file > 0
    fewer = int(np.count_nonzero(described & (in_file < in_profile)))
    if fewer:
        kernels = counted(int(np.count_nonzero(described)), "kernel")
        have = "has" if fewer == 1 else "have"
        notes.append(
            f"{fewer:,} of {kernels} {have} fewer rows than launches: "
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
    return f"{counted(count, 'row')} {'was' if count == 1 else 'were'}"
