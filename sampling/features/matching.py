"""Which launch of a profile each row of a file of features is: by id or by identity, never by position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.features.names import reconcile_names
from sampling.features.reading import FeatureRows
from sampling.profile.names import short_name
from sampling.profile.profile import Profile
from sampling.text import Wording, counted, listed

_WARP_THREADS = 32
_Shapes = defaultdict[tuple[object, ...], set[int]]


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
        has_launches[shapes[np.unique(signature), 0]] = True
        return ProfileLaunches(profile, signature, shapes, has_launches, np.unique(selected))


def match_rows(
    rows: FeatureRows, launches: ProfileLaunches, place: tuple[int, int] = (0, 1)
) -> tuple[IntArray, str, list[str]]:
    """Find the launch of every row.

    Without ids, the k-th row of a name, grid and block within a process and device is the k-th such launch of
    the whole profile, even if only some of its launches are selected. Where rows are missing and the tool's
    own numbers of the launches show which, the numbers are used if name and size of every launch agree.

    Raises ProfileError: it cannot be found out which process and device of the profile are the file's; rows
    by position are more or fewer than the launches.

    Parameters
    ----------
    place : the place of the file among the similar ones that it was given with, and how many they are.

    Returns
    -------
    (rows,) the launch ids, -1 where a row matches none; what was compared; what to tell the user.
    """
    notes: list[str] = []
    if rows.id is not None:
        return _by_id(rows, rows.id, launches, notes), "id", notes
    assert rows.name is not None
    # What both sides have of the shapes is compared: the columns of the profile's, and the file's own.
    columns, own, compared = list[int](), list[IntArray](), ["name"]
    for what, first, sizes in (("grid", 1, rows.grid), ("block", 4, rows.block)):
        if sizes is not None and sizes.any() and launches.shapes[:, first].any():
            columns += range(first, first + 3)
            own += list(sizes.T)
            compared.append(what)
    sequence = _sequences(rows, launches, place, notes)
    name = _kernels(rows, rows.name, launches, own, columns, notes)
    found = _by_number(rows, launches, sequence, name, notes)
    if found is not None:
        return found, "the log's own numbers, checked by name and size", notes
    found = _by_occurrence(rows, launches, sequence, launches.shapes[:, [0, *columns]], [name, *own], notes)
    if rows.thread_blocks is not None:
        blocks = launches.shapes[launches.signature[np.maximum(found, 0)], 1:4].prod(axis=1)
        other = (found >= 0) & _differ(rows.thread_blocks, blocks)
        if other.any():
            left_out = counted(int(other.sum()), "row")
            notes.append(f"{left_out} left out, whose thread blocks are not as many as the launch's")
            found = np.where(other, -1, found)
    return found, ", ".join([*compared, "occurrence"]), notes


def _by_id(rows: FeatureRows, ids: IntArray, launches: ProfileLaunches, notes: list[str]) -> IntArray:
    if rows.whole_profile and len(rows) != len(launches.signature):
        there = counted(len(launches.signature), "launch", "launches")
        raise ProfileError(
            f"{counted(len(rows), 'row')} for {there}, and only their order tells which is which",
            path=rows.path,
            remedy="write a row for every launch of the whole profile in the order of their ids, or a CSV or "
            "Parquet file with a column id",
        )
    known = ids < len(launches.signature)
    if rows.name is not None:
        # A row that names another kernel than its launch is of another profile.
        code, _ = reconcile_names(launches.profile.kernels.names, launches.has_launches, rows.names)
        named = code[rows.name]
        other = known & (named >= 0)
        other &= named != launches.shapes[launches.signature[np.where(known, ids, 0)], 0]
        if other.any():
            left_out = counted(int(other.sum()), "row")
            notes.append(f"{left_out} left out, for the launch with this id is of another kernel")
            known &= ~other
    return np.where(known, ids, -1)


def _kernels(
    rows: FeatureRows,
    of_row: IntArray,
    launches: ProfileLaunches,
    own: Sequence[IntArray],
    columns: Sequence[int],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the name code of every row, -1 where its kernel is not known."""
    names = launches.profile.kernels.names
    code, _ = reconcile_names(names, launches.has_launches, rows.names)
    name: IntArray = code[of_row]
    if (name >= 0).all():
        return name
    # One side may have the functions' own names alone. Such a name counts where, with its shape, it is that
    # of one kernel alone on either side.
    there, here = _Shapes(set), _Shapes(set)
    for kernel, *shape in launches.shapes[:, [0, *columns]].tolist():
        if launches.has_launches[kernel]:
            there[names.short(kernel), *shape].add(kernel)
    codes, first_rows = dense_codes([of_row, *own])
    shorts = [short_name(text) for text in rows.names]
    distinct = np.stack([column[first_rows] for column in (of_row, *own)], axis=1).tolist()
    keys = [(shorts[kernel], *shape) for kernel, *shape in distinct]
    for key, (kernel, *_) in zip(keys, distinct, strict=True):
        here[key].add(kernel)
    only = [min(there[key]) if len(here[key]) == len(there[key]) == 1 else -1 for key in keys]
    by_short = np.where(name < 0, np.array(only, dtype=np.int64)[codes], -1)
    if (by_short >= 0).any():
        found = counted(int((by_short >= 0).sum()), "row")
        notes.append(f"{found} found by a kernel's short name and shape, which no other kernel has")
    return np.maximum(name, by_short)


