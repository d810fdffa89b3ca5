"""A plan in words and figures: what it costs, promises and assumes, what would make it cheaper; a summary."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from sampling.features.metric_names import INSTRUCTIONS
from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.plan.design import WHOLE_WORKLOAD_KEY, Design, speedup_of
from sampling.plan.judge import Judgement
from sampling.plan.nearby import WORTH_TELLING, Relaxation, SimulationHours, what_limits
from sampling.plan.nearby import hours as machine_hours
from sampling.plan.plan import Plan, planned_strata
from sampling.plan.plan_file import PlannedLaunch, PlannedStratum
from sampling.plan.study import Study
from sampling.profile.profile import RecordingFacts
from sampling.reduction.duration_counts import LaunchCost
from sampling.reduction.plan_groups import is_pool_key
from sampling.strata.draw import DRAWS
from sampling.strata.strata import OF_SEVERAL_SIGNATURES
from sampling.text import counted
from tui.charts.quantities import UNKNOWN, count, duration, duration_range, hours, ratio, share
from tui.engine.planning import PlanCosts
from tui.options.choices import PlanList
from tui.options.command_line import (
    PLAN_NAME,
    command_line,
    flags_of_parameters,
    free_name,
    options_of,
    with_flags,
)
from tui.options.look import TreeOptions
from tui.options.plan import CompareOptions, SampleOptions
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions
from tui.output.blocks import Block, CommandLine, Listing, Tone
from tui.output.writer import Answer, named
from tui.terminal.printable import Column
from tui.text import profile as profile_words
from tui.text.groups import devices_named, group_row, kernel_labels, places_of, short_group_listing
from tui.text.labels import key_parts, label_kernels, label_rows
from tui.text.profile import finding_sentences

_NOTHING_ASKED = PlanCosts()
_PER_CENT_MORE = 100 * OF_SEVERAL_SIGNATURES


# What it promises.


def verdict(design: Design) -> tuple[str, Tone]:
    """Return whether the plan's promise is within the epsilon asked for, in a word, and the word's tone."""
    if design.promised_error is None:
        return "no bound", Tone.WARNING
    return ("met", Tone.GOOD) if design.promised_error <= design.target.epsilon else ("not met", Tone.BAD)


def sure_words(confidence: float) -> str:
    """Return a confidence as people say it."""
    return f"{100 * confidence:.4g} % sure"


def usual_target(*, is_amd: bool) -> str:
    """Return what a plan is exported for: Accel-Sim, which runs traces of NVIDIA's GPUs, or by ids alone.

    No simulator of AMD's GPUs takes chosen launches: that part of MGPUSim runs whole programs.
    """
    return "csv" if is_amd else "accel-sim"


def export_command(plan: str, folder: str, target: str, caches: str | None = None) -> str:
    """Return the command that hands a plan to a simulator."""
    traces = "" if target == "csv" else " --traces DIR"
    filled = "" if caches is None else f" --caches {caches}"
    return f"kernelpoint export {shlex.quote(plan)} --to {target}{traces}{filled} -o {free_name(folder)}"


def simulate_sentence(design: Design, launches: int, plan: Plan | None = None) -> str:
    """Return what is simulated of the whole run, and how much less that is expected to be.

    What is said elsewhere, and offered as faster, is expected too. What a draw takes is said where that is
    not much the same.
    """
    whole, cost = counted(launches, "launch"), design.objective_cost
    if design.samples == launches:
        return f"Simulate all of {whole}: none stands for another."
    what = "GPU time" if cost is None else f"to simulate by {_cost_name(cost)}"
    less = f": {ratio(design.speedup)} less {what}" if design.speedup else ""
    time = f"{duration(design.sampled_duration_ns)} of {duration(design.total_duration_ns)}"
    drawn_ns = design.sampled_duration_ns if plan is None else plan.sampled_duration_ns
    if abs(drawn_ns - design.sampled_duration_ns) > WORTH_TELLING * design.sampled_duration_ns:
        time += f"; this draw takes {duration(drawn_ns)}"
    return f"Simulate {count(design.samples)} of {whole}{less} ({time})."


def known_sentence(design: Design, launches: int, facts: RecordingFacts) -> str:
    """Return how well the whole run is known then, what that assumes, and whether it was asked for.

    Of a recording that lacks launches only those that it has are known.
    """
    target, sure = design.target, sure_words(design.target.confidence)
    cycles = "The recorded launches' cycles" if facts.lacks_launches else "The whole run's cycles"
    if design.samples == launches:
        left = "nothing stands for what is missing" if facts.lacks_launches else "nothing is estimated"
        return f"{cycles} are then their sum: {left}."
    if not design.random:
        return "How far off the whole run may then be is not known: these launches are not drawn at random."
    if design.promised_error is None:
        return "How far off the whole run may then be is not known: its launches take no time in the profile."
    within = f"{share(design.promised_error)} ({sure})"
    if design.promised_error > target.epsilon:
        within += f", more than the {100 * target.epsilon:.4g} % asked for"
    assumed = f"cycles per ns differ by at most {100 * target.noise_floor:.4g} % within a stratum"
    if design.has_mixed_strata:
        assumed += f", {_PER_CENT_MORE:.4g} % more where it holds several grids,"
    if target.kernel_spread:
        assumed += f" and {100 * target.kernel_spread:.4g} % between kernels"
    return f"{cycles} are then known within {within}, if {assumed.rstrip(',')}; `estimate` checks that."


def promise_words(design: Design) -> str:
    """Return the promise as the contract has it: its bound, its confidence and what is assumed."""
    if not design.random:
        return "nothing: the launches are not drawn at random"
    if design.promised_error is None:
        return "nothing: the launches take no time in the profile"
    within = f"within {share(design.promised_error)} at confidence {share(design.target.confidence)}"
    return f"the simulated total {within}, if {assumed_words(design)}"


def assumed_words(design: Design) -> str:
    """Return how cycles per nanosecond are declared to vary."""
    target = design.target
    words = f"cycles per ns vary by at most {share(target.noise_floor)} within a stratum"
    words += f", {_PER_CENT_MORE:.4g} % more where it holds several grids," if design.has_mixed_strata else ""
    words += f" and {share(target.kernel_spread)} between kernels" if target.kernel_spread else ""
    return words.rstrip(",")


def bound_sentence(design: Design) -> str:
    """Return the bounds that stand beside the promise."""
    if design.bound is None:
        return "no bound: the launches are not drawn at random"
    text = f"profile's own durations: {share(design.bound)} of the total"
    if design.group_bound is not None:
        text += f", {share(design.group_bound)} of any kernel group's"
        text += " that is not pooled" if design.groups is not None and design.groups.is_pool.any() else ""
    if design.group_bound_with_noise is not None:
        text += f" ({share(design.group_bound_with_noise)} simulated)"
    return text


def why_so_wide(design: Design) -> Iterator[str]:
    """Yield the two errors of which the larger is promised, where they differ as printed, and why they do."""
    if design.promised_error is None:
        return
    sure = f"{100 * design.target.confidence:.4g} %"
    drawn, printed = share(design.bound_with_noise), share(design.expected_half_width)
    if drawn != printed:
        why = "the fewer strata are simulated twice, the less is seen of how cycles vary, and the wider it is"
        if design.promised_error == design.bound_with_noise:
            why = "what is drawn also misses by how durations differ, which results are corrected for"
        yield f"{sure} of such draws are within {drawn}, and `estimate` will print {printed}: {why}"


def pooled_row(study: Study) -> dict[str, Any]:
    """Return how many kernel groups are pooled, and their share of the time, as the contract has it."""
    of = study.groups
    return {"groups": int(of.pooled.sum()), "share": float(of.share[of.pooled].sum())}


# What it costs, and what would be cheaper.


def cost_rows(total_ns: int, costs: PlanCosts) -> dict[str, Any]:
    """Return what is said of a plan beside its figures, null where it was not asked for.

    `binding` are the options, each relaxed by itself.
    """
    taken, slowdown = costs.hours, costs.slowdown
    binding = (
        None
        if costs.binding is None
        else [
            {"option": step.option, "from": step.before, "to": step.after}
            | named(step, "speedup_before", "speedup", "bound")
            | {"machine_hours": slowdown and machine_hours(total_ns / step.speedup, slowdown)}
            for step in costs.binding
        ]
    )
    return {
        "machine_hours": taken and taken.drawn,
        "longest_launch_hours": taken and taken.longest_launch,
        "binding": binding,
    }


def hours_lines(design: Design, costs: PlanCosts) -> Iterator[str]:
    """Yield the epsilon that a budget led to, and what the plan takes at a slowdown."""
    if costs.budget is not None:
        epsilon = f"{design.target.epsilon:g}"
        yield f"epsilon {epsilon}: the smallest that fits {costs.budget.written} of simulation"
    if (taken := costs.hours) is not None:
        yield (
            f"simulated {costs.slowdown:g} times slower: {hours(taken.drawn)} of one machine, "
            f"{hours(taken.expected)} expected; the longest launch takes {hours(taken.longest_launch)}"
        )


def hours_forms(taken: SimulationHours | None) -> tuple[str, ...]:
    """Return what goes behind an expected speedup where a slowdown is known, the longest wording first."""
    if taken is None:
        return ("",)
    expected = hours(taken.expected)
    return f", {expected} of one machine, the longest launch {hours(taken.longest_launch)}", f", {expected}"


def binding_text(found: Sequence[Relaxation], design: Design, total_ns: int, slowdown: float | None) -> str:
    """Return which option to type for which speedup, the largest first."""
    ways = []
    for step in found:
        flag = flags_of_parameters()[step.option]
        way = f"without {flag}" if step.after is False else f"{flag} {value_text(step.after)}"
        taken = "" if slowdown is None else f", {hours(machine_hours(total_ns / step.speedup, slowdown))}"
        ways.append(f"{way} ({offered(step)}{taken})")
    return f"Faster: {', '.join(ways)}" if ways else why_none(design)


def binding_forms(found: Sequence[Relaxation], design: Design) -> list[str]:
    """Return what binds in a line, the longest wording first: all options, or the first few."""
    if not found:
        return [why_none(design), "Faster if: nothing"]
    ways = [f"{option_label(each)} {value_text(each.after)} {offered(each)}" for each in found]
    return [f"Faster if: {', '.join(ways[:number])}" for number in range(len(ways), 0, -1)]


def offered(step: Relaxation) -> str:
    """Return the speedup that is offered, and the error that it comes with."""
    return ratio(step.speedup) + ("" if step.bound is None else f" at {share(step.bound)}")


def why_none(design: Design) -> str:
    """Return why no option binds: what takes the time that is simulated."""
    if not design.random:
        return f"Faster: no option, for nothing is asked of {design.method}"
    if not method_named(design.method).draws_at_random:
        return f"What would be faster is not known, for {design.method} goes by features of single launches"
    none = "Faster: by no single option"
    if design.objective_cost is None and (limit := what_limits(design)) is not None:
        some = "" if limit.simulated == limit.launches else f", and {count(limit.simulated)} are simulated"
        held = f"{counted(limit.launches, 'launch holds', 'launches hold')} {share(limit.share)} of the time"
        return f"{none}: {held}{some}: no plan gains more than {ratio(limit.speedup)}"
    least = speedup_of(design.total_duration_ns, float(design.strata.mean_ns.sum()))
    if design.objective_cost is None and least and least < 2 * (design.speedup or 0):
        strata = f"one launch of each of {counted(design.strata_count, 'stratum')} is the least"
        return f"{none}: {strata}: no plan of them gains more than {ratio(least)}"
    return f"{none}; none, one step looser, gains 5 %"


def value_text(value: float | str) -> str:
    """Return an option's value as it is typed, or whether a flag is given."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def option_label(step: Relaxation) -> str:
    """Return the option as the form of options calls it."""
    return flags_of_parameters()[step.option].removeprefix("--")


