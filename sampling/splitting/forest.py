"""The 2-means trees of all kernel groups, grown many nodes at a time and kept as flat arrays.

The caller says which nodes to split. A node that is split once stays split, so a plan for another epsilon
starts from the trees of the last one.
"""

from __future__ import annotations

import threading
from typing import TypeVar
from weakref import WeakKeyDictionary, proxy

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.splitting.two_means import best_splits

#: ``left`` of a node that has not been split yet.
UNSPLIT = -1

#: What progress calls it.
SPLITTING = "splitting kernel groups"

_Number = TypeVar("_Number", np.int64, np.float64)
_INTEGERS = ("group", "start", "stop", "launches", "left")
_FLOATS = ("mean_ns", "std_ns")


class ClusterForest:
    """One binary tree a kernel group; node i < groups is the root of group i.

    Nodes are only added, so a node's number never changes. Callers hold ``lock`` while they split.

    Attributes
    ----------
    group : (n,) of each node.
    start, stop : (n,) its pairs in the reduction.
    launches, mean_ns, std_ns : (n,) size, mean and population standard deviation.
    left : (n,) its left child, UNSPLIT where there is none; the right child is the next node.
    """

    def __init__(self, counts: DurationCounts) -> None:
        self.lock = threading.RLock()
        # Weak: the table of forests below must not keep a reduction alive through its own forest.
        self._counts: DurationCounts = proxy(counts)
        self._integers = np.zeros((len(_INTEGERS), 0), dtype=np.int64)
        self._floats = np.zeros((len(_FLOATS), 0))
        self._nodes = 0
        self._append(np.arange(len(counts.groups)), counts.offsets[:-1], counts.offsets[1:])

    @property
    def group(self) -> IntArray:
        """(n,) the kernel group of each node."""
        return self._integers[0, : self._nodes]

    @property
    def start(self) -> IntArray:
        """(n,) the first pair of each node."""
        return self._integers[1, : self._nodes]

    @property
    def stop(self) -> IntArray:
        """(n,) the pair after the last of each node."""
        return self._integers[2, : self._nodes]

    @property
    def launches(self) -> IntArray:
        """(n,) the size of each node."""
        return self._integers[3, : self._nodes]

    @property
    def left(self) -> IntArray:
        """(n,) the left child of each node, or UNSPLIT."""
        return self._integers[4, : self._nodes]

    @property
    def mean_ns(self) -> FloatArray:
        """(n,) the mean duration of each node."""
        return self._floats[0, : self._nodes]

    @property
    def std_ns(self) -> FloatArray:
        """(n,) the population standard deviation of each node."""
        return self._floats[1, : self._nodes]

    def splittable(self, nodes: IntArray) -> BoolArray:
        """Return whether each node has two distinct durations or more."""
        return np.asarray(self.stop[nodes] - self.start[nodes] > 1)

    def split(self, nodes: IntArray) -> None:
        """Give each of the (splittable) nodes its two children, the exact 2-means; those it has, it keeps."""
        nodes = nodes[self.left[nodes] == UNSPLIT]
        if not len(nodes):
            return
        counts = self._counts
        start, stop = self.start[nodes], self.stop[nodes]
        middle = best_splits(counts.launches_before, counts.time_before_ns, start, stop)
        left = self._nodes + 2 * np.arange(len(nodes))
        self._append(
            np.repeat(self.group[nodes], 2),
            np.stack([start, middle], axis=1).ravel(),
            np.stack([middle, stop], axis=1).ravel(),
        )
        self.left[nodes] = left

    def _append(self, group: IntArray, start: IntArray, stop: IntArray) -> None:
        counts = self._counts
        launches = counts.launches_before[stop] - counts.launches_before[start]
        time_ns = counts.time_before_ns[stop] - counts.time_before_ns[start]
        rows = slice(self._nodes, self._nodes + len(group))
        self._reserve(rows.stop)
        unsplit = np.full(len(group), UNSPLIT)
        self._integers[:, rows] = np.stack([group, start, stop, launches, unsplit])
        self._floats[:, rows] = np.stack([time_ns / launches, range_std_ns(counts, start, stop)])
        self._nodes = rows.stop

    def _reserve(self, nodes: int) -> None:
        if nodes > self._integers.shape[1]:
            room = max(nodes, 2 * self._integers.shape[1])
            self._integers = _with_room(self._integers, room)
            self._floats = _with_room(self._floats, room)


def _with_room(columns: NDArray[_Number], room: int) -> NDArray[_Number]:
    """Return the rows of an array, each with room for so many values."""
    larger = np.zeros((len(columns), room), dtype=columns.dtype)
    larger[:, : columns.shape[1]] = columns
    return larger


_FORESTS: WeakKeyDictionary[DurationCounts, ClusterForest] = WeakKeyDictionary()
_FORESTS_LOCK = threading.Lock()


def forest_of(counts: DurationCounts) -> ClusterForest:
    """Return the forest of a reduction, the same one every time while the reduction lives."""
    with _FORESTS_LOCK:
        forest = _FORESTS.get(counts)
        if forest is None:
            forest = _FORESTS[counts] = ClusterForest(counts)
        return forest


def report_split(progress: Progress, open_group: IntArray, groups: int) -> None:
    """Report how many of the groups are split to the end.

    Parameters
    ----------
    open_group : (k,) the group of each node that may be split yet.
    """
    progress(groups - int(np.count_nonzero(np.bincount(open_group, minlength=groups))), groups, SPLITTING)
