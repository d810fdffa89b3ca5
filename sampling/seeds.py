"""Random streams: each use of a seed has its own, so that no use changes the numbers of another."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from sampling.errors import OptionError
from sampling.text import Wording


class Stream(IntEnum):
    """What random numbers are drawn for."""

    DESIGN = 0
    DRAW = 1
    JUDGE = 2
    CALIBRATE = 3
    CONFIRM = 4
    EXPORT = 5
    COLD_CHECK = 6


def generator(seed: int, stream: Stream) -> np.random.Generator:
    """Return the generator of a stream.

    Raises
    ------
    OptionError : the seed is negative.
    """
    if seed < 0:
        raise OptionError(Wording("`seed` is 0 or more, not {}", seed))
    return np.random.default_rng([seed, stream])
