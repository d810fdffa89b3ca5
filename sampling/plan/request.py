"""What a plan is asked, as one frozen record: every option once, with its type, range, help and steps.

The command line makes its flags of the fields, the form of the app its rows, and a plan file holds the record
as it is, so that what is asked of a plan cannot differ between them. A new option is a new field.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterator, Sequence
from enum import Enum, StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from sampling.errors import OptionError
from sampling.methods.registry import (
    DEFAULT_METHOD,
    draws_at_random,
    method_named,
    method_names,
    method_options,
)
from sampling.readers import NumberLocale
from sampling.reduction import GroupBy
from sampling.strata.target import LEAST_EPSILON, MOST_CONFIDENCE, MOST_LAUNCHES, Target
from sampling.text import Wording, why_no_number

if TYPE_CHECKING:
    # They import numpy, which the first paint and a refused option must not wait for.
    from sampling.readers.input_file import ReadOptions
    from sampling.reduction.grouping import Grouping
    from sampling.reduction.region import Region

NONE = "none"
"""How no bound is written, where a number may be none."""
#: Launches of a stratum: from two on they show how much a speedup varies.
FEWEST_OF_SPEEDUPS = 2


class Part(Enum):
    """What an option is about; a command offers whole parts."""

    SEED = "seed"
    SELECTION = "selection"
    READING = "reading"
    PROMISE = "promise"
    METHOD = "method"


class Range(Struct, frozen=True):
    """The least and the largest value of a number, and both in words."""

    least: float
    most: float
    words: str


class Option(Struct, frozen=True, kw_only=True):
    """How an option is typed, checked, stepped and explained."""

    help: str
    part: Part
    #: A letter, or another word, for its flag.
    also: str | None = None
    #: The flag of one that is switched off by it; ``--name-of-the-field`` where it is "".
    flag: str = ""
    metavar: str | None = None
    range: Range | None = None
    #: The values that the form steps along; a whole number without them goes by one.
    ladder: tuple[float, ...] = ()
    #: Whether only some methods look at it: those that name it, or for a declared spread those that draw.
    by_some: bool = False
    #: What the engine's messages call it, where that is not the name of the field.
    parameter: str | None = None
    #: What stands before the path in its value, where that is a file to read: "" or a sign.
    reads: str | None = None


_BETWEEN = "a fraction between 0 and 1"
_BELOW_ONE = math.nextafter(1, 0)
_EPSILONS = Range(LEAST_EPSILON, _BELOW_ONE, _BETWEEN)
# The round fractions of three decades.
_FRACTIONS = tuple(float(f"{digit}e{power}") for power in (-3, -2, -1) for digit in (1, 1.5, 2, 3, 5, 7))
_GROUP_FRACTIONS = tuple(sorted({*_FRACTIONS, 0.25}))
_CONFIDENCES = (0.5, 0.68, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
_SPREADS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)


def _selection(text: str, **about: Any) -> Option:
    return Option(help=text, part=Part.SELECTION, **about)


def _reading(text: str, **about: Any) -> Option:
    return Option(help=text, part=Part.READING, **about)


def _promise(text: str, **about: Any) -> Option:
    return Option(help=text, part=Part.PROMISE, **about)


def _method(text: str, **about: Any) -> Option:
    return Option(help=text, part=Part.METHOD, **about)


class PlanRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a plan is asked.

    Raises OptionError, where it is made or read: a number is out of its range, or there is no such grouping.
    """

    seed: Annotated[
        int, Option(help="Seed of every random draw.", part=Part.SEED, range=Range(0, math.inf, "0 or more"))
    ] = 0
    group_by: Annotated[GroupBy, _selection("What the launches of a kernel group share.")] = GroupBy.LAUNCH
    pool_devices: Annotated[bool, _selection("Let a kernel group span all processes and devices.")] = False
    each_rank: Annotated[
        bool, _selection("Plan processes and devices apart that issue the same launches, and list all apart.")
    ] = False
    #: Numbers, and windows of them as A:B, each perhaps several by commas.
    device: Annotated[
        tuple[int | str, ...],
        _selection("Only these devices (repeat, or 0,1).", metavar="N", parameter="devices"),
    ] = ()
    process: Annotated[
        tuple[int | str, ...],
        _selection(
            "Only these processes, or ranks (repeat, or 0,8:16, which is 0 and 8 to 15).",
            also="--rank",
            metavar="N",
            parameter="processes",
        ),
    ] = ()
    include: Annotated[
        tuple[str, ...], _selection("Only kernels whose full name matches.", metavar="REGEX")
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        _selection("Not these kernels; `communication` stands for collectives.", metavar="REGEX"),
    ] = ()
    launches: Annotated[str | None, _selection("Only launch ids A up to, not with, B.", metavar="A:B")] = None
    time: Annotated[
        str | None,
        _selection(
            "Only launches that start A up to, not with, B ns after the first.",
            metavar="A:B",
            parameter="time_ns",
        ),
    ] = None
    range: Annotated[
        str | None,
        _selection(
            "Only launches of this NVTX or annotation range.", metavar="TEXT", parameter="named_range"
        ),
    ] = None
    min_duration: Annotated[
        int | None,
        _selection(
            "Only launches that last N ns or more; what that leaves out is said.",
            metavar="NS",
            range=Range(1, math.inf, "1 or more"),
            parameter="min_duration_ns",
        ),
    ] = None
    columns: Annotated[
        str | None,
        _reading(
            "CSV and Parquet: which columns hold what; a time's unit may follow, :us. Also grid, block or "
            "their axes, start_ns, stream, device, process.",
            metavar="name=A,duration_ns=B",
        ),
    ] = None
    rank_regex: Annotated[
        str | None,
        _reading(r"Where paths tell ranks, if not as rank3 or worker3: 'report_(\d+)'.", metavar="REGEX"),
    ] = None
    partial: Annotated[bool, _reading("Of a trace that is cut short, read what is whole.")] = False
    keep_overlong: Annotated[
        bool, _reading("Keep recorded durations in which other launches of the same stream begin and end.")
    ] = False
    profile_cycles: Annotated[
        bool,
        _reading("Nsight Compute pages: cycles are the durations, also where there are times."),
    ] = False
    epsilon: Annotated[
        float,
        _promise("Bound on the relative error of the total.", also="-e", range=_EPSILONS, ladder=_FRACTIONS),
    ] = Target.epsilon
    confidence: Annotated[
        float,
        _promise(
            "Share of draws that must meet it.",
            range=Range(1e-9, MOST_CONFIDENCE, _BETWEEN),
            ladder=_CONFIDENCES,
        ),
    ] = Target.confidence
    group_epsilon: Annotated[
        float | None,
        _promise(
            "joint: bound of every group, or none.", range=_EPSILONS, ladder=_GROUP_FRACTIONS, by_some=True
        ),
    ] = Target.group_epsilon
    min_samples: Annotated[
        int,
        _promise(
            "joint: least samples of a stratum.", range=Range(1, MOST_LAUNCHES, "1 to 2^53"), by_some=True
        ),
    ] = Target.min_samples
    noise_floor: Annotated[
        float,
        _promise(
            "Declared spread of cycles per ns within a stratum.",
            range=Range(0, _BELOW_ONE, "a fraction from 0, below 1"),
            ladder=_SPREADS,
            by_some=True,
        ),
    ] = Target.noise_floor
    kernel_spread: Annotated[
        float,
        _promise(
            "Declared spread of cycles per ns between kernels.",
            range=Range(0, 10, "a fraction from 0 to 10"),
            ladder=_SPREADS,
            by_some=True,
        ),
    ] = Target.kernel_spread
    pool: Annotated[
        bool,
        _promise(
            "joint: an own estimate of every kernel group, however small.", flag="--no-pool", by_some=True
        ),
    ] = Target.pool
    set: Annotated[
        tuple[str, ...],
        _promise("An option of one method.", metavar="METHOD.NAME=VALUE", parameter="settings"),
    ] = ()
    method: Annotated[str, _method("How to choose the launches.", also="-m")] = DEFAULT_METHOD
    #: Written as `method` and its setting, which say the same.
    layers: Annotated[
        int | None,
        _method(
            "Draw N whole layers of the network: --method layers --set layers.draw=N.",
            metavar="N",
            range=Range(1, MOST_LAUNCHES, "1 to 2^53"),
        ),
    ] = None
    features: Annotated[
        tuple[str, ...],
        _method(
            "Metrics of the launches: ncu, NVBit, CSV, Parquet, npy (repeat); of several profiles, PROFILE "
            "is the one they are of.",
            metavar="[PROFILE=]FILE",
            reads="=",
        ),
    ] = ()
    number_locale: Annotated[NumberLocale, _method("How pages of Nsight Compute write numbers.")] = "C"
    cost: Annotated[
        str | None,
        _method(
            "What simulating a launch costs in place of its time: instructions, or another metric of "
            "--features.",
            metavar="METRIC",
        ),
    ] = None
    #: A file of split decisions; a plan file has them itself, so it names none.
    overrides: Annotated[
        str | None, _method("Split decisions of yours, as JSON.", metavar="FILE", reads="")
    ] = None

    def __post_init__(self) -> None:
        """Check what can be checked without the profile and without what reads it."""
        for name, limits in ranges().items():
            value = getattr(self, name)
            if value is not None and not limits.least <= value <= limits.most:
                raise _out_of_range(name, value, limits)
        if self.layers is not None:
            if self.method not in {DEFAULT_METHOD, "layers"}:
                raise OptionError(
                    Wording("`layers` draws whole layers, and `method={}` does not", self.method)
                )
            force_setattr(self, "method", "layers")
            force_setattr(self, "set", (*self.set, f"layers.draw={self.layers}"))
            force_setattr(self, "layers", None)
        if type(self.group_by) is not GroupBy:
            try:
                force_setattr(self, "group_by", GroupBy(self.group_by))
            except ValueError as error:
                raise OptionError(f"{error}", remedy=f"give {', '.join(GroupBy)}") from error

    @property
    def target(self) -> Target:
        """The promise that the plan has to keep."""
        return Target(**{name: getattr(self, name) for name in Target.__dataclass_fields__})

    @property
    def grouping(self) -> Grouping:
        """The kernel groups; `published` is the key of the method's own paper.

        Raises OptionError: processes and devices are to be both pooled and kept apart.
        """
        from sampling.reduction.grouping import Grouping

        if self.pool_devices and self.each_rank:
            raise OptionError(Wording("`pool_devices` and `each_rank` contradict each other"))
        by = self.group_by
        if by is GroupBy.PUBLISHED:
            by = method_named(self.method).published_grouping
        return Grouping(by, True if self.pool_devices else False if self.each_rank else None)

    @property
    def region(self) -> Region:
        """The filters.

        Raises OptionError: a device, process, launch or time window is not made of numbers, or a range has
        no name.
        """
        from sampling.reduction.region import parse_region

        return parse_region(
            device=tuple(map(str, self.device)),
            process=tuple(map(str, self.process)),
            include=self.include,
            exclude=self.exclude,
            launches=self.launches,
            time=self.time,
            named_range=self.range,
            min_duration=self.min_duration,
        )

    @property
    def read_options(self) -> ReadOptions:
        """How the profile is read; OptionError where the columns do not parse."""
        from sampling.readers.columns import column_map
        from sampling.readers.input_file import ReadOptions

        columns = None if self.columns is None else column_map(self.columns)
        others = ("rank_regex", "partial", "keep_overlong", "profile_cycles", "number_locale")
        return ReadOptions(columns, **{name: getattr(self, name) for name in others})


