"""How many launches are drawn where each is with one probability: a binomial number, never none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sampling.arrays import FloatArray, IntArray

# Beyond so many standard deviations and launches from the mean a number has no chance that float64 holds.
_DEVIATIONS = 12
_LAUNCHES = 40


@dataclass(frozen=True, slots=True)
class NumberDrawn:
    """The number of launches drawn, given that a draw of none is made again. (METHODS section 8)

    Attributes
    ----------
    launches : N, of which each is drawn or not.
    probability : above 0, at most 1.
    """

    launches: int
    probability: float

    @property
    def share_empty(self) -> float:
        """The share of the draws that are made again, (1 - p)^N."""
        return (1 - self.probability) ** self.launches

    def possible(self) -> tuple[IntArray, FloatArray]:
        """Return the numbers that may come, ascending, and the chance of each; the chances sum to 1."""
        return _possible(self)

    def draw(self, times: int, rng: np.random.Generator) -> IntArray:
        """Return (times,) numbers, each at least 1."""
        numbers, chances = self.possible()
        return rng.choice(numbers, size=times, p=chances)


# Every figure of a design asks for them again.
@lru_cache(maxsize=4)
def _possible(number: NumberDrawn) -> tuple[IntArray, FloatArray]:
    from scipy.stats import binom

    mean = number.launches * number.probability
    reach = _DEVIATIONS * np.sqrt(mean * (1 - number.probability)) + _LAUNCHES
    numbers = np.arange(max(1, int(mean - reach)), min(number.launches, int(mean + reach) + 1) + 1)
    chances = np.asarray(binom.pmf(numbers, number.launches, number.probability), dtype=np.float64)
    chances /= chances.sum()
    numbers.flags.writeable = chances.flags.writeable = False
    return numbers, chances