def binding_columns(found: Sequence[Relaxation], total_ns: int, slowdown: float | None) -> list[Column]:
    """Return the options that bind as a table."""
    columns = [
        Column("option", [option_label(each) for each in found], to_right=False),
        Column("now", [value_text(each.before) for each in found]),
        Column("a step looser", [value_text(each.after) for each in found]),
        Column("error", [share(each.bound) for each in found]),
        Column("speedup", [ratio(each.speedup) for each in found]),
        Column("instead of", [ratio(each.speedup_before) for each in found]),
    ]
    if slowdown is not None:
        taken = [hours(machine_hours(total_ns / each.speedup, slowdown)) for each in found]
        columns.append(Column("one machine", taken))
    return columns


# The whole plan.


def design_row(study: Study) -> dict[str, Any]:
    """Return the figures of the design: what a plan costs and promises."""
    design = study.design
    return {
        "method": design.method,
        **named(design.target, "epsilon", "confidence"),
        "strata": design.strata_count,
        **named(design, "samples", "sampled_duration_ns", "speedup"),
        **named(design, "promised_error", "bound", "group_bound", "bound_with_noise"),
    }


def judged_row(judgement: Judgement | None) -> dict[str, Any]:
    """Return the errors of repeated draws as the contract's `judged`; null where none were made."""
    return named(judgement, "repeats", "error_mean", "error_p95", "error_max", "within_epsilon")


