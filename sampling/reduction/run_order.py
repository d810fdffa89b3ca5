"""What the order of a profile's launches shows that their durations alone do not.

Kernels that drift, processes and devices that issue the same launches, and the loop of the run.
(docs/methods.md, 13 The order of the run)

It holds N rows, so a profile of more than `MOST_LAUNCHES` is not looked at this way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, counted_launches
from sampling.reduction.iterations import MOST, Iterations, find_iterations, iterations_like

#: With more launches a second reading would take too long, and its columns too much memory.
MOST_LAUNCHES = 1 << 21


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What was found; None each where nothing was, and where the launches are too many to be looked at."""

    drift: Drift | None = None
    twins: Twins | None = None
    loop: Loop | None = None


def run_order(profile: Profile, counts: DurationCounts, progress: Progress | None = None) -> RunOrder:
    """Read the launches that a reduction counts once more, and look at their order."""
    if counts.launches > MOST_LAUNCHES:
        return RunOrder()
    launches = read_in_order(profile, counts)

    def looked_for(done: int) -> None:
        if progress is not None:
            progress(done, 4, "looking at the order of the launches")

    looked_for(1)
    twins = None if counts.grouping.pool_devices else find_twins(launches)
    looked_for(2)
    drift = find_drift(launches)
    looked_for(3)
    return RunOrder(drift, twins, find_loop(launches))


@dataclass(frozen=True, slots=True, eq=False)
class OrderedLaunches:
    """The counted launches in id order; row i of every array of shape (n,) is one launch."""

    #: (n,) index in the whole profile, ascending.
    id: IntArray
    #: (n,) code of name, grid and block, or of the name alone where groups do not need shapes.
    label: IntArray
    #: (n,) index of the kernel group.
    group: IntArray
    #: (n,) nanoseconds.
    duration_ns: IntArray
    #: (s,) index into the profile's sequences of those that have launches here, ascending.
    sequence: IntArray
    #: (s + 1,) sequence i has the rows ``edges[i]:edges[i + 1]``.
    edges: IntArray

    def by_sequence(self, values: IntArray) -> list[IntArray]:
        """Return (n,) values cut by sequence."""
        return np.split(values, self.edges[1:-1])


def read_in_order(profile: Profile, counts: DurationCounts) -> OrderedLaunches:
    """Read the launches that a reduction of the profile counts."""
    parts = [
        (part.ids(np.arange(len(group))), table[counts.label], group, table["duration_ns"], part.sequence)
        for part, group, table in counted_launches(profile, counts, ("duration_ns",))
    ]
    sizes = [len(part[0]) for part in parts]
    sequence = np.repeat([part[-1] for part in parts], sizes)
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    ids, label, group, duration_ns = (
        np.concatenate(column).astype(np.int64, copy=False)
        for column in zip(*(part[:-1] for part in parts), strict=True)
    )
    edges = np.append(starts, len(ids))
    return OrderedLaunches(ids, label, group, duration_ns, sequence[starts], edges)


#: How often independent launches may be said to drift, over all kernels of a profile.
FALSE_ALARMS = 0.01
#: A weaker trend leaves most of the spread unexplained; a ramp in each of two iterations makes 0.5.
LEAST_TREND = 0.6
#: The last twentieth of the launches is by so much longer or shorter than the first.
LEAST_CHANGE = 1.2
#: Series of fewer launches are not looked at, and no more than these, of the most time.
FEWEST_LAUNCHES, MOST_SERIES = 20, 2000
#: A series of so many launches or more is cut into so many stretches, or up to twice as many.
STRETCHES = 64


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
    #: All kernel groups that drift, ascending.
    groups: tuple[int, ...]
    #: The time of all that do.
    time_ns: int

    @property
    def kernels(self) -> int:
        """How many kernel groups drift."""
        return len(self.groups)


