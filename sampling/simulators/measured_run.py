"""What one file of a simulator's results says: launches by the simulator's own numbers, and their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.profile.profile import Dimensions

CYCLES, INSTRUCTIONS = "cycles", "instructions"
UNNUMBERED = -1


@dataclass(frozen=True, slots=True)
class SeenKernel:
    """What a simulator says of which kernel a launch is of; empty and None where it does not.

    Attributes
    ----------
    warps : of the whole grid.
    """

    name: str = ""
    grid: Dimensions | None = None
    block: Dimensions | None = None
    warps: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRun:
    """The launches of one file of results, in its order.

    Attributes
    ----------
    path : of the file, for messages.
    number : (n,) each launch's number in the simulator, `UNNUMBERED` where it has none.
    first_number : the number that the first launch of a process has; None where numbers are launch ids of
        the profile already.
    metrics : (n,) of each metric; NaN where it is not known.
    kernels : (n,) what the file says of each launch; empty where it says nothing of any.
    missing : why a launch, by its place, has no metrics, or not all.
    filled : the places of launches before which L2 was filled.
    """

    path: str
    number: IntArray
    first_number: int | None
    metrics: Mapping[str, FloatArray]
    kernels: Sequence[SeenKernel] = ()
    missing: Mapping[int, str] = field(default_factory=dict)
    filled: frozenset[int] = frozenset()


def caches_of_run(run: MeasuredRun) -> list[str]:
    """Return (n,) how each launch found the caches, as far as the order of the run tells.

    ``whole`` after all launches of the program that come before it, ``warm`` after copies that fill L2,
    ``after:N`` after the N launches before it, else ``cold``; ``unknown`` where launches have no numbers.
    """
    if run.first_number is None:
        return ["unknown"] * len(run.number)
    states, before, last = [], 0, UNNUMBERED
    for place, number in enumerate(run.number.tolist()):
        before = before + 1 if number == last + 1 and last != UNNUMBERED else 0
        last = number
        if number == UNNUMBERED:
            states.append("unknown")
        elif number - run.first_number <= before:
            states.append("whole")
        elif place in run.filled:
            states.append("warm")
        else:
            states.append(f"after:{before}" if before else "cold")
    return states


def columns_of(names: Sequence[str], rows: Sequence[Sequence[int | float | None]]) -> dict[str, FloatArray]:
    """Return (n,) each metric of n rows; NaN in place of None."""
    table = np.array(
        [[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64
    ).reshape(len(rows), len(names))
    return {name: table[:, place].copy() for place, name in enumerate(names)}
