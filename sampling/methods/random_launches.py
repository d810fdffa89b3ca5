"""Random launches of the whole workload, without groups: the papers' baseline. [STEM+ROOT section V-A]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.duration_counts import DurationCounts
from sampling.errors import OptionError
from sampling.group_by import GroupBy
from sampling.progress import Progress
from sampling.split_tree import SplitRule
from sampling.splitting import Overrides
from sampling.strata import WHOLE_WORKLOAD, Strata, measured_clusters
from sampling.targets import Target

SOURCE = "STEM+ROOT, section V-A (random baseline)"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.NAME
RANDOM = True


@dataclass(frozen=True, slots=True)
class Options:
    """How many launches to draw.

    Attributes
    ----------
    probability : each launch is drawn with this probability.
    launches : draw exactly this many instead; None: by probability.
    """

    probability: float = 0.001
    launches: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise OptionError(
                f"random.probability is a fraction above 0, at most 1, not {self.probability:g}"
            )
        if self.launches is not None and self.launches < 1:
            raise OptionError(f"random.launches is at least 1, not {self.launches}")


def rule(target: Target, options: Options) -> SplitRule | None:  # noqa: ARG001 - one form for all methods
    """Return None: nothing is split."""
    return None


def stratify(
    counts: DurationCounts,
    target: Target,
    options: Options,
    rng: np.random.Generator,
    overrides: Overrides | None = None,  # noqa: ARG001 - nothing to override
    progress: Progress | None = None,  # noqa: ARG001 - done at once
) -> Strata:
    """Return one stratum of all launches; the n of them drawn weigh N/n each.

    With a probability, n is binomial; n = 0 estimates nothing, so it is drawn again.
    """
    launches = counts.launches
    samples = options.launches or 0
    empty_draws = -1
    while samples == 0:
        empty_draws += 1
        samples = int(rng.binomial(launches, options.probability))
        if launches * options.probability < 1e-6:
            raise OptionError(
                f"random.probability {options.probability:g} never draws one of {launches} launches"
            )
    whole = measured_clusters(
        counts, np.array([WHOLE_WORKLOAD]), np.array([0]), np.array([len(counts.count)], dtype=np.int64)
    )
    if not target.with_replacement:
        samples = min(samples, launches)
    notes = (f"{empty_draws} draws without a single launch were drawn again",) if empty_draws > 0 else ()
    return whole.with_samples(np.array([samples]), with_replacement=target.with_replacement, notes=notes)
