"""A plan in words and figures: what it costs, promises and assumes, what would make it cheaper; a summary."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from sampling.features.metric_names import INSTRUCTIONS
from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.plan.design import WHOLE_WORKLOAD_KEY, Design, speedup_ratio
from sampling.plan.draft import Draft
from sampling.plan.judge import Judgement
from sampling.plan.plan import Plan, planned_strata
from sampling.plan.plan_file import PlannedLaunch
from sampling.plan.plan_summary import (
    LARGEST_GROUPS,
    ProfileSummary,
    list_strata,
    pooled_groups,
    summarise_plan,
)
from sampling.plan.promise import Promise
from sampling.plan.sensitivity import (
    WORTH_TELLING,
    PlanCosts,
    Relaxation,
    SimulationHours,
    find_limit,
    machine_hours,
)
from sampling.profile.profile import RecordingFacts
from sampling.reduction.duration_counts import LaunchCost
from sampling.reduction.grouping import is_pool_key
from sampling.strata.strata import OF_SEVERAL_SIGNATURES, SIMILAR_SPREAD
from sampling.text import counted, joined
from tui.charts.quantities import (
    UNKNOWN,
    count,
    duration,
    duration_range,
    hours,
    kernel_time,
    less_work,
    ratio,
    recorded_unit,
    share,
)
from tui.options.choices import PlanList, PlanPurpose
from tui.options.command_line import command_line, flags_of_parameters, options_of, with_flags
from tui.options.files import PLAN_NAME, free_name
from tui.options.look import TreeOptions
from tui.options.plan import CompareOptions, SampleOptions
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions
from tui.output.blocks import Block, CommandLine, Listing, Tone
from tui.output.writer import CommandResult
from tui.terminal.printable import Column
from tui.text import profile as profile_words
from tui.text.groups import devices_named, kernel_labels, short_group_listing, survey_places
from tui.text.labels import key_parts, label_kernels, label_rows
from tui.text.profile import finding_sentences

_NOTHING_ASKED = PlanCosts()
# Of more layers no more are named.
_MOST_NAMED = 8
_PER_CENT_MORE = 100 * OF_SEVERAL_SIGNATURES


# What it promises.


def verdict(design: Design) -> tuple[str, Tone]:
    """Return whether the plan's promise is within the epsilon asked for, in a word, and the word's tone."""
    if design.promise is None:
        return "no bound", Tone.WARNING
    return ("met", Tone.GOOD) if design.promise.error <= design.target.epsilon else ("not met", Tone.BAD)


def sure_words(confidence: float) -> str:
    """Return a confidence as people say it."""
    return f"{100 * confidence:.4g} % sure"


def usual_target(*, is_amd: bool) -> str:
    """Return what a plan is exported for: Accel-Sim, which runs traces of NVIDIA's GPUs, or by ids alone.

    No simulator of AMD's GPUs takes chosen launches: that part of MGPUSim runs whole programs.
    """
    return "csv" if is_amd else "accel-sim"


def profiler_target(*, is_amd: bool) -> str:
    """Return what a plan for counters is exported for."""
    return "rocprofv3" if is_amd else "ncu"


def export_command(
    plan: str, folder: str, target: str, caches: str | None = None, traces: str | None = None
) -> str:
    """Return the command that hands a plan to a simulator; without traces what it hands over records them."""
    ran = "" if traces is None else f" --traces {shlex.quote(traces)}"
    filled = "" if caches is None else f" --caches {caches}"
    return f"kernelpoint export {shlex.quote(plan)} --to {target}{ran}{filled} -o {free_name(folder)}"


def simulate_sentence(design: Design, launches: int, plan: Plan | None = None) -> str:
    """Return what is simulated of the whole run, and how much less that is expected to be.

    What is said elsewhere, and offered as faster, is expected too. What a draw takes is said where that is
    not much the same.
    """
    all_launches, cost = counted(launches, "launch"), design.objective_cost
    if design.samples == launches:
        return f"Simulate all of {all_launches}: none stands for another."
    less = ""
    if design.speedup:
        by_cost = f"{ratio(design.speedup)} less to simulate by {_cost_name(cost)}" if cost else None
        less = f": {by_cost or less_work(design.speedup)}"
    time = f"{duration(design.sampled_duration_ns)} of {duration(design.total_duration_ns)}"
    drawn_ns = design.sampled_duration_ns if plan is None else plan.sampled_duration_ns
    if abs(drawn_ns - design.sampled_duration_ns) > WORTH_TELLING * design.sampled_duration_ns:
        time += f"; this draw takes {duration(drawn_ns)}"
    return f"Simulate {count(design.samples)} of {all_launches}{less} ({time})."


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
    if (promise := design.promise) is None:
        return "How far off the whole run may then be is not known: its launches take no time in the profile."
    bound = f"{share(promise.error)} ({sure})"
    if promise.error > target.epsilon:
        bound += f", more than the {100 * target.epsilon:.4g} % asked for"
    assumed = (
        f"cycles per {recorded_unit()} differ by at most {100 * target.noise_floor:.4g} % within a stratum"
    )
    if promise.has_mixed_strata:
        assumed += f", {_PER_CENT_MORE:.4g} % more where it holds several grids,"
    if target.kernel_spread:
        assumed += f" and {100 * target.kernel_spread:.4g} % between kernels"
    return f"{cycles} are then known within {bound}, if {assumed.rstrip(',')}; `estimate` checks that."


def speedup_sentence(promise: Promise) -> str:
    """Return how well speedups are known of configurations that are much alike."""
    half_width = promise.expected_speedup_half_width
    expected, of_mean = (share(math.expm1(half_width / math.sqrt(programs))) for programs in (1, 4))
    configurations = (
        f"configurations that are much alike (ratios of launches vary by {100 * SIMILAR_SPREAD:g} %)"
    )
    launches = f"{counted(promise.target.min_samples, 'launch')} a stratum at least"
    return (
        f"With {launches}, a speedup between {configurations} is expected within {expected}, the geometric "
        f"mean over four such programs within {of_mean}; `speedup` tells."
    )


def counters_sentence(promise: Promise) -> str:
    """Return how well a profiler's counters are known of the whole run."""
    launches = f"{counted(promise.target.min_samples, 'launch')} a stratum at least"
    return (
        f"With {launches}, the total of a counter that varies over kernels and within them as cycles do is "
        f"expected within {share(promise.expected_counter_half_width)}; `estimate` has an interval for each, "
        "or says why not."
    )


