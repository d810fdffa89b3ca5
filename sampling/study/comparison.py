"""What the results of a study come to: the speedups on every program, and their means.

The intervals of a program's configurations hold together; the programs are drawn independently of each other,
and so are their intervals. The means are of these programs, see `suite`. A single plan is a study of one.
(docs/methods.md, 15 Two configurations)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sampling.errors import AnalysisError
from sampling.estimation.configurations import PlanSpeedups, compare_configurations, read_configurations
from sampling.estimation.speedup import Speedup, Verdict, judge_interval
from sampling.estimation.suite import Mean, Means, means
from sampling.parallel import Progress
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.study.study_file import Study


@dataclass(frozen=True, eq=False)
class ProgramComparison:
    """A program of a study on its configurations."""

    name: str
    #: None where none is made yet.
    plan: PlanFile | None
    #: None where less than the base and another configuration has results.
    speedups: PlanSpeedups | None
    #: Configurations without results, and where these are looked for.
    missing: Mapping[str, str] = field(default_factory=dict)

    def speedup(self, configuration: str) -> Speedup | None:
        """Return the speedup of a configuration over the base; None where there is no result of it."""
        if self.speedups is None:
            return None
        base = self.speedups.base.name
        contrasts = (contrast for contrast in self.speedups.speedups if contrast.base == base)
        return next((contrast for contrast in contrasts if contrast.name == configuration), None)


@dataclass(frozen=True, eq=False)
class StudySpeedups:
    """The speedups of configurations over a base, on several programs."""

    #: The first is the base.
    configurations: tuple[str, ...]
    programs: tuple[ProgramComparison, ...]
    same_within: float
    #: Of the intervals of a program together; NaN where nothing is compared yet.
    confidence: float

    @property
    def base(self) -> str:
        """The name of what the others are compared with."""
        return self.configurations[0]

    @property
    def compared(self) -> Iterator[tuple[str, PlanSpeedups]]:
        """The programs that have speedups."""
        return ((program.name, program.speedups) for program in self.programs if program.speedups is not None)

    @property
    def missing(self) -> list[tuple[str, str, str]]:
        """Program and configuration of each cell without results, and where these are looked for."""
        return [
            (program.name, configuration, place)
            for program in self.programs
            for configuration, place in program.missing.items()
        ]

    @property
    def simultaneous(self) -> bool:
        """Whether intervals of a program hold together."""
        return any(speedups.simultaneous for _, speedups in self.compared)

    @cached_property
    def means(self) -> dict[str, Means]:
        """The means of the configurations whose speedups are known on all of several programs."""
        if len(self.programs) < 2:
            return {}
        of_configuration = {}
        for name in self.configurations[1:]:
            contrasts = [program.speedup(name) for program in self.programs]
            speedups = [contrast for contrast in contrasts if contrast and math.isfinite(contrast.ratio)]
            if len(speedups) == len(self.programs):
                of_configuration[name] = self._means_of(speedups)
        return of_configuration

    def _means_of(self, speedups: Sequence[Speedup]) -> Means:
        compared = [speedups for _, speedups in self.compared]
        if all(of_program.plan.is_random for of_program in compared):
            return means([of_program.sample for of_program in compared], speedups, self.confidence)
        # The weights of picked launches give totals without an interval.
        totals = [
            [of_program.by_name[name].estimate.main.total for name in (contrast.base, contrast.name)]
            for of_program, contrast in zip(compared, speedups, strict=True)
        ]
        above, below = map(sum, zip(*totals, strict=True))
        return means([], speedups, self.confidence, total=Mean(above / below, math.nan))

    def verdict(self, mean: Mean) -> Verdict | None:
        """Return what a mean's interval says; None where it has none."""
        return None if math.isnan(mean.half_width) else judge_interval(mean.low, mean.high, self.same_within)

    def is_within(self, target: float, *, accept_cold: bool = False) -> bool:
        """Return whether all speedups of all programs are there, and as narrow as asked for."""
        return not self.missing and all(
            speedups.is_within(target, accept_cold=accept_cold) for _, speedups in self.compared
        )

    def widest(self) -> tuple[str, Speedup] | None:
        """Return the speedup that is known least, and its program; None where there is none."""
        contrasts = [(name, contrast) for name, speedups in self.compared for contrast in speedups.speedups]
        return max(contrasts, key=lambda pair: _width(pair[1].half_width), default=None)


def _width(half_width: float) -> float:
    return math.inf if math.isnan(half_width) else half_width


def single_program(name: str, speedups: PlanSpeedups) -> StudySpeedups:
    """Return the speedups of one plan as a study of one program."""
    return StudySpeedups(
        tuple(configuration.name for configuration in speedups.configurations),
        (ProgramComparison(name, speedups.plan, speedups),),
        speedups.same_within,
        speedups.confidence,
    )


def compare_study(
    study: Study,
    *,
    all_pairs: bool = False,
    same_within: float | None = None,
    confidence: float | None = None,
    source: str | None = None,
    manifests: Sequence[str] = (),
    projection_error: float | None = None,
    scale_error: float = 0.0,
    progress: Progress | None = None,
) -> StudySpeedups:
    """Read the results of a study that are there, and compare them.

    Parameters
    ----------
    same_within, confidence : None: the study's, and that of its first plan.
    all_pairs, source, manifests, projection_error, scale_error : as of `compare_configurations` and
        `read_configurations`.

    Raises what these raise, about the program.
    """
    same_within = study.settings.same_within if same_within is None else same_within
    programs = []
    for name in study.programs:
        place = study.plan_path(name)
        if place is None:
            given = study.programs[name].plan
            why = "no plan yet" if given is None else f"no plan: {given}"
            programs.append(ProgramComparison(name, None, None, dict.fromkeys(study.configurations, why)))
            continue
        plan = read_plan(str(place))
        confidence = plan.options.confidence if confidence is None else confidence
        files = {
            configuration: study.result_files(name, configuration) for configuration in study.configurations
        }
        missing = {
            configuration: study.shortened(study.result_place(name, configuration))
            for configuration, paths in files.items()
            if not paths
        }
        speedups = None
        if study.base not in missing and len(missing) < len(files) - 1:
            present = {configuration: paths for configuration, paths in files.items() if paths}
            results = read_configurations(
                plan, present, source=source, manifests=manifests, progress=progress
            )
            try:
                speedups = compare_configurations(
                    plan,
                    results,
                    files=present,
                    all_pairs=all_pairs,
                    same_within=same_within,
                    confidence=confidence,
                    projection_error=projection_error,
                    scale_error=scale_error,
                )
            except AnalysisError as error:
                raise AnalysisError(f"{name}: {error.message}", remedy=error.remedy) from error
        programs.append(ProgramComparison(name, plan, speedups, missing))
    level = math.nan if confidence is None else confidence
    return StudySpeedups(tuple(study.configurations), tuple(programs), same_within, level)
