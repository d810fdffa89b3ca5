"""Random launches of the whole workload, without groups: the papers' baseline. [STEM+ROOT section V-A]"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.methods.method import Method, StrataRequest
from sampling.methods.options import setting
from sampling.methods.registry import method_named, method_names, method_options
from sampling.reduction import GroupBy
from sampling.strata.strata import WHOLE_WORKLOAD, Strata, measured_clusters
from sampling.text import counted

_PROBABILITY = 0.001
# The numbers of launches further from the mean than so many standard deviations and so many launches have
# chances too small for float64.
_DEVIATIONS = 12
_LAUNCHES = 40


@dataclass(frozen=True, slots=True)
class Options:
    """How many launches to draw."""

    probability: float = setting(_PROBABILITY, "each launch is drawn with this probability", gt=0, le=1)
    launches: int | None = setting(None, "draw exactly this many instead; none: by probability", ge=1)
    like: str | None = setting(
        None,
        "draw as many as take, on average, the sampled time of that method's plan by its own options, or "
        "this time (Allegro, Fig. 6); not until the time is used up, which would stop sooner after long "
        "launches, and so underestimate",
        values="a method that draws from strata, or nanoseconds",
    )

    def __post_init__(self) -> None:
        given = {"launches": self.launches is not None, "like": self.like is not None}
        given["probability"] = self.probability != _PROBABILITY
        several = [f"random.{name}" for name, is_given in given.items() if is_given]
        if len(several) > 1:
            raise OptionError(f"{' and '.join(several)} exclude each other")


@dataclass(frozen=True, slots=True)
class NumberDrawn:
    """The number of launches drawn of N, each with a probability, given that a draw of none is made again.

    (docs/methods.md, 8 Sieve, Photon, embedding, random)
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


def stratify(request: StrataRequest) -> Strata:
    """Return one stratum of all launches; the n of them drawn weigh N/n each.

    With a probability, n is binomial; n = 0 estimates nothing, so n is drawn given that it is not 0. A plan
    has its n; where the method is judged, n is drawn anew for every draw (`BernoulliDesign`). Like another
    plan, n is fixed at that plan's sampled time over the mean duration: drawing until the time is used up
    would stop sooner after long launches, and so underestimate.
    """
    counts, options = request.counts, request.options
    chance, note = None, ""
    if options.launches is not None:
        samples = options.launches
    elif options.like is not None:
        wanted_ns, wanted = _sampled_time(options.like, request)
        mean_ns = max(counts.total_duration_ns / counts.launches, 1e-300)
        samples = max(1, round(min(wanted_ns / mean_ns, float(counts.launches))))
        note = (
            f"random.like={options.like}: {counted(samples, 'launch', 'launches')}, as many as take {wanted} "
            "on average; drawing until the time is used up would stop sooner after long launches, and so "
            "underestimate"
        )
    else:
        chance = options.probability
        if counts.launches * chance < 1e-6:
            never = f"never draws one of {counts.launches} launches"
            raise OptionError(f"random.probability {chance:g} {never}")
        samples = int(NumberDrawn(counts.launches, chance).draw(1, request.rng)[0])
        drawn = counted(samples, "launch", "launches")
        note = (
            f"each launch is drawn with probability {chance:g}, {drawn} this time; the bound, what is "
            "expected and the judged draws are of that number"
        )
    notes = (note,) if note else ()
    if samples > counts.launches:
        notes = (*notes, f"there are {counts.launches:,} launches; all are drawn, not {samples:,}")
        samples = counts.launches
    whole = measured_clusters(
        counts, np.array([WHOLE_WORKLOAD]), np.array([0]), np.array([len(counts.count)], dtype=np.int64)
    )
    return replace(whole.with_samples(np.array([samples]), notes=notes), chance=chance)


def _sampled_time(like: str, request: StrataRequest) -> tuple[float, str]:
    """Return the expected sampled time of a method's plan, or the nanoseconds given; and it in words."""
    if like in method_names():
        other = method_named(like)
        if other.stratify is None or like == "random":
            raise OptionError(
                f"random.like={like}: a method that draws from strata of durations is meant",
                remedy="give the sampled_duration_ns of its plan",
            )
        asked = replace(request, options=method_options(like, request.settings), overrides={})
        return other.stratify(asked).sampled_duration_ns, f"the sampled time of {like}"
    try:
        wanted_ns = float(like)
    except ValueError:
        wanted_ns = math.nan
    if not 0 < wanted_ns < math.inf:
        raise OptionError(f"random.like={like}: a method or a sampled time above 0 in nanoseconds is meant")
    return wanted_ns, "that many nanoseconds"


METHOD = Method(
    name="random",
    source="STEM+ROOT, section V-A (random baseline)",
    published_grouping=GroupBy.NAME,
    options_type=Options,
    stratify=stratify,
    sized_like=lambda options: options.like,
)
