"""A plan judged on a profile, as `judge` gives it in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sampling.plan.judge import PlanJudgement
from sampling.plan.plan_file import PlanFile
from sampling.text import counted
from tui.charts import quantities
from tui.options.plan import JudgeOptions
from tui.terminal.printable import wrapped
from tui.text import facts

# The order of the answer's fields; an unknown value is null.
_FIELDS = (
    *("profile", "method", "same_files", "aligned_by", "launches_differing", "applicable", "reason"),
    *("strata", "samples", "speedup", "expected_speedup", "bound", "group_bound"),
    *("total_duration_ns", "estimate_ns", "error"),
    *("repeats", "error_mean", "error_p95", "error_max", "within_epsilon"),
)
_SHOWN_BY = "`kernelpoint difference` shows the two kernel by kernel"
_SHARES = ("error", "error_mean", "error_p95", "error_max", "within_epsilon")


def judgement_results(plan: PlanFile, judged: PlanJudgement, options: JudgeOptions) -> dict[str, Any]:
    """Return the figures; strata, samples and bounds are those on the plan's own profile."""
    design, redraws = judged.design, judged.redraws
    results = dict.fromkeys(_FIELDS) | {
        "profile": " ".join(options.profiles),
        "method": plan.options.method,
        "same_files": judged.same_files,
        "aligned_by": "same files" if judged.same_files else options.align.value,
        "launches_differing": judged.launches_differing,
        "applicable": True,
        "strata": len(plan.strata),
        "samples": len(plan.drawn),
        "speedup": judged.speedup,
        "bound": None if design is None else design.bound,
        "group_bound": None if design is None else design.group_bound,
        "total_duration_ns": judged.total_ns,
        "estimate_ns": judged.estimate_ns,
        "error": judged.error,
    }
    if redraws is not None:
        results |= facts.judged_row(redraws) | {"expected_speedup": judged.expected_speedup}
    return results


def judgement_warnings(found: PlanJudgement) -> Iterator[str]:
    """Yield what to know of a judgement on another recording."""
    if found.same_files:
        if found.why_not_redrawn is not None:
            yield f"only the plan's own launches are judged: {found.why_not_redrawn}"
        return
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


def _comparison(found: PlanJudgement) -> str:
    differing = found.launches_differing
    if differing == 0:
        return "all launches of the two have the same name, grid and block in the same order"
    if differing == 1:
        return (
            f"1 launch has another name, grid or block here, and was matched by its order alone; {_SHOWN_BY}"
        )
    many = "some" if differing is None else quantities.count(differing)
    matched = "and were matched by their order alone"
    return f"{many} launches have another name, grid or block here, {matched}; {_SHOWN_BY}"


def judgement_text(results: dict[str, Any], width: int, *, details: bool) -> str:
    """Return in words how far off the plan is, how far others like it, and what to type next."""
    share = {name: quantities.share(results[name]) for name in _SHARES if results[name] is not None}
    samples = counted(results["samples"], "launch", "launches")
    estimate, total = map(quantities.duration, (results["estimate_ns"], results["total_duration_ns"]))
    lines = [
        f"This plan is {share['error']} off: its {samples} stand for {estimate}, and the profile has {total}."
    ]
    if results["within_epsilon"] is not None:
        mean, most, times = share["error_mean"], share["error_max"], quantities.count(results["repeats"])
        lines.append(
            f"Drawn {times} times anew, such plans are {mean} off in the mean, "
            f"{most} at worst; {share['within_epsilon']} of them are within epsilon."
            if results["repeats"] > 1
            else f"Drawn anew, such a plan is {mean} off."
        )
    if not results["same_files"] and results["bound"] is not None:
        lines.append(
            f"The plan's bound, {quantities.share(results['bound'])}, is that on its own profile; none "
            "covers this one."
        )
    if details:
        strata, speedup = facts.strata_text(results["strata"]), quantities.ratio(results["speedup"])
        lines.append(
            f"{results['method']}: {strata}, {speedup}"
            + (f"; 95th percentile of the draws {share['error_p95']}" if "error_p95" in share else "")
        )
    return "\n".join(part for line in lines for part in wrapped(line, width))
