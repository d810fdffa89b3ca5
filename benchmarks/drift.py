"""How often `drift` is said of runs that have none, and of a kernel that does drift.

    python benchmarks/drift.py 1000

Each profile has 20 kernels of 20 to 2,000 launches; a row is one kind of durations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from sampling.arrays import FloatArray
from sampling.reduction.run_order import find_drift

KERNELS = 20

Durations = Callable[[np.random.Generator, int], FloatArray]


def _bimodal(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < rng.uniform(0.05, 0.95), 50_000.0, 10_000.0) * rng.normal(1, 0.01, n)


def _sawtooth(rng: np.random.Generator, n: int) -> FloatArray:
    return 10_000 * (1 + np.arange(n) % max(n // int(rng.integers(2, 12)), 1) / n)


def _noisy(trend: Callable[[FloatArray], FloatArray], spread: float) -> Durations:
    def durations(rng: np.random.Generator, n: int) -> FloatArray:
        values: FloatArray = 100_000 * trend(np.arange(n) / n) * rng.lognormal(0, spread, n)
        return values

    return durations


INDEPENDENT: dict[str, Durations] = {
    "normal, 2 %": _noisy(np.ones_like, 0.02),
    "lognormal, sigma 1": _noisy(np.ones_like, 1.0),
    "two peaks at random": _bimodal,
    "one launch in 50 takes 100 times as long": lambda rng, n: np.where(rng.random(n) < 0.02, 1e6, 1e4),
    "equal but for the clock's step": lambda rng, n: 1000.0 * rng.integers(9, 11, n),
    "Pareto, shape 1.2": lambda rng, n: 1000 * (1 + rng.pareto(1.2, n)),
}
PERIODIC: dict[str, Durations] = {
    "two durations in turn": lambda rng, n: np.where(np.arange(n) % 2, 2e4, 1e4) * rng.normal(1, 0.01, n),
    "a ramp in each of 2 to 11 iterations": _sawtooth,
    "the first launch takes 50 times as long": lambda _, n: np.where(np.arange(n) == 0, 5e5, 1e4),
}
DRIFTING: dict[str, Durations] = {
    "falls to a third, 10 % noise": _noisy(lambda x: 1 - 2 / 3 * x, 0.1),
    "grows by a half, 30 % noise": _noisy(lambda x: 1 + x / 2, 0.3),
    "a step at 30 % of the run to 0.7, 5 % noise": _noisy(lambda x: np.where(x < 0.3, 1.0, 0.7), 0.05),
}


def drifts(rng: np.random.Generator, durations: Durations) -> bool:
    """Return whether any of some kernels, mixed at random in each round of all, is said to drift."""
    sizes = np.exp(rng.uniform(np.log(20), np.log(2000), KERNELS)).astype(np.int64)
    group = np.repeat(np.arange(KERNELS), sizes)
    duration_ns = np.concatenate([durations(rng, size) for size in sizes.tolist()])
    when = np.concatenate([np.sort(rng.random(size)) for size in sizes.tolist()])
    order = np.argsort(when)
    ids = np.arange(len(group))
    return find_drift(ids, np.zeros_like(ids), group[order], duration_ns[order].astype(np.int64)) is not None


def share_said(durations: Durations, profiles: int, seed: int = 0) -> float:
    """Return the share of profiles in which any kernel is said to drift."""
    rng = np.random.default_rng(seed)
    return sum(drifts(rng, durations) for _ in range(profiles)) / profiles


def main(profiles: int) -> None:
    """Print a row a kind."""
    for what, kinds in (("independent", INDEPENDENT), ("periodic", PERIODIC), ("drifting", DRIFTING)):
        for name, durations in kinds.items():
            print(f"{what:12} {name:45} {share_said(durations, profiles):7.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