def promise_words(design: Design) -> str:
    """Return the promise as the contract has it: its bound, its confidence and what is assumed."""
    if not design.random:
        return "nothing: the launches are not drawn at random"
    if design.promise is None:
        return "nothing: the launches take no time in the profile"
    within = f"within {share(design.promise.error)} at confidence {share(design.target.confidence)}"
    return f"the simulated total {within}, if {assumed_words(design.promise)}"


def assumed_words(promise: Promise) -> str:
    """Return how cycles per nanosecond are declared to vary."""
    target = promise.target
    words = f"cycles per {recorded_unit()} vary by at most {share(target.noise_floor)} within a stratum"
    words += (
        f", {_PER_CENT_MORE:.4g} % more where it holds several grids," if promise.has_mixed_strata else ""
    )
    words += f" and {share(target.kernel_spread)} between kernels" if target.kernel_spread else ""
    return words.rstrip(",")


def bound_sentence(design: Design) -> str:
    """Return the bounds that stand beside the promise."""
    if (promise := design.promise) is None:
        return "no bound: the launches are not drawn at random"
    text = f"profile's own durations: {share(promise.bound)} of the total"
    if promise.group_bound is not None:
        text += f", {share(promise.group_bound)} of any kernel group's"
        text += " that is not pooled" if design.groups.is_pool.any() else ""
    if promise.group_bound_with_noise is not None:
        text += f" ({share(promise.group_bound_with_noise)} simulated)"
    return text


