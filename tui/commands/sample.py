"""`sample`: the plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sampling.judge import Judgement, judge_design
from sampling.plan import PickedDesign, Plan, drawn_plan, locate
from sampling.plan_file import PlannedLaunch, plan_document, planned_launches
from sampling.splitting import Overrides
from sampling.study import Study
from tui import facts
from tui.charts import quantities
from tui.diagnostics import note
from tui.engine import overrides_of, progress_of, study_of
from tui.options import OutputFormat, SampleOptions
from tui.output import STDOUT, Answer, Canvas, emit, json_text, new_file, write_stdout
from tui.plan_options import plan_options

_ROW_FORMATS = {OutputFormat.CSV, OutputFormat.JSONL, OutputFormat.MARKDOWN}


def run(options: SampleOptions) -> None:
    """Read, plan, judge, write."""
    overrides = overrides_of(options.overrides)
    study = study_of(
        options.profiles,
        options,
        method=options.method,
        overrides=overrides,
        features=options.features,
        number_locale=options.number_locale,
    )
    plan = drawn_plan(study.counts, study.design, options.seed)
    for text in study.design.notes:
        note(text, quiet=options.quiet)
    judgement = None
    with progress_of(options) as progress:
        if options.judge:
            judgement = judge_design(study.counts, plan.design, options.judge, options.seed, progress)
        located = locate(study.profile, study.counts, plan, progress) if _is_listed(options) else None
    launches = () if located is None else planned_launches(study.profile, plan, located)
    if options.output is not None:
        _write_plan(options, study, plan, launches, overrides)
    emit(
        _answer(study, plan, judgement, launches), options, to_stderr=options.output == STDOUT, redirect=False
    )


def _is_listed(options: SampleOptions) -> bool:
    """Return whether single launches are wanted: finding them is a second pass over the profile."""
    return options.output is not None or options.format in _ROW_FORMATS


def _write_plan(
    options: SampleOptions,
    study: Study,
    plan: Plan,
    launches: tuple[PlannedLaunch, ...],
    overrides: Overrides | None,
) -> None:
    document = plan_document(
        study.profile,
        study.counts,
        plan,
        launches,
        options=plan_options(options, study.counts.grouping, plan.design.target),
        found=study.findings,
        overrides=overrides,
    )
    text = json_text(document) + "\n"
    if options.output == STDOUT:
        write_stdout(text)
        return
    with new_file(Path(str(options.output))) as path:
        path.write_text(text, encoding="utf-8")
    note(f"plan written to {options.output}", quiet=options.quiet)


def _answer(
    study: Study, plan: Plan, judgement: Judgement | None, launches: tuple[PlannedLaunch, ...]
) -> Answer:
    results = {
        "method": plan.design.method,
        "launches": study.counts.launches,
        "strata": plan.design.strata_count,
        "samples": plan.samples,
        "total_duration_ns": plan.total_duration_ns,
        "sampled_duration_ns": plan.sampled_duration_ns,
        "speedup": plan.speedup,
        "bound": plan.design.bound,
        "group_bound": plan.design.group_bound,
        "bound_with_noise": plan.design.bound_with_noise,
        "group_bound_with_noise": plan.design.group_bound_with_noise,
        "estimate_ns": plan.estimate_ns,
        "error": plan.error,
        "floor_ns": plan.floor_ns,
        "judged": facts.judged_row(judgement),
        "details": dict(plan.design.picks.details) if isinstance(plan.design, PickedDesign) else None,
    }
    return Answer(
        "sample",
        results,
        lambda canvas: _text(study, plan, judgement, canvas),
        rows=[_launch_row(launch) for launch in launches],
        warnings=(
            *(finding.code for finding in study.findings),
            *plan.design.notes,
            *(report.sentence for report in study.reports),
        ),
    )


def _launch_row(launch: PlannedLaunch) -> dict[str, Any]:
    row = asdict(launch)
    for name in ("grid", "block"):
        row[name] = None if row[name] is None else list(row[name])
    return row


def _text(study: Study, plan: Plan, judgement: Judgement | None, canvas: Canvas) -> str:
    design = plan.design
    samples, launches = map(quantities.count, (plan.samples, study.counts.launches))
    sampled, total, floor, estimate = map(
        quantities.duration,
        (plan.sampled_duration_ns, plan.total_duration_ns, plan.floor_ns, plan.estimate_ns),
    )
    speedup, expected = quantities.ratio(plan.speedup), quantities.ratio(design.speedup)
    draw = f"this draw (seed {plan.seed})" if design.random else "the choice"
    lines = [
        f"{design.method}: {samples} of {launches} launches in {facts.strata_text(design.strata_count)}",
        f"sampled time {sampled} of {total}: speedup {speedup}, {expected} expected",
        f"(a plan that visits every kernel group samples at least {floor} on average)",
        facts.bounds_line(design, judgement if design.random else None),
        f"{draw} estimates {estimate}, {quantities.share(plan.error)} off",
    ]
    if design.random:
        lines.append("The bounds cover the profile's own durations, not simulated cycles.")
    if study.findings:
        lines += ["", facts.findings_text(study, canvas)]
    return "\n".join(lines)
