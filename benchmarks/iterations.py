"""Finding the iterations of a loop in a million launches, against sorting as many numbers.

    python benchmarks/iterations.py 1000000

Each sequence is made of codes, as `single-iteration` looks at them; the last two have no loop.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from sampling.arrays import IntArray
from sampling.reduction.iterations import find_iterations

REPEATS = 3


def sequences(launches: int) -> Iterator[tuple[str, IntArray]]:
    """Yield what it is, and the codes."""
    rng = np.random.default_rng(1)
    step = rng.integers(0, 50, 400)
    layers = np.concatenate([[90], np.tile(step[:30], 40), [91, 92]])
    steps = np.arange(launches // 400)
    kinds = (step, np.where(np.arange(400) % 7 == 0, step + 50, step))
    yield "steps of 400", np.tile(step, len(steps))
    yield "steps of 40 layers of 30", np.tile(layers, launches // len(layers))
    yield "two kernels in turn", np.tile([0, 1], launches // 2)
    yield (
        "a launch more in steps at random",
        np.concatenate([np.append(step, 99) if more else step for more in rng.random(len(steps)) < 0.1]),
    )
    yield (
        "two kinds of steps at random",
        np.concatenate([kinds[kind] for kind in rng.integers(0, 2, len(steps))]),
    )
    yield "eight kernels at random", rng.integers(0, 8, launches)
    yield "two kernels at random", rng.integers(0, 2, launches)


def seconds(work: Callable[[], object]) -> float:
    """Return the least time of some runs."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def main(launches: int) -> None:
    """Print a row a sequence."""
    rng = np.random.default_rng(2)
    numbers = rng.integers(0, 1 << 40, launches)
    sorting = seconds(lambda: np.sort(numbers, kind="stable"))
    print(f"{launches:,} launches; a stable sort of as many 64-bit numbers: {sorting:.3f} s")
    for what, codes in sequences(launches):
        found = find_iterations(codes)
        taken = seconds(lambda codes=codes: find_iterations(codes))
        size, count = (found.launches, len(found.first)) if found is not None else (0, 0)
        share = size * count / len(codes)
        print(f"{what:34} {taken:.3f} s  {taken / sorting:5.1f}  {size:,} x {count:,}, {100 * share:.0f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
