"""Launches chosen without chance, and what each stands for; no interval follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Picks:
    """Strata found by looking at single launches, with the launches that represent each.

    Attributes
    ----------
    stratum : (n,) the stratum of every launch of the list, 0 <= stratum < s; -1: no pick stands for it.
    labels : (s,) what each stratum is, in words; distinct.
    row : (k,) rows of the launch list to simulate, ascending and distinct.
    weight : (k,) how much of the total each stands for: the total is estimated as sum of weight * duration.
    notes : what the user should know of how these came about.
    details : the method's own figures for results and files, by name; JSON values.
    """

    stratum: IntArray
    labels: tuple[str, ...]
    row: IntArray
    weight: FloatArray
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def estimate(self, values: NDArray[np.number]) -> float:
        """Return the projected total of per-launch values (n,), for example durations or cycles."""
        return float(np.dot(self.weight, values[self.row].astype(np.float64)))
