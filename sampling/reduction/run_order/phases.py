"""Where a run turns from some kernels to others. (docs/methods.md, 13 The order of the run)"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.run_order.ordered_launches import OrderedLaunches

WINDOWS = 64
#: Launches a window at least: a few would tell little of the mix.
FEWEST_A_WINDOW = 10
#: Phases differ in the kernels of this share of their time.
LEAST_DIFFERENCE = 0.3

_KERNELS = 24
_FEWEST_WINDOWS = 3
_PERMUTATIONS = 99
_MOST_PHASES = 6


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of the run.

    Attributes
    ----------
    first_id, stop_id : its launches.
    time_ns : their time.
    group : the kernel group with the most of it, and ``share`` of it.
    """

    first_id: int
    stop_id: int
    time_ns: int
    group: int
    share: float


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of the process and device with the most time, two or more, in their order."""

    sequence: int
    phases: tuple[Phase, ...]


def find_phases(launches: OrderedLaunches) -> Phases | None:
    """Return the phases of the process and device with the most time; None where it has but one.

    The run is cut into windows of equally many launches, and each is described by the share that its kernels
    have of the time, each launch counted with the mean duration of its kernel. It is split in two where the
    squared difference of the parts is greatest, as long as no shuffling of the windows makes it as great.
    """
    times = np.add.reduceat(launches.duration_ns, launches.edges[:-1])
    at = int(np.argmax(times))
    first, stop = int(launches.edges[at]), int(launches.edges[at + 1])
    if stop - first < WINDOWS * FEWEST_A_WINDOW:
        return None
    duration_ns, kernel = launches.duration_ns[first:stop], _kernels(launches, first, stop)
    edges = np.linspace(0, stop - first, WINDOWS + 1).astype(np.int64)
    mix = _mix(kernel, duration_ns, edges)
    splits = _splits(mix, 0, WINDOWS, np.random.default_rng(0))
    if not splits:
        return None
    bounds = [0, *(_place(kernel, edges, split) for split in splits), stop - first]
    return Phases(
        sequence=int(launches.sequence[at]),
        phases=tuple(_phase(launches, first + low, first + high) for low, high in pairwise(bounds)),
    )


def _kernels(launches: OrderedLaunches, first: int, stop: int) -> IntArray:
    """Return (n,) the number of each launch's kernel group, those with the most time; 0 for all others."""
    group = launches.group[first:stop]
    time_ns = np.bincount(group, weights=launches.duration_ns[first:stop])
    number = np.zeros(len(time_ns), dtype=np.int64)
    largest = np.argsort(-time_ns, kind="stable")[:_KERNELS]
    number[largest] = np.arange(1, len(largest) + 1)
    return number[group]


def _mix(kernel: IntArray, duration_ns: IntArray, edges: IntArray) -> FloatArray:
    """Return (windows, kernels) the share of each kernel in the time of each window."""
    kernels = _KERNELS + 1
    launches = np.bincount(kernel, minlength=kernels)
    mean_ns = np.bincount(kernel, weights=duration_ns, minlength=kernels) / np.maximum(launches, 1)
    window = np.repeat(np.arange(WINDOWS), np.diff(edges))
    counted = np.bincount(window * kernels + kernel, minlength=WINDOWS * kernels).reshape(WINDOWS, kernels)
    time_ns = counted * mean_ns
    return np.asarray(time_ns / np.maximum(time_ns.sum(axis=1, keepdims=True), 1))


def _splits(
    mix: FloatArray, low: int, high: int, rng: np.random.Generator, most: int = _MOST_PHASES
) -> list[int]:
    """Return the windows with which another phase begins, ascending."""
    if high - low < 2 * _FEWEST_WINDOWS or most < 2:
        return []
    part = mix[low:high]
    gain = _gains(part[np.newaxis])[0]
    split = int(np.argmax(gain))
    at = split + _FEWEST_WINDOWS
    if np.abs(part[:at].mean(axis=0) - part[at:].mean(axis=0)).sum() / 2 < LEAST_DIFFERENCE:
        return []
    shuffled = np.stack([part[rng.permutation(len(part))] for _ in range(_PERMUTATIONS)])
    if _gains(shuffled).max() >= gain[split]:
        return []
    before = _splits(mix, low, low + at, rng, most - 1)
    after = _splits(mix, low + at, high, rng, most - 1 - len(before))
    return [*before, low + at, *after]


def _gains(mix: FloatArray) -> FloatArray:
    """Return (shuffles, splits) how much two parts differ, for each place to split windows at."""
    windows = mix.shape[1]
    away = mix - mix.mean(axis=1, keepdims=True)
    before = np.cumsum(away, axis=1)[:, _FEWEST_WINDOWS - 1 : windows - _FEWEST_WINDOWS]
    size = np.arange(_FEWEST_WINDOWS, windows - _FEWEST_WINDOWS + 1)
    return np.asarray((before**2).sum(axis=2) * (windows / (size * (windows - size))))


def _place(kernel: IntArray, edges: IntArray, split: int) -> int:
    """Return the launch with which a phase begins, near the window that it begins with.

    The launch up to which those of the windows around it are likeliest to be of the phase before.
    """
    low, middle, high = (int(edges[split + step]) for step in (-1, 0, 1))
    reach = int(edges[3])
    before = np.bincount(kernel[max(low - reach, 0) : low], minlength=_KERNELS + 1) + 0.5
    after = np.bincount(kernel[high : high + reach], minlength=_KERNELS + 1) + 0.5
    score = np.log(before / before.sum()) - np.log(after / after.sum())
    likelihood = np.concatenate([[0.0], np.cumsum(score[kernel[low:high]])])
    best = np.flatnonzero(likelihood >= likelihood.max() - 1e-9)
    return low + int(best[np.argmin(np.abs(best - (middle - low)))])


def _phase(launches: OrderedLaunches, first: int, stop: int) -> Phase:
    duration_ns = launches.duration_ns[first:stop]
    time_ns = np.bincount(launches.group[first:stop], weights=duration_ns)
    group, total_ns = int(np.argmax(time_ns)), int(duration_ns.sum())
    return Phase(
        first_id=int(launches.id[first]),
        stop_id=int(launches.id[stop - 1]) + 1,
        time_ns=total_ns,
        group=group,
        share=float(time_ns[group]) / max(total_ns, 1),
    )
