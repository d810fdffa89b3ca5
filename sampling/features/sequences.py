"""Which process and device of a profile a row belongs to; another run numbers them differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from sampling.arrays import IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows
from sampling.profile.profile import LaunchSequence
from sampling.text import Wording

#: Place and number of a file among those of its format and device that each have one process and device.
FilePosition = tuple[int, int]
ALONE: FilePosition = (0, 1)

_Pair = tuple[int, int]
_UNKNOWN = -1
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

    Parameters
    ----------
    chosen : (n,) the sequences that the selected launches lie in.
    notes : what to tell the user is added.

    Raises
    ------
    ProfileError : none of this applies.
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

    def same_numbers(pair: _Pair, sequence: LaunchSequence) -> bool:
        return (rows.process is None or sequence.process == pair[0]) and (
            rows.device is None or sequence.device == pair[1]
        )

    numbered = rows.process is not None or rows.device is not None
    found = _assigned(pairs, every, same_numbers) if numbered else None
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


def _assigned(
    pairs: Sequence[_Pair],
    sequences: Mapping[int, LaunchSequence],
    fits: Callable[[_Pair, LaunchSequence], bool],
) -> list[int] | None:
    """Return the sequences that pairs fit, None where one pair or one sequence fits several.

    A pair may fit none only if every sequence has a pair: the file then has more than the profile.
    """
    fitting = [[index for index, each in sequences.items() if fits(pair, each)] for pair in pairs]
    taken = Counter(index for each in fitting for index in each)
    if any(len(each) > 1 for each in fitting) or any(count > 1 for count in taken.values()):
        return None
    if not all(fitting) and len(taken) < len(sequences):
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
        by_device = _assigned(pairs, every, lambda pair, sequence: pair[1] == sequence.device)
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
    raise _refusal(rows.path, len(pairs), every.values(), files)


def _refusal(path: str, pairs: int, every: Collection[LaunchSequence], files: int) -> ProfileError:
    have = "one process and device" if pairs == 1 else f"{pairs:,} pairs of process and device"
    together = f", as have {files} files in all" if files > 1 else ""
    places = ", ".join([_numbers(each) for each in every][:_LISTED] + ["..."] * (len(every) > _LISTED))
    return ProfileError(
        f"has rows of {have}{together}, and the profile launches of {len(every):,} ({places})",
        path=path,
        remedy=Wording(
            "leave other processes' rows out, give a file for each of the profile's, in this order, or "
            "choose what it describes with `processes` or `devices`"
        ),
    )


def _numbers(sequence: LaunchSequence) -> str:
    return f"{sequence.process}:{sequence.device}"
