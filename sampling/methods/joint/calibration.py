"""Bounds that hold: a plan is judged by drawing it, and made for smaller bounds until it keeps its own.

The normal quantile is too small where one stratum of few samples and a skewed spread carries most of the
variance. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sampling.arrays import FloatArray
from sampling.methods.joint.solution import PricedTrees
from sampling.reduction.plan_groups import PlanGroups
from sampling.seeds import Stream, generator
from sampling.strata.coverage import group_reaches, workload_errors
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.target import LEAST_EPSILON, Target

#: A bound that does not hold is asked for by so much smaller.
STEP = 0.97
GROUP_STEP = 0.9
# A census of everything holds any bound, and is reached long before.
_MOST_ROUNDS = 400


def calibrated(
    groups: PlanGroups,
    target: Target,
    cycles: CycleSpread,
    solved_for: Callable[[Target, FloatArray], PricedTrees],
) -> PricedTrees:
    """Return the plan for the largest bounds at which the target's own hold in the draws.

    Epsilon shrinks by 3 % a step, and so does the bound of each kernel group whose error reaches too far.
    What is drawn is seeded with a number of its own: the seed of a plan must not change its strata.

    Parameters
    ----------
    cycles : how simulated time is declared to vary.
    solved_for : the plan for a target, with the share of its group epsilon that each group may use.
    """
    counts = groups.counts
    inner, group_share = target, np.ones(len(counts.groups))
    bounded = ~groups.is_pool
    doubtful = bounded
    limit_ns = target.epsilon * counts.total_duration_ns
    for _ in range(_MOST_ROUNDS):
        trees = solved_for(inner, group_share)
        rng = generator(0, Stream.CALIBRATE)
        holds = workload_errors(counts, trees.plan, rng, cycles).keeps(limit_ns, target.confidence)
        over = np.zeros(len(group_share), dtype=np.bool_)
        if target.group_epsilon is not None:
            reaches = group_reaches(
                counts,
                trees.plan,
                target.confidence,
                target.group_epsilon,
                rng,
                cycles,
                wanted=doubtful,
                errors_to_spare=2,
            )
            over = reaches.drawn & bounded & (reaches.with_noise > target.group_epsilon)
            # Groups are many and cheap, so they go far at once.
            group_share[over] *= np.minimum(GROUP_STEP, target.group_epsilon / reaches.with_noise[over])
        if holds and not over.any():
            if doubtful is bounded:
                return trees
            # Only doubtful groups were judged; what changed for them changed prices for all.
            doubtful = bounded
            continue
        doubtful = over if over.any() else bounded
        if not holds:
            inner = replace(inner, epsilon=max(inner.epsilon * STEP, LEAST_EPSILON))
    return trees
