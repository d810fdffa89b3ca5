"""What the order of a profile's launches shows that their durations alone do not.

Kernels that drift, processes and devices that issue the same launches, and the loop of the run.
(docs/methods.md, 13 The order of the run)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import FEWEST_ALIKE, DurationCounts, counted_at_once
from sampling.reduction.iterations import MOST, find_iterations, iterations_like

#: With more launches a second reading would take too long, and its columns too much memory.
MOST_LAUNCHES = 1 << 21
#: How often independent launches may be said to drift, over all kernels of a profile.
FALSE_ALARMS = 0.01
#: A weaker trend leaves most of the spread unexplained; a ramp in each of two iterations makes 0.5.
LEAST_TREND = 0.6
#: The last twentieth of the launches is by so much longer or shorter than the first.
LEAST_CHANGE = 1.2
#: Series of fewer launches are not looked at, and no more than these, of the most time.
FEWEST_LAUNCHES, MOST_SERIES = FEWEST_ALIKE, 2000
#: A series of so many launches or more is cut into so many stretches, or up to twice as many.
STRETCHES = 64
#: Sequences that issue this share of their launches equally often are as good as the same.
NEARLY = 0.99
_FEWEST_ITERATIONS = 3
_FEWEST_IN_ITERATION = 2
#: In a longer sequence the loop is looked for in so many launches in its middle, then followed to its ends.
_LOOKED_AT = 1 << 15


@dataclass(frozen=True, slots=True)
class Drift:
    """Kernels whose durations follow the order of the run."""

    #: The kernel group of those that has the most time.
    group: int
    #: The median durations of its first and its last twentieth.
    from_ns: float
    to_ns: float
    #: Its rank correlation with the launch order, over stretches of the run.
    trend: float
    #: The id of the launch in its middle.
    middle_id: int
    #: All kernel groups that drift, ascending, and the time of all that do.
    groups: tuple[int, ...]
    time_ns: int


@dataclass(frozen=True, slots=True)
class ReplicaRanks:
    """Sequences that issue the same launches."""

    #: Indexes into the profile's sequences, ascending, two at least; and of those that issue others.
    sequences: tuple[int, ...]
    different: tuple[int, ...]
    #: Of the first one.
    launches: int
    #: The least share of launches that one of them has in common with the first.
    same: float
    #: Whether they issue them in the same order.
    in_order: bool
    #: The total time of the slowest over that of the fastest; None where one has no time.
    time_ratio: float | None


@dataclass(frozen=True, slots=True)
class Loop:
    """A sequence of launches that repeats."""

    #: Index into the profile's sequences of the process and device with the most time.
    sequence: int
    #: Of one iteration, and how many of these are equal, launch for launch.
    launches: int
    iterations: int
    #: The loop, with what lies between its iterations.
    first_id: int
    stop_id: int
    #: The ids ``iteration_ids[0]:iteration_ids[1]`` of its second iteration.
    iteration_ids: tuple[int, int]
    #: Of the launches of its sequence that are in equal iterations.
    share: float
    #: How far the time of an iteration is from the mean of all at most, as a share of it; None without time.
    most_off: float | None


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What was found; None each where nothing was, and where the launches are too many to be looked at."""

    drift: Drift | None = None
    replicas: ReplicaRanks | None = None
    loop: Loop | None = None


def run_order(profile: Profile, counts: DurationCounts, progress: Progress | None = None) -> RunOrder:
    """Read the launches that a reduction counts once more, and look at their order."""
    if counts.launches > MOST_LAUNCHES:
        return RunOrder()
    if progress is not None:
        progress(0, 1, "looking at the order of the launches")
    columns = counted_at_once(profile, counts, (counts.label, "duration_ns"))
    ids, sequence, group, label, duration_ns = columns
    if counts.label == "signature" and not counts.grouping.needs_shape:
        label = profile.kernels.signature_names()[label].astype(np.int64)
    return RunOrder(
        find_drift(ids, sequence, group, duration_ns),
        None if counts.grouping.pool_devices else find_replica_ranks(sequence, label, duration_ns),
        find_loop(ids, sequence, label, duration_ns),
    )


