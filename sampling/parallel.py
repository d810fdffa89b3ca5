"""How work is done: by a few threads, telling how far it is, with random numbers that are its own."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar

from sampling.errors import OptionError
from sampling.text import Wording

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Called with (done, total, what); total 0 means unknown. It may raise to cancel the work.
Progress = Callable[[int, int, str], None]

_MOST_THREADS = 4


def ordered_map(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in order; at most two results a thread wait for the caller.

    The threads gain time where numpy and Arrow release Python's lock.
    """
    threads = min(_MOST_THREADS, os.cpu_count() or 1, len(items))
    if threads < 2:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Lock:
    """A lock of one object's own: where that is pickled, a new one goes with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


class Stream(IntEnum):
    """What random numbers are drawn for: each use of a seed changes the numbers of no other."""

    DESIGN, DRAW, JUDGE, CALIBRATE, CONFIRM, EXPORT, COLD_CHECK = range(7)


def generator(seed: int, stream: Stream) -> np.random.Generator:
    """Return the generator of a stream; `OptionError` where the seed is negative."""
    import numpy as np

    if seed < 0:
        raise OptionError(Wording("`seed` is 0 or more, not {}", seed))
    return np.random.default_rng([seed, stream])
