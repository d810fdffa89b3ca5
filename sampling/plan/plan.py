"""A plan: a design with its drawn launches, their weights, where they are in the profile; and its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from msgspec import UNSET

from sampling.arrays import FloatArray, IntArray
from sampling.methods.method import DECLARED
from sampling.methods.registry import draws_at_random, method_named
from sampling.parallel import Progress
from sampling.plan.design import WHOLE_WORKLOAD_KEY, Design, speedup_of
from sampling.plan.drawn_launches import DrawnLaunches, find_drawn_launches, find_launches_by_id
from sampling.plan.plan_file import (
    PlanFile,
    PlannedFile,
    PlannedLaunch,
    PlannedProfile,
    PlannedStratum,
    PlanOptions,
    override_records,
)
from sampling.plan.study import Study
from sampling.profile.identity import fingerprints, refuse_changed, sha256_as_read
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, LaunchCost
from sampling.reduction.region import as_written, format_window
from sampling.strata.draw import Draw, draw, estimate_total_ns, weights
from sampling.strata.sizes import least_sampled_ns
from sampling.strata.strata import WHOLE_WORKLOAD


@dataclass(frozen=True, slots=True)
class Plan:
    """A design with its launches; arrays are (n,), of each launch, strata ascending."""

    design: Design
    stratum: IntArray
    duration_ns: IntArray
    #: How many launches it stands for.
    weight: FloatArray
    #: Of all selected launches.
    total_duration_ns: int
    #: What any plan that visits every kernel group samples at least: the sum of min(m_min, N) mu.
    floor_ns: float
    #: The total that these launches estimate.
    estimate_ns: float
    seed: int
    #: Which launches were drawn; None for picks, whose ids are known.
    draw: Draw | None = None
    #: Shares of what all launches cost a simulator, a mean of those that last as long; None: not known.
    cost: LaunchCost | None = None

    @property
    def samples(self) -> int:
        """How many launches were drawn, each to be simulated once however often it was drawn."""
        return len(self.duration_ns)

    @property
    def sampled_duration_ns(self) -> int:
        """The duration of the drawn launches (tau)."""
        return int(self.duration_ns.sum())

    @property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that these cost; None where it is not known."""
        return None if self.cost is None else float(self.cost.values.sum())

    @property
    def objective_cost(self) -> LaunchCost | None:
        """The cost that the plan is made and stated by; None where that is time on the GPU."""
        return self.cost if self.cost is not None and self.cost.is_objective else None

    @property
    def cost_ns(self) -> FloatArray:
        """(n,) what each launch costs: its duration, or its share of the cost that decides."""
        if (cost := self.objective_cost) is None:
            return self.duration_ns.astype(np.float64)
        return cost.values * self.total_duration_ns

    @property
    def speedup(self) -> float | None:
        """What all launches cost over what these do; None where that is zero."""
        return speedup_of(self.total_duration_ns, float(self.cost_ns.sum()))

    @property
    def error(self) -> float:
        """The sampling error |t* - t_est| / t* of these launches; 0 where the total is 0."""
        return abs(self.total_duration_ns - self.estimate_ns) / max(self.total_duration_ns, 1)


def drawn_plan(counts: DurationCounts, design: Design, seed: int) -> Plan:
    """Draw from a design; the same seed draws the same launches, and picks do not depend on it."""
    total_ns, drawn, cost, least_samples = counts.total_duration_ns, None, None, 1
    if design.picked is not None:
        launches, picks = design.picked
        rows = picks.row[design.picked_order]
        stratum, duration_ns = picks.stratum[rows], launches.duration_ns[rows]
        weight, estimate_ns = picks.weight[design.picked_order], picks.estimate(launches.duration_ns)
        if launches.cost is not None:
            cost = replace(launches.cost, values=launches.cost.values[rows] / launches.cost.values.sum())
    else:
        # Strata that span kernel groups are ranges of a reduction of their own.
        held = design.counts or counts
        drawn, least_samples = draw(held, design.strata, seed), design.strata.least_samples
        stratum, duration_ns = drawn.stratum, held.duration_ns[drawn.pair]
        weight, estimate_ns = weights(design.strata, drawn), estimate_total_ns(held, design.strata, drawn)
        if held.cost is not None:
            of_all = np.dot(held.cost.values, held.count)
            cost = replace(held.cost, values=held.cost.values[drawn.pair] / of_all)
    floor_ns = float(least_sampled_ns(counts, least_samples).sum())
    return Plan(design, stratum, duration_ns, weight, total_ns, floor_ns, estimate_ns, seed, drawn, cost)


