"""What is asked of plans: a budget, what binds, one epsilon after another, all methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from sampling.errors import OptionError
from sampling.methods.registry import check_settings, method_named, method_names
from sampling.parallel import Progress
from sampling.plan import sensitivity
from sampling.plan.draft import Draft
from sampling.plan.plan import Plan, drawn_plan
from sampling.plan.request import PlanRequest
from sampling.plan.sensitivity import Budget, NoPoint, PlanCosts, SimulationHours, TradeOffPoint
from sampling.profile.profile import Profile
from sampling.text import why_no_number
from tui.engine import drafts
from tui.engine.drafts import feature_file
from tui.options.command_line import with_flags
from tui.options.plan import CompareOptions
from tui.options.shared import BudgetOptions, SlowdownOptions
from tui.terminal.diagnostics import ProgressMeter

if TYPE_CHECKING:
    from sampling.features.join import JoinReport
    from sampling.plan.comparison import MethodComparison


def parse_budget(options: SlowdownOptions) -> Budget | None:
    """Return the budget; None where none is given.

    Raises OptionError: it or the slowdown means nothing, or the method looks at no epsilon that could fit it.
    """
    if options.slowdown is not None:
        sensitivity.check_slowdown(options.slowdown)
    if not isinstance(options, BudgetOptions) or options.budget is None:
        return None
    budget = sensitivity.parse_budget(options.budget, options.slowdown)
    sensitivity.check_has_trade_off(options.request.method)
    return budget


def draft_within_budget(profiles: tuple[str, ...], options: SlowdownOptions) -> Draft:
    """Read the workload and draft it as the options ask, with the smallest epsilon that a budget allows.

    Raises BudgetError: none fits it.
    """
    # What the options mean is wrong or right before anything is read.
    budget = parse_budget(options)
    draft = drafts.draft_from_options(profiles, options)
    if budget is None:
        return draft
    with ProgressMeter(quiet=options.quiet) as progress:
        return drafts.with_flags_in_findings(sensitivity.draft_within(draft, budget, progress))


def draft_that_fits(
    options: BudgetOptions, draft: Draft, progress: Progress
) -> tuple[Draft, SimulationHours]:
    """Return the draft with the smallest epsilon that the budget allows, and what its plan takes.

    `draft`: of the same launches by the same method.

    Raises BudgetError: none fits it; OptionError: see `parse_budget` and `draft_within`.
    """
    budget = sensitivity.parse_budget(str(options.budget), options.slowdown)
    fitting = sensitivity.draft_within(draft, budget, progress)
    plan = drawn_plan(fitting.counts, fitting.design, options.request.seed)
    return fitting, sensitivity.simulation_hours(plan, budget.slowdown)


def plan_costs(options: SlowdownOptions, draft: Draft, plan: Plan | None, *, binding: bool) -> PlanCosts:
    """Return what the options ask to be said of a plan, drawn where that takes it, and perhaps what binds."""
    relaxations = None
    if binding:
        with ProgressMeter(quiet=options.quiet) as progress:
            relaxations = sensitivity.measure_sensitivity(draft, progress)
    return PlanCosts(
        relaxations, options.slowdown, estimate_hours(options, draft, plan), parse_budget(options)
    )


def estimate_hours(
    options: SlowdownOptions, draft: Draft, plan: Plan | None = None
) -> SimulationHours | None:
    """Return what the plan of a draft takes, drawn as the options say; None where no slowdown is known."""
    if options.slowdown is None:
        return None
    drawn_launches = plan or drawn_plan(draft.counts, draft.design, options.request.seed)
    return sensitivity.simulation_hours(drawn_launches, options.slowdown)


def traded(
    draft: Draft, epsilons: Sequence[float], progress: Progress
) -> tuple[tuple[TradeOffPoint, ...], tuple[NoPoint, ...]]:
    """Return the plans at some epsilons, in their order, and the epsilons at which there is none."""
    request = draft.request
    arguments = (draft.counts, request.method, request.target, request.seed, epsilons)
    tried = list(
        sensitivity.trade_off(*arguments, settings=request.set, overrides=draft.overrides, progress=progress)
    )
    points = tuple(result for result in tried if isinstance(result, TradeOffPoint))
    return points, tuple(result for result in tried if isinstance(result, NoPoint))


def parse_epsilons(text: str | None, epsilon: float, *, with_plan: bool = False) -> tuple[float, ...]:
    """Return the epsilons asked for, each once; round ones around the plan's if none is named.

    `with_plan`: whether the plan's own has to be among them.

    Raises OptionError: one is no number, or no fraction.
    """
    if text is None:
        return sensitivity.default_epsilons(epsilon)
    words = [word.strip() for word in text.split(",") if word.strip()]
    try:
        named = [PlanRequest(epsilon=float(word)).epsilon for word in words]
    except ValueError as error:
        wrong = next((word for word in words if word.endswith("%")), None)
        reason = "fractions by commas are meant" if wrong is None else why_no_number(wrong)
        raise OptionError(f"--epsilons {text}: {reason}") from error
    except OptionError as error:
        raise OptionError(f"--epsilons {text}: {with_flags(error.message)}", remedy=error.remedy) from error
    if not named:
        raise OptionError("--epsilons names no epsilon", remedy="give fractions by commas, such as 0.01,0.02")
    return tuple(dict.fromkeys([*named, *([epsilon] if with_plan else [])]))


def methods_of(text: str | None) -> tuple[str, ...]:
    """Return the methods asked for, each once; all if none is named.

    Raises OptionError: a name is not a method's, or there is none.
    """
    if text is None:
        return method_names()
    names = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    if not names:
        raise OptionError("--methods names no method", remedy=f"there are {', '.join(method_names())}")
    for name in names:
        method_named(name)
    return names


def list_workloads(options: CompareOptions) -> list[tuple[str, ...]]:
    """Return the files of each workload.

    Raises OptionError: an option is wrong; found here, before the profiles are read.
    """
    check_settings(options.request.set)
    if options.on is not None and len(options.profiles) > 1 and not options.one_workload:
        raise OptionError(
            "--on is of the launches of one workload", remedy="give one profile, or --one-workload"
        )
    _ = options.request.region, options.request.grouping, options.request.read_options
    files = [feature_file(text, options.profiles)[1] for text in options.request.features]
    drafts.check_standard_input(*options.profiles, *files)
    return [options.profiles] if options.one_workload else [(path,) for path in options.profiles]


def comparison_of(
    profile: Profile, paths: tuple[str, ...], options: CompareOptions, progress: Progress
) -> MethodComparison:
    """Return the comparison of methods on one workload, which was read from `paths`.

    Raises OptionError: a filter or a target is wrong, or a file of features is given for an unknown profile.
    """
    from sampling.plan.comparison import MethodComparison

    # With several workloads, a file that names none may belong to any of them.
    is_only_one = len(paths) == len(options.profiles)
    if is_only_one:
        features = drafts.workload_features(options.request.features, paths)
    else:
        files = [feature_file(text, options.profiles) for text in options.request.features]
        features = tuple(
            path for profile_path, path in files if profile_path is None or profile_path in paths
        )
    return MethodComparison(
        profile,
        structs.replace(options.request, features=features),
        repeats=options.repeats,
        strict=is_only_one,
        on=None
        if options.on is None
        else drafts.open_profile((options.on,), options, progress, needs_table=False),
        progress=progress,
    )


def check_feature_reports(reports: Sequence[JoinReport], options: CompareOptions) -> None:
    """Check, if there are several workloads, that a feature file with launch ids names its profile.

    Raises OptionError: it names none; launch ids occur in every profile, so it could be of any.
    """
    files = [feature_file(text, options.profiles) for text in options.request.features]
    for report in reports:
        if report.joined_by == "id" and (None, report.path) in files:
            message = f"--features {report.path} goes by launch ids, which every profile has"
            raise OptionError(message, remedy="say whose they are: --features PROFILE=FILE")
