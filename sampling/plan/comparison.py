"""Comparing methods on one profile, and over several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from msgspec import structs

from sampling.errors import AnalysisError
from sampling.features.join import JoinReport, with_features
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, design_of_method, make_design
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.request import PlanRequest
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches

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


@dataclass(eq=False)
class MethodComparison:
    """Compares methods on one profile; what they share is read once."""

    profile: Profile
    #: What every plan is asked, of each method in turn.
    request: PlanRequest
    _: KW_ONLY
    repeats: int
    #: Whether a file of features that fits no launch is an error; if not it is of another profile.
    strict: bool = True
    progress: Progress | None = None
    #: How the feature files fitted, once a method has asked for them.
    reports: tuple[JoinReport, ...] = ()
    _counts: dict[Grouping, DurationCounts] = field(default_factory=dict, init=False)
    _lists: dict[Grouping, LaunchList] = field(default_factory=dict, init=False)
    _plans: dict[tuple[Grouping, bytes], str] = field(default_factory=dict, init=False)

    def counts(self, grouping: Grouping) -> DurationCounts:
        """Return the reduction by a grouping."""
        if grouping not in self._counts:
            # Groupings differ in what a group is, not in which launches count.
            selected = next((known.selected for known in self._counts.values()), None)
            self._counts[grouping] = count_durations(
                self.profile, grouping, self.request.region, self.progress, selected=selected
            )
        return self._counts[grouping]

    def grouping(self, method: str) -> Grouping:
        """Return the kernel groups of a method's plan."""
        return structs.replace(self.request, method=method).grouping

    def compare(self, method: str) -> Comparison:
        """Design a method's plan, time that, and judge it by repeated draws.

        Raises OptionError: an unknown method or setting.
        """
        request, grouping = self.request, self.grouping(method)
        counts = self.counts(grouping)
        given: dict[str, Any] = {"settings": request.set, "progress": self.progress}
        launches = None if method_named(method).draws_at_random else self._launches(grouping)
        # Methods that split cache their trees on the reduction: each method is timed on a new copy.
        fresh = replace(counts)
        started = time.perf_counter()
        try:
            design = design_of_method(
                make_design(fresh, method, request.target, request.seed, launches=launches, **given)
            )
        except AnalysisError as error:
            return Comparison(method, None, None, error.text, time.perf_counter() - started)
        seconds = time.perf_counter() - started
        judgement = judge_design(counts, design, self.repeats, request.seed, self.progress)
        first = self._plans.setdefault((grouping, plan_key(design)), method)
        return Comparison(method, design, judgement, None, seconds, None if first == method else first)

    def _launches(self, grouping: Grouping) -> LaunchList:
        """Return the launch list by a grouping; features are joined once, for groupings select the same."""
        if grouping not in self._lists:
            listed = list_launches(self.profile, self.counts(grouping), self.progress)
            known = next(iter(self._lists.values()), None)
            if known is not None:
                listed = replace(listed, features=known.features)
            else:
                how: dict[str, Any] = {"locale": self.request.number_locale, "strict": self.strict}
                listed, self.reports = with_features(
                    self.profile, listed, self.request.features, self.progress, **how
                )
            self._lists[grouping] = listed
        return self._lists[grouping]


def mean_figures(
    speedups: Sequence[float | None], errors: Sequence[float], mean: Mean
) -> tuple[float | None, float | None]:
    """Return a method's mean speedup and error over profiles: harmonic and arithmetic, or both geometric.

    The speedup is None where one of them is; an error is None where it is geometric and one is 0, for then it
    is 0 whatever the others are. [STEM+ROOT section V-A; Allegro]
    """
    known, off = np.array(speedups, dtype=np.float64), np.array(errors)
    if mean == "geometric":
        speedup, error = (
            float(np.exp(np.log(each).mean())) if (each > 0).all() else None for each in (known, off)
        )
        return speedup, error
    speedup = None if np.isnan(known).any() else len(known) / float((1 / known).sum())
    return speedup, float(off.mean())


def plan_key(design: Design) -> bytes:
    """Return a key that designs of one reduction share if they are the same plan, and else do not.

    Plans are the same where the same launches are picked with the same weights, or where the same numbers of
    launches are drawn from the same strata, in the same way.
    """
    if design.picked is not None:
        columns = [design.picked[1].row, design.picked[1].weight]
    else:
        strata = design.strata
        order = np.lexsort((strata.start, strata.group))
        drawn = [column[order] for column in (strata.group, strata.start, strata.stop, strata.samples)]
        # Clusters, and pooled groups, are others than kernel groups, whatever their numbers.
        of = np.unique(strata.group) if strata.groups is None else strata.groups.group_of
        columns = [of if design.picks is None else design.picks.stratum, *drawn]
    way = f"{design.random} {design.strata.chance} {[len(column) for column in columns]}"
    return blake2b(way.encode() + b"".join(column.tobytes() for column in columns)).digest()
