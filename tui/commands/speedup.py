"""The command that compares configurations on the launches of one plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sampling.errors import OptionError
from sampling.estimation.configurations import (
    PlanSpeedups,
    compare_configurations,
    compare_kernels,
    read_configurations,
)
from sampling.estimation.speedup_summary import summarise_speedups
from sampling.profile.names import is_rocm_name
from tui.engine.plan_files import manifests_beside, plan_before
from tui.options.command_line import command_line
from tui.options.files import files_named, free_name
from tui.options.simulate import SpeedupOptions
from tui.output.writer import STDOUT, emit, write_plan
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter
from tui.text import speedup as words
from tui.text.plan import export_command, usual_target
from tui.text.profile import plan_selection, with_selection


def run_speedup(options: SpeedupOptions) -> None:
    """Read the plan and all results, compare, show, write what to simulate next."""
    if options.target == 0:
        raise OptionError("--target is a fraction between 0 and 1, not 0", remedy="give --target 0.005")
    plan = plan_before("speedup", options, "results")
    files = parse_configurations(options.results)
    with ProgressMeter(quiet=options.quiet) as progress:
        results = read_configurations(
            plan, files, source=options.source, manifests=manifests_beside(options), progress=progress
        )
        speedups = compare_configurations(
            plan,
            results,
            files=files,
            all_pairs=options.all_pairs,
            same_within=options.same_within,
            confidence=options.confidence,
            projection_error=options.projection_error,
            scale_error=options.scale_error or 0.0,
        )
        larger = None
        if options.top_up is not None:
            # Needs a reader of profiles, which most comparisons do not.
            from sampling.estimation.top_up import top_up_speedups

            larger = top_up_speedups(speedups, options.target, progress=progress)
    if larger is not None and options.top_up is not None:
        write_plan(larger.text, options.top_up, quiet=options.quiet)
    kernels = compare_kernels(speedups) if options.groups else []
    summary = summarise_speedups(
        speedups,
        Path(plan.path or options.plan).stem,
        groups=kernels,
        target=options.target,
        accept_cold=options.accept_cold,
        next_launches=() if larger is None else larger.to_run,
    )
    following = _following(speedups, options, is_larger=larger is not None)
    result = words.speedup_result(speedups, summary, kernels, larger, options, following)
    emit(with_selection(result, plan_selection(plan)), options, to_stderr=options.top_up == STDOUT)
    _check(speedups, options)


def parse_configurations(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files of each configuration, in the order of their names.

    Raises OptionError: a text is not NAME=RESULTS, or there are fewer than two names.
    """
    files: dict[str, list[str]] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise OptionError(f"{text!r} names no configuration", remedy=f"give NAME={text.strip('=')}")
        files.setdefault(name, []).extend(files_named(path))
    if len(files) < 2:
        only = next(iter(files))
        raise OptionError(f"{only} is compared with nothing", remedy="give BASE=RESULTS NAME=RESULTS")
    return files


def _following(speedups: PlanSpeedups, options: SpeedupOptions, *, is_larger: bool) -> str:
    """Return the command that simulates what would tell, or that lists it; "" where all is told."""
    plan = speedups.plan
    if is_larger:
        is_amd = any(map(is_rocm_name, {launch.name for launch in plan.drawn}))
        return export_command(str(options.top_up), "more", usual_target(is_amd=is_amd))
    is_open = any(
        speedups.launches_to_tell(speedup, options.target) is not None for speedup in speedups.speedups
    )
    if not plan.is_random or not is_open:
        return ""
    return command_line("speedup", replace(options, top_up=free_name("more.json"), output=None))


def _check(speedups: PlanSpeedups, options: SpeedupOptions) -> None:
    """Raise CheckFailedError where a speedup is missing, too wide, or one that is not allowed."""
    gaps = [one for one in speedups.speedups if speedups.verdict(one) is None and one.missing]
    if gaps:
        raise CheckFailedError(f"incomplete: {gaps[0].name}: {gaps[0].reason}")
    if options.target is not None and not speedups.is_within(options.target, accept_cold=options.accept_cold):
        raise CheckFailedError(words.unmet_text(speedups, options))
    if options.fail_slower is not None and (slower := words.slower_text(speedups, options.fail_slower)):
        raise CheckFailedError(slower)
