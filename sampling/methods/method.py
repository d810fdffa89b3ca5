"""A sampling method: one frozen object that says what the method is and what it can do; and its options.

Every method's module ends with its object, and `registry` finds it. What a method can do is a field of the
object, None where it cannot: draw at random from strata of durations (``stratify``), split kernel groups
decision by decision (``trees``), or pick launches by their features (``pick``). An option is declared once:
texts are read by it, and `kernelpoint methods` shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.parallel import Progress
from sampling.record import Record
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


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Launches of a list that are drawn together, as those of a layer; every other is a unit of its own."""

    #: (n,) the unit of each launch, one stratum's; those of several launches come first.
    unit: IntArray
    #: (s,) how many units to draw of each stratum; 0: as many as the target asks for.
    samples: IntArray
    #: What each unit of several launches is: what the program calls it, and its iteration and number there.
    places: tuple[tuple[str, int, int], ...]


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
    #: Where launches are to be drawn together within the strata.
    units: Units | None = None

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


# Its options.

# Above this float64 skips whole numbers.
_MOST = 2**53
#: Limits of a number above 0 and below 1.
FRACTION: dict[str, Any] = {"gt": 0, "lt": 1}


def setting(default: Any, meaning: str, *, values: str = "", **limits: float) -> Any:
    """Return a field that is an option of a method: a number, one of a few words (Literal), or a text.

    ``meaning`` is a phrase, of choices what each does; ``values`` what a text may be; ``limits`` of a number
    are ``ge, gt, le, lt``, as `msgspec.Meta` has them.
    """
    return field(default=default, metadata={"meaning": meaning, "values": values, "limits": limits})


class AboutOption(Record, frozen=True):
    """What is to be known of an option: the words it may be, what it may be in words, what it means."""

    name: str
    default: Any
    choices: tuple[str, ...]
    values: str
    meaning: str


def about_options(options_type: type[Any]) -> tuple[AboutOption, ...]:
    """Return what is to be known of each option of a method, in their order."""
    abouts = []
    for option in fields(options_type):
        kind, is_optional = _kind(options_type, option.name)
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        values = ", ".join(choices) or option.metadata["values"] or _in_words(**option.metadata["limits"])
        values += ", or none" if is_optional else ""
        abouts.append(AboutOption(option.name, option.default, choices, values, option.metadata["meaning"]))
    return tuple(abouts)


def option_value(method: str, options_type: type[Any], name: str, text: str) -> Any:
    """Return the value that a text means for an option; OptionError where it may be no such value."""
    kind, is_optional = _kind(options_type, name)
    if is_optional and text == "none":
        return None
    limits = next(option.metadata["limits"] for option in fields(options_type) if option.name == name)
    try:
        value = msgspec.convert(text, Annotated[kind, msgspec.Meta(**limits)], strict=False)
    except msgspec.ValidationError:
        value = math.inf
    if value == math.inf or (isinstance(value, int) and value > _MOST):
        about = next(option for option in about_options(options_type) if option.name == name)
        kind_text = "one of " if about.choices else "a whole number, " if kind is int else ""
        raise OptionError(f"{method}.{name} is {kind_text}{about.values}, not {text!r}")
    return value


def _kind(options_type: type[Any], name: str) -> tuple[Any, bool]:
    """Return the type of an option, and whether it may be None, written "none", too."""
    hint = get_type_hints(options_type)[name]
    kinds = [arm for arm in get_args(hint) if arm is not type(None)]
    return (kinds[0], True) if type(None) in get_args(hint) else (hint, False)


def _in_words(
    ge: float | None = None, gt: float | None = None, le: float | None = None, lt: float | None = None
) -> str:
    """Return limits in words: "2 to 8", "1 or more", "above 0, below 1"."""
    if ge is not None and le is not None:
        return f"{ge:g} to {le:g}"
    words = (("{:g} or more", ge), ("above {:g}", gt), ("at most {:g}", le), ("below {:g}", lt))
    return ", ".join(text.format(end) for text, end in words if end is not None)
