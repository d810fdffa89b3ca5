"""One rule over all scale models: its trend at a target, and how well it would have predicted the models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from scalemodel.prediction.rules import ModelPair, Rule, Trend, proportional_from_largest

ProportionalFrom = Literal["smallest", "largest"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """A rule and the pairs of models that it goes by.

    Attributes
    ----------
    rule : the rule.
    pairs : its trend is the geometric mean over them.
    back_cast : largest |ln(actual / predicted)| over the models from the third on, each predicted from the
        two before; None with two models, infinite where one has no prediction.
    """

    rule: Rule
    pairs: tuple[ModelPair, ...]
    back_cast: float | None

    def trend(self, target: int, cliff: int | None) -> Trend:
        """Return the IPC at a target without the cliff's gain; none where one of the pairs gives none.

        Parameters
        ----------
        cliff : the first size beyond the cliff, where the target has reached it.
        """
        trends = [self.rule.trend(pair, target, cliff) for pair in self.pairs]
        remark = "; ".join(dict.fromkeys(trend.remark for trend in trends if trend.remark))
        known = [trend.ipc for trend in trends if trend.ipc is not None]
        if len(known) < len(trends):
            return Trend(None, remark)
        if len(known) == 1:
            return Trend(known[0], remark)
        return Trend(math.exp(math.fsum(map(math.log, known)) / len(known)), remark)


def forecast(rule: Rule, models: Sequence[tuple[int, float]], *, is_cliff_inside: bool) -> Forecast:
    """Return a rule's forecast from (size, IPC) of two or more models, in ascending order."""
    neighbours = tuple(ModelPair(*small, *large) for small, large in pairwise(models))
    pairs = neighbours
    if rule.uses_ends:
        pairs = (ModelPair(*models[0], *models[-1]),)
    elif is_cliff_inside and not rule.is_baseline:
        # What lies before the cliff shows no trend for what lies beyond it.
        pairs = (neighbours[-1].ideal(),)
    errors = [_error(rule, pair, *model) for pair, model in zip(neighbours[:-1], models[2:], strict=True)]
    return Forecast(rule, pairs, max(errors, default=None))


def _error(rule: Rule, pair: ModelPair, size: int, ipc: float) -> float:
    predicted = rule.trend(pair, size, None).ipc
    return math.inf if predicted is None else abs(math.log(ipc / predicted))


def with_proportional_from(rule: Rule, start: ProportionalFrom) -> Rule:
    """Return the rule; `proportional` from the model asked for."""
    if rule.name != "proportional" or start == "smallest":
        return rule
    return Rule(rule.name, rule.source, proportional_from_largest, is_baseline=True, uses_ends=True)
