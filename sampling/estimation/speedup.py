"""Two configurations on the same drawn launches: the speedup of one over the other, with its interval.

A speedup is the quotient of the two totals of `interval`: R = A/B, base over configuration, above 1 where the
configuration is faster. What the two share cancels in the residuals of log R, which change their sign when
the two are exchanged, so that B over A is 1/R. (docs/methods.md, 15 Two configurations)

    r_ij = g_i (a_ij/A - b_ij/B),   g_i = Xbar_i/xbar_i,   S_i = (A_i/A + B_i/B)/2
    V_i = S_i^2 (1/m_i - 1/N_i) kappa_i^2,   kappa_i^2 = min(declared_i^2, (4 0.02^2 + n K)/(4 + n))
    K = n/(n - 1) sum w e^2,   e = log(a/b) - log R,   n = 1/sum w^2

w is a launch's share, the mean of its shares of A and of B; K is how much the launches' own ratios vary over
all strata, which is no less than within one. The 2 % with the weight of four launches stand for what no
drawn launch shows: launches that are equal on both give 1, and an interval that is small but not nothing.
The factor and the degrees of freedom are those of `interval`; the interval is R exp(-h) to R exp(h).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.estimation.interval import Interval, Moments, Sample, moments, residual_interval
from sampling.estimation.sizes import MOST_ADDED, sizes_for
from sampling.strata.satterthwaite import PRIOR_DF, student_t
from sampling.strata.strata import SIMILAR_SPREAD
from sampling.text import counted

# Draws of the largest of several contrasts; the quantile of 95 % is then known to a per cent.
_DRAWS = 100_000


class Verdict(StrEnum):
    """What an interval says of a speedup."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "the same"
    OPEN = "not told apart"


@dataclass(frozen=True, eq=False)
class Speedup:
    """The speedup of a configuration over a base, R = A/B."""

    base: str
    name: str
    #: NaN where there is none; then ``reason`` says why.
    ratio: float
    #: Of log R, beside which `beside_sampling` counts; 0 where no launch was left out.
    standard_error: float
    degrees_of_freedom: float
    #: The quantile that the standard error is multiplied by: Student's t, or that of several told together.
    quantile: float
    #: A half-width of log R that no other launch would narrow; and one that it is never below.
    beside_sampling: float = 0.0
    at_least: float = 0.0
    #: Launches with both results, those whose two results differ, and drawn launches that lack one.
    launches: int = 0
    differing: int = 0
    missing: int = 0
    reason: str | None = None

    @property
    def half_width(self) -> float:
        """h, of log R; NaN where there is no interval."""
        sampling = 0.0 if self.standard_error == 0 else self.quantile * self.standard_error
        return max(float(np.hypot(sampling, self.beside_sampling)), self.at_least)

    @property
    def low(self) -> float:
        """The lower end of the interval, R exp(-h)."""
        return self.ratio * float(np.exp(-self.half_width))

    @property
    def high(self) -> float:
        """The upper end of the interval, R exp(h)."""
        return self.ratio * float(np.exp(self.half_width))

    def verdict(self, same_within: float) -> Verdict:
        """Return what the interval says; a speedup within ``same_within`` of 1 counts as none."""
        return judge_interval(self.low, self.high, same_within)


def judge_interval(low: float, high: float, same_within: float) -> Verdict:
    """Return what an interval says of a speedup; one within ``same_within`` of 1 counts as none."""
    if 1 - same_within <= low and high <= 1 + same_within:
        return Verdict.SAME
    return Verdict.FASTER if low > 1 else Verdict.SLOWER if high < 1 else Verdict.OPEN