NAMES: tuple[str, ...] = PlanRequest.__struct_fields__
"""Every option, in the order in which commands list them."""

DEFAULT = PlanRequest.__struct_defaults__


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(PlanRequest, include_extras=True)


@cache
def option(name: str) -> Option:
    """Return what is known of an option."""
    about: Option = get_args(_hints()[name])[1]
    return about


def part_names(*parts: Part) -> tuple[str, ...]:
    """Return the options that are of some parts."""
    return tuple(name for name in NAMES if option(name).part in parts)


@cache
def ranges() -> dict[str, Range]:
    """Return the range of every option that is a number."""
    return {name: about.range for name in NAMES if (about := option(name)).range is not None}


def value_type(name: str) -> Any:
    """Return the type of an option's value."""
    return get_args(_hints()[name])[0]


def default(name: str) -> Any:
    """Return the value that an option has where it is not given."""
    return DEFAULT[NAMES.index(name)]


def flags(name: str) -> tuple[str, ...]:
    """Return what is typed for an option, the long form first."""
    about = option(name)
    long = about.flag or f"--{name.replace('_', '-')}"
    return (long,) if about.also is None else (long, about.also)


def _out_of_range(name: str, value: float, limits: Range) -> OptionError:
    hint = f"; did you mean {value / 100:g}?" if limits.words == _BETWEEN and 1 < value < 100 else ""
    words = f"{limits.least:g} or more" if 0 < value < limits.least else limits.words
    words = f"{limits.most!r} at most" if limits.most < value < 1 else words
    return OptionError(Wording(f"`{name}` is {words}, not {{:.15g}}{hint}", value))


