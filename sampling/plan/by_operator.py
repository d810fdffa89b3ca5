"""How long the launches of a plan's recording last on another GPU, whose kernels have other names.

In both, the launches of an operator are its calls in their order. (docs/methods.md, 6 Drawing and judging)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import no_operators
from sampling.text import Wording

# Of an operator's launches, how many one recording may have begun too late for.
_CUT_OFF = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class OperatorMatch:
    """The launches of the plan's recording in another one."""

    #: (launches of the plan's recording,) by id how long each lasts in the other; 0 where it has no match.
    durations_ns: IntArray
    #: The shares of the time of the plan's recording, and of the other, that are matched.
    shares: tuple[float, float]


class _Calls(NamedTuple):
    """The launches of a sequence: (n,) the operator and how many of its launches come before; durations."""

    operator: IntArray
    nth: IntArray
    duration_ns: IntArray


def match_operators(plan: PlanFile, original: Profile | None, recording: Profile) -> OperatorMatch:
    """Match the launches of the plan's recording with those of another one by operator, shapes and order.

    Where an operator has n launches there and m here, and one of the two divides the other, it has as many
    calls as the smaller number, and the k-th call there is the k-th here. So it is where up to a twentieth of
    the launches, the first of those that are more, is left out: one recording began within an iteration. Of
    other operators nothing tells which calls are the same, and they are left out. What a call lasts here is
    shared among its launches there as they lasted there. Launches outside of operators are matched by their
    kernel's name.

    Raises OptionError: the plan's groups are not operators; AnalysisError: its recording is not there to tell
    operators, the two have other numbers of processes and devices, or no launch is matched;
    NotApplicableError: a profile names no operators.
    """
    if plan.options.group_by is not GroupBy.OPERATOR:
        message = Wording(
            "the plan's groups are by {}, and launches are matched by operator", plan.options.group_by
        )
        raise OptionError(message, remedy=Wording("make the plan with `group_by=operator`"))
    if original is None:
        paths = " ".join(file.path for file in plan.profile.files)
        raise AnalysisError(
            "which operators the plan's launches are of, its recording tells, and it is not there as it was",
            remedy=f"put it back in its place ({paths})",
        )
    number: dict[str, int] = {}
    sides = [_list_calls(profile, number) for profile in (original, recording)]
    sequences, other_sequences = map(len, sides)
    if sequences != other_sequences:
        text = f"{sequences} processes and devices in the plan's recording, {other_sequences} in this one"
        raise AnalysisError(text, remedy="record the same program again with the same settings")
    lasting, matched_ns = [], np.zeros(2, dtype=np.int64)
    for planned, recorded in zip(*sides, strict=True):
        durations_ns, *both_ns = _match_durations(planned, recorded, len(number))
        lasting.append(durations_ns)
        matched_ns += both_ns
    if not matched_ns.all():
        remedy = "`kernelpoint difference` shows the two operator by operator"
        raise AnalysisError("no operator has as many calls in both recordings", remedy=remedy)
    totals_ns = (sum(int(calls.duration_ns.sum()) for calls in side) for side in sides)
    shares = [ns / total_ns for ns, total_ns in zip(matched_ns.tolist(), totals_ns, strict=True)]
    return OperatorMatch(np.concatenate(lasting), (shares[0], shares[1]))


def _list_calls(profile: Profile, number: dict[str, int]) -> list[_Calls]:
    """Return the launches of each sequence; ``number`` holds the operators found so far, and grows."""
    if "operator" not in profile.columns:
        raise no_operators()
    calls = []
    for sequence in range(len(profile.sequences)):
        parts = [part for part in profile.parts if part.sequence == sequence]
        tables = [part.load(("operator", "duration_ns")) for part in parts]
        code = np.concatenate([table["operator"] for table in tables])
        texts, signatures = profile.kernels.operators()
        names, of_signature = profile.kernels.names, profile.kernels.signature_names()
        of_code = [
            number.setdefault(text or names.readable(int(of_signature[signature])), len(number))
            for text, signature in zip(texts, signatures.tolist(), strict=True)
        ]
        operator = np.array(of_code, dtype=np.int64)[code]
        order = np.argsort(operator, kind="stable")
        launches = np.bincount(operator)
        nth = np.empty(len(order), dtype=np.int64)
        nth[order] = np.arange(len(order)) - np.repeat(np.cumsum(launches) - launches, launches)
        calls.append(_Calls(operator, nth, np.concatenate([table["duration_ns"] for table in tables])))
    return calls


def _match_durations(original: _Calls, recording: _Calls, operators: int) -> tuple[IntArray, int, int]:
    """Return (n,) how long the launches there last here, and how much time there and here is matched."""
    launches = [np.bincount(side.operator, minlength=operators) for side in (original, recording)]
    calls, larger = np.minimum(*launches), np.maximum(*launches)
    calls[larger % np.maximum(calls, 1) > _CUT_OFF * larger] = 0
    first = np.cumsum(calls) - calls
    call_of, of_calls_ns = [], np.zeros((2, int(calls.sum()) + 1), dtype=np.int64)
    for side, number, of_call_ns in zip((original, recording), launches, of_calls_ns, strict=True):
        of_each = number // np.maximum(calls, 1)
        nth = side.nth - (number - of_each * calls)[side.operator]
        # What is in no call is put behind the last.
        call = np.where((calls[side.operator] > 0) & (nth >= 0), first[side.operator], -1)
        call[call >= 0] += (nth // np.maximum(of_each[side.operator], 1))[call >= 0]
        call_of.append(call)
        np.add.at(of_call_ns, call, side.duration_ns)
    there_ns, here_ns = of_calls_ns
    here_ns[-1] = there_ns[-1] = 0
    call = call_of[0]
    # Of a call that lasts no time there, every launch has the same share.
    share = 1 / np.bincount(call + 1)[call + 1]
    np.divide(original.duration_ns, there_ns[call], out=share, where=there_ns[call] > 0)
    return np.rint(share * here_ns[call]).astype(np.int64), int(there_ns.sum()), int(here_ns.sum())
