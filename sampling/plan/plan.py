"""A plan: a design with its drawn launches, their weights, where they are in the profile; and its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from msgspec import UNSET

from sampling.arrays import FloatArray, IntArray
from sampling.methods.method import DECLARED
from sampling.methods.registry import draws_at_random, method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, speedup_of
from sampling.plan.drawn_launches import DrawnLaunches, find_drawn_launches, find_launches_by_id
from sampling.plan.plan_file import (
    PlanDocument,
    PlannedFile,
    PlannedLaunch,
    PlannedProfile,
    PlannedStratum,
    PlanOptions,
    launch_id,
    override_records,
)
from sampling.plan.study import Study
from sampling.profile.identity import fingerprints, refuse_changed, sha256_as_read
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.region import as_given
from sampling.strata.draw import Draw, draw, estimate_total_ns, weights
from sampling.strata.sizes import least_sampled_ns


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
    #: Share of what all launches cost a simulator, a mean of those that last as long; None: not known.
    cost: FloatArray | None = None
    cost_metric: str | None = None
    #: Whether the plan was asked for by that metric.
    cost_decides: bool = False

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
        return None if self.cost is None else float(self.cost.sum())

    @property
    def paid_ns(self) -> FloatArray:
        """(n,) what each launch costs: its duration, or its share of the cost that decides."""
        if self.cost is None or not self.cost_decides:
            return self.duration_ns.astype(np.float64)
        return self.cost * self.total_duration_ns

    @property
    def speedup(self) -> float | None:
        """What all launches cost over what these do; None where that is zero."""
        return speedup_of(self.total_duration_ns, float(self.paid_ns.sum()))

    @property
    def error(self) -> float:
        """The sampling error |t* - t_est| / t* of these launches; 0 where the total is 0."""
        if self.total_duration_ns == 0:
            return 0.0
        return abs(self.total_duration_ns - self.estimate_ns) / self.total_duration_ns


def drawn_plan(counts: DurationCounts, design: Design, seed: int) -> Plan:
    """Draw from a design; the same seed draws the same launches, and picks do not depend on it."""
    drawn: Draw | None = None
    if design.picked is not None:
        launches, picks = design.picked
        rows, cost, least_samples = picks.row[design.picked_order], launches.cost, 1
        stratum, duration_ns = picks.stratum[rows], launches.duration_ns[rows]
        weight, estimate_ns = picks.weight[design.picked_order], picks.estimate(launches.duration_ns)
        shares = None if cost is None else cost.values[rows] / cost.values.sum()
    else:
        # Strata that span kernel groups are ranges of a reduction of their own.
        of_strata = counts if design.counts is None else design.counts
        drawn = draw(of_strata, design.strata, seed)
        cost, least_samples = of_strata.cost, design.strata.least_samples
        stratum, duration_ns = drawn.stratum, of_strata.duration_ns[drawn.pair]
        weight = weights(design.strata, drawn)
        estimate_ns = estimate_total_ns(of_strata, design.strata, drawn)
        shares = None if cost is None else cost.values[drawn.pair] / np.dot(cost.values, of_strata.count)
    return Plan(
        design=design,
        stratum=stratum,
        duration_ns=duration_ns,
        weight=weight,
        total_duration_ns=counts.total_duration_ns,
        floor_ns=float(least_sampled_ns(counts, least_samples).sum()),
        estimate_ns=estimate_ns,
        seed=seed,
        draw=drawn,
        cost=shares,
        cost_metric=None if cost is None else cost.metric,
        cost_decides=cost is not None and cost.decides,
    )


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

    Raises
    ------
    ProfileError : one of its files was written again since the first pass.
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
        for launch_id, sequence, ordinal, code, occurrence, weight, duration_ns in zip(
            *(column.tolist() for column in (*columns, plan.weight, plan.duration_ns)), strict=True
        )
    )


def planned_strata(
    counts: DurationCounts, plan: Plan, launches: Sequence[PlannedLaunch]
) -> Iterator[PlannedStratum]:
    """Yield the strata as a plan file lists them; launches are given in the order of the draw."""
    bounds = np.searchsorted(plan.stratum, np.arange(plan.design.strata_count + 1)).tolist()
    for facts, first, stop in zip(plan.design.facts(counts), bounds[:-1], bounds[1:], strict=True):
        drawn = tuple(sorted(launches[first:stop], key=launch_id))
        yield PlannedStratum(**facts._asdict(), launches=drawn)


def options_of(study: Study, plan: Plan, as_typed: Mapping[str, Any] | None = None) -> PlanOptions:
    """Return the options that made a plan.

    Parameters
    ----------
    as_typed : ``features``, ``launches`` and ``time`` as they were written, where they were.
    """
    target, region, choice = plan.design.target, study.counts.region, study.choice
    method = method_named(choice.method)
    declared = DECLARED if draws_at_random(choice.method, choice.settings) else ()
    looked_at = {"epsilon", "confidence", *method.target_fields, *declared}
    typed = as_typed or {}
    columns = study.profile.named_columns
    return PlanOptions(
        method=choice.method,
        **{name: value for name, value in asdict(target).items() if name in looked_at},
        set=choice.settings,
        features=typed.get("features", choice.feature_paths),
        cost=UNSET if choice.cost is None else choice.cost,
        seed=plan.seed,
        group_by=study.counts.grouping.by,
        pool_devices=study.counts.grouping.pool_devices,
        device=region.devices,
        process=region.processes,
        include=region.include,
        exclude=region.exclude,
        launches=typed.get("launches") or (as_given(region.launches) if region.launches else None),
        time=typed.get("time") or (as_given(region.time_ns) if region.time_ns else None),
        range=region.named_range,
        min_duration=UNSET if region.min_duration_ns is None else region.min_duration_ns,
        columns=UNSET if columns is None else columns,
    )


def plan_document(
    study: Study, plan: Plan, launches: Sequence[PlannedLaunch], options: PlanOptions | None = None
) -> PlanDocument:
    """Return the plan as its file holds it.

    Parameters
    ----------
    launches : all launches of the plan, from `find_planned_launches`.
    options : what is recorded of how the plan was made; None: as the study has it.

    Raises
    ------
    ProfileError : a file of the profile was written again since it was read.
    """
    profile, counts = study.profile, study.counts
    return PlanDocument(
        profile=PlannedProfile(
            files=tuple(
                PlannedFile(file.path, sha256_as_read(file), file.launches) for file in profile.files
            ),
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
