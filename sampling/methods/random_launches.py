"""Random launches of the whole workload, without groups: the papers' baseline. [STEM+ROOT section V-A]"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.methods.method import Method, StrataRequest
from sampling.methods.registry import method_named, method_names, method_options
from sampling.methods.settings import MethodOptions, Span, setting
from sampling.reduction.group_by import GroupBy
from sampling.strata.strata import WHOLE_WORKLOAD, Strata, measured_clusters

_NAME = "random"
_PROBABILITY = 0.001
# The numbers of launches further from the mean than so many standard deviations and so many launches have
# chances too small for float64.
_DEVIATIONS = 12
_LAUNCHES = 40


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """How many launches to draw."""

    probability: float = setting(
        _PROBABILITY,
        "each launch is drawn with this probability",
        span=Span(above=0, most=1, words="a fraction above 0, at most 1"),
    )
    launches: int | None = setting(
        None,
        "draw exactly this many instead; none: by probability",
        span=Span(least=1, words="at least 1"),
    )
    like: str | None = setting(
        None,
        "draw as many as take, on average, the sampled time of that method's plan by its own options, or "
        "this time (Allegro, Fig. 6); not until the time is used up, which would stop sooner after long "
        "launches, and so underestimate",
        values="a method that draws from strata, or nanoseconds",
    )

    def __post_init__(self) -> None:
        MethodOptions.__post_init__(self)
        if self.launches is not None and self.like is not None:
            raise OptionError("random.launches and random.like exclude each other")
        other = "launches" if self.launches is not None else "like" if self.like is not None else None
        if other is not None and self.probability != _PROBABILITY:
            raise OptionError(f"random.probability and random.{other} exclude each other")


@dataclass(frozen=True, slots=True)
class NumberDrawn:
    """The number of launches drawn, given that a draw of none is made again. (docs/methods.md, 8 Sieve,
    Photon, embedding, random)

    Attributes
    ----------
    launches : N, of which each is drawn or not.
    probability : above 0, at most 1.
    """

    launches: int
    probability: float

    @property
    def share_empty(self) -> float:
        """The share of the draws that are made again, (1 - p)^N."""
        return (1 - self.probability) ** self.launches

    def possible(self) -> tuple[IntArray, FloatArray]:
        """Return the numbers that may come, ascending, and the chance of each; the chances sum to 1."""
        return _possible(self)

    def draw(self, times: int, rng: np.random.Generator) -> IntArray:
        """Return (times,) numbers, each at least 1."""
        numbers, chances = self.possible()
        return rng.choice(numbers, size=times, p=chances)


# Every figure of a design asks for the same few numbers.
@lru_cache(maxsize=4)
def _possible(number: NumberDrawn) -> tuple[IntArray, FloatArray]:
    from scipy.stats import binom

    mean = number.launches * number.probability
    reach = _DEVIATIONS * np.sqrt(mean * (1 - number.probability)) + _LAUNCHES
    numbers = np.arange(max(1, int(mean - reach)), min(number.launches, int(mean + reach) + 1) + 1)
    chances = np.asarray(binom.pmf(numbers, number.launches, number.probability), dtype=np.float64)
    chances /= chances.sum()
    numbers.flags.writeable = chances.flags.writeable = False
    return numbers, chances


def stratify(request: StrataRequest[Options]) -> Strata:
    """Return one stratum of all launches; the n of them drawn weigh N/n each.

    With a probability, n is binomial; n = 0 estimates nothing, so n is drawn given that it is not 0. A plan
    has its n; where the method is judged, n is drawn anew for every draw (`BernoulliDesign`). Like another
    plan, n is fixed at that plan's sampled time over the mean duration: drawing until the time is used up
    would stop sooner after long launches, and so underestimate.
    """
    counts, options = request.counts, request.options
    notes: tuple[str, ...] = ()
    if options.launches is not None:
        samples = options.launches
    elif options.like is not None:
        mean_ns = max(counts.total_duration_ns / counts.launches, 1e-300)
        wanted_ns = _sampled_time_ns(options.like, request)
        samples = max(1, round(min(wanted_ns / mean_ns, float(counts.launches))))
        notes = (_like_note(options.like, samples),)
    else:
        samples, notes = _binomial(counts.launches, options.probability, request.rng)
    whole = measured_clusters(
        counts, np.array([WHOLE_WORKLOAD]), np.array([0]), np.array([len(counts.count)], dtype=np.int64)
    )
    if samples > counts.launches:
        notes = (*notes, f"there are {counts.launches:,} launches; all are drawn, not {samples:,}")
        samples = counts.launches
    strata = whole.with_samples(np.array([samples]), notes=notes)
    is_by_chance = options.launches is None and options.like is None
    return replace(strata, chance=options.probability) if is_by_chance else strata


def _binomial(launches: int, probability: float, rng: np.random.Generator) -> tuple[int, tuple[str, ...]]:
    if launches * probability < 1e-6:
        raise OptionError(f"random.probability {probability:g} never draws one of {launches} launches")
    samples = int(NumberDrawn(launches, probability).draw(1, rng)[0])
    launches_drawn = "1 launch" if samples == 1 else f"{samples:,} launches"
    note = (
        f"each launch is drawn with probability {probability:g}, {launches_drawn} this time; the bound, what "
        "is expected and the judged draws are of that number"
    )
    return samples, (note,)


def _like_note(like: str, samples: int) -> str:
    wanted = "that many nanoseconds" if _is_number(like) else f"the sampled time of {like}"
    launches = "1 launch" if samples == 1 else f"{samples:,} launches"
    return (
        f"random.like={like}: {launches}, as many as take {wanted} on average; drawing until the time is "
        "used up would stop sooner after long launches, and so underestimate"
    )


def _sampled_time_ns(like: str, request: StrataRequest[Options]) -> float:
    """Return the expected sampled time of a method's plan, or the nanoseconds given."""
    if like not in method_names():
        return _nanoseconds(like)
    other = method_named(like)
    if other.stratify is None or like == _NAME:
        raise OptionError(
            f"random.like={like}: a method that draws from strata of durations is meant",
            remedy="give the sampled_duration_ns of its plan",
        )
    options = method_options(like, request.settings)
    asked = replace(request, options=options, overrides={})
    return other.stratify(asked).sampled_duration_ns


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _nanoseconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise OptionError(
            f"random.like={text}: a method or a sampled time in nanoseconds is meant"
        ) from error
    if not 0 < value < float("inf"):
        raise OptionError(f"random.like is a time above 0, not {text}")
    return value


METHOD = Method(
    name=_NAME,
    source="STEM+ROOT, section V-A (random baseline)",
    published_grouping=GroupBy.NAME,
    options_type=Options,
    stratify=stratify,
    sized_like=lambda options: options.like,
)
