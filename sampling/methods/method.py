"""A sampling method: one frozen object that says what the method is and what it can do.

Every method module ends with its object, ``METHOD``, and `registry` finds it. What a method can do is a field
of the object, None where it cannot: draw at random from strata of durations (``stratify``), split kernel
groups decision by decision (``trees``), or pick launches by their features (``pick``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from sampling.methods.picks import Picks
from sampling.methods.settings import MethodOptions
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.splitting.tree import Overrides, SplitRule, SplitTree, TreeGrower, split_groups
from sampling.strata.strata import Strata
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[OptionsT]):
    """A sampling method; a capability that it does not have is None.

    Attributes
    ----------
    source : paper and section.
    needs : what a profile must have beside name and duration.
    published_grouping : its own paper's key, used where `published` is the grouping.
    options_type : its options, each with a default.
    target_fields : the fields of `Target` that it looks at beside epsilon and confidence.
    stratify : chooses strata of durations to draw from at random, so that a bound exists.
    trees : how it splits kernel groups, decision by decision. A user's decisions count in every method that
        has strata: one without trees of its own takes ROOT's.
    pick : chooses launches by their features, none at random. It raises NotApplicableError for launches that
        lack what the method needs.
    drawn_within : for given options, how many launches at least to draw at random from each stratum that
        ``pick`` finds, which then hold every launch; None: those that it picks.
    sized_like : for given options, the method whose plan says how many launches it draws, if any.
    """

    name: str
    source: str
    needs: tuple[str, ...] = ()
    published_grouping: GroupBy
    options_type: type[OptionsT]
    target_fields: tuple[str, ...] = ()
    stratify: Callable[[StrataRequest[OptionsT]], Strata] | None = None
    trees: GrownByRule[OptionsT] | None = None
    pick: Callable[[PickRequest[OptionsT]], Picks] | None = None
    drawn_within: Callable[[OptionsT], int | None] | None = None
    sized_like: Callable[[OptionsT], str | None] | None = None

    @property
    def draws_at_random(self) -> bool:
        """Whether it draws from ranges of durations; if not, it looks at single launches."""
        return self.stratify is not None
