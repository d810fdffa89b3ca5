"""Notes on stderr about options that are given but have no effect, as they may be mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from sampling.methods.registry import draws_at_random, method_named, method_names, method_options
from sampling.plan.study import Study
from tui.options.choices import ErrorMean, NumberLocale, OutputFormat
from tui.options.commands import CompareOptions, SampleOptions
from tui.options.shared import BudgetOptions, PlanningOptions
from tui.terminal.diagnostics import note


def note_unused(options: PlanningOptions, methods: Sequence[str]) -> None:
    """Say which options are given that none of the methods uses."""
    given = {
        "group_epsilon": ("--group-epsilon", options.group_epsilon),
        "min_samples": ("--min-samples", options.min_samples),
        "pool": ("--no-pool", options.no_pool or None),
    }
    declared = {
        "noise_floor": ("--noise-floor", options.noise_floor),
        "kernel_spread": ("--kernel-spread", options.kernel_spread),
    }
    looked_at = {name for used in _used(methods, options.set) for name in method_named(used).target_fields}
    unused = [flag for name, (flag, value) in given.items() if value is not None and name not in looked_at]
    if unused:
        note(f"{', '.join(unused)}: for the method joint alone; not used", quiet=options.quiet)
    without_bound = [flag for flag, value in declared.values() if value is not None]
    if without_bound and not any(draws_at_random(used, options.set) for used in methods):
        note(f"{', '.join(without_bound)}: for methods that draw at random; not used", quiet=options.quiet)
    by = methods[0] if len(methods) == 1 else f"any of {', '.join(methods)}"
    for setting in unused_settings(methods, options.set):
        note(f"--set {setting}: not used by {by}", quiet=options.quiet)


def unused_settings(methods: Sequence[str], settings: tuple[str, ...]) -> list[str]:
    """Return the settings that none of the methods looks at."""
    used = _used(methods, settings)
    return [setting for setting in settings if setting.partition(".")[0] not in used]


def _used(methods: Sequence[str], settings: tuple[str, ...]) -> set[str]:
    """Return the methods, and those that they take their number of launches from."""
    known = set(method_names())
    used = known.intersection(methods)
    for name in list(used):
        sized_like = method_named(name).sized_like
        if sized_like is not None:
            used |= known.intersection([sized_like(method_options(name, settings))])
    return used


def note_unused_features(features: Sequence[str], number_locale: NumberLocale, *, quiet: bool) -> None:
    """Say if a number format is given without any feature file."""
    if not features and number_locale is not NumberLocale.C:
        note("--number-locale: there are no files of --features; not used", quiet=quiet)


def note_unused_cost(study: Study, cost: str | None, *, quiet: bool) -> None:
    """Say if feature files tell a plan by durations nothing, or its method does not go by the cost."""
    choice, known = study.choice, study.counts.cost is not None
    by_durations = method_named(choice.method).draws_at_random
    if choice.feature_paths and by_durations and not known:
        why = study.unfit or "not every launch has a count of instructions"
        note(f"--features: {choice.method} looks at durations alone, and {why}; not used", quiet=quiet)
    if cost is not None and choice.method != "joint":
        note(f"--cost: {choice.method} does not plan by it; it is told what its plan costs", quiet=quiet)


def note_unused_in_comparison(options: CompareOptions, methods: Sequence[str], workloads: int) -> None:
    """Say which options of `compare` have no effect."""
    note_unused(options, methods)
    note_unused_features(options.features, options.number_locale, quiet=options.quiet)
    if options.features and all(method_named(method).draws_at_random for method in methods):
        look = "looks" if len(methods) == 1 else "look"
        note(f"--features: {', '.join(methods)} {look} at durations alone; not used", quiet=options.quiet)
    if options.mean is not ErrorMean.ARITHMETIC and workloads == 1:
        note(
            "--mean: it sums up several workloads, and there is one; not used",
            quiet=options.quiet,
        )
    drawing = {"--width": options.width is not None, "--height": options.height is not None}
    unused = [flag for flag, is_given in drawing.items() if is_given]
    if options.scatter and options.format is not OutputFormat.TABLE:
        flags = ", ".join(["--scatter", *unused])
        note(f"{flags}: --format {options.format} draws nothing; not used", quiet=options.quiet)
    elif unused and not options.scatter:
        note(f"{', '.join(unused)}: of the chart of --scatter; not used", quiet=options.quiet)


def note_unused_in_sample(options: SampleOptions, *, shows_figures: bool) -> None:
    """Say which options of `sample` have no effect.

    Parameters
    ----------
    shows_figures : whether the plan's figures are written, not rows of it.
    """
    note_unused_epsilon(options)
    of_figures = {
        "--binding": options.binding,
        "--slowdown": options.slowdown is not None and options.budget is None,
    }
    unused = [flag for flag, is_given in of_figures.items() if is_given]
    if unused and not shows_figures:
        note(
            f"{', '.join(unused)}: of the plan's figures, which are not shown; not used", quiet=options.quiet
        )


def note_unused_epsilon(options: BudgetOptions) -> None:
    """Say that epsilon has no effect where a budget finds it."""
    if options.budget is not None and options.epsilon != PlanningOptions.epsilon:
        note("--epsilon: --budget finds the smallest that fits; not used", quiet=options.quiet)
