"""Whether two windows of a sequence hold the same codes, without looking at each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray

#: Odd, so that it has an inverse: the powers of a polynomial modulo 2^64.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64


class Windows:
    """The windows of a sequence, each with a code of 64 bits; equal windows have equal codes.

    Different windows may share a code, if hardly ever: who needs to be sure compares the launches.
    """

    def __init__(self, codes: AnyIntArray) -> None:
        """Add the codes up once, in O(n).

        Parameters
        ----------
        codes : (n,) integers >= 0, at least one.
        """
        inverse = pow(_BASE, -1, _MODULUS)
        powers, self._inverse_powers = (_powers(base, len(codes)) for base in (_BASE, inverse))
        labels = np.random.default_rng(0).integers(_MODULUS - 1, size=int(codes.max()) + 1, dtype=np.uint64)
        self._sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(labels[codes] * powers, out=self._sums[1:])

    def codes(self, first: IntArray, launches: IntArray) -> NDArray[np.uint64]:
        """Return (k,) the codes of windows, which lie within the sequence and are not empty."""
        sums = self._sums[first + launches] - self._sums[first]
        return np.asarray(sums * self._inverse_powers[first])

    def same_after(self, low: IntArray, high: IntArray) -> IntArray:
        """Return (k,) how many values from two places on are the same, ``low`` before ``high``."""
        most = len(self._inverse_powers) - high
        return self._longest(most, lambda chosen, _: (low[chosen], high[chosen]))

    def same_before(self, low: IntArray, high: IntArray) -> IntArray:
        """Return (k,) how many values before two places are the same, ``low`` before ``high``."""
        return self._longest(low, lambda chosen, size: (low[chosen] - size, high[chosen] - size))

    def _longest(
        self, most: IntArray, begin: Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]
    ) -> IntArray:
        """Return (k,) the largest sizes at which two windows are the same, found bit by bit."""
        length = np.zeros(len(most), dtype=np.int64)
        for bit in reversed(range(int(most.max(initial=0)).bit_length())):
            chosen = np.flatnonzero(length + (1 << bit) <= most)
            size = length[chosen] + (1 << bit)
            one, other = begin(chosen, size)
            length[chosen[self.codes(one, size) == self.codes(other, size)]] += 1 << bit
        return length

    def all_codes(self, launches: int) -> NDArray[np.uint64]:
        """Return (n - launches + 1,) the codes of all windows of one length."""
        last = len(self._inverse_powers) - launches
        sums = self._sums[launches:] - self._sums[: last + 1]
        return np.asarray(sums * self._inverse_powers[: last + 1])


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    """Return (count,) 1, base, base^2, ... modulo 2^64."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[0] = 1
    return np.asarray(np.cumprod(factors))
