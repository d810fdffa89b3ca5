"""Blocks of launches that come again and again, a few launches of which may differ: the layers of a network.

A kernel that comes once in each of L layers and nowhere else has L launches. So kernels with equally many
launches that take turns tell where the layers are, whatever lies between them. (docs/methods.md, 13 The order
of the run)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sampling.arrays import AnyIntArray, IntArray

#: A block comes so often at least, and has so many launches.
LEAST_BLOCKS, LEAST_LAUNCHES = 3, 2
#: Of blocks that explain this share of what the best explain, the most count: one block is not two layers.
NEARLY = 0.9
#: Blocks that explain less of a sequence than this are none of its layers.
LEAST_SHARE = 0.05
#: A block that comes once is none where it shares less than this with the usual one.
LEAST_ALIKE = 0.5
# Longer than the usual distance by this, it spans what lies between two steps.
_GAP = 1.5
_MOST_BLOCKS = 1 << 16
_CANDIDATES, _FAMILIES = 32, 8


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks that resemble each other; they do not overlap."""

    #: (k,) where each begins, ascending, and one after where it ends.
    first: IntArray
    stop: IntArray
    #: The launches that they share with the usual block, less half of those in which they differ from it.
    alike: float
    #: What the program calls each; () where it names none.
    names: tuple[str, ...] = ()


def find_blocks(codes: AnyIntArray) -> list[Blocks]:
    """Return the families of blocks of a sequence, in its order: forward and backward layers are two.

    Launches with the same code (n,) >= 0 are the same. It takes O(n log n).
    """
    if len(codes) < LEAST_BLOCKS * LEAST_LAUNCHES:
        return []
    blocks = (_resembling(codes, *_edges(codes, anchors)) for anchors in _anchors(codes))
    least = LEAST_SHARE * len(codes)
    return most_alike([family for family in blocks if family is not None and family.alike >= least], NEARLY)


def most_alike(candidates: list[Blocks], nearly: float = 1.0) -> list[Blocks]:
    """Return those that explain most launches, none of which lies where another does, in their order.

    Of those that explain a share ``nearly`` of what the best explain, the one of most blocks counts.
    """
    families = []
    while candidates:
        best = max(candidates, key=lambda family: family.alike)
        rivals = [family for family in candidates if _overlap(family, best)]
        chosen = max(
            (family for family in rivals if family.alike >= nearly * best.alike),
            key=lambda family: (len(family.first) if nearly < 1 else 0, family.alike),
        )
        families.append(chosen)
        candidates = [family for family in candidates if not _overlap(family, chosen)]
    return sorted(families, key=lambda family: int(family.first[0]))


def _overlap(one: Blocks, other: Blocks) -> bool:
    return bool(one.first[0] < other.stop[-1] and other.first[0] < one.stop[-1])


def _anchors(codes: AnyIntArray) -> Iterator[IntArray]:
    """Yield (a, k) the places of launches that come k times and take turns: one row after the other."""
    launches = np.bincount(codes)
    order, begin = np.argsort(codes, kind="stable"), np.cumsum(launches) - launches
    is_enough = (launches >= LEAST_BLOCKS) & (launches <= _MOST_BLOCKS)
    numbers, kinds = np.unique(launches[is_enough], return_counts=True)
    for number in numbers[np.argsort(-numbers * kinds, kind="stable")][:_CANDIDATES].tolist():
        places = order[begin[launches == number][:, np.newaxis] + np.arange(number)]
        places = places[np.argsort(places[:, 0])]
        for _ in range(_FAMILIES):
            if not len(places):
                break
            takes_turns = (places >= places[0]).all(axis=1) & (places[:, :-1] < places[0, 1:]).all(axis=1)
            yield places[takes_turns]
            places = places[~takes_turns]


def _edges(codes: AnyIntArray, anchors: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the blocks of some anchors begin and end.

    All begin as far before their first anchor as half of them have the same launches there as the first one.
    One ends where the next begins; the last of a stretch with what most others have behind their last anchor.
    """
    first, last, before = anchors[0], anchors.max(axis=0), 0
    while before < min(first[0], (first[1:] - last[:-1]).min() - 1):
        same = codes[first - before - 1] == codes[first[0] - before - 1]
        if 2 * same.mean() < 1:
            break
        before += 1
    first = first - before
    distance = np.diff(first)
    stop, follows = np.append(first[1:], len(codes)), np.append(distance <= _GAP * np.median(distance), False)
    behind, example, times = np.unique((stop - last)[follows] - 1, return_index=True, return_counts=True)
    by_times = np.argsort(-times, kind="stable")
    begins, launches = last[follows][example][by_times] + 1, behind[by_times]
    tails = [codes[begin : begin + size] for begin, size in zip(begins, launches, strict=True)]
    for index in np.flatnonzero(~follows).tolist():
        room = codes[last[index] + 1 : stop[index]]
        fitting = [tail for tail in tails if len(tail) <= len(room)] or [room[:0]]
        same = (tail for tail in fitting if np.array_equal(room[: len(tail)], tail))
        # Where none is the same, launches differ there: as many as most have.
        stop[index] = last[index] + 1 + len(next(same, fitting[0]))
    return first, stop


def _resembling(codes: AnyIntArray, first: IntArray, stop: IntArray) -> Blocks | None:
    """Return blocks without those at which nothing repeats; None where too few are left."""
    # Two blocks have the same launches, in whatever order, where the sums of their random labels are equal.
    labels = np.random.default_rng(1).integers(1 << 62, size=int(codes.max()) + 1, dtype=np.int64)
    sums = np.concatenate([[0], np.cumsum(labels[codes])])
    _, example, kind, times = np.unique(
        sums[stop] - sums[first], return_index=True, return_inverse=True, return_counts=True
    )
    contents = [Counter(codes[first[index] : stop[index]].tolist()) for index in example.tolist()]
    usual = contents[int(times.argmax())]
    sizes, shared = (stop - first)[example], np.array([(of_kind & usual).total() for of_kind in contents])
    is_block = (times > 1) | (shared >= LEAST_ALIKE * np.maximum(sizes, usual.total()))
    alike = times * (shared - (sizes + usual.total() - 2 * shared) / 2)
    rows = is_block[kind]
    if np.count_nonzero(rows) < LEAST_BLOCKS or usual.total() < LEAST_LAUNCHES:
        return None
    return Blocks(first[rows], stop[rows], float(alike[is_block].sum()))
