"""Which launch of a profile each row of a file of features is: by id or by identity, never by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.features.names import reconcile_names
from sampling.features.reading import FeatureRows
from sampling.profile.profile import Profile
from sampling.text import Wording, counted, listed

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
        several = len(launches.signature)
        if rows.whole_profile and len(rows) != several:
            raise ProfileError(
                f"{counted(len(rows), 'row')} for {counted(several, 'launch', 'launches')}, and only their "
                "order tells which is which",
                path=rows.path,
                remedy="write a row for every launch of the whole profile, or a table with a column id",
            )
        return np.where(rows.id < several, rows.id, -1), "id", notes
    assert rows.name is not None
    # What both sides have of the shapes is compared: the columns of the profile's, and the file's own.
    columns, own, compared = list[int](), list[IntArray](), ["name"]
    for what, first, sizes in (("grid", 1, rows.grid), ("block", 4, rows.block)):
        if sizes is not None and sizes.any() and launches.shapes[:, first].any():
            columns += range(first, first + 3)
            own += list(sizes.T)
            compared.append(what)
    sequence = _sequences(rows, launches, place, notes)
    codes, _ = reconcile_names(launches.profile.kernels.names, launches.has_launches, rows.names)
    name = codes[rows.name]
    found = _by_number(rows, launches, sequence, name, notes)
    if found is not None:
        return found, "the log's own numbers, checked by name and size", notes
    found = _by_occurrence(rows, launches, sequence, launches.shapes[:, [0, *columns]], [name, *own], notes)
    grid = launches.shapes[launches.signature[np.maximum(found, 0)], 1:4]
    other = (found >= 0) & _differ(rows.thread_blocks, grid.prod(axis=1))
    if other.any():
        left_out = counted(int(other.sum()), "row")
        notes.append(f"{left_out} left out, whose thread blocks are not as many as the launch's")
        found = np.where(other, -1, found)
    return found, ", ".join([*compared, "occurrence"]), notes


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
    other = (shapes[:, 0] != name) | _differ(rows.thread_blocks, blocks) | _differ(warps_said, warps)
    other &= there
    if other.any():
        notes.append(
            f"its own numbers do not count the profile's launches (kernel {int(number[np.argmax(other)])} is "
            "another there), so later launches of a kernel may be taken for earlier ones"
        )
    return launch if there.any() and not other.any() else None


def _differ(said: IntArray | None, known: IntArray) -> BoolArray:
    """Return where two counts differ; 0 is a count that is not known."""
    differ: BoolArray = np.zeros(len(known), dtype=np.bool_) if said is None else (said > 0) & (said != known)
    return differ & (known > 0)


def _by_occurrence(
    rows: FeatureRows,
    launches: ProfileLaunches,
    sequence: IntArray,
    shapes: IntArray,
    own: Sequence[IntArray],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the k-th launch of a kernel and sequence for the k-th row of it.

    What is compared of each signature is a row of ``shapes``, the name's code first; ``own`` has its columns
    of the rows.
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
    """Return the place of each file among those of its format that have one process and device, as it has."""
    kinds: list[object] = []
    for place, rows in enumerate(files):
        numbers = [number for number in (rows.process, rows.device) if number is not None]
        is_one = rows.id is None and all((number == number[0]).all() for number in numbers)
        kinds.append(rows.format if is_one else place)
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
        here, there = (
            [tuple(each[number] for number in numbers) for each in side] for side in (pairs, every)
        )
        if len(set(here)) < len(here) or any(there.count(key) > 1 for key in here):
            return None
        found = [there.index(key) if key in there else -1 for key in here]
        # One may fit none only if every sequence is taken: the file then has more than the profile.
        is_whole = -1 not in found or len(found) - found.count(-1) == len(every)
        return found if is_whole else None

    known = [number for number, column in enumerate((rows.process, rows.device)) if column is not None]
    found, how = told_by(*known) if known else None, ""
    if found is None and 1 in known and len(every) > 1:
        found, how = told_by(1), "by device"
    for candidates in (list(range(len(every))), launches.chosen.tolist()):
        if found is not None:
            break
        if len(candidates) == len(pairs):
            ascending = sorted(candidates, key=lambda index: every[index])
            of_pair = dict(zip(sorted(pairs), ascending, strict=True))
            found, how = [of_pair[pair] for pair in pairs], "in ascending order" if len(pairs) > 1 else ""
        elif len(pairs) == 1 and place[1] == len(candidates) > 1:
            found, how = [candidates[place[0]]], f"as file {place[0] + 1} of {place[1]} in the order given"
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
