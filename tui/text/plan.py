"""A plan in words and figures: what `sample` prints, and what the app's view of the plan copies."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sampling.features.metric_names import INSTRUCTIONS
from sampling.plan.drawn_clusters import DrawnClusters
from sampling.plan.judge import Judgement
from sampling.plan.picked_design import PickedDesign
from sampling.plan.plan import Plan
from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.engine.budgets import PlanCosts
from tui.options.flags import with_flags
from tui.output.writer import Answer, Canvas
from tui.text import facts
from tui.text.binding import binding_text, cost_rows, hours_lines
from tui.text.promise import interval_lines, pooled_row, pooled_words, promise_words

_NOTHING_ASKED = PlanCosts()
# What a metric is called by those who do not know its tool.
_COSTS = dict.fromkeys(INSTRUCTIONS, "instructions")


def plan_answer(
    study: Study, plan: Plan, judgement: Judgement | None, rows: Sequence[dict[str, Any]], costs: PlanCosts
) -> Answer:
    """Return the plan's figures as `sample` gives them in every form; the drawn launches are the rows."""
    design = plan.design
    results = {
        "method": design.method,
        "launches": study.counts.launches,
        "strata": design.strata_count,
        "samples": plan.samples,
        "total_duration_ns": plan.total_duration_ns,
        "sampled_duration_ns": plan.sampled_duration_ns,
        "speedup": plan.speedup,
        "cost": _cost_row(plan),
        "bound": design.bound,
        "group_bound": design.group_bound,
        "bound_with_noise": design.bound_with_noise,
        "group_bound_with_noise": design.group_bound_with_noise,
        "promise": promise_words(design),
        "pooled": pooled_row(study),
        "expected_interval": design.expected_half_width,
        "calibrated": facts.calibrated_row(design),
        "estimate_ns": plan.estimate_ns,
        "error": plan.error,
        "floor_ns": plan.floor_ns,
        "judged": None if judgement is None else facts.judged_row(judgement),
        "epsilon": design.target.epsilon if design.random else None,
        **cost_rows(plan.total_duration_ns, costs),
        "details": dict(design.picks.details) if isinstance(design, PickedDesign | DrawnClusters) else None,
    }
    return Answer(
        "sample",
        results,
        lambda canvas: plan_text(study, plan, judgement, canvas, costs),
        rows=rows,
        warnings=plan_warnings(study, plan),
    )


def plan_warnings(study: Study, plan: Plan) -> tuple[str, ...]:
    """Return the warnings for scripts: findings, notes of the method, how feature files matched."""
    return (
        *(finding.code for finding in study.findings),
        *map(with_flags, plan.design.notes),
        *(with_flags(report.sentence) for report in study.reports),
    )


def plan_text(
    study: Study,
    plan: Plan,
    judgement: Judgement | None,
    canvas: Canvas,
    costs: PlanCosts = _NOTHING_ASKED,
) -> str:
    """Return the plan's figures and the findings as lines."""
    design = plan.design
    samples = quantities.count(plan.samples)
    launches = counted(study.counts.launches, "launch", "launches")
    sampled, total, floor, estimate = map(
        quantities.duration,
        (plan.sampled_duration_ns, plan.total_duration_ns, plan.floor_ns, plan.estimate_ns),
    )
    speedup, expected = quantities.ratio(plan.speedup), quantities.ratio(design.speedup)
    pooled = pooled_words(study)
    draw = f"this draw (seed {plan.seed})" if design.random else "the choice"
    first = f"{design.method}: {samples} of {launches} in {facts.strata_text(design.strata_count)}"
    lines = [
        first,
        f"sampled time {sampled} of {total}{_cost_words(plan)}: speedup {speedup}, {expected} expected",
        *_cost_lines(plan),
        f"(a plan that visits every kernel group samples at least {floor} on average)",
        *hours_lines(design, costs),
        *_binding_lines(plan, costs),
        *([pooled] if pooled is not None else []),
        facts.bounds_line(design, judgement if design.random else None),
        *interval_lines(design),
        f"{draw} estimates {estimate}, {quantities.share(plan.error)} off",
    ]
    lines = [part for line in "\n".join(lines).splitlines() for part in _wrapped(line, canvas.width)]
    if study.findings:
        lines += ["", facts.findings_text(study, canvas)]
    return "\n".join(lines)


def _cost_row(plan: Plan) -> dict[str, Any] | None:
    """Return the share of the launches' cost that the plan takes, and whether its speedup is by that."""
    if plan.cost_share is None:
        return None
    return {"metric": plan.cost_metric, "share": plan.cost_share, "decides": plan.cost_decides}


def _cost_words(plan: Plan) -> str:
    return f", {_share_of_cost(plan)}" if plan.cost_decides else ""


def _share_of_cost(plan: Plan) -> str:
    share = quantities.UNKNOWN if plan.cost_share is None else quantities.share(plan.cost_share)
    return f"{share} of all {_COSTS.get(str(plan.cost_metric), plan.cost_metric)}"


def _cost_lines(plan: Plan) -> list[str]:
    """Return the speedup that a simulator sees, where the one told is that of time on the GPU."""
    if not plan.cost_share or plan.cost_decides:
        return []
    speedup = quantities.ratio(1 / plan.cost_share)
    words = f"a simulator rather takes {_share_of_cost(plan)}: speedup {speedup}"
    return [f"{words} (--cost instructions plans by them)"]


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _binding_lines(plan: Plan, costs: PlanCosts) -> list[str]:
    """Return what binds and what is expected now; nothing where it was not asked for."""
    if costs.binding is None:
        return []
    text = binding_text(costs.binding, plan.design, plan.total_duration_ns, costs.slowdown)
    if costs.binding:
        text += f"; {quantities.ratio(costs.binding[0].speedup_before)} is expected now"
    return [text]
