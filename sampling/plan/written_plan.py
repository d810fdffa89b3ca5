"""A plan as the text of its file, see `sampling.plan.plan_file`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Any

import numpy as np

from sampling.json_text import json_rows_text
from sampling.plan.drawn_launches import DrawnLaunches
from sampling.plan.findings import Finding
from sampling.plan.overrides_file import overrides_document
from sampling.plan.plan import Plan, locate
from sampling.plan.plan_file import SCHEMA, PlannedLaunch
from sampling.plan.plan_options import PlanOptions
from sampling.plan.study import Study
from sampling.profile.file_state import refuse_changed, sha256_as_read
from sampling.profile.fingerprint import fingerprints
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Overrides

_launch_id = attrgetter("id")


def find_planned_launches(
    study: Study, plan: Plan, progress: Progress | None = None
) -> tuple[PlannedLaunch, ...]:
    """Return the plan's launches, found in a second pass over the profile, in the order of the draw.

    Raises
    ------
    ProfileError : one of its files was written again since the first pass.
    """
    refuse_changed(study.profile.files)
    return planned_launches(study.profile, plan, locate(study.profile, study.counts, plan, progress))


def planned_launches(profile: Profile, plan: Plan, located: DrawnLaunches) -> tuple[PlannedLaunch, ...]:
    """Return the drawn launches with all that identifies them, in the order of the draw."""
    codes = np.unique(located.signature).tolist()
    kernels = {code: profile.kernels.signature(code) for code in codes}
    names = {code: profile.kernels.names.full(kernels[code].name) for code in codes}
    columns = (
        located.id,
        located.sequence,
        located.ordinal,
        located.signature,
        located.occurrence,
        plan.weight,
        plan.duration_ns,
    )
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
            *(column.tolist() for column in columns), strict=True
        )
    )


def plan_text(
    study: Study, plan: Plan, launches: Sequence[PlannedLaunch], options: PlanOptions | None = None
) -> str:
    """Return the text of the plan file: a line a stratum, as there may be hundreds of thousands.

    Parameters
    ----------
    launches : all launches of the plan, from `find_planned_launches`.
    options : what is recorded of how the plan was made; None: as the study has it.

    Raises
    ------
    ProfileError : a file of the profile was written again since it was read.
    """
    document = plan_document(
        study.profile,
        study.counts,
        plan,
        launches,
        options=(options or options_of(study, plan)).as_json(),
        found=study.findings,
        overrides=study.choice.overrides,
        lazily=True,
    )
    return json_rows_text(document) + "\n"


def options_of(study: Study, plan: Plan) -> PlanOptions:
    """Return the options that made a plan."""
    return PlanOptions(
        method=plan.design.method,
        target=plan.design.target,
        grouping=study.counts.grouping,
        region=study.counts.region,
        seed=plan.seed,
        settings=study.choice.settings,
        features=study.choice.feature_paths,
        cost=study.choice.cost,
        columns=study.profile.named_columns,
    )


def plan_document(
    profile: Profile,
    counts: DurationCounts,
    plan: Plan,
    launches: Sequence[PlannedLaunch],
    *,
    options: Mapping[str, Any],
    found: Sequence[Finding] = (),
    overrides: Overrides | None = None,
    lazily: bool = False,
) -> dict[str, Any]:
    """Return the plan as the JSON document of a plan file; its strata lazily as an iterator, not a list."""
    strata = strata_rows(counts, plan, launches)
    return {
        "schema": SCHEMA,
        "kind": "plan",
        "profile": {
            "files": [
                {
                    "path": file.path,
                    "sha256": sha256_as_read(file),
                    "launches": file.launches,
                }
                for file in profile.files
            ],
            "launches": counts.launches,
            "total_duration_ns": counts.total_duration_ns,
            **({} if counts.left_out is None else {"left_out": asdict(counts.left_out)}),
            "sequences": [sequence.as_json() for sequence in fingerprints(profile)],
        },
        "options": dict(options),
        "findings": [finding.as_json() for finding in found],
        "strata": strata if lazily else list(strata),
        **overrides_document(overrides or {}),
    }


def strata_rows(
    counts: DurationCounts, plan: Plan, launches: Sequence[PlannedLaunch]
) -> Iterator[dict[str, Any]]:
    """Yield the strata as the plan file lists them; launches are given in the order of the draw."""
    bounds = np.searchsorted(plan.stratum, np.arange(plan.design.strata_count + 1)).tolist()
    for facts, first, stop in zip(plan.design.facts(counts), bounds[:-1], bounds[1:], strict=True):
        drawn = sorted(launches[first:stop], key=_launch_id)
        row = facts._asdict()
        pooled = {"pooled": True} if row.pop("pooled") else {}
        yield {**row, **pooled, "launches": [launch.as_json() for launch in drawn]}
