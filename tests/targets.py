"""What tests ask of the method `joint` where no kernel group is pooled."""

from __future__ import annotations

from dataclasses import replace

from sampling.strata.target import Target

#: Two samples a stratum, every kernel group on its own: a bound for each and one for all.
UNPOOLED = Target(pool=False, kernel_spread=0.0, min_samples=2)
#: What ROOT promises, asked of joint.
LIKE_ROOT = replace(UNPOOLED, group_epsilon=0.05, min_samples=1, noise_floor=0.0)
