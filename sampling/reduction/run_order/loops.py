"""The loop that a run spends most of its launches in, and how long its iterations take.

(docs/methods.md, 13 The order of the run)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.reduction.iterations import MOST, Iterations, find_iterations, iterations_like
from sampling.reduction.run_order.ordered_launches import OrderedLaunches

_FEWEST_ITERATIONS = 3
_FEWEST_LAUNCHES = 2
#: In a longer sequence the loop is looked for in so many launches in its middle, then followed to its ends.
_LOOKED_AT = 1 << 15


@dataclass(frozen=True, slots=True)
class Loop:
    """A sequence of launches that repeats.

    Attributes
    ----------
    sequence : index into the profile's sequences of the process and device with the most time.
    launches : of one iteration.
    iterations : how many are equal, launch for launch.
    first_id, stop_id : the loop, with what lies between its iterations.
    one : the ids ``one[0]:one[1]`` of its second iteration.
    share : of the launches of its sequence that are in equal iterations.
    outside : launches of its sequence before and after the loop.
    shortest_ns, mean_ns, longest_ns : the time of its iterations.
    """

    sequence: int
    launches: int
    iterations: int
    first_id: int
    stop_id: int
    one: tuple[int, int]
    share: float
    outside: int
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
    iterations = _loop_of(launches, first, stop)
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


def _loop_of(launches: OrderedLaunches, first: int, stop: int) -> Iterations | None:
    labels = launches.label[first:stop]
    # One kernel over and over repeats, but no loop can be told from it.
    if stop - first < _FEWEST_ITERATIONS * _FEWEST_LAUNCHES or (labels == labels[0]).all():
        return None
    found = _found(labels)
    if found is None or found.launches < _FEWEST_LAUNCHES or len(found.first) < _FEWEST_ITERATIONS:
        return None
    return found if found.equal_launches >= MOST * len(labels) else None


def _found(labels: IntArray) -> Iterations | None:
    if len(labels) <= _LOOKED_AT:
        return find_iterations(labels)
    begin = (len(labels) - _LOOKED_AT) // 2
    middle = labels[begin : begin + _LOOKED_AT]
    found = None if (middle == middle[0]).all() else find_iterations(middle)
    return None if found is None else iterations_like(labels, begin + int(found.first[0]), found.launches)
