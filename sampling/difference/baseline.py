"""A baseline: what a difference takes of a recording, in a file that is small enough to commit.

It has kernel names, sums of durations and process numbers: nothing else of the machine or who ran it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Literal, get_args

import msgspec
import numpy as np
from msgspec import Struct

from sampling.difference.recordings import PIECES, TENTHS, ProfilePart, Recording
from sampling.errors import NotApplicableError, OptionError, ProfileError
from sampling.parallel import Progress
from sampling.readers.input_file import open_input
from sampling.reduction.grouping import Grouping
from sampling.reduction.idle import IDLE_PARTS
from sampling.text import Wording

_REMEDY = "save it again with `kernelpoint baseline save`"


class Baseline(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A recording as it was saved."""

    schema: Literal[1] = 1
    kind: Literal["baseline"] = "baseline"
    grouping: Grouping
    #: The names of kernel groups, each once: in the file groups have their numbers, and keys lack them.
    names: list[str]
    #: It, and the same with its groups parted by operator, if it names any.
    recordings: tuple[Recording, ...]

    @property
    def names_operators(self) -> bool:
        """Whether launches have operators."""
        return len(self.recordings) > 1

    def recording(self, grouping: Grouping, _: Progress | None = None) -> Recording:
        """Return what a difference takes of it; OptionError where it was saved by another grouping."""
        if grouping.by is not (by := self.grouping.by):
            wording = "the baseline was saved with `group_by={}`, and kernels are compared by {}"
            remedy = Wording("give `group_by={}`, or save it again", by.value)
            raise OptionError(Wording(wording, by.value, grouping.by.value), remedy=remedy)
        return self.recordings[-1 if grouping.apart else 0]


def make_baseline(part: ProfilePart, grouping: Grouping, progress: Progress | None = None) -> Baseline:
    """Return what a difference takes of a part of a profile.

    Raises EmptySelectionError, NotApplicableError: as `sampling.reduction.duration_counts.count_durations`.
    """
    grouping = replace(grouping, pool_devices=False)
    read = [part.recording(grouping, progress)]
    if part.names_operators:
        with suppress(NotApplicableError):
            read.append(part.recording(replace(grouping, apart=True), progress))
    # Without their single durations.
    names = [column.name for column in fields(Recording)]
    kept = tuple(Recording(*(getattr(recording, name) for name in names)) for recording in read)
    return Baseline(grouping=grouping, names=[], recordings=kept)


def baseline_text(baseline: Baseline) -> str:
    """Return a baseline as its file has it."""
    numbers: dict[str, int] = {}
    stored = []
    for recording in baseline.recordings:
        groups = tuple(
            replace(
                group,
                name=str(numbers.setdefault(group.name, len(numbers))),
                key=group.key.removeprefix(group.name),
            )
            for group in recording.groups
        )
        stored.append(replace(recording, groups=groups))
    in_file = msgspec.structs.replace(baseline, names=[*numbers], recordings=tuple(stored))
    return msgspec.json.encode(in_file, enc_hook=lambda values: values.tolist()).decode() + "\n"


def read_baseline(path: str) -> Baseline:
    """Read a baseline; ProfileError: the file is none, or its values do not agree."""
    with open_input(path) as file:
        content = file.location.read_bytes()
    read = []
    try:
        stored = msgspec.json.decode(content, type=Baseline, dec_hook=_array)
        for recording in stored.recordings:
            names = [stored.names[int(group.name)] for group in recording.groups]
            groups = tuple(
                replace(group, name=name, key=name + group.key)
                for group, name in zip(recording.groups, names, strict=True)
            )
            read.append(replace(recording, groups=groups))
    except (msgspec.MsgspecError, ValueError, LookupError, OverflowError) as error:
        raise ProfileError(f"no baseline ({error})", path=path, remedy=_REMEDY) from error
    if not read or not all(map(_agrees, read)):
        raise ProfileError("a baseline whose values disagree", path=path, remedy=_REMEDY)
    return msgspec.structs.replace(stored, names=[], recordings=tuple(read))


def _array(kind: Any, values: Any) -> Any:
    return np.array(values, dtype=get_args(get_args(kind)[1])[0])


def _agrees(recording: Recording) -> bool:
    """Return whether the arrays of a recording have the sizes that they need, and no negative values."""
    groups, iterations = len(recording.groups), recording.iterations
    stretches = 0 if iterations is None else len(iterations.launches)
    arrays = [recording.launches, recording.iteration_launches, recording.piece_ns, recording.iteration_ns]
    expected = [(groups,), (groups,), (groups, PIECES), (groups, stretches)]
    for side, size in ((recording.whole, TENTHS), (iterations, stretches)):
        names = [] if side is None else [column.name for column in fields(side)]
        columns = {name: column for name in names if (column := getattr(side, name)) is not None}
        arrays += columns.values()
        expected += [(len(IDLE_PARTS), size) if name == "idle_ns" else (size,) for name in columns]
    are_alike = (recording.facts is None) == (iterations is None)
    are_counts = all((array >= 0).all() for array in arrays) and bool((recording.launches > 0).all())
    return are_alike and are_counts and [array.shape for array in arrays] == expected
