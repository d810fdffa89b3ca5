"""How work is done: by threads, processes or a cluster; how far it is; with random numbers of its own."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sampling.errors import OptionError, SamplingError
from sampling.text import Wording

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Called with (done, total, what); total 0 means unknown. It may raise to cancel the work.
Progress = Callable[[int, int, str], None]

_MOST_THREADS = 4
_LONGEST_WAIT_SECONDS = 10


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


#: Does the same to every item, in order, as `ordered_map` does.
Mapper = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Workers:
    """Other processes: those of a Dask client, or else so many here; -1 is one a processor."""

    client: Any = None
    processes: int = -1

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in order; both are pickled.

        Raises SamplingError: the first that the function raises, in order of the items.
        """
        from joblib import Parallel, delayed, parallel_config

        backend = {"backend": "loky"} if self.client is None else {"backend": "dask", "client": self.client}
        with parallel_config(**backend):
            jobs = Parallel(n_jobs=self.processes, return_as="generator")
        # Other processes are to inherit a file, not what an app has put in its place.
        with redirect_stderr(sys.__stderr__):
            outcomes = jobs(delayed(_outcome)(function, item) for item in items)
        try:
            for outcome in outcomes:
                if isinstance(outcome, SamplingError):
                    raise outcome
                yield outcome
        finally:
            # Where not all is wanted any more, that some of it is under way need not be said.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                outcomes.close()


def _outcome(function: Callable[[Item], Result], item: Item) -> Result | SamplingError:
    try:
        return function(item)
    except SamplingError as error:
        return error


def processes_for(bytes_each: int) -> int:
    """Return how many processes that need so much memory there are processors and memory for."""
    from joblib import cpu_count

    available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    with suppress(OSError), Path("/proc/meminfo").open() as told:
        sizes = {name: int(size.split()[0]) for name, size in (line.split(":") for line in told)}
        available = sizes.get("MemAvailable", 0) << 10
    return int(min(cpu_count(), available // max(bytes_each, 1)))


def cluster(address: str) -> Workers:
    """Return the workers of a Dask scheduler.

    Raises OptionError: Dask is not installed; no scheduler answers at that address, or it has no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        remedy = "`pip install 'kernelpoint[dask]'`"
        raise OptionError(Wording("`scheduler={}` needs Dask", address), remedy=remedy) from error
    try:
        client = Client(address, timeout=_LONGEST_WAIT_SECONDS, set_as_default=False)
        client.wait_for_workers(1, timeout=_LONGEST_WAIT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        why = (
            "has no worker" if isinstance(error, TimeoutError) and "worker" in str(error) else "is not there"
        )
        remedy = "start `dask scheduler`, and `dask worker ADDRESS` for every worker, with the same Python"
        raise OptionError(Wording("`scheduler={}`: the scheduler {}", address, why), remedy=remedy) from error
    return Workers(client)


def in_turn(
    mapper: Mapper | None,
    items: Sequence[Item],
    look: Callable[[Item], Any],
    brief: Callable[[Item, Any], Any],
    advance: Callable[[Any, Any], Any],
    finish: Callable[[Item, Any, Any], Result],
    before: Any,
) -> Iterator[Result]:
    """Yield ``finish(item, look(item), before)`` for every item, in order.

    ``before`` is what ``advance(before, brief(item, look(item)))`` makes of all items before it. Here, where
    the mapper is None, an item is looked at once; elsewhere twice, so that only briefs and results come here.
    """
    if mapper is None:
        for item, seen in zip(items, ordered_map(look, items), strict=True):
            yield finish(item, seen, before)
            before = advance(before, brief(item, seen))
        return
    befores = []
    for each in mapper(partial(_brief, look, brief), items):
        befores.append(before)
        before = advance(before, each)
    yield from mapper(partial(_finished, look, finish), [*zip(items, befores, strict=True)])


def _brief(look: Callable[[Item], Any], brief: Callable[[Item, Any], Any], item: Item) -> Any:
    return brief(item, look(item))


def _finished(
    look: Callable[[Item], Any], finish: Callable[[Item, Any, Any], Result], item: tuple[Item, Any]
) -> Result:
    return finish(item[0], look(item[0]), item[1])


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
