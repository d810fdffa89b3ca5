"""Comparing methods on one profile, and over several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError
from sampling.features.join import JoinReport, with_features
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, make_design, method_design
from sampling.plan.judge import Judgement, all_durations_ns, judge_design, judge_elsewhere
from sampling.plan.other_recording import matched_in_order
from sampling.plan.promise import Bounds
from sampling.plan.request import PlanRequest
from sampling.profile.profile import Profile
from sampling.record import Amount, Count, Fraction, Record
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches

Mean = Literal["arithmetic", "geometric"]


class ComparedMethod(Record, frozen=True, kw_only=True):
    """A method on a profile, or the means of its figures over several; None where it is not applicable."""

    profile: str
    method: str
    applicable: bool
    reason: str | None
    strata: Count | None = None
    samples: Count | None = None
    speedup: Amount | None = None
    promised_error: Amount | None = None
    bound: Amount | None = None
    group_bound: Amount | None = None
    error_mean: Amount | None = None
    error_p95: Amount | None = None
    error_max: Amount | None = None
    within_epsilon: Fraction | None = None
    #: The time to design the plan, without reading, judging or drawing.
    seconds: Amount
    bound_with_noise: Amount | None = None
    #: The method before it whose plan is the same one.
    same_as: str | None = None


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
    #: Of what it is judged on; None where it cannot be told, or no plan is there.
    speedup: float | None = None
    bounds: Bounds = Bounds()

    def record(self, profile: str, reason: str | None) -> ComparedMethod:
        """Return the same for a command's output; ``reason`` is why it is not applicable."""
        design, judgement = self.design, self.judgement
        if design is None or judgement is None:
            return ComparedMethod(
                profile=profile, method=self.method, applicable=False, reason=reason, seconds=self.seconds
            )
        return ComparedMethod.from_attributes(
            self,
            design,
            judgement,
            self.bounds,
            profile=profile,
            speedup=self.speedup,
            method=self.method,
            applicable=True,
            strata=design.strata_count,
        )


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
    #: Another recording of the same launches, on which plans are judged, as what a simulator took of all.
    on: Profile | None = None
    progress: Progress | None = None
    #: How the feature files fitted, once a method has asked for them.
    reports: tuple[JoinReport, ...] = ()
    _counts: dict[Grouping, DurationCounts] = field(default_factory=dict, init=False)
    _lists: dict[Grouping, LaunchList] = field(default_factory=dict, init=False)
    _plans: dict[tuple[Grouping, bytes], str] = field(default_factory=dict, init=False)
    _durations_ns: IntArray | None = field(default=None, init=False)
    #: How many launches have another name, grid or block in the other recording, once that was read.
    launches_differing: int = field(default=0, init=False)

    def counts(self, grouping: Grouping) -> DurationCounts:
        """Return the reduction by a grouping."""
        if grouping not in self._counts:
            # Groupings differ in what a group is, not in which launches count.
            selected = next((counts.selected for counts in self._counts.values()), None)
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
        options: dict[str, Any] = {"settings": request.set, "progress": self.progress}
        launches = None if method_named(method).draws_at_random else self._launches(grouping)
        # Methods that split cache their trees on the reduction: each method is timed on a new copy.
        fresh = replace(counts)
        started = time.perf_counter()
        try:
            design = method_design(
                make_design(fresh, method, request.target, request.seed, launches=launches, **options)
            )
        except AnalysisError as error:
            return Comparison(method, None, None, error.text, time.perf_counter() - started)
        seconds = time.perf_counter() - started
        repeats, seed, bounds = self.repeats, request.seed, design.bounds
        if self.on is None:
            judgement, speedup = judge_design(design, repeats, seed, self.progress), design.speedup
        else:
            elsewhere_ns = self._elsewhere_ns()
            judgement, speedup = judge_elsewhere(
                design, self.profile, elsewhere_ns, repeats, seed, self.progress
            )
            # The other figures are of the profile's own time.
            bounds = Bounds(bounds.promised_error)
        first = self._plans.setdefault((grouping, plan_key(design)), method)
        same_as = None if first == method else first
        return Comparison(method, design, judgement, None, seconds, same_as, speedup, bounds)

    def _elsewhere_ns(self) -> IntArray:
        """Return (launches,) how long the launches last in the other recording, by id; read once."""
        assert self.on is not None
        if self._durations_ns is None:
            self.launches_differing = matched_in_order(self.profile, self.on, self.progress)
            self._durations_ns = all_durations_ns(self.on, self.progress)
        return self._durations_ns

    def _launches(self, grouping: Grouping) -> LaunchList:
        """Return the launch list by a grouping; features are joined once, for groupings select the same."""
        if grouping not in self._lists:
            listed = list_launches(self.profile, self.counts(grouping), self.progress)
            other_list = next(iter(self._lists.values()), None)
            if other_list is not None:
                listed = replace(listed, features=other_list.features)
            else:
                options: dict[str, Any] = {"locale": self.request.number_locale, "strict": self.strict}
                listed, self.reports = with_features(
                    self.profile, listed, self.request.features, self.progress, **options
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
    ratios, off = np.array(speedups, dtype=np.float64), np.array(errors)
    if mean == "geometric":
        speedup, error = (
            float(np.exp(np.log(figures).mean())) if (figures > 0).all() else None
            for figures in (ratios, off)
        )
        return speedup, error
    speedup = None if np.isnan(ratios).any() else len(ratios) / float((1 / ratios).sum())
    return speedup, float(off.mean())


#: What the name of profiles begins with that a mean is over.
MEAN_OF = "mean of "


def list_means(tables: Sequence[Sequence[ComparedMethod]], mean: Mean) -> list[ComparedMethod]:
    """Return the means of each method over workloads: over all, then over smaller sets of them.

    ``tables`` has the methods of each workload, in the same order. Means over different workloads cannot be
    compared. So where a method applies to some workloads only, the other methods get a mean over the same
    ones too; for a single workload its own figures already say that.
    """
    applies = {
        row.method: frozenset(number for number, rows in enumerate(tables) if rows[index].applicable)
        for index, row in enumerate(tables[0])
    }
    everywhere = frozenset(range(len(tables)))
    partial = sorted({places for places in applies.values() if places} - {everywhere}, key=sorted)
    means = []
    for places in (everywhere, *partial):
        for index, (method, own) in enumerate(applies.items()):
            if own != places and not (own > places and len(places) > 1):
                continue
            rows = [tables[number][index] for number in sorted(places)]
            errors = [0.0 if row.error_mean is None else row.error_mean for row in rows]
            speedup, error = mean_figures([row.speedup for row in rows], errors, mean)
            same_as = {row.same_as for row in rows}
            means.append(
                ComparedMethod(
                    profile=_profiles_of_mean(rows, len(tables), mean),
                    method=method,
                    applicable=True,
                    reason=None,
                    speedup=speedup,
                    error_mean=error,
                    seconds=sum(row.seconds for row in rows),
                    same_as=same_as.pop() if len(same_as) == 1 else None,
                )
            )
    return means


def _profiles_of_mean(rows: Sequence[ComparedMethod], workloads: int, mean: Mean) -> str:
    """Return which workloads of how many a mean is over, and what kind of mean it is."""
    kind = "geometric" if mean == "geometric" else "harmonic"
    of = str(len(rows)) if len(rows) == workloads else f"{len(rows)} of {workloads}"
    names = f": {', '.join(row.profile for row in rows)}" if len(rows) < workloads else ""
    return f"{MEAN_OF}{of} ({kind} speedup, {mean} error){names}"


def plan_key(design: Design) -> bytes:
    """Return a key that designs of one reduction share if they are the same plan, and else do not.

    Plans are the same where the same launches are picked with the same weights, or where the same numbers of
    launches are drawn from the same strata, in the same way.
    """
    columns = design.identity()
    way = f"{design.random} {design.strata.chance} {[len(column) for column in columns]}"
    return blake2b(way.encode() + b"".join(column.tobytes() for column in columns)).digest()