@dataclass(frozen=True, eq=False)
class PairedLaunches:
    """The launches that have two metrics, paired; (n,) in the order of the sample's, (s,) its strata."""

    #: The launches with both, in the strata that have any.
    sample: Sample
    #: (N,) which launches of the whole sample these are.
    rows: IntArray
    #: A_i and B_i of each stratum, and g_i of each of the two.
    totals: tuple[FloatArray, FloatArray]
    growth: tuple[FloatArray, FloatArray]

    @property
    def ratio(self) -> float:
        """R = A/B; NaN where a total is 0."""
        above, below = (float(total.sum()) for total in self.totals)
        return above / below if above > 0 and below > 0 else np.nan

    def shares(self, total_a: float, total_b: float) -> tuple[FloatArray, FloatArray]:
        """Return (n,) what each launch stands for of two totals, which may be those of a whole suite."""
        weight = (self.sample.launches / self.sample.samples)[self.sample.stratum]
        of_stratum = self.sample.stratum
        values = zip(self.growth, self.sample.y.T, (total_a, total_b), strict=True)
        above, below = (weight * growth[of_stratum] * y / total for growth, y, total in values)
        return above, below

    @property
    def share(self) -> FloatArray:
        """(n,) w, the mean of each launch's shares of the two totals."""
        above, below = self.shares(*(float(total.sum()) for total in self.totals))
        return (above + below) / 2

    @property
    def departure(self) -> FloatArray:
        """(n,) e, how far each launch's log ratio is from that of the totals; 0 where its share is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.log(self.sample.y[:, 0]) - np.log(self.sample.y[:, 1]) - np.log(self.ratio)
        return np.where(self.share > 0, apart, 0.0)

    @property
    def declared(self) -> FloatArray:
        """(s,) kappa_i^2, what was declared, but no more than the launches' own ratios show."""
        share, departure = self.share, self.departure
        if not np.isfinite(departure).all():
            # A launch that took no time on one side alone has no ratio.
            return self.sample.declared
        number = 1 / float(np.dot(share, share))
        spread = float(np.dot(share, departure**2)) * number / max(number - 1, 1.0)
        moderated = (PRIOR_DF * SIMILAR_SPREAD**2 + number * spread) / (PRIOR_DF + number)
        return np.minimum(self.sample.declared, moderated)

    def residual_moments(self, total_a: float, total_b: float) -> tuple[Moments, FloatArray]:
        """Return the moments of r_ij (n,), and (s,) the mean S_i/N_i that they are relative to."""
        above, below = self.shares(total_a, total_b)
        weight = (self.sample.launches / self.sample.samples)[self.sample.stratum]
        paired = replace(self.sample, declared=self.declared)
        size = (self.totals[0] / total_a + self.totals[1] / total_b) / 2 / self.sample.launches
        return moments(paired, (above - below) / weight), size


def pair_launches(sample: Sample, above: str, below: str) -> tuple[PairedLaunches, int]:
    """Return the launches that have the cycles of both, and how many strata have none.

    Cycles follow durations, whatever few launches say. Errors are those of `Sample.known`.
    """
    paired, has_any = sample.known(above, below)
    rows = np.flatnonzero(~np.isnan(sample.values(above)) & ~np.isnan(sample.values(below)))
    totals, growth = [], []
    for metric in (above, below):
        single = replace(paired, y=paired.y[:, [paired.metrics.index(metric)]], metrics=(metric,))
        metric_moments = moments(single, single.y[:, 0])
        totals.append(metric_moments.totals)
        x = metric_moments.x
        growth.append(np.divide(metric_moments.mean_x, x, out=np.ones(len(x)), where=x > 0))
    pair = PairedLaunches(paired, rows, (totals[0], totals[1]), (growth[0], growth[1]))
    return pair, int((~has_any).sum())


def speedup(
    sample: Sample,
    base: str,
    name: str,
    confidence: float = 0.95,
    *,
    at_least: float = 0.0,
) -> Speedup:
    """Return the speedup of a configuration over the base, two metrics of the sample: R = A/B.

    Launches that lack one of the two are left out of both; the others of their stratum weigh more.

    Parameters
    ----------
    at_least : the half-width until which launches were added, if they were: sampling stopped where the
        interval was narrow, which is partly chance.

    Errors are those of `Sample.known`.
    """
    pair, empty = pair_launches(sample, base, name)
    launches, planned = pair.sample.count(pair.sample.samples), sample.count(sample.planned)
    nothing = Speedup(
        base, name, np.nan, np.nan, np.nan, np.nan, launches=launches, missing=planned - launches
    )
    if empty:
        reason = f"no ratio yet: {counted(empty, 'stratum has', 'strata have')} no launch with both results"
        return replace(nothing, reason=reason)
    if np.isnan(pair.ratio):
        return replace(nothing, reason="a ratio has a total of 0")
    result = residual_interval(*pair.residual_moments(*(float(total.sum()) for total in pair.totals)))
    error, nu = float(np.sqrt(result.stratum_var.sum())), float(result.effective_df)
    # Strata that take no time tell nothing of what is left of them.
    error = np.nan if np.isnan(nu) else error
    return replace(
        nothing,
        ratio=pair.ratio,
        standard_error=error,
        degrees_of_freedom=nu,
        quantile=float(student_t(confidence, nu)),
        at_least=at_least if error > 0 else 0.0,
        differing=int((pair.sample.y[:, 0] != pair.sample.y[:, 1]).sum()),
    )


