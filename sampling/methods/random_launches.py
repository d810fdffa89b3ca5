"""Random launches of the whole workload, without groups: the papers' baseline. [STEM+ROOT section V-A]"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from sampling.errors import OptionError
from sampling.methods.number_drawn import NumberDrawn
from sampling.methods.settings import Span, setting
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.splitting.groups import Overrides
from sampling.strata.strata import WHOLE_WORKLOAD, Strata, measured_clusters
from sampling.strata.target import Target

SOURCE = "STEM+ROOT, section V-A (random baseline)"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.NAME
RANDOM = True
SPLITS = False

_PROBABILITY = 0.001


@dataclass(frozen=True, slots=True)
class Options:
    """How many launches to draw."""

    probability: float = setting(
        _PROBABILITY, "each launch is drawn with this probability", span=Span(above=0, most=1)
    )
    launches: int | None = setting(
        None, "draw exactly this many instead; none: by probability", span=Span(least=1)
    )
    like: str | None = setting(
        None,
        "draw as many as take, on average, the sampled time of that method's plan by its own options, or "
        "this time (Allegro, Fig. 6); not until the time is used up, which would stop sooner after long "
        "launches, and so underestimate",
        values="a method that draws from strata, or nanoseconds",
    )

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise OptionError(
                f"random.probability is a fraction above 0, at most 1, not {self.probability:g}"
            )
        if self.launches is not None and self.launches < 1:
            raise OptionError(f"random.launches is at least 1, not {self.launches}")
        if self.launches is not None and self.like is not None:
            raise OptionError("random.launches and random.like exclude each other")
        other = "launches" if self.launches is not None else "like" if self.like is not None else None
        if other is not None and self.probability != _PROBABILITY:
            raise OptionError(f"random.probability and random.{other} exclude each other")


@dataclass(frozen=True, slots=True)
class CompleteOptions(Options):
    """The options with the settings of the method that ``like`` names."""

    settings: tuple[str, ...] = ()


def with_settings(options: Options, settings: tuple[str, ...]) -> Options:
    """Return the options together with those settings that are of the method which ``like`` names."""
    settings = tuple(each for each in settings if each.startswith(f"{options.like}."))
    return CompleteOptions(**asdict(options), settings=settings) if settings else options


def stratify(
    counts: DurationCounts,
    target: Target,
    options: Options,
    rng: np.random.Generator,
    overrides: Overrides | None = None,  # noqa: ARG001 - nothing to override
    progress: Progress | None = None,
) -> Strata:
    """Return one stratum of all launches; the n of them drawn weigh N/n each.

    With a probability, n is binomial; n = 0 estimates nothing, so n is drawn given that it is not 0. A plan
    has its n; where the method is judged, n is drawn anew for every draw (`bernoulli_design`). Like another
    plan, n is fixed at that plan's sampled time over the mean duration: drawing until the time is used up
    would stop sooner after long launches, and so underestimate.
    """
    notes: tuple[str, ...] = ()
    if options.launches is not None:
        samples = options.launches
    elif options.like is not None:
        mean_ns = max(counts.total_duration_ns / counts.launches, 1e-300)
        wanted_ns = _sampled_time_ns(counts, target, options, rng, progress)
        samples = max(1, round(min(wanted_ns / mean_ns, float(counts.launches))))
        notes = (_like_note(options.like, samples),)
    else:
        samples, notes = _binomial(counts.launches, options.probability, rng)
    whole = measured_clusters(
        counts, np.array([WHOLE_WORKLOAD]), np.array([0]), np.array([len(counts.count)], dtype=np.int64)
    )
    if not target.with_replacement and samples > counts.launches:
        notes = (*notes, f"there are {counts.launches:,} launches; all are drawn, not {samples:,}")
        samples = counts.launches
    strata = whole.with_samples(np.array([samples]), with_replacement=target.with_replacement, notes=notes)
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


def _sampled_time_ns(
    counts: DurationCounts,
    target: Target,
    options: Options,
    rng: np.random.Generator,
    progress: Progress | None,
) -> float:
    """Return the expected sampled time of a method's plan, or the nanoseconds given."""
    from sampling.methods.registry import method_names, method_options, random_method

    like = str(options.like)
    settings = options.settings if isinstance(options, CompleteOptions) else ()
    if like not in method_names():
        return _nanoseconds(like)
    method = random_method(like)
    if method is None or like == "random":
        raise OptionError(
            f"random.like={like}: a method that draws from strata of durations is meant",
            remedy="give the sampled_duration_ns of its plan",
        )
    strata = method.stratify(counts, target, method_options(like, settings), rng, None, progress)
    return strata.sampled_duration_ns


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