def locate(
    profile: Profile, counts: DurationCounts, plan: Plan, progress: Progress | None = None
) -> DrawnLaunches:
    """Find the plan's launches in the profile: ids, ordinals, occurrences."""
    ids = plan.design.ids(plan.draw)
    if ids is not None:
        return find_launches_by_id(profile, ids, progress)
    assert plan.draw is not None
    return find_drawn_launches(profile, plan.design.counts or counts, plan.draw, progress)


def find_planned_launches(
    study: Study, plan: Plan, progress: Progress | None = None
) -> tuple[PlannedLaunch, ...]:
    """Return the plan's launches, found in a second pass over the profile, in the order of the draw.

    Raises ProfileError: one of its files was written again since the first pass.
    """
    refuse_changed(study.profile.files)
    return planned_launches(study.profile, study.counts, plan, progress)


def planned_launches(
    profile: Profile, counts: DurationCounts, plan: Plan, progress: Progress | None = None
) -> tuple[PlannedLaunch, ...]:
    """Return the drawn launches with all that identifies them, in the order of the draw."""
    found = locate(profile, counts, plan, progress)
    kernels = {code: profile.kernels.signature(code) for code in np.unique(found.signature).tolist()}
    names = {code: profile.kernels.names.full(kernel.name) for code, kernel in kernels.items()}
    columns = (found.id, found.sequence, found.ordinal, found.signature, found.occurrence)
    rows = zip(*(each.tolist() for each in (*columns, plan.weight, plan.duration_ns)), strict=True)
    return tuple(
        PlannedLaunch(
            id=launch_id,
            process=profile.sequences[sequence].process,
            device=profile.sequences[sequence].device,
            ordinal=ordinal,
            name=names[code],
            grid=kernels[code].grid,
            block=kernels[code].block,
            occurrence=occurrence,
            weight=weight,
            duration_ns=duration_ns,
        )
        for launch_id, sequence, ordinal, code, occurrence, weight, duration_ns in rows
    )


