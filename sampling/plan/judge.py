"""Judging a design by drawing it again and again: its errors, to compare with its bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import repeat as repeated

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.plan.bernoulli_design import BernoulliDesign
from sampling.plan.design import Design
from sampling.plan.picked_design import AnyDesign, PickedDesign
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.seeds import Stream, generator
from sampling.strata.draw import draw, estimate_total_ns


@dataclass(frozen=True, slots=True)
class Judgement:
    """The errors of repeated draws.

    Attributes
    ----------
    errors : (repeats,) sampling error |t* - t_est| / t* of each draw; one for picks, which do not vary.
    epsilon : the largest error that was asked for.
    random : whether they vary, so that the share of them within epsilon has a meaning.
    """

    errors: FloatArray
    epsilon: float
    random: bool = True

    @property
    def repeats(self) -> int:
        """How many draws."""
        return len(self.errors)

    @property
    def error_mean(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def error_p95(self) -> float:
        """The 95th percentile of the errors."""
        return float(np.quantile(self.errors, 0.95))

    @property
    def error_max(self) -> float:
        """The largest error."""
        return float(self.errors.max())

    @property
    def within_epsilon(self) -> float | None:
        """The share of draws whose error is at most epsilon: the coverage, to compare with the confidence.

        None for picks.
        """
        return float((self.errors <= self.epsilon).mean()) if self.random else None


def judge_design(
    counts: DurationCounts,
    design: AnyDesign,
    repeats: int,
    seed: int,
    progress: Progress | None = None,
) -> Judgement:
    """Draw a design ``repeats`` times and return the errors against the known total.

    Where the number of launches is random, each draw has another number.
    """
    if isinstance(design, PickedDesign):
        return Judgement(np.array([design.error]), design.target.epsilon, random=False)
    rng = generator(seed, Stream.JUDGE)
    counts = counts if design.counts is None else design.counts
    total_ns = counts.total_duration_ns
    errors = np.zeros(repeats)
    for repeat, samples in enumerate(_sizes_of_draws(design, repeats, rng)):
        strata = replace(design.strata, samples=samples)
        estimate_ns = estimate_total_ns(counts, strata, draw(counts, strata, rng))
        errors[repeat] = abs(total_ns - estimate_ns) / total_ns if total_ns else 0.0
        if progress is not None:
            progress(repeat + 1, repeats, f"judging {design.method}")
    return Judgement(errors, design.target.epsilon)


def _sizes_of_draws(design: Design, draws: int, rng: np.random.Generator) -> Iterable[IntArray]:
    """Return (s,) the sizes of the strata in each of so many draws."""
    if isinstance(design, BernoulliDesign):
        return design.number.draw(draws, rng)[:, np.newaxis]
    return repeated(design.strata.samples, draws)
