"""Cycles of a larger GPU by waves of thread blocks, launch by launch, with nothing fitted.

The thread blocks of a launch run in waves: one more than the SMs hold begins another. With m(n) the waves of
a launch on n SMs, its cycles go as T(n) = a + b m(n), through the two sizes that were simulated:

    m(n) = ceil(CTAs / n)
    T_T  = T_L                                                           where T_L >= T_S or m_S = m_L
           max(T_L - (T_S - T_L) / (m_S - m_L) (m_L - m_T),  T_L m_T / m_L)        elsewhere

and the whole is the sum. What does not get shorter from the smaller to the larger does not on from there; no
launch gains more than its waves: a cliff between the two sizes, where a launch's working set comes to fit, is
not gained a second time. (this project; docs/methods.md, 10 Scale model)

The interval is what was measured on twelve real programs: 4.2 % off in the mean, 14.8 % at worst.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from scalemodel.arrays import FloatArray, IntArray
from scalemodel.errors import OptionError

#: Half-width of the interval a doubling, as a fraction, and how many doublings it was measured for.
OFF_A_DOUBLING, MOST_DOUBLINGS = 0.10, 2
# A wave's tail is told where more than this share of the last waves' places is empty.
_TAIL = 0.1


class Limit(StrEnum):
    """What keeps a launch from getting shorter in proportion to the SMs."""

    NOTHING = "its waves get fewer"
    FEW_BLOCKS = "too few thread blocks"
    NO_GAIN = "does not scale"
    SUPERLINEAR = "superlinear"
    TAIL = "a tail of a wave"


class ByWaves(NamedTuple):
    """The launches of a run on a larger GPU."""

    #: SMs of the two runs that were simulated, and of the larger GPU.
    sizes: tuple[int, int]
    target: int
    #: (n,) cycles of each launch, and what limits it, of type `Limit`.
    cycles: FloatArray
    limit: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    @property
    def half_width(self) -> float | None:
        """How far a total may be off, as a fraction; None beyond the doublings that were measured."""
        doublings = math.log2(self.target / self.sizes[1])
        return OFF_A_DOUBLING * doublings if doublings <= MOST_DOUBLINGS else None


def predict_by_waves(
    ctas: IntArray, smaller: FloatArray, larger: FloatArray, sizes: tuple[int, int], target: int
) -> ByWaves:
    """Return the cycles of every launch on a larger GPU.

    Given are (n,) the thread blocks of each launch, and its cycles on the smaller and on the larger of two
    GPUs, whose sizes in SMs ascend to the target. Raises OptionError: they do not, or a grid is not known.
    """
    small, large = sizes
    if not 0 < small < large < target:
        what = f"{target} SMs are not predicted from {small} and {large}"
        raise OptionError(what, remedy="give runs of two sizes and a target above both")
    if (ctas < 1).any():
        what = "the grid of a launch is not known"
        raise OptionError(what, remedy="give logs that print it, or a table that has it")
    waves_small, waves_large, waves = (-(-ctas // size) for size in (small, large, target))
    gain = (smaller - larger) / np.maximum(waves_small - waves_large, 1)
    by_line, least = larger - gain * (waves_large - waves), larger * waves / waves_large
    no_gain, few = larger >= smaller, (waves_small == waves_large) | (waves == waves_large)
    cycles = np.where(no_gain | (waves_small == waves_large), larger, np.maximum(by_line, least))
    tail = ctas < (1 - _TAIL) * waves * target
    limits = np.array(list(Limit), dtype=object)
    limit = limits[np.select([few, no_gain, by_line < least, tail], [1, 2, 3, 4], 0)]
    return ByWaves(sizes, target, cycles, limit)
