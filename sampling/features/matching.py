"""Which launch of a profile each row of a file of features is: by id or by identity, never by position."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.features.names import reconcile_names
from sampling.features.reading import FeatureRows
from sampling.profile.names import short_name
from sampling.profile.profile import LaunchSequence, Profile
from sampling.text import Wording, counted, shortened

#: Place and number of a file among those of its format and device that each have one process and device
FilePosition = tuple[int, int]
ALONE: FilePosition = (0, 1)
_Pair = tuple[int, int]

_GRID, _BLOCK = slice(1, 4), slice(4, 7)
_UNKNOWN = -1
_WARP_THREADS = 32


@dataclass(frozen=True, slots=True)
class ProfileLaunches:
    """What identifies the launches of a profile."""

    profile: Profile
    signature: NDArray[np.int32]  #: (N,) code of name, grid and block of every launch, in id order
    shapes: IntArray  #: (signatures, 7) name code, grid and block of every signature
    has_launches: BoolArray  #: (names,) which names have launches
    chosen: IntArray  #: (n,) indices of the sequences that the selected launches lie in

    @staticmethod
    def of(profile: Profile, selected: IntArray) -> ProfileLaunches:
        """Read what identifies every launch; ``selected`` are the sequences of the selected launches."""
        signature = profile.load(("signature",))["signature"].astype(np.int32, copy=False)
        shapes = profile.kernels.signature_rows()
        has_launches = np.zeros(len(profile.kernels.names), dtype=np.bool_)
        has_launches[shapes[np.bincount(signature, minlength=len(shapes)) > 0, 0]] = True
        return ProfileLaunches(profile, signature, shapes, has_launches, np.unique(selected))


@dataclass(frozen=True, slots=True)
class Matches:
    """Which launch each row of a file is."""

    id: IntArray  #: (rows,) id of the launch, -1 where a row matches none
    joined_by: str  #: what rows and launches were compared by
    notes: tuple[str, ...] = ()  #: what to tell the user of it


def match_rows(rows: FeatureRows, launches: ProfileLaunches, position: FilePosition = ALONE) -> Matches:
    """Find the launch of every row.

    Without ids, the k-th row of a name, grid and block within a process and device is the k-th such launch of
    the whole profile, even if only some of its launches are selected. Where rows are missing and the tool's
    own numbers of the launches show which, the numbers are used if name and size of every launch agree.

    Raises ProfileError: it cannot be found out which process and device of the profile are the file's; rows
    by position are more or fewer than the launches.

    Parameters
    ----------
    position : the position of the file among similar ones, where several are given.
    """
    notes: list[str] = []
    if rows.id is not None:
        return Matches(_by_id(rows, rows.id, launches, notes), "id", tuple(notes))
    assert rows.name is not None
    # What both sides have of the shapes is compared: the columns of the profile's, and the file's own.
    columns, own, compared = [0], [], ["name"]
    for what, axes, sizes in (("grid", _GRID, rows.grid), ("block", _BLOCK, rows.block)):
        if sizes is not None and sizes.any() and launches.shapes[:, axes].any():
            columns += range(axes.start, axes.stop)
            own += list(sizes.T)
            compared.append(what)
    sequence = sequences_of_rows(rows, launches.profile.sequences, launches.chosen, position, notes)
    name = _kernels(rows, rows.name, launches, own, columns[1:], notes)
    found, joined_by = _by_number(rows, launches, sequence, name, notes)
    if found is None:
        joined_by = ", ".join([*compared, "occurrence"])
        found = _by_occurrence(rows, launches, sequence, launches.shapes[:, columns], [name, *own], notes)
        found = _checked_blocks(rows, launches, found, notes)
    return Matches(found, joined_by, tuple(notes))


def _by_id(rows: FeatureRows, ids: IntArray, launches: ProfileLaunches, notes: list[str]) -> IntArray:
    if rows.whole_profile and len(rows) != len(launches.signature):
        there = counted(len(launches.signature), "launch", "launches")
        raise ProfileError(
            f"{counted(len(rows), 'row')} for {there}, and it has nothing but their order to tell which is "
            "which",
            path=rows.path,
            remedy="write a row for every launch of the whole profile in the order of their ids, or a CSV or "
            "Parquet file with a column id",
        )
    known = ids < len(launches.signature)
    if rows.name is not None:
        # A row that names another kernel than its launch is of another profile.
        names = reconcile_names(launches.profile.kernels.names, launches.has_launches, rows.names)
        named = names.code[rows.name]
        is_of = launches.shapes[launches.signature[np.where(known, ids, 0)], 0]
        other = known & (named >= 0) & (named != is_of)
        if other.any():
            notes.append(f"{_rows(other)} left out, for the launch with this id is of another kernel")
            known &= ~other
    return np.where(known, ids, _UNKNOWN)


def _by_occurrence(
    rows: FeatureRows,
    launches: ProfileLaunches,
    sequence: IntArray,
    shapes: IntArray,
    own: Sequence[IntArray],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the k-th launch of a kernel and sequence for the k-th row of it."""
    known = np.flatnonzero((own[0] >= 0) & (sequence >= 0))
    # The profile's are numbered first, so that a row whose identity the profile lacks has a larger label.
    both = [np.concatenate([shapes[:, place], column[known]]) for place, column in enumerate(own)]
    codes, first_rows = dense_codes(both)
    rank = np.empty(len(first_rows), dtype=np.int64)
    rank[np.argsort(first_rows, kind="stable")] = np.arange(len(first_rows))
    label, own_label = rank[codes[: len(shapes)]], rank[codes[len(shapes) :]]
    kinds = int(label.max(initial=-1)) + 1
    length = [each.launches for each in launches.profile.sequences]
    of_launch = label[launches.signature] + kinds * np.repeat(np.arange(len(length)), length)
    of_row = np.where(own_label < kinds, own_label + kinds * sequence[known], _UNKNOWN)
    placed = np.argsort(of_launch, kind="stable")
    there = np.bincount(of_launch, minlength=kinds * len(length))
    start = np.cumsum(there) - there
    occurrence = occurrences(of_row) if rows.occurrence is None else rows.occurrence[known]
    has = (of_row >= 0) & (occurrence < there[of_row])
    found = np.full(len(rows), _UNKNOWN, dtype=np.int64)
    found[known[has]] = placed[start[of_row[has]] + occurrence[has]]
    if rows.occurrence is None:
        in_file = np.bincount(of_row[of_row >= 0], minlength=len(there))
        fewer = int(np.count_nonzero((in_file > 0) & (in_file < there)))
        if fewer:
            kernels = counted(int(np.count_nonzero(in_file)), "kernel")
            have = "has" if fewer == 1 else "have"
            notes.append(
                f"{fewer:,} of {kernels} {have} fewer rows than launches: "
                "they are taken for the first ones, which is wrong after --launch-skip or --kernel-id"
            )
    return found


