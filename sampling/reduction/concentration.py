"""How few kernel groups hold most of the time."""

from __future__ import annotations

import numpy as np

MOST = 0.8
"""The share of the time that counts as most of it."""


def fewest_holding(durations_ns: np.ndarray, share: float = MOST) -> int:
    """Return the fewest kernel groups that together hold at least a share of the time.

    Parameters
    ----------
    durations_ns : the total of each group, in any order, shape (groups,).
    share : from 0 to 1.

    Returns
    -------
    int
        0 where no group takes time.
    """
    held_ns = np.sort(durations_ns)[::-1].cumsum()
    total_ns = int(held_ns[-1]) if held_ns.size else 0
    return int(np.searchsorted(held_ns, share * total_ns)) + 1 if total_ns else 0
