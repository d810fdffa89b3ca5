"""How much less time sampling takes than simulating everything."""

from __future__ import annotations


def speedup_of(total_ns: float, sampled_ns: float) -> float | None:
    """Return total over sampled duration; None where the sampled one is 0, for then nothing can be said."""
    return float(total_ns) / float(sampled_ns) if sampled_ns else None
