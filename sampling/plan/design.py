"""A design: how a method would sample a workload, or which launches it picks; nothing is drawn yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray
from sampling.errors import NoDurationsError, OptionError
from sampling.methods.method import StrataRequest
from sampling.methods.registry import method_named, method_options, names_without_durations
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import PlanGroups, unpooled
from sampling.seeds import Stream, generator
from sampling.splitting.groups import Overrides
from sampling.strata.coverage import Errors, GroupReaches, group_reaches, workload_errors
from sampling.strata.cycle_spread import CycleSpread, declared_spread
from sampling.strata.expected_freedom import ExpectedFreedom
from sampling.strata.strata import WHOLE_WORKLOAD, Strata
from sampling.strata.target import Target
from sampling.strata.variance import bound, group_bounds, total_variance

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
        normal = bound(self.strata, self.target.confidence)
        return normal if self._errors is None else max(normal, self._reach(with_noise=False))

    @cached_property
    def group_bound(self) -> float | None:
        """The worst kernel group's bound on its own total, as `bound`; None where all strata span groups.

        Kernel groups that are pooled have none.
        """
        if not self.random or WHOLE_WORKLOAD in self.strata.group:
            return None
        bounds = group_bounds(self.strata, self.target.confidence)[self._bounded]
        if not len(bounds):
            return None
        normal = float(bounds.max())
        return normal if self._reaches is None else max(normal, float(self._reaches.plain.max()))

    @cached_property
    def bound_with_noise(self) -> float | None:
        """Bound on the error of the simulated total, if simulated time varies as is declared.

        None where nothing is random, or nothing is declared.
        """
        if not self.random or self.cycles is None:
            return None
        normal = bound(self.strata, self.target.confidence, self.cycles.of(self.strata))
        if self._errors is None or self.bound is None:
            return normal
        return max(normal, self.bound, self._reach(with_noise=True))

    @cached_property
    def group_bound_with_noise(self) -> float | None:
        """The worst kernel group's bound on its own simulated total; None where `group_bound` is."""
        if self.cycles is None or self.group_bound is None:
            return None
        variance = self.cycles.of_own_totals().of(self.strata)
        normal = float(group_bounds(self.strata, self.target.confidence, variance)[self._bounded].max())
        return normal if self._reaches is None else max(normal, float(self._reaches.with_noise.max()))

    @property
    def _bounded(self) -> BoolArray:
        """(groups,) whether a group with strata is a kernel group, which has a bound of its own."""
        groups = np.unique(self.strata.group)
        return groups >= 0 if self.cycles is None else ~self.cycles.spans_kernels[groups]

    def bound_of_group(self, group: int) -> float:
        """Return a kernel group's own bound, as `group_bound`."""
        here = self.strata.group == group
        variance = float(total_variance(self.strata)[here].sum())
        total_ns = float(np.dot(self.strata.launches[here], self.strata.mean_ns[here]))
        normal = self.target.z * float(np.sqrt(variance)) / total_ns if total_ns else 0.0
        if self.counts is None or self._reaches is None:
            return normal
        if self._reaches.drawn[group]:
            return max(normal, float(self._reaches.plain[group]))
        # It cannot reach as far as the worst group, so it was not drawn for that; its own bound is smaller.
        alone = np.arange(len(self.counts.groups)) == group
        rng, confidence = generator(0, Stream.CALIBRATE), self.target.confidence
        reaches = group_reaches(self.counts, self.strata, confidence, normal, rng, wanted=alone)
        return max(normal, float(reaches.plain[group])) if reaches.drawn[group] else normal

    @cached_property
    def expected_freedom(self) -> float | None:
        """The degrees of freedom that the interval from simulated values is expected to have.

        0 where there will be none, for nothing tells how far values spread; None where no interval is needed,
        since everything is simulated or nothing is declared to vary, and where nothing is random.
        """
        if not self.random or self.cycles is None:
            return None
        freedom = float(ExpectedFreedom.of(self.strata, self.cycles)(self.strata.samples))
        return freedom if np.isfinite(freedom) else None

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
        if self.counts is None or self._other_errors is None:
            return None
        limit_ns = self.target.epsilon * self.counts.total_duration_ns
        return self._other_errors.share_within(limit_ns, with_noise=with_noise)

    @cached_property
    def _other_errors(self) -> Errors | None:
        if self.counts is None or not self.random:
            return None
        return workload_errors(self.counts, self.strata, generator(0, Stream.CONFIRM), self.cycles)

    @cached_property
    def _errors(self) -> Errors | None:
        if self.counts is None or not self.random:
            return None
        return workload_errors(self.counts, self.strata, generator(0, Stream.CALIBRATE), self.cycles)

    def _reach(self, *, with_noise: bool) -> float:
        assert self._errors is not None
        assert self.counts is not None
        reach_ns = self._errors.reach_ns(self.target.confidence, with_noise=with_noise)
        return reach_ns / max(self.counts.total_duration_ns, 1)

    @cached_property
    def _reaches(self) -> GroupReaches | None:
        if self.counts is None or not self.random or WHOLE_WORKLOAD in self.strata.group:
            return None
        confidence = self.target.confidence
        # Groups that cannot reach beyond the worst group's bound do not change it.
        limit = float(group_bounds(self.strata, confidence)[self._bounded].max(initial=0.0))
        rng = generator(0, Stream.CALIBRATE)
        wanted = None if self.groups is None else ~self.groups.is_pool
        reaches = group_reaches(self.counts, self.strata, confidence, limit, rng, self.cycles, wanted)
        known = reaches.drawn
        return replace(
            reaches,
            plain=np.where(known, reaches.plain, 0.0),
            with_noise=np.where(known, reaches.with_noise, 0.0),
        )

    @cached_property
    def samples(self) -> int:
        """How many launches a draw is expected to have."""
        return round(float(self.strata.simulated_launches.sum()))

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The duration a draw is expected to have."""
        return self.strata.sampled_duration_ns

    @cached_property
    def speedup(self) -> float | None:
        """Total duration over the expected sampled duration; None where that is zero."""
        total_ns = float(np.dot(self.strata.launches, self.strata.mean_ns))
        return speedup_of(total_ns, self.sampled_duration_ns)

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
    NoDurationsError : the profile has no durations to draw from.
    """
    chosen, options = method_named(method), method_options(method, settings)
    if chosen.stratify is None:
        raise OptionError(f"the method {method} looks at single launches, not at durations alone")
    if not counts.has_durations:
        raise NoDurationsError(method, [name for name in names_without_durations() if name != "sieve"])
    request = StrataRequest(
        counts=counts,
        target=chosen.asked(target),
        options=options,
        overrides=overrides or {},
        progress=progress,
        rng=generator(seed, Stream.DESIGN),
        settings=settings,
    )
    strata = chosen.stratify(request)
    groups = strata.groups or unpooled(counts)
    # What is recorded is how it draws, not how it was asked to.
    recorded = replace(request.target, with_replacement=strata.with_replacement)
    return Design(method, recorded, strata, groups=groups, cycles=declared_spread(groups, recorded))
