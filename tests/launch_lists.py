"""Launch lists from plain columns, for tests of methods that look at single launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampling.profile.profile import KernelTable
from sampling.reduction.grouping import KernelGroup
from sampling.reduction.launch_list import Features, LaunchList


def launches_of(
    names: Sequence[str],
    metrics: Mapping[str, Any] | None = None,
    *,
    grid_x: Any = None,
    block_x: Any = None,
    duration_ns: Any = None,
    first_id: int = 0,
    by_name: bool = False,
    features: Features | None = None,
    **columns: Any,
) -> LaunchList:
    """Return launches, in kernel groups by name or in one; sizes of 0 are unknown."""
    kernels, launches = KernelTable(), len(names)
    sizes = [np.zeros(launches) if each is None else np.asarray(each) for each in (grid_x, block_x)]
    grid, block = ([x.astype(np.int64), *[(x > 0).astype(np.int64)] * 2] for x in sizes)
    keys = list(dict.fromkeys(names)) if by_name else ["kernel"]
    found = features or Features(
        {name: np.array(values, dtype=np.float64) for name, values in (metrics or {}).items()}
    )
    return LaunchList(
        **{"id": first_id + np.arange(launches), "sequence": np.zeros(launches, dtype=np.int64)} | columns,
        signature=kernels.intern(kernels.names.intern(names), grid, block).astype(np.int64),
        group=np.array([keys.index(name) if by_name else 0 for name in names], dtype=np.int64),
        duration_ns=np.ones(launches, np.int64) if duration_ns is None else np.array(duration_ns, np.int64),
        kernels=kernels,
        groups=tuple(KernelGroup(key, key, None, None, 0, 0) for key in keys),
        features=found if metrics is not None or features is not None else None,
    )
