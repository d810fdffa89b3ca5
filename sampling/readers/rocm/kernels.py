"""What all of ROCm's profilers write their own way: names with suffixes, grids counted in work-items."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sampling.arrays import AnyIntArray, IntArray

# A kernel's symbol is that of its descriptor; demanglers print what follows the name as a clone.
_DESCRIPTOR = re.compile(r"\s*(?:\[clone \.kd\]|\(\.kd\)|\.kd)\s*\Z")
_CLONE_OF_DESCRIPTOR = re.compile(r"(\[clone [^\[\]]*?)\.kd\]\s*\Z")


def bare_name(name: str) -> str:
    """Return a kernel's name without the suffix of its descriptor; other clones keep theirs.

    >>> bare_name("void add<int>(int*) [clone .kd]"), bare_name("_Z3addPi.kd")
    ('void add<int>(int*)', '_Z3addPi')
    """
    return _CLONE_OF_DESCRIPTOR.sub(r"\1]", _DESCRIPTOR.sub("", name)).strip()


def work_groups(work_items: Sequence[AnyIntArray], group: Sequence[AnyIntArray]) -> list[IntArray]:
    """Return x, y and z of the grid in work-groups, the last one on each axis maybe not full.

    Parameters
    ----------
    work_items, group : x, y and z, (n,) each: of the grid and of a work-group; 0 where unknown.
    """
    return [
        -(-items.astype(np.int64, copy=False) // np.maximum(size, 1))
        for items, size in zip(work_items, group, strict=True)
    ]
