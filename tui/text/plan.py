"""A plan in words and figures: what `sample` prints, and what the app's view of the plan copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sampling.features.metric_names import INSTRUCTIONS
from sampling.plan.drawn_clusters import DrawnClusters
from sampling.plan.judge import Judgement
from sampling.plan.picked_design import PickedDesign
from sampling.plan.plan import Plan
from sampling.plan.study import Study
from tui.charts import quantities
from tui.engine.budgets import PlanCosts
from tui.options.flags import with_flags
from tui.output.writer import Answer, Canvas
from tui.terminal.printable import wrapped
from tui.text import facts
from tui.text.binding import binding_text, cost_rows, hours_lines
from tui.text.promise import (
    interval_lines,
    known_sentence,
    pooled_row,
    pooled_words,
    promise_words,
    simulate_sentence,
)

_NOTHING_ASKED = PlanCosts()
# What a metric is called by those who do not know its tool.
_COSTS = dict.fromkeys(INSTRUCTIONS, "instructions")


def plan_answer(
    study: Study,
    plan: Plan,
    judgement: Judgement | None,
    rows: Sequence[dict[str, Any]],
    costs: PlanCosts,
    *,
    details: bool,
    following: str,
) -> Answer:
    """Return what `sample` says in every form; the drawn launches are the rows.

    Parameters
    ----------
    details : whether people are told every figure, not only the answer.
    following : the command to type next.
    """
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

    def said(canvas: Canvas) -> str:
        if details:
            return plan_text(study, plan, canvas, costs, judgement)
        return plan_sentences(study, plan, canvas, costs)

    return Answer(
        "sample",
        results,
        lambda canvas: f"{said(canvas)}\nNext: {following}",
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


def plan_sentences(study: Study, plan: Plan, canvas: Canvas, costs: PlanCosts = _NOTHING_ASKED) -> str:
    """Return what to simulate, how well the whole run is known then, and what to watch out for."""
    lines = [
        simulate_sentence(plan.design, study.counts.launches, plan.total_duration_ns, plan),
        known_sentence(plan.design),
        *_cost_lines(plan),
        *hours_lines(plan.design, costs),
        *_binding_lines(plan, costs),
    ]
    lines = [part for line in lines for part in wrapped(line, canvas.width, "  ")]
    return "\n".join([*lines, *facts.finding_lines(study, canvas)])


def plan_text(
    study: Study,
    plan: Plan,
    canvas: Canvas,
    costs: PlanCosts = _NOTHING_ASKED,
    judgement: Judgement | None = None,
) -> str:
    """Return the same, and below it every figure of the plan."""
    design = plan.design
    floor, estimate = map(quantities.duration, (plan.floor_ns, plan.estimate_ns))
    pooled = pooled_words(study)
    draw = f"this draw (seed {plan.seed})" if design.random else "the choice"
    strata, expected = facts.strata_text(design.strata_count), quantities.ratio(design.speedup)
    lines = [
        f"{design.method}: {strata}{_cost_words(plan)}, {expected} expected",
        f"a plan that visits every kernel group samples at least {floor} on average",
        *([pooled] if pooled is not None else []),
        facts.bounds_line(design, judgement if design.random else None),
        *interval_lines(design),
        f"{draw} estimates {estimate}, {quantities.share(plan.error)} off",
    ]
    figures = [part for line in "\n".join(lines).splitlines() for part in wrapped(line, canvas.width, "  ")]
    return "\n".join([plan_sentences(study, plan, canvas, costs), "", *figures])


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


def _binding_lines(plan: Plan, costs: PlanCosts) -> list[str]:
    """Return what binds and what is expected now; nothing where it was not asked for."""
    if costs.binding is None:
        return []
    text = binding_text(costs.binding, plan.design, plan.total_duration_ns, costs.slowdown)
    if costs.binding:
        text += f"; {quantities.ratio(costs.binding[0].speedup_before)} now"
    return [text]