def plan_answer(
    study: Study,
    plan: Plan,
    judgement: Judgement | None,
    launches: Sequence[PlannedLaunch],
    costs: PlanCosts,
    *,
    details: bool,
    following: str,
) -> Answer:
    """Return what `sample` says in every form; the launches are the rows, and `following` is typed next."""
    design, cost = plan.design, plan.cost
    calibrated = {
        "draws": DRAWS,
        "within_epsilon": design.share_within_epsilon,
        "simulated_within_epsilon": design.simulated_share_within_epsilon,
    }
    results = {
        "method": design.method,
        "launches": study.counts.launches,
        "strata": design.strata_count,
        **named(plan, "samples", "total_duration_ns", "sampled_duration_ns", "speedup"),
        "expected_speedup": design.speedup,
        "cost": cost and {"metric": cost.metric, "share": plan.cost_share, "decides": cost.is_objective},
        **named(design, "promised_error", "bound", "group_bound", "bound_with_noise"),
        **named(design, "group_bound_with_noise"),
        "promise": promise_words(design),
        "pooled": pooled_row(study),
        "expected_interval": design.expected_half_width,
        "calibrated": None if design.share_within_epsilon is None else calibrated,
        **named(plan, "estimate_ns", "error", "floor_ns"),
        "judged": judgement and judged_row(judgement),
        "epsilon": design.target.epsilon if design.random else None,
        **cost_rows(plan.total_duration_ns, costs),
        "details": design.picks and dict(design.picks.details),
    }
    return Answer(
        "sample",
        results,
        rows=launch_rows(launches),
        blocks=lambda _: (
            *plan_blocks(study, plan, costs, judgement, details=details),
            CommandLine(following),
        ),
        warnings=_warnings(study, plan),
    )


