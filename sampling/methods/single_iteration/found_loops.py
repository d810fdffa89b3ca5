"""The iteration of a loop that is found in the order of the launches, in each process and device.

(docs/methods.md, 7 Principal Kernel Analysis)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sampling.errors import NotApplicableError
from sampling.methods.single_iteration.iteration import Iteration
from sampling.methods.single_iteration.options import GIVE_IDS, NAME, Options
from sampling.reduction.iterations.iterations import MOST, Iterations, find_iterations
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted

_SECOND = 1


@dataclass(frozen=True, slots=True, eq=False)
class FoundLoop:
    """The loop of one process and device.

    Attributes
    ----------
    row : the first row of the process and device in the launch list, from which ``found`` counts.
    found : its iterations.
    by_name : whether launches of the same kernel are the same whatever their shapes.
    of : which process and device, in words; "" where there is one.
    """

    row: int
    found: Iterations
    by_name: bool
    of: str

    def iteration(self, options: Options) -> Iteration:
        """Return the iteration that is taken, the second if none is asked for.

        The first may warm up. Which one is nearest to the mean would follow from the durations, but these are
        what is to be predicted, so they are not looked at.

        Raises
        ------
        NotApplicableError : there are not so many.
        """
        found, chosen = self.found, _SECOND if options.occurrence is None else options.occurrence
        if chosen >= len(found.first):
            raise NotApplicableError(
                f"no iteration {chosen} is found{self.of}",
                remedy=f"{NAME}.occurrence counts from 0, and there are {len(found.first):,}",
            )
        start = self.row + int(found.first[chosen])
        in_loop = found.stop - found.start
        return Iteration(
            start=start,
            stop=start + found.launches,
            missing=0,
            iterations=in_loop / found.launches if options.iterations is None else options.iterations,
            stands_for=np.arange(self.row + found.start, self.row + found.stop),
            label=f"the loop found{self.of}",
        )


def found_loops(launches: LaunchList) -> list[FoundLoop]:
    """Return the loop of each process and device that has one: by name and shape, else by name alone.

    Raises
    ------
    NotApplicableError : none has a loop of which most launches are equal iterations.
    """
    edges = np.flatnonzero(np.diff(launches.sequence, prepend=-1, append=-1)).tolist()
    loops: list[FoundLoop] = []
    others: list[tuple[float, Iterations | None]] = []
    for first, stop in pairwise(edges):
        of = f" in process and device number {launches.sequence[first] + 1}" if len(edges) > 2 else ""
        signature = launches.signature[first:stop]
        name = launches.kernels.signature_names()[signature].astype(np.int64)
        for by_name, codes in ((False, signature), (True, name)):
            found = find_iterations(codes)
            if found is not None and found.equal_launches >= MOST * len(codes):
                loops.append(FoundLoop(first, found, by_name, of))
                break
            others.append((0.0 if found is None else found.equal_launches / len(codes), found))
    if not loops:
        raise _none_found(others)
    return loops


def _none_found(others: Sequence[tuple[float, Iterations | None]]) -> NotApplicableError:
    """Return the error that names the best of loops that are too small.

    Parameters
    ----------
    others : the share of the launches that each repeats, and the loop.
    """
    share, best = max(others, key=lambda each: each[0])
    at_best = ""
    if best is not None:
        of = f"{counted(best.launches, 'launch', 'launches')} repeated {counted(len(best.first), 'time')}"
        at_best = f": at best {of}, {100 * share:.2g} % of them"
    return NotApplicableError(
        f"{NAME} finds no sequence of kernels that most launches repeat{at_best}",
        remedy=f"set {NAME}.range to the name of a range, or {GIVE_IDS}",
    )


def loop_notes(
    launches: LaunchList, loops: Sequence[FoundLoop], iterations: Sequence[Iteration]
) -> tuple[str, ...]:
    """Return which iteration is taken, and how far the launches really repeat."""
    if not loops:
        return ()
    ids = launches.id[[iterations[0].start, iterations[0].stop - 1]].tolist()
    how_many = " and ".join(dict.fromkeys(f"{len(loop.found.first):,}" for loop in loops))
    same = "whatever their sizes" if any(loop.by_name for loop in loops) else "in the same sizes"
    share, share_of_time = _shares(launches, loops)
    of_time = "" if share_of_time is None else f" and {100 * share_of_time:.3g} % of the time"
    found = (
        f"found by the order of the launches: {ids[0]} to {ids[1]} are one of {how_many} iterations "
        f"of the same kernels {same}"
    )
    notes = [f"{found}, {100 * share:.3g} % of the launches{of_time}"]
    if others := sum(loop.found.stop - loop.found.start - loop.found.equal_launches for loop in loops):
        count = "counts as part of an iteration" if others == 1 else "count as parts of iterations"
        which = counted(others, "other launch", "other launches")
        notes.append(f"{which} of the loop, between iterations and at its ends, {count}")
    if outside := len(launches) - sum(loop.found.stop - loop.found.start for loop in loops):
        notes.append(f"{counted(outside, 'launch', 'launches')} before and after the loop: not counted")
    return tuple(notes)


def loop_details(launches: LaunchList, loops: Sequence[FoundLoop]) -> dict[str, Any]:
    """Return what was found, as figures."""
    if not loops:
        return {}
    share, share_of_time = _shares(launches, loops)
    return {
        "found": [len(loop.found.first) for loop in loops],
        "found_by": ["name" if loop.by_name else "launch" for loop in loops],
        "share": share,
        "share_of_time": share_of_time,
    }


def _shares(launches: LaunchList, loops: Sequence[FoundLoop]) -> tuple[float, float | None]:
    """Return how much of the launches, and of their time, iterations are that equal the one taken.

    The latter is None where there are no durations.
    """
    is_equal = np.zeros(len(launches) + 1, dtype=np.int64)
    for loop in loops:
        is_equal[loop.row + loop.found.first] += 1
        is_equal[loop.row + loop.found.first + loop.found.launches] -= 1
    inside = np.cumsum(is_equal[:-1]) > 0
    if not launches.has_durations:
        return float(inside.mean()), None
    total_ns = int(launches.duration_ns.sum())
    return float(inside.mean()), float(launches.duration_ns[inside].sum() / total_ns) if total_ns else 0.0
