"""A method's design apart from any plan, for one that draws how many launches it takes: over all it may.

One plan has one number of launches, and what is expected of it is conditional on that. The method is judged
over all of them: the number is drawn anew for each draw. [STEM+ROOT section V-A]
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sampling.allocation import FloatArray, normal_quantile
from sampling.bounds import total_variance
from sampling.design import Design
from sampling.number_drawn import NumberDrawn
from sampling.strata import Strata

# From this share on, draws that are made again are worth a note.
_WORTH_SAYING = 0.01


class MethodDesign(Design):
    """A design of one stratum, each launch of which is drawn with a probability; figures are means over n."""

    __slots__ = ()

    @property
    def number(self) -> NumberDrawn:
        """How many launches a draw has."""
        chance = self.strata.chance
        assert chance is not None
        return NumberDrawn(int(self.strata.launches[0]), chance)

    @property
    def notes(self) -> tuple[str, ...]:
        """That many draws are of no launch, and made again."""
        number = self.number
        if number.share_empty < _WORTH_SAYING:
            return ()
        text = (
            f"random.probability {number.probability:g} draws none of {number.launches:,} launches in "
            f"{100 * number.share_empty:.1f} % of the draws; these are made again"
        )
        return (text,)

    @property
    def bound(self) -> float | None:
        """The bound from the variance over all draws: the mean of that of each number of launches."""
        strata, chances = self._possible()
        total_ns = float(strata.launches[0] * strata.mean_ns[0])
        variance = float(chances @ total_variance(strata))
        return (
            normal_quantile(self.target.confidence) * float(np.sqrt(variance)) / total_ns if total_ns else 0.0
        )

    @property
    def samples(self) -> int:
        """How many launches a draw has on average."""
        strata, chances = self._possible()
        return round(float(chances @ strata.simulated_launches))

    @property
    def sampled_duration_ns(self) -> float:
        """The mean duration of a draw; the speedup is the total over that, as for fixed sizes."""
        strata, chances = self._possible()
        return float(chances @ (strata.simulated_launches * strata.mean_ns))

    def _possible(self) -> tuple[Strata, FloatArray]:
        """Return the stratum once for each number of launches that may be drawn, and their chances."""
        numbers, chances = self.number.possible()
        strata, times = self.strata, len(numbers)
        return replace(
            strata,
            launches=np.repeat(strata.launches, times),
            mean_ns=np.repeat(strata.mean_ns, times),
            std_ns=np.repeat(strata.std_ns, times),
            samples=numbers,
        ), chances


def method_design(design: Design) -> Design:
    """Return the design of the method behind a plan's; it is the same where its sizes are fixed."""
    if design.strata.chance is None:
        return design
    return MethodDesign(design.method, design.target, design.strata, design.random)
