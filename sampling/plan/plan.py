"""A plan: a design with its drawn launches, their weights, where they are in the profile; and its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from msgspec import UNSET, structs, to_builtins

from sampling.arrays import FloatArray, IntArray
from sampling.parallel import Progress
from sampling.plan.design import Design, UnitDesign, speedup_ratio
from sampling.plan.draft import Draft
from sampling.plan.drawn_launches import DrawnLaunches, find_drawn_launches, find_launches_by_id
from sampling.plan.plan_file import (
    PlanFile,
    PlannedFile,
    PlannedLaunch,
    PlannedLayer,
    PlannedProfile,
    PlannedStratum,
    override_records,
)
from sampling.plan.request import PlanRequest
from sampling.profile.identity import fingerprints, refuse_changed, sha256_as_read
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, LaunchCost
from sampling.strata.draw import Draw
from sampling.strata.strata import least_sampled_ns


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
        return speedup_ratio(self.total_duration_ns, float(self.cost_ns.sum()))

    @property
    def layers(self) -> dict[int, tuple[PlannedLayer, ...]]:
        """The layers that were drawn of each stratum that is of layers, in id order."""
        layers = dict[int, tuple[PlannedLayer, ...]]()
        if isinstance(design := self.design, UnitDesign) and self.draw is not None:
            launches = np.bincount(design.unit_of.unit)
            for unit in design.drawn_units(self.draw).tolist():
                if unit < len(design.unit_of.places):
                    name, step, number = design.unit_of.places[unit]
                    stratum = int(design.units.picks.stratum[unit])
                    layer = PlannedLayer(step, number, int(launches[unit]), name)
                    layers[stratum] = (*layers.get(stratum, ()), layer)
        return layers

    @property
    def error(self) -> float:
        """The sampling error |t* - t_est| / t* of these launches; 0 where the total is 0."""
        return abs(self.total_duration_ns - self.estimate_ns) / max(self.total_duration_ns, 1)


def drawn_plan(counts: DurationCounts, design: Design, seed: int) -> Plan:
    """Draw from a design; the same seed draws the same launches, and picks do not depend on it."""
    return Plan(
        design=design,
        total_duration_ns=counts.total_duration_ns,
        floor_ns=float(least_sampled_ns(counts, design.strata.least_samples).sum()),
        seed=seed,
        **design.select(seed)._asdict(),
    )


def locate(profile: Profile, plan: Plan, progress: Progress | None = None) -> DrawnLaunches:
    """Find the plan's launches in the profile: ids, ordinals, occurrences."""
    ids = plan.design.ids(plan.draw)
    if ids is not None:
        return find_launches_by_id(profile, ids, progress)
    assert plan.draw is not None
    return find_drawn_launches(profile, plan.design.counts, plan.draw, progress)


def find_planned_launches(
    draft: Draft, plan: Plan, progress: Progress | None = None
) -> tuple[PlannedLaunch, ...]:
    """Return the plan's launches, found in a second pass over the profile, in the order of the draw.

    Raises ProfileError: one of its files was written again since the first pass.
    """
    refuse_changed(draft.profile.files)
    return planned_launches(draft.profile, plan, progress)


def planned_launches(
    profile: Profile, plan: Plan, progress: Progress | None = None
) -> tuple[PlannedLaunch, ...]:
    """Return the drawn launches with all that identifies them, in the order of the draw."""
    located = locate(profile, plan, progress)
    kernels = {code: profile.kernels.signature(code) for code in np.unique(located.signature).tolist()}
    names = {code: profile.kernels.names.full(kernel.name) for code, kernel in kernels.items()}
    columns = (located.id, located.sequence, located.ordinal, located.signature, located.occurrence)
    rows = zip(*(column.tolist() for column in (*columns, plan.weight, plan.duration_ns)), strict=True)
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


def planned_strata(plan: Plan, launches: Sequence[PlannedLaunch] = ()) -> Iterator[PlannedStratum]:
    """Yield the strata as a plan file lists them; launches are given in the order of the draw, or none."""
    design = plan.design
    strata, facts, layers = design.strata, design.stratum_facts(), plan.layers
    if isinstance(design, UnitDesign):
        samples = np.bincount(plan.stratum, minlength=len(strata))
        strata = replace(design.launch_strata, samples=samples)
    columns = strata.launches, strata.mean_ns, strata.std_ns, strata.samples, *facts[1:]
    ends = np.searchsorted(plan.stratum, np.arange(len(strata) + 1)).tolist()
    rows = zip(facts.key, *(column.tolist() for column in columns), pairwise(ends), strict=True)
    for number, row in enumerate(rows):
        key, size, mean_ns, std_ns, drawn, low_ns, high_ns, pooled, signatures, (start, stop) = row
        of_layers = int(design.strata.launches[number]) if number in layers else 0
        yield PlannedStratum(
            key=key,
            size=size,
            mean_ns=mean_ns,
            std_ns=std_ns,
            low_ns=low_ns,
            high_ns=high_ns,
            samples=drawn,
            pooled=pooled,
            signatures=signatures,
            launches=tuple(sorted(launches[start:stop], key=lambda launch: launch.id)),
            of_layers=of_layers,
            layers=layers.get(number, ()),
        )


def recorded_request(draft: Draft, plan: Plan) -> PlanRequest:
    """Return what a plan was asked, with what was found out meanwhile, by which it is made again.

    The kernel groups and whether they span devices, an epsilon that fits a budget, and how a script read the
    profile. Split decisions stand in the plan file itself.
    """
    request, profile, grouping = draft.request, draft.profile, draft.counts.grouping
    return structs.replace(
        request,
        seed=plan.seed,
        epsilon=plan.design.target.epsilon,
        group_by=grouping.by,
        pool_devices=bool(grouping.pool_devices),
        columns=request.columns or profile.named_columns,
        rank_regex=request.rank_regex or profile.rank_regex,
        partial=request.partial or profile.partial,
        keep_overlong=request.keep_overlong or profile.keep_overlong,
        profile_cycles=request.profile_cycles or profile.profile_cycles,
        overrides=None,
    )


def plan_document(draft: Draft, plan: Plan, launches: Sequence[PlannedLaunch]) -> PlanFile:
    """Return the plan as its file holds it; ``launches`` are all of it, from `find_planned_launches`.

    Raises ProfileError: a file of the profile was written again since it was read.
    """
    profile, counts = draft.profile, draft.counts
    files = (PlannedFile(file.path, sha256_as_read(file), file.launches) for file in profile.files)
    return PlanFile(
        profile=PlannedProfile(
            files=tuple(files),
            launches=counts.launches,
            total_duration_ns=counts.total_duration_ns,
            left_out=UNSET if counts.left_out is None else counts.left_out,
            in_cycles=profile.duration_unit != "ns" or UNSET,
            sequences=fingerprints(profile),
        ),
        options=recorded_request(draft, plan),
        findings=tuple(to_builtins(finding.record) for finding in draft.findings),
        strata=tuple(planned_strata(plan, launches)),
        overrides=override_records(draft.overrides),
    )
