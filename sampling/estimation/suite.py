"""A suite of programs: what a configuration gains over a base on all of them, by three means.

Of P programs with speedups R_p, half-widths h_p of log R_p and totals A_p (base) and B_p, which are drawn
independently of each other (docs/methods.md, 15 Two configurations):

    geometric    exp(sum log R_p / P)       h = sqrt(sum h_p^2) / P
    harmonic     P / sum 1/R_p              h = sqrt(sum u_p^2 h_p^2),   u_p = (1/R_p) / sum 1/R
    total work   sum A_p / sum B_p          residuals and V_i of `speedup` with the suite's totals, where
                                            kappa_i^2 has declared_i^2 (2 (a_p - b_p)/(a_p + b_p))^2 more

with a_p, b_p a program's shares of the suite's totals: where a program gains more than the suite, the error
that its two totals share does not cancel. A mean of ratios counts every program alike, the total work counts
cycles, so the three differ. Each is of these programs; of programs in general it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from sampling.estimation.interval import Moments, Sample, residual_interval
from sampling.estimation.speedup import Speedup, pair_launches


class Mean(NamedTuple):
    """A mean of speedups, with the half-width h of its logarithm: ratio exp(-h) to ratio exp(h)."""

    ratio: float
    half_width: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.ratio * float(np.exp(-self.half_width))

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.ratio * float(np.exp(self.half_width))


@dataclass(frozen=True, slots=True)
class Means:
    """The means over programs of one configuration's speedups."""

    geometric: Mean
    harmonic: Mean
    total: Mean


def means(
    samples: Sequence[Sample], speedups: Sequence[Speedup], confidence: float, *, total: Mean | None = None
) -> Means:
    """Return the means of one configuration over programs, all of which have a speedup.

    Parameters
    ----------
    samples, speedups : those of the programs in one order, each with its own quantile.
    total : the speedup of the total work, where samples do not tell it; half-widths that are NaN stay so.
    """
    ratios = np.array([speedup.ratio for speedup in speedups])
    half_widths = np.array([speedup.half_width for speedup in speedups])
    weight = 1 / ratios / (1 / ratios).sum()
    return Means(
        geometric=Mean(
            float(np.exp(np.log(ratios).mean())), float(np.sqrt((half_widths**2).sum())) / len(ratios)
        ),
        harmonic=Mean(
            len(ratios) / float((1 / ratios).sum()), float(np.sqrt(((weight * half_widths) ** 2).sum()))
        ),
        total=_total_work(samples, speedups, confidence) if total is None else total,
    )


def _total_work(samples: Sequence[Sample], speedups: Sequence[Speedup], confidence: float) -> Mean:
    """Return the speedup of all programs' cycles together, their strata taken as those of one program."""
    pairs = [
        pair_launches(sample, speedup.base, speedup.name)[0]
        for sample, speedup in zip(samples, speedups, strict=True)
    ]
    totals = np.array([[side.sum() for side in pair.totals] for pair in pairs])
    shares = totals / totals.sum(axis=0)
    share = shares.mean(axis=1)
    parts, sizes = [], []
    for pair, (above, below), of_program in zip(pairs, shares, share, strict=True):
        pair_moments, size = pair.residual_moments(*totals.sum(axis=0).tolist())
        uncancelled = pair.sample.declared * ((above - below) / of_program) ** 2
        parts.append(replace(pair_moments, declared=pair_moments.declared + uncancelled))
        sizes.append(size)
    result = residual_interval(_joined(parts), np.concatenate(sizes))
    sampling = float(result.half_width(confidence)) if result.stratum_var.any() else 0.0
    other_errors = share * [speedup.beside_sampling for speedup in speedups]
    ratio = float(totals[:, 0].sum() / totals[:, 1].sum())
    return Mean(ratio, float(np.hypot(sampling, np.sqrt((other_errors**2).sum()))))


def _joined(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all programs' strata; kernel groups of different programs are different."""
    first, numbered = 0, []
    for part in parts:
        code = np.unique(part.group, return_inverse=True)[1]
        numbered.append(replace(part, group=first + code))
        first += int(code.max()) + 1
    return Moments(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in numbered])
            for field in fields(Moments)
        }
    )
