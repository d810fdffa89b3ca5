"""API calls that launch a kernel, and how many of them have none in the recording.

A call that a graph captures launches nothing, and neither does one that fails. A recording that begins amid
work ends amid work: the first kernels have no call in it, and the last calls wait for the GPU when it ends.
Such a recording is a piece of a run, as its launches without a call say, and these calls are no loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray

#: What a call does: launch a kernel, or begin or end what is captured into a graph; 0 for all others.
LAUNCHES, BEGINS_CAPTURE, ENDS_CAPTURE = 1, 2, 3

_LAUNCH = re.compile(
    r"(?:cuda|cu|hip(?:Ext|Drv|(?:Ext|Hcc)?Module)?)Launch(?:Cooperative|Multi)*(?:Kernel|Grid|ByPtr|_|\Z)"
)
_CAPTURE = re.compile(r"(?:cuda|cu|hip)Stream(?:(Begin)|End)Capture")


def classify_call(name: str) -> int:
    """Return what a call of CUDA's or HIP's does by its name, such as ``cudaLaunchKernel_v7000``."""
    if _LAUNCH.match(name):
        return LAUNCHES
    capture = _CAPTURE.match(name)
    return 0 if capture is None else BEGINS_CAPTURE if capture[1] else ENDS_CAPTURE


class LaunchCalls:
    """Collects the calls of a recording part by part."""

    def __init__(self) -> None:
        self._launches = 0
        self._alone: list[IntArray] = []
        self._captures: list[IntArray] = []

    def add(
        self, kind: AnyIntArray | int, has_kernel: BoolArray, *, process: AnyIntArray, start_ns: IntArray
    ) -> None:
        """Add some calls, (n,) each: their kind, whether they have a kernel, and who called when."""
        kind = np.broadcast_to(kind, len(has_kernel))
        launches = kind == LAUNCHES
        self._launches += int(np.count_nonzero(launches))
        without_kernel = np.flatnonzero(launches & ~has_kernel)
        self._alone.append(np.stack([process[without_kernel], start_ns[without_kernel]]))
        captures = np.flatnonzero(kind > LAUNCHES)
        step = np.where(kind[captures] == BEGINS_CAPTURE, 1, -1)
        self._captures.append(np.stack([process[captures], start_ns[captures], step]))

    @property
    def any_alone(self) -> bool:
        """Whether a call has no kernel."""
        return any(part.shape[1] for part in self._alone)

    def counted(self, ends_ns: Iterable[tuple[int, int]]) -> tuple[int, int]:
        """Return how many calls launch a kernel, and how many of these have none.

        ``ends_ns`` has the processes whose recording begins amid work, each with the start of its last call
        that has a kernel.
        """
        if not self.any_alone:
            return self._launches, 0
        process, start_ns = np.concatenate(self._alone, axis=1)
        is_captured = self._is_captured(process, start_ns)
        is_lost = ~is_captured
        for waiting, last_ns in ends_ns:
            is_lost &= (process != waiting) | (start_ns <= last_ns)
        return self._launches - int(is_captured.sum()), int(is_lost.sum())

    def _is_captured(self, process: IntArray, start_ns: IntArray) -> BoolArray:
        """Return (n,) whether the process of each call was capturing when it began.

        Any of its threads may be: PyTorch captures what the threads of its autograd launch.
        """
        captured = np.zeros(len(process), dtype=np.bool_)
        capturing, at_ns, step = np.concatenate(self._captures, axis=1)
        for owner in np.unique(capturing):
            rows, marks = np.flatnonzero(process == owner), np.flatnonzero(capturing == owner)
            marks = marks[np.argsort(at_ns[marks], kind="stable")]
            depth = np.cumsum([0, *step[marks]])
            # What was being captured when the recording began has an end alone.
            open_before = np.searchsorted(at_ns[marks], start_ns[rows])
            captured[rows] = depth[open_before] > depth.min()
        return captured
