"""`judge`: a plan's error on the profile it was made from, or on another recording of its program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sampling.plan.design import Design
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.other_recording.other_recording import Elsewhere, Repetition, judge_elsewhere
from sampling.plan.other_recording.plan_check import (
    PlanError,
    is_random,
    made_from,
    plan_error,
    planned_design,
)
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.plan.speedup import speedup_of
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import count_durations
from tui.charts import quantities
from tui.engine.plan_options import plan_selection
from tui.engine.studies import open_profile, progress_of
from tui.options.choices import AlignBy
from tui.options.commands import JudgeOptions
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import CheckFailedError, note
from tui.text import facts

# In this order; what is not known is null.
_FIELDS = (
    *("profile", "method", "same_files", "aligned_by", "launches_differing", "applicable", "reason"),
    *("strata", "samples", "speedup", "expected_speedup", "bound", "group_bound"),
    *("total_duration_ns", "estimate_ns", "error"),
    *("repeats", "error_mean", "error_p95", "error_max", "within_epsilon"),
)
_SHARES = ("error", "error_mean", "error_p95", "error_max", "within_epsilon")


def run(options: JudgeOptions) -> None:
    """Read both, hold the plan against the profile, draw it anew."""
    plan = read_plan(options.plan)
    results, warnings = _judged(plan, options)
    for text in warnings:
        note(text, quiet=options.quiet)
    emit(Answer("judge", results, lambda _: _text(results), warnings=warnings), options)
    if options.fail_above is not None and results["error"] > options.fail_above:
        raise CheckFailedError(f"the plan's error {results['error']:.6g} is above {options.fail_above:g}")


def _judged(plan: PlanFile, options: JudgeOptions) -> tuple[dict[str, Any], tuple[str, ...]]:
    with progress_of(options) as progress:
        profile = open_profile(options.profiles, progress)
        if made_from(profile, plan):
            return _on_its_own_profile(plan, profile, options, progress), ()
        found = judge_elsewhere(
            plan,
            plan_selection(plan),
            profile,
            Repetition(options.repeats, options.seed),
            names_may_differ=options.align is AlignBy.ORDER,
            progress=progress,
        )
    return _elsewhere(plan, found, options), tuple(_warnings(found))


def _on_its_own_profile(
    plan: PlanFile, profile: Profile, options: JudgeOptions, progress: Progress
) -> dict[str, Any]:
    counts = count_durations(profile, *plan_selection(plan), progress)
    own = plan_error(profile, counts, plan)
    results = {
        "same_files": True,
        "aligned_by": "same files",
        "launches_differing": 0,
        **_error_row(own, sum(launch.duration_ns for launch in plan.drawn)),
    }
    if not is_random(plan):
        return {**_plan_row(plan, None, options), **results, **_picked_row(plan, own, results["speedup"])}
    design = planned_design(counts, plan)
    judgement = judge_design(counts, design, options.repeats, options.seed, progress)
    return {**_plan_row(plan, design, options), **results, **_redrawn_row(design.speedup, judgement)}


def _elsewhere(plan: PlanFile, found: Elsewhere, options: JudgeOptions) -> dict[str, Any]:
    results = {
        **_plan_row(plan, found.design, options),
        "same_files": False,
        "aligned_by": options.align.value,
        "launches_differing": None if found.alignment is None else found.alignment.launches_differing,
        **_error_row(found.error, found.sampled_duration_ns),
    }
    if found.design is None:
        return {**results, **_picked_row(plan, found.error, results["speedup"])}
    if found.redraws is None:
        return results
    return {**results, **_redrawn_row(found.redraws.expected_speedup, found.redraws.judgement)}


def _plan_row(plan: PlanFile, design: Design | None, options: JudgeOptions) -> dict[str, Any]:
    """Return what holds of the plan wherever it is used; the bounds are those on its own profile."""
    return dict.fromkeys(_FIELDS) | {
        "profile": " ".join(options.profiles),
        "method": plan.options["method"],
        "applicable": True,
        "reason": None,
        "strata": len(plan.strata),
        "samples": len(plan.drawn),
        "bound": None if design is None else design.bound,
        "group_bound": None if design is None else design.group_bound,
    }


def _error_row(own: PlanError, sampled_ns: int) -> dict[str, Any]:
    return {
        "speedup": speedup_of(own.total_ns, sampled_ns),
        "total_duration_ns": own.total_ns,
        "estimate_ns": own.estimate_ns,
        "error": own.error,
    }


def _redrawn_row(expected_speedup: float | None, judgement: Judgement) -> dict[str, Any]:
    """Return the figures of plans drawn like this one."""
    return {
        "expected_speedup": expected_speedup,
        "repeats": judgement.repeats,
        "error_mean": judgement.error_mean,
        "error_p95": judgement.error_p95,
        "error_max": judgement.error_max,
        "within_epsilon": judgement.within_epsilon,
    }


def _picked_row(plan: PlanFile, own: PlanError, speedup: float | None) -> dict[str, Any]:
    """Return the figures of picks as `compare` and `sample` have them: one draw, which does not vary."""
    judgement = Judgement(np.array([own.error]), plan.options["epsilon"], random=False)
    return _redrawn_row(speedup, judgement)


def _warnings(found: Elsewhere) -> Iterator[str]:
    """Yield what to know of a judgement on another recording."""
    yield f"the plan was made from other files; {_comparison(found)}"
    if found.alignment is not None and found.alignment.renumbered:
        there_process, there_device, process, device = found.alignment.renumbered[0]
        more = len(found.alignment.renumbered) - 1
        yield (
            f"process {there_process} device {there_device} of the plan is process {process} device {device} "
            f"here{f', and {more} more have other numbers' if more else ''}; they were matched in their order"
        )
    if found.why_not_redrawn is not None:
        yield f"only the plan's own launches are judged: {found.why_not_redrawn}"


def _comparison(found: Elsewhere) -> str:
    if found.alignment is None:
        return "it does not list their launches, so only those it draws were compared"
    differing = found.alignment.launches_differing
    if differing == 0:
        return "all launches of the two have the same name, grid and block in the same order"
    if differing == 1:
        return "1 launch has another name, grid or block here, and was matched by its order alone"
    many = "some" if differing is None else quantities.count(differing)
    return f"{many} launches have another name, grid or block here, and were matched by their order alone"


def _text(results: dict[str, Any]) -> str:
    share = {name: quantities.share(results[name]) for name in _SHARES if results[name] is not None}
    samples = quantities.counted(results["samples"], "launch", "launches")
    strata = facts.strata_text(results["strata"])
    estimate, total = map(quantities.duration, (results["estimate_ns"], results["total_duration_ns"]))
    text = (
        f"{results['method']}: {samples} in {strata}, {quantities.ratio(results['speedup'])}\n"
        f"this plan estimates {estimate} of {total}: {share['error']} off"
    )
    if results["within_epsilon"] is not None:
        text += (
            f"\n{facts.draws_text(results['repeats'])} of it: mean error {share['error_mean']}, "
            f"95th percentile {share['error_p95']}, largest {share['error_max']},\n"
            f"{share['within_epsilon']}{' of them' if results['repeats'] > 1 else ''} within epsilon"
        )
    if not results["same_files"] and results["bound"] is not None:
        text += (
            f"\nThe plan's bound, {quantities.share(results['bound'])}, is that on its own profile; none "
            "covers this one."
        )
    return text
