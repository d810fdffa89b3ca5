"""The command that compares configurations, on the launches of one plan or on the programs of a study."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from sampling.errors import OptionError
from sampling.estimation.configurations import (
    SAME_WITHIN,
    GroupSpeedup,
    PlanSpeedups,
    compare_configurations,
    compare_kernels,
    read_configurations,
)
from sampling.profile.names import is_rocm_name
from sampling.study.comparison import StudySpeedups, compare_study, single_program
from sampling.study.study_file import Study, is_study, read_study
from sampling.study.summary import SpeedupSummary, summarise_study
from tui.engine.plan_files import manifests_beside, plan_before
from tui.options.command_line import command_line
from tui.options.files import files_named, free_name
from tui.options.simulate import SpeedupOptions
from tui.output.blocks import Block
from tui.output.writer import STDOUT, Canvas, CommandResult, emit, write_product
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter
from tui.text import speedup as words
from tui.text import study as study_words
from tui.text.plan import export_command, usual_target
from tui.text.profile import plan_selection, with_selection


def run_speedup(options: SpeedupOptions) -> None:
    """Read all results, compare, show, write what to simulate next."""
    if options.target == 0:
        raise OptionError("--target is a fraction between 0 and 1, not 0", remedy="give --target 0.005")
    if options.svg == options.top_up == STDOUT:
        message = "--svg and --top-up are both for stdout, which takes one of them"
        raise OptionError(message, remedy="give one of them a file")
    if is_study(options.plan):
        _compare_study(options)
    else:
        _compare_plan(options)


def _compare_study(options: SpeedupOptions) -> None:
    """Compare what is there of a study, show."""
    if options.results:
        raise OptionError(f"{options.plan} says itself where results are", remedy="leave NAME=RESULTS out")
    if options.top_up is not None:
        remedy = f"`kernelpoint run {options.plan}` draws what narrows it, for all programs"
        raise OptionError("--top-up is of one plan, and a study has several", remedy=remedy)
    study_file = read_study(options.plan)
    target = study_file.settings.target if options.target is None else options.target
    options = replace(options, target=target)
    study = study_speedups(study_file, options)
    _emit(study_result(study, options), options)
    check_study(study, options)


def study_speedups(study_file: Study, options: SpeedupOptions) -> StudySpeedups:
    """Return the speedups of what is there of a study."""
    with ProgressMeter(quiet=options.quiet) as progress:
        return compare_study(
            study_file,
            all_pairs=options.all_pairs,
            same_within=options.same_within,
            confidence=options.confidence,
            source=options.source,
            manifests=options.manifests,
            projection_error=options.projection_error,
            scale_error=options.scale_error or 0.0,
            progress=progress,
        )


def study_result(study: StudySpeedups, options: SpeedupOptions, command: str = "speedup") -> CommandResult:
    """Return what a study comes to, and what simulates more of it where that is wanted."""
    kernels = _kernels(study, options)
    is_open = bool(study.missing) or (
        options.target is not None and not study.is_within(options.target, accept_cold=options.accept_cold)
    )
    following = f"kernelpoint run {shlex.quote(options.plan)}" if is_open else ""
    summary = summarise_study(study, groups=kernels, target=options.target, accept_cold=options.accept_cold)
    return _result(
        command,
        study,
        summary,
        lambda canvas: study_words.study_blocks(study, kernels, options, following, canvas),
        options,
    )


def _emit(result: CommandResult, options: SpeedupOptions) -> None:
    """Write the figure where one is wanted, then the answer."""
    if options.svg is not None:
        from tui.report.speedup_figure import speedup_figure

        assert isinstance(result.results, SpeedupSummary)
        write_product("figure", speedup_figure(result.results), options.svg, quiet=options.quiet)
    emit(result, options, to_stderr=STDOUT in {options.svg, options.top_up})


def check_study(study: StudySpeedups, options: SpeedupOptions) -> None:
    """Raise CheckFailedError where a cell is missing, a speedup too wide, or one that is not allowed."""
    if study.missing:
        raise CheckFailedError(f"incomplete: {study_words.missing_text(study)}")
    for program, speedups in study.compared:
        _check_gaps(speedups, f"{program}: ")
    if options.target is not None and not study.is_within(options.target, accept_cold=options.accept_cold):
        raise CheckFailedError(study_words.unmet_text(study, options))
    if options.fail_slower is not None and (slower := study_words.slower_text(study, options.fail_slower)):
        raise CheckFailedError(slower)


def _kernels(study: StudySpeedups, options: SpeedupOptions) -> list[tuple[str, GroupSpeedup]]:
    """Return the speedups of kernels, with their programs, where these are asked for."""
    if not options.groups:
        return []
    return [(program, group) for program, speedups in study.compared for group in compare_kernels(speedups)]


def _result(
    command: str,
    study: StudySpeedups,
    summary: SpeedupSummary,
    blocks: Callable[[Canvas], Iterable[Block]],
    options: SpeedupOptions,
) -> CommandResult:
    """Return the answer; its rows are the cells, or the kernels where these are asked for."""
    rows: list[dict[str, Any]] = to_builtins(summary.groups)
    if not options.groups:
        rows = [
            {"program": program.name} | to_builtins(cell)
            for program in summary.programs
            for cell in program.cells
        ]
    notes = [note for _, speedups in study.compared for note in words.result_notes(speedups)]
    warnings = (*study_words.study_notes(study), *notes)
    return CommandResult(command, summary, blocks, rows=rows, warnings=warnings)


def _compare_plan(options: SpeedupOptions) -> None:
    """Compare configurations on the launches of one plan."""
    plan = plan_before("speedup", options, "results")
    if not options.results:
        raise OptionError("no results are named", remedy="give BASE=RESULTS NAME=RESULTS, or a study.toml")
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
            same_within=SAME_WITHIN if options.same_within is None else options.same_within,
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
        write_product("plan", larger.text, options.top_up, quiet=options.quiet)
    study = single_program(Path(plan.path or options.plan).stem, speedups)
    kernels = _kernels(study, options)
    (program,) = study.programs
    to_run = () if larger is None else larger.to_run
    summary = summarise_study(
        study,
        groups=kernels,
        target=options.target,
        accept_cold=options.accept_cold,
        next_launches=[(program.name, launch) for launch in to_run],
    )
    following = _following(speedups, options, is_larger=larger is not None)
    groups = [group for _, group in kernels]
    result = _result(
        "speedup",
        study,
        summary,
        lambda _: words.speedup_blocks(speedups, groups, larger, options, following),
        options,
    )
    _emit(with_selection(result, plan_selection(plan)), options)
    _check_gaps(speedups)
    if options.target is not None and not speedups.is_within(options.target, accept_cold=options.accept_cold):
        raise CheckFailedError(words.unmet_text(speedups, options))
    if options.fail_slower is not None and (slower := words.slower_text(speedups, options.fail_slower)):
        raise CheckFailedError(slower)


def _check_gaps(speedups: PlanSpeedups, where: str = "") -> None:
    """Raise CheckFailedError where a speedup is missing."""
    gaps = [speedup for speedup in speedups.speedups if speedups.verdict(speedup) is None and speedup.missing]
    if gaps:
        raise CheckFailedError(f"incomplete: {where}{gaps[0].name}: {gaps[0].reason}")


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