def planned_strata(
    counts: DurationCounts, plan: Plan, launches: Sequence[PlannedLaunch] = ()
) -> Iterator[PlannedStratum]:
    """Yield the strata as a plan file lists them; launches are given in the order of the draw, or none."""
    design, strata = plan.design, plan.design.strata
    counts = design.counts or counts
    if design.launches is not None and design.picks is not None:
        keys: Sequence[str] = design.picks.labels
        ends = np.searchsorted(design.picks.stratum[design.by_cluster], np.arange(len(keys) + 1))
        duration_ns = design.launches.duration_ns[design.by_cluster]
        low_ns, high_ns = duration_ns[ends[:-1]], duration_ns[ends[1:] - 1]
        pooled = np.full(len(keys), design.random)
        # Launches that no pick stands for are in no stratum.
        is_held = design.picks.stratum >= 0
        width = int(design.launches.signature.max()) + 1
        held = np.unique(design.picks.stratum[is_held] * width + design.launches.signature[is_held])
        signatures = np.bincount(held // width, minlength=len(keys))
    elif WHOLE_WORKLOAD in strata.group:
        keys, pooled = [WHOLE_WORKLOAD_KEY] * len(strata), np.full(len(strata), fill_value=True)
        least_and_most_ns = counts.duration_ns.min(), counts.duration_ns.max()
        low_ns, high_ns = np.full((len(strata), 2), least_and_most_ns).T
        signatures = counts.pair_signatures.numbers(strata.start, strata.stop)
    else:
        keys = [counts.groups[group].key for group in strata.group.tolist()]
        low_ns, high_ns = counts.duration_ns[strata.start], counts.duration_ns[strata.stop - 1]
        none = np.zeros(len(counts.groups), dtype=np.bool_)
        pooled = (none if design.groups is None else design.groups.is_pool)[strata.group]
        signatures = counts.pair_signatures.numbers(strata.start, strata.stop)
    moments = strata.launches, strata.mean_ns, strata.std_ns
    columns = (*moments, low_ns, high_ns, strata.samples, pooled, signatures)
    bounds = np.searchsorted(plan.stratum, np.arange(len(strata) + 1)).tolist()
    for number, (key, *figures) in enumerate(zip(keys, *(each.tolist() for each in columns), strict=True)):
        drawn = launches[bounds[number] : bounds[number + 1]]
        of_file = dict(zip(PlannedStratum.__struct_fields__, (key, *figures), strict=False))
        yield PlannedStratum(**of_file, launches=tuple(sorted(drawn, key=lambda launch: launch.id)))


def options_of(study: Study, plan: Plan, as_typed: Mapping[str, Any] | None = None) -> PlanOptions:
    """Return the options that made a plan; ``as_typed`` are features, launches and time where they were."""
    target, region, choice = plan.design.target, study.counts.region, study.choice
    method = method_named(choice.method)
    declared = DECLARED if draws_at_random(choice.method, choice.settings) else ()
    looked_at = {"epsilon", "confidence", *method.target_fields, *declared}
    typed, profile = as_typed or {}, study.profile
    grouping = study.counts.grouping
    return PlanOptions(
        method=choice.method,
        **{name: value for name, value in asdict(target).items() if name in looked_at},
        set=choice.settings,
        features=typed.get("features", choice.feature_paths),
        cost=UNSET if choice.cost is None else choice.cost,
        seed=plan.seed,
        group_by=grouping.by,
        pool_devices=bool(grouping.pool_devices),
        each_rank=True if study.counts.replica_times_ns and not grouping.pool_devices else UNSET,
        device=as_written(region.devices),
        process=as_written(region.processes),
        include=region.include,
        exclude=region.exclude,
        launches=typed.get("launches") or (format_window(region.launches) if region.launches else None),
        time=typed.get("time") or (format_window(region.time_ns) if region.time_ns else None),
        range=region.named_range,
        min_duration=UNSET if region.min_duration_ns is None else region.min_duration_ns,
        columns=UNSET if profile.named_columns is None else profile.named_columns,
        rank_regex=UNSET if profile.rank_regex is None else profile.rank_regex,
        partial=profile.partial or UNSET,
        keep_overlong=profile.keep_overlong or UNSET,
    )


def plan_document(
    study: Study, plan: Plan, launches: Sequence[PlannedLaunch], options: PlanOptions | None = None
) -> PlanFile:
    """Return the plan as its file holds it; ``launches`` are all of it, from `find_planned_launches`.

    Raises ProfileError: a file of the profile was written again since it was read.
    """
    profile, counts = study.profile, study.counts
    files = (PlannedFile(file.path, sha256_as_read(file), file.launches) for file in profile.files)
    return PlanFile(
        profile=PlannedProfile(
            files=tuple(files),
            launches=counts.launches,
            total_duration_ns=counts.total_duration_ns,
            left_out=UNSET if counts.left_out is None else counts.left_out,
            sequences=fingerprints(profile),
        ),
        options=options or options_of(study, plan),
        findings=tuple(finding.as_json() for finding in study.findings),
        strata=tuple(planned_strata(counts, plan, launches)),
        overrides=override_records(study.choice.overrides or {}),
    )
