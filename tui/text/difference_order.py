"""The order in which the kernels of a difference are listed."""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.difference.difference import Difference
from tui.options.choices import DifferenceSort


def sorted_difference(found: Difference, sort: DifferenceSort, *, reverse: bool) -> Difference:
    """Return the difference with its kernels in this order; equal ones stay, the one changed most first.

    Parameters
    ----------
    found : what changed most first.
    reverse : the smallest first, or the last name; kernels without the figure stay last.
    """
    if sort is DifferenceSort.CHANGE:
        return found.ordered(np.arange(len(found.kernels))[::-1]) if reverse else found
    if sort is DifferenceSort.KERNEL:
        keys = [kernel.key for kernel in found.kernels]
        return found.ordered(np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse), int))
    values = _values(found, sort)
    return found.ordered(np.argsort(values if reverse else -values, kind="stable"))


def _values(found: Difference, sort: DifferenceSort) -> FloatArray | IntArray:
    """Return (k,) the figures to sort by; NaN where a kernel has none."""
    before, after = found.before, found.after
    if sort is DifferenceSort.BEFORE:
        return before.total_ns
    if sort is DifferenceSort.AFTER:
        return after.total_ns
    if sort is DifferenceSort.LAUNCHES:
        return np.maximum(before.launches, after.launches)
    return found.ratios.ratio
