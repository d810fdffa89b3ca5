"""What a plan leaves behind as a file."""

from __future__ import annotations

from pathlib import Path

from sampling.plan.plan import Plan, locate
from sampling.plan.plan_file import PlannedLaunch, plan_document, planned_launches
from sampling.plan.study import Study
from sampling.profile.file_state import refuse_changed
from sampling.progress import Progress
from sampling.splitting.groups import Overrides
from tui.engine.plan_options import plan_options
from tui.options.commands import SampleOptions
from tui.output.writer import json_text, new_file


def launches_of(study: Study, plan: Plan, progress: Progress | None = None) -> tuple[PlannedLaunch, ...]:
    """Find the plan's launches: a second pass over the profile.

    Raises
    ------
    ProfileError : one of its files was written anew since the first.
    """
    refuse_changed(study.profile)
    return planned_launches(study.profile, plan, locate(study.profile, study.counts, plan, progress))


def plan_json(
    options: SampleOptions,
    study: Study,
    plan: Plan,
    launches: tuple[PlannedLaunch, ...],
    overrides: Overrides | None,
) -> str:
    """Return the text of the plan file."""
    document = plan_document(
        study.profile,
        study.counts,
        plan,
        launches,
        options=plan_options(options, study.counts.grouping, plan.design.target),
        found=study.findings,
        overrides=overrides,
    )
    return json_text(document) + "\n"


def write_text(text: str, path: Path) -> None:
    """Write a file, whole or not at all."""
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