# -- values as they are typed --------------------------------------------------------------------------------


def is_switch(name: str) -> bool:
    """Return whether an option is a flag without a value."""
    return value_type(name) is bool


def is_repeated(name: str) -> bool:
    """Return whether an option may be given several times."""
    return get_origin(value_type(name)) is tuple


def choices(name: str) -> tuple[str, ...]:
    """Return the values of an option that is one of a few; () for any other."""
    if name == "method":
        return method_names()
    kind = value_type(name)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return tuple(member.value for member in kind)
    return get_args(kind) if kind == NumberLocale else ()


def parse_value(name: str, text: str) -> Any:
    """Return the value that a text gives to an option.

    Raises OptionError: the text means none.
    """
    kind, words = value_type(name), text.strip()
    numbers = {int, float}.intersection((kind, *get_args(kind)))
    if is_repeated(name):
        try:
            return tuple(shlex.split(text))
        except ValueError as error:
            raise OptionError(Wording(f"`{name}={{}}`: {{}}", text, str(error).lower())) from error
    if is_switch(name):
        return (words == "yes") is not default(name)
    if words_of_choice := choices(name):
        if words not in words_of_choice:
            raise OptionError(Wording(f"`{name}={{}}` is not one of {', '.join(words_of_choice)}", text))
        return GroupBy(words) if kind is GroupBy else words
    if not numbers:
        return text
    if words == NONE and type(None) in get_args(kind):
        return None
    try:
        return numbers.pop()(words)
    except ValueError as error:
        is_share = words.endswith("%") and int not in {kind, *get_args(kind)}
        reason = why_no_number(words) if is_share else _what_is_meant(name, kind)
        raise OptionError(Wording(f"`{name}={{}}`: {{}}", text, reason)) from error


