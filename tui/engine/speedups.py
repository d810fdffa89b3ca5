"""Speedups that options ask for: of configurations on the launches of one plan, or of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sampling.errors import OptionError
from sampling.estimation.configurations import SAME_WITHIN, compare_configurations, read_configurations
from sampling.parallel import Progress
from sampling.study.comparison import StudySpeedups, compare_study, single_program
from sampling.study.study_file import Study, is_study, read_study
from tui.engine.plan_files import manifests_beside, plan_before
from tui.options.files import files_named
from tui.options.simulate import SpeedupOptions


@dataclass(frozen=True, eq=False)
class SpeedupAnswer:
    """Speedups, and the options that ask for them."""

    #: With the target of the study where none is given.
    options: SpeedupOptions
    #: A single plan is a study of one program.
    study: StudySpeedups

    @property
    def is_of_study(self) -> bool:
        """Whether a study says where results are, not the options."""
        return is_study(self.options.plan)


def read_speedups(options: SpeedupOptions, progress: Progress | None = None) -> SpeedupAnswer:
    """Read the results that are there, and compare them.

    Raises OptionError: results or --top-up are given beside a study, or no results beside a plan; else what
    `compare_study`, `read_configurations` and `compare_configurations` raise.
    """
    if is_study(options.plan):
        return _read_study(options, progress)
    plan = plan_before("speedup", options, "results")
    if not options.results:
        raise OptionError("no results are named", remedy="give BASE=RESULTS NAME=RESULTS, or a study.toml")
    files = parse_configurations(options.results)
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
    return SpeedupAnswer(options, single_program(Path(plan.path or options.plan).stem, speedups))


def _read_study(options: SpeedupOptions, progress: Progress | None) -> SpeedupAnswer:
    """Compare what is there of a study."""
    if options.results:
        raise OptionError(f"{options.plan} says itself where results are", remedy="leave NAME=RESULTS out")
    if options.top_up is not None:
        remedy = f"`kernelpoint run {options.plan}` draws what narrows it, for all programs"
        raise OptionError("--top-up is of one plan, and a study has several", remedy=remedy)
    study_file = read_study(options.plan)
    target = study_file.settings.target if options.target is None else options.target
    return SpeedupAnswer(replace(options, target=target), study_speedups(study_file, options, progress))


def study_speedups(
    study_file: Study, options: SpeedupOptions, progress: Progress | None = None
) -> StudySpeedups:
    """Return the speedups of what is there of a study; errors as of `compare_study`."""
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


def parse_configurations(texts: Sequence[str]) -> dict[str, list[str]]:
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