def find_drift(ids: IntArray, sequence: IntArray, group: IntArray, duration_ns: IntArray) -> Drift | None:
    """Return the kernels that drift; None where none does.

    A kernel drifts if the trend of its durations is not what random order brings about, over all kernels
    together [Benjamini, Hochberg 1995], is no weaker than `LEAST_TREND`, and leads from the first
    twentieth to the last by a factor of `LEAST_CHANGE` or more. Each process and device has its own series.
    All (n,) in id order.
    """
    sequences = int(sequence[-1]) + 1
    series = group * sequences + sequence
    time_ns = np.bincount(series, weights=duration_ns)
    enough = np.flatnonzero(np.bincount(series) >= FEWEST_LAUNCHES)
    largest_series = np.sort(enough[np.argsort(-time_ns[enough], kind="stable")[:MOST_SERIES]])
    if not len(largest_series):
        return None
    # Codes of 16 bits are sorted by counting.
    number = np.full(len(time_ns), len(largest_series), dtype=np.uint16)
    number[largest_series] = np.arange(len(largest_series))
    of_row = number[series]
    rows = np.split(np.argsort(of_row, kind="stable"), np.cumsum(np.bincount(of_row))[: len(largest_series)])
    trends, chance = np.zeros((2, len(largest_series)))
    for index, row in enumerate(rows[: len(largest_series)]):
        # Over the means of equally long stretches; the launches left over at its end are in none.
        size = max(len(row) // STRETCHES, 1)
        stretches = len(row) // size
        means_ns = duration_ns[row[: stretches * size]].reshape(stretches, size).sum(axis=1) / size
        trends[index] = rank_trend(means_ns)
        # How likely random order has such a trend, from its standard deviations of all orders.
        chance[index] = math.erfc(abs(trends[index]) * math.sqrt((stretches - 1) / 2))
    order = np.argsort(chance, kind="stable")
    below = np.flatnonzero(chance[order] <= FALSE_ALARMS * np.arange(1, len(chance) + 1) / len(chance))
    is_significant = np.zeros(len(largest_series), dtype=np.bool_)
    is_significant[order[: below[-1] + 1 if len(below) else 0]] = True

    drifts: list[tuple[int, int, float, float]] = []
    for index in np.flatnonzero(is_significant & (np.abs(trends) >= LEAST_TREND)).tolist():
        # Medians of 3 launches at least: one slow launch at the beginning of a run is no drift.
        durations = duration_ns[rows[index]]
        window = max(len(durations) // 20, 3)
        from_ns, to_ns = float(np.median(durations[:window])), float(np.median(durations[-window:]))
        low, high = sorted((from_ns, to_ns))
        if low > 0 and high >= LEAST_CHANGE * low and (to_ns > from_ns) == (trends[index] > 0):
            drifts.append((int(durations.sum()), index, from_ns, to_ns))
    if not drifts:
        return None
    _, largest, from_ns, to_ns = max(drifts, key=lambda drift: drift[0])
    groups = largest_series // sequences
    return Drift(
        group=int(groups[largest]),
        from_ns=from_ns,
        to_ns=to_ns,
        trend=float(trends[largest]),
        middle_id=int(ids[rows[largest][len(rows[largest]) // 2]]),
        groups=tuple(sorted({int(groups[index]) for _, index, _, _ in drifts})),
        time_ns=sum(total_ns for total_ns, _, _, _ in drifts),
    )


def rank_trend(values: FloatArray) -> float:
    """Return Spearman's rank correlation of values, two or more, with their places; 0 where all are equal."""
    n = len(values)
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    # Ranks from their middle; equal values have the mean of theirs.
    rank = (np.cumsum(times) - (times + 1) / 2)[place] - (n - 1) / 2
    squares = float(np.dot(rank, rank))
    spread = math.sqrt(squares * n * (n**2 - 1) / 12)
    return float(np.dot(rank, np.arange(n) - (n - 1) / 2)) / spread if squares else 0.0


def find_replica_ranks(sequence: IntArray, label: IntArray, duration_ns: IntArray) -> ReplicaRanks | None:
    """Return the sequences that issue the same launches as one another, the most of them; None without any.

    The same launches in the same order, or else of every name, grid and block so many that `NEARLY` all of
    the launches of either sequence have one of the other to go with. All (n,) in id order.
    """
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    if len(starts) < 2:
        return None
    labels = np.split(label, starts[1:])
    identical: dict[bytes, list[int]] = {}
    for place, codes in enumerate(labels):
        identical.setdefault(codes.tobytes(), []).append(place)
    replicas = max(identical.values(), key=len)
    in_order = len(replicas) > 1
    if not in_order:
        longest = max(labels, key=len)
        replicas = [place for place, codes in enumerate(labels) if _in_common(longest, codes) >= NEARLY]
    first = labels[replicas[0]]
    if len(replicas) < 2 or len(first) < FEWEST_LAUNCHES:
        return None
    times_ns = np.add.reduceat(duration_ns, starts)[replicas]
    number = sequence[starts].tolist()
    return ReplicaRanks(
        sequences=tuple(number[place] for place in replicas),
        different=tuple(number[place] for place in range(len(labels)) if place not in replicas),
        launches=len(first),
        same=min(_in_common(first, labels[place]) for place in replicas[1:]),
        in_order=in_order,
        time_ratio=int(times_ns.max()) / int(times_ns.min()) if times_ns.min() else None,
    )


def _in_common(left: IntArray, right: IntArray) -> float:
    """Return the share of the launches of the longer sequence that go with one of the other."""
    if min(len(left), len(right)) < NEARLY * max(len(left), len(right)):
        return 0.0
    codes = int(max(left.max(), right.max())) + 1
    common = np.minimum(np.bincount(left, minlength=codes), np.bincount(right, minlength=codes)).sum()
    return float(common) / max(len(left), len(right))


def find_loop(ids: IntArray, sequence: IntArray, label: IntArray, duration_ns: IntArray) -> Loop | None:
    """Return the loop of the process and device with the most time; None where it has none.

    An iteration has two launches or more, comes three times or more, and all of them are most of the
    launches, as for `single-iteration`. All (n,) in id order.
    """
    # Of those that have launches: all of them may last 0 ns.
    number = int(sequence[np.argmax(np.bincount(sequence, weights=duration_ns)[sequence])])
    first, stop = np.searchsorted(sequence, (number, number + 1))
    ids, labels = ids[first:stop], label[first:stop]
    begin = max(len(labels) - _LOOKED_AT, 0) // 2
    middle = labels[begin : begin + _LOOKED_AT]
    # One kernel over and over repeats, but no loop can be told from it.
    iterations = None if (middle == middle[0]).all() else find_iterations(middle)
    if iterations is not None and len(middle) < len(labels):
        iterations = iterations_like(labels, begin + int(iterations.first[0]), iterations.launches)
    if (
        iterations is None
        or iterations.launches < _FEWEST_IN_ITERATION
        or len(iterations.first) < _FEWEST_ITERATIONS
    ):
        return None
    if iterations.equal_launches < MOST * len(labels):
        return None
    before_ns = np.concatenate([[0], np.cumsum(duration_ns[first:stop])])
    took_ns = before_ns[iterations.first + iterations.launches] - before_ns[iterations.first]
    mean_ns = float(took_ns.mean())
    second = int(iterations.first[1])
    return Loop(
        sequence=number,
        launches=iterations.launches,
        iterations=len(iterations.first),
        first_id=int(ids[iterations.start]),
        stop_id=int(ids[iterations.stop - 1]) + 1,
        iteration_ids=(int(ids[second]), int(ids[second + iterations.launches - 1]) + 1),
        share=iterations.equal_launches / len(ids),
        most_off=float(np.abs(took_ns / mean_ns - 1).max()) if mean_ns else None,
    )
