"""Whether two methods came to the same plan."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sampling.plan.drawn_clusters import DrawnClusters
from sampling.plan.picked_design import AnyDesign, PickedDesign


def plan_key(design: AnyDesign) -> bytes:
    """Return a key that designs of one reduction share if they are the same plan, and else do not.

    Plans are the same where the same launches are picked with the same weights, or where the same numbers of
    launches are drawn from the same strata, in the same way.
    """
    if isinstance(design, PickedDesign):
        return _digest("picks", design.picks.row, design.picks.weight)
    strata = design.strata
    order = np.lexsort((strata.start, strata.group))
    drawn = [column[order] for column in (strata.group, strata.start, strata.stop, strata.samples)]
    way = f"drawn {strata.chance}"
    if isinstance(design, DrawnClusters):
        return _digest(way, design.picks.stratum, *drawn)
    # Pooled groups are others than kernel groups, whatever their numbers.
    groups = np.unique(strata.group) if strata.groups is None else strata.groups.group_of
    return _digest(way, groups, *drawn)


def _digest(way: str, *columns: NDArray[np.generic]) -> bytes:
    digest = blake2b(way.encode(), digest_size=16)
    for column in columns:
        digest.update(f"{column.dtype} {len(column)}".encode())
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.digest()