def _by_number(
    rows: FeatureRows, launches: ProfileLaunches, sequence: IntArray, name: IntArray, notes: list[str]
) -> tuple[IntArray | None, str]:
    """Return the launches by the tool's own numbers; None where no row is missing, or a number is wrong.

    The numbers count the launches that the tool sees, which may be fewer than the profile has. So they are
    used only if the kernel of every row agrees, and its thread blocks or warps where both sides know them.
    """
    number = rows.launch_number
    if number is None or int(number[-1]) + 1 == len(number):
        return None, ""
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
        return launch, f"the log's own numbers, checked by {' and '.join(checked)}"
    if other.any():
        row = int(np.argmax(other))
        is_another = f"is {rows.words(row)}" if shapes[row, 0] != name[row] else "has another size there"
        notes.append(
            f"its own numbers do not count the profile's launches (kernel {int(number[row])} {is_another}), "
            "so later launches of a kernel may be taken for earlier ones"
        )
    return None, ""


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
    found = np.empty(len(label), dtype=np.int64)
    found[order] = np.arange(len(label)) - np.repeat(first, np.diff(np.append(first, len(label))))
    return found


def _kernels(
    rows: FeatureRows,
    of_row: IntArray,
    launches: ProfileLaunches,
    own: Sequence[IntArray],
    columns: Sequence[int],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the name code of every row, -1 where its kernel is not known."""
    reconciled = reconcile_names(launches.profile.kernels.names, launches.has_launches, rows.names)
    name = reconciled.code[of_row]
    if reconciled.respelt:
        were = "was" if reconciled.respelt == 1 else "were"
        of_all = counted(len(rows.names), "kernel name")
        notes.append(f"{reconciled.respelt:,} of {of_all} {were} found under another spelling")
    unknown = name < 0
    if unknown.any():
        name = np.where(unknown, _by_short_name(rows, of_row, launches, own, columns), name)
        found = unknown & (name >= 0)
        if found.any():
            shape = " and shape" if columns else ""
            notes.append(f"{_rows(found)} found by a kernel's short name{shape}, which no other kernel has")
    unresolved = {rows.names[code] for code in np.unique(of_row[name < 0]).tolist()}
    left = [text for text in reconciled.ambiguous if text in unresolved]
    if left:
        names = counted(len(left), "kernel name")
        notes.append(f"{names} could be any of several of the profile's, such as '{shortened(left[0])}'")
    return name


def _by_short_name(
    rows: FeatureRows,
    of_row: IntArray,
    launches: ProfileLaunches,
    own: Sequence[IntArray],
    columns: Sequence[int],
) -> IntArray:
    """Return (rows,) the only kernel with a row's short name, grid and block; -1 where several have them.

    It must be the only one on both sides: among the profile's kernels, and among the names in the file.
    """
    names = launches.profile.kernels.names
    kernels, spelt = (
        defaultdict[tuple[object, ...], set[int]](set),
        defaultdict[tuple[object, ...], set[int]](set),
    )
    short = {code: names.short(code) for code in np.flatnonzero(launches.has_launches).tolist()}
    for name, *shape in launches.shapes[launches.has_launches[launches.shapes[:, 0]]][
        :, [0, *columns]
    ].tolist():
        kernels[short[name], *shape].add(name)
    codes, first_rows = dense_codes([of_row, *own])
    shorts = [short_name(name) for name in rows.names]
    each = np.stack([column[first_rows] for column in (of_row, *own)], axis=1).tolist()
    keys = [(shorts[name], *shape) for name, *shape in each]
    for key, (name, *_) in zip(keys, each, strict=True):
        spelt[key].add(name)
    only = [
        next(iter(kernels[key])) if len(spelt[key]) == len(kernels.get(key, ())) == 1 else _UNKNOWN
        for key in keys
    ]
    return np.array(only, dtype=np.int64)[codes]


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


_NAMED = 4
_LISTED = 8
_TAKEN = "its processes and devices were taken for the profile's "


def file_positions(files: Sequence[FeatureRows]) -> list[FilePosition]:
    """Return the position of each of the files that are given together."""
    kinds = []
    for rows in files:
        several = any(
            number is not None and (number != number[0]).any() for number in (rows.process, rows.device)
        )
        device = _UNKNOWN if rows.device is None else int(rows.device[0])
        kinds.append(None if rows.id is not None or several else (rows.format, device))
    return [
        ALONE if kind is None else (kinds[:place].count(kind), kinds.count(kind))
        for place, kind in enumerate(kinds)
    ]


def sequences_of_rows(
    rows: FeatureRows,
    sequences: Sequence[LaunchSequence],
    chosen: IntArray,
    position: FilePosition,
    notes: list[str],
) -> IntArray:
    """Return (rows,) the index of the sequence of every row, -1 for one that the profile lacks.

    Equal numbers mean the same process and device. Else they are matched by device alone, else in ascending
    order if both sides have equally many, else by the order of equally many files.

    Raises ProfileError: none of this applies.

    Parameters
    ----------
    chosen : (n,) the sequences that the selected launches lie in.
    notes : what to tell the user is added.
    """
    process, device = (
        np.full(len(rows), _UNKNOWN, dtype=np.int64) if number is None else number
        for number in (rows.process, rows.device)
    )
    # Numbers may be -1, codes want them from 0 on.
    codes, first_rows = dense_codes([process + 1, device + 1])
    pairs: list[_Pair] = [(int(process[row]), int(device[row])) for row in first_rows]
    every = dict(enumerate(sequences))
    selected = {index: every[index] for index in chosen.tolist()}

    has_process, has_device = rows.process is not None, rows.device is not None
    same = {index: (each.process if has_process else _UNKNOWN, each.device if has_device else _UNKNOWN)
            for index, each in every.items()}  # fmt: skip
    found = _assigned(pairs, same) if has_process or has_device else None
    if found is None:
        found, how = _of_another_run(rows, pairs, every, selected, position)
        notes += [how] if how else []
    beyond = found.count(_UNKNOWN)
    if beyond:
        have = "is" if beyond == 1 else "are"
        notes.append(f"{beyond:,} of its {len(found):,} processes and devices {have} not in the profile")
    described = len(selected.keys() & set(found))
    if described < len(selected):
        notes.append(f"it has rows of {described:,} of the {len(selected):,} processes and devices selected")
    return np.array(found, dtype=np.int64)[codes]


def _assigned(wanted: Sequence[object], of_sequence: Mapping[int, object]) -> list[int] | None:
    """Return the sequences that are as wanted, None where one of either fits several of the other.

    One may fit none only if every sequence is wanted: the file then has more than the profile.
    """
    fitting = [[index for index, each in of_sequence.items() if each == want] for want in wanted]
    taken = Counter(index for each in fitting for index in each)
    if any(len(each) > 1 for each in fitting) or any(count > 1 for count in taken.values()):
        return None
    if not all(fitting) and len(taken) < len(of_sequence):
        return None
    return [each[0] if each else _UNKNOWN for each in fitting]


def _of_another_run(
    rows: FeatureRows,
    pairs: Sequence[_Pair],
    every: Mapping[int, LaunchSequence],
    selected: Mapping[int, LaunchSequence],
    position: FilePosition,
) -> tuple[list[int], str]:
    """Return the sequence of each pair where numbers do not say it, and how it was found."""

    def words(found: Sequence[int]) -> str:
        known = [(pair, index) for pair, index in zip(pairs, found, strict=True) if index != _UNKNOWN]
        first = [f"{pair[0]}:{pair[1]} is {_numbers(every[index])}" for pair, index in known[:_NAMED]]
        return ", ".join([*first, "..."] if len(known) > _NAMED else first)

    if len(every) == len(pairs) == 1:
        return [0], ""
    if rows.device is not None:
        devices = {index: each.device for index, each in every.items()}
        by_device = _assigned([device for _, device in pairs], devices)
        if by_device is not None:
            return by_device, f"{_TAKEN}by their devices ({words(by_device)})"
    place, files = position
    for sequences in (every, selected):
        if len(sequences) == len(pairs) == 1:
            return list(sequences), ""
        if len(sequences) == len(pairs):
            ascending = sorted(sequences, key=lambda at: (sequences[at].process, sequences[at].device))
            of_pair = dict(zip(sorted(pairs), ascending, strict=True))
            found = [of_pair[pair] for pair in pairs]
            return found, f"{_TAKEN}in the order of their numbers ({words(found)})"
        of_device = [index for index, each in sequences.items() if each.device == pairs[0][1]]
        fitting = of_device or list(sequences)
        if len(pairs) == 1 and files == len(fitting) > 1:
            return [fitting[place]], (
                f"as file {place + 1} of {files} in the order given it was taken for "
                f"{_numbers(every[fitting[place]])} (process:device) of the profile"
            )
    have = "one process and device" if len(pairs) == 1 else f"{len(pairs):,} pairs of process and device"
    together = f", as have {files} files in all" if files > 1 else ""
    places = ", ".join(
        [_numbers(each) for each in every.values()][:_LISTED] + ["..."] * (len(every) > _LISTED)
    )
    raise ProfileError(
        f"has rows of {have}{together}, and the profile launches of {len(every):,} ({places})",
        path=rows.path,
        remedy=Wording(
            "leave other processes' rows out, give a file for each of the profile's, in this order, or "
            "choose what it describes with `processes` or `devices`"
        ),
    )


def _numbers(sequence: LaunchSequence) -> str:
    return f"{sequence.process}:{sequence.device}"