def why_so_wide(design: Design) -> Iterator[str]:
    """Yield the two errors of which the larger is promised, where they differ as printed, and why they do."""
    if (promise := design.promise) is None:
        return
    sure = f"{100 * design.target.confidence:.4g} %"
    drawn, printed = share(promise.bound_with_noise), share(promise.expected_half_width)
    if drawn != printed:
        why = "the fewer strata are simulated twice, the less is seen of how cycles vary, and the wider it is"
        if promise.error == promise.bound_with_noise:
            why = "what is drawn also misses by how durations differ, which results are corrected for"
        yield f"{sure} of such draws are within {drawn}, and `estimate` will print {printed}: {why}"


# What it costs, and what would be cheaper.


def hours_lines(design: Design, costs: PlanCosts) -> Iterator[str]:
    """Yield the epsilon that a budget led to, and what the plan takes at a slowdown."""
    if costs.budget is not None:
        epsilon = f"{design.target.epsilon:g}"
        yield f"epsilon {epsilon}: the smallest that fits {costs.budget.written} of simulation"
    if (simulation := costs.hours) is not None:
        yield (
            f"simulated {costs.slowdown:g} times slower: {hours(simulation.drawn)} of one machine, "
            f"{hours(simulation.expected)} expected; "
            f"the longest launch takes {hours(simulation.longest_launch)}"
        )


def hours_forms(simulation: SimulationHours | None) -> tuple[str, ...]:
    """Return what goes behind an expected speedup where a slowdown is known, the longest wording first."""
    if simulation is None:
        return ("",)
    expected = hours(simulation.expected)
    return (
        f", {expected} of one machine, the longest launch {hours(simulation.longest_launch)}",
        f", {expected}",
    )


def binding_text(
    relaxations: Sequence[Relaxation], design: Design, total_ns: int, slowdown: float | None
) -> str:
    """Return which option to type for which speedup, the largest first."""
    ways = []
    for step in relaxations:
        flag = flags_of_parameters()[step.option]
        way = f"without {flag}" if step.after is True else f"{flag} {value_text(step.after)}"
        taken = "" if slowdown is None else f", {hours(machine_hours(total_ns / step.speedup, slowdown))}"
        ways.append(f"{way} ({offered(step)}{taken})")
    return f"Cheaper: {', '.join(ways)}" if ways else why_none(design)


def binding_forms(relaxations: Sequence[Relaxation], design: Design) -> list[str]:
    """Return what binds in a line, the longest wording first: all options, or the first few."""
    if not relaxations:
        return [why_none(design), "Cheaper if: nothing"]
    ways = [
        f"{option_label(relaxation)} {value_text(relaxation.after)} {offered(relaxation)}"
        for relaxation in relaxations
    ]
    return [f"Cheaper if: {', '.join(ways[:number])}" for number in range(len(ways), 0, -1)]


#: Options that say how much cycles vary, which the profile cannot
_ASSUMED = frozenset({"noise_floor", "kernel_spread"})


def offered(step: Relaxation) -> str:
    """Return the speedup that is offered, the error it comes with, and whether more is assumed for it."""
    assumed = " if assumed" if step.option in _ASSUMED else ""
    return ratio(step.speedup) + ("" if step.bound is None else f" at {share(step.bound)}") + assumed


