"""The design of a method that draws each launch with the same probability, so that their number is random.

A plan has one number of launches, and its figures are those for that number. The method is judged over all
numbers: each draw has another. [STEM+ROOT section V-A]
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sampling.methods.random_launches import NumberDrawn
from sampling.plan.design import Design
from sampling.strata.strata import sample_variance
from sampling.strata.target import normal_quantile

# From this share of empty draws on, the user is told of them.
_WORTH_SAYING = 0.01


class BernoulliDesign(Design):
    """A design of one stratum whose number of samples is random; its figures are means over that number."""

    @cached_property
    def number(self) -> NumberDrawn:
        """How many launches a draw has."""
        chance = self.strata.chance
        assert chance is not None
        return NumberDrawn(int(self.strata.launches[0]), chance)

    @property
    def notes(self) -> tuple[str, ...]:
        """That some draws have no launch and are made again, where that happens often."""
        number = self.number
        if number.share_empty < _WORTH_SAYING:
            return ()
        text = (
            f"random.probability {number.probability:g} draws none of {number.launches:,} launches in "
            f"{100 * number.share_empty:.1f} % of the draws; these are made again"
        )
        return (text,)

    @cached_property
    def bound(self) -> float | None:
        """The bound from the variance over all draws: the mean of that of each number of launches.

        Each is N^2 (1/n - 1/N) S^2. (docs/methods.md, 2 STEM: the error model)
        """
        return self._bound(float(sample_variance(self.strata.launches, self.strata.std_ns)[0]))

    @cached_property
    def bound_with_noise(self) -> float | None:
        """The same of the simulated total, if simulated time varies as is declared."""
        return None if self.cycles is None else self._bound(float(self.cycles.of(self.strata)[0]))

    def _bound(self, variance: float) -> float:
        """Return the bound for a variance S^2 of the launches."""
        strata, (numbers, chances) = self.strata, self.number.possible()
        launches = float(strata.launches[0])
        total_ns = launches * float(strata.mean_ns[0])
        if not total_ns:
            return 0.0
        # Rounding may leave less than nothing where all launches are drawn.
        left = max(0.0, float(chances @ (1 / numbers)) - 1 / launches)
        of_total = launches**2 * variance * left
        return normal_quantile(self.target.confidence) * float(np.sqrt(of_total)) / total_ns

    @cached_property
    def samples(self) -> int:
        """How many launches a draw has on average."""
        return round(self._mean_launches)

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The mean duration of a draw; the speedup is the total over that, as for fixed sizes."""
        return self._mean_launches * float(self.strata.mean_ns[0])

    @cached_property
    def cost_share(self) -> float | None:
        """The share of the cost that a draw has on average: that of the launches, for all are as likely."""
        known = self.counts is not None and self.counts.cost is not None
        return self._mean_launches / float(self.strata.launches[0]) if known else None

    @cached_property
    def _mean_launches(self) -> float:
        """How many launches a draw has on average."""
        numbers, chances = self.number.possible()
        return float(chances @ numbers)


def design_of_method(design: Design) -> Design:
    """Return the design of the method behind a plan's; it is the same where its sizes are fixed."""
    if design.strata.chance is None:
        return design
    return BernoulliDesign(
        design.method, design.target, design.strata, design.random, design.groups, design.cycles
    )
