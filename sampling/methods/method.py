"""A sampling method: one frozen object that says what the method is and what it can do.

Every method module ends with its object, ``METHOD``, and `registry` finds it. What a method can do is a field
of the object, None where it cannot: draw at random from strata of durations (``stratify``), split kernel
groups decision by decision (``trees``), or pick launches by their features (``pick``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.picks import Picks
from sampling.methods.settings import MethodOptions
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.splitting.groups import Overrides, split_groups
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import SplitRule
from sampling.splitting.tree import SplitTree
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target

#: The fields of `Target` that say how simulated time varies, which every bound of it looks at.
DECLARED = ("noise_floor", "kernel_spread")

OptionsT = TypeVar("OptionsT", bound=MethodOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRequest(Generic[OptionsT]):
    """What a method that splits kernel groups is given; nothing in it depends on chance."""

    counts: DurationCounts
    target: Target
    options: OptionsT
    overrides: Overrides = field(default_factory=dict)
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StrataRequest(SplitRequest[OptionsT]):
    """What a method that draws at random is given.

    Attributes
    ----------
    settings : ``METHOD.NAME=VALUE`` of all methods, for one that looks at the plan of another.
    """

    rng: np.random.Generator
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PickRequest(Generic[OptionsT]):
    """What a method that picks launches is given."""

    launches: LaunchList
    options: OptionsT
    rng: np.random.Generator
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class GrownByRule(Generic[OptionsT]):
    """Split trees that a rule grows, each from its own kernel group alone.

    Attributes
    ----------
    rule : the rule for a target and the method's options.
    """

    rule: Callable[[Target, OptionsT], SplitRule]

    def stratify(self, request: SplitRequest[OptionsT]) -> Strata:
        """Split every group, then choose the sizes of the final clusters."""
        rule = self.rule(request.target, request.options)
        clusters, samples = split_groups(request.counts, rule, request.overrides, request.progress)
        return rule.sized(clusters, samples)

    def split_tree(self, request: SplitRequest[OptionsT], group: int) -> SplitTree:
        """Return how a group is split."""
        rule = self.rule(request.target, request.options)
        decided = request.overrides.get(request.counts.groups[group].key)
        return TreeGrower(request.counts, group, rule, decided).run()


class SolvedTrees(Protocol):
    """The trees of all kernel groups of one plan, found together."""

    @property
    def plan(self) -> Strata:
        """The strata that the trees lead to."""

    @property
    def whole(self) -> IntArray:
        """(groups,) the samples that each group costs if it is kept whole."""

    def tree(self, group: int) -> SplitTree:
        """Return how a group is split."""

    def sizes(self, clusters: Clusters, samples: IntArray) -> IntArray:
        """Return (s,) the sizes of clusters of groups that are not split to their end.

        Parameters
        ----------
        samples : (s,) what each costs by the decision above it.
        """


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Trees of a plan, and what they were found for."""

    counts: DurationCounts
    asked: object
    trees: SolvedTrees


# Of one plan alone, since those of large profiles are large.
_FOUND_LAST: deque[_Found] = deque(maxlen=1)


@dataclass(frozen=True, slots=True)
class SolvedTogether(Generic[OptionsT]):
    """Split trees that hang together: no group's is known before those of all are.

    Attributes
    ----------
    find : finds the trees of a plan.
    """

    find: Callable[[SplitRequest[OptionsT]], SolvedTrees]

    def solve(self, request: SplitRequest[OptionsT]) -> SolvedTrees:
        """Return the trees of a plan; those that were found last are not sought again.

        A plan is walked through, or handed on, right after it is made.
        """
        asked = (self.find, request.target, request.options, dict(request.overrides))
        for found in tuple(_FOUND_LAST):
            if found.counts is request.counts and found.asked == asked:
                return found.trees
        trees = self.find(request)
        _FOUND_LAST.append(_Found(request.counts, asked, trees))
        return trees

    def stratify(self, request: SplitRequest[OptionsT]) -> Strata:
        """Return the strata that all trees lead to."""
        return self.solve(request).plan

    def split_tree(self, request: SplitRequest[OptionsT], group: int) -> SplitTree:
        """Return how a group is split."""
        return self.solve(request).tree(group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[OptionsT]):
    """A sampling method; a capability that it does not have is None.

    Attributes
    ----------
    source : paper and section.
    needs : what a profile must have beside name and duration.
    needs_durations : whether it looks at durations whatever it is given; if not, a profile without them does,
        though with some options or files the method may still ask for them.
    published_grouping : its own paper's key, used where `published` is the grouping.
    options_type : its options, each with a default.
    target_fields : the fields of `Target` that it looks at beside epsilon, confidence and with_replacement.
    stratify : chooses strata of durations to draw from at random, so that a bound exists.
    trees : how it splits kernel groups, so that a user can override its decisions.
    pick : chooses launches by their features, none at random. It raises NotApplicableError for launches that
        lack what the method needs.
    drawn_within : for given options, how many launches at least to draw at random from each stratum that
        ``pick`` finds, which then hold every launch; None: those that it picks.
    sized_like : for given options, the method whose plan says how many launches it draws, if any.
    """

    name: str
    source: str
    needs: tuple[str, ...] = ()
    needs_durations: bool = True
    published_grouping: GroupBy
    options_type: type[OptionsT]
    target_fields: tuple[str, ...] = ()
    stratify: Callable[[StrataRequest[OptionsT]], Strata] | None = None
    trees: GrownByRule[OptionsT] | SolvedTogether[OptionsT] | None = None
    pick: Callable[[PickRequest[OptionsT]], Picks] | None = None
    drawn_within: Callable[[OptionsT], int | None] | None = None
    sized_like: Callable[[OptionsT], str | None] | None = None

    @property
    def draws_at_random(self) -> bool:
        """Whether it draws from ranges of durations; if not, it looks at single launches."""
        return self.stratify is not None

    def asked(self, target: Target) -> Target:
        """Return what a target asks of this method: one that pools nothing is not told how kernels spread.

        Its bounds are then of launches of one kernel alone, as its strata are. (docs/methods.md, 5 Joint)
        """
        pools_nothing = "pool_below" in self.target_fields and target.pool_below == 0
        return replace(target, kernel_spread=0.0) if pools_nothing else target