def _warnings(study: Study, plan: Plan) -> tuple[str, ...]:
    """Return the warnings for scripts: findings, notes of the method, how feature files matched."""
    engine = (*plan.design.notes, *(report.sentence for report in study.reports))
    return (*(finding.code for finding in study.findings), *map(with_flags, engine))


def plan_blocks(
    study: Study,
    plan: Plan,
    costs: PlanCosts = _NOTHING_ASKED,
    judgement: Judgement | None = None,
    *,
    details: bool,
) -> Iterator[Block]:
    """Yield what to simulate, how well the run is known then, what to watch out for; then every figure."""
    design = plan.design
    yield simulate_sentence(design, study.counts.launches, plan)
    yield known_sentence(design, study.counts.launches, study.profile.facts)
    if plan.cost is not None and plan.cost_share and not plan.cost.is_objective:
        # A simulator sees another speedup than that of time on the GPU.
        words, speedup = (
            f"A simulator rather takes {_share_of_cost(plan, plan.cost)}",
            ratio(1 / plan.cost_share),
        )
        offer = " (--cost instructions plans by them)" if design.method == DEFAULT_METHOD else ""
        yield f"{words}: speedup {speedup}{offer}."
    yield from hours_lines(design, costs)
    if costs.binding is not None:
        yield binding_text(costs.binding, design, plan.total_duration_ns, costs.slowdown)
    yield from finding_sentences(study)
    yield from ("", *detail_sentences(study, plan, judgement)) if details else ()


