"""What `sample` asks of a plan beside its design: the draw, how wrong such draws are, its launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sampling.plan.judge import Judgement, judge_design
from sampling.plan.plan import Plan, drawn_plan, find_planned_launches
from sampling.plan.plan_file import PlannedLaunch
from sampling.plan.study import Study
from tui.engine.studies import progress_of
from tui.options.choices import OutputFormat, PlanList
from tui.options.commands import SampleOptions

_ROW_FORMATS = {OutputFormat.CSV, OutputFormat.JSONL}


@dataclass(frozen=True, slots=True, eq=False)
class SampledPlan:
    """A plan, drawn.

    Attributes
    ----------
    judgement : None where it is not asked for.
    launches : empty where single launches are not wanted.
    """

    plan: Plan
    judgement: Judgement | None
    launches: Sequence[PlannedLaunch]


def shows_rows(options: SampleOptions) -> bool:
    """Return whether the results are a row a drawn launch."""
    return options.list is None and options.format in _ROW_FORMATS


def shows_figures(options: SampleOptions) -> bool:
    """Return whether the results are the plan's figures."""
    return options.list is None and not shows_rows(options)


def sampled_plan(study: Study, options: SampleOptions) -> SampledPlan:
    """Draw the plan of a study, and find out what the options ask to be said of it."""
    plan = drawn_plan(study.counts, study.design, options.seed)
    judgement = None
    launches: tuple[PlannedLaunch, ...] = ()
    with progress_of(options) as progress:
        if options.judge and options.list is None:
            judgement = judge_design(study.counts, plan.design, options.judge, options.seed, progress)
        # Finding single launches is a second pass over the profile.
        if options.output is not None or options.list is PlanList.LAUNCHES or shows_rows(options):
            launches = find_planned_launches(study, plan, progress)
    return SampledPlan(plan, judgement, launches)