def _what_is_meant(name: str, kind: Any) -> str:
    number = "a whole number" if int in {kind, *get_args(kind)} else "a number"
    value = default(name)
    example = "" if value is None else f", as {format_value(name, value)}"
    also = f", or {NONE}" if option(name).ladder and type(None) in get_args(kind) else ""
    return f"{number} is meant{example}{also}"


def format_value(name: str, value: Any) -> str:
    """Return the text that `parse_value` reads as a value, as short as it can be."""
    if is_switch(name):
        return "no" if value is default(name) else "yes"
    if value is None:
        return NONE if option(name).ladder else ""
    if isinstance(value, tuple):
        return shlex.join(map(str, value))
    short = f"{value:.12g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


def step_value(request: PlanRequest, name: str, by: int) -> PlanRequest | None:
    """Return the request with the next value of an option, or with ``by`` = -1 the one before.

    Along the ladder, above which no bound is, where an option may be none; a whole number goes by one, and
    one of a few values to the next of them, after the last to the first. None where there is no next value.
    """
    value, about, values = getattr(request, name), option(name), choices(name)
    if is_switch(name):
        return replace(request, **{name: not value})
    if values:
        index = values.index(value) if value in values else 0
        return replace(request, **{name: values[(index + by) % len(values)]})
    if about.ladder:
        may_be_none = type(None) in get_args(value_type(name))
        value = math.inf if value is None else value
        steps = (*about.ladder, math.inf) if may_be_none else about.ladder
        beyond = [step for step in steps if (step - value) * by > 0]
        following = beyond[0 if by > 0 else -1] if beyond else value
    elif isinstance(value, int):
        following = value + by
    else:
        return None
    if following == value:
        return None
    try:
        return replace(request, **{name: None if following == math.inf else following})
    except OptionError:
        return None


def command_words(
    request: PlanRequest,
    names: Collection[str] = NAMES,
    unset: PlanRequest | None = None,
    *,
    always: Collection[str] = (),
) -> Iterator[str]:
    """Yield what is typed for the options that have another value than where they are not given.

    ``names``: those of the command; ``unset``: the request where none is given; ``always``: those that are
    typed in any case.
    """
    unset = unset or PlanRequest()
    for name in NAMES:
        value = getattr(request, name)
        if name not in names or (value == getattr(unset, name) and name not in always):
            continue
        long, *_ = flags(name)
        if is_switch(name):
            yield long
            continue
        for item in value if isinstance(value, tuple) else (value,):
            yield from flag_words(long, str(item) if isinstance(value, tuple) else format_value(name, item))


def flag_words(flag: str, text: str) -> tuple[str, ...]:
    """Return a flag and its value as words; a value that would read as another flag joins its own."""
    return (f"{flag}={text}",) if text.startswith("-") and text != "-" else (flag, text)


# -- which options a plan goes by ----------------------------------------------------------------------------


def is_used(request: PlanRequest, name: str, methods: Sequence[str] = ()) -> bool:
    """Return whether one of the methods looks at an option; of the request's own where none are named."""
    names = methods or (request.method,)
    if not option(name).by_some:
        return True
    from sampling.methods.method import DECLARED

    if any(name in method_named(method).target_fields for method in used_methods(names, request.set)):
        return True
    return name in DECLARED and any(draws_at_random(method, request.set) for method in names)


def unused_settings(methods: Sequence[str], settings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the settings that none of the methods looks at."""
    used = used_methods(methods, settings)
    return tuple(setting for setting in settings if setting.partition(".")[0] not in used)


def used_methods(methods: Sequence[str], settings: tuple[str, ...]) -> frozenset[str]:
    """Return the methods, and those that they take their number of launches from."""
    names = frozenset(method_names())
    used = names.intersection(methods)
    for name in used:
        if (sized_like := method_named(name).sized_like) is not None:
            used |= names.intersection([sized_like(method_options(name, settings))])
    return used
