"""Which processes and devices issue the same launches. (docs/methods.md, 13 The order of the run)"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from sampling.arrays import IntArray
from sampling.reduction.run_order.ordered_launches import OrderedLaunches

#: Sequences that issue this share of their launches equally often are as good as the same.
NEARLY = 0.99
FEWEST_LAUNCHES = 20


@dataclass(frozen=True, slots=True)
class Twins:
    """Sequences that issue the same launches.

    Attributes
    ----------
    sequences : indexes into the profile's sequences, ascending, two at least.
    others : those of the profile's sequences that issue other launches.
    launches : of the first one.
    same : the least share of launches that one of them has in common with the first; 1 if the order is the
        same too.
    in_order : whether they issue them in the same order.
    time_ratio : the total time of the slowest over that of the fastest; None where one has no time.
    """

    sequences: tuple[int, ...]
    others: tuple[int, ...]
    launches: int
    same: float
    in_order: bool
    time_ratio: float | None


def find_twins(launches: OrderedLaunches) -> Twins | None:
    """Return the sequences that issue the same launches as one another, the most of them; None without any.

    The same launches in the same order, or else of every name, grid and block so many that `NEARLY` all of
    the launches of either sequence have one of the other to go with.
    """
    sequences = len(launches.sequence)
    if sequences < 2:
        return None
    classes = _classes([_digest(each) for each in _labels(launches)])
    is_exact = max(map(len, classes)) > 1
    if not is_exact:
        classes = _nearly_equal(_labels(launches))
    twins = max((each for each in classes if len(each) > 1), key=len, default=None)
    if twins is None or launches.edges[twins[0] + 1] - launches.edges[twins[0]] < FEWEST_LAUNCHES:
        return None
    labels = _labels(launches)
    times = [int(launches.duration_ns[launches.edges[i] : launches.edges[i + 1]].sum()) for i in twins]
    return Twins(
        sequences=tuple(int(launches.sequence[i]) for i in twins),
        others=tuple(int(launches.sequence[i]) for i in range(sequences) if i not in twins),
        launches=len(labels[twins[0]]),
        same=1.0 if is_exact else min(_in_common(labels[twins[0]], labels[i]) for i in twins[1:]),
        in_order=is_exact,
        time_ratio=max(times) / min(times) if min(times) else None,
    )


def _labels(launches: OrderedLaunches) -> list[IntArray]:
    return [
        launches.label[first:stop]
        for first, stop in zip(launches.edges[:-1], launches.edges[1:], strict=True)
    ]


def _digest(labels: IntArray) -> bytes:
    return blake2b(labels.tobytes(), digest_size=16).digest()


def _classes(digests: list[bytes]) -> list[list[int]]:
    """Return the places of equal digests, in the order of the first of each."""
    places: dict[bytes, list[int]] = {}
    for place, digest in enumerate(digests):
        places.setdefault(digest, []).append(place)
    return list(places.values())


def _nearly_equal(labels: list[IntArray]) -> list[list[int]]:
    """Return the sequences that are nearly the same as the longest one, if there are any."""
    longest = max(range(len(labels)), key=lambda place: len(labels[place]))
    alike = [
        place
        for place in range(len(labels))
        if place == longest or _in_common(labels[longest], labels[place]) >= NEARLY
    ]
    return [alike]


def _in_common(one: IntArray, other: IntArray) -> float:
    """Return the share of the launches of the longer sequence that go with one of the other."""
    if min(len(one), len(other)) < NEARLY * max(len(one), len(other)):
        return 0.0
    codes = int(max(one.max(), other.max())) + 1
    common = np.minimum(np.bincount(one, minlength=codes), np.bincount(other, minlength=codes)).sum()
    return float(common) / max(len(one), len(other))