def find_drift(launches: OrderedLaunches) -> Drift | None:
    """Return the kernels that drift; None where none does.

    A kernel drifts if the trend of its durations is not what random order brings about, over all kernels
    together [Benjamini, Hochberg 1995], is no weaker than `LEAST_TREND`, and leads from the first
    twentieth to the last by a factor of `LEAST_CHANGE` or more. Each process and device has its own series.
    """
    sequences = len(launches.sequence)
    series = launches.group * sequences + np.repeat(np.arange(sequences), np.diff(launches.edges))
    time_ns = np.bincount(series, weights=launches.duration_ns)
    enough = np.flatnonzero(np.bincount(series) >= FEWEST_LAUNCHES)
    chosen = np.sort(enough[np.argsort(-time_ns[enough], kind="stable")[:MOST_SERIES]])
    if not len(chosen):
        return None
    # Codes of 16 bits are sorted by counting.
    number = np.full(len(time_ns), len(chosen), dtype=np.uint16)
    number[chosen] = np.arange(len(chosen))
    of_row = number[series]
    n = np.bincount(of_row, minlength=len(chosen))[: len(chosen)]
    row = np.argsort(of_row, kind="stable")[: n.sum()]
    edges = np.concatenate([[0], np.cumsum(n)])
    duration_ns = launches.duration_ns[row]

    means_ns, starts = _stretch_means(duration_ns, edges)
    trend = rank_trend(means_ns, starts)
    deviations = trend * np.sqrt(np.diff(starts) - 1)
    candidates = np.flatnonzero(_is_significant(deviations) & (np.abs(trend) >= LEAST_TREND))
    if not len(candidates):
        return None
    # Medians of 3 launches at least: one slow launch at the beginning of a run is no drift.
    size = np.maximum(n[candidates] // 20, 3)
    ends = zip(edges[candidates].tolist(), edges[candidates + 1].tolist(), size.tolist(), strict=True)
    first_ns, last_ns = np.array(
        [
            (np.median(duration_ns[first : first + few]), np.median(duration_ns[stop - few : stop]))
            for first, stop, few in ends
        ]
    ).T
    low, high = np.minimum(first_ns, last_ns), np.maximum(first_ns, last_ns)
    along = (last_ns > first_ns) == (trend[candidates] > 0)
    kept = np.flatnonzero((low > 0) & (high >= LEAST_CHANGE * low) & along)
    if not len(kept):
        return None
    drifting = candidates[kept]
    total_ns = np.add.reduceat(duration_ns, edges[:-1])[drifting]
    at = int(np.argmax(total_ns))
    largest = int(drifting[at])
    group = chosen // sequences
    return Drift(
        group=int(group[largest]),
        from_ns=float(first_ns[kept[at]]),
        to_ns=float(last_ns[kept[at]]),
        trend=float(trend[largest]),
        middle_id=int(launches.id[row[(edges[largest] + edges[largest + 1]) // 2]]),
        groups=tuple(np.unique(group[drifting]).tolist()),
        time_ns=int(total_ns.sum()),
    )


def _stretch_means(duration_ns: IntArray, edges: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the mean duration of each stretch, series by series, and (s + 1,) where each series begins.

    Stretches of a series are equally long; the launches left over at its end are in none.
    """
    size = np.maximum(np.diff(edges) // STRETCHES, 1)
    stretches = np.diff(edges) // size
    starts = np.concatenate([[0], np.cumsum(stretches)])
    each_size = np.repeat(size, stretches)
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], stretches)
    first = np.repeat(edges[:-1], stretches) + place * each_size
    before_ns = np.concatenate([[0], np.cumsum(duration_ns)])
    return (before_ns[first + each_size] - before_ns[first]) / each_size, starts


def _is_significant(deviations: FloatArray) -> BoolArray:
    """Return (s,) which trends, in standard deviations of all orders, are not of random order."""
    chance = np.array([math.erfc(abs(each) / math.sqrt(2)) for each in deviations.tolist()])
    order = np.argsort(chance, kind="stable")
    below = np.flatnonzero(chance[order] <= FALSE_ALARMS * np.arange(1, len(chance) + 1) / len(chance))
    significant = np.zeros(len(chance), dtype=np.bool_)
    significant[order[: below[-1] + 1 if len(below) else 0]] = True
    return significant


def rank_trend(values: FloatArray, edges: IntArray) -> FloatArray:
    """Return (s,) Spearman's rank correlation of series of values with their places; 0 where all are equal.

    Parameters
    ----------
    edges : (s + 1,) series i is ``values[edges[i]:edges[i + 1]]``, two values or more.
    """
    n, start = np.diff(edges), edges[:-1]
    # The rank within the series from 0; equal values have the mean of theirs.
    series = np.repeat(np.arange(len(n)), n)
    order = np.lexsort((values, series))
    ordered = values[order]
    is_first = np.append(True, (ordered[1:] != ordered[:-1]) | (series[1:] != series[:-1]))
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(values)) - 1
    rank = np.empty(len(values))
    rank[order] = ((first + last) / 2)[np.cumsum(is_first) - 1]
    middle = np.repeat(start + (n - 1) / 2, n)
    deviation, place = rank - middle, np.arange(len(values)) - middle
    squares = np.add.reduceat(deviation**2, start)
    spread = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.add.reduceat(deviation * place, start) / np.sqrt(spread * n * (n**2 - 1.0) / 12))


#: Sequences that issue this share of their launches equally often are as good as the same.
NEARLY = 0.99


@dataclass(frozen=True, slots=True)
class Twins:
    """Sequences that issue the same launches."""

    #: Indexes into the profile's sequences, ascending, two at least.
    sequences: tuple[int, ...]
    #: Those of the profile's sequences that issue other launches.
    others: tuple[int, ...]
    #: Of the first one.
    launches: int
    #: The least share of launches that one of them has in common with the first; 1 if the order is the same
    #: too.
    same: float
    #: Whether they issue them in the same order.
    in_order: bool
    #: The total time of the slowest over that of the fastest; None where one has no time.
    time_ratio: float | None


def find_twins(launches: OrderedLaunches) -> Twins | None:
    """Return the sequences that issue the same launches as one another, the most of them; None without any.

    The same launches in the same order, or else of every name, grid and block so many that `NEARLY` all of
    the launches of either sequence have one of the other to go with.
    """
    labels = launches.by_sequence(launches.label)
    if len(labels) < 2:
        return None
    alike: dict[bytes, list[int]] = {}
    for place, own in enumerate(labels):
        alike.setdefault(blake2b(own.tobytes(), digest_size=16).digest(), []).append(place)
    twins = max(alike.values(), key=len)
    is_exact = len(twins) > 1
    if not is_exact:
        longest = max(labels, key=len)
        twins = [
            place for place, own in enumerate(labels) if own is longest or _in_common(longest, own) >= NEARLY
        ]
    first = labels[twins[0]]
    if len(twins) < 2 or len(first) < FEWEST_LAUNCHES:
        return None
    times = [int(each.sum()) for each in launches.by_sequence(launches.duration_ns)]
    slowest, fastest = max(times[place] for place in twins), min(times[place] for place in twins)
    return Twins(
        sequences=tuple(launches.sequence[twins].tolist()),
        others=tuple(int(each) for place, each in enumerate(launches.sequence) if place not in twins),
        launches=len(first),
        same=1.0 if is_exact else min(_in_common(first, labels[place]) for place in twins[1:]),
        in_order=is_exact,
        time_ratio=slowest / fastest if fastest else None,
    )


def _in_common(one: IntArray, other: IntArray) -> float:
    """Return the share of the launches of the longer sequence that go with one of the other."""
    if min(len(one), len(other)) < NEARLY * max(len(one), len(other)):
        return 0.0
    codes = int(max(one.max(), other.max())) + 1
    common = np.minimum(np.bincount(one, minlength=codes), np.bincount(other, minlength=codes)).sum()
    return float(common) / max(len(one), len(other))


_FEWEST_ITERATIONS = 3
_FEWEST_IN_ITERATION = 2
#: In a longer sequence the loop is looked for in so many launches in its middle, then followed to its ends.
_LOOKED_AT = 1 << 15


@dataclass(frozen=True, slots=True)
class Loop:
    """A sequence of launches that repeats."""

    #: Index into the profile's sequences of the process and device with the most time.
    sequence: int
    #: Of one iteration.
    launches: int
    #: How many are equal, launch for launch.
    iterations: int
    #: The loop, with what lies between its iterations.
    first_id: int
    stop_id: int
    #: The ids ``one[0]:one[1]`` of its second iteration.
    one: tuple[int, int]
    #: Of the launches of its sequence that are in equal iterations.
    share: float
    #: Launches of its sequence before and after the loop.
    outside: int
    #: The time of its iterations.
    shortest_ns: int
    mean_ns: float
    longest_ns: int


def find_loop(launches: OrderedLaunches) -> Loop | None:
    """Return the loop of the process and device with the most time; None where it has none.

    An iteration has two launches or more, comes three times or more, and all of them are most of the
    launches, as for `single-iteration`.
    """
    times = np.add.reduceat(launches.duration_ns, launches.edges[:-1])
    at = int(np.argmax(times))
    first, stop = int(launches.edges[at]), int(launches.edges[at + 1])
    iterations = _loop_of(launches.label[first:stop])
    if iterations is None:
        return None
    ids = launches.id[first:stop]
    before_ns = np.concatenate([[0], np.cumsum(launches.duration_ns[first:stop])])
    took_ns = before_ns[iterations.first + iterations.launches] - before_ns[iterations.first]
    second = int(iterations.first[1])
    return Loop(
        sequence=int(launches.sequence[at]),
        launches=iterations.launches,
        iterations=len(iterations.first),
        first_id=int(ids[iterations.start]),
        stop_id=int(ids[iterations.stop - 1]) + 1,
        one=(int(ids[second]), int(ids[second + iterations.launches - 1]) + 1),
        share=iterations.equal_launches / len(ids),
        outside=len(ids) - (iterations.stop - iterations.start),
        shortest_ns=int(took_ns.min()),
        mean_ns=float(took_ns.mean()),
        longest_ns=int(took_ns.max()),
    )


def _loop_of(labels: IntArray) -> Iterations | None:
    # One kernel over and over repeats, but no loop can be told from it.
    if len(labels) < _FEWEST_ITERATIONS * _FEWEST_IN_ITERATION or (labels == labels[0]).all():
        return None
    if len(labels) <= _LOOKED_AT:
        found = find_iterations(labels)
    else:
        begin = (len(labels) - _LOOKED_AT) // 2
        middle = labels[begin : begin + _LOOKED_AT]
        found = None if (middle == middle[0]).all() else find_iterations(middle)
        found = found and iterations_like(labels, begin + int(found.first[0]), found.launches)
    if found is None or found.launches < _FEWEST_IN_ITERATION or len(found.first) < _FEWEST_ITERATIONS:
        return None
    return found if found.equal_launches >= MOST * len(labels) else None