def detail_sentences(study: Study, plan: Plan, judgement: Judgement | None) -> Iterator[str]:
    """Yield every figure of a plan."""
    design, pooled = plan.design, pooled_row(study)
    cost = "" if plan.objective_cost is None else f", {_share_of_cost(plan, plan.objective_cost)}"
    strata = counted(design.strata_count, "stratum")
    yield f"{design.method}: {strata}{cost}, {counted(plan.samples, 'launch')} drawn"
    if pooled["groups"]:
        few = f"{pooled['groups']} of {counted(len(study.counts.groups), 'kernel group')}"
        yield f"{few} pooled, {share(pooled['share'])} of the time: they have no bound of their own"
    yield bound_sentence(design)
    if judgement is not None and design.random:
        mean, p95 = share(judgement.error_mean), share(judgement.error_p95)
        yield f"{counted(judgement.repeats, 'draw')}: mean error {mean}, 95th percentile {p95}"
    yield from why_so_wide(design)
    draw = f"this draw (seed {plan.seed})" if design.random else "the choice"
    takes = duration(plan.sampled_duration_ns)
    yield f"{draw} takes {takes} and estimates {duration(plan.estimate_ns)}, {share(plan.error)} off"


def _share_of_cost(plan: Plan, cost: LaunchCost) -> str:
    return f"{share(plan.cost_share)} of all {_cost_name(cost)}"


def _cost_name(cost: LaunchCost) -> str:
    return "instructions" if cost.metric in INSTRUCTIONS else cost.metric


# Its strata and its launches.


def list_answer(study: Study, plan: Plan, launches: Sequence[PlannedLaunch], listed: PlanList) -> Answer:
    """Return the strata or the drawn launches as `sample --list` gives them in every form."""
    rows, listing = launch_rows(launches), launch_listing(study, plan, launches)
    if listed is PlanList.STRATA:
        # A stratum has its 0-based place in the plan file.
        own = [name for name in PlannedStratum.__struct_fields__ if name != "launches"]
        strata = enumerate(planned_strata(study.counts, plan))
        rows = [{"stratum": number, **named(each, *own)} for number, each in strata]
        listing = stratum_listing(study, plan)
    return Answer("sample", rows, blocks=lambda _: [listing], warnings=_warnings(study, plan))


def launch_rows(launches: Sequence[PlannedLaunch]) -> list[dict[str, Any]]:
    """Return one row a drawn launch, as the plan file has it."""
    from msgspec import to_builtins

    return [to_builtins(launch) for launch in launches]


def stratum_listing(study: Study, plan: Plan) -> Listing:
    """Return the strata: their size, spread and sample, and the kernel group they are of."""
    strata = list(planned_strata(study.counts, plan))
    rank = {group.key: index for index, group in enumerate(study.counts.groups)}
    rows: list[tuple[str, int | None]] = []
    for each in strata:
        text = "all" if each.key == WHOLE_WORKLOAD_KEY else each.key
        if each.key in rank:
            text = f"#{rank[each.key] + 1} "
        elif is_pool_key(each.key):
            pool = key_parts(each.key)
            text = f"{pool.name} {places_of(study).get((pool.process, pool.device), '')}".rstrip()
        rows.append((text, rank.get(each.key)))
    figures = (
        Column("stratum", [str(number) for number in range(len(strata))]),
        Column("launches", [count(each.size) for each in strata]),
        Column("drawn", [count(each.samples) for each in strata]),
        Column("mean", [duration(each.mean_ns) for each in strata]),
        Column("CoV", [f"{each.std_ns / each.mean_ns:.3f}" if each.mean_ns else UNKNOWN for each in strata]),
        Column("durations", [duration_range(each.low_ns, each.high_ns) for each in strata]),
    )
    return Listing(figures, "kernel group", label_rows(kernel_labels(study), rows))


def launch_listing(study: Study, plan: Plan, launches: Sequence[PlannedLaunch]) -> Listing:
    """Return the drawn launches: which they are, what they took and what they stand for."""
    id_, *others = launch_figures(launches)
    stratum = Column("stratum", [str(number) for number in plan.stratum.tolist()])
    return Listing((id_, stratum, *others), "kernel", label_kernels(launches, places_of(study)))


