"""The command that compares configurations, on the launches of one plan or on the programs of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from sampling.errors import OptionError
from sampling.estimation.configurations import GroupSpeedup, PlanSpeedups, compare_kernels
from sampling.study.comparison import StudySpeedups
from sampling.study.summary import SpeedupSummary, summarise_study
from tui.engine.speedups import SpeedupAnswer, read_speedups
from tui.options.command_line import command_line
from tui.options.files import free_name
from tui.options.simulate import SpeedupOptions
from tui.output.blocks import Block
from tui.output.writer import STDOUT, Canvas, CommandResult, emit, write_product
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter
from tui.text import speedup as words
from tui.text import study as study_words
from tui.text.plan import export_command, usual_target
from tui.text.profile import plan_selection, with_selection

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp


def run_speedup(options: SpeedupOptions) -> None:
    """Show the speedups, write what to simulate next; say what is not as it is asked for."""
    answer = show_speedups(options)
    if answer.is_of_study:
        check_study(answer.study, answer.options)
        return
    for _, speedups in answer.study.compared:
        _check_plan(speedups, options)


def show_speedups(options: SpeedupOptions) -> SpeedupAnswer:
    """Read all results, compare, show, write what to simulate next; checks are the caller's."""
    if options.target == 0:
        raise OptionError("--target is a fraction between 0 and 1, not 0", remedy="give --target 0.005")
    if options.svg == options.top_up == STDOUT:
        message = "--svg and --top-up are both for stdout, which takes one of them"
        raise OptionError(message, remedy="give one of them a file")
    with ProgressMeter(quiet=options.quiet) as progress:
        answer = read_speedups(options, progress)
        larger = None
        if options.top_up is not None:
            # Needs a reader of profiles, which most comparisons do not.
            from sampling.estimation.top_up import top_up_speedups

            ((_, speedups),) = answer.study.compared
            larger = top_up_speedups(speedups, options.target, progress=progress)
    if larger is not None and options.top_up is not None:
        write_product("plan", larger.text, options.top_up, quiet=options.quiet)
    if answer.is_of_study:
        _emit(study_result(answer.study, answer.options), answer.options)
    else:
        _show_plan(answer, larger)
    return answer


def study_result(
    study: StudySpeedups, options: SpeedupOptions, command: str = "speedup", following: str | None = None
) -> CommandResult:
    """Return what a study comes to, and what simulates more of it where that is wanted.

    ``following``: the command to type next in place of that; "" for none.
    """
    kernels = _kernels(study, options)
    if following is None:
        following = study_words.run_command(options) if study_words.is_open(study, options) else ""
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


def _show_plan(answer: SpeedupAnswer, larger: ToppedUp | None) -> None:
    """Show configurations on the launches of one plan."""
    study, options = answer.study, answer.options
    ((program, speedups),) = study.compared
    kernels = _kernels(study, options)
    to_run = () if larger is None else larger.to_run
    summary = summarise_study(
        study,
        groups=kernels,
        target=options.target,
        accept_cold=options.accept_cold,
        next_launches=[(program, launch) for launch in to_run],
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
    _emit(with_selection(result, plan_selection(speedups.plan)), options)


def _check_plan(speedups: PlanSpeedups, options: SpeedupOptions) -> None:
    """Raise CheckFailedError where a speedup is missing, too wide, or one that is not allowed."""
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


def _following(speedups: PlanSpeedups, options: SpeedupOptions, *, is_larger: bool) -> str:
    """Return the command that simulates what would tell, or that lists it; "" where all is told."""
    plan = speedups.plan
    if is_larger:
        return export_command(str(options.top_up), "more", usual_target(is_amd=plan.is_amd))
    if not words.has_next(speedups, options):
        return ""
    return command_line("speedup", replace(options, top_up=free_name("more.json"), output=None))
