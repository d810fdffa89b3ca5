"""A design: how a method would sample a workload, or which launches it picks; nothing is drawn yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray
from sampling.errors import OptionError
from sampling.methods.method import StrataRequest
from sampling.methods.registry import method_named, method_options
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import PlanGroups, unpooled
from sampling.seeds import Stream, generator
from sampling.splitting.tree import Overrides
from sampling.strata.draw import Judged, judged
from sampling.strata.strata import (
    WHOLE_WORKLOAD,
    CycleSpread,
    Strata,
    bound,
    declared_spread,
    expected_half_width,
    group_bounds,
    total_variance,
)
from sampling.strata.target import Target

#: The key of a stratum that spans all kernel groups.
WHOLE_WORKLOAD_KEY = "*"


def speedup_of(total_ns: float, sampled_ns: float) -> float | None:
    """Return total over sampled duration; None where the sampled one is 0, for then nothing can be said."""
    return float(total_ns) / float(sampled_ns) if sampled_ns else None


class StratumFacts(NamedTuple):
    """One stratum in figures: what the plan file says of it; ``pooled`` if it spans kernel groups."""

    key: str
    size: int
    mean_ns: float
    std_ns: float
    low_ns: int
    high_ns: int
    samples: int
    pooled: bool = False


# Two designs are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class Design:
    """How a method would sample a workload: strata and sizes, nothing drawn yet.

    Its figures are computed when they are first asked for, and kept.

    Attributes
    ----------
    random : whether it draws at random, so that bounds exist; picks read back from a plan file do not.
    groups : the groups that the strata divide, with their launches: bounds are judged by drawing them. None
        where they are not known; bounds are then those of normal errors.
    cycles : how simulated time is declared to vary; None where that is not known.
    """

    method: str
    target: Target
    strata: Strata
    random: bool = True
    groups: PlanGroups | None = None
    cycles: CycleSpread | None = None

    @property
    def counts(self) -> DurationCounts | None:
        """The launches that the strata hold, by group and duration; None where they are not known."""
        return None if self.groups is None else self.groups.counts

    @property
    def strata_count(self) -> int:
        """How many strata."""
        return len(self.strata)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how it came about."""
        return self.strata.notes

    @cached_property
    def bound(self) -> float | None:
        """Bound on the error of the workload's total profile time; None if nothing is random.

        The error that a share of ``confidence`` of the draws does not exceed, or z times the standard
        deviation where that is more.
        """
        if not self.random:
            return None
        return max(bound(self.strata, self.target.confidence), self._reach(with_noise=False))

    @cached_property
    def bound_with_noise(self) -> float | None:
        """Bound on the error of the simulated total, if simulated time varies as is declared.

        None where nothing is random, or nothing is declared.
        """
        if self.bound is None or self.cycles is None:
            return None
        normal = bound(self.strata, self.target.confidence, self.cycles.of(self.strata))
        return max(normal, self.bound, self._reach(with_noise=True))

    @cached_property
    def group_bound(self) -> float | None:
        """The worst kernel group's bound on its own total, as `bound`; None where all strata span groups.

        Kernel groups that are pooled have none.
        """
        return self._worst_group(with_noise=False)

    @cached_property
    def group_bound_with_noise(self) -> float | None:
        """The worst kernel group's bound on its own simulated total; None where `group_bound` is."""
        return None if self.cycles is None else self._worst_group(with_noise=True)

    def _worst_group(self, *, with_noise: bool) -> float | None:
        if not self.random or WHOLE_WORKLOAD in self.strata.group:
            return None
        groups = np.unique(self.strata.group)
        bounded = groups >= 0 if self.cycles is None else ~self.cycles.spans_kernels[groups]
        if not bounded.any():
            return None
        variance = self.cycles.of_own_totals().of(self.strata) if with_noise and self.cycles else None
        bounds = group_bounds(self.strata, self.target.confidence, variance)
        if self._draws is not None:
            # Only groups with a stratum that is drawn can be far from normal.
            drawn = np.isin(groups, self.strata.group[self._draws.drawn]) & bounded
            for place in np.flatnonzero(drawn).tolist():
                reach = self._reach(with_noise=with_noise, group=int(groups[place]))
                bounds[place] = max(bounds[place], reach)
        return float(bounds[bounded].max())

    def bound_of_group(self, group: int) -> float:
        """Return a kernel group's own bound, as `group_bound`."""
        here = self.strata.group == group
        variance = float(total_variance(self.strata)[here].sum())
        total_ns = float(np.dot(self.strata.launches[here], self.strata.mean_ns[here]))
        normal = self.target.z * float(np.sqrt(variance)) / total_ns if total_ns else 0.0
        return max(normal, self._reach(with_noise=False, group=group))

    @cached_property
    def expected_half_width(self) -> float | None:
        """The half-width, over the total, that the interval from simulated values is expected to have.

        If cycles vary as declared. None where nothing is random, or nothing is declared.
        """
        if not self.random or self.cycles is None:
            return None
        return expected_half_width(self.strata, self.cycles, self.target.confidence)

    @property
    def share_within_epsilon(self) -> float | None:
        """The share of `DRAWS` draws, others than those the bounds are from, whose error is at most epsilon.

        Of the profile's own total. None where nothing can be drawn.
        """
        return self._share_within_epsilon(with_noise=False)

    @property
    def simulated_share_within_epsilon(self) -> float | None:
        """The same of the simulated total, if simulated time varies as is declared."""
        return None if self.cycles is None else self._share_within_epsilon(with_noise=True)

    def _share_within_epsilon(self, *, with_noise: bool) -> float | None:
        if self.counts is None or self._other_draws is None:
            return None
        limit_ns = self.target.epsilon * self.counts.total_duration_ns
        return self._other_draws.share_within(limit_ns, with_noise=with_noise)

    @cached_property
    def _other_draws(self) -> Judged | None:
        return self._drawn_with(Stream.CONFIRM)

    @cached_property
    def _draws(self) -> Judged | None:
        return self._drawn_with(Stream.CALIBRATE)

    def _drawn_with(self, stream: Stream) -> Judged | None:
        if self.counts is None or not self.random:
            return None
        return judged(self.counts, self.strata, self.cycles, generator(0, stream))

    def _reach(self, *, with_noise: bool, group: int | None = None) -> float:
        """Return how far the draws reach, over the total that they are of; 0 where there are none."""
        if self._draws is None or self.counts is None:
            return 0.0
        of_ns = self.counts.total_duration_ns if group is None else self.counts.group_duration_ns[group]
        reach_ns = self._draws.reach_ns(self.target.confidence, with_noise=with_noise, group=group)
        return reach_ns / max(int(of_ns), 1)

    @cached_property
    def samples(self) -> int:
        """How many launches a draw is expected to have."""
        return int(self.strata.samples.sum())

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The duration a draw is expected to have."""
        return self.strata.sampled_duration_ns

    @cached_property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that a draw is expected to; None: not known."""
        if self.counts is None or self.counts.cost_before is None:
            return None
        strata, before = self.strata, self.counts.cost_before
        mean = (before[strata.stop] - before[strata.start]) / strata.launches
        return float(np.dot(strata.samples, mean) / before[-1])

    @property
    def paid_ns(self) -> float:
        """What a draw is expected to cost: its duration, or its share of the cost that decides."""
        counts, share = self.counts, self.cost_share
        if share is None or counts is None or counts.cost is None or not counts.cost.decides:
            return self.sampled_duration_ns
        return share * counts.total_duration_ns

    @cached_property
    def speedup(self) -> float | None:
        """What all launches cost over what a draw is expected to; None where that is zero."""
        total_ns = float(np.dot(self.strata.launches, self.strata.mean_ns))
        return speedup_of(total_ns, self.paid_ns)

    def facts(self, counts: DurationCounts) -> Iterator[StratumFacts]:
        """Return every stratum in figures."""
        strata = self.strata
        counts = self.counts or counts
        whole = WHOLE_WORKLOAD in strata.group
        low_ns = np.full(len(strata), counts.duration_ns.min()) if whole else counts.duration_ns[strata.start]
        high_ns = (
            np.full(len(strata), counts.duration_ns.max()) if whole else counts.duration_ns[strata.stop - 1]
        )
        keys = (
            [WHOLE_WORKLOAD_KEY] * len(strata)
            if whole
            else [counts.groups[group].key for group in strata.group.tolist()]
        )
        columns = (strata.launches, strata.mean_ns, strata.std_ns, low_ns, high_ns, strata.samples)
        pooled = self._spans_kernels[strata.group]
        return map(StratumFacts, keys, *(column.tolist() for column in (*columns, pooled)))

    @property
    def _spans_kernels(self) -> BoolArray:
        """(groups + 1,) whether strata of a group span kernel groups; the last entry is of the workload's."""
        is_pool = np.zeros(1, dtype=np.bool_) if self.groups is None else self.groups.is_pool
        return np.append(is_pool, True)


def make_design(
    counts: DurationCounts,
    method: str,
    target: Target,
    seed: int,
    *,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Design:
    """Return the strata and sizes that a method which draws at random chooses.

    Raises
    ------
    OptionError : an unknown method or setting, an override that fits no node, or a method that picks.
    """
    chosen, options = method_named(method), method_options(method, settings)
    if chosen.stratify is None:
        raise OptionError(f"the method {method} looks at single launches, not at durations alone")
    request = StrataRequest(
        counts=counts,
        target=target,
        options=options,
        overrides=overrides or {},
        progress=progress,
        rng=generator(seed, Stream.DESIGN),
        settings=settings,
    )
    strata = chosen.stratify(request)
    groups = strata.groups or unpooled(counts)
    return Design(method, target, strata, groups=groups, cycles=declared_spread(groups, target))
