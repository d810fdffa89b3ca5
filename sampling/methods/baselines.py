"""Two baselines without groups: random launches of the whole workload, and the first instructions of it.

[STEM+ROOT section V-A; Principal Kernel Analysis, baseline]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.features.metric_names import instruction_counts
from sampling.methods.method import Method, Picks, StrataRequest, setting
from sampling.methods.registry import method_named, method_names, method_options
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.strata.strata import WHOLE_WORKLOAD, Strata, measured_clusters
from sampling.text import counted

_PROBABILITY = 0.001
# The numbers of launches further from the mean than so many standard deviations and so many launches have
# chances too small for float64.
_DEVIATIONS = 12
_LAUNCHES = 40


@dataclass(frozen=True, slots=True)
class Options:
    """How many launches are drawn at random."""

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
        changes = {"launches": self.launches is not None, "like": self.like is not None}
        changes["probability"] = self.probability != _PROBABILITY
        several = [f"random.{name}" for name, is_given in changes.items() if is_given]
        if len(several) > 1:
            raise OptionError(f"{' and '.join(several)} exclude each other")


@dataclass(frozen=True)
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

    @cached_property
    def possible(self) -> tuple[IntArray, FloatArray]:
        """The numbers that may come, ascending, and the chance of each; the chances sum to 1."""
        from scipy.stats import binom

        mean = self.launches * self.probability
        reach = _DEVIATIONS * np.sqrt(mean * (1 - self.probability)) + _LAUNCHES
        numbers = np.arange(max(1, int(mean - reach)), min(self.launches, int(mean + reach) + 1) + 1)
        chances = np.asarray(binom.pmf(numbers, self.launches, self.probability), dtype=np.float64)
        return numbers, chances / chances.sum()

    def draw(self, times: int, rng: np.random.Generator) -> IntArray:
        """Return (times,) numbers, each at least 1."""
        numbers, chances = self.possible
        return rng.choice(numbers, size=times, p=chances)


def stratify(request: StrataRequest) -> Strata:
    """Return one stratum of all launches; the n of them drawn weigh N/n each.

    With a probability, n is binomial, given that it is not 0. A plan has its n; where the method is judged, n
    is drawn anew for every draw. Like another plan, n is its sampled time over the mean duration.
    """
    counts, options, chance = request.counts, request.options, None
    if options.launches is not None:
        samples, note = options.launches, ""
    elif options.like is not None:
        mean_ns = max(counts.total_duration_ns / counts.launches, 1e-300)
        samples = max(1, round(min(_sampled_ns(options.like, request) / mean_ns, float(counts.launches))))
        size = counted(samples, "launch", "launches")
        note = f"random.like={options.like}: {size}, as many as take its sampled time on average"
    else:
        chance = options.probability
        if counts.launches * chance < 1e-6:
            never = f"never draws one of {counts.launches} launches"
            raise OptionError(f"random.probability {chance:g} {never}")
        samples = int(NumberDrawn(counts.launches, chance).draw(1, request.rng)[0])
        size = f"{counted(samples, 'launch', 'launches')} this time"
        note = f"each launch is drawn with probability {chance:g}, {size}; bounds are of that number"
    if samples > counts.launches:
        note = f"there are {counts.launches:,} launches; all are drawn, not {samples:,}"
        samples = counts.launches
    first, stop = np.array([0]), np.array([len(counts.count)])
    workload = measured_clusters(counts, np.array([WHOLE_WORKLOAD]), first, stop)
    strata = workload.with_samples(np.array([samples]), notes=(note,) if note else ())
    return replace(strata, chance=chance)


def _sampled_ns(like: str, request: StrataRequest) -> float:
    """Return the expected sampled time of a method's plan, or the nanoseconds given."""
    stratify_like = method_named(like).stratify if like in method_names() and like != "random" else None
    if stratify_like is not None:
        options = method_options(like, request.settings)
        return stratify_like(replace(request, options=options, overrides={})).sampled_duration_ns
    try:
        wanted_ns = float(like)
    except ValueError:
        wanted_ns = math.nan
    if not 0 < wanted_ns < math.inf:
        meant = "a method that draws from strata of durations, or the nanoseconds that its plan samples"
        raise OptionError(f"random.like={like}: {meant}, is meant")
    return wanted_ns


@dataclass(frozen=True, slots=True)
class FirstOptions:
    """How much is simulated from the first launch on."""

    instructions: float = setting(
        1e9, "launches are simulated, in id order, until so many instructions are done", gt=0
    )


def pick_first(
    launches: LaunchList, options: FirstOptions, _: np.random.Generator, __: Progress | None
) -> Picks:
    """Take the launches from the first on until the instructions are done; the last of them is taken whole.

    The total is instructions / IPC of those launches, so each weighs I_total / I_done.
    """
    limit, counts, notes = options.instructions, instruction_counts(launches, "first-instructions"), []
    executed = np.cumsum(counts.executed)
    size = min(int(np.searchsorted(executed, limit)) + 1, len(launches))
    total, reached = float(executed[-1]), float(executed[size - 1])
    if size == len(launches):
        notes.append(f"all launches are taken: the workload has {total:,.0f} instructions")
    sequences, sequences_reached = (
        len(np.unique(launches.sequence[:stop])) for stop in (len(launches), size)
    )
    if sequences_reached < sequences:
        notes.append(f"the launches taken are of {sequences_reached} of {sequences} processes and devices")
    details = {"metric": counts.metric, "counts": counts.unit, "instructions": total}
    return Picks(
        stratum=np.zeros(len(launches), dtype=np.int64),
        labels=(f"all launches, by the first {limit:,.0f} instructions",),
        row=np.arange(size),
        # Where the rest has no instructions the sums are equal; where nothing has any, all is taken.
        weight=np.full(size, total / reached if total > 0 else 1.0),
        notes=tuple(notes),
        details={**details, "instructions_done": reached},
    )


RANDOM = Method(
    name="random",
    source="STEM+ROOT, section V-A (random baseline)",
    description="Launches are drawn at random from all alike, whatever kernel they are of.",
    published_grouping=GroupBy.NAME,
    options_type=Options,
    stratify=stratify,
    sized_like=lambda options: options.like,
)

FIRST = Method(
    name="first-instructions",
    source="Principal Kernel Analysis, first 1 B instructions (baseline)",
    description="The first launches, up to a number of instructions, stand for all others.",
    needs=("the instruction count of every launch",),
    published_grouping=GroupBy.NAME,
    options_type=FirstOptions,
    pick=pick_first,
)
