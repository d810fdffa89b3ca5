"""Finds (group, duration) pairs among those drawn, a million rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray

DURATION_BITS = 40
NOT_DRAWN = -1
# Slots for each pair: a row that was not drawn then meets a free slot at once 15 times out of 16.
_ROOM = 16


class PairLookup:
    """Finds the number of a (group, duration) pair among those drawn: an open-addressing hash table.

    The table is nearly empty, so one look decides for most rows. It is exact: whole keys are compared.
    """

    def __init__(self, group: IntArray, duration_ns: IntArray) -> None:
        self._durations = np.unique(duration_ns) if _too_wide(group, duration_ns) else None
        keys = self._keys(group, duration_ns)
        bits = max(10, (_ROOM * len(keys)).bit_length())
        self._shift = np.uint64(64 - bits)
        self._mask = np.int64((1 << bits) - 1)
        self._table = np.full(1 << bits, np.uint64(2**64 - 1))
        self._number = np.full(1 << bits, NOT_DRAWN, dtype=np.int32)
        left = np.arange(len(keys))
        slot = home_slots(keys, self._shift)
        while len(left):
            free = self._number[slot] == NOT_DRAWN
            self._number[slot[free]] = left[free]
            lost = self._number[slot] != left
            self._table[slot[~lost]] = keys[left[~lost]]
            left, slot = left[lost], (slot[lost] + 1) & self._mask

    def matches(self, group: IntArray, duration_ns: AnyIntArray) -> tuple[IntArray, NDArray[np.int32]]:
        """Return the rows whose pair is drawn, ascending, and the pairs' numbers; a group of -1 never is."""
        whole_ns = duration_ns.astype(np.int64, copy=False)
        keys = self._keys(group, whole_ns)
        slot = home_slots(keys, self._shift)
        rows = np.flatnonzero(self._number.take(slot) != NOT_DRAWN)
        inside = group[rows] >= 0
        if self._durations is None:
            # A duration too large for the key runs into the bits of the group; none of these is drawn.
            inside &= whole_ns[rows] < 1 << DURATION_BITS
        rows = rows[inside]
        keys, slot = keys[rows], slot[rows]
        number = self._number.take(slot)
        other = np.flatnonzero(self._table.take(slot) != keys)
        number[other] = self._probed(keys[other], (slot[other] + 1) & self._mask)
        drawn = np.flatnonzero(number != NOT_DRAWN)
        return rows[drawn], number[drawn]

    def _probed(self, keys: NDArray[np.uint64], slot: IntArray) -> NDArray[np.int32]:
        """Return the number behind each key, looked for from its slot on until a free one; -1: none."""
        number = np.full(len(keys), NOT_DRAWN, dtype=np.int32)
        look_on = np.arange(len(keys))
        while len(look_on):
            candidate = self._number[slot]
            same = self._table[slot] == keys[look_on]
            number[look_on[same]] = candidate[same]
            going = ~same & (candidate != NOT_DRAWN)
            look_on, slot = look_on[going], (slot[going] + 1) & self._mask
        return number

    def _keys(self, group: IntArray, duration_ns: IntArray) -> NDArray[np.uint64]:
        """Return one key a row; durations too large for it are replaced by their place among those drawn."""
        if self._durations is not None:
            place = np.searchsorted(self._durations, duration_ns)
            inside = np.minimum(place, len(self._durations) - 1)
            absent = self._durations[inside] != duration_ns
            duration_ns = np.where(absent, len(self._durations), inside)
        keys = group.astype(np.uint64)
        keys <<= np.uint64(DURATION_BITS)
        keys ^= duration_ns.view(np.uint64)
        return keys


def home_slots(keys: NDArray[np.uint64], shift: np.uint64) -> IntArray:
    """Return the slot in which each key is looked for first: the highest bits of a multiplicative hash."""
    slots = keys * np.uint64(0x9E3779B97F4A7C15)
    slots >>= shift
    return slots.view(np.int64)


def _too_wide(group: IntArray, duration_ns: IntArray) -> bool:
    return bool(len(group)) and bool(
        duration_ns.max() >= 1 << DURATION_BITS or group.max() >= 1 << (63 - DURATION_BITS)
    )
