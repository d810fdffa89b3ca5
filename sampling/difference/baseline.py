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

from sampling.difference.iterations import IterationFacts
from sampling.difference.recordings import PIECES, TENTHS, ProfilePart, Recording
from sampling.errors import NotApplicableError, OptionError, ProfileError
from sampling.parallel import Progress
from sampling.readers.input_file import open_input
from sampling.record import Count, Nanoseconds, Record
from sampling.reduction.grouping import Grouping
from sampling.text import Wording

_REMEDY = "save it again with `kernelpoint baseline save`"


class Baseline(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A recording as it was saved, and with its kernel groups parted by operator, if it names any."""

    schema: Literal[1] = 1
    kind: Literal["baseline"] = "baseline"
    grouping: Grouping
    plain: Recording
    by_operator: Recording | None

    @property
    def names_operators(self) -> bool:
        """Whether launches have operators."""
        return self.by_operator is not None

    def recording(self, grouping: Grouping, _: Progress | None = None) -> Recording:
        """Return what a difference takes of it; OptionError where it was saved by another grouping."""
        if grouping.by is not self.grouping.by:
            wording = "the baseline was saved with `group_by={}`, and kernels are compared by {}"
            remedy = Wording("give `group_by={}`, or save it again", self.grouping.by.value)
            message = Wording(wording, self.grouping.by.value, grouping.by.value)
            raise OptionError(message, remedy=remedy)
        return self.by_operator if grouping.apart and self.by_operator is not None else self.plain


class SavedBaseline(Record, frozen=True):
    """A baseline that was written."""

    #: None for standard output.
    path: str | None
    bytes: Count
    launches: Count
    total_duration_ns: Nanoseconds
    kernel_groups: Count
    iterations: IterationFacts | None


def make_baseline(part: ProfilePart, grouping: Grouping, progress: Progress | None = None) -> Baseline:
    """Return what a difference takes of a part of a profile.

    Raises EmptySelectionError, NotApplicableError: as `sampling.reduction.duration_counts.count_durations`.
    """
    grouping, by_operator = replace(grouping, pool_devices=False), None
    if part.names_operators:
        with suppress(NotApplicableError):
            by_operator = _kept(part.recording(replace(grouping, apart=True), progress))
    return Baseline(
        grouping=grouping, plain=_kept(part.recording(grouping, progress)), by_operator=by_operator
    )


def _kept(recording: Recording) -> Recording:
    """Return a recording without its single durations."""
    return Recording(*(getattr(recording, column.name) for column in fields(Recording)))


def baseline_text(baseline: Baseline) -> str:
    """Return a baseline as its file has it."""
    return msgspec.json.encode(baseline, enc_hook=lambda values: values.tolist()).decode() + "\n"


def summarise_baseline(baseline: Baseline, path: str | None, size_bytes: int) -> SavedBaseline:
    """Return what was written, so many bytes."""
    recording = baseline.plain
    selected = recording.selection.launches, recording.selection.total_duration_ns
    return SavedBaseline(path, size_bytes, *selected, len(recording.groups), recording.facts)


def read_baseline(path: str) -> Baseline:
    """Read a baseline; ProfileError: the file is none, or its values do not agree."""
    with open_input(path) as file:
        content = file.location.read_bytes()
    try:
        baseline = msgspec.json.decode(content, type=Baseline, dec_hook=_array)
        sides = [baseline.plain, *([] if baseline.by_operator is None else [baseline.by_operator])]
        if not all(map(_agrees, sides)):
            raise ProfileError("a baseline whose values disagree", path=path, remedy=_REMEDY)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise ProfileError(f"no baseline ({error})", path=path, remedy=_REMEDY) from error
    return baseline


def _array(kind: Any, values: Any) -> Any:
    return np.array(values, dtype=get_args(get_args(kind)[1])[0])


def _agrees(recording: Recording) -> bool:
    """Return whether the arrays of a recording have the sizes that they need, and no negative values."""
    groups, number = (
        len(recording.groups),
        0 if recording.iterations is None else len(recording.iterations.launches),
    )
    arrays = [recording.launches, recording.iteration_launches, recording.piece_ns, recording.iteration_ns]
    expected = [(groups,), (groups,), (groups, PIECES), (groups, number)]
    for stretches, size in ((recording.whole, TENTHS), (recording.iterations, number)):
        columns = (
            [] if stretches is None else [getattr(stretches, column.name) for column in fields(stretches)]
        )
        arrays += [column for column in columns if column is not None]
        expected += [(size,)] * (len(arrays) - len(expected))
    return (
        (recording.facts is None) == (recording.iterations is None)
        and [array.shape for array in arrays] == expected
        and all((array >= 0).all() for array in arrays)
        and bool((recording.launches > 0).all())
    )
