"""`judge`: a plan's error on a profile."""

from __future__ import annotations

from typing import Any

from sampling.duration_counts import count_durations
from sampling.judge import judge_design
from sampling.plan_check import made_from, plan_error, planned_design
from sampling.plan_file import PlanFile, read_plan
from tui import facts
from tui.charts import quantities
from tui.diagnostics import CheckFailedError, note
from tui.engine import open_profile, progress_of
from tui.options import JudgeOptions
from tui.output import Answer, emit
from tui.plan_options import plan_selection

_OTHER_FILES = "the plan was made from other files; their launches were compared instead"
_SHARES = ("error", "error_mean", "error_p95", "error_max", "within_epsilon")


def run(options: JudgeOptions) -> None:
    """Read both, hold the plan against the profile, draw it anew."""
    plan = read_plan(options.plan)
    results = _results(plan, options)
    warnings = () if results["same_files"] else (_OTHER_FILES,)
    for text in warnings:
        note(text, quiet=options.quiet)
    emit(Answer("judge", results, lambda _: _text(results), warnings=warnings), options)
    if options.fail_above is not None and results["error"] > options.fail_above:
        raise CheckFailedError(f"the plan's error {results['error']:.6g} is above {options.fail_above:g}")


def _results(plan: PlanFile, options: JudgeOptions) -> dict[str, Any]:
    grouping, region = plan_selection(plan)
    with progress_of(options) as progress:
        profile = open_profile(options.profiles, progress)
        counts = count_durations(profile, grouping, region, progress)
        same_files = made_from(profile, plan)
        own = plan_error(profile, counts, plan)
        sampled_ns = sum(launch.duration_ns for launch in plan.drawn)
        design = planned_design(counts, plan)
        judgement = judge_design(counts, design, options.repeats, options.seed, progress)
    return {
        "profile": " ".join(options.profiles),
        "method": design.method,
        "same_files": same_files,
        "applicable": True,
        "reason": None,
        "strata": len(design.strata),
        "samples": len(plan.drawn),
        "speedup": own.total_ns / sampled_ns if sampled_ns else 1.0,
        "expected_speedup": design.speedup,
        "bound": design.bound,
        "group_bound": design.group_bound,
        "total_duration_ns": own.total_ns,
        "estimate_ns": own.estimate_ns,
        "error": own.error,
        "repeats": judgement.repeats,
        "error_mean": judgement.error_mean,
        "error_p95": judgement.error_p95,
        "error_max": judgement.error_max,
        "within_epsilon": judgement.within_epsilon,
    }


def _text(results: dict[str, Any]) -> str:
    error = {name: quantities.share(results[name]) for name in _SHARES}
    return (
        f"{results['method']}: {quantities.count(results['samples'])} launches in "
        f"{facts.strata_text(results['strata'])}, {quantities.ratio(results['speedup'])}\n"
        f"this plan estimates {quantities.duration(results['estimate_ns'])} of "
        f"{quantities.duration(results['total_duration_ns'])}: {error['error']} off\n"
        f"{results['repeats']} draws of it: mean error {error['error_mean']}, 95th percentile "
        f"{error['error_p95']}, largest {error['error_max']},\n"
        f"{error['within_epsilon']} of them within epsilon"
    )
