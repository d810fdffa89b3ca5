"""Judging a design by drawing it again and again: what its error is, beside what its bound promises."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.drawing import draw, estimate_total_ns
from sampling.duration_counts import DurationCounts
from sampling.plan import Design, make_design
from sampling.progress import Progress
from sampling.seeds import Stream, generator
from sampling.splitting import Overrides
from sampling.targets import Target


@dataclass(frozen=True, slots=True)
class Judgement:
    """The errors of repeated draws.

    Attributes
    ----------
    errors : (repeats,) sampling error |t* - t_est| / t* of each draw.
    epsilon : what they are held against.
    """

    errors: NDArray[np.float64]
    epsilon: float

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
    def within_epsilon(self) -> float:
        """The share of draws whose error is at most epsilon: the coverage, to hold beside the confidence."""
        return float((self.errors <= self.epsilon).mean())


def judge_design(
    counts: DurationCounts,
    design: Design,
    repeats: int,
    seed: int,
    progress: Progress | None = None,
) -> Judgement:
    """Draw a design ``repeats`` times and return the errors against the known total."""
    rng = generator(seed, Stream.JUDGE)
    total_ns = counts.total_duration_ns
    errors = np.zeros(repeats)
    for repeat in range(repeats):
        estimate_ns = estimate_total_ns(counts, design.strata, draw(counts, design.strata, rng))
        errors[repeat] = abs(total_ns - estimate_ns) / total_ns if total_ns else 0.0
        if progress is not None:
            progress(repeat + 1, repeats, f"judging {design.method}")
    return Judgement(errors, design.target.epsilon)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one method does on one profile; the speedup is the expected one, total / sum of m mu."""

    method: str
    strata: int
    samples: int
    speedup: float
    bound: float | None
    group_bound: float | None
    judgement: Judgement
    seconds: float


def compare_method(
    counts: DurationCounts,
    method: str,
    target: Target,
    *,
    repeats: int,
    seed: int,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Design a method's plan on this profile, time that, and judge it by repeated draws."""
    started = time.perf_counter()
    design = make_design(
        counts, method, target, seed, settings=settings, overrides=overrides, progress=progress
    )
    seconds = time.perf_counter() - started
    return Comparison(
        method=method,
        strata=len(design.strata),
        samples=design.samples,
        speedup=design.speedup,
        bound=design.bound,
        group_bound=design.group_bound,
        judgement=judge_design(counts, design, repeats, seed, progress),
        seconds=seconds,
    )
