"""What is asked of a plan, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sampling.allocation import normal_quantile
from sampling.errors import OptionError


@dataclass(frozen=True)
class Target:
    """The promise a plan has to keep; all fractions.

    Attributes
    ----------
    epsilon : bound on the relative error of the total.
    confidence : share of draws that must meet it.
    with_replacement : draw with replacement, as the papers' derivations assume.
    """

    epsilon: float = 0.05
    confidence: float = 0.95
    with_replacement: bool = False

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("confidence", self.confidence)):
            if not 0 < value < 1:
                hint = f"; did you mean {value / 100:g}?" if 1 <= value < 100 else ""
                raise OptionError(f"--{name} is a fraction between 0 and 1, not {value:g}{hint}")

    @cached_property
    def z(self) -> float:
        """The two-sided normal quantile of the confidence."""
        return normal_quantile(self.confidence)