def adjust_together(
    sample: Sample, speedups: Sequence[Speedup], confidence: float, rng: np.random.Generator
) -> list[Speedup]:
    """Return speedups whose intervals hold all at once, by the quantile of the largest |t| among them.

    Their correlation is that of the launches' departures, sum w e_k e_l / sqrt(sum w e_k^2 sum w e_l^2), at
    the smallest nu of all; Dunnett's and Tukey's quantiles are its special cases. It is estimated from
    100,000 draws. With 2 to 4 degrees of freedom Bonferroni's would be twice as wide.
    """
    uncertain = [speedup for speedup in speedups if speedup.standard_error > 0]
    if len(uncertain) < 2:
        return list(speedups)
    departures = np.zeros((len(uncertain), len(sample.x)))
    weight = np.zeros(len(sample.x))
    for row, contrast in enumerate(uncertain):
        pair, _ = pair_launches(sample, contrast.base, contrast.name)
        departures[row, pair.rows] = np.nan_to_num(pair.departure, posinf=0.0, neginf=0.0)
        weight[pair.rows] += pair.share / len(uncertain)
    quantile = largest_t_quantile(
        correlation(departures, weight),
        min(contrast.degrees_of_freedom for contrast in uncertain),
        confidence,
        rng,
    )
    return [
        replace(speedup, quantile=max(speedup.quantile, quantile)) if speedup.standard_error > 0 else speedup
        for speedup in speedups
    ]


def correlation(departures: FloatArray, weight: FloatArray) -> FloatArray:
    """Return (k, k) the correlation of contrasts from their launches' departures (k, n)."""
    scaled = departures * np.sqrt(weight)
    norm = np.sqrt((scaled**2).sum(axis=1, keepdims=True))
    scaled = np.divide(scaled, norm, out=np.zeros_like(scaled), where=norm > 0)
    matrix = scaled @ scaled.T
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix)


def largest_t_quantile(
    matrix: FloatArray, degrees_of_freedom: float, confidence: float, rng: np.random.Generator
) -> float:
    """Return the quantile of max |t| of contrasts with this correlation (k, k), from seeded draws."""
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    largest = np.abs(rng.standard_normal((_DRAWS, len(matrix))) @ root.T).max(axis=1)
    if np.isfinite(degrees_of_freedom):
        largest /= np.sqrt(rng.chisquare(degrees_of_freedom, _DRAWS) / degrees_of_freedom)
    return float(np.quantile(largest, confidence))


def next_sizes(
    sample: Sample,
    base: str,
    name: str,
    target: float,
    confidence: float = 0.95,
    most_added: float = MOST_ADDED,
) -> IntArray:
    """Return (s,) how many launches of each stratum bring log R within the target, in rounds.

    At least what the plan asks for; a stratum without both results keeps its plan. See `sizes_for`.
    """
    pair, _ = pair_launches(sample, base, name)
    _, has_any = sample.known(base, name)
    pair_moments, size = pair.residual_moments(*(float(total.sum()) for total in pair.totals))
    result: Interval = residual_interval(pair_moments, size)
    # Sizes are those of a total of 1 whose strata are S_i.
    growth = np.divide(pair_moments.mean_x, pair_moments.x, out=np.ones(len(size)), where=pair_moments.x > 0)
    shares = replace(pair_moments, y=size / growth)
    sizes = sample.planned.copy()
    sizes[has_any] = np.maximum(sizes[has_any], sizes_for(shares, result, target, confidence, most_added))
    return np.asarray(np.minimum(sizes, sample.launches))