def _by_number(
    rows: FeatureRows, launches: ProfileLaunches, sequence: IntArray, name: IntArray, notes: list[str]
) -> IntArray | None:
    """Return the launches by the tool's own numbers; None where no row is missing, or a number is wrong.

    The numbers count the launches that the tool sees, which may be fewer than the profile has. So they are
    used only if the kernel of every row agrees, and its thread blocks or warps where both sides know them.
    """
    number, vectors = rows.launch_number, rows.features.block_vectors
    warps_said = None if vectors is None else vectors.warps
    if number is None or int(number[-1]) + 1 == len(number):
        return None
    first, length = np.array([(each.first_id, each.launches) for each in launches.profile.sequences]).T
    there = (name >= 0) & (sequence >= 0) & (number < length[sequence])
    launch = np.where(there, first[sequence] + number, -1)
    shapes = launches.shapes[launches.signature[np.maximum(launch, 0)]]
    blocks = shapes[:, 1:4].prod(axis=1)
    warps = blocks * -(-shapes[:, 4:].prod(axis=1) // _WARP_THREADS)
    other = there & (shapes[:, 0] != name)
    for said, counts in ((rows.thread_blocks, blocks), (warps_said, warps)):
        if said is not None:
            other |= there & _differ(said, counts)
    if other.any():
        notes.append(
            f"its own numbers do not count the profile's launches (kernel {int(number[np.argmax(other)])} is "
            "another there), so later launches of a kernel may be taken for earlier ones"
        )
    return launch if there.any() and not other.any() else None


def _differ(said: IntArray, counted_there: IntArray) -> BoolArray:
    """Return where two counts differ; 0 is a count that is not known."""
    differ: BoolArray = (said > 0) & (counted_there > 0) & (said != counted_there)
    return differ


def _by_occurrence(
    rows: FeatureRows,
    launches: ProfileLaunches,
    sequence: IntArray,
    shapes: IntArray,
    own: Sequence[IntArray],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the k-th launch of a kernel and sequence for the k-th row of it.

    Parameters
    ----------
    shapes : (signatures, k) what is compared of each signature, the name's code first.
    own : k times (rows,) the same of each row.
    """
    known = np.flatnonzero((own[0] >= 0) & (sequence >= 0))
    label, distinct = dense_codes(
        [np.concatenate([shapes[:, place], column[known]]) for place, column in enumerate(own)]
    )
    lengths = [each.launches for each in launches.profile.sequences]
    of_launch = label[launches.signature] * len(lengths) + np.repeat(np.arange(len(lengths)), lengths)
    of_row = label[len(shapes) :] * len(lengths) + sequence[known]
    count = np.bincount(of_launch, minlength=len(distinct) * len(lengths))
    in_file = np.bincount(of_row, minlength=len(count))
    if rows.occurrence is None:
        occurrence = np.empty(len(known), dtype=np.int64)
        order = np.argsort(of_row, kind="stable")
        occurrence[order] = np.arange(len(known)) - (np.cumsum(in_file) - in_file)[of_row[order]]
        fewer = int(np.count_nonzero((in_file > 0) & (in_file < count)))
        if fewer:
            kernels = counted(int(np.count_nonzero((in_file > 0) & (count > 0))), "kernel")
            have = "has" if fewer == 1 else "have"
            notes.append(
                f"{fewer:,} of {kernels} {have} fewer rows than launches: "
                "they are taken for the first ones, which is wrong after --launch-skip or --kernel-id"
            )
    else:
        occurrence = rows.occurrence[known]
    has = occurrence < count[of_row]
    placed = np.argsort(of_launch, kind="stable")
    found = np.full(len(rows), -1, dtype=np.int64)
    found[known[has]] = placed[(np.cumsum(count) - count)[of_row[has]] + occurrence[has]]
    return found


def file_places(files: Sequence[FeatureRows]) -> list[tuple[int, int]]:
    """Return the place of each file among those of its format and device that have one process and device."""
    kinds: list[object] = []
    for place, rows in enumerate(files):
        numbers = [number for number in (rows.process, rows.device) if number is not None]
        is_one = rows.id is None and all((number == number[0]).all() for number in numbers)
        device = None if rows.device is None else int(rows.device[0])
        kinds.append((rows.format, device) if is_one else place)
    return [(kinds[:place].count(kind), kinds.count(kind)) for place, kind in enumerate(kinds)]


def _sequences(
    rows: FeatureRows, launches: ProfileLaunches, place: tuple[int, int], notes: list[str]
) -> IntArray:
    """Return (rows,) the index of the sequence of every row, -1 for one that the profile lacks.

    Equal numbers mean the same process and device. Of another run, devices may still be the same; else
    equally many processes and devices go in ascending order, or equally many files in the order given.
    """
    unknown = np.full(len(rows), -1, dtype=np.int64)
    process, device = (unknown if number is None else number for number in (rows.process, rows.device))
    # Numbers may be -1, codes want them from 0 on.
    codes, first_rows = dense_codes([process + 1, device + 1])
    pairs = list(zip(process[first_rows].tolist(), device[first_rows].tolist(), strict=True))
    every = [(each.process, each.device) for each in launches.profile.sequences]

    def told_by(*numbers: int) -> list[int] | None:
        """Return the sequence of each pair by process (0) or device (1); None where that leaves a doubt."""
        of_number = defaultdict[tuple[int, ...], list[int]](list)
        for index, sequence in enumerate(every):
            of_number[tuple(sequence[number] for number in numbers)].append(index)
        fitting = [of_number.get(tuple(pair[number] for number in numbers), []) for pair in pairs]
        taken = [index for each in fitting for index in each]
        is_clear = max(map(len, fitting)) == 1 and len(set(taken)) == len(taken)
        # One may fit none only if every sequence is taken: the file then has more than the profile.
        is_whole = all(fitting) or len(taken) == len(every)
        return [each[0] if each else -1 for each in fitting] if is_clear and is_whole else None

    known = [number for number, column in enumerate((rows.process, rows.device)) if column is not None]
    found, how = told_by(*known) if known else None, ""
    if found is None and 1 in known and len(every) > 1:
        found, how = told_by(1), "by device"
    for candidates in (list(range(len(every))), launches.chosen.tolist()):
        if found is not None:
            break
        on_device = [index for index in candidates if every[index][1] == pairs[0][1]] or candidates
        if len(candidates) == len(pairs):
            ascending = sorted(candidates, key=lambda index: every[index])
            of_pair = dict(zip(sorted(pairs), ascending, strict=True))
            found, how = [of_pair[pair] for pair in pairs], "in ascending order" if len(pairs) > 1 else ""
        elif len(pairs) == 1 and place[1] == len(on_device) > 1:
            found, how = [on_device[place[0]]], f"as file {place[0] + 1} of {place[1]} in the order given"
    if found is None:
        there = listed([f"{process}:{device}" for process, device in every], 8)
        raise ProfileError(
            f"has rows of {counted(len(pairs), 'process or device', 'processes or devices')}, and the "
            f"profile launches of {len(every):,} ({there})",
            path=rows.path,
            remedy=Wording(
                "give a file for each of the profile's, in this order, or choose what it describes with "
                "`processes` or `devices`"
            ),
        )
    if how:
        taken = [f"{pair[0]}:{pair[1]} is {every[index][0]}:{every[index][1]}"
                 for pair, index in zip(pairs, found, strict=True) if index >= 0]  # fmt: skip
        notes.append(f"its processes and devices were taken for the profile's {how} ({listed(taken, 4)})")
    return np.array(found, dtype=np.int64)[codes]
