"""How many degrees of freedom an estimate from a plan's sample is expected to have.

One launch a stratum is enough where other strata tell how far simulated time spreads: those of the same
kernel with one launch are compared with each other, and all lend each other degrees of freedom. What follows
is the moderated interval's own rule, with every spread as declared. (docs/methods.md, 11 Back from the
simulator)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import Clusters, Strata
from sampling.strata.variance import left_out

#: At most so many degrees of freedom are lent to a stratum.
LENT = 4.0
#: How much more uncertain the common spread is than its degrees of freedom say, for spreads differ.
COMMON_DOUBT = 2.0
# So many degrees of freedom of one stratum count for what others are told, where sizes are chosen: kernels
# differ in their spread, and a few of them, however often simulated, do not tell it.
_MOST_OF_ONE = 2.0
# Of the strata that may have one more sample so many are tried at once: those that tell most for their time.
_TRIED = 12


@dataclass(frozen=True, eq=False)
class ExpectedFreedom:
    """The strata of a plan, their sizes still open; all arrays (s,).

    Attributes
    ----------
    group : which strata are compared with each other: those of a group, those of all pools.
    pooled : whether the stratum spans kernel groups; these and the others lend among themselves.
    launches : N.
    uncertain : (N mu)^2 times the relative variance that simulated time is declared to have.
    most_of_one : so many degrees of freedom of a stratum at most count for what others are told.
    """

    group: IntArray
    pooled: BoolArray
    launches: IntArray
    uncertain: FloatArray
    most_of_one: float = np.inf

    @classmethod
    def of(cls, clusters: Clusters | Strata, cycles: CycleSpread) -> ExpectedFreedom:
        """Return them for some clusters."""
        pooled = cycles.spans_kernels[clusters.group]
        compared = np.where(pooled, len(cycles.scale), clusters.group)
        _, group = np.unique(compared, return_inverse=True)
        size_ns = clusters.launches * clusters.mean_ns
        return cls(group, pooled, clusters.launches, size_ns**2 * cycles.relative(clusters.group))

    def as_chosen_by(self) -> ExpectedFreedom:
        """Return them as sizes are chosen by them, more cautious than the interval itself."""
        return replace(self, most_of_one=_MOST_OF_ONE)

    def __call__(self, samples: IntArray) -> FloatArray:
        """Return (...,) the degrees of freedom of samples of some sizes (..., s); inf without uncertainty.

        0 where the spread of some stratum is not found anywhere.
        """
        parts = self.uncertain * left_out(samples, self.launches)
        single = (samples == 1) & (self.launches > 1)
        singles = self._summed(single.astype(np.float64))
        own = np.where(single, singles - 1, samples - 1)
        weight = np.where(single, 1 / np.maximum(singles, 1), 1.0)
        shared = np.where(single, self._summed(np.where(single, parts, 0.0)), parts)
        uncertainty = np.zeros(parts.shape[:-1])
        unknown = np.zeros(parts.shape[:-1], dtype=np.bool_)
        for members in (self.pooled, ~self.pooled):
            common = np.minimum(weight * own, self.most_of_one)[..., members].sum(axis=-1)
            lent = np.minimum(LENT, common)[..., np.newaxis]
            freedom = own[..., members] + lent
            part, known = parts[..., members], freedom > 0
            unknown |= ((part > 0) & ~known).any(axis=-1)
            some = np.where(known, freedom, 1.0)
            borrowed = (part * lent / some).sum(axis=-1)
            uncertainty += (part * shared[..., members] / some).sum(axis=-1)
            uncertainty += COMMON_DOUBT * borrowed**2 / np.where(common > 0, common, 1.0)
        variance = parts.sum(axis=-1)
        freedom = np.divide(
            variance**2, uncertainty, out=np.full(variance.shape, np.inf), where=uncertainty > 0
        )
        return np.where(unknown, 0.0, freedom)

    def _summed(self, values: FloatArray) -> FloatArray:
        """Return (..., s) for each stratum the sum over those it is compared with."""
        groups = int(self.group.max()) + 1
        flat = values.reshape(-1, values.shape[-1])
        sums = np.stack([np.bincount(self.group, row, minlength=groups) for row in flat])
        return np.asarray(sums[:, self.group].reshape(values.shape))


def with_freedom(strata: ExpectedFreedom, samples: IntArray, cost_ns: FloatArray, least: float) -> IntArray:
    """Return (s,) sizes, none smaller, whose expected degrees of freedom are at least so many.

    One sample at a time is added, where it gives most degrees of freedom for its time; a census of all has
    no uncertainty, so that there always is an end.

    Parameters
    ----------
    samples, cost_ns : (s,) sizes to start from, and what one sample of each costs, above 0.
    """
    strata = strata.as_chosen_by()
    samples = samples.copy()
    now = float(strata(samples))
    while now < least:
        rows = _worth_trying(strata, samples, cost_ns)
        tried = np.repeat(samples[np.newaxis], len(rows), axis=0)
        tried[np.arange(len(rows)), rows] += 1
        gain = np.minimum(strata(tried), least) - now
        best = int(np.argmax(gain / cost_ns[rows]))
        if gain[best] <= 0:
            # Two singles that are compared with each other may need one more each: the weightiest goes first.
            best = int(np.argmax(strata.uncertain[rows] * left_out(samples, strata.launches)[rows]))
        samples[rows[best]] += 1
        now = float(strata(samples))
    return samples


def _worth_trying(strata: ExpectedFreedom, samples: IntArray, cost_ns: FloatArray) -> IntArray:
    """Return strata that may have one more sample: the weightiest, for their time too, and the cheapest."""
    rows = np.flatnonzero((samples < strata.launches) & (strata.uncertain > 0))
    parts = (strata.uncertain * left_out(samples, strata.launches))[rows]
    worth = parts / cost_ns[rows]
    chosen = [np.argsort(-key, kind="stable")[:_TRIED] for key in (parts, worth, -cost_ns[rows])]
    return rows[np.unique(np.concatenate(chosen))]
