"""In which order the calls dispatched rocprofv3's kernels, and when each call began."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.named_ranges import NO_CALL
from sampling.profile.profile import LaunchOrder


@dataclass(frozen=True, slots=True, eq=False)
class CallOrder:
    """What puts the launches of a recording in the order of their calls.

    Attributes
    ----------
    order : (n,) ascends in that order within a process.
    kind : what it rests on; "correlation" is the number that the profiler gives each dispatch.
    api_start_ns : (n,) when the call began, ``NO_CALL`` where it was not recorded; None where none was.
    calls_missing : launches without a call where others have one.
    """

    order: IntArray
    kind: LaunchOrder
    api_start_ns: IntArray | None
    calls_missing: int


def call_order(
    launch_call: IntArray, dispatch: IntArray, call: IntArray, call_start_ns: IntArray
) -> CallOrder:
    """Return the order of launches by their calls, of those of one call by dispatch; by dispatch alone where
    a call is missing.

    Parameters
    ----------
    launch_call, dispatch : (n,) the call behind each launch, -1 where unknown, and the dispatch's number.
    call, call_start_ns : (c,) the calls that were recorded; of those with one number the first counts.
    """
    if not len(call):
        return CallOrder(dispatch, "correlation", None, 0)
    by_start = np.lexsort((call_start_ns, call))
    numbers, first = np.unique(call[by_start], return_index=True)
    starts = call_start_ns[by_start][first]
    place = np.minimum(np.searchsorted(numbers, launch_call), len(numbers) - 1)
    known = numbers[place] == launch_call
    api_start_ns = np.where(known, starts[place], NO_CALL)
    if not known.all():
        missing = int(np.count_nonzero(~known))
        return CallOrder(dispatch, "correlation", api_start_ns if known.any() else None, missing)
    order = np.empty(len(dispatch), dtype=np.int64)
    order[np.lexsort((dispatch, api_start_ns))] = np.arange(len(dispatch))
    return CallOrder(order, "api-start", api_start_ns, 0)
