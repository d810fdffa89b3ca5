"""Which process and device of a profile a row belongs to; another run numbers them differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows
from sampling.profile.profile import LaunchSequence
from sampling.text import Wording

_UNKNOWN = -1
_NAMED = 4
_LISTED = 8


@dataclass(frozen=True, slots=True)
class FilePosition:
    """The position of a file among those of its format and device that each have one process and device.

    Attributes
    ----------
    index : from 0, in the order given.
    files : how many there are.
    """

    index: int = 0
    files: int = 1


def file_positions(files: Sequence[FeatureRows]) -> tuple[FilePosition, ...]:
    """Return the position of each of the files that are given together."""
    kinds = [_kind(rows) for rows in files]
    counts = Counter(kinds)
    seen: Counter[tuple[str, int] | None] = Counter()
    found = []
    for kind in kinds:
        found.append(FilePosition() if kind is None else FilePosition(seen[kind], counts[kind]))
        seen[kind] += 1
    return tuple(found)


def _kind(rows: FeatureRows) -> tuple[str, int] | None:
    """Return format and device of a file that has rows of one process and device; None for another."""
    if rows.id is not None or any(
        number is not None and (number != number[0]).any() for number in (rows.process, rows.device)
    ):
        return None
    return rows.format, _UNKNOWN if rows.device is None else int(rows.device[0])


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
    numbers = [
        np.full(len(rows), _UNKNOWN, dtype=np.int64) if number is None else number
        for number in (rows.process, rows.device)
    ]
    # Numbers may be -1, codes want them from 0 on.
    codes, first_rows = dense_codes([number + 1 for number in numbers])
    pairs = tuple((int(numbers[0][row]), int(numbers[1][row])) for row in first_rows)
    search = _Search(rows, pairs, dict(enumerate(sequences)), frozenset(chosen.tolist()), position)
    found = search.found(notes)
    _note_partial(found, search.chosen, notes)
    return np.array(found, dtype=np.int64)[codes]


@dataclass(frozen=True, slots=True)
class _Search:
    """The processes and devices of a file, and those of the profile that they may be.

    Attributes
    ----------
    pairs : process and device of the file, -1 where it does not say.
    every : the profile's sequences by their index.
    chosen : the indices of those that the selected launches lie in.
    """

    rows: FeatureRows
    pairs: tuple[tuple[int, int], ...]
    every: Mapping[int, LaunchSequence]
    chosen: frozenset[int]
    position: FilePosition

    def found(self, notes: list[str]) -> list[int]:
        """Return the sequence of each pair, -1 for one that the profile lacks."""
        same = self._assigned(self._has_same_numbers)
        if same is not None:
            return same
        chosen = {index: self.every[index] for index in sorted(self.chosen)}
        ways: tuple[Callable[[], tuple[list[int], str] | None], ...] = (
            lambda: self._only(self.every),
            self._by_device,
            lambda: self._in_order(self.every),
            lambda: self._by_file_order(self.every),
            lambda: self._only(chosen),
            lambda: self._in_order(chosen),
            lambda: self._by_file_order(chosen),
        )
        for way in ways:
            answer = way()
            if answer is not None:
                found, how = answer
                notes += [how.format(self._in_words(found))] if how else []
                return found
        raise self._refusal()

    def _has_same_numbers(self, pair: tuple[int, int], sequence: LaunchSequence) -> bool:
        process, device = pair
        if self.rows.process is None and self.rows.device is None:
            return False
        return (self.rows.process is None or sequence.process == process) and (
            self.rows.device is None or sequence.device == device
        )

    def _assigned(self, fits: Callable[[tuple[int, int], LaunchSequence], bool]) -> list[int] | None:
        """Return the sequences that pairs fit, None where one pair or one sequence fits several.

        A pair may fit none only if every sequence has a pair: the file then has more than the profile.
        """
        fitting = [[index for index, each in self.every.items() if fits(pair, each)] for pair in self.pairs]
        taken = Counter(index for each in fitting for index in each)
        if any(len(each) > 1 for each in fitting) or any(count > 1 for count in taken.values()):
            return None
        lacking = sum(not each for each in fitting)
        if lacking and len(taken) < len(self.every):
            return None
        return [each[0] if each else _UNKNOWN for each in fitting]

    def _by_device(self) -> tuple[list[int], str] | None:
        if self.rows.device is None:
            return None
        found = self._assigned(lambda pair, sequence: pair[1] == sequence.device)
        return None if found is None else (found, _TAKEN + "by their devices ({})")

    def _only(self, sequences: Mapping[int, LaunchSequence]) -> tuple[list[int], str] | None:
        return (list(sequences), "") if len(sequences) == len(self.pairs) == 1 else None

    def _in_order(self, sequences: Mapping[int, LaunchSequence]) -> tuple[list[int], str] | None:
        if not len(sequences) == len(self.pairs) > 1:
            return None
        order = sorted(range(len(self.pairs)), key=self.pairs.__getitem__)
        indices = sorted(sequences, key=lambda index: (sequences[index].process, sequences[index].device))
        found = [0] * len(order)
        for place, index in zip(order, indices, strict=True):
            found[place] = index
        return found, _TAKEN + "in the order of their numbers ({})"

    def _by_file_order(self, sequences: Mapping[int, LaunchSequence]) -> tuple[list[int], str] | None:
        if len(self.pairs) != 1:
            return None
        device = self.pairs[0][1]
        of_device = [index for index, each in sequences.items() if each.device == device]
        fitting = of_device or list(sequences)
        if not self.position.files == len(fitting) > 1:
            return None
        index = fitting[self.position.index]
        return [index], (
            f"as file {self.position.index + 1} of {self.position.files} in the order given it was taken for "
            f"{_numbers(self.every[index])} (process:device) of the profile"
        )

    def _in_words(self, found: Sequence[int]) -> str:
        """Return which pair is which sequence, in words."""
        known = [(pair, index) for pair, index in zip(self.pairs, found, strict=True) if index != _UNKNOWN]
        words = [f"{pair[0]}:{pair[1]} is {_numbers(self.every[index])}" for pair, index in known[:_NAMED]]
        return ", ".join([*words, "..."] if len(known) > _NAMED else words)

    def _refusal(self) -> ProfileError:
        count, of_profile = len(self.pairs), len(self.every)
        have = "one process and device" if count == 1 else f"{count:,} pairs of process and device"
        places = ", ".join(map(_numbers, list(self.every.values())[:_LISTED]))
        more = ", ..." if of_profile > _LISTED else ""
        files = f", as have {self.position.files} files in all" if self.position.files > 1 else ""
        if count > of_profile:
            remedy = Wording(
                "leave other processes' rows out, or give a file for each of the profile's, in this order"
            )
        elif count == 1:
            remedy = Wording(
                "give a file for each of them, in this order, or choose the one that it describes with "
                "`processes` or `devices`"
            )
        else:
            remedy = Wording(
                "choose those that it describes with `processes` or `devices`, or give a file for each "
                "of the profile's, in this order"
            )
        return ProfileError(
            f"has rows of {have}{files}, and the profile launches of {of_profile:,} ({places}{more})",
            path=self.rows.path,
            remedy=remedy,
        )


_TAKEN = "its processes and devices were taken for the profile's "


def _numbers(sequence: LaunchSequence) -> str:
    return f"{sequence.process}:{sequence.device}"


def _note_partial(found: Sequence[int], chosen: frozenset[int], notes: list[str]) -> None:
    """Add a note where the file has rows of more or of fewer processes and devices than are selected."""
    beyond = sum(index == _UNKNOWN for index in found)
    if beyond:
        have = "is" if beyond == 1 else "are"
        notes.append(f"{beyond:,} of its {len(found):,} processes and devices {have} not in the profile")
    described = len(chosen.intersection(found))
    if described < len(chosen):
        notes.append(f"it has rows of {described:,} of the {len(chosen):,} processes and devices selected")
