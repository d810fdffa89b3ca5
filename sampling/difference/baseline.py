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
from sampling.difference.launch_sums import PIECES, TENTHS
from sampling.difference.recordings import ProfilePart, Recording
from sampling.errors import NotApplicableError, OptionError, ProfileError
from sampling.parallel import Progress
from sampling.readers.input_file import open_input
from sampling.record import Count, Nanoseconds, Record
from sampling.reduction.grouping import Grouping
from sampling.text import Wording

_REMEDY = "save it again with `kernelpoint baseline save`"


class Baseline(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A recording as it was saved, and the same with its kernel groups parted by operator, if it names any."""

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
    return SavedBaseline(path, size_bytes, *selected, len(recording.groups), recording.iterations)


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
    """Return whether the arrays of a recording have the sizes that they need."""
    groups, sums, facts = len(recording.groups), recording.sums, recording.iterations
    stretches = [sums.whole] if sums.iterations is None else [sums.whole, sums.iterations]
    columns = [[getattr(side, column.name) for column in fields(side)] for side in stretches]
    shapes = [{column.shape for column in of_side if column is not None} for of_side in columns]
    return (
        groups > 0
        and recording.launches.shape == (groups,)
        and recording.launches.min() > 0
        and sums.piece_ns.shape == (groups, PIECES)
        and shapes[0] == {(TENTHS,)}
        and (facts is None) == (sums.iterations is None)
        and (facts is None or sums.group_launches.shape == (groups,))
        and (facts is None or shapes[1] == {sums.group_ns.shape[1:]})
        and all(column.min() >= 0 for of_side in columns for column in of_side if column is not None)
    )
