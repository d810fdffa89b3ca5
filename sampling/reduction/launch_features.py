"""What is known of each launch besides its duration: metrics and basic-block vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sampling.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class BlockVectors:
    """How often each basic block ran in each launch, summed over warps; ragged, in the launches' order.

    Attributes
    ----------
    offsets : (n + 1,) launch i has the counts ``offsets[i]:offsets[i + 1]``; none where it has no vector.
    counts : (c,) executions of basic block 0, 1, ... of the launch.
    warps : (n,) warps of the launch, 0 where unknown.
    """

    offsets: IntArray
    counts: FloatArray
    warps: IntArray


@dataclass(frozen=True, slots=True)
class Features:
    """Metrics of n launches, row i of every array is launch i.

    Attributes
    ----------
    metrics : name -> (n,) values in base units (ns, byte, cycle, inst); NaN where a launch has none.
    units : name -> unit, for those that have one.
    block_vectors : None where no file supplied them.
    """

    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    block_vectors: BlockVectors | None = None

    def first_of(self, names: tuple[str, ...]) -> str | None:
        """Return the first of the names that is a metric of at least one launch, None if none is."""
        return next(
            (name for name in names if name in self.metrics and not np.isnan(self.metrics[name]).all()), None
        )
