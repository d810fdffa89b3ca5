"""How work is done: by threads, processes or a cluster; how far it is; with random numbers of its own."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
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
#: So long a cluster may be without a worker: one that has ended is soon started again by who watches it.
LONGEST_ALONE_SECONDS = 30
_ASKED_EVERY_SECONDS = 2
_ALL_AGAIN = "start it again with its workers, and then this"
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[0-9a-fA-F:.]+(?:%\w+)?\]):[0-9]{1,5}/?")


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
    """So many other processes here; -1 is one a processor."""

    processes: int = -1

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in order; both are pickled.

        Raises SamplingError: the first that the function raises, in order of the items.
        """
        from joblib import Parallel, delayed

        # Other processes are to inherit a file, not what an app has put in its place.
        with redirect_stderr(sys.__stderr__):
            jobs = Parallel(n_jobs=self.processes, return_as="generator", backend="loky")
            outcomes = jobs(delayed(_outcome)(function, item) for item in items)
        try:
            yield from map(_result, outcomes)
        finally:
            # Where not all is wanted any more, that some of it is under way need not be said.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                outcomes.close()


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask scheduler, of which this is a client."""

    address: str
    client: Any

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in order; both are pickled.

        Raises SamplingError: the first that the function raises, in order of the items; or the scheduler has
        gone, there was no worker for `LONGEST_ALONE_SECONDS`, or one item ended too many workers.
        """
        with warnings.catch_warnings():
            # How much that is need not be said.
            warnings.simplefilter("ignore", UserWarning)
            waiting = deque(self.client.map(partial(_outcome, function), items, pure=False))
        try:
            while waiting:
                yield _result(self._get_outcome(waiting[0]))
                waiting.popleft()
        finally:
            if waiting and self.client.status == "running":
                self.client.cancel([*waiting])

    def _get_outcome(self, future: Any) -> Any:
        from distributed import CancelledError, KilledWorker

        heard = time.monotonic()
        while True:
            try:
                return future.result(timeout=_ASKED_EVERY_SECONDS)
            except TimeoutError:
                # Of the work itself
                if future.status == "error":
                    raise
            except CancelledError as error:
                raise self._lost("has gone", _ALL_AGAIN) from error
            except KilledWorker as error:
                remedy = "see what the workers say, and give them more memory"
                raise self._lost("has lost one worker after the other at the same work", remedy) from error
            # What is sent to one that has gone meanwhile is not cancelled, as what was sent before.
            if self.client.status != "running":
                raise self._lost("has gone", _ALL_AGAIN)
            message, remedy = self._lacking()
            if not message:
                heard = time.monotonic()
            elif time.monotonic() - heard > LONGEST_ALONE_SECONDS:
                raise self._lost(f"{message} for {LONGEST_ALONE_SECONDS} seconds", remedy)

    def _lacking(self) -> tuple[str, str]:
        """Return what keeps the work from being done just now, and what to do about it; "" for nothing."""
        try:
            cores = self.client.sync(self.client.scheduler.ncores, callback_timeout=_LONGEST_WAIT_SECONDS)
        except OSError:
            return "has not answered", _ALL_AGAIN
        problem = "" if cores else "had no worker"
        return problem, f"start `dask worker {self.address}` again, and then this"

    def _lost(self, problem: str, remedy: str) -> SamplingError:
        with suppress(Exception):
            self.client.close(timeout=_ASKED_EVERY_SECONDS)
        return SamplingError(
            Wording("`scheduler={}`: the scheduler {}", self.address, problem), remedy=remedy
        )


def _outcome(function: Callable[[Item], Result], item: Item) -> Result | SamplingError:
    try:
        return function(item)
    except SamplingError as error:
        return error


def _result(outcome: Result | SamplingError) -> Result:
    if isinstance(outcome, SamplingError):
        raise outcome
    return outcome


def processes_for(bytes_each: int) -> int:
    """Return how many processes that need so much memory there are processors and memory for."""
    from joblib import cpu_count

    available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    with suppress(OSError), Path("/proc/meminfo").open() as meminfo:
        sizes = {name: int(size.split()[0]) for name, size in (line.split(":") for line in meminfo)}
        available = sizes.get("MemAvailable", 0) << 10
    return int(min(cpu_count(), available // max(bytes_each, 1)))


def cluster(address: str) -> Cluster:
    """Return the workers of a Dask scheduler.

    Raises OptionError: it is no address, or Dask is not installed; no scheduler answers there, or it has no
    worker.
    """
    import asyncio
    import logging
    from concurrent.futures import ThreadPoolExecutor

    if not _ADDRESS.fullmatch(address):
        remedy = "give what `dask scheduler` prints, such as tcp://HOST:8786"
        raise OptionError(Wording("`scheduler={}` is no address of a scheduler", address), remedy=remedy)
    quiet = "distributed" not in sys.modules
    try:
        from distributed import Client
    except ImportError as error:
        remedy = "`pip install 'kernelpoint[dask]'`"
        raise OptionError(Wording("`scheduler={}` needs Dask", address), remedy=remedy) from error
    for name in ("distributed", "distributed.client") if quiet else ():
        # What it would print of a scheduler that is lost is said in one line.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    reason, client = "is not there", None
    try:
        # Asked first, as a client that finds none does not end with the program.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, _identity(address)).result()
        client = Client(address, timeout=_LONGEST_WAIT_SECONDS, set_as_default=False)
        reason = "has no worker"
        client.wait_for_workers(1, timeout=_LONGEST_WAIT_SECONDS)
    except Exception as error:  # whatever answers there
        if client is not None:
            client.close(timeout=_ASKED_EVERY_SECONDS)
        remedy = "start `dask scheduler`, and `dask worker ADDRESS` for every worker, with the same Python"
        raise OptionError(
            Wording("`scheduler={}`: the scheduler {}", address, reason), remedy=remedy
        ) from error
    return Cluster(address, client)


async def _identity(address: str) -> None:
    """Have a scheduler say who it is."""
    import asyncio

    from distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(_LONGEST_WAIT_SECONDS), rpc(address, connection_args=arguments) as scheduler:
        await scheduler.identity()


def scan(
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
        for item, result in zip(items, ordered_map(look, items), strict=True):
            yield finish(item, result, before)
            before = advance(before, brief(item, result))
        return
    befores = []
    for summary in mapper(partial(_brief, look, brief), items):
        befores.append(before)
        before = advance(before, summary)
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

    DESIGN, DRAW, JUDGE, CALIBRATE, CONFIRM, EXPORT, COLD_CHECK, SPEEDUPS = range(8)


def generator(seed: int, stream: Stream) -> np.random.Generator:
    """Return the generator of a stream; `OptionError` where the seed is negative."""
    import numpy as np

    if seed < 0:
        raise OptionError(Wording("`seed` is 0 or more, not {}", seed))
    return np.random.default_rng([seed, stream])
