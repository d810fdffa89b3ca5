"""Comparing methods on one profile, and over several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import FloatArray
from sampling.errors import AnalysisError
from sampling.features.join import JoinReport, with_features
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, design_of_method, make_design, make_design_by_launches
from sampling.plan.judge import Judgement, judge_design
from sampling.profile.profile import Profile
from sampling.readers.table import NumberLocale
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region
from sampling.strata.target import Target

Mean = Literal["arithmetic", "geometric"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one method does on one profile; design and judgement are None where it is not applicable."""

    method: str
    design: Design | None
    judgement: Judgement | None
    #: Why it is not applicable; None where it is.
    reason: str | None
    #: The time to design the plan, without reading, judging or drawing.
    seconds: float
    #: The method compared before it whose plan is the same one; None where there is none.
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class FeatureFiles:
    """Files with metrics of the launches; without ``strict`` one that fits none is of another profile."""

    paths: tuple[str, ...] = ()
    number_locale: NumberLocale = "C"
    strict: bool = True


@dataclass(eq=False)
class MethodComparison:
    """Compares methods on one profile; what they share is read once.

    ``reports`` tell how the feature files fitted, once a method has asked for them.
    """

    profile: Profile
    region: Region
    target: Target
    _: KW_ONLY
    repeats: int
    seed: int
    settings: tuple[str, ...] = ()
    features: FeatureFiles | None = None
    progress: Progress | None = None
    reports: tuple[JoinReport, ...] = ()
    _counts: dict[Grouping, DurationCounts] = field(default_factory=dict, init=False)
    _lists: dict[Grouping, LaunchList] = field(default_factory=dict, init=False)
    _plans: dict[tuple[Grouping, bytes], str] = field(default_factory=dict, init=False)

    def counts(self, grouping: Grouping) -> DurationCounts:
        """Return the reduction by a grouping."""
        if grouping not in self._counts:
            known = next(iter(self._counts.values()), None)
            self._counts[grouping] = count_durations(
                self.profile,
                grouping,
                self.region,
                self.progress,
                # Groupings differ in what a group is, not in which launches count.
                selected=None if known is None else known.selected,
            )
        return self._counts[grouping]

    def compare(self, method: str, grouping: Grouping) -> Comparison:
        """Design a method's plan, time that, and judge it by repeated draws.

        Raises
        ------
        OptionError : an unknown method or setting.
        """
        counts = self.counts(grouping)
        launches = None if method_named(method).draws_at_random else self._launches(grouping)
        # Methods that split cache their trees on the reduction: each method is timed on a new copy.
        fresh = replace(counts)
        started = time.perf_counter()
        try:
            design = self._design(method, fresh, launches)
        except AnalysisError as error:
            return Comparison(method, None, None, error.text, time.perf_counter() - started)
        seconds = time.perf_counter() - started
        judgement = judge_design(counts, design, self.repeats, self.seed, self.progress)
        first = self._plans.setdefault((grouping, plan_key(design)), method)
        same_as = None if first == method else first
        return Comparison(method, design, judgement, None, seconds, same_as)

    def _design(self, method: str, counts: DurationCounts, launches: LaunchList | None) -> Design:
        asked: dict[str, Any] = {"settings": self.settings, "progress": self.progress}
        if launches is None:
            return design_of_method(make_design(counts, method, self.target, self.seed, **asked))
        return make_design_by_launches(launches, method, self.target, self.seed, **asked)

    def _launches(self, grouping: Grouping) -> LaunchList:
        """Return the launch list by a grouping; features are joined once, for groupings select the same."""
        if grouping not in self._lists:
            listed = list_launches(self.profile, self.counts(grouping), self.progress)
            known = next(iter(self._lists.values()), None)
            if known is not None:
                listed = replace(listed, features=known.features)
            else:
                files = self.features or FeatureFiles()
                listed, self.reports = with_features(
                    self.profile,
                    listed,
                    files.paths,
                    self.progress,
                    locale=files.number_locale,
                    strict=files.strict,
                )
            self._lists[grouping] = listed
        return self._lists[grouping]


@dataclass(frozen=True, slots=True)
class MeanComparison:
    """One method over several profiles: harmonic mean of speedups, mean of errors. [STEM+ROOT section V-A]

    Attributes
    ----------
    speedup : None where one of the profiles has none.
    error : None where it is geometric and one of the errors is 0, which would make it 0 whatever the others.
    """

    method: str
    profiles: int
    speedup: float | None
    error: float | None


def mean_comparison(
    method: str, speedups: Sequence[float | None], errors: Sequence[float], mean: Mean
) -> MeanComparison:
    """Return a method's means over profiles.

    Parameters
    ----------
    speedups, errors : (profiles,) at least one; errors are the mean error on each profile.
    mean : of the errors; "geometric" takes the geometric mean of both, as Allegro does.
    """
    known = np.array([speedup for speedup in speedups if speedup is not None])
    off, is_geometric = np.array(errors), mean == "geometric"
    speedup = None
    if len(known) == len(speedups):
        speedup = _geometric(known) if is_geometric else len(known) / float((1 / known).sum())
    return MeanComparison(
        method, len(speedups), speedup, _geometric(off) if is_geometric else float(off.mean())
    )


def _geometric(values: FloatArray) -> float | None:
    return float(np.exp(np.log(values).mean())) if (values > 0).all() else None


def plan_key(design: Design) -> bytes:
    """Return a key that designs of one reduction share if they are the same plan, and else do not.

    Plans are the same where the same launches are picked with the same weights, or where the same numbers of
    launches are drawn from the same strata, in the same way.
    """
    if design.picked is not None:
        _, picks = design.picked
        return _digest("picks", picks.row, picks.weight)
    strata = design.strata
    order = np.lexsort((strata.start, strata.group))
    drawn = [column[order] for column in (strata.group, strata.start, strata.stop, strata.samples)]
    if design.picks is not None:
        of = design.picks.stratum
    else:
        # Pooled groups are others than kernel groups, whatever their numbers.
        of = np.unique(strata.group) if strata.groups is None else strata.groups.group_of
    return _digest(f"drawn {strata.chance}", of, *drawn)


def _digest(way: str, *columns: NDArray[np.generic]) -> bytes:
    shapes = " ".join(f"{column.dtype} {len(column)}" for column in columns)
    return blake2b(f"{way} {shapes}".encode() + b"".join(column.tobytes() for column in columns)).digest()
