"""Two costs in words, so that a reader sees which is less."""

from __future__ import annotations

_MOST_DECIMALS = 6


def costs_in_words(one_ns: float, other_ns: float) -> tuple[str, str]:
    """Return two times in nanoseconds with the digits that tell them apart; equal ones in whole ones."""
    for decimals in range(_MOST_DECIMALS + 1):
        one, other = (f"{ns:,.{decimals}f} ns" for ns in (one_ns, other_ns))
        if one != other:
            return one, other
    return f"{one_ns:,.0f} ns", f"{other_ns:,.0f} ns"