def why_none(design: Design) -> str:
    """Return why no option binds: what takes the time that is simulated."""
    if not design.random:
        return f"Cheaper: no option, for nothing is asked of {design.method}"
    if not method_named(design.method).draws_at_random:
        return f"What would be cheaper is not known, for {design.method} does not go by durations alone"
    none = "Cheaper: by no single option"
    if design.objective_cost is None and (limit := find_limit(design)) is not None:
        some = "" if limit.simulated == limit.launches else f", and {count(limit.simulated)} are simulated"
        held = f"{counted(limit.launches, 'launch holds', 'launches hold')} {share(limit.share)} of the time"
        return f"{none}: {held}{some}: no plan gains more than {ratio(limit.speedup)}"
    speedup_limit = speedup_ratio(design.total_duration_ns, float(design.strata.mean_ns.sum()))
    if design.objective_cost is None and speedup_limit and speedup_limit < 2 * (design.speedup or 0):
        strata = f"one launch of each of {counted(design.strata_count, 'stratum')} is the least"
        return f"{none}: {strata}: no plan of them gains more than {ratio(speedup_limit)}"
    return f"{none}; none, one step on, gains 5 %"


def value_text(value: float | str) -> str:
    """Return an option's value as it is typed, or whether the flag is given that switches it off."""
    if isinstance(value, bool):
        return "no" if value else "yes"
    return f"{value:g}" if isinstance(value, float) else str(value)


def option_label(step: Relaxation) -> str:
    """Return the option as the form of options calls it."""
    return flags_of_parameters()[step.option].removeprefix("--")


def binding_columns(relaxations: Sequence[Relaxation], total_ns: int, slowdown: float | None) -> list[Column]:
    """Return the options that bind as a table."""
    columns = [
        Column("option", [option_label(relaxation) for relaxation in relaxations], to_right=False),
        Column("now", [value_text(relaxation.before) for relaxation in relaxations]),
        Column("a step on", [value_text(relaxation.after) for relaxation in relaxations]),
        Column("error", [share(relaxation.bound) for relaxation in relaxations]),
        Column("speedup", [ratio(relaxation.speedup) for relaxation in relaxations]),
        Column("instead of", [ratio(relaxation.speedup_before) for relaxation in relaxations]),
    ]
    if slowdown is not None:
        machine_times = [
            hours(machine_hours(total_ns / relaxation.speedup, slowdown)) for relaxation in relaxations
        ]
        columns.append(Column("one machine", machine_times))
    return columns


# The whole plan.


def plan_result(
    draft: Draft,
    plan: Plan,
    judgement: Judgement | None,
    launches: Sequence[PlannedLaunch],
    costs: PlanCosts,
    *,
    details: bool,
    following: str,
    purpose: PlanPurpose = PlanPurpose.TOTAL,
) -> CommandResult:
    """Return what `sample` says in every form; the launches are the rows, and `following` is typed next."""
    return CommandResult(
        "sample",
        lambda: summarise_plan(draft, plan, judgement, costs, promise_words(plan.design)),
        rows=launches,
        blocks=lambda _: (
            *plan_blocks(draft, plan, costs, judgement, details=details, purpose=purpose),
            CommandLine(following),
        ),
        warnings=_warnings(draft, plan),
    )


def _warnings(draft: Draft, plan: Plan) -> tuple[str, ...]:
    """Return the warnings for scripts: findings, notes of the method, how feature files matched."""
    engine = (*plan.design.notes, *(report.sentence for report in draft.reports))
    return (*(finding.code for finding in draft.findings), *map(with_flags, engine))