def launch_figures(launches: Sequence[PlannedLaunch]) -> tuple[Column, ...]:
    """Return the columns of drawn launches."""
    return (
        Column("launch", [str(launch.id) for launch in launches]),
        Column("duration", [duration(launch.duration_ns) for launch in launches]),
        Column("stands for", [f"{launch.weight:,.6g}" for launch in launches]),
        Column("occurrence", [str(launch.occurrence) for launch in launches]),
    )


# One screen on a profile: what dominates, what to watch out for, what a plan costs.

_LARGEST = 10
_MOST_BINDING = 3


def following_commands(profiles: tuple[str, ...], options: MethodOptions) -> list[str]:
    """Return commands to run next, on the same launches with the same target."""
    shown = OutputOptions()
    kept = {field.name: getattr(shown, field.name) for field in fields(shown) if field.name != "seed"}
    kept["profiles"] = profiles
    # Root has split trees, unless another method that has them was chosen.
    has_trees = options.method != DEFAULT_METHOD and method_named(options.method).trees is not None
    stepped = options.method if has_trees else "root"
    changes: tuple[tuple[str, type[PlanningOptions], dict[str, Any]], ...] = (
        ("sample", SampleOptions, {"output": PLAN_NAME}),
        ("tree", TreeOptions, {"kernel": "#1", "method": stepped}),
        ("compare", CompareOptions, {}),
    )
    return [command_line(name, options_of(kind, options, **(kept | own))) for name, kind, own in changes]


def summary_results(study: Study, following: list[str], costs: PlanCosts) -> dict[str, Any]:
    """Return what the contract's `summary` has; `following` are the commands to run next."""
    counts = study.counts
    return {
        "device": profile_words.device_name(study),
        "launches": counts.launches,
        "kernel_groups": len(counts.groups),
        "total_duration_ns": counts.total_duration_ns,
        "busy": profile_words.busy_shares(study),
        "kinds": profile_words.kind_shares(study),
        "findings": [finding.as_json() for finding in study.findings],
        "groups": [group_row(study, index) for index in range(min(_LARGEST, len(counts.groups)))],
        "plan": design_row(study),
        "promise": promise_words(study.design),
        "pooled": pooled_row(study),
        **cost_rows(counts.total_duration_ns, costs),
        "next": following,
    }


def summary_blocks(
    study: Study, profiles: tuple[str, ...], results: dict[str, Any], costs: PlanCosts, *, details: bool
) -> Iterator[Block]:
    """Yield which GPU ran what, the largest kernel groups, the plan, the findings, what to run next.

    `results`: see `summary_results`. `details`: whether each bound of the plan is told.
    """
    counts, design, name = study.counts, study.design, profile_words.device_name(study)
    total_ns, held = counts.total_duration_ns, profile_words.held_words(study)
    yield f"{', '.join(profiles)} ({study.profile.format}{'' if name is None else f', {name}'})"
    launches, groups = counted(counts.launches, "launch"), len(counts.groups)
    groups_of = counted(groups, "kernel group")
    yield f"{launches} in {groups_of}, {duration(total_ns)} of kernel time{held and f'; {held}'}"
    yield f"By kind of work: {profile_words.kind_words(study)}"
    yield from filter(None, [profile_words.busy_sentence(study)])
    yield ""
    yield short_group_listing(study, results["groups"])
    if (left := groups - _LARGEST) > 0:
        yield f"and {count(left)} smaller groups: `kernelpoint groups`"
    yield from devices_named(study)
    yield ""
    yield simulate_sentence(design, counts.launches)
    yield known_sentence(design, counts.launches, study.profile.facts)
    yield from hours_lines(design, costs)
    binding = (costs.binding or ())[:_MOST_BINDING]
    yield binding_text(binding, design, total_ns, costs.slowdown)
    yield from [bound_sentence(design)] if details else []
    yield from finding_sentences(study)
    yield from (
        CommandLine(line, "      " if number else "Next: ") for number, line in enumerate(results["next"])
    )
