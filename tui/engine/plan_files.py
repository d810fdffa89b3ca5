"""Plans that were written: what results of their launches come to, and opened with their profile."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from sampling.errors import AnalysisError, OptionError, PlanFileError
from sampling.estimation.hardware import parse_clock, with_clock
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.parallel import Progress
from sampling.plan.draft import Draft
from sampling.plan.other_recording import located_files, made_from
from sampling.plan.plan import drawn_plan
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.plan.request import Part, default, flags, part_names
from sampling.profile.identity import content_sha256
from sampling.profile.profile import Profile
from sampling.simulators.manifest import manifests_in
from sampling.simulators.results import read_result_files
from sampling.text import counted
from tui.charts.quantities import measure_in
from tui.options.command_line import command_line
from tui.options.files import is_plan
from tui.options.look import ReportOptions
from tui.options.plan import JudgeOptions
from tui.options.shared import ProfileOptions
from tui.options.simulate import AlignOptions, EstimateOptions, SpeedupOptions

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp


def plan_before(
    command: str,
    options: JudgeOptions | EstimateOptions | SpeedupOptions | AlignOptions | ReportOptions,
    after: str,
) -> PlanFile:
    """Read the plan that a command takes beside other files, which are the option ``after``.

    Raises PlanFileError: it is none; where one of the others is, the command with the two swapped.
    """
    path = str(options.plan)
    try:
        file_plan = read_plan(path)
    except PlanFileError as error:
        value = getattr(options, after)
        paths = (value,) if isinstance(value, str) else value
        plan = next(filter(is_plan, paths), None)
        if plan is None or is_plan(path) or not Path(path).exists():
            raise
        swapped = tuple(path if path_after == plan else path_after for path_after in paths)
        changes: dict[str, Any] = {"plan": plan, after: swapped[0] if isinstance(value, str) else swapped}
        remedy = f"swap them: `{command_line(command, replace(options, **changes))}`"
        raise PlanFileError(f"no plan, and {plan} is one", path=path, remedy=remedy) from error
    measure_in("cycles" if file_plan.profile.in_cycles else "ns")
    return file_plan


def estimated(options: EstimateOptions, progress: Progress, plan: PlanFile | None = None) -> PlanEstimate:
    """Return the estimate.

    `progress`: of reading the results. `plan`: where it is read already.

    Raises OptionError: a ratio is not made of two metrics, --top-up has no target, or that is 0; a clock is
    none, or there is nothing to compare by it.
    """
    if options.target == 0:
        raise OptionError(
            "--target is a fraction between 0 and 1, not 0", remedy="give --target 0.01, or more"
        )
    if options.top_up is not None and options.target is None:
        raise OptionError(
            "--top-up needs a --target", remedy="say how narrow the total is to be: --target 0.05"
        )
    ratios = tuple(map(_ratio, options.ratios))
    clock_hz = None if options.clock is None else parse_clock(options.clock)
    plan = plan or plan_before("estimate", options, "results")
    manifests = manifests_beside(options)
    metrics = tuple(dict.fromkeys([*options.metrics, *(name for pair in ratios for name in pair)]))

    results = read_result_files(
        plan,
        options.results,
        source=options.source,
        metrics=metrics,
        manifests=manifests,
        number_locale=options.request.number_locale,
        progress=progress,
    )
    return estimate_plan(
        plan,
        with_clock(plan, results, clock_hz),
        ratios=ratios,
        confidence=options.confidence,
        projection_error=options.projection_error,
        scale_error=options.scale_error or 0.0,
    )


def manifests_beside(options: EstimateOptions | SpeedupOptions) -> tuple[str, ...]:
    """Return the manifests that are given, or those in the folder of an export that is given as the plan."""
    if options.manifests or not Path(options.plan).is_dir():
        return options.manifests
    return tuple(map(str, manifests_in(Path(options.plan))))


def _ratio(text: str) -> tuple[str, str]:
    numerator, _, denominator = text.partition("/")
    if not numerator or not denominator:
        raise OptionError(f"--ratio takes two metrics, as misses/accesses, not {text!r}")
    return numerator, denominator


def missing_to_target(
    estimate: PlanEstimate, options: EstimateOptions, progress: Progress
) -> ToppedUp | None:
    """Return the plan with what the next round is to simulate; None without a target, or where it is met."""
    main = estimate.main
    if options.target is None or main.is_within(options.target):
        return None
    # Needs a reader of profiles, which most estimates do not.
    from sampling.estimation.top_up import top_up

    other_error = estimate.beside_sampling
    return top_up(
        estimate.plan, estimate.results, main, options.target, other_error=other_error, progress=progress
    )


# -- a plan that is opened --------------------------------------------------------------------------------

Options = TypeVar("Options", bound=ProfileOptions)

# What its forms change.
_IN_THE_APP = {"method", "features", *(part_names(Part.SEED, Part.SELECTION, Part.PROMISE))}


@dataclass(frozen=True)
class OpenedPlan:
    """A plan file that the app, or a summary, is opened on."""

    #: As typed.
    path: str
    plan: PlanFile
    #: The files of its profile, where they lie now; a simulator's results that were named with it.
    profiles: tuple[str, ...]
    results: tuple[str, ...] = ()


def open_plan(path: str, profiles: Sequence[str] = (), results: Sequence[str] = ()) -> OpenedPlan:
    """Read a plan file and find its profile.

    `profiles`: the profile, as the user named it; none: it is looked for.

    Raises PlanFileError: it is no plan, or its profile is not there.
    """
    plan = read_plan(path)
    return OpenedPlan(path, plan, tuple(profiles) or find_profile(plan), tuple(results))


def find_profile(plan: PlanFile) -> tuple[str, ...]:
    """Return where the files of a plan's profile lie, see `located_files`.

    Raises PlanFileError: one of them is not found, or the plan names none.
    """
    paths, missing = located_files(plan)
    if missing is None:
        return paths
    raise PlanFileError(
        f"made from {'standard input' if missing == '-' else missing or 'no profile that it names'}, "
        "which lies neither beside it nor where it lay",
        path=plan.path,
        remedy=f"name the profile: `kernelpoint open PROFILE --plan {shlex.quote(plan.path)}`",
    )


def options_of_plan(opened: OpenedPlan, options: Options) -> Options:
    """Return the options that made a plan, with what was typed of how to show it.

    Raises OptionError: something was typed that only the plan can say; PlanFileError: an option of the plan,
    or a split decision in it, means nothing.
    """
    refuse_what_the_plan_says(opened.path, options)
    features = []
    for path in opened.plan.options.features:
        # As it was named, or beside the plan where it is not there.
        sibling = Path(opened.plan.path).parent / Path(path).name
        features.append(str(sibling) if not Path(path).exists() and sibling.exists() else path)
    overrides = opened.plan.path if opened.plan.overrides else None
    request = structs.replace(opened.plan.options, features=tuple(features), overrides=overrides)
    return replace(options, profiles=opened.profiles, request=request)


def refuse_what_the_plan_says(path: str, options: ProfileOptions) -> None:
    """Refuse options beside a plan that say how it was made.

    Raises OptionError: one of them was typed.
    """
    if (name := typed_name(options)) is not None:
        flag, *_ = flags(name)
        remedy = f"open the profile: `kernelpoint open PROFILE {flag} ...`"
        if name in _IN_THE_APP:
            remedy = f"change it in the app, or {remedy}"
        raise OptionError(f"{flag} is said by the plan {path}", remedy=remedy)


def typed_name(options: ProfileOptions) -> str | None:
    """Return the first option of plans that was typed; None where none was."""
    typed = (name for name in options.request_names if getattr(options.request, name) != default(name))
    return next(typed, None)


def check_files(opened: OpenedPlan) -> None:
    """Refuse a profile that the plan was not made from, read only where its bytes are not those.

    Raises AnalysisError: it is another one; ProfileError: it cannot be read.
    """
    expected = [file.sha256 for file in opened.plan.profile.files]
    paths = [Path(path) for path in opened.profiles]
    # A pipe or a device may never end.
    are_kept = all(path.is_file() or path.is_dir() for path in paths)
    if not are_kept or [content_sha256(path) for path in paths] != expected:
        # What was hashed may lie elsewhere, as of a report, or be several files of a folder.
        _check_profile(opened, opened.plan.read_profile(opened.profiles))


def profile_check(opened: OpenedPlan | None) -> Callable[[Profile], None] | None:
    """Return what is to be done with the profile once it is read; None where no plan is opened."""
    return None if opened is None else lambda profile: _check_profile(opened, profile)


def _check_profile(opened: OpenedPlan, profile: Profile) -> None:
    if not made_from(profile, opened.plan):
        judging = f"`kernelpoint judge {shlex.quote(opened.path)} PROFILE`"
        raise AnalysisError(
            f"{', '.join(opened.profiles)} is not, byte for byte, what {opened.path} was made from",
            remedy=f"give that profile, its files in the same order; {judging} tries it on another recording",
        )


def plan_notes(opened: OpenedPlan, draft: Draft) -> tuple[str, ...]:
    """Return in what the plan by its options is not the plan of the file, in words."""
    file = opened.plan
    plan, launches = drawn_plan(draft.counts, draft.design, file.options.seed), file.drawn
    sampled_ns = sum(launch.duration_ns or 0 for launch in launches)
    if (plan.samples, plan.sampled_duration_ns) == (len(launches), sampled_ns):
        return ()
    file_count, plan_count = counted(len(launches), "launch"), counted(plan.samples, "launch")
    reason = "topped up after a simulation" if file.simulated else "made by another version, or edited"
    difference = f"{opened.path} draws {file_count}, its options alone {plan_count}, as shown here"
    return (f"{difference}: it was {reason}; results go by it",)