def plan_blocks(
    draft: Draft,
    plan: Plan,
    costs: PlanCosts = _NOTHING_ASKED,
    judgement: Judgement | None = None,
    *,
    details: bool,
    purpose: PlanPurpose = PlanPurpose.TOTAL,
) -> Iterator[Block]:
    """Yield what to simulate, how well the run is known then, what to watch out for; then every figure."""
    design = plan.design
    yield simulate_sentence(design, draft.counts.launches, plan)
    yield known_sentence(design, draft.counts.launches, draft.profile.facts)
    for stratum, layers in plan.layers.items():
        steps = "" if len({layer.step for layer in layers}) == 1 else " of iteration {}"
        names = [f"{layer.name or layer.number}{steps.format(layer.step)}" for layer in layers[:_MOST_NAMED]]
        names += [f"{len(layers) - _MOST_NAMED:,} more"] if len(layers) > _MOST_NAMED else []
        all_layers = counted(int(design.strata.launches[stratum]), "layer")
        yield f"Of {all_layers} {joined(names)} are drawn, counted from 0."
    if purpose is PlanPurpose.SPEEDUPS and design.promise is not None:
        yield speedup_sentence(design.promise)
    if purpose is PlanPurpose.COUNTERS and design.promise is not None:
        yield counters_sentence(design.promise)
    if plan.cost is not None and plan.cost_share and not plan.cost.is_objective:
        # A simulator sees another speedup than that of time on the GPU.
        words = f"A simulator rather takes {_share_of_cost(plan, plan.cost)}"
        speedup = ratio(1 / plan.cost_share)
        offer = " (--cost instructions plans by them)" if design.method == DEFAULT_METHOD else ""
        yield f"{words}: speedup {speedup}{offer}."
    yield from hours_lines(design, costs)
    if costs.binding is not None:
        yield binding_text(costs.binding, design, plan.total_duration_ns, costs.slowdown)
    yield from finding_sentences(draft)
    yield from ("", *detail_sentences(draft, plan, judgement)) if details else ()


def detail_sentences(draft: Draft, plan: Plan, judgement: Judgement | None) -> Iterator[str]:
    """Yield every figure of a plan."""
    design, pooled = plan.design, pooled_groups(draft)
    cost = "" if plan.objective_cost is None else f", {_share_of_cost(plan, plan.objective_cost)}"
    strata = counted(design.strata_count, "stratum")
    yield f"{design.method}: {strata}{cost}, {counted(plan.samples, 'launch')} drawn"
    if pooled.groups:
        pooled_text = f"{pooled.groups} of {counted(len(draft.counts.groups), 'kernel group')}"
        yield f"{pooled_text} pooled, {share(pooled.share)} of the time: they have no bound of their own"
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


def plan_list_result(
    draft: Draft, plan: Plan, launches: Sequence[PlannedLaunch], listed: PlanList
) -> CommandResult:
    """Return the strata or the drawn launches as `sample --list` gives them in every form."""
    warnings = _warnings(draft, plan)
    if listed is PlanList.STRATA:
        strata = list(list_strata(plan))
        listing = stratum_listing(draft, plan)
        return CommandResult("sample", strata, blocks=lambda _: [listing], warnings=warnings)
    listing = launch_listing(draft, plan, launches)
    return CommandResult("sample", launches, blocks=lambda _: [listing], warnings=warnings)


def stratum_listing(draft: Draft, plan: Plan) -> Listing:
    """Return the strata: their size, spread and sample, and the kernel group they are of."""
    strata = list(planned_strata(plan))
    rank = {group.key: index for index, group in enumerate(draft.counts.groups)}
    rows: list[tuple[str, int | None]] = []
    for stratum in strata:
        text = "all" if stratum.key == WHOLE_WORKLOAD_KEY else stratum.key
        if stratum.key in rank:
            text = f"#{rank[stratum.key] + 1} "
        elif is_pool_key(stratum.key):
            pool = key_parts(stratum.key)
            text = f"{pool.name} {survey_places(draft).get((pool.process, pool.device), '')}".rstrip()
        rows.append((text, rank.get(stratum.key)))
    figures = (
        Column("stratum", [str(number) for number in range(len(strata))]),
        Column("launches", [count(stratum.size) for stratum in strata]),
        Column("drawn", [count(stratum.samples) for stratum in strata]),
        Column("mean", [duration(stratum.mean_ns) for stratum in strata]),
        Column(
            "CoV",
            [f"{stratum.std_ns / stratum.mean_ns:.3f}" if stratum.mean_ns else UNKNOWN for stratum in strata],
        ),
        Column("durations", [duration_range(stratum.low_ns, stratum.high_ns) for stratum in strata]),
    )
    return Listing(figures, "kernel group", label_rows(kernel_labels(draft), rows))


