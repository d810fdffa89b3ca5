"""From the options of `estimate` to the engine: results read, totals estimated, the plan topped up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sampling.errors import OptionError
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.plan.plan_file import read_plan
from sampling.progress import Progress
from sampling.simulators.export import manifests_in
from sampling.simulators.results import SimulatedLaunches, read_result_files
from tui.engine.studies import progress_of
from tui.options.estimate import EstimateOptions

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp


def estimated(options: EstimateOptions, progress: Progress) -> PlanEstimate:
    """Return the estimate.

    Parameters
    ----------
    progress : of reading the results.

    Raises
    ------
    OptionError : a ratio is not made of two metrics, or --top-up has no target.
    """
    if options.top_up is not None and options.target is None:
        raise OptionError(
            "--top-up needs a --target", remedy="say how narrow the total is to be: --target 0.05"
        )
    ratios = tuple(_ratio(text) for text in options.ratios)
    plan = read_plan(options.plan)
    exported = Path(options.plan).is_dir() and not options.manifests
    manifests = tuple(map(str, manifests_in(Path(options.plan)))) if exported else options.manifests
    wanted = dict.fromkeys([*options.metrics, *(name for pair in ratios for name in pair)])
    metrics = ("cycles", "instructions", *(name for name in wanted if name not in ("cycles", "instructions")))

    def read(paths: tuple[str, ...], manifests: tuple[str, ...]) -> SimulatedLaunches:
        return read_result_files(
            plan,
            paths,
            source=options.source,
            metrics=metrics if wanted else (),
            manifests=manifests,
            progress=progress,
        )

    return estimate_plan(
        plan,
        read(options.results, manifests),
        against=read(options.against, manifests) if options.against else None,
        ratios=ratios,
        confidence=options.confidence,
        projection_error=options.projection_error,
        scale_error=options.scale_error or 0.0,
        partial=options.partial,
    )


def _ratio(text: str) -> tuple[str, str]:
    numerator, _, denominator = text.partition("/")
    if not numerator or not denominator:
        raise OptionError(f"--ratio takes two metrics, as misses/accesses, not {text!r}")
    return numerator, denominator


def larger_plan(found: PlanEstimate, options: EstimateOptions) -> ToppedUp | None:
    """Return the plan topped up; None where none is asked for, or the target is met.

    Raises
    ------
    AnalysisError, ProfileError : see `top_up`.
    """
    if options.top_up is None:
        return None
    with progress_of(options) as progress:
        return missing_to_target(found, options, progress)


def missing_to_target(found: PlanEstimate, options: EstimateOptions, progress: Progress) -> ToppedUp | None:
    """Return the plan with what the next round is to simulate; None without a target, or where it is met.

    Raises
    ------
    AnalysisError, ProfileError : see `top_up`.
    """
    main = found.main
    if options.target is None or main.is_within(options.target):
        return None
    # Needs a reader of profiles, which most estimates do not.
    from sampling.estimation.top_up import top_up

    beside = found.beside_sampling
    return top_up(found.plan, found.results, main, options.target, beside=beside, progress=progress)
