"""A sampling method: one frozen object that says what the method is and what it can do.

Every method's module ends with its object, and `registry` finds it. What a method can do is a field of the
object, None where it cannot: draw at random from strata of durations (``stratify``), split kernel groups
decision by decision (``trees``), or pick launches by their features (``pick``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import FloatArray, IntArray
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.launch_list import LaunchList
from sampling.splitting.tree import Overrides, SplitRule, split_groups
from sampling.strata.strata import Strata
from sampling.strata.target import Target

#: The fields of `Target` that say how simulated time varies, which every bound of it looks at.
DECLARED = ("noise_floor", "kernel_spread")


@dataclass(frozen=True, slots=True, kw_only=True)
class StrataRequest:
    """What a method that draws at random is given."""

    counts: DurationCounts
    target: Target
    #: The method's own, of its ``options_type``.
    options: Any
    overrides: Overrides = field(default_factory=dict)
    progress: Progress | None = None
    #: Only `random` goes by chance.
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    #: ``METHOD.NAME=VALUE`` of all methods, for one that looks at the plan of another.
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picks:
    """Strata found by looking at single launches, with the launches that represent each; none by chance."""

    #: (n,) the stratum of every launch of the list, 0 <= stratum < s; -1: no pick stands for it.
    stratum: IntArray
    #: (s,) what each stratum is, in words; distinct.
    labels: tuple[str, ...]
    #: (k,) rows of the launch list to simulate, ascending and distinct; and how much of the total each stands
    #: for, which is estimated as sum of weight * duration.
    row: IntArray
    weight: FloatArray
    #: What the user should know of how these came about; and the method's own figures, JSON values by name.
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def estimate(self, values: NDArray[np.number]) -> float:
        """Return the projected total of per-launch values (n,), for example durations or cycles."""
        return float(np.dot(self.weight, values[self.row].astype(np.float64)))


@dataclass(frozen=True, slots=True)
class GrownByRule:
    """Split trees that a rule grows, for a target and the method's options, each from its group alone."""

    rule: Callable[[Target, Any], SplitRule]

    def stratify(self, request: StrataRequest) -> Strata:
        """Split every group, then choose the sizes of the final clusters."""
        rule = self.rule(request.target, request.options)
        return rule.sized(*split_groups(request.counts, rule, request.overrides, request.progress))


#: Picks launches, given the list, the method's options, a generator and whom to tell of progress. It raises
#: NotApplicableError for launches that lack what the method needs.
Pick = Callable[[LaunchList, Any, np.random.Generator, Progress | None], Picks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A sampling method; a capability that it does not have is None."""

    name: str
    #: Paper and section; what it does, in sentences; and what a profile must have beside name and duration.
    source: str
    description: str
    needs: tuple[str, ...] = ()
    #: Its own paper's key, used where `published` is the grouping.
    published_grouping: GroupBy
    #: Its options, each with a default; and the fields of `Target` that it looks at beside epsilon and
    #: confidence.
    options_type: type[Any]
    target_fields: tuple[str, ...] = ()
    #: Chooses strata of durations to draw from at random, so that a bound exists.
    stratify: Callable[[StrataRequest], Strata] | None = None
    #: How it splits kernel groups. A user's decisions count in every method that has strata of these: one
    #: without trees of its own takes ROOT's.
    trees: GrownByRule | None = None
    #: Chooses launches by their features, none at random.
    pick: Pick | None = None
    #: For given options, how many launches at least to draw at random from each stratum that ``pick`` finds,
    #: which then hold every launch; None: those that it picks.
    drawn_within: Callable[[Any], int | None] | None = None
    #: For given options, the method whose plan says how many launches it draws, if any.
    sized_like: Callable[[Any], str | None] | None = None

    @property
    def draws_at_random(self) -> bool:
        """Whether it draws from ranges of durations; if not, it looks at single launches."""
        return self.stratify is not None