def launch_listing(draft: Draft, plan: Plan, launches: Sequence[PlannedLaunch]) -> Listing:
    """Return the drawn launches: which they are, what they took and what they stand for."""
    id_, *figures = launch_figures(launches)
    stratum = Column("stratum", [str(number) for number in plan.stratum.tolist()])
    return Listing((id_, stratum, *figures), "kernel", label_kernels(launches, survey_places(draft)))


def launch_figures(launches: Sequence[PlannedLaunch]) -> tuple[Column, ...]:
    """Return the columns of drawn launches."""
    return (
        Column("launch", [str(launch.id) for launch in launches]),
        Column("duration", [duration(launch.duration_ns) for launch in launches]),
        Column("stands for", [f"{launch.weight:,.6g}" for launch in launches]),
        Column("occurrence", [str(launch.occurrence) for launch in launches]),
    )


# One screen on a profile: what dominates, what to watch out for, what a plan costs.

_MOST_BINDING = 3


def following_commands(profiles: tuple[str, ...], options: MethodOptions) -> list[str]:
    """Return commands to run next, on the same launches with the same target."""
    shown = OutputOptions()
    kept = {field.name: getattr(shown, field.name) for field in fields(shown) if field.name != "request"}
    kept["profiles"] = profiles
    # Root has split trees, unless another method that has them was chosen.
    method = options.request.method
    has_trees = method != DEFAULT_METHOD and method_named(method).trees is not None
    stepped = method if has_trees else "root"
    changes: tuple[tuple[str, type[PlanningOptions], dict[str, Any]], ...] = (
        ("sample", SampleOptions, {"output": PLAN_NAME}),
        ("tree", TreeOptions, {"kernel": "#1"}),
        ("compare", CompareOptions, {}),
    )
    made = {name: options_of(kind, options, **(kept | own)) for name, kind, own in changes}
    made["tree"] = made["tree"].with_request(method=stepped)
    return [command_line(name, of_command) for name, of_command in made.items()]


def summary_blocks(
    draft: Draft, profiles: tuple[str, ...], summary: ProfileSummary, costs: PlanCosts, *, details: bool
) -> Iterator[Block]:
    """Yield which GPU ran what, the largest kernel groups, the plan, the findings, what to run next.

    `details`: whether each bound of the plan is told.
    """
    counts, design, name = draft.counts, draft.design, summary.device
    total_ns, share_text = counts.total_duration_ns, profile_words.held_words(draft)
    yield f"{', '.join(profiles)} ({draft.profile.format}{'' if name is None else f', {name}'})"
    launches, groups = counted(counts.launches, "launch"), len(draft.look.counts.groups)
    groups_of = counted(groups, "kernel group")
    yield f"{launches} in {groups_of}, {kernel_time(total_ns)}{share_text and f'; {share_text}'}"
    yield from [f"By kind of work: {kinds}"] if (kinds := profile_words.kind_words(draft)) else []
    yield from filter(None, [profile_words.busy_sentence(draft)])
    if summary.copies:
        yield f"Copies: {profile_words.copy_words(summary.copies)}"
    yield ""
    yield short_group_listing(draft.look, summary.groups)
    if (left := groups - LARGEST_GROUPS) > 0:
        yield f"and {count(left)} smaller groups: `kernelpoint groups`"
    yield from devices_named(draft.look)
    yield ""
    yield simulate_sentence(design, counts.launches)
    yield known_sentence(design, counts.launches, draft.profile.facts)
    yield from hours_lines(design, costs)
    binding = (costs.binding or ())[:_MOST_BINDING]
    yield binding_text(binding, design, total_ns, costs.slowdown)
    yield from [bound_sentence(design)] if details else []
    yield from finding_sentences(draft)
    yield from (
        CommandLine(line, "      " if number else "Next: ") for number, line in enumerate(summary.next)
    )
