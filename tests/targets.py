"""What tests ask of the method `joint` where no kernel group is pooled."""

from __future__ import annotations

from dataclasses import replace

from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import unpooled
from sampling.strata.cycle_spread import CycleSpread, declared_spread
from sampling.strata.target import Target

#: Two samples a stratum, every kernel group on its own: a bound for each and one for all.
UNPOOLED = Target(pool_below=0.0, kernel_spread=0.0, min_samples=2)
#: What ROOT promises, asked of joint.
LIKE_ROOT = replace(UNPOOLED, group_epsilon=0.05, min_samples=1, noise_floor=0.0, min_freedom=0.0)


def spread_within(counts: DurationCounts, noise_floor: float) -> CycleSpread:
    """Return a spread between launches of a kernel and none between kernels."""
    return declared_spread(unpooled(counts), replace(UNPOOLED, noise_floor=noise_floor))
